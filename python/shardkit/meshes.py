"""The spelling of meshes in MLIR."""

from __future__ import annotations

import numbers
from typing import Any, Mapping, Sequence

from .errors import ShardKitError

COSTS = ("alpha", "beta", "flops", "bandwidth", "overlap")


def spell_costs(axes: Mapping[str, int], costs: Mapping[str, Any]) -> str:
    """The attributes of a mesh with these costs, with a space in front: `alpha` and `beta` have one for each axis."""
    if not isinstance(costs, Mapping):
        raise ShardKitError(f"error: costs is {costs!r}, expected some of {', '.join(COSTS)} by name")
    for name, value in costs.items():
        if name not in COSTS:
            raise ShardKitError(f"error: costs has {name!r}, expected {', '.join(COSTS)}")
        is_list = name in ("alpha", "beta")
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if name == "overlap":
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
                raise ShardKitError(f"error: costs has overlap = {value!r}, expected a fraction from 0 to 1")
            continue
        if isinstance(value, (list, tuple)) != is_list or (is_list and len(values) != len(axes)) or not all(map(_is_positive, values)):
            expected = f"a positive number for each axis: {', '.join(axes)}" if is_list else "a positive number"
            raise ShardKitError(f"error: costs has {name} = {value!r}, expected {expected}")
    spelled = [f"{'spmd.overlap' if name == 'overlap' else name} = {_spell(value)}" for name, value in costs.items()]
    return f" {{{', '.join(spelled)}}}" if spelled else ""


def _is_positive(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < float("inf")


def spell_mesh(axes: Mapping[str, int], costs: Mapping[str, Any]) -> str:
    """A mesh `@mesh`."""
    sizes = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    return f"spmd.mesh @mesh = <[{sizes}]>{spell_costs(axes, costs)}"


def read_axes(text: str) -> dict[str, int]:
    """`data=2,model=4`"""
    pairs = [pair.partition("=") for pair in text.split(",")]
    for name, _, size in pairs:
        if not name or not size.isdigit() or int(size) < 1:
            raise ShardKitError(f"error: --mesh={text}, expected names and sizes of axes, such as data=2,model=4")
    return {name: int(size) for name, _, size in pairs}


def read_sizes(texts: Sequence[str]) -> dict[str, int]:
    """`batch=8`, each of a symbolic dim."""
    pairs = [text.partition("=") for text in texts]
    for text, (name, _, size) in zip(texts, pairs):
        if not name or not size.isdigit() or int(size) < 1:
            raise ShardKitError(f"error: --size={text}, expected the name and the size of a symbolic dim, such as batch=8")
    return {name: int(size) for name, _, size in pairs}


def read_bounds(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """`batch=1:64`, each of a symbolic dim: the least and the largest size."""
    pairs = [text.partition("=") for text in texts]
    bounds = {name: read_bound(bound) if name else None for name, _, bound in pairs}
    for text, (name, _, _) in zip(texts, pairs):
        if not isinstance(bounds[name], tuple):
            raise ShardKitError(f"error: --bound={text}, expected the name of a symbolic dim, its least and its largest size, such as batch=1:64")
    return bounds  # type: ignore[return-value]


def read_bound(text: str) -> tuple[int, int] | int | None:
    """`1:64`, or a number; None for anything else."""
    low, colon, high = text.partition(":")
    if not low.isdigit() or (colon and not high.isdigit()):
        return None
    return (int(low), int(high)) if colon else int(low)


def _spell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_spell, value))}]"
    spelled = repr(float(value))
    return spelled if "." in spelled else spelled.replace("e", ".0e")  # MLIR reads exponents behind a point alone
