"""Collective-permutes of XLA: pairs of devices, of which each sends all that it has to another."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir import ir

from ..stablehlo.builder import Builder, i64s, replace, shape_of, signless
from ..stablehlo.manual import Mesh
from .devices import find_digits


def rewrite_permute(op: ir.Operation, mesh: Mesh) -> bool:
    """A move between orders of the axes, or a shift along axes, as a collective of ours; False for other pairs.

    Both are moves of a value that is as many times as large in one dim as there are devices."""
    pairs = np.array(ir.DenseElementsAttr(op.attributes["source_target_pairs"])).reshape(-1, 2).tolist()
    source = {target: sender for sender, target in pairs}
    b, value = Builder(op), op.operands[0]
    shape = shape_of(value)
    plain = b.bitcast(value, signless(value.type))
    if not shape:
        plain = b.reshape(plain, [1])
    made = _turn(b, plain, source, mesh) or _shift(b, plain, _find_dim(op), source, mesh)
    if made is None:
        return False
    if not shape:
        made = b.reshape(made, [])
    replace(op, [b.bitcast(made, value.type)])
    return True


def _find_dim(op: ir.Operation) -> int:
    """The dim of the result that a reader joins with others; else the first one."""
    readers = [use.owner.operation for use in op.results[0].uses]
    dims = [ir.IntegerAttr(r.attributes["dimension"]).value for r in readers if r.name == "stablehlo.concatenate"]
    return int(dims[0]) if dims else 0


def _get_type(value: ir.Value, dim: int, count: int) -> ir.Attribute:
    shape = shape_of(value)
    shape[dim] *= count
    return ir.TypeAttr.get(ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type))


def _turn(b: Builder, value: ir.Value, source: dict[int, int], mesh: Mesh) -> ir.Value | None:
    """The senders are the devices in another order of digits."""
    sizes = [size for _, size in mesh.axes]
    count = int(np.prod(sizes, dtype=int))
    if sorted(source) != list(range(count)) or sorted(source.values()) != list(range(count)):
        return None
    digits = find_digits(np.array([source[target] for target in range(count)]).reshape(sizes))
    if digits is None or source[0] != 0:
        return None
    axes: list[str] = []
    total = 1
    for axis, low, size, factor in sorted(digits, key=lambda digit: digit[3]):
        if factor != total:
            return None
        total *= size
        name, whole = mesh.axes[axis]
        axes.insert(0, f'"{name}"' if size == whole else f'"{name}":({whole // (low * size)}){size}')
    if total != count:
        return None
    rank = len(shape_of(value))
    return b.value("shardkit.spmd.collective_permute", [value], value.type, {
        "global_type": _get_type(value, 0, count), "from": mesh.sharding(rank, 0, [f'"{name}"' for name, _ in mesh.axes]),
        "to": mesh.sharding(rank, 0, axes),
    })  # fmt: skip


def _shift(b: Builder, value: ir.Value, dim: int, source: dict[int, int], mesh: Mesh) -> ir.Value | None:
    """The sender is at one distance along some axes, and who has none there receives zeros."""
    sizes = [size for _, size in mesh.axes]
    coordinates = [np.unravel_index(device, sizes) for device in range(int(np.prod(sizes, dtype=int)))]
    apart = [d for d in range(len(sizes)) if any(coordinates[s][d] != coordinates[t][d] for t, s in source.items())]
    if not apart:
        return None
    count = int(np.prod([sizes[d] for d in apart], dtype=int))
    positions = [int(np.ravel_multi_index([c[d] for d in apart], [sizes[d] for d in apart])) for c in coordinates]
    distances = {positions[s] - positions[t] for t, s in source.items()}
    if len(distances) != 1:
        return None
    (distance,) = distances
    others = [d for d in range(len(sizes)) if d not in apart]
    for device, position in enumerate(positions):
        sender = source.get(device)
        if (0 <= position + distance < count) != (sender is not None):
            return None
        if sender is not None and any(coordinates[sender][d] != coordinates[device][d] for d in others):
            return None
    part = shape_of(value)[dim]
    sharding = mesh.sharding(len(shape_of(value)), dim, [f'"{mesh.axes[d][0]}"' for d in apart])
    return b.value("shardkit.spmd.halo_exchange", [value], value.type, {
        "global_type": _get_type(value, dim, count), "from": sharding, "to": sharding,
        "dims": i64s([dim]), "steps": i64s([part]), "offsets": i64s([distance * part]),
    })  # fmt: skip
