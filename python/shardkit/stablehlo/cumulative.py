"""Cumulative sums and their like, which arrive as windows that reach back to the first element."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir import ir

from ..formulas.blocks import LONGEST_WINDOW, get_block
from .builder import Builder, apply_body, i64s, replace, shape_of


def rewrite_reduce_window(op: ir.Operation) -> None:
    """Each block on its own; the prefix of a block combines the last elements of the blocks before it. The order of
    the operations depends on the size alone. Windows of other kinds are left as they are."""
    if len(op.operands) != 2 or any(o.operation.regions for o in op.regions[0].blocks[0].operations):
        return
    shape = shape_of(op.operands[0])

    def read(name: str, default: int) -> list[int]:
        return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [default] * len(shape)

    padding = np.array(ir.DenseElementsAttr(op.attributes["padding"])).tolist() if "padding" in op.attributes else []
    sizes = read("window_dimensions", 1)
    long = [d for d, size in enumerate(sizes) if size > 1]
    steps = read("window_strides", 1) + read("base_dilations", 1) + read("window_dilations", 1)
    if len(long) != 1 or any(s != 1 for s in steps) or shape[long[0]] != sizes[long[0]] or sizes[long[0]] <= LONGEST_WINDOW:
        return
    (dim,) = long
    padded = {d: p for d, p in enumerate(padding) if p != [0, 0]}
    reach = shape[dim] - 1
    if padded in ({dim: [reach, 0]}, {dim: [0, reach]}):
        replace(op, [_accumulate(Builder(op), op, op.operands[0], dim, padded[dim][0] == 0)])


def _accumulate(b: Builder, op: ir.Operation, value: ir.Value, dim: int, backward: bool) -> ir.Value:
    """The combination of the elements up to each one, or from each one on."""
    shape, init = shape_of(value), op.operands[1]
    n = shape[dim]
    if n <= LONGEST_WINDOW:
        return _slide(b, op, value, dim, backward)
    block = get_block(n)
    count = -(-n // block)
    value = _extend(b, value, init, dim, count * block - n, backward)
    blocks = shape[:dim] + [count, block] + shape[dim + 1 :]
    own = _slide(b, op, b.reshape(value, blocks), dim + 1, backward)
    low, high = [0] * len(blocks), list(blocks)
    low[dim + 1], high[dim + 1] = (0, 1) if backward else (block - 1, block)
    ends = b.reshape(b.slice(own, low, high), shape[:dim] + [count] + shape[dim + 1 :])
    before = _shift(b, _accumulate(b, op, ends, dim, backward), init, dim, backward)
    before = b.broadcast(before, blocks, [d for d in range(len(blocks)) if d != dim + 1])
    joined = b.reshape(apply_body(b, op, [before, own])[0], shape[:dim] + [count * block] + shape[dim + 1 :])
    low, high = [0] * len(shape), list(shape)
    if backward:
        low[dim], high[dim] = count * block - n, count * block
    return joined if count * block == n else b.slice(joined, low, high)


def _slide(b: Builder, op: ir.Operation, value: ir.Value, dim: int, backward: bool) -> ir.Value:
    """The window as it is, as long as `dim`."""
    shape = shape_of(value)
    sizes = [size if d == dim else 1 for d, size in enumerate(shape)]
    padding = [[0, 0] for _ in shape]
    padding[dim][1 if backward else 0] = shape[dim] - 1
    dense = f"dense<{padding}> : tensor<{len(shape)}x2xi64>"
    made = b.op("stablehlo.reduce_window", [value, op.operands[1]], [value.type], {"window_dimensions": i64s(sizes), "padding": dense}, 1)
    source = op.regions[0].blocks[0]
    block = made.regions[0].blocks.append(*[a.type for a in source.arguments], arg_locs=[b.loc] * len(source.arguments))
    known = dict(zip(source.arguments, block.arguments))
    for inner in source.operations:
        copy = inner.operation.clone(ip=ir.InsertionPoint(block))
        for i, operand in enumerate(copy.operands):
            copy.operands[i] = known.get(operand, operand)
        known.update(zip(inner.results, copy.results))
    return made.results[0]


def _pad(b: Builder, value: ir.Value, init: ir.Value, dim: int, low: int, high: int) -> ir.Value:
    rank = len(shape_of(value))

    def position(n: int) -> list[int]:
        return [n if d == dim else 0 for d in range(rank)]

    return b.pad(value, init, position(low), position(high), [0] * rank)


def _extend(b: Builder, value: ir.Value, init: ir.Value, dim: int, by: int, backward: bool) -> ir.Value:
    return _pad(b, value, init, dim, by if backward else 0, 0 if backward else by) if by else value


def _shift(b: Builder, value: ir.Value, init: ir.Value, dim: int, backward: bool) -> ir.Value:
    return _pad(b, value, init, dim, -1 if backward else 1, 1 if backward else -1)
