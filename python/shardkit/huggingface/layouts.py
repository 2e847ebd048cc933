"""Layouts of quantized weights: what a checkpoint stores of a weight, and how a program computes the weight from it.

A weight has its payload (words of eight 4-bit numbers, bytes of two, or 8-bit numbers) and its scales. It is written with the dims that
both have in common, so that a sharding of the weight is one of the payload and of the scales."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence

import torch

from ..errors import ShardKitError
from .conversion import Value, broadcast, cast, pack, reshape, slice_of, unpack

_MAX_ROWS = 4
"""Rows, as in decoding, whose products read weights in registers, in f32: more of them are multiplied in their own type."""

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
_FP4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


@dataclasses.dataclass(frozen=True)
class Quantization:
    """How a checkpoint stores weights. `group`: inputs with one scale; 0: all. `offset`: added to stored zero points. `is_ordered`:
    groups of inputs are given one by one (`g_idx`). `block`: outputs and inputs with one scale; 0: all. `payload`, `scale`: what these
    are called; `rank`: dims of the scale, `factor`: what it is multiplied by. `dtype`: of the payload. `is_nested`: scales are quantized
    too. `is_power`: scales are exponents of two. `unused`: what is stored beside these."""

    method: str
    group: int = 0
    offset: int = 0
    is_ordered: bool = False
    block: tuple[int, int] = (0, 0)
    left_out: tuple[str, ...] = ()
    payload: str = "weight"
    scale: str = "weight_scale_inv"
    rank: int = 2
    factor: float = 1.0
    dtype: Any = torch.float8_e4m3fn
    is_nested: bool = False
    is_power: bool = False
    unused: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of a weight, or of a stack of `lead` weights."""

    outputs: int
    inputs: int
    lead: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Shards:
    """How many devices may share the outputs of a weight, and its inputs."""

    outputs: int
    inputs: int


