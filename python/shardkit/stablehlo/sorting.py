"""Sorting, and the first elements of an order.

Sorts stay as they are: the lowering of StableHLO lowers their regions, and `--spmd-import-sdy` makes them `spmd.sort`."""

from __future__ import annotations

from typing import Callable, Sequence

from jaxlib.mlir import ir

from .builder import Builder, attribute_names, element, fail, i32, is_float, replace, shape_of, signless

Order = Callable[[Builder, Sequence[ir.Value], Sequence[ir.Value]], ir.Value]
"""Whether the elements of the first scalars come before those of the second."""


def _sort(b: Builder, values: Sequence[ir.Value], dim: int, order: Order) -> list[ir.Value]:
    """Integers are sorted without a sign, which linalg does not have, and have it in the region."""
    types = [signless(v.type) for v in values]
    attributes = {"dimension": f"{dim} : i64", "is_stable": "true"}
    sort = b.op("stablehlo.sort", [b.bitcast(v, t) for v, t in zip(values, types)], types, attributes, regions=1)
    pairs = [ir.RankedTensorType.get([], t.element_type) for t in types for _ in range(2)]
    block = sort.regions[0].blocks.append(*pairs, arg_locs=[b.loc] * len(pairs))
    inner = b.at_end_of(block)
    signed = [ir.RankedTensorType.get([], element(v)) for v in values for _ in range(2)]
    scalars = [inner.bitcast(a, t) for a, t in zip(block.arguments, signed)]
    inner.op("stablehlo.return", [order(inner, scalars[::2], scalars[1::2])])
    return [b.bitcast(r, v.type) for r, v in zip(sort.results, values)]


def _apply(b: Builder, block: ir.Block, arguments: Sequence[ir.Value]) -> ir.Value:
    """What a region over scalars returns for these."""
    known = dict(zip(block.arguments, arguments))
    *body, terminator = [inner.operation for inner in block.operations]
    for inner in body:
        if inner.regions or inner.name == "func.call":
            raise fail(inner, f"the region of stablehlo.sort holds {inner.name}", "elementwise ops")
        attributes = {name: inner.attributes[name] for name in attribute_names(inner)}
        made = b.op(inner.name, [known.get(v, v) for v in inner.operands], [r.type for r in inner.results], attributes)
        known.update(zip(inner.results, made.results))
    return known.get(terminator.operands[0], terminator.operands[0])


def rewrite_sort(op: ir.Operation) -> None:
    """Complex numbers are sorted as their components."""
    values = list(op.operands)
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    dim += len(shape_of(values[0])) if dim < 0 else 0
    block = op.regions[0].blocks[0]

    def order(b: Builder, first: Sequence[ir.Value], second: Sequence[ir.Value]) -> ir.Value:
        pairs = zip(b.join(first, values), b.join(second, values))
        return _apply(b, block, [v for pair in pairs for v in pair])

    b = Builder(op)
    components = [component for value in values for component in b.components(value)]
    replace(op, b.join(_sort(b, components, dim, order), values))


def sort_descending(b: Builder, value: ir.Value, index: ir.Value) -> list[ir.Value]:
    """Values along the last dim, the largest first, and the indices that come with them."""
    kind = element(value)
    if is_float(kind):
        comparison = "TOTALORDER"
    elif isinstance(kind, ir.IntegerType) and not kind.is_unsigned:
        comparison = "SIGNED"
    else:
        comparison = "UNSIGNED"
    return _sort(b, [value, index], len(shape_of(value)) - 1, lambda b, x, y: b.compare("GT", comparison, x[0], y[0]))


def rewrite_top_k(op: ir.Operation) -> None:
    """The first elements of a sort, which then keeps no others."""
    b, shape = Builder(op), shape_of(op.operands[0])
    end = [*shape[:-1], ir.IntegerAttr(op.attributes["k"]).value]
    index = b.iota(shape, len(shape) - 1, i32())
    replace(op, [b.slice(v, [0] * len(shape), end) for v in sort_descending(b, op.operands[0], index)])
