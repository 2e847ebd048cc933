"""The spelling of meshes in MLIR."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .errors import ShardKitError

COSTS = ("alpha", "beta", "flops", "bandwidth")


def spell_costs(costs: Mapping[str, Any]) -> str:
    """The attributes of a mesh with these costs, with a space in front: numbers, or lists of one per axis."""
    for name in costs:
        if name not in COSTS:
            raise ShardKitError(f"error: costs has {name!r}, expected {', '.join(COSTS)}")
    spelled = [f"{name} = {_spell(value)}" for name, value in costs.items()]
    return f" {{{', '.join(spelled)}}}" if spelled else ""


def spell_mesh(axes: Mapping[str, int], costs: Mapping[str, Any]) -> str:
    """A mesh `@mesh`."""
    sizes = ", ".join(f'"{name}"={size}' for name, size in axes.items())
    return f"spmd.mesh @mesh = <[{sizes}]>{spell_costs(costs)}"


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


def _spell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_spell, value))}]"
    spelled = repr(float(value))
    return spelled if "." in spelled else spelled.replace("e", ".0e")  # MLIR reads exponents behind a point alone