class QuantizedWeight(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A weight whose parameters are those of a checkpoint, as a linear layer of them. `weight_dims`: of these, the dims of inputs and
    outputs."""

    weight_dims: Mapping[str, tuple[int, int]]

    def __init__(self, sizes: Sizes, bias: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features, self.lead = sizes.inputs, sizes.outputs, sizes.lead
        self.register_parameter("bias", bias)

    def _add(self, name: str, shape: Sequence[int], dtype: Any, dims: tuple[int, int] | None = None) -> None:
        """`dims`: those of inputs and outputs, of one weight."""
        self.register_parameter(name, torch.nn.Parameter(torch.empty((*self.lead, *shape), dtype=dtype, device="meta"), requires_grad=False))
        if dims:
            n = len(self.lead)
            self.weight_dims = {**getattr(self, "weight_dims", {}), name: (dims[0] + n, dims[1] + n)}

    def choose_shards(self, devices: int) -> Shards:
        """Of a weight that no plan shards: along outputs, which have scales of their own, so that none is repeated."""
        return Shards(devices, 1)

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        """Repeats scales, so that shards consist of full blocks."""

    def _replace(self, key: str, prefix: str, values: dict[str, Value], change: Callable[[Value], Value]) -> None:
        name = f"{prefix}.{key}"
        values[name] = change(values[name])
        self.register_parameter(key, torch.nn.Parameter(torch.empty(values[name].shape, dtype=values[name].dtype, device="meta"), requires_grad=False))

    def _repeat(self, key: str, prefix: str, values: dict[str, Value], dim: int, times: int, size: int) -> None:
        """Of each weight the first `size` elements along a dim, each so often one after the other."""
        at = dim + len(self.lead)
        self._replace(key, prefix, values, lambda v: repeat(v, at, times, size))

    def dequantize(self) -> Any:
        """The weight in f32, inputs by outputs."""
        raise NotImplementedError

    def arrange(self, x: Any) -> tuple[Any, Any]:
        """Inputs and the weight in f32, with the inputs in an order in which the weight is read as it lies in memory."""
        return x, self.dequantize()

    def forward(self, x: Any) -> Any:
        if x.numel() <= _MAX_ROWS * self.in_features:
            x32, weight = self.arrange(x.to(torch.float32))
            result = (x32 @ weight).to(x.dtype)
        else:
            x, weight = self.arrange(x)
            result = x @ weight.to(x.dtype)
        return result if self.bias is None else result + self.bias


def unpack_words(words: Any, dim: int, shape: Sequence[int], is_in_order: bool) -> Any:
    """Of words of eight numbers, whose dim has size 1 in `shape`, the eight numbers along it."""
    if is_in_order:
        shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    else:  # even ones, then odd ones
        shifts = (torch.arange(0, 16, 4, dtype=torch.int32).view(4, 1) + torch.arange(0, 32, 16, dtype=torch.int32)).reshape(8)
    shifts = shifts.view(*[1] * dim, 8, *[1] * (len(shape) - dim - 1))
    return torch.bitwise_and(torch.bitwise_right_shift(words.view(*shape), shifts), 15)


def unpack_bytes(pairs: Any, is_low_first: bool, is_in_pairs: bool) -> Any:
    """Of bytes of two numbers, the two as i32: along a last dim, or along one before the bytes."""
    shifts = torch.tensor([0, 4] if is_low_first else [4, 0], dtype=torch.int32)
    pairs = pairs.to(torch.int32)
    pairs, shifts = (pairs.unsqueeze(-1), shifts) if is_in_pairs else (pairs.unsqueeze(-2), shifts.view(2, 1))
    return torch.bitwise_and(torch.bitwise_right_shift(pairs, shifts), 15)


def look_up(values: Sequence[float], numbers: Any) -> Any:
    """values[numbers] in f32, by selections: no memory is read."""
    found: list[Any] = list(values)
    for bit in range(len(values).bit_length() - 1):
        is_set = torch.bitwise_and(numbers, 1 << bit) != 0
        found = [torch.where(is_set, b, a) for a, b in zip(found[::2], found[1::2])]
    return found[0]


def read_power(exponents: Any) -> Any:
    """Powers of two, stored as bytes (E8M0)."""
    number = exponents.to(torch.int32)
    return torch.where(number == 255, float("nan"), torch.exp2((number - 127).to(torch.float32)))


class GroupedWeight(QuantizedWeight):
    """GPTQ (words of eight inputs) and AWQ (words of eight outputs): weight = (number - zero point) * scale of its group of inputs."""

    def __init__(self, sizes: Sizes, scheme: Quantization, where: str, bias: Any = None) -> None:
        super().__init__(sizes, bias)
        size, width = self.in_features, self.out_features
        self.scheme, self.group, self.zeros = scheme, scheme.group or size, 8  # zero points in an element
        if size % self.group or size % 8 or width % 8:
            raise ShardKitError(f"error: {where} has {size} inputs and {width} outputs, expected multiples of 8, and of the group of {self.group} inputs")
        if scheme.is_ordered and sizes.lead:
            raise ShardKitError(f"error: {where} are experts with groups of inputs in any order (desc_act), expected groups in order")
        self.is_gptq = scheme.method == "gptq"
        self._add("qweight", (size // 8, width) if self.is_gptq else (size, width // 8), torch.int32, (0, 1))
        self._add("qzeros", (size // self.group, width // 8), torch.int32, (0, 1))
        self._add("scales", (size // self.group, width), torch.float16, (0, 1))
        if scheme.is_ordered:
            self._add("g_idx", (size,), torch.int32)

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        """Words of zero points that shards would end inside of become bytes of two of them, or of one."""
        if not self.scheme.is_ordered and self.group != self.in_features:
            group = choose_block(self.in_features, self.group, shards.inputs, 8, lambda b: b * 0.5 + 2.5)
            if (times := self.group // group) > 1:
                for key in ("qzeros", "scales"):
                    self._repeat(key, name, values, 0, times, self.in_features // group)
                self.group = group
        shard = -(-self.out_features // shards.outputs)
        if self.is_gptq and shard % 8:
            self.zeros = 1 + (shard % 2 == 0)
            self._replace("qzeros", name, values, self._split_words)

    def _split_words(self, words: Value) -> Value:
        dim, width = len(words.shape), self.out_features
        numbers = cast(unpack(reshape(words, (*words.shape, 1)), dim, range(0, 32, 4), 15), torch.uint8)
        bytes = pack(reshape(numbers, (*words.shape[:-1], width // self.zeros, self.zeros)), dim, 4)
        return reshape(bytes, (*words.shape[:-1], width // self.zeros))

    def _read_zeros(self) -> Any:
        if self.zeros == 8:
            shape = (*self.qzeros.shape, 1)
            return unpack_words(self.qzeros, len(shape) - 1, shape, self.is_gptq)
        return self.qzeros.to(torch.int32) if self.zeros == 1 else unpack_bytes(self.qzeros, is_low_first=True, is_in_pairs=True)

    def dequantize(self) -> Any:
        lead, n, width = self.lead, len(self.lead), self.out_features
        groups = self.scales.shape[n]
        zeros = self._read_zeros() + self.scheme.offset
        if self.scheme.is_ordered:
            numbers = unpack_words(self.qweight, 1, (self.in_features // 8, 1, width), True).reshape(self.in_features, width)
            at = self.g_idx.to(torch.int64)
            return (numbers - zeros.reshape(groups, width)[at]).to(torch.float32) * self.scales[at].to(torch.float32)
        if self.is_gptq:
            numbers = unpack_words(self.qweight, n + 2, (*lead, groups, self.group // 8, 1, width), True)
            shape = [*lead, groups, 1, 1, width]
        else:
            numbers = unpack_words(self.qweight, n + 3, (*lead, groups, self.group, width // 8, 1), False)
            shape = [*lead, groups, 1, width // 8, 8]
        weight = (numbers - zeros.reshape(shape)).to(torch.float32) * self.scales.view(shape).to(torch.float32)
        return weight.reshape(*lead, self.in_features, width)


class BlockWeight(QuantizedWeight):
    """Numbers of 8 bits, outputs by inputs, with a scale for each block: DeepSeek's 128 x 128 ones, 32 inputs (MXFP8), each output, or all
    of the weight."""

    def __init__(self, sizes: Sizes, scheme: Quantization, where: str, bias: Any = None) -> None:
        super().__init__(sizes, bias)
        shape = (self.out_features, self.in_features)
        self.scheme, self.block = scheme, tuple(b or n for b, n in zip(scheme.block, shape))
        self._add("weight", shape, scheme.dtype, (1, 0))
        blocks = [-(-n // b) for n, b in zip(shape, self.block)][: scheme.rank]
        self._add(scheme.scale, blocks, torch.uint8 if scheme.is_power else torch.float32, (1, 0) if scheme.rank == 2 else None)

    def choose_shards(self, devices: int) -> Shards:
        """Along the dims whose blocks can stay, else along outputs alone: scales that are repeated for both would be many."""
        kept = [self._choose_block(dim, devices) == self._choose_block(dim, 1) for dim in (0, 1)]
        return Shards(devices if kept[0] or not kept[1] else 1, devices if kept[1] else 1)

    def _choose_block(self, dim: int, devices: int) -> int:
        size, block = (self.out_features, self.in_features)[dim], self.block[dim]
        if block in (1, size):
            return block
        return choose_block(size, block, devices, 1, lambda b: b + 0.5)

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        """Also so that blocks divide the weight: the last one of each dim may be smaller."""
        sizes = (self.out_features, self.in_features)
        for dim in (0, 1):
            size, block = sizes[dim], self.block[dim]
            if block in (1, size):
                continue
            chosen = self._choose_block(dim, (shards.outputs, shards.inputs)[dim])
            if (times := block // chosen) > 1:
                self._repeat(self.scheme.scale, name, values, dim, times, size // chosen)
            self.block = (*self.block[:dim], chosen, *self.block[dim + 1 :])

    def dequantize(self) -> Any:
        (n, k), (rows, columns) = (self.out_features, self.in_features), self.block
        stored = getattr(self, self.scheme.scale)
        outputs = (n // rows,) if rows == 1 else (n // rows, rows)
        scale = (read_power(stored) if self.scheme.is_power else stored.to(torch.float32)).view(*self.lead, n // rows, *[1] * (len(outputs) - 1), k // columns, 1)
        scale = scale * self.scheme.factor if self.scheme.factor != 1 else scale
        weight = self.weight.view(*self.lead, *outputs, k // columns, columns).to(torch.float32) * scale
        return weight.reshape(*self.lead, n, k).transpose(-1, -2)


class PackedWeight(QuantizedWeight):
    """Words of eight inputs, outputs by words, with a scale for each group of inputs: weight = (number - 8) * scale."""

    def __init__(self, sizes: Sizes, scheme: Quantization, where: str, bias: Any = None) -> None:
        super().__init__(sizes, bias)
        size, width = self.in_features, self.out_features
        self.scheme, self.group = scheme, scheme.group or size
        if size % self.group or size % 8:
            raise ShardKitError(f"error: {where} has {size} inputs, expected a multiple of 8, and of the group of {self.group} inputs")
        self._add("weight_packed", (width, size // 8), torch.int32, (1, 0))
        self._add("weight_scale", (width, size // self.group), torch.float32, (1, 0))

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        if self.group == self.in_features:
            return
        group = choose_block(self.in_features, self.group, shards.inputs, 8, lambda b: b * 0.5 + 2)
        if (times := self.group // group) > 1:
            self._repeat("weight_scale", name, values, 1, times, self.in_features // group)
            self.group = group

    def dequantize(self) -> Any:
        n, width, groups = len(self.lead), self.out_features, self.in_features // self.group
        numbers = unpack_words(self.weight_packed, n + 3, (*self.lead, width, groups, self.group // 8, 1), True) + self.scheme.offset
        weight = numbers.to(torch.float32) * self.weight_scale.to(torch.float32).view(*self.lead, width, groups, 1, 1)
        return weight.reshape(*self.lead, width, self.in_features).transpose(-1, -2)


class PairedWeight(QuantizedWeight):
    """Bytes of two numbers, outputs by inputs, and a scale for each group of inputs."""

    group: int

    def read(self, bytes: Any, is_in_pairs: bool) -> Any:
        """Numbers of both halves of bytes (outputs, groups, bytes): in a last dim, or all first ones of a group, then the second ones."""
        raise NotImplementedError

    def get_bytes(self) -> Any:
        raise NotImplementedError

    def get_scale(self) -> Any:
        """Outputs, groups."""
        raise NotImplementedError

    def _widen(self, is_in_pairs: bool) -> Any:
        bytes = self.get_bytes().view(*self.lead, self.out_features, self.in_features // self.group, self.group // 2)
        weight = self.read(bytes, is_in_pairs) * self.get_scale().unsqueeze(-1).unsqueeze(-1)
        return weight.reshape(*self.lead, self.out_features, self.in_features).transpose(-1, -2)

    def dequantize(self) -> Any:
        return self._widen(is_in_pairs=True)

    def arrange(self, x: Any) -> tuple[Any, Any]:
        """The first numbers of all bytes of a group, then the second ones."""
        pairs = x.reshape(*x.shape[:-1], self.in_features // self.group, self.group // 2, 2)
        return pairs.transpose(-1, -2).reshape(x.shape), self._widen(is_in_pairs=False)


class Float4Weight(PairedWeight):
    """MXFP4: bytes of two numbers of E2M1, outputs by inputs, the first in the low half; 32 inputs have a power of two as their scale.
    gpt-oss stores the bytes of such a block in a dim of their own."""

    def __init__(self, sizes: Sizes, scheme: Quantization, where: str, bias: Any = None) -> None:
        super().__init__(sizes, bias)
        size, width = self.in_features, self.out_features
        self.scheme, self.group = scheme, scheme.group
        if size % self.group:
            raise ShardKitError(f"error: {where} has {size} inputs, expected a multiple of {self.group}")
        blocks = size // self.group
        self._add(scheme.payload, (width, blocks, self.group // 2) if scheme.rank == 3 else (width, size // 2), torch.uint8, (1, 0))
        self._add(scheme.scale, (width, blocks), torch.uint8, (1, 0))

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        group = choose_block(self.in_features, self.group, shards.inputs, 2, lambda b: b * 0.5 + 1)
        if (times := self.group // group) > 1:
            blocks = self.in_features // group
            self._repeat(self.scheme.scale, name, values, 1, times, blocks)
            if self.scheme.rank == 3:
                shape = (*self.lead, self.out_features, blocks, group // 2)
                self._replace(self.scheme.payload, name, values, lambda v: reshape(v, shape))
            self.group = group

    def get_bytes(self) -> Any:
        return getattr(self, self.scheme.payload)

    def get_scale(self) -> Any:
        return read_power(getattr(self, self.scheme.scale))

    def read(self, bytes: Any, is_in_pairs: bool) -> Any:
        return look_up(_FP4, unpack_bytes(bytes, True, is_in_pairs))


class NormalFloatWeight(PairedWeight):
    """NF4 of bitsandbytes: bytes of two numbers, the first in the high half. Scales are those of blocks of the weight as one row; they are
    quantized too where `is_nested`: 8-bit numbers, a scale for each 256 of them, and the mean of all."""

    def __init__(self, sizes: Sizes, scheme: Quantization, where: str, bias: Any = None) -> None:
        super().__init__(sizes, bias)
        size, width = self.in_features, self.out_features
        self.scheme, self.group = scheme, scheme.group
        if size % 2:
            raise ShardKitError(f"error: {where} has {size} inputs, expected an even number")
        blocks = -(-width * size // self.group)
        self._add("weight", (width * size // 2, 1), torch.uint8)
        self._add("absmax", (blocks,), torch.uint8 if scheme.is_nested else torch.float32)
        if scheme.is_nested:
            self._add("nested_absmax", (-(-blocks // 256),), torch.float32)
            self._add("nested_quant_map", (256,), torch.float32)
            self._add("mean", (), torch.float32)

    def refine(self, name: str, values: dict[str, Value], shards: Shards) -> None:
        """Payload and scales get the dims of the weight."""
        size, width, block = self.in_features, self.out_features, self.group
        in_row = max(b for b in range(2, block + 1, 2) if block % b == 0 and size % b == 0)
        self.group = choose_block(size, in_row, shards.inputs, 2, lambda b: b * 0.5 + (1 if self.scheme.is_nested else 4))
        count = size // self.group  # in a row
        self.weight_dims = {"weight": (1, 0), "absmax": (1, 0)}
        self._replace("weight", name, values, lambda v: reshape(v, (width, size // 2)))
        self._replace("absmax", name, values, lambda v: reshape(repeat(v, 0, block // self.group, width * count), (width, count)))
        if self.scheme.is_nested:
            # One for so many inputs: the most of a row that no block of 256 scales ends in.
            self.nested = max(b for b in range(self.group, size + 1, self.group) if 256 * block % b == 0 and size % b == 0)
            shape = (width, size // self.nested)
            times = 256 * block // self.nested
            self._replace("nested_absmax", name, values, lambda v: reshape(repeat(v, 0, times, shape[0] * shape[1]), shape))
            self.weight_dims = {**self.weight_dims, "nested_absmax": (1, 0)}

    def get_bytes(self) -> Any:
        return self.weight

    def get_scale(self) -> Any:
        width, size = self.out_features, self.in_features
        if not self.scheme.is_nested:
            return self.absmax
        outer = self.nested_absmax.view(width, size // self.nested, 1)
        inner = self.nested_quant_map[self.absmax.to(torch.int64)].view(width, size // self.nested, self.nested // self.group)
        return (inner * outer + self.mean).reshape(width, size // self.group)

    def read(self, bytes: Any, is_in_pairs: bool) -> Any:
        return look_up(NF4, unpack_bytes(bytes, False, is_in_pairs))


def choose_block(size: int, block: int, devices: int, word: int, count_bytes: Callable[[int], float]) -> int:
    """The block, of those that divide `size` and `block`, with the fewest bytes on a device if the dim is sharded; the largest of these.
    `count_bytes`: those of a block of so many elements, with what it shares with others."""
    candidates = [b for b in range(word, block + 1, word) if block % b == 0 and size % b == 0]

    def count(b: int) -> float:
        return (size // b if size // b < devices else -(-size // (b * devices))) * count_bytes(b)  # fewer than devices are replicated

    return min(reversed(candidates), key=count)


def repeat(value: Value, dim: int, times: int, size: int) -> Value:
    """Each element so often one after the other, of which the first `size` are kept."""
    shape = list(value.shape)
    wide = broadcast(reshape(value, (*shape[: dim + 1], 1, *shape[dim + 1 :])), dim + 1, times)
    return slice_of(reshape(wide, (*shape[:dim], shape[dim] * times, *shape[dim + 1 :])), dim, 0, size)


LAYOUTS: Mapping[str, Any] = {
    "gptq": GroupedWeight, "awq": GroupedWeight, "blocks": BlockWeight, "packed": PackedWeight, "mxfp4": Float4Weight, "nf4": NormalFloatWeight,
}  # fmt: skip
