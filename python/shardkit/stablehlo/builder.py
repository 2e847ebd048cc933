"""Makes ops of StableHLO and of what it is rewritten to, on jaxlib's bindings.

Ops of dialects that these do not know are made in generic form."""

from __future__ import annotations

import math
import re
from typing import Iterable, Mapping, Sequence

from jaxlib.mlir import ir

from ..errors import ShardKitError


def walk(op: ir.Operation) -> list[ir.Operation]:
    """All ops inside, outer ones first."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.append(inner)
        return ir.WalkResult.ADVANCE

    # Not by the blocks: for each op of a dialect without bindings that looks for a module of them.
    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def get_location_text(op: ir.Operation) -> str:
    """`file.py:12:3: ` of the line that an op came from; empty if it is unknown."""
    match = re.search(r'"([^"]+)":(\d+)(?::(\d+))?', str(op.location))
    return f"{match[1]}:{match[2]}:{match[3] or 1}: " if match else ""


def fail(op: ir.Operation, fact: str, expected: str) -> ShardKitError:
    return ShardKitError(f"{get_location_text(op)}error: {fact}, expected {expected}")


Attributes = Mapping[str, "str | ir.Attribute"]
"""Those that are text are parsed."""


class Builder:
    """Creates ops before another, with its location."""

    def __init__(self, op: ir.Operation):
        self.ip, self.loc = ir.InsertionPoint(op), op.location

    def at_end_of(self, block: ir.Block) -> "Builder":
        other = object.__new__(Builder)
        other.ip, other.loc = ir.InsertionPoint(block), self.loc
        return other

    def op(
        self,
        name: str,
        operands: Iterable[ir.Value] = (),
        types: Iterable[ir.Type] = (),
        attributes: Attributes = {},
        regions: int = 0,
    ) -> ir.Operation:
        parsed = {k: ir.Attribute.parse(v) if isinstance(v, str) else v for k, v in attributes.items()}
        return ir.Operation.create(
            name, results=list(types), operands=list(operands), attributes=parsed, regions=regions, loc=self.loc, ip=self.ip
        )

    def value(self, name: str, operands: Iterable[ir.Value], type: ir.Type, attributes: Attributes = {}) -> ir.Value:
        return self.op(name, operands, [type], attributes).results[0]

    # --- pieces of StableHLO ---

    def splat(self, number: str, type: ir.Type) -> ir.Value:
        return self.value("stablehlo.constant", [], type, {"value": f"dense<{number}> : {type}"})

    def broadcast(self, value: ir.Value, shape: Sequence[int], dims: Sequence[int]) -> ir.Value:
        type = ir.RankedTensorType.get(shape, element(value))
        return self.value("stablehlo.broadcast_in_dim", [value], type, {"broadcast_dimensions": i64s(dims)})

    def iota(self, shape: Sequence[int], dim: int, element_type: ir.Type) -> ir.Value:
        type = ir.RankedTensorType.get(shape, element_type)
        return self.value("stablehlo.iota", [], type, {"iota_dimension": f"{dim} : i64"})

    def compare(self, direction: str, kind: str, a: ir.Value, b: ir.Value) -> ir.Value:
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

    def select(self, mask: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return self.value("stablehlo.select", [mask, a, b], a.type)

    def sum(self, value: ir.Value, dim: int) -> ir.Value:
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

    # --- complex numbers ---

    def complex(self, real: ir.Value, imaginary: ir.Value) -> ir.Value:
        type = ir.RankedTensorType.get(shape_of(real), ir.ComplexType.get(element(real)))
        return self.value("stablehlo.complex", [real, imaginary], type)

    def components(self, value: ir.Value) -> list[ir.Value]:
        """The real and the imaginary components; of anything but complex numbers the value itself."""
        if not is_complex(element(value)):
            return [value]
        type = ir.RankedTensorType.get(shape_of(value), ir.ComplexType(element(value)).element_type)
        return [self.value("stablehlo.real", [value], type), self.value("stablehlo.imag", [value], type)]

    def join(self, components: Sequence[ir.Value], like: Sequence[ir.Value]) -> list[ir.Value]:
        """Values with the element types of `like`, from all their components in order."""
        rest = iter(components)
        return [self.complex(next(rest), next(rest)) if is_complex(element(v)) else next(rest) for v in like]

    def bitcast(self, value: ir.Value, type: ir.Type) -> ir.Value:
        return value if value.type == type else self.value("stablehlo.bitcast_convert", [value], type)

    def slice(self, value: ir.Value, low: Sequence[int], high: Sequence[int], strides: Sequence[int] | None = None) -> ir.Value:
        strides = strides or [1] * len(low)
        shape = [-(-(h - l) // s) for l, h, s in zip(low, high, strides)]
        type = ir.RankedTensorType.get(shape, element(value))
        bounds = {"start_indices": i64s(low), "limit_indices": i64s(high), "strides": i64s(strides)}
        return self.value("stablehlo.slice", [value], type, bounds)

    def take(self, value: ir.Value, low: Sequence[int], counts: Sequence[int], strides: Sequence[int]) -> ir.Value:
        """So many elements of each dim, all of one whose size only the run knows."""
        if ir.RankedTensorType(value.type).has_static_shape:
            return self.slice(value, low, [l + (n - 1) * s + 1 for l, n, s in zip(low, counts, strides)], strides)
        sizes = [self.dim(value, d) for d, n in enumerate(counts) if n == ir.ShapedType.get_dynamic_size()]
        attributes = {
            "static_offsets": i64s(low),
            "static_sizes": i64s(counts),
            "static_strides": i64s(strides),
            "operandSegmentSizes": f"array<i32: 1, 0, {len(sizes)}, 0>",
        }
        return self.value("tensor.extract_slice", [value, *sizes], ir.RankedTensorType.get(counts, element(value)), attributes)

    def spread(self, scalar: ir.Value, like: ir.Value) -> ir.Value:
        """A scalar as a tensor of the shape of another."""
        shape = shape_of(like)
        if ir.RankedTensorType(like.type).has_static_shape:
            return self.broadcast(scalar, shape, [])
        sizes = [self.dim(like, d) for d, n in enumerate(shape) if n == ir.ShapedType.get_dynamic_size()]
        number = self.value("tensor.extract", [scalar], element(scalar))
        return self.value("tensor.splat", [number, *sizes], ir.RankedTensorType.get(shape, element(scalar)))

    def fill(self, number: str, like: ir.Value, kind: ir.Type | None = None) -> ir.Value:
        """A number as a tensor of the shape of another, and of its element type, or of `kind`."""
        kind = kind or element(like)
        if ir.RankedTensorType(like.type).has_static_shape:
            return self.splat(number, ir.RankedTensorType.get(shape_of(like), kind))
        return self.spread(self.splat(number, ir.RankedTensorType.get([], kind)), like)

    def pad(self, value: ir.Value, fill: ir.Value, low: Sequence[int], high: Sequence[int], between: Sequence[int]) -> ir.Value:
        """`low` and `high` may be negative: then they crop."""
        dynamic = ir.ShapedType.get_dynamic_size()
        sizes = [n if n == dynamic else n + max(0, n - 1) * b + l + h for n, l, h, b in zip(shape_of(value), low, high, between)]
        type = ir.RankedTensorType.get(sizes, element(value))
        padding = {"edge_padding_low": i64s(low), "edge_padding_high": i64s(high), "interior_padding": i64s(between)}
        return self.value("stablehlo.pad", [value, fill], type, padding)

    def drop_dims(self, value: ir.Value, at: Mapping[int, int]) -> ir.Value:
        """The elements at these positions of some dims, without these dims."""
        shape = shape_of(value)
        kept = [n for d, n in enumerate(shape) if d not in at]
        if ir.RankedTensorType(value.type).has_static_shape:
            low = [at.get(d, 0) for d in range(len(shape))]
            return self.reshape(self.slice(value, low, [low[d] + 1 if d in at else n for d, n in enumerate(shape)]), kept)
        dynamic = ir.ShapedType.get_dynamic_size()
        sizes = [self.dim(value, d) for d, n in enumerate(shape) if d not in at and n == dynamic]
        attributes = {
            "static_offsets": i64s([at.get(d, 0) for d in range(len(shape))]),
            "static_sizes": i64s([1 if d in at else n for d, n in enumerate(shape)]),
            "static_strides": i64s([1] * len(shape)),
            "operandSegmentSizes": f"array<i32: 1, 0, {len(sizes)}, 0>",
        }
        return self.value("tensor.extract_slice", [value, *sizes], ir.RankedTensorType.get(kept, element(value)), attributes)

    def dim(self, value: ir.Value, d: int) -> ir.Value:
        """The size of a dim that only the run knows."""
        return self.value("tensor.dim", [value, self.index(d)], ir.IndexType.get())

    def index(self, number: int) -> ir.Value:
        """A number as an index."""
        return self.value("arith.constant", [], ir.IndexType.get(), {"value": f"{number} : index"})

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """Dims whose size only the run knows stay where they are, before all that change."""
        before, dynamic = shape_of(value), ir.ShapedType.get_dynamic_size()
        type = ir.RankedTensorType.get(shape, element(value))
        if dynamic not in before:
            return self.value("stablehlo.reshape", [value], type)
        kept = max(d for d, n in enumerate(before) if n == dynamic) + 1
        assert list(shape[:kept]) == before[:kept] and dynamic not in shape[kept:]
        joined = [*before[:kept], math.prod(before[kept:])]

        def group(dims: Sequence[int]) -> str:
            groups = [[d] for d in range(kept)] + [list(range(kept, len(dims)))]
            return "[" + ", ".join("[" + ", ".join(f"{d} : i64" for d in g) + "]" for g in groups) + "]"

        if len(before) > kept + 1:
            value = self.value("tensor.collapse_shape", [value], ir.RankedTensorType.get(joined, element(value)), {"reassociation": group(before)})
        if len(shape) > kept + 1:
            sizes = [self.dim(value, d) for d, n in enumerate(shape) if n == dynamic]
            value = self.value("tensor.expand_shape", [value, *sizes], type, {"reassociation": group(shape), "static_output_shape": i64s(shape)})
        return value

    def broadcast_like(self, value: ir.Value, like: ir.Value, dims: Sequence[int]) -> ir.Value:
        """A value of known size as a tensor of the shape of another, whose dims `dims` are its own."""
        shape = shape_of(like)
        if ir.RankedTensorType(like.type).has_static_shape:
            return self.broadcast(value, shape, dims)
        kind, index = ir.IntegerType.get_signless(32), range(len(shape))
        sizes = [self.value("arith.index_cast", [self.dim(like, d)], kind) for d in index]
        counts = self.value("tensor.from_elements", sizes, ir.RankedTensorType.get([len(shape)], kind))
        attributes = {"broadcast_dimensions": i64s(dims), "known_nonexpanding_dimensions": i64s(range(len(dims))), "known_expanding_dimensions": "array<i64>"}
        return self.value("stablehlo.dynamic_broadcast_in_dim", [value, counts], ir.RankedTensorType.get(shape, element(value)), attributes)


def i64s(values: Sequence[int]) -> str:
    return "array<i64: " + ", ".join(map(str, values)) + ">" if values else "array<i64>"


def i1() -> ir.Type:
    return ir.IntegerType.get_signless(1)


def i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def element(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


def shape_of(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def is_float(type: ir.Type) -> bool:
    return isinstance(type, ir.FloatType)


def is_complex(type: ir.Type) -> bool:
    return isinstance(type, ir.ComplexType)


def is_unsigned(type: ir.Type) -> bool:
    return isinstance(type, ir.IntegerType) and type.is_unsigned


def signless(type: ir.Type) -> ir.RankedTensorType:
    """The type of a tensor of unsigned integers as linalg has it: of the same bits."""
    tensor = ir.RankedTensorType(type)
    kind = tensor.element_type
    if is_unsigned(kind):
        return ir.RankedTensorType.get(tensor.shape, ir.IntegerType.get_signless(kind.width))
    return tensor


def stored(type: ir.Type) -> ir.RankedTensorType:
    """The type of a tensor as functions take it: 8-bit floats are bytes too, which nothing computes with."""
    tensor = ir.RankedTensorType(type)
    if is_float(tensor.element_type) and tensor.element_type.width == 8:
        return ir.RankedTensorType.get(tensor.shape, ir.IntegerType.get_signless(8))
    return signless(tensor)


def owner(value: ir.Value) -> ir.Operation | None:
    """The op that makes a value; nothing for a block argument."""
    return value.owner.operation if isinstance(value.owner, (ir.Operation, ir.OpView)) else None


def replace(op: ir.Operation, values: Iterable[ir.Value]) -> None:
    for old, new in zip(op.results, values):
        old.replace_all_uses_with(new)
    op.erase()


def inline_call(call: ir.Operation, functions: Mapping[str, ir.Operation]) -> None:
    """Puts the body of a function, which has one block, in place of a call."""
    block = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value].regions[0].blocks[0]
    known = dict(zip(block.arguments, call.operands))
    *ops, terminator = list(block.operations)
    for op in ops:
        made = op.operation.clone(ip=ir.InsertionPoint(call))
        for inner in [made, *walk(made)]:
            for i, operand in enumerate(inner.operands):
                if operand in known:
                    inner.operands[i] = known[operand]
        known.update(zip(op.results, made.results))
    replace(call, [known[v] for v in terminator.operands])


def attribute_names(op: ir.Operation) -> list[str]:
    return [a if isinstance(a, str) else a.name for a in op.attributes]


def apply_body(b: Builder, op: ir.Operation, values: Sequence[ir.Value]) -> list[ir.Value]:
    """The first region of `op`, over scalars, applied to tensors of one shape element by element."""
    shape = shape_of(values[0])
    block = op.regions[0].blocks[0]
    known = dict(zip(block.arguments, values))

    def get(value: ir.Value) -> ir.Value:
        return known[value] if value in known else b.spread(value, values[0])

    *body, terminator = list(block.operations)
    for inner in body:
        name = inner.operation.name
        if inner.operation.regions or name == "func.call":
            raise fail(op, f"the region of {op.name} holds {name}", "elementwise ops")
        if name == "stablehlo.constant":
            scalar = b.value(name, [], inner.results[0].type, {"value": inner.attributes["value"]})
            known[inner.results[0]] = b.spread(scalar, values[0])
            continue
        types = [ir.RankedTensorType.get(shape, element(r)) for r in inner.results]
        attributes = {a: inner.attributes[a] for a in attribute_names(inner.operation)}
        made = list(b.op(name, [get(v) for v in inner.operands], types, attributes).results)
        known.update(zip(inner.results, made))
    return [get(v) for v in terminator.operands]
