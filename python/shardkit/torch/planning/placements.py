"""Between layouts and placements of DTensor."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from torch.distributed.tensor import Replicate, Shard

from ...errors import ShardKitError
from ...planning import search
from ...planning.layouts import Layout
from .. import plans

Placements = tuple[Any, ...]
"""One for each axis of the mesh."""


class Translator:
    """To placements, which have full axes: those of one dim in the order of the mesh."""

    def __init__(self, mesh: Mapping[str, int]) -> None:
        self._mesh = mesh
        self.dropped: list[str] = []

    def translate(self, name: str, layout: Layout | None, shape: Sequence[int]) -> Placements:
        found: dict[str, Any] = {}
        for d, axes in enumerate(layout.dims if layout else ()):
            for axis in axes:
                if axis in self._mesh:
                    found[axis] = Shard(d)
                elif axis.isdigit():
                    self.dropped.append(f"dim {d} of {name} is sharded in strides, {{{', '.join(axes)}}}")
                    break
                else:
                    self.dropped.append(f"dim {d} of {name} is sharded by a part of an axis, {axis}")
        return tuple(found.get(axis, Replicate()) for axis in self._mesh)


def get_axes(placements: Sequence[Any], mesh: Mapping[str, int], dim: int, rank: int) -> tuple[str, ...]:
    """Those that shard a dim."""
    return tuple(a for a, p in zip(mesh, placements) if p.is_shard() and p.dim % rank == dim % rank)


def describe(placements: Sequence[Any]) -> str:
    return f"[{', '.join(f'Shard({p.dim})' if p.is_shard() else 'Replicate()' for p in placements)}]"


def read_pins(pins: Mapping[str, Any], ranks: Mapping[str, int], aliases: Mapping[str, str], mesh: Mapping[str, int]) -> dict[str, list[Any] | None]:
    """Axis resources by names and patterns of arguments. `aliases`: the first names of tied parameters, by all their names."""
    if not isinstance(pins, Mapping):
        raise ShardKitError(f"error: pins is {pins!r}, expected placements by the names of inputs, parameters and buffers, or by patterns")
    found: dict[str, list[Any] | None] = {}
    origins: dict[str, str] = {}
    for name, spec in pins.items():
        first = aliases.get(name, name)
        resources = _read_pin(name, spec, ranks.get(first), mesh)
        if first in found and found[first] != resources:
            raise ShardKitError(
                f"error: {origins[first]} and {name} are one tied parameter, pinned to {pins[origins[first]]!r} and to {spec!r}, expected one of these"
            )
        found.setdefault(first, resources)
        origins.setdefault(first, name)
    return found


def _read_pin(name: str, spec: Any, rank: int | None, mesh: Mapping[str, int]) -> list[Any] | None:
    """From placements, one for each axis of the mesh, or axes for each dim."""
    if spec is None:
        return None
    if not isinstance(spec, (list, tuple)):
        raise ShardKitError(
            f"error: the pin of {name} is {spec!r}, expected placements, one for each axis of the mesh ({', '.join(mesh)}), or an entry for each "
            "dim, an axis, a tuple of axes, None or '?', or None for a replicated tensor"
        )
    if any(hasattr(p, "is_shard") for p in spec):
        last = max((p.dim for p in spec if p.is_shard()), default=-1)
        dims = plans.read_placements(spec, mesh, rank if rank is not None else last + 1, f"the pin of {name}")
        return [list(axes) or None for axes in dims]
    entries = [list(e) if isinstance(e, (tuple, list)) else e for e in spec]
    search.check_axes(f"the pin of {name}", entries, mesh)
    return entries
