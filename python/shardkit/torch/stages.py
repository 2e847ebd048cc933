"""Stage boundaries in modules of PyTorch: values that cross them are recorded while a module is traced."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from ..errors import ShardKitError

Cut = tuple[bool, list[torch.Tensor]]
"""Whether it belongs to the backward fragment, and the values that cross."""

_noting: list[list[Cut]] = []


@contextlib.contextmanager
def record_boundaries() -> Iterator[list[Cut]]:
    """The boundaries that are marked meanwhile, in their order."""
    _noting.append([])
    try:
        yield _noting[-1]
    finally:
        _noting.pop()


def mark(value: Any) -> Any:
    if not _noting:
        return value
    leaves, tree = tree_flatten(value)
    tensors = [i for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
    found = _Mark.apply(*[leaves[i] for i in tensors])
    for i, v in zip(tensors, found):
        leaves[i] = v
    return tree_unflatten(leaves, tree)


class _Mark(torch.autograd.Function):  # type: ignore[misc]
    """The identity."""

    @staticmethod
    def forward(ctx: Any, *values: Any) -> Any:
        crossing = tuple(v.clone() for v in values)
        _noting[-1].append((False, list(crossing)))
        ctx.mark_non_differentiable(*(v for v in crossing if not v.is_floating_point()))
        return crossing

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not _noting:
            raise ShardKitError("error: a stage boundary is differentiated past its program, expected a loss that is a scalar")
        crossing = [g.clone() if ctx.needs_input_grad[i] else None for i, g in enumerate(gradients)]
        _noting[-1].append((True, [g for g in crossing if g is not None]))
        return tuple(crossing)
