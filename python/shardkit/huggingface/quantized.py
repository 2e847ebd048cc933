"""Weights that stay quantized: linear layers hold what a checkpoint stores, and the program computes their weights from that.

A layer has its payload (words of eight 4-bit numbers, or 8-bit floats) and its scales. The weight is written with the dims that both
have in common, so that a sharding of the weight is one of the payload and of the scales."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

import torch

from ..errors import ShardKitError
from .conversion import Value, broadcast, reshape, slice_of

_METHODS = "gptq and awq in 4 bits, fp8, compressed-tensors, bitsandbytes in 8 bits"

_MAX_ROWS = 4
"""Rows, as in decoding, whose products read weights in registers, in f32: more of them are multiplied in their own type."""


@dataclasses.dataclass(frozen=True)
class Quantization:
    """How a checkpoint stores linear layers. `group`: inputs with one scale; 0: all. `offset`: added to stored zero points.
    `is_ordered`: groups of inputs are given one by one (`g_idx`). `block`: outputs and inputs with one scale; 0: all. `scale`: what
    the scale is called, `rank`: its dims, `factor`: what it is multiplied by. `dtype`: of the payload."""

    method: str
    group: int = 0
    offset: int = 0
    is_ordered: bool = False
    block: tuple[int, int] = (0, 0)
    left_out: tuple[str, ...] = ()
    scale: str = "weight_scale_inv"
    rank: int = 2
    factor: float = 1.0
    dtype: Any = torch.float8_e4m3fn


def read_quantization(where: str, values: Mapping[str, Any]) -> Quantization | None:
    """Of a configuration; one error for what is not read."""
    for part in (values, *(v for v in values.values() if isinstance(v, dict))):
        given = part.get("quantization_config") or part.get("compression_config")
        if given:
            return _read(where, given)
    return None


def _read(where: str, given: Mapping[str, Any]) -> Quantization:
    method = str(given.get("quant_method") or given.get("format") or "an unknown method")
    bits = given.get("bits") or given.get("w_bit") or given.get("num_bits")
    left_out = tuple(given.get("modules_to_not_convert") or ())
    if method == "gptq" and bits == 4:
        version = given.get("checkpoint_format", "gptq")
        if version not in ("gptq", "gptq_v2"):
            raise ShardKitError(f"error: {where}: checkpoint_format is '{version}', expected gptq or gptq_v2")
        return Quantization("gptq", _read_group(where, given), int(version == "gptq"), bool(given.get("desc_act")), left_out=left_out)
    if method == "awq" and bits == 4:
        version = str(given.get("version", "gemm")).lower()
        if version != "gemm" or not given.get("zero_point", True):
            raise ShardKitError(f"error: {where}: version is '{version}', zero_point {given.get('zero_point', True)}, expected gemm with zero points")
        return Quantization("awq", _read_group(where, given), left_out=left_out)
    if method == "fp8" and (given.get("fmt") or "e4m3") == "e4m3":
        block = given.get("weight_block_size")
        if block is not None and not (isinstance(block, (list, tuple)) and len(block) == 2 and all(isinstance(b, int) and b > 0 for b in block)):
            raise ShardKitError(f"error: {where}: weight_block_size is {block}, expected two positive numbers, such as [128, 128]")
        return Quantization("blocks", block=tuple(block) if block else (0, 0), left_out=left_out)
    if method == "bitsandbytes" and given.get("load_in_8bit"):
        return Quantization("blocks", block=(1, 0), left_out=tuple(given.get("llm_int8_skip_modules") or ()), scale="SCB", rank=1, factor=1 / 127, dtype=torch.int8)
    if method == "compressed-tensors":
        return _read_compressed(where, given)
    raise ShardKitError(f"error: {where}: weights quantized by {method}{f' in {bits} bits' if bits else ''}, expected weights in f32, f16, bf16 or f64, or by {_METHODS}")


def _read_compressed(where: str, given: Mapping[str, Any]) -> Quantization:
    """Of the package compressed-tensors: one group of layers, whose weights have a scale per tensor, output, group of inputs or block."""
    kind, left_out = given.get("format"), tuple(given.get("ignore") or ())
    groups = [g for g in (given.get("config_groups") or {}).values() if isinstance(g, dict) and g.get("weights")]
    if len(groups) != 1:
        raise ShardKitError(f"error: {where}: {len(groups)} config_groups with weights, expected one")
    weights = groups[0]["weights"]
    strategy, symmetric = weights.get("strategy"), weights.get("symmetric", True)
    blocks = {"tensor": (0, 0), "channel": (1, 0), "block": tuple(weights.get("block_structure") or (128, 128))}
    if kind == "pack-quantized" and weights.get("num_bits") == 4 and symmetric and strategy in ("group", "channel"):
        return Quantization("packed", _read_group(where, {"group_size": weights.get("group_size") or -1}), -8, left_out=left_out, scale="weight_scale", dtype=torch.int32)
    if kind in ("float-quantized", "int-quantized", "naive-quantized") and weights.get("num_bits") == 8 and symmetric and strategy in blocks:
        dtype = torch.float8_e4m3fn if weights.get("type") == "float" else torch.int8
        return Quantization("blocks", block=blocks[strategy], left_out=left_out, scale="weight_scale", rank=1 if strategy == "tensor" else 2, dtype=dtype)
    raise ShardKitError(
        f"error: {where}: format '{kind}' of {weights.get('num_bits')} bits, strategy {strategy}, symmetric {symmetric}, expected symmetric weights: "
        "pack-quantized of 4 bits by group or channel, float-quantized or int-quantized of 8 bits by tensor, channel or block"
    )


def _read_group(where: str, given: Mapping[str, Any]) -> int:
    group = given.get("group_size") or given.get("q_group_size") or 128
    if not isinstance(group, int) or (group != -1 and (group < 8 or group % 8)):
        raise ShardKitError(f"error: {where}: group_size is {group!r}, expected -1, or a multiple of 8")
    return max(group, 0)


class QuantizedLinear(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A linear layer whose parameters are those of a checkpoint. `weight_dims`: of these, the dims of inputs and outputs."""

    weight_dims: Mapping[str, tuple[int, int]]

    def __init__(self, linear: Any) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.register_parameter("bias", linear.bias)

    def _add(self, name: str, shape: Sequence[int], dtype: Any) -> None:
        self.register_parameter(name, torch.nn.Parameter(torch.empty(tuple(shape), dtype=dtype, device="meta"), requires_grad=False))

    def refine(self, name: str, values: dict[str, Value], devices: int) -> None:
        """Repeats scales, so that shards on so many devices consist of full blocks."""

    def _replace(self, key: str, prefix: str, values: dict[str, Value], change: Callable[[Value], Value]) -> None:
        name = f"{prefix}.{key}"
        values[name] = change(values[name])
        self._add(key, values[name].shape, values[name].dtype)

    def dequantize(self) -> Any:
        """The weight in f32, inputs by outputs."""
        raise NotImplementedError

    def forward(self, x: Any) -> Any:
        if x.numel() <= _MAX_ROWS * self.in_features:
            result = (x.to(torch.float32) @ self.dequantize()).to(x.dtype)
        else:
            result = x @ self.dequantize().to(x.dtype)
        return result if self.bias is None else result + self.bias


