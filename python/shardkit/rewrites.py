"""What the lowering of StableHLO to linalg leaves behind, rewritten before it.

Each rewrite turns one op into ops that the lowering has, or into ops of linalg, scf and math that it lets pass. All work on
jaxlib's bindings; ops of dialects that these do not know are made in generic form.
"""

from __future__ import annotations

import re
from typing import Callable

from jaxlib.mlir import ir

from .errors import ShardKitError
from .stages import MARK


def walk(op: ir.Operation) -> list[ir.Operation]:
    """All ops inside, outer ones first."""
    found = []
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                found.append(inner.operation)
                found.extend(walk(inner.operation))
    return found


def get_place(op: ir.Operation) -> str:
    """`file.py:12:3: ` of the line that an op came from; empty if it is unknown."""
    match = re.search(r'"([^"]+)":(\d+)(?::(\d+))?', str(op.location))
    return f"{match[1]}:{match[2]}:{match[3] or 1}: " if match else ""


def fail(op: ir.Operation, fact: str, expected: str) -> ShardKitError:
    return ShardKitError(f"{get_place(op)}error: {fact}, expected {expected}")


class Builder:
    """Makes ops in front of another, with its location."""

    def __init__(self, op: ir.Operation):
        self.ip, self.loc = ir.InsertionPoint(op), op.location

    def at_end_of(self, block: ir.Block) -> "Builder":
        other = object.__new__(Builder)
        other.ip, other.loc = ir.InsertionPoint(block), self.loc
        return other

    def op(self, name, operands=(), types=(), attributes=None, regions=0) -> ir.Operation:
        attributes = {k: ir.Attribute.parse(v) if isinstance(v, str) else v for k, v in (attributes or {}).items()}
        return ir.Operation.create(
            name, results=list(types), operands=list(operands), attributes=attributes, regions=regions, loc=self.loc, ip=self.ip
        )

    def value(self, name, operands, type, attributes=None) -> ir.Value:
        return self.op(name, operands, [type], attributes).results[0]

    # --- pieces of StableHLO ---

    def splat(self, number: str, type: ir.Type) -> ir.Value:
        return self.value("stablehlo.constant", [], type, {"value": f"dense<{number}> : {type}"})

    def broadcast(self, value, shape, dims) -> ir.Value:
        type = ir.RankedTensorType.get(shape, element(value))
        return self.value("stablehlo.broadcast_in_dim", [value], type, {"broadcast_dimensions": i64s(dims)})

    def iota(self, shape, dim, element_type) -> ir.Value:
        type = ir.RankedTensorType.get(shape, element_type)
        return self.value("stablehlo.iota", [], type, {"iota_dimension": f"{dim} : i64"})

    def compare(self, direction, kind, a, b) -> ir.Value:
        type = ir.RankedTensorType.get(shape_of(a), i1())
        return self.value(
            "stablehlo.compare",
            [a, b],
            type,
            {
                "comparison_direction": f"#stablehlo<comparison_direction {direction}>",
                "compare_type": f"#stablehlo<comparison_type {kind}>",
            },
        )

    def select(self, mask, a, b) -> ir.Value:
        return self.value("stablehlo.select", [mask, a, b], a.type)

    def sum(self, value, dim) -> ir.Value:
        """The sum over a dim, from the neutral element: -0 for floats, since -0 + x is x for every x."""
        kind = element(value)
        scalar = ir.RankedTensorType.get([], kind)
        init = self.splat("-0.0" if is_float(kind) else "0", scalar)
        shape = shape_of(value)
        type = ir.RankedTensorType.get(shape[:dim] + shape[dim + 1 :], kind)
        reduce = self.op("stablehlo.reduce", [value, init], [type], {"dimensions": i64s([dim])}, regions=1)
        block = reduce.regions[0].blocks.append(scalar, scalar, arg_locs=[self.loc] * 2)
        inner = self.at_end_of(block)
        inner.op("stablehlo.return", [inner.value("stablehlo.add", list(block.arguments), scalar)])
        return reduce.results[0]

    def bitcast(self, value, type) -> ir.Value:
        return value if value.type == type else self.value("stablehlo.bitcast_convert", [value], type)

    def reshape(self, value, shape) -> ir.Value:
        return self.value("stablehlo.reshape", [value], ir.RankedTensorType.get(shape, element(value)))


