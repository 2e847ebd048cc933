"""Builds a model of the library without weights: parameters are on the meta device, constants are computed."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Mapping

import torch

from ..errors import ShardKitError
from . import gguf, quantized, styles
from .checkpoint import shorten
from .conversion import Stored, Symbol, Value, make_symbol
from .layouts import Quantization, QuantizedWeight

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


@dataclasses.dataclass
class Built:
    """A module, whose tensors that a checkpoint has are on the meta device, and what each of these is made of, by name."""

    module: Any
    values: dict[str, Value]


def find_class(config: Any, where: str) -> Any:
    """The class of the library that the configuration names, else the base model of its kind."""
    import transformers

    for name in config.architectures or []:
        if hasattr(transformers, name):
            return getattr(transformers, name)
        raise ShardKitError(f"error: {where}: unknown class '{name}' in architectures, expected one of transformers {transformers.__version__}")
    if type(config) not in transformers.MODEL_MAPPING:
        raise ShardKitError(f"error: {where}: no architectures, expected the name of a class: transformers has no base model of {config.model_type}")
    found = transformers.MODEL_MAPPING[type(config)]
    return found[0] if isinstance(found, tuple) else found


def choose_dtype(config: Any, dtype: str, stored: Mapping[str, Stored] | None) -> Any:
    """`auto`: that of the configuration, else that of the stored tensors."""
    if dtype != "auto":
        return DTYPES[dtype]
    given = config.dtype
    if isinstance(given, str):
        given = getattr(torch, given, None)
    if given is None and stored:
        given = next((v.dtype for v in stored.values() if v.dtype in DTYPES.values()), None)
    return given if given in DTYPES.values() else torch.float32


def build(
    config: Any, model_class: Any, dtype: Any, stored: Mapping[str, Stored] | None, where: str,
    quantization: Quantization | gguf.Checkpoint | None = None, devices: int = 1, follows_plan: bool = False,
) -> Built:  # fmt: skip
    """`stored`: what the checkpoint holds; None stands for all that the library would write of this model. `quantization`: how it
    stores linear layers; scales then fit shards on so many devices, if `follows_plan` in the dims of the model's own plan alone."""
    module = _make(config, model_class, dtype, where)
    if quantization is None:
        symbols = {n: make_symbol(n, v.shape, v.dtype) for n, v in (predict_stored(module) if stored is None else stored).items()}
    elif isinstance(quantization, gguf.Checkpoint):
        quantization.replace_layers(module)
        symbols = quantization.arrange(config)
    else:
        plain = predict_stored(module) if stored is None else {}
        quantized.replace_layers(module, quantization, stored, where)
        symbols = quantized.arrange(quantization, quantized.predict_stored(quantization, module, plain) if stored is None else stored, where)
    values = _load(module, dtype, symbols, where)
    if isinstance(quantization, gguf.Checkpoint):
        quantization.share(module, values)
    quantized.refine_scales(module, values, devices, styles.find_shards(module, devices) if follows_plan else {})
    module.eval()
    module.requires_grad_(False)
    return Built(module, values)


def _make(config: Any, model_class: Any, dtype: Any, where: str) -> Any:
    from transformers.modeling_utils import ContextManagers

    try:
        with ContextManagers(model_class.get_init_context(dtype, False, False, False)):
            return model_class(config)
    except ShardKitError:
        raise
    except ImportError as error:
        raise ShardKitError(f"error: {where}: {model_class.__name__}: {_first_line(error)}, expected the packages that it needs") from None
    except Exception as error:  # of a constructor
        raise ShardKitError(f"error: {where}: {model_class.__name__} takes no such configuration: {_first_line(error)}, expected sizes that fit") from error


def predict_stored(module: Any) -> dict[str, Stored]:
    """What the library writes of a model: published names, one of those that are tied."""
    from transformers.core_model_loading import revert_weight_conversion

    ignored = [re.compile(p) for p in module._keys_to_ignore_on_save or ()]
    state = {n: v for n, v in module.state_dict().items() if not any(p.search(n) for p in ignored)}
    for name in module.all_tied_weights_keys:
        state.pop(name, None)
    return {n: Stored(tuple(v.shape), v.dtype) for n, v in revert_weight_conversion(module, state).items()}


