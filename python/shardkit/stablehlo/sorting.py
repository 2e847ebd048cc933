"""Sorting, and the first elements of an order."""

from __future__ import annotations

from typing import Callable, Protocol, Sequence

from jaxlib.mlir import ir

from ..formulas.network import LONGEST_COUNTED, get_masks
from .builder import Builder, apply_body, element, i1, i32, i64s, is_float, replace, shape_of, signless
from .loops import rewrite_while

Hold = Callable[[ir.Value], ir.Value]


class Less(Protocol):
    """Whether the elements of the first tensors come before those of the second, elementwise. `hold` is applied to other tensors
    that they are compared with."""

    def __call__(
        self, b: Builder, first: Sequence[ir.Value], second: Sequence[ir.Value], hold: Hold | None = None
    ) -> ir.Value: ...


def sort(op: ir.Operation, values: Sequence[ir.Value], dim: int, count: int, less: Less) -> list[ir.Value]:
    """The first `count` elements of `values` along a dim, in the stable order of `less`; created before `op`."""
    b = Builder(op)
    if shape_of(values[0])[dim] <= LONGEST_COUNTED:
        return _pick_by_rank(b, [_keep_unsharded(b, op, v, dim) for v in values], dim, count, less)
    return _sort_by_network(b, op, values, dim, count, less)


def _comes_before(b: Builder, forth: ir.Value, back: ir.Value, earlier: ir.Value) -> ir.Value:
    """Of two different elements exactly one comes first: by `less` in both directions, and where these agree, by the index."""
    return b.select(b.value("stablehlo.xor", [forth, back], forth.type), forth, earlier)


def _pick_by_rank(b: Builder, values: Sequence[ir.Value], dim: int, count: int, less: Less) -> list[ir.Value]:
    """The rank of an element is the number of those before it, and element p of the result is the sum of those of rank p: n^2
    comparisons. The dim is unsharded, or its pairs would move."""
    shape = shape_of(values[0])
    n = shape[dim]
    pairs = shape[: dim + 1] + [n] + shape[dim + 1 :]  # (..., i, j, ...): is j before i?
    own_dims = [d for d in range(len(pairs)) if d != dim + 1]
    other_dims = [d for d in range(len(pairs)) if d != dim]
    own = [b.broadcast(v, pairs, own_dims) for v in values]
    other = [b.broadcast(v, pairs, other_dims) for v in values]
    lower = b.compare("LT", "SIGNED", b.iota(pairs, dim + 1, i32()), b.iota(pairs, dim, i32()))
    before = _comes_before(b, less(b, other, own), less(b, own, other), lower)
    rank = b.sum(b.value("stablehlo.convert", [before], ir.RankedTensorType.get(pairs, i32())), dim + 1)

    picks = shape[:dim] + [count, n] + shape[dim + 1 :]  # (..., p, i, ...): has i rank p?
    from_rank = [d for d in range(len(picks)) if d != dim]
    hit = b.compare("EQ", "SIGNED", b.broadcast(rank, picks, from_rank), b.iota(picks, dim, i32()))
    results = []
    for value in values:
        kind = element(value)
        if kind == i1():
            wide = b.value("stablehlo.convert", [value], ir.RankedTensorType.get(shape, i32()))
        else:
            wide = value
        spread = b.broadcast(wide, picks, from_rank)
        zero = b.splat("-0.0" if is_float(kind) else "0", spread.type)
        picked = b.sum(b.select(hit, spread, zero), dim + 1)
        if kind == i1():
            picked = b.value("stablehlo.convert", [picked], ir.RankedTensorType.get(shape_of(picked), kind))
        results.append(picked)
    return results


def _sort_by_network(b: Builder, op: ir.Operation, values: Sequence[ir.Value], dim: int, count: int, less: Less) -> list[ir.Value]:
    """A loop over the rounds of the network. Where elements came from is carried along: it makes the order total, and so the sort
    stable."""
    shape = shape_of(values[0])
    n = shape[dim]
    masks = get_masks(n)
    positions = b.iota(shape, dim, i32())
    scalar = ir.RankedTensorType.get([], i32())
    table = b.value("stablehlo.constant", [], ir.RankedTensorType.get([len(masks)], i32()), {
        "value": f"dense<{masks}> : tensor<{len(masks)}xi32>"
    })  # fmt: skip
    carried = [b.splat("0", scalar), *(_keep_unsharded(b, op, v, dim) for v in [*values, positions])]
    types = [v.type for v in carried]
    loop = b.op("stablehlo.while", carried, types, regions=2)
    cond, body = (region.blocks.append(*types, arg_locs=[b.loc] * len(types)) for region in loop.regions)
    inner = b.at_end_of(cond)
    inner.op("stablehlo.return", [inner.compare("LT", "SIGNED", cond.arguments[0], inner.splat(str(len(masks)), scalar))])

    inner = b.at_end_of(body)
    round, *own = body.arguments
    mask = inner.value("stablehlo.dynamic_slice", [table, round], ir.RankedTensorType.get([1], i32()), {"slice_sizes": i64s([1])})
    mask = inner.reshape(mask, [])
    own = [_keep_unsharded(inner, op, v, dim) for v in own]
    other = [_keep_unsharded(inner, op, _meet(inner, v, mask, dim), dim) for v in own]
    is_lower = _meet(inner, None, mask, dim, shape)
    earlier = inner.compare("LT", "SIGNED", own[-1], other[-1])

    def hold(value: ir.Value) -> ir.Value:  # it may be outside of the loop as well, sharded
        return _keep_unsharded(inner, op, value, dim)

    first = _comes_before(inner, less(inner, own[:-1], other[:-1], hold), less(inner, other[:-1], own[:-1], hold), earlier)
    swap = inner.value("stablehlo.xor", [is_lower, first], first.type)
    following = inner.value("stablehlo.add", [round, inner.splat("1", scalar)], scalar)
    inner.op("stablehlo.return", [following, *(inner.select(swap, theirs, ours) for ours, theirs in zip(own, other))])
    end = [count if d == dim else size for d, size in enumerate(shape)]
    results = [_keep_unsharded(b, op, v, dim) if list(r.uses) else v for r, v in zip(op.results, rewrite_while(loop)[1:-1])]
    return [b.slice(v, [0] * len(shape), end) if count < n else v for v in results]