def i64s(values) -> str:
    return "array<i64: " + ", ".join(map(str, values)) + ">" if values else "array<i64>"


def i1() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def element(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


def shape_of(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def is_float(type: ir.Type) -> bool:
    return isinstance(type, ir.FloatType)


def signless(type: ir.Type) -> ir.Type:
    """The type of a tensor of unsigned integers as linalg has it: of the same bits."""
    tensor = ir.RankedTensorType(type)
    kind = tensor.element_type
    if isinstance(kind, ir.IntegerType) and kind.is_unsigned:
        return ir.RankedTensorType.get(tensor.shape, ir.IntegerType.get_signless(kind.width))
    return type


def owner(value: ir.Value) -> ir.Operation | None:
    """The op that makes a value; nothing for a block argument."""
    return value.owner.operation if isinstance(value.owner, (ir.Operation, ir.OpView)) else None


def replace(op: ir.Operation, values) -> None:
    for old, new in zip(op.results, values):
        old.replace_all_uses_with(new)
    op.erase()


# --- functions of numbers -------------------------------------------------------------------------

"""Functions of floats that MLIR's math dialect has as well. They keep their names through the lowering, which would expand them."""
MATH = {
    "chlo.erf": "math.erf", "chlo.erfc": "math.erfc", "chlo.acos": "math.acos", "chlo.acosh": "math.acosh",
    "chlo.asin": "math.asin", "chlo.asinh": "math.asinh", "chlo.atan": "math.atan", "chlo.atanh": "math.atanh",
    "chlo.cosh": "math.cosh", "chlo.sinh": "math.sinh", "chlo.tan": "math.tan",
}  # fmt: skip


def rename_math(text: str) -> str:
    """The functions of `MATH` in the generic form of a lowered module."""
    return re.sub(r'"(chlo\.\w+)"\((%[\w#]+)\) : (\(tensor<(?:\d+x)*b?f\d+>\))',
                  lambda m: f'"{MATH[m[1]]}"({m[2]}) : {m[3]}' if m[1] in MATH else m[0], text)  # fmt: skip


def rewrite_square(op: ir.Operation) -> None:
    replace(op, [Builder(op).value("stablehlo.multiply", [op.operands[0]] * 2, op.results[0].type)])


def rewrite_erf_inv(op: ir.Operation) -> None:
    """The inverse of erf in f32 and f64 by Giles' polynomials and two steps of Newton's method.

    M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2011)."""
    b, x, type = Builder(op), op.operands[0], op.results[0].type
    if str(element(x)) not in ("f32", "f64"):
        raise fail(op, f"chlo.erf_inv of {type} has no lowering", "f32 or f64")
    c = lambda number: b.splat(repr(float(number)), type)  # noqa: E731
    do = lambda name, *values: b.value(name if "." in name else "stablehlo." + name, list(values), type)  # noqa: E731
    one = c(1)
    w = do("negate", do("log", do("multiply", do("subtract", one, x), do("add", one, x))))

    def polynomial(shifted, coefficients):
        result = c(coefficients[0])
        for number in coefficients[1:]:
            result = do("add", do("multiply", result, shifted), c(number))
        return result

    near = polynomial(
        do("subtract", w, c(2.5)),
        (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
         0.246640727, 1.50140941),
    )  # fmt: skip
    far = polynomial(
        do("subtract", do("sqrt", w), c(3)),
        (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
         1.00167406, 2.83297682),
    )  # fmt: skip
    y = do("multiply", b.select(b.compare("LT", "FLOAT", w, c(5)), near, far), x)
    if str(element(x)) == "f64":  # f32 has all its bits already
        for _ in range(2):
            slope = do("multiply", c(1.1283791670955126), do("exponential", do("negate", do("multiply", y, y))))
            y = do("subtract", y, do("divide", do("subtract", do("chlo.erf", y), x), slope))
    # At the ends the polynomials have no value.
    edge = b.compare("EQ", "FLOAT", do("abs", x), one)
    replace(op, [b.select(edge, do("divide", x, c(0)), y)])


# --- sorting --------------------------------------------------------------------------------------

_MOST_COMPARED = 1 << 28


def pick_by_rank(b: Builder, op: ir.Operation, values, dim: int, count: int, less: Callable) -> list[ir.Value]:
    """The first `count` places of `values` along a dim, in the stable order of `less`.

    The rank of an element is how many come before it: those that are less, and equals at lower places. What stands at place p
    is the sum of what has rank p. Nothing depends on the order of the dim but through numbers, so other dims shard freely."""
    shape = shape_of(values[0])
    n = shape[dim]
    pairs = shape[: dim + 1] + [n] + shape[dim + 1 :]  # (..., i, j, ...): is j before i?
    total = 1
    for size in pairs:
        total *= size
    if total > _MOST_COMPARED:
        raise fail(op, f"{op.name} compares {total} pairs of elements", f"at most {_MOST_COMPARED}: sort a shorter dim")
    own_dims = [d for d in range(len(pairs)) if d != dim + 1]
    other_dims = [d for d in range(len(pairs)) if d != dim]
    own = [b.broadcast(v, pairs, own_dims) for v in values]
    other = [b.broadcast(v, pairs, other_dims) for v in values]
    mask = ir.RankedTensorType.get(pairs, i1())
    before = less(other, own)
    after = less(own, other)
    i32 = ir.IntegerType.get_signless(32)
    lower = b.compare("LT", "SIGNED", b.iota(pairs, dim + 1, i32), b.iota(pairs, dim, i32))
    equal = b.value("stablehlo.and", [b.value("stablehlo.not", [after], mask), lower], mask)
    counted = b.value("stablehlo.or", [before, equal], mask)
    ints = ir.RankedTensorType.get(pairs, i32)
    rank = b.sum(b.value("stablehlo.convert", [counted], ints), dim + 1)  # the shape of the values

    picks = shape[:dim] + [count, n] + shape[dim + 1 :]  # (..., p, i, ...): has i rank p?
    from_rank = [d for d in range(len(picks)) if d != dim]
    hit = b.compare("EQ", "SIGNED", b.broadcast(rank, picks, from_rank), b.iota(picks, dim, i32))
    results = []
    for value in values:
        kind = element(value)
        if kind == i1():
            wide = b.value("stablehlo.convert", [value], ir.RankedTensorType.get(shape, i32))
        else:
            wide = value
        spread = b.broadcast(wide, picks, from_rank)
        zero = b.splat("-0.0" if is_float(kind) else "0", spread.type)
        picked = b.sum(b.select(hit, spread, zero), dim + 1)
        if kind == i1():
            picked = b.value("stablehlo.convert", [picked], ir.RankedTensorType.get(shape_of(picked), kind))
        results.append(picked)
    return results


def rewrite_sort(op: ir.Operation) -> None:
    values = list(op.operands)
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    dim += len(shape_of(values[0])) if dim < 0 else 0
    b = Builder(op)
    block = op.regions[0].blocks[0]

    def less(first, second):
        """The comparator, an op at a time on whole tensors: its arguments are (a0, b0, a1, b1, ...)."""
        shape = shape_of(first[0])
        known = {}
        for k, argument in enumerate(block.arguments):
            known[argument] = (second if k % 2 else first)[k // 2]
        for inner in block.operations:
            name = inner.operation.name
            if name == "stablehlo.return":
                return known[inner.operands[0]]
            if inner.operation.regions or name == "func.call":
                raise fail(op, f"the comparator of stablehlo.sort holds {name}", "elementwise ops")
            types = [ir.RankedTensorType.get(shape, element(r)) for r in inner.results]
            if name == "stablehlo.constant":
                attr = ir.DenseElementsAttr(inner.attributes["value"])
                scalar = b.value(name, [], inner.results[0].type, {"value": attr})
                made = [b.broadcast(scalar, shape, [])]
            else:
                operands = [known[v] if v in known else b.broadcast(v, shape, []) for v in inner.operands]
                attributes = {a: inner.attributes[a] for a in attribute_names(inner.operation)}
                made = list(b.op(name, operands, types, attributes).results)
            known.update(zip(inner.results, made))
        raise AssertionError("a comparator without a terminator")

    replace(op, pick_by_rank(b, op, values, dim, shape_of(values[0])[dim], less))


def rewrite_top_k(op: ir.Operation) -> None:
    value = op.operands[0]
    shape = shape_of(value)
    kind = element(value)
    b = Builder(op)
    index = b.iota(shape, len(shape) - 1, ir.IntegerType.get_signless(32))
    if is_float(kind):
        order = "TOTALORDER"
    elif isinstance(kind, ir.IntegerType) and not kind.is_unsigned:
        order = "SIGNED"
    else:
        order = "UNSIGNED"
    count = ir.IntegerAttr(op.attributes["k"]).value
    replace(
        op,
        pick_by_rank(b, op, [value, index], len(shape) - 1, count, lambda x, y: b.compare("GT", order, x[0], y[0])),
    )


def attribute_names(op: ir.Operation) -> list[str]:
    return [a if isinstance(a, str) else a.name for a in op.attributes]


# --- scatter --------------------------------------------------------------------------------------


def _numbers(text: str, name: str) -> list[int]:
    match = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
    return [int(n) for n in match[1].split(",") if n.strip()] if match else []


def rewrite_scatter(op: ir.Operation) -> None:
    """One linalg.generic over the places of the operand and the updates: an update counts where its index is the place.

    Indices out of bounds match no place, as StableHLO wants it. What is added is a plain reduction over the updates, so that
    a batch of updates may be cut (partial sums), and so may the operand (each shard its own places)."""
    b = Builder(op)
    if len(op.operands) != 3:
        raise fail(op, "stablehlo.scatter has several operands", "one operand, indices and updates")
    operand, indices, updates = op.operands
    kind = element(operand)
    if not is_float(kind) and not (isinstance(kind, ir.IntegerType) and kind.is_signless):
        raise fail(op, f"stablehlo.scatter of {operand.type} has no lowering", "floats or signed integers")
    numbers = str(op.attributes["scatter_dimension_numbers"])
    window_dims = _numbers(numbers, "update_window_dims")
    inserted = _numbers(numbers, "inserted_window_dims")
    batching = _numbers(numbers, "input_batching_dims")
    index_batching = _numbers(numbers, "scatter_indices_batching_dims")
    indexed = _numbers(numbers, "scatter_dims_to_operand_dims")
    match = re.search(r"index_vector_dim = (\d+)", numbers)
    vector_dim = int(match[1]) if match else 0

    # A vector of one number may be left out.
    index_shape = shape_of(indices)
    if vector_dim == len(index_shape):
        index_shape = index_shape + [1]
        indices = b.reshape(indices, index_shape)
    rank = len(shape_of(operand))
    scatter_dims = [d for d in range(len(shape_of(updates))) if d not in window_dims]
    # Dims of the indices but their vector, in the order of the scatter dims of the updates.
    index_dims = [d for d in range(len(index_shape)) if d != vector_dim]

    # Loops: the dims of the operand, then dims of the updates that are no dim of it.
    sizes = list(shape_of(operand))
    loop_of_scatter = {}
    for update_dim, index_dim in zip(scatter_dims, index_dims):
        if index_dim in index_batching:
            loop_of_scatter[update_dim] = batching[index_batching.index(index_dim)]
        else:
            loop_of_scatter[update_dim] = len(sizes)
            sizes.append(shape_of(updates)[update_dim])
    loop_of_window = {}
    window_operand_dims = [d for d in range(rank) if d not in inserted and d not in batching]
    for update_dim, d in zip(window_dims, window_operand_dims):
        size = shape_of(updates)[update_dim]
        if d not in indexed and size == shape_of(operand)[d]:
            loop_of_window[update_dim] = d
        elif size > 1:
            loop_of_window[update_dim] = len(sizes)
            sizes.append(size)
    compared = sorted(
        set(indexed) | {d for u, d in zip(window_dims, window_operand_dims) if loop_of_window.get(u) != d}
    )
    # Windows of one place on a dim that is indexed are no dim of the updates.
    kept = [u for u in range(len(shape_of(updates))) if u in loop_of_scatter or u in loop_of_window]
    if len(kept) < len(shape_of(updates)):
        updates = b.reshape(updates, [shape_of(updates)[u] for u in kept])

    parts = {}
    for k, d in enumerate(indexed):
        low, high = [0] * len(index_shape), list(index_shape)
        low[vector_dim], high[vector_dim] = k, k + 1
        cut = [h - l for l, h in zip(low, high)]
        part = b.value(
            "stablehlo.slice",
            [indices],
            ir.RankedTensorType.get(cut, element(indices)),
            {"start_indices": i64s(low), "limit_indices": i64s(high), "strides": i64s([1] * len(low))},
        )
        parts[d] = b.reshape(part, [index_shape[i] for i in index_dims])

    dims = ", ".join(f"d{i}" for i in range(len(sizes)))
    to_map = lambda loops: f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in loops)})>"  # noqa: E731
    scatter_loops = [loop_of_scatter[u] for u in scatter_dims]
    maps = [to_map(scatter_loops) for _ in indexed]
    maps.append(to_map([loop_of_scatter.get(u, loop_of_window.get(u)) for u in kept]))
    maps.append(to_map(range(rank)))
    kinds = ["parallel" if i < rank else "reduction" for i in range(len(sizes))]
    ins = [parts[d] for d in indexed] + [updates]
    generic = b.op(
        "linalg.generic",
        ins + [operand],
        [op.results[0].type],
        {
            "indexing_maps": "[" + ", ".join(maps) + "]",
            "iterator_types": "[" + ", ".join(f"#linalg.iterator_type<{k}>" for k in kinds) + "]",
            "operandSegmentSizes": f"array<i32: {len(ins)}, 1>",
        },
        regions=1,
    )
    scalars = [element(v) for v in ins] + [kind]
    block = generic.regions[0].blocks.append(*scalars, arg_locs=[op.location] * len(scalars))
    inner = b.at_end_of(block)
    index_type = ir.IndexType.get()
    here = None
    for d in compared:
        place = inner.value("linalg.index", [], index_type, {"dim": f"{d} : i64"})
        wanted = None
        if d in indexed:
            cast = "arith.index_castui" if ir.IntegerType(element(parts[d])).is_unsigned else "arith.index_cast"
            wanted = inner.value(cast, [block.arguments[indexed.index(d)]], index_type)
        for update_dim, own in zip(window_dims, window_operand_dims):
            if own == d and loop_of_window.get(update_dim, d) != d:
                offset = inner.value("linalg.index", [], index_type, {"dim": f"{loop_of_window[update_dim]} : i64"})
                wanted = offset if wanted is None else inner.value("arith.addi", [wanted, offset], index_type)
        if wanted is None:
            wanted = inner.value("arith.constant", [], index_type, {"value": "0 : index"})
        same = inner.value("arith.cmpi", [place, wanted], i1(), {"predicate": "0 : i64"})
        here = same if here is None else inner.value("arith.andi", [here, same], i1())
    update, old = block.arguments[len(ins) - 1], block.arguments[len(ins)]
    inner.op("linalg.yield", [_combine(op, inner, here, update, old, kind)])
    replace(op, generic.results)


