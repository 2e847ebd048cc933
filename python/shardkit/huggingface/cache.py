"""Prefill and decode: functions that take the cache of keys and values, and return it."""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import DynamicLayer

from ..errors import ShardKitError
from ..torch.function import Function

NAME = "cache"
"""The module, below a model, whose buffers are the cache."""


def add(module: Any, batch: int, length: int, grows: bool = False) -> None:
    """Gives a model a cache for so many tokens: `cache.LAYER.keys` and `cache.LAYER.values`. `grows`: that is how many an example holds;
    each call adds its own."""
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
        if grows:
            made.layers[i] = _GrowingLayer(held)
    module.add_module(NAME, holder)
    holder.__dict__["layers"] = made


def find_buffers(module: Any) -> list[str]:
    """The names of the tensors of the cache."""
    return [name for name, _ in module.named_buffers() if name.startswith(f"{NAME}.")]


class _GrowingLayer(DynamicLayer):  # type: ignore[misc, unused-ignore]
    """Keys and values of a layer, to which each call adds those of its tokens. Layers with a sliding window keep all tokens; the mask
    leaves out those that are too old."""

    def __init__(self, held: Any):
        super().__init__()
        self.held = held

    def take(self, is_empty: bool) -> None:
        """Begins a call."""
        self.is_initialized = not is_empty and "keys" in self.held._buffers
        self.keys: Any = self.held.keys if self.is_initialized else None
        self.values: Any = self.held.values if self.is_initialized else None

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if self.is_initialized:
            super().update(key_states, value_states)
        else:  # of the first tokens
            self.keys, self.values, self.is_initialized = key_states.clone(), value_states.clone(), True
        self.held.keys, self.held.values = self.keys, self.values
        return self.keys, self.values


def _make(module: Any, batch: int, length: int) -> Any:
    """The library's cache of a fixed size. Layers with a sliding window keep all tokens; the mask leaves out those that are too old."""
    from transformers.cache_utils import DummyLayer, StaticCache, StaticLayer, StaticSlidingWindowLayer

    config = module.config.get_text_config(decoder=True)
    made = StaticCache(config=config, max_cache_len=length)
    for i, layer in enumerate(made.layers):
        if isinstance(layer, StaticSlidingWindowLayer):
            made.layers[i] = StaticLayer(length)
        elif isinstance(layer, DummyLayer):
            made.layers[i] = StaticLayer(0)
    if other := [type(layer).__name__ for layer in made.layers if type(layer) is not StaticLayer]:
        raise ShardKitError(f"error: {type(module).__name__} has a cache of {other[0]}, expected keys and values alone: import score")
    # Layers take the shapes of what the model first gives them: latent attention keeps other vectors than its configuration counts.
    Function(module, lambda own, ids: own(input_ids=ids, cache=made, use_cache=True).logits, (torch.zeros((batch, 1), dtype=torch.int64),), {}, ()).call_once()
    for layer in made.layers:
        for name in ("keys", "values"):
            found = getattr(layer, name) if layer.is_initialized else torch.empty(0)
            setattr(layer, name, torch.empty(found.shape, dtype=found.dtype, device="meta"))
        layer.is_initialized, layer.cumulative_length = True, torch.tensor(0)
    return made


def _grow(module: Any, is_empty: bool) -> Any:
    """The library's cache, with the buffers as they are in this call, or without tokens."""
    made = module._modules[NAME].__dict__["layers"]
    for layer in made.layers:
        layer.take(is_empty)
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


def begin(module: Any, input_ids: Any) -> Any:
    """The logits of the last token of a prompt, and a cache that holds it."""
    return module(input_ids=input_ids, cache=_grow(module, True), use_cache=True, logits_to_keep=1).logits[:, 0]


def extend(module: Any, input_ids: Any) -> Any:
    """The logits of the token after those that the cache holds, to which it is added."""
    return module(input_ids=input_ids, cache=_grow(module, False), use_cache=True).logits[:, 0]
