"""Between specs, which list devices, and shardings, which name the axes of a mesh."""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import re
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ...errors import ShardKitError
from ...planning.layouts import Layout
from .specs import Part, Spec

_NAMES = ("x", "y", "z", "w")


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Axes, major to minor, and the device of each position in it."""

    axes: Mapping[str, int]
    devices: tuple[int, ...]

    def spell(self) -> str:
        """As an op of MLIR in generic form."""
        axes = ", ".join(f'"{n}"={s}' for n, s in self.axes.items())
        order = f", device_ids={list(self.devices)}" if self.devices != tuple(range(len(self.devices))) else ""
        return f'"spmd.mesh"() <{{mesh = #spmd.mesh<[{axes}]{order}>, sym_name = "mesh"}}> : () -> ()\n'

    def place(self, devices: Sequence[int]) -> Mesh:
        """The same on other devices."""
        assert len(devices) == len(self.devices)
        return Mesh(self.axes, tuple(devices))


@dataclasses.dataclass(frozen=True)
class _Digit:
    """Of the number of a position in the mesh: (position // stride) % size."""

    size: int
    stride: int


def find_mesh(specs: Sequence[tuple[str, Spec]], devices: Sequence[int], axes: Mapping[str, int] | None = None) -> Mesh:
    """The mesh with the fewest axes, or with these, by which all specs can be said. Each spec comes with what an error calls it."""
    given = set(itertools.accumulate(reversed(list((axes or {}).values())), operator.mul))
    most, failure = -1, ("", {1})
    for order in dict.fromkeys(_find_orders([spec for _, spec in specs], devices)):
        bounds = {1, len(order)} | given
        for count, (where, spec) in enumerate(specs):
            digits = _find_digits(spec, order)
            chain = sorted(bounds | {b for part in digits or () for digit in part for b in (digit.stride, digit.stride * digit.size)})
            if digits is None or any(b % a for a, b in zip(chain, chain[1:])):
                if count > most:
                    most, failure = count, (where, bounds)
                break
            bounds = set(chain)
        else:
            sizes = _get_sizes(bounds) or [1]
            names = _NAMES if len(sizes) <= len(_NAMES) else [f"d{i}" for i in range(len(sizes))]
            return Mesh(axes if axes is not None else dict(zip(names, sizes)), order)
    where, bounds = failure
    grid = " x ".join(map(str, _get_sizes(bounds)))
    what = f"the mesh {_say(axes)}" if axes else f"one grid with those of the specs before it (of {grid} devices)" if most else f"a grid of {len(devices)} devices"
    raise ShardKitError(f"error: {where}: its devices are not rows, columns or blocks of {what}, expected device groups of equal size that are")


def _get_sizes(bounds: set[int]) -> list[int]:
    """Those of axes, major to minor, between strides."""
    chain = sorted(bounds, reverse=True)
    return [a // b for a, b in zip(chain, chain[1:])]


def spell_sharding(spec: Spec, rank: int, mesh: Mesh, where: str) -> str:
    """The attribute of a value that is sharded so."""
    digits = _find_digits(spec, mesh.devices)
    found = iter(digits or ())
    dims = dict[int, list[str]]()
    for d, parts in spec.dims:
        entries = dims.setdefault(d, [])
        local = 1
        for part in parts:
            axes = None if digits is None else _find_axes(next(found), mesh)
            if axes is None:
                raise ShardKitError(f"error: {where}: its devices are not along axes of the mesh {_say(mesh.axes)}, expected {_say_choices(mesh)}")
            if axes and local > 1:
                entries.append(str(local))
                local = 1
            entries += axes
            local *= (part.size or 1) // part.shards if part.size else 1
    return f"#spmd.sharding<@mesh, [{', '.join('{' + ', '.join(dims.get(d, ())) + '}' for d in range(rank))}]>"


def find_extra(spec: Spec, mesh: Mesh) -> list[int]:
    """Devices of the mesh that hold a shard although the spec does not list them."""
    return [device for device in mesh.devices if device not in spec.devices]


def make_spec(tensor: str, layout: Layout, shape: Sequence[Any], mesh: Mesh) -> Spec:
    """The spec of a layout."""
    dims, order = [], list[_Digit]()
    for d, entries in enumerate(layout.dims):
        parts, digits = _split(entries, shape[d], mesh)
        if any(p.shards > 1 for p in parts):
            dims.append((d, parts))
            order += digits
    groups: dict[tuple[int, ...], list[int]] = {index: [] for index in itertools.product(*(range(digit.size) for digit in order))}
    for position, device in enumerate(mesh.devices):
        groups[tuple(position // digit.stride % digit.size for digit in order)].append(device)
    return Spec(tensor, tuple(tuple(sorted(g)) for g in groups.values()), tuple(dims))


def _find_orders(specs: Sequence[Spec], devices: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Orders of devices to try: as they are numbered, then as specs list them."""
    yield tuple(sorted(devices))
    for spec in list(dict.fromkeys(specs))[:64]:
        listed = list(itertools.chain.from_iterable(spec.groups))
        yield tuple([*listed, *(d for d in sorted(devices) if d not in spec.devices)])


def _find_digits(spec: Spec, order: Sequence[int]) -> list[list[_Digit]] | None:
    """For each part of each dim the digits that number its shards, major to minor; None where there are none for this order."""
    positions = {device: k for k, device in enumerate(order)}
    if any(device not in positions for device in spec.devices) or len({len(g) for g in spec.groups}) > 1:
        return None
    first = [min(positions[device] for device in group) for group in spec.groups]
    counts = [part.shards for _, parts in spec.dims for part in parts]
    found, stride = list[list[_Digit]](), len(first)
    for count in counts:
        stride //= count
        digits = _split_sequence([first[k * stride] - first[0] for k in range(count)])
        if digits is None:
            return None
        found.append(digits)
    flat = [digit for digits in found for digit in digits]
    for index, group in zip(itertools.product(*(range(d.size) for d in flat)), spec.groups, strict=True):
        if any(positions[device] // d.stride % d.size != i for device in group for d, i in zip(flat, index)):
            return None
    spans = sorted((d.stride, d.stride * d.size) for d in flat)
    if any(b[0] % a[1] for a, b in zip(spans, spans[1:])) or (spans and len(order) % spans[-1][1]):
        return None
    return found


def _split_sequence(values: Sequence[int]) -> list[_Digit] | None:
    """Digits, major to minor, whose number k has values[k]."""
    digits, size = list[_Digit](), 1
    while size < len(values):
        stride = values[size]
        count = next((k for k in range(2, len(values) // size + 1) if k * size >= len(values) or values[k * size] != k * stride), len(values) // size)
        if stride < 1 or any(values[k * size + r] != k * stride + values[r] for k in range(count) for r in range(size)):
            return None
        digits.insert(0, _Digit(count, stride))
        size *= count
        if len(values) % size:
            return None
    return digits


def _find_axes(digits: Iterable[_Digit], mesh: Mesh) -> list[str] | None:
    """The axes and sub-axes that some digits are, major to minor; None where a digit ends at no divisor of an axis."""
    found = list[str]()
    for digit in digits:
        high, reached = len(mesh.devices), 1
        for name, size in mesh.axes.items():
            low = high // size
            start, end = max(low, digit.stride), min(high, digit.stride * digit.size)
            if end > start:
                if high % end or end % start or start % low:
                    return None
                found.append(f'"{name}"' if (start, end) == (low, high) else f'"{name}":({high // end}){end // start}')
                reached *= end // start
            high = low
        if reached != digit.size:
            return None
    return found


def _split(entries: Sequence[str], size: Any, mesh: Mesh) -> tuple[tuple[Part, ...], list[_Digit]]:
    """A dim of a layout in parts, and the digits of its shards."""
    parts, digits, shards, rest = list[Part](), list[_Digit](), 1, size
    for entry in entries:
        if entry.isdigit():  # what stays together between shards
            part = shards * int(entry)
            parts.append(Part(part, shards))
            shards, rest = 1, rest // part
            continue
        digits.append(digit := _read_axis(entry, mesh))
        shards *= digit.size
    parts.append(Part(rest if parts else None, shards))
    return tuple(parts), digits


def _read_axis(entry: str, mesh: Mesh) -> _Digit:
    """An axis, or `x:(m)k`: k of it after a factor m."""
    name, _, more = entry.partition(":")
    sizes = list(mesh.axes.values())
    after = {n: math.prod(sizes[k + 1 :]) for k, n in enumerate(mesh.axes)}
    if not more:
        return _Digit(mesh.axes[name], after[name])
    found = re.fullmatch(r"\((\d+)\)(\d+)", more)
    assert found
    major, size = int(found[1]), int(found[2])
    return _Digit(size, after[name] * mesh.axes[name] // (major * size))


def _say(axes: Mapping[str, int]) -> str:
    return ",".join(f"{n}={s}" for n, s in axes.items())


def _say_choices(mesh: Mesh) -> str:
    return "groups of devices that differ in some axes only, of " + ", ".join(map(str, mesh.devices[:16])) + (", ..." if len(mesh.devices) > 16 else "")