def _combine(op, b: Builder, here, update, old, kind: ir.Type) -> ir.Value:
    """What the region of a scatter makes of the old element and an update that may not be meant for it."""
    block = op.regions[0].blocks[0]
    body = list(block.operations)
    returned = body[-1].operands[0]
    real = is_float(kind)
    pick = lambda a, c: c and b.value("arith.select", [here, a, c], kind) if here is not None else a  # noqa: E731
    if len(body) == 1 and returned == block.arguments[1]:
        return pick(update, old)
    name = body[0].operation.name
    known = {
        "stablehlo.add": ("arith.addf", "-0.0") if real else ("arith.addi", "0"),
        "stablehlo.multiply": ("arith.mulf", "1.0") if real else ("arith.muli", "1"),
        "stablehlo.maximum": ("arith.maximumf", None) if real else ("arith.maxsi", None),
        "stablehlo.minimum": ("arith.minimumf", None) if real else ("arith.minsi", None),
        "stablehlo.or": ("arith.ori", "0"),
        "stablehlo.and": ("arith.andi", "-1"),
        "stablehlo.xor": ("arith.xori", "0"),
    }
    if len(body) != 2 or name not in known or set(body[0].operands) != set(block.arguments):
        raise fail(op, "the region of stablehlo.scatter has no lowering", "one of add, multiply, maximum, minimum, and, or, xor, or the update")
    combine, neutral = known[name]
    if kind == i1():
        combine = {"arith.addi": "arith.ori", "arith.muli": "arith.andi", "arith.maxsi": "arith.ori", "arith.minsi": "arith.andi"}.get(combine, combine)
        neutral = "true" if combine == "arith.andi" else "false"
    if neutral is None:  # an element that changes nothing is the old one
        return b.value(combine, [old, pick(update, old)], kind)
    value = neutral if kind == i1() else f"{neutral} : {kind}"
    return b.value(combine, [old, pick(update, b.value("arith.constant", [], kind, {"value": value}))], kind)


