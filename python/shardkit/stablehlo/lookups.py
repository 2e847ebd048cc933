"""Gathers, reversals and cumulative sums along dims whose size only the run knows: structured ops that look elements up."""

from __future__ import annotations

import re
from typing import Callable, Sequence

from jaxlib.mlir import ir

from .builder import Builder, apply_body, element, is_unsigned, shape_of
from .scatter import get_combiner

_DYNAMIC = ir.ShapedType.get_dynamic_size()
Position = Callable[[Builder, list[ir.Value], list[ir.Value]], list[ir.Value]]
"""Where an element is, from the indices of the result and the elements of the inputs there."""
Combine = Callable[[Builder, ir.Value, list[ir.Value], list[ir.Value]], ir.Value]


def _arith(b: Builder, name: str, *operands: ir.Value) -> ir.Value:
    return b.value(f"arith.{name}", operands, operands[0].type)


def _size(b: Builder, value: ir.Value, d: int) -> ir.Value:
    return b.dim(value, d) if shape_of(value)[d] == _DYNAMIC else b.index(shape_of(value)[d])


def _look_up(b: Builder, source: ir.Value, type: ir.Type, sizes: Sequence[ir.Value], inputs: Sequence[tuple[ir.Value, Sequence[int]]],
             position: Position, combine: Combine | None = None) -> ir.Value:
    """A tensor of elements of `source`. `sizes`: of the dims that are not known; `inputs`: with the dims of the result that theirs are;
    `combine`: what becomes of an element, at these indices and elements of the inputs."""  # fmt: skip
    rank, kind = len(ir.RankedTensorType(type).shape), ir.RankedTensorType(type).element_type
    empty = b.value("tensor.empty", list(sizes), type)
    dims = ", ".join(f"d{d}" for d in range(rank))
    maps = [f"affine_map<({dims}) -> ({', '.join(f'd{d}' for d in of)})>" for _, of in inputs] + [f"affine_map<({dims}) -> ({dims})>"]
    values = [v for v, _ in inputs]
    attributes = {
        "indexing_maps": "[" + ", ".join(maps) + "]",
        "iterator_types": "[" + ", ".join(["#linalg.iterator_type<parallel>"] * rank) + "]",
        "operandSegmentSizes": f"array<i32: {len(values)}, 1>",
    }
    generic = b.op("linalg.generic", [*values, empty], [type], attributes, regions=1)
    scalars = [element(v) for v in values] + [kind]
    block = generic.regions[0].blocks.append(*scalars, arg_locs=[b.loc] * len(scalars))
    inner, index = b.at_end_of(block), ir.IndexType.get()
    indices = [inner.value("linalg.index", [], index, {"dim": f"{d} : i64"}) for d in range(rank)]
    given = list(block.arguments)[:-1]
    found = inner.value("tensor.extract", [source, *position(inner, indices, given)], kind)
    inner.op("linalg.yield", [combine(inner, found, indices, given) if combine else found])
    return generic.results[0]


def reverse(op: ir.Operation) -> ir.Value:
    (value,), dims = op.operands, list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    b = Builder(op)
    last = {d: _arith(b, "subi", _size(b, value, d), b.index(1)) for d in dims}
    sizes = [b.dim(value, d) for d, n in enumerate(shape_of(value)) if n == _DYNAMIC]
    return _look_up(b, value, value.type, sizes, [], lambda b, at, _: [_arith(b, "subi", last[d], i) if d in dims else i for d, i in enumerate(at)])


