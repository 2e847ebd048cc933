"""Numbers that a device computes of its own: XLA looks up by partition-id in tables where a slice begins.

Each such number is evaluated for all devices, and each such tensor for all elements. Where that gives a sum over digits of the
device's number and of the index, the value becomes one of coordinates along the mesh and of indices, which is exactly equal."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
from jaxlib.mlir import ir

from ..stablehlo.builder import Builder, element, i1, i64s, owner, replace, shape_of, signless, walk
from ..stablehlo.manual import Mesh

Digit = tuple[int, int, int, int]
"""Number of the axis, and of `coordinate / low % size` the factor: (axis, low, size, factor)."""

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
}  # fmt: skip
_LARGEST = 1 << 20
"""Values of more numbers on all devices are not looked at."""
_DYNAMIC = -(1 << 63)
"""An offset that an operand gives."""


def find_digits(table: np.ndarray) -> list[Digit] | None:
    """Digits of the indices of a table, whose sum from its first number on is each of its numbers; None where there are none."""
    digits: list[Digit] = []
    for axis, size in enumerate(table.shape):
        line = np.moveaxis(table, axis, 0).reshape(size, -1)[:, 0] - table.flat[0]
        found = _split(line.tolist(), axis)
        if found is None:
            return None
        digits += found
    total = np.full(table.shape, table.flat[0])
    for axis, low, size, factor in digits:
        shape = [1] * table.ndim
        shape[axis] = table.shape[axis]
        total = total + (np.arange(table.shape[axis]) // low % size * factor).reshape(shape)
    return digits if np.array_equal(total, table) else None


def _split(line: list[int], axis: int) -> list[Digit] | None:
    """Digits of one index, where the first number is 0."""
    digits: list[Digit] = []
    low = 1
    while low < len(line):
        factor = line[low]
        size = next((n for n in range(len(line) // low, 1, -1) if len(line) % (low * n) == 0
                     and all(line[k * low] == k * factor for k in range(n))), None)  # fmt: skip
        if size is None:
            return None
        if factor:
            digits.append((axis, low, size, factor))
        low *= size
    return digits


class DeviceNumbers:
    """The integers of a function that depend on the device and on the index alone."""

    def __init__(self, root: ir.Operation, mesh: Mesh):
        self.mesh = mesh
        self.sizes = [size for _, size in mesh.axes]
        self.count = int(np.prod(self.sizes, dtype=int))
        self.known: dict[ir.Value, np.ndarray] = {}  # by device and index
        self.varying: dict[ir.Value, None] = {}  # those that depend on the device, in program order
        self.selects: list[ir.Operation] = []  # by a condition of the device
        for op in walk(root):
            made = self._evaluate(op)
            if made is None and op.name == "stablehlo.select" and op.operands[0] in self.varying:
                self.selects.append(op)
            if made is not None:
                value = op.results[0]
                self.known[value] = made
                if op.name == "stablehlo.partition_id" or any(v in self.varying for v in op.operands):
                    self.varying[value] = None

    def _evaluate(self, op: ir.Operation) -> np.ndarray | None:
        if len(op.results) != 1 or not isinstance(op.results[0].type, ir.RankedTensorType):
            return None
        kind, shape = element(op.results[0]), shape_of(op.results[0])
        if not isinstance(kind, ir.IntegerType) or (kind.is_unsigned and kind.width == 64) or self.count * np.prod(shape, dtype=int) > _LARGEST:
            return None
        name, all_shape = op.name.removeprefix("stablehlo."), (self.count, *shape)
        if name == "constant":
            value = np.array(ir.DenseElementsAttr(op.attributes["value"]))
            return np.broadcast_to(value.reshape(shape).astype(np.int64), all_shape)
        if name == "iota":
            dim = ir.IntegerAttr(op.attributes["iota_dimension"]).value
            return np.broadcast_to(np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))]), all_shape)
        if name == "partition_id":
            return np.arange(self.count, dtype=np.int64)
        values = [self.known[v] for v in op.operands if v in self.known]
        if not values or len(values) < len(op.operands):
            return None
        made = self._apply(op, name, values, all_shape)
        unsigned = kind.is_unsigned or kind.width == 1
        limit = 1 << (kind.width - (0 if unsigned else 1))
        if made is None or np.any(made >= limit) or np.any(made < (0 if unsigned else -limit)):  # wraps around
            return None
        return made

    def _apply(self, op: ir.Operation, name: str, values: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray | None:
        if name == "reshape":
            return values[0].reshape(shape)
        if name == "convert":
            return (values[0] != 0).astype(np.int64) if ir.IntegerType(element(op.results[0])).width == 1 else values[0]
        if name == "broadcast_in_dim":
            dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            sizes = [self.count, *[1] * (len(shape) - 1)]
            for dim, size in zip(dims, shape_of(op.operands[0])):
                sizes[1 + dim] = size
            order = np.argsort(dims)
            return np.broadcast_to(values[0].transpose(0, *(1 + order)).reshape(sizes), shape)
        if name == "dynamic_slice":
            sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
            starts = [np.clip(v.reshape(-1), 0, n - s) for v, n, s in zip(values[1:], values[0].shape[1:], sizes)]
            return np.stack([table[tuple(slice(b, b + s) for b, s in zip(at, sizes))] for table, *at in zip(values[0], *starts)])
        if name in _BINARY:
            return np.asarray(_BINARY[name](values[0], values[1]))
        if name == "compare":
            direction = str(op.attributes["comparison_direction"]).rstrip(">").split()[-1]
            return np.asarray(_COMPARED[direction](values[0], values[1])).astype(np.int64)
        if name == "select":
            return np.where(values[0].reshape(values[0].shape + (1,) * (len(shape) - values[0].ndim)) != 0, values[1], values[2])
        return None

    # --- as ops -------------------------------------------------------------------------------------

    def _get_index(self, b: Builder, start: int, digits: Sequence[Digit], indices: Sequence[ir.Value]) -> ir.Value:
        """A sum of digits of coordinates and of `indices`."""
        index = ir.IndexType.get()
        sizes = [*self.sizes, *[0] * len(indices)]

        def constant(number: int) -> ir.Value:
            return b.value("arith.constant", [], index, {"value": f"{number} : index"})

        total = constant(start)
        for axis, low, size, factor in digits:
            if axis < len(self.sizes):
                attributes = {"mesh": f"@{self.mesh.name}", "axis": f'"{self.mesh.axes[axis][0]}"'}
                term = b.value("shardkit.spmd.device_coordinate", [], index, attributes)
            else:
                term = indices[axis - len(self.sizes)]
            if low > 1:
                term = b.value("arith.divui", [term, constant(low)], index)
            if low * size != sizes[axis]:
                term = b.value("arith.remui", [term, constant(size)], index)
            if factor != 1:
                term = b.value("arith.muli", [term, constant(factor)], index)
            total = b.value("arith.addi", [total, term], index)
        return total

    def _find(self, value: ir.Value) -> list[Digit] | None:
        numbers = self.known[value]
        return find_digits(numbers.reshape((*self.sizes, *numbers.shape[1:])))

    def rewrite(self) -> None:
        """Slices that begin where the device has it, and all other values of the device that are digits."""
        # Those that move elements of a value that is rewritten, as in the unsharded program.
        moves = {v: v.owner.operation for v in self.varying if v.owner.operation.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim")}
        moved = {v for v, op in moves.items() if self._find(op.operands[0]) is not None}
        for op in self.selects:
            self._rewrite_select(op)
        for value in self.varying:
            if ir.IntegerType(element(value)).width == 1 or (digits := self._find(value)) is None:
                continue
            if self.known[value].size == self.count:
                for use in list(value.uses):
                    self._rewrite_slice(use.owner.operation)
            if value in moved:
                continue
            value.replace_all_uses_with(self._make(value, digits))

    def _rewrite_select(self, op: ir.Operation) -> None:
        """A selection by a condition on the device and the index, in one op that computes it."""
        shape = shape_of(op.results[0])
        if shape_of(op.operands[0]) != shape or not self._is_condition(op.operands[0]):
            return
        b = Builder(op)
        inputs = [b.bitcast(v, signless(v.type)) for v in list(op.operands)[1:]]
        type = inputs[0].type
        made = self._generic(b, inputs, type)
        inner, indices = self._enter(b, made, [element(inputs[0])] * 3, len(shape))
        block = made.regions[0].blocks[0]
        condition = self._compute(inner, op.operands[0], indices)
        inner.op("linalg.yield", [inner.value("arith.select", [condition, block.arguments[0], block.arguments[1]], element(inputs[0]))])
        replace(op, [b.bitcast(made.results[0], op.results[0].type)])

    def _is_condition(self, value: ir.Value) -> bool:
        """Whether a condition is computed of numbers that are digits, by ops of `_compute`."""
        op = owner(value)
        if op is None or value not in self.known:
            return False
        if op.name in ("stablehlo.and", "stablehlo.or"):
            return all(self._is_condition(v) for v in op.operands)
        if op.name == "stablehlo.broadcast_in_dim":
            return self._is_condition(op.operands[0])
        numbers = list(op.operands) if op.name in ("stablehlo.compare", "stablehlo.convert") else []
        return bool(numbers) and all(v in self.known and self._find(v) is not None for v in numbers)

    def _compute(self, b: Builder, value: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
        op = value.owner.operation
        if op.name == "stablehlo.broadcast_in_dim":
            dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            zero = b.value("arith.constant", [], ir.IndexType.get(), {"value": "0 : index"})
            picked = [zero if size == 1 else indices[d] for d, size in zip(dims, shape_of(op.operands[0]))]
            return self._compute(b, op.operands[0], picked)
        if op.name in ("stablehlo.and", "stablehlo.or"):
            parts = [self._compute(b, v, indices) for v in op.operands]
            return b.value("arith.andi" if op.name.endswith("and") else "arith.ori", parts, i1())
        direction = str(op.attributes["comparison_direction"]).rstrip(">").split()[-1] if op.name == "stablehlo.compare" else "NE"
        numbers = [self._get_index(b, int(self.known[v].flat[0]), self._find(v) or [], indices) for v in op.operands]
        if len(numbers) < 2:
            numbers.append(b.value("arith.constant", [], ir.IndexType.get(), {"value": "0 : index"}))
        predicate = ("EQ", "NE", "LT", "LE", "GT", "GE").index(direction)  # eq, ne, slt, sle, sgt, sge
        return b.value("arith.cmpi", numbers, i1(), {"predicate": f"{predicate} : i64"})

    def _generic(self, b: Builder, inputs: Sequence[ir.Value], type: ir.Type) -> ir.Operation:
        """An op over elements of one index, without its body."""
        rank = ir.RankedTensorType(type).rank
        dims = ", ".join(f"d{d}" for d in range(rank))
        return b.op("linalg.generic", [*inputs, b.value("tensor.empty", [], type)], [type], {
            "indexing_maps": "[" + ", ".join([f"affine_map<({dims}) -> ({dims})>"] * (len(inputs) + 1)) + "]",
            "iterator_types": "[" + ", ".join(["#linalg.iterator_type<parallel>"] * rank) + "]",
            "operandSegmentSizes": f"array<i32: {len(inputs)}, 1>",
        }, 1)  # fmt: skip

    @staticmethod
    def _enter(b: Builder, op: ir.Operation, types: Sequence[ir.Type], rank: int) -> tuple[Builder, list[ir.Value]]:
        """The body of a generic op, and its indices."""
        inner = b.at_end_of(op.regions[0].blocks.append(*types, arg_locs=[b.loc] * len(types)))
        return inner, [inner.value("linalg.index", [], ir.IndexType.get(), {"dim": f"{d} : i64"}) for d in range(rank)]

    def _make(self, value: ir.Value, digits: Sequence[Digit]) -> ir.Value:
        """A value as one op that computes each element of its index."""
        b, shape = Builder(value.owner.operation), shape_of(value)
        plain = ir.IntegerType.get_signless(ir.IntegerType(element(value)).width)
        made = self._generic(b, [], ir.RankedTensorType.get(shape, plain))
        inner, indices = self._enter(b, made, [plain], len(shape))
        number = self._get_index(inner, int(self.known[value].flat[0]), digits, indices)
        inner.op("linalg.yield", [inner.value("arith.index_cast", [number], plain)])
        return b.bitcast(made.results[0], value.type)

    def _rewrite_slice(self, op: ir.Operation) -> None:
        """Where all devices begin inside, nothing is clamped."""
        if op.name == "stablehlo.dynamic_slice":
            skip, sliced = 1, shape_of(op.results[0])
        elif op.name == "stablehlo.dynamic_update_slice":
            skip, sliced = 2, shape_of(op.operands[1])
        else:
            return
        if op.results[0] in self.known:
            return
        sizes = shape_of(op.operands[0])
        offsets: list[int] = []
        given: list[ir.Value] = []
        b = Builder(op)
        for start, size, part in zip(list(op.operands)[skip:], sizes, sliced):
            numbers = self.known.get(start)
            digits = self._find(start) if start in self.known else None
            if numbers is None or digits is None or np.any(numbers < 0) or np.any(numbers + part > size):
                return
            offsets.append(_DYNAMIC if digits else int(numbers.flat[0]))
            if digits:
                given.append(self._get_index(b, int(numbers.flat[0]), digits, []))
        attributes = {
            "static_offsets": i64s(offsets), "static_sizes": i64s(sliced), "static_strides": i64s([1] * len(sizes)),
            "operandSegmentSizes": f"array<i32: {', '.join(map(str, [*[1] * skip, len(given), 0, 0]))}>",
        }  # fmt: skip
        plain = [b.bitcast(v, signless(v.type)) for v in list(op.operands)[:skip]]
        name = "tensor.extract_slice" if skip == 1 else "tensor.insert_slice"
        made = b.value(name, [*reversed(plain), *given], signless(op.results[0].type), attributes)
        replace(op, [b.bitcast(made, op.results[0].type)])