def _unpack(words: Any, dim: int, shape: Sequence[int], is_gptq: bool) -> Any:
    """Of words of eight numbers, whose dim has size 1 in `shape`, the eight numbers along it."""
    if is_gptq:  # one after the other
        shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    else:  # even ones, then odd ones
        shifts = (torch.arange(0, 16, 4, dtype=torch.int32).view(4, 1) + torch.arange(0, 32, 16, dtype=torch.int32)).reshape(8)
    shifts = shifts.view(*[1] * dim, 8, *[1] * (len(shape) - dim - 1))
    return torch.bitwise_and(torch.bitwise_right_shift(words.view(*shape), shifts), 15)


class GroupedLinear(QuantizedLinear):
    """GPTQ (words of eight inputs) and AWQ (words of eight outputs): weight = (number - zero point) * scale of its group of inputs."""

    def __init__(self, linear: Any, scheme: Quantization, where: str) -> None:
        super().__init__(linear)
        size, width = self.in_features, self.out_features
        self.scheme, self.group = scheme, scheme.group or size
        if size % self.group or size % 8 or width % 8:
            raise ShardKitError(f"error: {where} has {size} inputs and {width} outputs, expected multiples of 8, and of the group of {self.group} inputs")
        self.is_gptq = scheme.method == "gptq"
        self.weight_dims = dict.fromkeys(("qweight", "qzeros", "scales"), (0, 1))
        self._add("qweight", (size // 8, width) if self.is_gptq else (size, width // 8), torch.int32)
        self._add("qzeros", (size // self.group, width // 8), torch.int32)
        self._add("scales", (size // self.group, width), torch.float16)
        if scheme.is_ordered:
            self._add("g_idx", (size,), torch.int32)

    def refine(self, name: str, values: dict[str, Value], devices: int) -> None:
        if self.scheme.is_ordered or self.group == self.in_features:
            return
        group = _choose_block(self.in_features, self.group, devices, word=8, bytes_per_element=0.5, bytes_per_block=2.5)
        if (times := self.group // group) > 1:
            for key in ("qzeros", "scales"):
                self._replace(key, name, values, lambda v: repeat(v, 0, times, v.shape[0] * times))
            self.group = group

    def dequantize(self) -> Any:
        groups, width = self.scales.shape
        zeros = _unpack(self.qzeros, 2, (groups, width // 8, 1), self.is_gptq) + self.scheme.offset
        if self.scheme.is_ordered:
            numbers = _unpack(self.qweight, 1, (self.in_features // 8, 1, width), True).reshape(self.in_features, width)
            at = self.g_idx.to(torch.int64)
            return (numbers - zeros.reshape(groups, width)[at]).to(torch.float32) * self.scales[at].to(torch.float32)
        if self.is_gptq:
            numbers = _unpack(self.qweight, 2, (groups, self.group // 8, 1, width), True)
            shape = [groups, 1, 1, width]
        else:
            numbers = _unpack(self.qweight, 3, (groups, self.group, width // 8, 1), False)
            shape = [groups, 1, width // 8, 8]
        weight = (numbers - zeros.reshape(shape)).to(torch.float32) * self.scales.view(shape).to(torch.float32)
        return weight.reshape(self.in_features, width)


class BlockLinear(QuantizedLinear):
    """Numbers of 8 bits, outputs by inputs, with a scale for each block: DeepSeek's 128 x 128 ones, each output, or all of the weight."""

    def __init__(self, linear: Any, scheme: Quantization, where: str) -> None:
        super().__init__(linear)
        sizes = (self.out_features, self.in_features)
        self.scheme, self.block = scheme, tuple(b or n for b, n in zip(scheme.block, sizes))
        self._add("weight", sizes, scheme.dtype)
        self._add(scheme.scale, [-(-n // b) for n, b in zip(sizes, self.block)][: scheme.rank], torch.float32)
        self.weight_dims = {"weight": (1, 0)} | ({scheme.scale: (1, 0)} if scheme.rank == 2 else {})

    def refine(self, name: str, values: dict[str, Value], devices: int) -> None:
        """Also so that blocks divide the weight: the last one of each dim may be smaller."""
        sizes = (self.out_features, self.in_features)
        for dim in (0, 1):
            size, block = sizes[dim], self.block[dim]
            if block in (1, size):
                continue
            chosen = _choose_block(size, block, devices, word=1, bytes_per_element=1, bytes_per_block=0.5)
            if (times := block // chosen) > 1:
                self._replace(self.scheme.scale, name, values, lambda v: repeat(v, dim, times, size // chosen))
            self.block = (*self.block[:dim], chosen, *self.block[dim + 1 :])

    def dequantize(self) -> Any:
        (n, k), (rows, columns) = (self.out_features, self.in_features), self.block
        scale = getattr(self, self.scheme.scale).to(torch.float32).view(n // rows, 1, k // columns, 1)
        scale = scale * self.scheme.factor if self.scheme.factor != 1 else scale
        return (self.weight.view(n // rows, rows, k // columns, columns).to(torch.float32) * scale).reshape(n, k).t()


class PackedLinear(QuantizedLinear):
    """Words of eight inputs, outputs by words, with a scale for each group of inputs: weight = (number - 8) * scale."""

    def __init__(self, linear: Any, scheme: Quantization, where: str) -> None:
        super().__init__(linear)
        size, width = self.in_features, self.out_features
        self.scheme, self.group = scheme, scheme.group or size
        if size % self.group or size % 8:
            raise ShardKitError(f"error: {where} has {size} inputs, expected a multiple of 8, and of the group of {self.group} inputs")
        self._add("weight_packed", (width, size // 8), torch.int32)
        self._add("weight_scale", (width, size // self.group), torch.float32)
        self.weight_dims = dict.fromkeys(("weight_packed", "weight_scale"), (1, 0))

    def refine(self, name: str, values: dict[str, Value], devices: int) -> None:
        if self.group == self.in_features:
            return
        group = _choose_block(self.in_features, self.group, devices, word=8, bytes_per_element=0.5, bytes_per_block=2)
        if (times := self.group // group) > 1:
            self._replace("weight_scale", name, values, lambda v: repeat(v, 1, times, v.shape[1] * times))
            self.group = group

    def dequantize(self) -> Any:
        width, groups = self.weight_scale.shape
        numbers = _unpack(self.weight_packed, 3, (width, groups, self.group // 8, 1), True) + self.scheme.offset
        weight = numbers.to(torch.float32) * self.weight_scale.to(torch.float32).view(width, groups, 1, 1)
        return weight.reshape(width, self.in_features).t()


def _choose_block(size: int, block: int, devices: int, word: int, bytes_per_element: float, bytes_per_block: float) -> int:
    """The block, of those that divide `size` and `block`, with the fewest bytes on a device if the dim is sharded; the largest of these."""
    candidates = [b for b in range(word, block + 1, word) if block % b == 0 and size % b == 0]

    def count(b: int) -> float:
        blocks = size // b if size // b < devices else -(-size // (b * devices))  # fewer than devices are replicated
        return blocks * (b * bytes_per_element + bytes_per_block)

    return min(reversed(candidates), key=count)


def repeat(value: Value, dim: int, times: int, size: int) -> Value:
    """Each element so often one after the other, of which the first `size` are kept."""
    shape = list(value.shape)
    wide = broadcast(reshape(value, (*shape[: dim + 1], 1, *shape[dim + 1 :])), dim + 1, times)
    return slice_of(reshape(wide, (*shape[:dim], shape[dim] * times, *shape[dim + 1 :])), dim, 0, size)


_LAYERS: Mapping[str, Any] = {"gptq": GroupedLinear, "awq": GroupedLinear, "blocks": BlockLinear, "packed": PackedLinear}
_UNUSED = {"gptq": ".g_idx", "blocks": ".weight_format", "packed": ".weight_shape"}
"""What layouts have beside payload and scales; numbers of groups count where they are not in order."""


def make_layer(scheme: Quantization, linear: Any, where: str) -> QuantizedLinear:
    """The layer that stores the weight of `linear` so."""
    return _LAYERS[scheme.method](linear, scheme, where)  # type: ignore[no-any-return, unused-ignore]


def replace_layers(module: Any, scheme: Quantization, stored: Mapping[str, Any] | None, where: str) -> None:
    """Linear layers that the checkpoint has quantized; without one, all but the head and those that the configuration leaves out."""
    payload = "qweight" if scheme.method in ("gptq", "awq") else scheme.scale  # a tensor that only quantized layers have
    layers = {n: m for n, m in module.named_modules() if type(m) is torch.nn.Linear}
    if stored is None:
        head = module.get_output_embeddings()
        chosen = [n for n, m in layers.items() if m is not head and not any(n == out or n.startswith(f"{out}.") or n.endswith(f".{out}") for out in scheme.left_out)]
    else:
        chosen = [n for n in layers if f"{n}.{payload}" in stored or f"{n.partition('.')[2]}.{payload}" in stored]
        others = [n for n in stored if n.endswith(f".{payload}")]
        if len(others) > len(chosen):
            known = {c for name in chosen for c in (name, name.partition(".")[2])}
            name = next(n for n in others if n.removesuffix(f".{payload}") not in known)
            raise ShardKitError(f"error: {where}: {name} is that of no linear layer, expected quantized weights of linear layers alone")
    for name in chosen:
        owner, _, key = name.rpartition(".")
        setattr(module.get_submodule(owner), key, make_layer(scheme, layers[name], f"{where}: {name}"))


def drop_unused(scheme: Quantization, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says again how weights are stored."""
    unused = None if scheme.is_ordered else _UNUSED.get(scheme.method)
    return {n: v for n, v in stored.items() if not unused or not n.endswith(unused)}


def refine_scales(module: Any, values: dict[str, Value], devices: int) -> None:
    """Scales are repeated where shards on so many devices would end inside of a block."""
    for name, layer in module.named_modules():
        if isinstance(layer, QuantizedLinear):
            layer.refine(name, values, devices)
