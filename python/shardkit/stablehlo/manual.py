"""Regions in local view: `shard_map`, which arrives as sdy.manual_computation.

The lowering of StableHLO cannot look into them. So each body becomes a function of its own and leaves an op there
(`outline`); once lowered, the body goes back in (`inline_text`). Collectives in a body, which name groups of devices, become
ours, which name axes of the mesh. They look for the mesh when they are read, so they have other names until Shardy's
annotations have been imported (`name_ops`).
"""

from __future__ import annotations

import itertools
import re
from typing import Any, Sequence

import numpy as np
from jaxlib.mlir import ir

from .builder import Attributes, Builder, element, fail, i32, i64s, inline_call, is_unsigned, replace, shape_of, signless, walk
from .ragged import expand_ragged

_PREFIX = "shardkit_manual_"


def outline(module: ir.Module) -> int:
    """Makes a function of every body, inner ones first; returns how many there are."""
    with module.context, ir.Location.unknown():
        found = [op for op in walk(module.operation) if op.name == "sdy.manual_computation"]
        if not found:
            return 0
        expand_ragged(module)
        functions = {op.attributes["sym_name"].value: op for op in module.body.operations if op.operation.name == "func.func"}
        for op in reversed(found):
            _inline_calls(op, functions)
        erase_unused(module, functions)
        found = [op for op in walk(module.operation) if op.name == "sdy.manual_computation"]
        meshes = {}
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                meshes[op.attributes["sym_name"].value] = Mesh(op.attributes["sym_name"].value, str(op.attributes["mesh"]))
        found = [op for op in walk(module.operation) if op.name == "sdy.manual_computation"]
        for number, op in enumerate(reversed(found)):
            named = re.search(r"<@(\w+)", str(op.attributes["in_shardings"]) + str(op.attributes["out_shardings"]))
            mesh = meshes.get(named[1]) if named else None
            for inner in walk(op):
                if inner.name in _COLLECTIVES and mesh is None:
                    raise fail(inner, f"{inner.name} stands in a region that names no mesh", "a mesh of the module")
                if mesh:
                    rewrite_collective(inner, mesh)
            body = op.regions[0].blocks[0]
            terminator = list(body.operations)[-1].operation
            results = [v.type for v in terminator.operands]
            Builder(terminator).op("func.return", list(terminator.operands))
            terminator.erase()
            name = f"{_PREFIX}{number}"
            type = ir.FunctionType.get([a.type for a in body.arguments], results)
            func = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "function_type": ir.TypeAttr.get(type),
                    "sym_visibility": ir.StringAttr.get("private"),
                },
                regions=1,
                loc=op.location,
                ip=ir.InsertionPoint.at_block_begin(module.body),
            )
            attributes = {key: op.attributes[key] for key in ("in_shardings", "manual_axes", "out_shardings")}
            made = Builder(op).op("shardkit.manual", list(op.operands), [r.type for r in op.results], attributes | {
                "callee": ir.FlatSymbolRefAttr.get(name)
            })  # fmt: skip
            body.append_to(func.regions[0])
            replace(op, made.results)
    return len(found)


def _inline_calls(root: ir.Operation, functions: dict[str, Any]) -> None:
    """What a body calls may hold collectives, which need to know where they stand."""
    while calls := [op for op in walk(root) if op.name == "func.call"]:
        for call in calls:
            inline_call(call, functions)


def erase_unused(module: ir.Module, functions: dict[str, Any]) -> None:
    """Private functions that nothing calls any more."""
    while True:
        called = {ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in walk(module.operation) if op.name == "func.call"}
        unused = [
            name
            for name, op in functions.items()
            if name not in called and "sym_visibility" in op.attributes and "private" in str(op.attributes["sym_visibility"])
        ]
        for name in unused:
            functions.pop(name).operation.erase()
        if not unused:
            return


def rewrite_collective(op: ir.Operation, mesh: Mesh) -> bool:
    """Makes one of ours of a collective, or of the number of the device, on a mesh; False where the op is neither."""
    if op.name not in _COLLECTIVES:
        return False
    if "replica_groups" in op.attributes and _groups(op).shape[1] == 1:  # each device by itself
        replace(op, list(op.operands))
    else:
        _COLLECTIVES[op.name](op, mesh)
    return True


