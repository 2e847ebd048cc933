"""Prefill and decode: functions that take the cache of keys and values, and return it."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import ShardKitError

NAME = "cache"
"""The module, below a model, whose buffers are the cache."""


def add(module: Any, batch: int, length: int) -> None:
    """Gives a model a cache for so many tokens: `cache.LAYER.keys` and `cache.LAYER.values`."""
    if NAME in module._modules:
        return
    made = _make(module, batch, length)
    holder = torch.nn.Module()
    for i, layer in enumerate(made.layers):
        held = torch.nn.Module()
        for name in ("keys", "values"):
            tensor = getattr(layer, name)
            if tensor.numel():
                held.register_buffer(name, tensor)
        holder.add_module(str(i), held)
    module.add_module(NAME, holder)
    holder.__dict__["layers"] = made


def _make(module: Any, batch: int, length: int) -> Any:
    """The library's cache of a fixed size. Layers with a sliding window keep all tokens; the mask leaves out those that are too old."""
    from transformers.cache_utils import DummyLayer, StaticCache, StaticLayer, StaticSlidingWindowLayer
    from transformers.configuration_utils import get_head_shapes

    config = module.config.get_text_config(decoder=True)
    made = StaticCache(config=config, max_cache_len=length)
    for i, layer in enumerate(made.layers):
        if isinstance(layer, StaticSlidingWindowLayer):
            made.layers[i] = StaticLayer(length)
        elif isinstance(layer, DummyLayer):
            made.layers[i] = StaticLayer(0)
    if other := [type(layer).__name__ for layer in made.layers if type(layer) is not StaticLayer]:
        raise ShardKitError(f"error: {type(module).__name__} has a cache of {other[0]}, expected keys and values alone: import score")
    heads, size = get_head_shapes(config)
    made.early_initialization(batch, heads, size, module.dtype, torch.device("meta"))
    return made


def _take(module: Any, position: Any) -> Any:
    """The library's cache, with the buffers as they are in this call, filled up to a position."""
    holder = module._modules[NAME]
    made = holder.__dict__["layers"]
    for i, layer in enumerate(made.layers):
        held = holder._modules[str(i)]
        if "keys" in held._buffers:
            layer.keys, layer.values = held.keys, held.values
        layer.device, layer.cumulative_length = position.device, position.clone()
    return made


def prefill(module: Any, input_ids: Any, last: Any) -> Any:
    """The logits of token number `last`, counted from 0: those after it are padding. The cache then holds all."""
    cache = _take(module, torch.zeros((), dtype=torch.int64))
    return module(input_ids=input_ids, cache=cache, use_cache=True, logits_to_keep=last.reshape(1)).logits[:, 0]


def decode(module: Any, input_ids: Any, position: Any) -> Any:
    """The logits of a token at a position, counted from 0, up to which the cache is filled."""
    return module(input_ids=input_ids, cache=_take(module, position), use_cache=True).logits[:, 0]
