"""Updates of elements that data selects."""

from __future__ import annotations

import re
from typing import Iterable

import numpy as np
from jaxlib.mlir import ir

from .builder import (
    Builder,
    apply_body,
    attribute_names,
    element,
    fail,
    i1,
    i32,
    i64s,
    is_complex,
    is_float,
    is_unsigned,
    replace,
    shape_of,
    signless,
)


def read_numbers(text: str, name: str) -> list[int]:
    match = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
    return [int(n) for n in match[1].split(",") if n.strip()] if match else []


def rewrite_scatter(op: ir.Operation) -> None:
    """One linalg.generic over the elements of the operand and the updates: an update counts where its index is that of the element.

    Indices out of bounds match no element, as StableHLO requires. A sum is a plain reduction over the updates, so that
    a batch of updates can be sharded (partial sums), and so can the operand (each shard its own elements)."""
    b = Builder(op)
    if len(op.operands) != 3:
        raise fail(op, "stablehlo.scatter has several operands", "one operand, indices and updates")
    full = op.operands[0].type
    if is_complex(element(op.operands[0])):
        return _scatter_components(op)
    # Unsigned numbers are read as such and kept as others of the same bits.
    unsigned, large_indices = (is_unsigned(element(op.operands[k])) for k in (0, 1))
    operand, indices, updates = (b.bitcast(v, signless(v.type)) for v in op.operands)
    kind = element(operand)
    if not is_float(kind) and not isinstance(kind, ir.IntegerType):
        raise fail(op, f"stablehlo.scatter of {full} has no lowering", "floats or integers")
    numbers = str(op.attributes["scatter_dimension_numbers"])
    window_dims = read_numbers(numbers, "update_window_dims")
    inserted = read_numbers(numbers, "inserted_window_dims")
    batching = read_numbers(numbers, "input_batching_dims")
    index_batching = read_numbers(numbers, "scatter_indices_batching_dims")
    indexed = read_numbers(numbers, "scatter_dims_to_operand_dims")
    match = re.search(r"index_vector_dim = (\d+)", numbers)
    vector_dim = int(match[1]) if match else 0

    # A vector of one number may be left out.
    index_shape = shape_of(indices)
    has_vector = vector_dim < len(index_shape)
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
    # Windows of one position on a dim that is indexed are no dim of the updates.
    kept = [u for u in range(len(shape_of(updates))) if u in loop_of_scatter or u in loop_of_window]
    if len(kept) < len(shape_of(updates)):
        updates = b.drop_dims(updates, {u: 0 for u in range(len(shape_of(updates))) if u not in kept})

    parts = {d: b.drop_dims(indices, {vector_dim: k}) if has_vector else indices for k, d in enumerate(indexed)}

    dims = ", ".join(f"d{i}" for i in range(len(sizes)))

    def to_map(loops: Iterable[int]) -> str:
        return f"affine_map<({dims}) -> ({', '.join(f'd{i}' for i in loops)})>"

    scatter_loops = [loop_of_scatter[u] for u in scatter_dims]
    maps = [to_map(scatter_loops) for _ in indexed]
    maps.append(to_map([(loop_of_scatter | loop_of_window)[u] for u in kept]))
    maps.append(to_map(range(rank)))
    kinds = ["parallel" if i < rank else "reduction" for i in range(len(sizes))]
    ins = [parts[d] for d in indexed] + [updates]
    generic = b.op(
        "linalg.generic",
        ins + [operand],
        [operand.type],
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
        position = inner.value("linalg.index", [], index_type, {"dim": f"{d} : i64"})
        wanted = None
        if d in indexed:
            cast = "arith.index_castui" if large_indices else "arith.index_cast"
            wanted = inner.value(cast, [block.arguments[indexed.index(d)]], index_type)
        for update_dim, own in zip(window_dims, window_operand_dims):
            if own == d and loop_of_window.get(update_dim, d) != d:
                offset = inner.value("linalg.index", [], index_type, {"dim": f"{loop_of_window[update_dim]} : i64"})
                wanted = offset if wanted is None else inner.value("arith.addi", [wanted, offset], index_type)
        if wanted is None:
            wanted = inner.index(0)
        same = inner.value("arith.cmpi", [position, wanted], i1(), {"predicate": "0 : i64"})
        here = same if here is None else inner.value("arith.andi", [here, same], i1())
    update, old = block.arguments[len(ins) - 1], block.arguments[len(ins)]
    inner.op("linalg.yield", [_combine(op, inner, here, update, old, kind, unsigned)])
    replace(op, [b.bitcast(generic.results[0], full)])


def _scatter_components(op: ir.Operation) -> None:
    """Complex numbers are set and added component by component."""
    b = Builder(op)
    operand, indices, updates = op.operands
    block = op.regions[0].blocks[0]
    *body, end = [inner.operation for inner in block.operations]
    is_set = not body and end.operands[0] == block.arguments[1]
    is_add = len(body) == 1 and body[0].name == "stablehlo.add" and set(body[0].operands) == set(block.arguments)
    if not is_set and not is_add:
        raise fail(op, f"stablehlo.scatter of {operand.type} by another op has no lowering", "one that sets or adds")
    scatters = []
    for old, new in zip(b.components(operand), b.components(updates)):
        attributes = {name: op.attributes[name] for name in attribute_names(op)}
        scatter = b.op("stablehlo.scatter", [old, indices, new], [old.type], attributes, regions=1)
        scalar = ir.RankedTensorType.get([], element(old))
        arguments = list(scatter.regions[0].blocks.append(scalar, scalar, arg_locs=[op.location] * 2).arguments)
        inner = b.at_end_of(scatter.regions[0].blocks[0])
        inner.op("stablehlo.return", [arguments[1] if is_set else inner.value("stablehlo.add", arguments, scalar)])
        scatters.append(scatter)
    replace(op, [b.complex(*(scatter.results[0] for scatter in scatters))])
    for scatter in scatters:
        rewrite_scatter(scatter)


def rewrite_select_and_scatter(op: ir.Operation) -> None:
    """Windows may overlap: each selects one of its elements, and each element sums the values of the windows that selected it.

    One offset in the window after the other: the elements there of all windows are a strided slice, and the values of the windows
    for it are spread by a padding with the same stride."""
    operand, source, init = op.operands
    b, counts = Builder(op), shape_of(source)
    rank = len(counts)
    body = [inner.operation for inner in op.regions[1].blocks[0].operations]
    if len(body) != 2 or body[0].name != "stablehlo.add":
        raise fail(op, "stablehlo.select_and_scatter scatters by another op", "stablehlo.add")
    window = _read_i64s(op, "window_dimensions") or [1] * rank
    strides = _read_i64s(op, "window_strides") or [1] * rank
    padding = np.array(ir.DenseElementsAttr(op.attributes["padding"])).ravel().tolist() if "padding" in op.attributes else [0] * 2 * rank
    low, high = padding[::2], padding[1::2]
    none, dynamic = [0] * rank, ir.ShapedType.get_dynamic_size()

    def scalar(text: str, kind: ir.Type) -> ir.Value:
        return b.splat(text, ir.RankedTensorType.get([], kind))

    zero = scalar("-0.0" if is_float(element(source)) else "0", element(source))
    # Padding is not selected: its flags are false.
    padded = b.pad(operand, zero, low, high, none) if any(padding) else operand
    is_real = b.pad(b.spread(scalar("true", i1()), operand), scalar("false", i1()), low, high, none) if any(padding) else None

    offsets = list(np.ndindex(*window))
    best = picked = inside = None
    for k, offset in enumerate(offsets):
        here, this = b.take(padded, offset, counts, strides), b.spread(scalar(str(k), i32()), source)
        is_inside = b.take(is_real, offset, counts, strides) if is_real is not None else None
        if best is None or picked is None:
            best, picked, inside = here, this, is_inside
            continue
        moves = b.value("stablehlo.not", [apply_body(b, op, [best, here])[0]], ir.RankedTensorType.get(counts, i1()))
        if is_inside is not None and inside is not None:  # where no element was there before, the first one is taken
            moves = b.value("stablehlo.or", [moves, b.value("stablehlo.not", [inside], inside.type)], moves.type)
            moves = b.value("stablehlo.and", [moves, is_inside], moves.type)
            inside = b.value("stablehlo.or", [inside, is_inside], inside.type)
        best, picked = b.select(moves, here, best), b.select(moves, this, picked)

    total = b.spread(init, operand)
    nothing = b.spread(zero, source)
    for k, offset in enumerate(offsets):
        if picked is None:
            break
        given = b.select(b.compare("EQ", "SIGNED", picked, b.spread(scalar(str(k), i32()), source)), source, nothing)
        after = [0 if n == dynamic else m - o - ((n - 1) * s + 1) for m, o, n, s in zip(shape_of(padded), offset, counts, strides)]
        before = [o - l for o, l in zip(offset, low)]
        spread = b.pad(given, zero, before, [a - h for a, h in zip(after, high)], [s - 1 for s in strides])
        total = b.value("stablehlo.add", [total, spread], operand.type)
    replace(op, [total])


def _read_i64s(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else []


def _combine(
    op: ir.Operation, b: Builder, here: ir.Value | None, update: ir.Value, old: ir.Value, kind: ir.Type, unsigned: bool
) -> ir.Value:
    """What the region of a scatter makes of the old element and an update that may not be meant for it."""
    block = op.regions[0].blocks[0]
    body = list(block.operations)
    returned = body[-1].operands[0]

    def pick(new: ir.Value, other: ir.Value) -> ir.Value:
        return new if here is None else b.value("arith.select", [here, new, other], kind)

    if len(body) == 1 and returned == block.arguments[1]:
        return pick(update, old)
    name = body[0].operation.name
    if len(body) != 2 or set(body[0].operands) != set(block.arguments):
        name = ""
    combine, neutral = get_combiner(op, name, kind, unsigned)
    if neutral is None:  # an element that changes nothing is the old one
        return b.value(combine, [old, pick(update, old)], kind)
    value = neutral if kind == i1() else f"{neutral} : {kind}"
    return b.value(combine, [old, pick(update, b.value("arith.constant", [], kind, {"value": value}))], kind)


def get_combiner(op: ir.Operation, name: str, kind: ir.Type, unsigned: bool) -> tuple[str, str | None]:
    """The op on scalars that is StableHLO's `name`, and the element that changes nothing; one error for others, at `op`."""
    real = is_float(kind)
    extreme = "ui" if unsigned else "si"
    known: dict[str, tuple[str, str | None]] = {
        "stablehlo.add": ("arith.addf", "-0.0") if real else ("arith.addi", "0"),
        "stablehlo.multiply": ("arith.mulf", "1.0") if real else ("arith.muli", "1"),
        "stablehlo.maximum": ("arith.maximumf", None) if real else (f"arith.max{extreme}", None),
        "stablehlo.minimum": ("arith.minimumf", None) if real else (f"arith.min{extreme}", None),
        "stablehlo.or": ("arith.ori", "0"),
        "stablehlo.and": ("arith.andi", "-1"),
        "stablehlo.xor": ("arith.xori", "0"),
    }
    if name not in known:
        raise fail(op, f"the region of {op.name} has no lowering", "one of add, multiply, maximum, minimum, and, or, xor, or the update")
    combine, neutral = known[name]
    if kind == i1():
        combine = {"arith.addi": "arith.ori", "arith.muli": "arith.andi", "arith.maxsi": "arith.ori", "arith.minsi": "arith.andi"}.get(combine, combine)
        neutral = "true" if combine == "arith.andi" else "false"
    return combine, neutral