def _load(module: Any, dtype: Any, symbols: Mapping[str, Any], where: str) -> dict[str, Value]:
    """What the library's loader makes of tensors that have names, shapes and types alone."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import convert_and_load_state_dict_in_model
    from transformers.modeling_utils import LoadStateDictConfig

    shapes = {n: tuple(v.shape) for n, v in module.state_dict().items()}
    config = LoadStateDictConfig(dtype=dtype, dtype_plan=module._get_dtype_plan(dtype), weight_mapping=get_model_conversion_mapping(module, None, None))
    info, _ = convert_and_load_state_dict_in_model(module, dict(symbols), config)
    for name, text in info.conversion_errors.items():
        own = re.findall(r"ShardKitError: error: (.*)", text)
        if own:
            raise ShardKitError(f"error: {where}: {name}: {own[-1]}")
        reasons = re.findall(r"(?m)^[\w.]*(?:Error|Exception): (.*)", text)
        raise ShardKitError(f"error: {where}: {name}: the stored tensors do not fit ({(reasons or text.splitlines())[-1]}), expected those that the configuration describes")
    if info.mismatched_keys:
        name, found, expected = sorted(info.mismatched_keys, key=lambda entry: str(entry[0]))[0]
        more = f" ({len(info.mismatched_keys) - 1} more differ)" if len(info.mismatched_keys) > 1 else ""
        raise ShardKitError(f"error: {where}: {name} is stored with shape {tuple(found)}, expected {shapes.get(name, tuple(expected))} by the configuration{more}")
    module.mark_tied_weights_as_initialized(info)
    module.tie_weights(missing_keys=info.missing_keys, recompute_mapping=False)
    computed = set(info.missing_keys)
    module._adjust_missing_and_unexpected_keys(info)
    if info.missing_keys:
        names = sorted(info.missing_keys)
        raise ShardKitError(f"error: {where}: no stored tensor for {shorten(names)}, expected all {len(shapes)} tensors of {type(module).__name__}")
    if info.unexpected_keys:
        names = sorted(info.unexpected_keys)
        raise ShardKitError(f"error: {where}: stored tensors that {type(module).__name__} does not have: {shorten(names)}, expected its own alone")
    values = _take_symbols(module)
    _compute_constants(module, computed)
    return values


def _take_symbols(module: Any) -> dict[str, Value]:
    """Parameters and buffers are empty ones again; what they are made of, by their names."""
    values: dict[str, Value] = {}
    known: dict[int, Any] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for table in (owner._parameters, owner._buffers):
            for key, tensor in table.items():
                if isinstance(tensor, Symbol):
                    value = tensor.value
                    if isinstance(owner, QuantizedWeight) and key != "bias" and value.op == "cast":
                        value = value.operands[0]  # it stays as it is stored
                    if id(tensor) not in known:
                        empty = torch.empty(value.shape, dtype=value.dtype, device="meta")
                        known[id(tensor)] = torch.nn.Parameter(empty, requires_grad=False) if table is owner._parameters else empty
                        known[id(tensor)]._is_hf_initialized = True
                        known[id(known[id(tensor)])] = tensor  # keeps it
                    values[f"{prefix}.{key}" if prefix else key] = value
                    table[key] = known[id(tensor)]
    return values


def _compute_constants(module: Any, computed: set[str]) -> None:
    """Buffers that no checkpoint has, and parameters that the library computes, have elements and are constants."""
    module._move_missing_keys_from_meta_to_device(computed, None, None, None)
    module._initialize_missing_keys(False)
    module.tie_weights(missing_keys=None, recompute_mapping=False) if computed & set(module.all_tied_weights_keys) else None
    for owner in module.modules():
        for key, tensor in list(owner._parameters.items()):
            if tensor is not None and not tensor.is_meta:
                del owner._parameters[key]
                owner.register_buffer(key, tensor.detach(), persistent=False)
        for key, tensor in owner._buffers.items():
            if tensor is not None and not tensor.is_meta:
                owner._non_persistent_buffers_set.add(key)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
