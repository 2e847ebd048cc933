"""The marker of a boundary between two pipeline stages, for functions of JAX and modules of PyTorch."""

from __future__ import annotations

import sys
from typing import Any


def stage_boundary(value: Any) -> Any:
    """Returns `value` (an array, a tensor, or a pytree of them); what depends on it belongs to the next pipeline stage.

    The gradient marks the boundary of the backward fragment. To JAX and PyTorch the marker is the identity."""
    torch = sys.modules.get("torch")
    if torch and any(isinstance(v, torch.Tensor) for v in torch.utils._pytree.tree_leaves(value)):
        from .torch.stages import mark
    else:
        from .jax.stages import mark
    return mark(value)