def inline_text(text: str) -> str:
    """Puts the bodies back, in the generic form of the lowered module."""
    bodies: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        bodies[match[1]] = match[2]
        return ""

    # Functions of the module are at two spaces.
    pattern = re.compile(
        rf'^  "func\.func"\(\) <\{{[^\n]*sym_name = "({_PREFIX}\d+)"[^\n]*\}}> \(\{{\n(.*?)^  \}}\)[^\n]* : \(\) -> \(\)[^\n]*\n',
        re.MULTILINE | re.DOTALL,
    )
    text = pattern.sub(take, text)
    use = re.compile(rf'"shardkit\.manual"(\([^)]*\)) \{{callee = @({_PREFIX}\d+), ([^\n]*?)\}} : \(')

    def put(match: re.Match[str]) -> str:
        name = match[2]
        # Names are counted anew in each function.
        body = re.sub(r"([%^])([\w]+)", rf"\1{name}_\2", bodies[name])
        body = body.replace('"func.return"(', '"sdy.return"(').replace('"func.call"(', '"shardkit.func.call"(')
        return f'"sdy.manual_computation"{match[1]} <{{{match[3]}}}> ({{\n{body}  }}) : ('

    while use.search(text):
        text = use.sub(put, text, count=1)
    return text


def name_ops(text: str) -> str:
    """Gives ops their names in a module whose annotations are ours."""
    return re.sub(r'"shardkit\.((?:spmd|func)\.\w+)"\(', r'"\1"(', text)


# --- collectives ----------------------------------------------------------------------------------


