"""The tensors that a call of a module passes, by the names that an import gives them."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping, Sequence

import torch
from torch.utils._pytree import tree_flatten_with_path, tree_unflatten

from ...binding import get_key

Change = Callable[[str, torch.Tensor], Any]


def map_inputs(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any], change: Change) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with other tensors."""
    positional = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    names = [positional[i].name if i < len(positional) else f"{variadic}.{i - len(positional)}" for i in range(len(args))]
    return tuple(_map(n, v, change) for n, v in zip(names, args)), {n: _map(n, v, change) for n, v in kwargs.items()}


def _map(name: str, value: Any, change: Change) -> Any:
    found, tree = tree_flatten_with_path(value)
    is_single = sum(isinstance(leaf, torch.Tensor) for _, leaf in found) == 1
    leaves = [
        change(name if is_single else ".".join([name, *map(get_key, path)]), leaf) if isinstance(leaf, torch.Tensor) else leaf
        for path, leaf in found
    ]
    return tree_unflatten(leaves, tree)
