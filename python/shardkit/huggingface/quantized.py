"""How a checkpoint stores quantized weights, and the layers of a model that hold them so: linear layers and stacks of experts."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Mapping

import numpy as np
import torch

from .. import safetensors
from ..errors import ShardKitError
from .conversion import Stored, Symbol, Value, add_constant, concat, make_symbol, reshape, slice_of
from .layouts import LAYOUTS, NF4, Quantization, QuantizedWeight, Shards, Sizes

_METHODS = "gptq and awq in 4 bits, fp8, mxfp4, compressed-tensors, bitsandbytes in 8 bits or nf4"


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
        is_ordered = bool(given.get("desc_act"))
        unused = () if is_ordered else (".g_idx",)
        return Quantization("gptq", _read_group(where, given), int(version == "gptq"), is_ordered, left_out=left_out, payload="qweight", unused=unused)
    if method == "awq" and bits == 4:
        version = str(given.get("version", "gemm")).lower()
        if version != "gemm" or not given.get("zero_point", True):
            raise ShardKitError(f"error: {where}: version is '{version}', zero_point {given.get('zero_point', True)}, expected gemm with zero points")
        return Quantization("awq", _read_group(where, given), left_out=left_out, payload="qweight")
    if method == "fp8" and (given.get("fmt") or "e4m3") == "e4m3":
        block = given.get("weight_block_size")
        if block is not None and not (isinstance(block, (list, tuple)) and len(block) == 2 and all(isinstance(b, int) and b > 0 for b in block)):
            raise ShardKitError(f"error: {where}: weight_block_size is {block}, expected two positive numbers, such as [128, 128]")
        return Quantization("blocks", block=tuple(block) if block else (0, 0), left_out=left_out)
    if method == "mxfp4":
        return Quantization("mxfp4", 32, left_out=left_out, payload="blocks", scale="scales", rank=3)
    if method == "bitsandbytes":
        left_out = tuple(given.get("llm_int8_skip_modules") or ())
        if given.get("load_in_8bit"):
            return Quantization("blocks", block=(1, 0), left_out=left_out, scale="SCB", rank=1, factor=1 / 127, dtype=torch.int8, unused=(".weight_format",))
        kind = given.get("bnb_4bit_quant_type", "fp4")
        if given.get("load_in_4bit") and kind == "nf4" and (given.get("bnb_4bit_quant_storage") or "uint8") == "uint8":
            return Quantization("nf4", 64, left_out=left_out, scale="absmax", is_nested=bool(given.get("bnb_4bit_use_double_quant")))
        method = f"bitsandbytes ({kind} stored in {given.get('bnb_4bit_quant_storage')})" if given.get("load_in_4bit") else method
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
        return Quantization("packed", _read_group(where, {"group_size": weights.get("group_size") or -1}), -8, left_out=left_out, payload="weight_packed", scale="weight_scale", unused=(".weight_shape",))
    if kind == "mxfp4-pack-quantized" and strategy == "group" and symmetric and weights.get("group_size") == 32:
        return Quantization("mxfp4", 32, left_out=left_out, payload="weight_packed", scale="weight_scale", rank=2)
    if kind == "mxfp8-quantized" and strategy == "group" and symmetric and weights.get("group_size") == 32:
        return Quantization("blocks", block=(1, 32), left_out=left_out, scale="weight_scale", is_power=True)
    if kind in ("float-quantized", "int-quantized", "naive-quantized") and weights.get("num_bits") == 8 and symmetric and strategy in blocks:
        dtype = torch.float8_e4m3fn if weights.get("type") == "float" else torch.int8
        return Quantization("blocks", block=blocks[strategy], left_out=left_out, scale="weight_scale", rank=1 if strategy == "tensor" else 2, dtype=dtype)
    raise ShardKitError(
        f"error: {where}: format '{kind}' of {weights.get('num_bits')} bits, strategy {strategy}, symmetric {symmetric}, expected symmetric weights: "
        "pack-quantized of 4 bits by group or channel, float-quantized or int-quantized of 8 bits by tensor, channel or block, "
        "mxfp4-pack-quantized or mxfp8-quantized in groups of 32"
    )


def _read_group(where: str, given: Mapping[str, Any]) -> int:
    group = given.get("group_size") or given.get("q_group_size") or 128
    if not isinstance(group, int) or (group != -1 and (group < 8 or group % 8)):
        raise ShardKitError(f"error: {where}: group_size is {group!r}, expected -1, or a multiple of 8")
    return max(group, 0)


def make_layer(scheme: Quantization, linear: Any, where: str) -> QuantizedWeight:
    """The layer that stores the weight of `linear` so."""
    sizes = Sizes(linear.out_features, linear.in_features)
    return LAYOUTS[scheme.method](sizes, scheme, where, linear.bias)  # type: ignore[no-any-return, unused-ignore]


def _mark(scheme: Quantization) -> str:
    """What a tensor is called that only quantized weights have."""
    return "weight.absmax" if scheme.method == "nf4" else scheme.payload if scheme.payload != "weight" else scheme.scale


def replace_layers(module: Any, scheme: Quantization, stored: Mapping[str, Stored] | None, where: str) -> None:
    """Layers that the checkpoint has quantized; without one, all but the head and those that the configuration leaves out."""
    mark = _mark(scheme)
    layers = {n: m for n, m in module.named_modules() if type(m) is torch.nn.Linear}
    stacks = {n: m for n, m in module.named_modules() if is_stack(m)}
    if stored is None:
        head = module.get_output_embeddings()
        kept = [n for n, m in layers.items() if m is head] + [n for n in layers if _is_left_out(n, scheme)]
        chosen = [n for n in layers if n not in kept and scheme.rank < 3]
        chosen_stacks = [n for n in stacks if not _is_left_out(n, scheme)]
    else:
        chosen = [n for n in layers if f"{n}.{mark}" in stored or f"{n.partition('.')[2]}.{mark}" in stored]
        owners = {m.group(1) for n in stored if (m := _find_expert(n, scheme)) and m.group(4) == mark}
        # The module of a stack may have another name between layer and experts: block_sparse_moe for mlp.
        numbers = {_number_of(n) for n in owners}
        chosen_stacks = [n for n in stacks if _number_of(n) in numbers]
        others = [n for n in stored if n.endswith(f".{mark}") and not _find_expert(n, scheme)]
        if len(others) > len(chosen):
            known = {c for name in chosen for c in (name, name.partition(".")[2])}
            name = next(n for n in others if n.removesuffix(f".{mark}") not in known)
            raise ShardKitError(f"error: {where}: {name} is that of no linear layer, expected quantized weights of linear layers and experts alone")
        if len(chosen_stacks) < len(owners):
            name = next(n for n in owners if _number_of(n) not in {_number_of(c) for c in chosen_stacks})
            raise ShardKitError(f"error: {where}: {name} has quantized experts, expected a layer whose experts are stacked in gate_up_proj and down_proj")
    for name in chosen:
        owner, _, key = name.rpartition(".")
        setattr(module.get_submodule(owner), key, make_layer(scheme, layers[name], f"{where}: {name}"))
    for name in chosen_stacks:

        def make(sizes: Sizes, key: str, name: str = name) -> QuantizedWeight:
            return LAYOUTS[scheme.method](sizes, scheme, f"{where}: {name}.{key}")  # type: ignore[no-any-return, unused-ignore]

        replace_stack(stacks[name], make)


def _is_left_out(name: str, scheme: Quantization) -> bool:
    return any(name == out or name.startswith(f"{out}.") or name.endswith(f".{out}") for out in scheme.left_out)


def _number_of(name: str) -> str:
    """That of the layer of a stack."""
    found = re.findall(r"\.(\d+)\.", name)
    return found[-1] if found else name


STACK = "_stored"
"""The end of the names of modules that hold the weights of a stack; the weight itself is an attribute that is computed."""

_STACKED = ("gate_up_proj", "down_proj")
_PROJECTIONS = {"gate_proj": 0, "w1": 0, "up_proj": 0, "w3": 0, "down_proj": 1, "w2": 1}


def is_stack(module: Any) -> bool:
    own = module._parameters
    return all(isinstance(own.get(n), torch.nn.Parameter) and own[n].dim() == 3 for n in _STACKED)


def _find_expert(name: str, scheme: Quantization) -> re.Match[str] | None:
    """Groups: the stack, the number of the expert if experts are stored one by one, the projection, and what of it is stored."""
    if scheme.rank == 3:  # stacked as the library stacks them
        return re.fullmatch(r"(.*\.experts)()\.(gate_up_proj|down_proj)_(blocks|scales)", name)
    return re.fullmatch(r"(.*\.experts)\.(\d+)\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.([\w.]+)", name)


def replace_stack(experts: Any, make: Callable[[Sizes, str], QuantizedWeight]) -> None:
    """Its weights are computed from what is stored: `make` takes the sizes and the name of one."""
    is_transposed = bool(getattr(experts, "is_transposed", False))

    def make_property(name: str, dtype: Any) -> property:
        def read(owner: Any) -> Any:
            weight = owner._modules[name + STACK].dequantize()
            return (weight if is_transposed else weight.transpose(-1, -2)).to(dtype)

        return property(read)

    properties: dict[str, Any] = {}
    for name in _STACKED:
        parameter = experts._parameters.pop(name)
        count, *sizes = parameter.shape
        inputs, outputs = sizes if is_transposed else sizes[::-1]
        experts._modules[name + STACK] = make(Sizes(outputs, inputs, (count,)), name)
        properties[name] = make_property(name, parameter.dtype)
    experts._is_hf_initialized = True  # by what is stored
    kind = type(experts)
    experts.__class__ = type(kind.__name__, (kind,), {**properties, "__module__": kind.__module__})


def predict_stored(scheme: Quantization, module: Any, plain: Mapping[str, Stored]) -> dict[str, Stored]:
    """What a checkpoint has of a model whose layers were replaced. `plain`: what it would have without quantization."""
    if scheme.is_nested:
        raise ShardKitError("error: bnb_4bit_use_double_quant stores a number beside the tensors, expected a folder with them, or no quantization_config")
    weights = {n: m for n, m in module.named_modules() if isinstance(m, QuantizedWeight)}
    found: dict[str, Stored] = {}
    for name, value in plain.items():
        base = name.removesuffix(".weight")
        match = _find_expert(f"{name.removesuffix('.weight')}.{_mark(scheme)}", scheme)
        stack = None
        if match and match.group(2):
            stack = next((w for n, w in weights.items() if w.lead and n.endswith(_STACKED[_PROJECTIONS[match.group(3)]] + STACK) and _number_of(n) == _number_of(match.group(1))), None)
        if stack is not None:
            part = Sizes(value.shape[0], value.shape[1])
            one = LAYOUTS[scheme.method](part, scheme, name)
            found |= {f"{base}.{k}": Stored(tuple(p.shape), p.dtype) for k, p in one._parameters.items() if p is not None}
        elif weight := weights.get(base) or weights.get(base + STACK):
            prefix = f"{base}_" if scheme.rank == 3 else f"{base}."
            for k, p in weight._parameters.items():
                if p is not None and k != "bias":
                    key = f"weight.{k}" if scheme.method == "nf4" and k != "weight" else k
                    found[prefix + key] = Stored(tuple(p.shape), p.dtype)
        else:
            found[name] = value
    return found


def arrange(scheme: Quantization, stored: Mapping[str, Stored], where: str) -> dict[str, Any]:
    """The stored tensors by the names of the parameters that hold them, without what says again how weights are stored."""
    found: dict[str, Any] = {}
    stacks: dict[tuple[str, str, str], dict[tuple[str, int], Any]] = {}
    for name, value in stored.items():
        if any(name.endswith(unused) for unused in scheme.unused):
            continue
        symbol = make_symbol(name, value.shape, value.dtype)
        if match := _find_expert(name, scheme):
            owner, number, projection, key = match.groups()
            if not number:
                found[f"{owner}.{projection}{STACK}.{key}"] = symbol
                continue
            stack = stacks.setdefault((owner, _STACKED[_PROJECTIONS[projection]], key), {})
            stack[(projection, int(number))] = symbol.value
        elif scheme.method == "nf4" and ".weight." in name:
            base, _, key = name.rpartition(".weight.")
            if key.startswith("quant_state."):
                if scheme.is_nested:
                    found[f"{base}.mean"] = _make_mean(name, value, stored[f"{base}.weight.nested_absmax"], f"{base}.weight.nested_absmax", where)
            elif key == "quant_map":
                _check_map(name, value, where)
            else:
                found[f"{base}.{key}"] = symbol
        else:
            found[name] = symbol
    for (owner, stack_name, key), parts in stacks.items():
        found[f"{owner}.{stack_name}{STACK}.{key}"] = _stack(scheme, parts, key, f"{where}: {owner}.{stack_name}.{key}")
    return found


def _stack(scheme: Quantization, parts: Mapping[tuple[str, int], Value], key: str, where: str) -> Any:
    """Of experts that are stored one by one; gate, then up, along the outputs."""
    projections = sorted({p for p, _ in parts}, key=lambda p: p in ("up_proj", "w3"))
    count = max(e for _, e in parts) + 1
    if len(parts) != count * len(projections):
        missing = next(f"{e}.{p}" for p in projections for e in range(count) if (p, e) not in parts)
        raise ShardKitError(f"error: {where}: no stored tensor of expert {missing}, expected those of all {count} experts")
    if len({v.shape for v in parts.values()}) > 1:
        raise ShardKitError(f"error: {where}: experts have shapes {sorted({v.shape for v in parts.values()})}, expected one")
    first = next(iter(parts.values()))
    dim = 1 if scheme.method in ("gptq", "awq") else 0
    stacks = [concat([reshape(parts[p, e], (1, *first.shape)) for e in range(count)], 0) for p in projections]
    if len(first.shape) <= dim and len(stacks) > 1:
        raise ShardKitError(f"error: {where}: gate and up have a scale each for all outputs, expected scales of outputs or blocks")
    return Symbol(concat(stacks, dim + 1))


def _make_mean(name: str, state: Stored, scales: Stored, scale_name: str, where: str) -> Any:
    """The mean of nested scales, which is a number in JSON. A loading function has a stored tensor: the result is 0 times that."""
    try:
        mean = float(json.loads(safetensors.read_one(str(state.file), name).tobytes())["nested_offset"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ShardKitError(f"error: {where}: {name}: {str(error) or type(error).__name__}, expected JSON with nested_offset") from None
    first = slice_of(make_symbol(scale_name, scales.shape, scales.dtype).value, 0, 0, 1)
    return Symbol(add_constant(reshape(first, ()), 0.0, float(np.float32(mean))))


def _check_map(name: str, value: Stored, where: str) -> None:
    if value.file and not np.array_equal(found := safetensors.read_one(value.file, name), np.array(NF4, np.float32)):
        raise ShardKitError(f"error: {where}: {name} is {found.tolist()[:4]}..., expected the sixteen numbers of nf4")


def refine_scales(module: Any, values: dict[str, Value], devices: int, known: Mapping[str, Shards]) -> None:
    """Scales are repeated where shards on so many devices would end inside of a block. `known`: of the weights that a plan shards, how;
    others may be sharded along a dim in which scales stay as they are, if there is one."""
    for name, layer in module.named_modules():
        if isinstance(layer, QuantizedWeight):
            layer.refine(name, values, known.get(name) or layer.choose_shards(devices))