# --- loops and branches ---------------------------------------------------------------------------


def _constant_int(value: ir.Value) -> int | None:
    op = owner(value)
    if op is not None and op.name == "stablehlo.constant" and not shape_of(value):
        match = re.fullmatch(r"dense<(-?\d+)> : tensor<u?i\d+>", str(op.attributes["value"]))
        return int(match[1]) if match else None
    return None


def _move_body(source: ir.Block, target: ir.Block) -> ir.Operation:
    """Moves all ops but the terminator, which is returned."""
    ops = list(source.operations)
    for op in ops[:-1]:
        target.append(op)
    return ops[-1].operation


def rewrite_while(op: ir.Operation) -> None:
    """A counted loop becomes scf.for, any other scf.while. Values that the loop hands on unchanged are captured."""
    cond, body = (region.blocks[0] for region in op.regions)
    inits = list(op.operands)
    returned = list(list(body.operations)[-1].operands)
    for k, init in enumerate(inits):
        if returned[k] == body.arguments[k]:
            cond.arguments[k].replace_all_uses_with(init)
            op.results[k].replace_all_uses_with(init)
    unchanged = [k for k in range(len(inits)) if returned[k] == body.arguments[k]]
    for k in unchanged:
        # The terminator uses it too; it goes with the loop.
        body.arguments[k].replace_all_uses_with(inits[k])
    changed = [k for k in range(len(inits)) if k not in unchanged]
    returned = list(list(body.operations)[-1].operands)
    counter = _find_counter(cond, body, inits, returned, changed)
    b = Builder(op)
    index = ir.IndexType.get()
    if counter is None:
        _make_while(op, b, cond, body, changed)
        return
    k, low, step, high = counter
    carried = [c for c in changed if c != k]
    bounds = [b.value("arith.constant", [], index, {"value": f"{n} : index"}) for n in (low, high, step)]
    own = [signless(inits[c].type) for c in carried]
    loop = b.op("scf.for", bounds + [b.bitcast(inits[c], t) for c, t in zip(carried, own)], own, regions=1)
    types = [index] + own
    block = loop.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    inner = b.at_end_of(block)
    scalar = signless(inits[k].type)
    number = inner.value("arith.index_cast", [block.arguments[0]], ir.RankedTensorType(scalar).element_type)
    count = inner.bitcast(inner.value("tensor.from_elements", [number], scalar), inits[k].type)
    body.arguments[k].replace_all_uses_with(count)
    for argument, c in zip(list(block.arguments)[1:], carried):
        body.arguments[c].replace_all_uses_with(inner.bitcast(argument, inits[c].type))
    terminator = _move_body(body, block)
    _yield(b.at_end_of(block), [terminator.operands[c] for c in carried])
    trips = max(0, -(-(high - low) // step))
    last = b.splat(str(low + trips * step), inits[k].type)
    after = [b.bitcast(r, inits[c].type) for c, r in zip(carried, loop.results)]
    results = dict(zip(carried, after)) | {k: last} | {u: inits[u] for u in unchanged}
    replace(op, [results[i] for i in range(len(inits))])


def _yield(b: Builder, values) -> None:
    b.op("scf.yield", [b.bitcast(v, signless(v.type)) for v in values])


def _find_counter(cond, body, inits, returned, changed):
    """(number, first, step, end) of the value that counts; nothing where the loop is no counted one."""
    test = owner(list(cond.operations)[-1].operands[0])
    if test is None or test.name != "stablehlo.compare" or "LT" not in str(test.attributes["comparison_direction"]):
        return None
    high = _constant_int(test.operands[1])
    for k in changed:
        if test.operands[0] != cond.arguments[k] or high is None:
            continue
        low = _constant_int(inits[k])
        add = owner(returned[k])
        if low is None or add is None or add.name != "stablehlo.add" or add.operands[0] != body.arguments[k]:
            return None
        step = _constant_int(add.operands[1])
        if step is None or step <= 0 or low < 0:
            return None
        return k, low, step, high
    return None


def _make_while(op, b: Builder, cond, body, changed) -> None:
    full = [op.operands[c].type for c in changed]
    types = [signless(t) for t in full]
    loop = b.op("scf.while", [b.bitcast(op.operands[c], t) for c, t in zip(changed, types)], types, regions=2)
    before, after = (region.blocks.append(*types, arg_locs=[op.location] * len(types)) for region in loop.regions)
    for source, target in ((cond, before), (body, after)):
        inner = b.at_end_of(target)
        for argument, c, t in zip(target.arguments, changed, full):
            source.arguments[c].replace_all_uses_with(inner.bitcast(argument, t))
    terminator = _move_body(cond, before)
    inner = b.at_end_of(before)
    test = inner.value("tensor.extract", [terminator.operands[0]], i1())
    inner.op("scf.condition", [test] + list(before.arguments))
    terminator = _move_body(body, after)
    _yield(b.at_end_of(after), [terminator.operands[c] for c in changed])
    results = dict(zip(changed, [b.bitcast(r, t) for r, t in zip(loop.results, full)]))
    replace(op, [results.get(i, op.operands[i]) for i in range(len(op.operands))])


def rewrite_branch(op: ir.Operation) -> None:
    """stablehlo.if and stablehlo.case: one scf.if for each branch but the last, which takes what is out of range."""
    b = Builder(op)
    choice = op.operands[0]
    full = [r.type for r in op.results]
    types = [signless(t) for t in full]
    branches = [region.blocks[0] for region in op.regions]

    def fill(b: Builder, block: ir.Block, target: ir.Block):
        terminator = _move_body(block, target)
        _yield(b.at_end_of(target), list(terminator.operands))

    if op.name == "stablehlo.if":
        tests = [lambda b: b.value("tensor.extract", [choice], i1())]
    else:
        def make(n):
            def test(b):
                same = b.compare("EQ", "SIGNED", choice, b.splat(str(n), choice.type))
                return b.value("tensor.extract", [same], i1())
            return test

        tests = [make(n) for n in range(len(branches) - 1)]

    def chain(b: Builder, n: int) -> list[ir.Value]:
        made = b.op("scf.if", [tests[n](b)], types, regions=2)
        fill(b, branches[n], made.regions[0].blocks.append())
        rest = made.regions[1].blocks.append()
        if n + 1 == len(tests):
            fill(b, branches[n + 1], rest)
        else:
            inner = b.at_end_of(rest)
            values = chain(inner, n + 1)
            b.at_end_of(rest).op("scf.yield", values)
        return list(made.results)

    if len(branches) == 1:  # a case of one branch
        terminator = list(branches[0].operations)[-1].operation
        for inner in list(branches[0].operations)[:-1]:
            inner.operation.move_before(op)
        replace(op, list(terminator.operands))
        return
    replace(op, [b.bitcast(r, t) for r, t in zip(chain(b, 0), full)])


# --- unsigned integers ----------------------------------------------------------------------------


def drop_unsigned_signatures(module: ir.Module) -> None:
    """Functions take and return integers without a sign, of the same bits: linalg has no others."""
    for func in [op.operation for op in module.body.operations if op.operation.name == "func.func"]:
        type = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)
        changed = ir.FunctionType.get([signless(t) for t in type.inputs], [signless(t) for t in type.results])
        if changed == type or not func.regions[0].blocks:
            continue
        func.attributes["function_type"] = ir.TypeAttr.get(changed)
        block = func.regions[0].blocks[0]
        b = object.__new__(Builder)
        b.ip, b.loc = ir.InsertionPoint.at_block_begin(block), func.location
        for argument in block.arguments:
            old, new = argument.type, signless(argument.type)
            if old != new:
                argument.set_type(new)
                cast = b.bitcast(argument, old)
                argument.replace_all_uses_except(cast, owner(cast))
        terminator = list(block.operations)[-1].operation
        b = Builder(terminator)
        for i, value in enumerate(terminator.operands):
            terminator.operands[i] = b.bitcast(value, signless(value.type))
    for call in [op for op in walk(module.operation) if op.name == "func.call"]:
        b = Builder(call)
        types = [r.type for r in call.results]
        made = b.op("func.call", [b.bitcast(v, signless(v.type)) for v in call.operands], [signless(t) for t in types], {
            "callee": call.attributes["callee"]
        })  # fmt: skip
        replace(call, [b.bitcast(r, t) for r, t in zip(made.results, types)])


# --- markers --------------------------------------------------------------------------------------


def rewrite_barrier(op: ir.Operation) -> None:
    """Our marker of a stage boundary; any other barrier is about how XLA orders its work."""
    if MARK in op.attributes:
        is_backward = ir.StringAttr(op.attributes[MARK]).value == "backward"
        Builder(op).op("shardkit.spmd.stage_boundary", list(op.operands), [], {"backward": "unit"} if is_backward else {})
    replace(op, list(op.operands))


# --- all ------------------------------------------------------------------------------------------

REWRITES: dict[str, Callable[[ir.Operation], None]] = {
    "chlo.square": rewrite_square,
    "chlo.erf_inv": rewrite_erf_inv,
    "chlo.top_k": rewrite_top_k,
    "stablehlo.sort": rewrite_sort,
    "stablehlo.scatter": rewrite_scatter,
    "stablehlo.while": rewrite_while,
    "stablehlo.case": rewrite_branch,
    "stablehlo.if": rewrite_branch,
    "stablehlo.optimization_barrier": rewrite_barrier,
}


def rewrite_module(module: ir.Module) -> None:
    """Runs all rewrites, inner ops first, so that a loop is moved when what is in it is done."""
    with module.context, ir.Location.unknown():
        drop_unsigned_signatures(module)
        for op in reversed(walk(module.operation)):
            rewrite = REWRITES.get(op.name)
            if rewrite:
                rewrite(op)