def gather(op: ir.Operation, slice_sizes: Sequence[ir.Value]) -> ir.Value:
    """`slice_sizes`: as indices, by the dims of the operand. Starts are moved into the operand, as StableHLO requires."""
    operand, indices = list(op.operands)[:2]
    numbers = str(op.attributes["dimension_numbers"])

    def read(name: str) -> list[int]:
        found = re.search(rf"\b{name} = \[([\d, ]*)\]", numbers)
        return [int(k) for k in re.findall(r"\d+", found[1])] if found else []

    offset, collapsed, batching = read("offset_dims"), read("collapsed_slice_dims"), read("operand_batching_dims")
    mapped, index_batching = read("start_index_map"), read("start_indices_batching_dims")
    found = re.search(r"index_vector_dim = (\d+)", numbers)
    vector = int(found[1]) if found else 0
    b, type = Builder(op), op.results[0].type
    shape = shape_of(op.results[0])
    batch = [d for d in range(len(shape)) if d not in offset]  # of the result, in the order of the dims of the indices but their vector
    index_dims = [d for d in range(len(shape_of(indices))) if d != vector]
    parts = [b.drop_dims(indices, {vector: k}) if vector < len(shape_of(indices)) else indices for k in range(len(mapped))]
    window = [d for d in range(len(shape_of(operand))) if d not in collapsed and d not in batching]
    sizes = []
    for d, n in enumerate(shape):
        if n == _DYNAMIC:
            sizes.append(slice_sizes[window[offset.index(d)]] if d in offset else _size(b, indices, index_dims[batch.index(d)]))
    most = [_arith(b, "subi", _size(b, operand, d), slice_sizes[d]) for d in mapped]

    def position(b: Builder, at: list[ir.Value], starts: list[ir.Value]) -> list[ir.Value]:
        place = []
        for d in range(len(shape_of(operand))):
            here = [at[offset[window.index(d)]]] if d in window else []
            if d in mapped:
                k = mapped.index(d)
                cast = "arith.index_castui" if is_unsigned(element(indices)) else "arith.index_cast"
                start = b.value(cast, [starts[k]], ir.IndexType.get())
                here.append(_arith(b, "maxsi", _arith(b, "minsi", start, most[k]), b.index(0)))
            if d in batching:
                here.append(at[batch[index_dims.index(index_batching[batching.index(d)])]])
            place.append(here[0] if len(here) == 1 else _arith(b, "addi", *here) if here else b.index(0))
        return place

    return _look_up(b, operand, type, sizes, [(part, batch) for part in parts], position)


def _count_digits(b: Builder, size: ir.Value) -> ir.Value:
    """The least k so that 2^k is at least the size."""
    index = ir.IndexType.get()
    loop = b.op("scf.while", [b.index(0)], [index], {}, regions=2)
    before, after = (region.blocks.append(index, arg_locs=[b.loc]) for region in loop.regions)
    test, body = b.at_end_of(before), b.at_end_of(after)
    power = _arith(test, "shli", test.index(1), before.arguments[0])
    is_less = test.value("arith.cmpi", [power, size], ir.IntegerType.get_signless(1), {"predicate": "2 : i64"})  # slt
    test.op("scf.condition", [is_less, before.arguments[0]])
    body.op("scf.yield", [_arith(body, "addi", after.arguments[0], body.index(1))])
    return loop.results[0]


def accumulate(op: ir.Operation, dim: int, backward: bool, body: ir.Operation) -> ir.Value:
    """The combination of the elements up to each one, or from each one on, by the first region of `body`, for which the second operand is
    neutral: a round for each binary digit of the size combines with what is 1, 2, 4, ... before."""
    b, value = Builder(op), op.operands[0]
    index, kind = ir.IndexType.get(), element(value)
    first, *others = list(body.regions[0].blocks[0].operations)
    combiner = get_combiner(op, first.operation.name, kind, is_unsigned(kind))[0] if len(others) == 1 else None
    neutral = b.value("tensor.extract", [op.operands[1]], kind)
    size, zero, one = _size(b, value, dim), b.index(0), b.index(1)
    rounds = _count_digits(b, size)
    sizes = [b.dim(value, d) for d, n in enumerate(shape_of(value)) if n == _DYNAMIC]
    loop = b.op("scf.for", [zero, rounds, one, value], [value.type], {}, regions=1)
    block = loop.regions[0].blocks.append(index, value.type, arg_locs=[b.loc] * 2)
    inner = b.at_end_of(block)
    round, carried = block.arguments
    step = _arith(inner, "shli", inner.index(1), round)

    def position(b: Builder, at: list[ir.Value], given: list[ir.Value]) -> list[ir.Value]:
        other = _arith(b, "addi" if backward else "subi", at[dim], step)
        inside = _arith(b, "minsi", _arith(b, "maxsi", other, b.index(0)), _arith(b, "subi", size, b.index(1)))
        return [inside if d == dim else i for d, i in enumerate(at)]

    def combine(b: Builder, other: ir.Value, at: list[ir.Value], given: list[ir.Value]) -> ir.Value:
        ends = [_arith(b, "addi", at[dim], step), size] if backward else [step, at[dim]]
        i1 = ir.IntegerType.get_signless(1)
        has_other = b.value("arith.cmpi", ends, i1, {"predicate": "2 : i64" if backward else "3 : i64"})  # slt, sle
        if combiner is None:
            return b.value("arith.select", [has_other, other, neutral], kind)
        return b.value("arith.select", [has_other, b.value(combiner, order(given[0], other), kind), given[0]], kind)

    def order(own: ir.Value, other: ir.Value) -> list[ir.Value]:
        return [own, other] if backward else [other, own]

    whole = list(range(len(shape_of(value))))
    made = _look_up(inner, carried, value.type, sizes, [(carried, whole)], position, combine)
    inner.op("scf.yield", [made] if combiner else apply_body(inner, body, order(carried, made)))
    return loop.results[0]