def _meet(b: Builder, value: ir.Value | None, mask: ir.Value, dim: int, shape: Sequence[int] = ()) -> ir.Value:
    """Element i ^ mask of a dim, for each i; past the end, element i. Without a value: whether i is the lower one."""
    full = ir.RankedTensorType.get(shape, i1()) if value is None else value.type
    type = signless(full)
    if value is not None:
        value = b.bitcast(value, type)
    shape, kind = list(type.shape), type.element_type
    rank = len(shape)
    dims = ", ".join(f"d{d}" for d in range(rank))
    generic = b.op(
        "linalg.generic",
        [mask, b.op("tensor.empty", [], [type]).results[0]],
        [type],
        {
            "indexing_maps": f"[affine_map<({dims}) -> ()>, affine_map<({dims}) -> ({dims})>]",
            "iterator_types": "[" + ", ".join(["#linalg.iterator_type<parallel>"] * rank) + "]",
            "operandSegmentSizes": "array<i32: 1, 1>",
        },
        regions=1,
    )
    block = generic.regions[0].blocks.append(i32(), kind, arg_locs=[b.loc] * 2)
    inner = b.at_end_of(block)
    index = ir.IndexType.get()
    at = [inner.value("linalg.index", [], index, {"dim": f"{d} : i64"}) for d in range(rank)]
    there = inner.value("arith.xori", [at[dim], inner.value("arith.index_cast", [block.arguments[0]], index)], index)
    less = {"predicate": "6 : i64"}  # of unsigned numbers
    if value is None:
        inner.op("linalg.yield", [inner.value("arith.cmpi", [at[dim], there], i1(), less)])
    else:
        size = inner.value("arith.constant", [], index, {"value": f"{shape[dim]} : index"})
        is_inside = inner.value("arith.cmpi", [there, size], i1(), less)
        at[dim] = inner.value("arith.select", [is_inside, there, at[dim]], index)
        inner.op("linalg.yield", [inner.value("tensor.extract", [value, *at], kind)])
    return b.bitcast(generic.results[0], full)


def _keep_unsharded(b: Builder, op: ir.Operation, value: ir.Value, dim: int) -> ir.Value:
    """A dim that must not be sharded; others are open."""
    while op.parent is not None:
        op = op.parent
    meshes = [m for m in op.regions[0].blocks[0].operations if m.operation.name == "sdy.mesh" and '"' in str(m.attributes["mesh"])]
    if len(meshes) != 1:
        return value  # gathered in every round where it is sharded
    dims = ", ".join("{}" if d == dim else "{?}" for d in range(len(shape_of(value))))
    sharding = f"#sdy.sharding<@{ir.StringAttr(meshes[0].attributes['sym_name']).value}, [{dims}]>"
    type = signless(value.type)
    return b.bitcast(b.value("sdy.sharding_constraint", [b.bitcast(value, type)], type, {"sharding": sharding}), value.type)


def rewrite_sort(op: ir.Operation) -> None:
    values = list(op.operands)
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    dim += len(shape_of(values[0])) if dim < 0 else 0

    def less(b: Builder, first: Sequence[ir.Value], second: Sequence[ir.Value], hold: Hold | None = None) -> ir.Value:
        pairs = zip(b.join(first, values), b.join(second, values))
        return apply_body(b, op, [v for pair in pairs for v in pair], hold)[0]

    b = Builder(op)
    parts = [part for value in values for part in b.components(value)]
    replace(op, b.join(sort(op, parts, dim, shape_of(values[0])[dim], less), values))


def rewrite_top_k(op: ir.Operation) -> None:
    value = op.operands[0]
    shape = shape_of(value)
    kind = element(value)
    if is_float(kind):
        order = "TOTALORDER"
    elif isinstance(kind, ir.IntegerType) and not kind.is_unsigned:
        order = "SIGNED"
    else:
        order = "UNSIGNED"
    b = Builder(op)
    index = b.iota(shape, len(shape) - 1, i32())
    count = ir.IntegerAttr(op.attributes["k"]).value
    replace(op, sort(op, [value, index], len(shape) - 1, count, lambda b, x, y, hold=None: b.compare("GT", order, x[0], y[0])))
