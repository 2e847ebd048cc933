"""The functions of a model, and example inputs for them."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, Callable, Mapping, Sequence

import torch

from ..errors import ShardKitError

FUNCTIONS = ("forward", "score", "prefill", "decode")


@dataclasses.dataclass(frozen=True)
class Extent:
    """A number of examples or tokens. With `dim`, a torch.export.Dim, each call brings its own along: `number` is that of the example."""

    number: int
    dim: Any = None

    @classmethod
    def make(cls, name: str, given: int | tuple[int, int], example: int) -> "Extent":
        if isinstance(given, int) or given[0] == given[1]:
            return cls(given if isinstance(given, int) else given[0])
        return cls(min(max(example, given[0]), given[1]), torch.export.Dim(name, min=given[0], max=given[1]))


@dataclasses.dataclass
class Function:
    """`call`: a function of the module and the inputs, or None for its `forward`. `batched`: inputs whose dim 0 counts examples. `dims`: of
    inputs and of the cache, by name, those whose size each call brings along."""

    name: str
    inputs: dict[str, Any]
    call: Callable[..., Any] | None = None
    batched: tuple[str, ...] = ()
    dims: dict[str, dict[int, Any]] = dataclasses.field(default_factory=dict)
    made: tuple[str, ...] = ()
    """Tensors of the cache that it makes without reading them."""


def get_default(module: Any) -> tuple[str, ...]:
    return ("score",) if is_causal(module) else ("forward",)


def is_causal(module: Any) -> bool:
    """It takes tokens and returns logits of each, which depend on earlier ones alone."""
    import transformers

    names = transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return type(module).__name__ in names.values() and "input_ids" in inspect.signature(module.forward).parameters and not module.config.is_encoder_decoder


def make(name: str, module: Any, batch: Extent, length: Extent, given: Mapping[str, Any] | None) -> Function:
    if name == "forward":
        inputs = dict(given) if given else propose_inputs(module, batch.number, length.number)
        batched = tuple(n for n, v in inputs.items() if isinstance(v, torch.Tensor) and v.dim())
        dims = {n: _find_dims(inputs[n], batch, length if inputs[n].dim() == 2 and not inputs[n].is_floating_point() else None) for n in batched}
        return Function(name, inputs, None, batched, dims)
    if not is_causal(module):
        raise ShardKitError(f"error: {type(module).__name__} has no function {name}, expected a causal language model for it; here: forward")
    input_ids = torch.zeros((batch.number, length.number), dtype=torch.int64)
    dims = {"input_ids": _find_dims(input_ids, batch, length)}
    if name == "score":
        return Function(name, {"input_ids": input_ids}, _score, ("input_ids",), dims)
    from . import cache

    if batch.dim is not None or length.dim is not None:
        return _make_growing(name, module, batch, length, input_ids)
    cache.add(module, batch.number, length.number)
    if name == "prefill":
        return Function(name, {"input_ids": input_ids, "last": torch.tensor(0)}, cache.prefill, ("input_ids",))
    return Function(name, {"input_ids": input_ids[:, :1], "position": torch.tensor(0)}, cache.decode, ("input_ids",))


def _make_growing(name: str, module: Any, batch: Extent, length: Extent, input_ids: Any) -> Function:
    """With a cache that each call adds its tokens to."""
    from . import cache

    held = Extent.make("cache", (1, max(length.number if length.dim is None else length.dim.max - 1, 1)), 7)
    cache.add(module, batch.number, held.number, grows=True)
    if name == "prefill":
        return Function(name, {"input_ids": input_ids}, cache.begin, ("input_ids",), {"input_ids": _find_dims(input_ids, batch, length)}, tuple(cache.find_buffers(module)))
    dims = {n: {d: e.dim for d, e in ((0, batch), (2, held)) if e.dim is not None} for n in cache.find_buffers(module)}
    token = input_ids[:, :1].clone()
    return Function(name, {"input_ids": token}, cache.extend, ("input_ids",), dims | {"input_ids": _find_dims(token, batch, None)})


def _find_dims(value: Any, batch: Extent, length: Extent | None) -> dict[int, Any]:
    """Of a tensor that counts examples along dim 0, and tokens along dim 1."""
    extents = ((0, batch), (1, length)) if length is not None else ((0, batch),)
    return {d: extent.dim for d, extent in extents if extent.dim is not None and value.shape[d] == extent.number}


def _score(module: Any, input_ids: Any) -> Any:
    return module(input_ids=input_ids, use_cache=False).logits


def propose_inputs(module: Any, batch: int, length: int) -> dict[str, Any]:
    """What `forward` is called with, of the sizes that the configuration has."""
    config, parameters = module.config, inspect.signature(module.forward).parameters
    main = module.main_input_name if isinstance(module.main_input_name, str) else module.main_input_name[0]
    inputs: dict[str, Any] = {}
    if main not in parameters:
        main = next((n for n in ("input_ids", "pixel_values", "input_features", "input_values") if n in parameters), "")
    if main == "input_ids":
        inputs[main] = torch.zeros((batch, length), dtype=torch.int64)
    elif main == "pixel_values":
        size = _find(config, ("image_size", "img_size", "input_size"), 224)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        inputs[main] = torch.zeros((batch, _find(config, ("num_channels", "in_channels", "in_chans"), 3), height, width))
    elif main == "input_features":
        bins, frames = _find(config, ("num_mel_bins", "feature_size", "input_feat_per_channel", "n_mels"), 80), _find(config, ("max_source_positions",), 0)
        # A model of Whisper's kind counts frames last, and takes all of them.
        inputs[main] = torch.zeros((batch, bins, 2 * frames)) if frames and config.model_type == "whisper" else torch.zeros((batch, length, bins))
    elif main == "input_values":
        bins = _find(config, ("num_mel_bins",), 0)
        inputs[main] = torch.zeros((batch, _find(config, ("max_length",), length), bins)) if bins else torch.zeros((batch, length))
    else:
        raise ShardKitError(f"error: {type(module).__name__} takes {main or ', '.join(parameters)}, expected inputs={{...}} with examples: what they are is not known")
    if "decoder_input_ids" in parameters and config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.zeros((batch, length if main == "input_ids" else 8), dtype=torch.int64)
    dtype = module.dtype
    return {n: v.to(dtype) if v.is_floating_point() else v for n, v in inputs.items()}


def _find(config: Any, names: Sequence[str], default: Any) -> Any:
    """The first of these sizes that a configuration, or one inside it, has."""
    for part in (config, *(v for v in vars(config).values() if hasattr(v, "model_type"))):
        for name in names:
            if getattr(part, name, None) is not None:
                return getattr(part, name)
    return default