class Mesh:
    """A mesh as it is written: names and sizes of axes, major to minor."""

    def __init__(self, name: str, text: str):
        self.name = name
        self.axes = [(n, int(s)) for n, s in re.findall(r'"([^"]+)"=(\d+)', text)]
        self.has_order = "device_ids" in text

    def find_axes(self, op: ir.Operation, groups: np.ndarray, is_ordered: bool = True) -> list[str]:
        """The axes and sub-axes, major to minor within a group, along which these groups of devices lie."""
        if not is_ordered:
            groups = np.sort(groups, axis=1)
        digits = self._find_digits(next((g for g in groups.tolist() if 0 in g), []))
        if digits is not None:
            made: dict[int, list[int]] = {}
            for id in range(int(np.prod([s for _, s in self.axes], dtype=int))):
                made.setdefault(id - sum(id // stride % size * stride for _, _, size, stride in digits), []).append(id)
            order = lambda id: [id // stride % size for _, _, size, stride in digits]  # noqa: E731
            if {tuple(sorted(g, key=order)) for g in made.values()} == {tuple(g) for g in groups.tolist()}:
                return [f'"{name}"' + ("" if size == dict(self.axes)[name] else f":({pre}){size}") for name, pre, size, _ in digits]
        raise fail(op, f"{op.name} is over groups that are neither axes nor sub-axes of mesh @{self.name}",
                   "axes or sub-axes, the devices of a group major to minor")  # fmt: skip

    def _find_digits(self, group: list[int]) -> list[tuple[str, int, int, int]] | None:
        """Axis, product of the sizes before it, size and stride in ids of each sub-axis, of the group of device 0."""
        digits: list[tuple[str, int, int, int]] = []
        run = 1
        while run < len(group):
            stride = group[run] - group[0]
            count = 1
            while count * run < len(group) and group[count * run] == group[0] + count * stride:
                count += 1
            if stride <= 0 or len(group) % (run * count):
                return None
            run *= count
            while count > 1:
                minor = 1
                for name, size in reversed(self.axes):
                    if minor <= stride < minor * size:
                        break
                    minor *= size
                else:
                    return None
                left = minor * size // stride
                taken = min(count, left)
                if stride % minor or minor * size % stride or left % taken or count % taken:
                    return None
                digits.append((name, left // taken, taken, stride))
                stride, count = stride * taken, count // taken
        return digits[::-1]

    def sharding(self, rank: int, dim: int, axes: list[str]) -> str:
        dims = ["{" + ", ".join(axes) + "}" if d == dim else "{}" for d in range(rank)]
        return f"#spmd.sharding<@{self.name}, [{', '.join(dims)}]>"

    def coordinate(self, b: Builder, axis: str, type: ir.Type) -> ir.Value:
        """A scalar tensor."""
        index = b.value("shardkit.spmd.device_coordinate", [], ir.IndexType.get(), {"mesh": f"@{self.name}", "axis": f'"{axis}"'})
        width = ir.IntegerType(ir.RankedTensorType(type).element_type).width
        signless = ir.IntegerType.get_signless(width)
        scalar = b.value("arith.index_cast", [index], signless)
        made = b.value("tensor.from_elements", [scalar], ir.RankedTensorType.get([], signless))
        return made if made.type == type else b.value("stablehlo.convert", [made], type)

    def look_up(self, b: Builder, table: np.ndarray) -> ir.Value:
        """What stands in a table of i32, of the shape of the mesh, at the coordinates of the device; a scalar tensor."""
        varying = [d for d in range(table.ndim) if np.any(table != np.take(table, [0], d))]
        table = table[tuple(slice(None) if d in varying else 0 for d in range(table.ndim))]
        scalar = ir.RankedTensorType.get([], i32())
        if not varying:
            return b.splat(str(table), scalar)
        constant = b.value("stablehlo.constant", [], ir.RankedTensorType.get(table.shape, i32()), {
            "value": ir.DenseElementsAttr.get(np.ascontiguousarray(table))
        })  # fmt: skip
        at = [self.coordinate(b, self.axes[d][0], scalar) for d in varying]
        ones = [1] * table.ndim
        one = b.value("stablehlo.dynamic_slice", [constant, *at], ir.RankedTensorType.get(ones, i32()), {"slice_sizes": i64s(ones)})
        return b.reshape(one, [])


def _groups(op: ir.Operation) -> np.ndarray:
    return np.array(ir.DenseElementsAttr(op.attributes["replica_groups"]))


_KINDS = {
    "stablehlo.add": "sum", "stablehlo.multiply": "prod", "stablehlo.maximum": "max", "stablehlo.minimum": "min",
    "stablehlo.and": "and", "stablehlo.or": "or", "stablehlo.xor": "xor",
}  # fmt: skip


def _collective(b: Builder, name: str, value: ir.Value, shape: Sequence[int], attributes: Attributes) -> ir.Value:
    """Of unsigned integers it is one of the same bits."""
    plain = b.bitcast(value, signless(value.type))
    made = b.value(f"shardkit.spmd.{name}", [plain], ir.RankedTensorType.get(shape, element(plain)), attributes)
    return b.bitcast(made, ir.RankedTensorType.get(shape, element(value)))


def _kind(op: ir.Operation) -> str:
    body = [o.operation for o in op.regions[0].blocks[0].operations if o.operation.name != "sdy.sharding_constraint"]
    if len(body) != 2 or body[0].name not in _KINDS:
        raise fail(op, f"the region of {op.name} is not a known reduction", "one of " + ", ".join(_KINDS.values()))
    kind = _KINDS[body[0].name]
    unsigned = kind in ("max", "min") and is_unsigned(element(op.operands[0]))
    return f"#spmd.reduction<{'u' * unsigned}{kind}>"


def _all_reduce(op: ir.Operation, mesh: Mesh) -> None:
    axes = mesh.find_axes(op, _groups(op), is_ordered=False)
    kind = _kind(op)
    b = Builder(op)
    listed = ", ".join(axes)
    made = [
        _collective(b, "all_reduce", v, shape_of(v), {"reduction_kind": kind, "axes": f"#spmd.axes<@{mesh.name}, {{{listed}}}>"})
        for v in op.operands
    ]
    replace(op, made)


def _all_gather(op: ir.Operation, mesh: Mesh) -> None:
    axes = mesh.find_axes(op, _groups(op))
    dim = ir.IntegerAttr(op.attributes["all_gather_dim"]).value
    b = Builder(op)
    replace(op, [
        _collective(b, "all_gather", v, shape_of(r), {"sharding": mesh.sharding(len(shape_of(v)), dim, axes)})
        for v, r in zip(op.operands, op.results)
    ])  # fmt: skip


def _reduce_scatter(op: ir.Operation, mesh: Mesh) -> None:
    axes = mesh.find_axes(op, _groups(op))
    dim = ir.IntegerAttr(op.attributes["scatter_dimension"]).value
    value = op.operands[0]
    replace(op, [_collective(Builder(op), "reduce_scatter", value, shape_of(op.results[0]), {
        "reduction_kind": _kind(op), "sharding": mesh.sharding(len(shape_of(value)), dim, axes)
    })])  # fmt: skip


def _all_to_all(op: ir.Operation, mesh: Mesh) -> None:
    """Device k sends slice j of the split dim to device j, which writes it as slice k of the other dim."""
    axes = mesh.find_axes(op, _groups(op))
    split = ir.IntegerAttr(op.attributes["split_dimension"]).value
    concat = ir.IntegerAttr(op.attributes["concat_dimension"]).value
    b = Builder(op)
    made = []
    for value, result in zip(op.operands, op.results):
        rank = len(shape_of(value))
        if split != concat:
            made.append(_collective(b, "all_to_all", value, shape_of(result), {
                "from": mesh.sharding(rank, concat, axes), "to": mesh.sharding(rank, split, axes)
            }))  # fmt: skip
            continue
        # One dim: its parts become a dim of their own, which changes positions with one of size 1.
        shape, count = shape_of(value), ir.IntegerAttr(op.attributes["split_count"]).value
        wide = shape[:split] + [count, shape[split] // count] + shape[split + 1 :]
        slices = b.reshape(b.reshape(value, wide), [1] + wide)
        moved = _collective(b, "all_to_all", slices, [count] + wide[:split] + [1] + wide[split + 1 :], {
            "from": mesh.sharding(rank + 2, 0, axes), "to": mesh.sharding(rank + 2, split + 1, axes)
        })  # fmt: skip
        order = list(range(1, split + 1)) + [0] + list(range(split + 1, rank + 2))
        shapes = [shape_of(moved)[d] for d in order]
        turned = b.value("stablehlo.transpose", [moved], ir.RankedTensorType.get(shapes, moved.type.element_type), {"permutation": i64s(order)})
        made.append(b.reshape(turned, shape_of(result)))
    replace(op, made)


def _collective_permute(op: ir.Operation, mesh: Mesh) -> None:
    """Windows of the value that all devices have together, one block each: a shift reads the block at a distance, a mirror the
    block at the same distance from the other end, and what lies outside is zeros. The fewest of one kind; only what the pairs
    of such a kind move is received. Where there are several, each device takes from the one that has what it is sent."""
    pairs = np.array(ir.DenseElementsAttr(op.attributes["source_target_pairs"])).reshape(-1, 2).tolist()
    sizes = [s for _, s in mesh.axes]
    coordinates = [np.unravel_index(i, sizes) for i in range(int(np.prod(sizes)))]
    apart = [d for d in range(len(sizes)) if any(coordinates[s][d] != coordinates[t][d] for s, t in pairs)]
    axes = [f'"{mesh.axes[d][0]}"' for d in apart]
    count = int(np.prod([sizes[d] for d in apart], dtype=int))
    positions = [int(np.ravel_multi_index([c[d] for d in apart], [sizes[d] for d in apart])) if apart else 0 for c in coordinates]
    source = {t: positions[s] for s, t in pairs}
    shifts = sorted({(1, s - positions[t]) for t, s in source.items()})
    mirrors = sorted({(-1, s + positions[t]) for t, s in source.items()})
    windows = mirrors if len(mirrors) < len(shifts) else shifts

    b, value = Builder(op), op.operands[0]
    shape = shape_of(value)
    block = b.reshape(value, [1] + shape)

    def read(step: int, offset: int) -> ir.Value:
        if (step, offset) == (1, 0):
            return value
        global_type, sharding = ir.RankedTensorType.get([count] + shape, ir.RankedTensorType(signless(value.type)).element_type), mesh.sharding(len(shape) + 1, 0, axes)
        window = {"global_type": ir.TypeAttr.get(global_type), "from": sharding, "to": sharding}
        window |= {"dims": i64s([0]), "steps": i64s([step]), "offsets": i64s([offset])}
        return b.reshape(_collective(b, "halo_exchange", block, [1] + shape, window), shape)

    # Which window has what a device is sent; the last number is none of them.
    numbers = np.full(sizes, len(windows), np.int32)
    for target, sender in source.items():
        numbers[coordinates[target]] = next(k for k, (step, offset) in enumerate(windows) if step * positions[target] + offset == sender)
    if len(windows) == 1:
        step, offset = windows[0]
        if all((0 <= step * position + offset < count) == (id in source) for id, position in enumerate(positions)):
            replace(op, [read(step, offset)])
            return
    result = _zeros(b, value.type)
    number = mesh.look_up(b, numbers)
    for k, (step, offset) in enumerate(windows):
        here = b.broadcast(b.compare("EQ", "SIGNED", number, b.splat(str(k), number.type)), shape, [])
        result = b.select(here, read(step, offset), result)
    replace(op, [result])


def _zeros(b: Builder, type: ir.Type) -> ir.Value:
    kind = ir.RankedTensorType(type).element_type
    if isinstance(kind, ir.ComplexType):  # the bindings have no constants of these
        component = _zeros(b, ir.RankedTensorType.get(ir.RankedTensorType(type).shape, kind.element_type))
        return b.complex(component, component)
    if isinstance(kind, ir.FloatType):
        return b.splat("0.0", type)
    return b.splat("false" if ir.IntegerType(kind).width == 1 else "0", type)


def _partition_id(op: ir.Operation, mesh: Mesh) -> None:
    if mesh.has_order:
        raise fail(op, f"the number of a device is used on mesh @{mesh.name}, which has device_ids", "a mesh in plain order")
    b = Builder(op)
    type = op.results[0].type
    total = b.splat("0", type)
    for name, size in mesh.axes:
        total = b.value("stablehlo.multiply", [total, b.splat(str(size), type)], type)
        total = b.value("stablehlo.add", [total, mesh.coordinate(b, name, type)], type)
    replace(op, [total])


_COLLECTIVES = {
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_gather": _all_gather,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_permute": _collective_permute,
    "stablehlo.partition_id": _partition_id,
}
