"""Sizes that only the run knows, as JAX has them: the arguments of a function begin with one scalar for each, and ops take shapes that
are concatenated of them. The sizes become those of dims of other arguments, and shapes what linalg reads."""

from __future__ import annotations

import re
from typing import Callable, Mapping, Sequence

import numpy as np
from jaxlib.mlir import ir

from ..size_exprs import ONE, SizeExpr, group_dims, multiply
from .builder import Builder, element, fail, get_location_text, inline_call, is_float, owner, replace, shape_of, walk
from .lookups import accumulate, gather, reverse
from .sorting import sort_descending
from .windows import find_length, find_pooled, has_form, rewrite_convolution, rewrite_pooling

_DYNAMIC = -(2**63)
_MARK = "jax.global_constant"
_LARGEST = 2**62
_DATA = "data."
"""What names of sizes begin with that data decide."""
_ARITHMETIC = {"stablehlo.add": "arith.addi", "stablehlo.subtract": "arith.subi", "stablehlo.multiply": "arith.muli"}
_SAME = ("stablehlo.convert", "stablehlo.reshape", "stablehlo.broadcast_in_dim")
_UNSIZED = (
    "stablehlo.reduce_window", "stablehlo.dynamic_reduce_window", "stablehlo.fft",
    "stablehlo.select_and_scatter", "stablehlo.dynamic_pad", "stablehlo.custom_call", "stablehlo.convolution",
)  # fmt: skip
"""Ops without a form for sizes that are not known yet."""

_CUMULATIVE = ("stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum")
_LOG_ADD_EXP = [f"stablehlo.{name}" for name in ("maximum", "subtract", "compare", "add", "abs", "negate", "exponential", "log_plus_one", "add", "select")]
"""How JAX adds logarithms, for which minus infinity is neutral as for a maximum."""
_SLICES = ("stablehlo.dynamic_slice", "stablehlo.real_dynamic_slice", "stablehlo.dynamic_gather", "stablehlo.dynamic_update_slice")


def takes_sizes(func: ir.Operation) -> int:
    """How many of the arguments of a function are sizes; they come first."""
    given = func.attributes["arg_attrs"] if "arg_attrs" in func.attributes else []
    return sum(_MARK in {a.name for a in ir.DictAttr(attributes)} for attributes in given)


class Sizes:
    """The sizes of all values of a module. `shapes`: of the arguments of `func` past those that are sizes;
    `bounds`: the least and the largest of these."""

    def __init__(self, module: ir.Module, func: ir.Operation, shapes: Sequence[Sequence[SizeExpr]], bounds: Mapping[str, tuple[int, int]] = {}):
        self.module, self.func, self.bounds = module, func, dict(bounds)
        self.quotients: dict[str, tuple[SizeExpr, int]] = {}  # Those that are rounded down, by name.
        self.functions = {op.attributes["sym_name"].value: op for op in module.body.operations if op.operation.name == "func.func"}
        self._inline_scalar_calls()
        self.calls: dict[str, list[ir.Operation]] = {}
        for op in walk(module.operation):
            if op.name == "func.call":
                self.calls.setdefault(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, []).append(op)
        self.names: dict[ir.Value, str] = {}
        for function in self.functions.values():
            for argument, attributes in zip(function.regions[0].blocks[0].arguments, function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else []):
                entries = {a.name: a.attr for a in ir.DictAttr(attributes)}
                if _MARK in entries:
                    self.names[argument] = ir.StringAttr(entries[_MARK]).value
        self.known: dict[ir.Value, list[SizeExpr]] = {}
        arguments = list(func.regions[0].blocks[0].arguments)[takes_sizes(func) :]
        for argument, shape in zip(arguments, shapes, strict=True):
            self.known[argument] = list(shape)

    def _inline_scalar_calls(self) -> None:
        """Quotients and remainders of sizes, which are functions."""

        def is_scalar(value: ir.Value) -> bool:
            type = value.type
            return isinstance(type, ir.RankedTensorType) and not ir.RankedTensorType(type).shape and isinstance(ir.RankedTensorType(type).element_type, ir.IntegerType)

        with self.module.context, ir.Location.unknown():
            while calls := [op for op in walk(self.module.operation) if op.name == "func.call" and all(map(is_scalar, [*op.operands, *op.results]))]:
                for call in calls:
                    inline_call(call, self.functions)

    # --- what sizes are ---

    def scalar(self, value: ir.Value) -> SizeExpr:
        """What a scalar that is a size is."""
        op = owner(value)
        if op is None:
            return SizeExpr.name(self.names.get(value, f"{hash(value)}"))
        if op.name == "stablehlo.constant":
            return SizeExpr.number(ir.IntegerAttr(ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()).value)
        if op.name in _SAME:
            return self.scalar(op.operands[0])
        if op.name == "stablehlo.get_dimension_size":
            dim: int = ir.IntegerAttr(op.attributes["dimension"]).value
            return self.shape(op.operands[0])[dim]
        if op.name in _ARITHMETIC:
            a, b = (self.scalar(v) for v in op.operands)
            return a * b if op.name == "stablehlo.multiply" else a + b if op.name == "stablehlo.add" else a - b
        return SizeExpr.name(f"{op.name}({', '.join(str(self.scalar(v)) for v in op.operands)})")

    def evaluate(self, value: ir.Value) -> list[SizeExpr]:
        """The elements of a scalar or a vector as sizes; those that depend on data, or that bounds do not decide, are names of their own."""
        op, count = owner(value), (shape_of(value) or [1])[0]
        own = [SizeExpr.name(f"{_DATA}{hash(value)}.{k}") for k in range(count)]
        if op is None:
            if value in self.names:
                return [SizeExpr.name(self.names[value])] * count
            given = [self.evaluate(v) for v in self._find_passed(value)]
            return given[0] if given and all(other == given[0] for other in given) else own
        if op.name == "stablehlo.constant":
            dense = ir.DenseElementsAttr(op.attributes["value"])
            return [SizeExpr.number(ir.IntegerAttr(dense.get_splat_value()).value)] * count if dense.is_splat else [SizeExpr.number(n) for n in dense]
        if op.name == "stablehlo.concatenate":
            return [e for v in op.operands for e in self.evaluate(v)]
        if op.name in _SAME:
            found = self.evaluate(op.operands[0])
            return found if len(found) == count else found * count
        if op.name == "stablehlo.get_dimension_size":
            return [self.shape(op.operands[0])[ir.IntegerAttr(op.attributes["dimension"]).value]]
        if op.name == "stablehlo.select":
            flags = self._compare(op.operands[0])
            choices = zip(flags, self.evaluate(op.operands[1]), self.evaluate(op.operands[2]), own, strict=True)
            return [other if flag is None else a if flag else b for flag, a, b, other in choices]
        if op.name not in (*_ARITHMETIC, *_LIMITS, *_QUOTIENTS):
            return own
        columns = zip(*(self.evaluate(v) for v in op.operands), strict=True)
        return [self._compute(op.name, column) or other for column, other in zip(columns, own)]

    def _compute(self, name: str, operands: Sequence[SizeExpr]) -> SizeExpr | None:
        for computed in (_LIMITS, _QUOTIENTS):
            if name in computed:
                return computed[name](self, *operands)
        a, b = operands
        return a * b if name == "stablehlo.multiply" else a + b if name == "stablehlo.add" else a - b

    def _compare(self, flag: ir.Value) -> list[bool | None]:
        """Whether conditions hold; None where that depends on data, or bounds do not decide."""
        op, count = owner(flag), (shape_of(flag) or [1])[0]
        if op is not None and op.name == "stablehlo.broadcast_in_dim":
            return self._compare(op.operands[0]) * count
        if op is not None and op.name in ("stablehlo.and", "stablehlo.or", "stablehlo.compare") and str(element(op.operands[0])) == "i1":
            pairs = zip(*(self._compare(v) for v in op.operands), strict=True)
            return [_join(op, x, y) for x, y in pairs]
        found = re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", str(op.attributes["comparison_direction"])) if op is not None and op.name == "stablehlo.compare" else None
        if op is None or not found:
            return [None] * count
        return [self._decide(found[1], a, b) for a, b in zip(*(self.evaluate(v) for v in op.operands), strict=True)]

    def _decide(self, direction: str, a: SizeExpr, b: SizeExpr) -> bool | None:
        if direction in ("EQ", "NE"):
            low, high = self._find_range(a - b)
            equal = True if a == b else False if low > 0 or high < 0 else None
            return equal if equal is None or direction == "EQ" else not equal
        a, b = (b, a) if direction in ("LE", "GT") else (a, b)
        holds = self._is_at_least(a, b)
        return holds if holds is None or direction in ("GE", "LE") else not holds

    def _find_range(self, size: SizeExpr) -> tuple[int, int]:
        if any(name not in self.bounds for name in size.names):
            return -_LARGEST, _LARGEST
        low, high = size.range(self.bounds)
        for name in self.quotients.keys() & set(size.names):
            # n / k - 1 < floor(n / k) <= n / k, so that b - floor(b / 2) is at least b / 2.
            dividend, divisor = self.quotients[name]
            found = size.solve(name)
            if found is None:
                continue
            factor, rest = found
            ends = [rest * SizeExpr.number(divisor) + n * SizeExpr.number(factor) for n in (dividend - SizeExpr.number(divisor - 1), dividend)]
            below, above = ends if factor > 0 else ends[::-1]
            low, high = max(low, -(-self._find_range(below)[0] // divisor)), min(high, self._find_range(above)[1] // divisor)
        return low, high

    def _is_at_least(self, a: SizeExpr, b: SizeExpr) -> bool | None:
        low, high = self._find_range(a - b)
        return True if low >= 0 else False if high < 0 else None

    def larger(self, a: SizeExpr, b: SizeExpr) -> SizeExpr | None:
        return a if self._is_at_least(a, b) else b if self._is_at_least(b, a) else None

    def smaller(self, a: SizeExpr, b: SizeExpr) -> SizeExpr | None:
        return b if self._is_at_least(a, b) else a if self._is_at_least(b, a) else None

    def quotient(self, a: SizeExpr, b: SizeExpr) -> SizeExpr | None:
        """Rounded to zero."""
        if a.known is not None and b.known:
            size = abs(a.known) // abs(b.known)
            return SizeExpr.number(size if (a.known < 0) == (b.known < 0) else -size)
        if self._is_within(a, b):
            return SizeExpr.number(0)
        exact = a.divide(b)
        return self._floor(a, b.known) if exact is None and b.known and b.known > 0 and self._is_at_least(a, SizeExpr.number(0)) else exact

    def _floor(self, a: SizeExpr, divisor: int) -> SizeExpr:
        """A quotient that is rounded down: a size with a name of its own."""
        if divisor == 1:
            return a
        name = f"floor(({a}) / {divisor})"
        low, high = self._find_range(a)
        self.quotients[name] = (a, divisor)
        self.bounds[name] = (low // divisor, high // divisor)
        return SizeExpr.name(name)

    def _count(self, places: SizeExpr, step: int) -> SizeExpr:
        """Of so many places each `step`-th one."""
        return self._floor(places - ONE, step) + ONE if step != 1 else places

    def remainder(self, a: SizeExpr, b: SizeExpr) -> SizeExpr | None:
        """With the sign of `a`."""
        found = self.quotient(a, b)
        return None if found is None else a - found * b

    def _is_within(self, a: SizeExpr, b: SizeExpr) -> bool:
        """-b < a < b"""
        return bool(self._is_at_least(b, a + ONE) and self._is_at_least(a + b, ONE))

    def sign(self, a: SizeExpr) -> SizeExpr | None:
        low, high = self._find_range(a)
        return SizeExpr.number(1) if low > 0 else SizeExpr.number(-1) if high < 0 else SizeExpr.number(0) if low == high == 0 else None

    def clamp(self, low: SizeExpr, x: SizeExpr, high: SizeExpr) -> SizeExpr | None:
        below = self.smaller(x, high)
        return None if below is None else self.larger(low, below)

    def elements(self, shape: ir.Value) -> list[ir.Value | int]:
        """The scalars that a shape is concatenated of."""
        op = owner(shape)
        if op is not None and op.name == "stablehlo.concatenate":
            return [e for v in op.operands for e in self.elements(v)]
        if op is not None and op.name == "stablehlo.constant":
            dense = ir.DenseElementsAttr(op.attributes["value"])
            count = shape_of(shape)[0]
            splat = [ir.IntegerAttr(dense.get_splat_value()).value] * count if dense.is_splat else None
            return list(splat) if splat is not None else [int(n) for n in re.findall(r"-?\d+", str(op.attributes["value"]).split(":")[0])]
        if op is not None and op.name in _SAME and shape_of(shape) == [1]:
            return [op.operands[0]] if not shape_of(op.operands[0]) else self.elements(op.operands[0])
        raise fail(owner(shape) or self.func, "a shape depends on data", "sizes of arguments, and what is computed of these")

    def shape(self, value: ir.Value) -> list[SizeExpr]:
        if value not in self.known:
            tensor = ir.RankedTensorType(value.type)
            found = self._find(value) if not tensor.has_static_shape else [SizeExpr.number(n) for n in tensor.shape]
            # What the type states, it states.
            self.known[value] = [f if tensor.is_dynamic_dim(d) else SizeExpr.number(tensor.shape[d]) for d, f in enumerate(found)]
        return self.known[value]

    def _find(self, value: ir.Value) -> list[SizeExpr]:
        op = owner(value)
        if op is None:
            return self._of_argument(value)
        rank = len(shape_of(value))
        if op.name in ("stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_iota", "stablehlo.dynamic_reshape"):
            return [SizeExpr.number(e) if isinstance(e, int) else self.scalar(e) for e in self.elements(op.operands[-1])]
        if op.name == "stablehlo.transpose":
            return [self.shape(op.operands[0])[d] for d in ir.DenseI64ArrayAttr(op.attributes["permutation"])]
        if op.name == "stablehlo.reduce":
            dropped = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
            return [s for d, s in enumerate(self.shape(op.operands[0])) if d not in dropped]
        if op.name == "stablehlo.dot_general":
            numbers = str(op.attributes["dot_dimension_numbers"])
            a, b = (self.shape(v) for v in op.operands)
            dims = {n: [int(k) for k in re.findall(r"\d+", m)] for n, m in re.findall(r"(\w+) = \[([\d, ]*)\]", numbers)}
            batch = dims.get("lhs_batching_dimensions", [])
            gone = {s: dims.get(f"{s}_batching_dimensions", []) + dims.get(f"{s}_contracting_dimensions", []) for s in ("lhs", "rhs")}
            return [a[d] for d in batch] + [s for d, s in enumerate(a) if d not in gone["lhs"]] + [s for d, s in enumerate(b) if d not in gone["rhs"]]
        if op.name == "stablehlo.concatenate":
            shapes = [self.shape(v) for v in op.operands]
            at = ir.IntegerAttr(op.attributes["dimension"]).value
            total = shapes[0][at]
            for other in shapes[1:]:
                total = total + other[at]
            return [total if d == at else s for d, s in enumerate(shapes[0])]
        if op.name == "stablehlo.dynamic_gather" and _looks_up(op):
            numbers, taken = str(op.attributes["dimension_numbers"]), self.evaluate(op.operands[2])
            collapsed = _find_collapsed(op) + _read_list(numbers, "operand_batching_dims")
            slices = iter(s for d, s in enumerate(taken) if d not in collapsed)
            rows = iter(s for d, s in enumerate(self.shape(op.operands[1])) if d != _find_vector(numbers))
            return [next(slices) if d in _read_list(numbers, "offset_dims") else next(rows) for d in range(rank)]
        if op.name in ("stablehlo.real_dynamic_slice", "stablehlo.dynamic_gather"):
            found = self._find_slice(op)[1]
            dropped = _find_collapsed(op) if op.name == "stablehlo.dynamic_gather" else []
            return [s for d, s in enumerate(found) if d not in dropped]
        if op.name == "stablehlo.gather":
            numbers = str(op.attributes["dimension_numbers"])
            offsets = re.search(r"offset_dims = \[([\d, ]*)\]", numbers)
            vector = re.search(r"index_vector_dim = (\d+)", numbers)
            windows = [int(k) for k in re.findall(r"\d+", offsets[1])] if offsets else []
            rest = iter(s for d, s in enumerate(self.shape(op.operands[1])) if not vector or d != int(vector[1]))
            return [SizeExpr.name(f"{hash(value)}.{d}") if d in windows else next(rest) for d in range(rank)]
        if op.name == "func.call":
            callee = self.functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value]
            position = list(op.results).index(value)
            return self.shape(list(callee.regions[0].blocks[0].operations)[-1].operands[position])
        if op.name == "stablehlo.convolution":
            parts = [re.split(r",\s*", text) for text in re.findall(r"\[([^\]]*)\]", str(op.attributes["dimension_numbers"]))]
            image, kernel = ({name: s for name, s in zip(part, self.shape(v))} for part, v in zip(parts, op.operands))
            others = {"b": image["b"], "f": kernel["o"]}
            return [
                others[name] if name in others else self._count(*find_length(op, int(name), image[name])) if shape_of(value)[d] == _DYNAMIC else SizeExpr.number(shape_of(value)[d])
                for d, name in enumerate(parts[2])
            ]
        if op.name == "stablehlo.reduce_window" and len(op.operands) == 2 and self._find_cumulative(op) is None:
            return [self._count(*find_pooled(op, d, s)) for d, s in enumerate(self.shape(op.operands[0]))]
        if op.name == "stablehlo.pad":
            low, high, between = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
            return [s + (s - ONE) * SizeExpr.number(n) + SizeExpr.number(l + h) for s, l, h, n in zip(self.shape(op.operands[0]), low, high, between)]
        if op.name in ("stablehlo.while", "stablehlo.sort"):
            return self.shape(op.operands[list(op.results).index(value)])
        if op.name == "stablehlo.slice":
            whole = self.shape(op.operands[0])
            return [s if ir.RankedTensorType(value.type).is_dynamic_dim(d) else SizeExpr.number(shape_of(value)[d]) for d, s in enumerate(whole)]
        for operand in op.operands[1:] if op.name == "stablehlo.select" else op.operands:
            if isinstance(operand.type, ir.RankedTensorType) and len(shape_of(operand)) == rank:
                return self.shape(operand)
        return [SizeExpr.name(f"{hash(value)}.{d}") for d in range(rank)]

    def _of_argument(self, value: ir.Value) -> list[SizeExpr]:
        parent = value.owner.owner
        number = ir.BlockArgument(value).arg_number
        if parent.operation.name == "stablehlo.while":
            return self.shape(parent.operands[number])
        if passed := self._find_passed(value):
            return self.shape(passed[0])
        return [SizeExpr.name(f"{hash(value)}.{d}") for d in range(len(shape_of(value)))]

    def _find_passed(self, argument: ir.Value) -> list[ir.Value]:
        """What calls pass as the argument of a function."""
        parent = argument.owner.owner.operation
        calls = self.calls.get(parent.attributes["sym_name"].value, []) if parent.name == "func.func" else []
        return [call.operands[ir.BlockArgument(argument).arg_number] for call in calls]

    def _find_slice(self, op: ir.Operation) -> tuple[list[SizeExpr | tuple[ir.Value, int]], list[SizeExpr]]:
        """The first element of each dim, in place of a size perhaps an element of a tensor, and how many."""
        whole = self.shape(op.operands[0])
        if op.name in ("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"):
            is_update = op.name == "stablehlo.dynamic_update_slice"
            sizes = self.shape(op.operands[1]) if is_update else [SizeExpr.number(n) for n in ir.DenseI64ArrayAttr(op.attributes["slice_sizes"])]
            starts = [(self.evaluate(v)[0], (v, 0)) for v in op.operands[2 if is_update else 1 :]]
        elif op.name == "stablehlo.real_dynamic_slice":
            start, limit, steps = (self.evaluate(v) for v in op.operands[1:])
            if any(step != ONE for step in steps):
                raise fail(self._find_line(op), "a slice of unknown size has steps", "step 1")
            sizes, starts = [b - a for a, b in zip(start, limit)], [(s, (op.operands[1], k)) for k, s in enumerate(start)]
        else:
            numbers = str(op.attributes["dimension_numbers"])
            mapped, sizes = _read_list(numbers, "start_index_map"), self.evaluate(op.operands[2])
            at, zero = self.evaluate(op.operands[1]), SizeExpr.number(0)
            starts = [(at[k], (op.operands[1], k)) if (k := mapped.index(d) if d in mapped else -1) >= 0 else (zero, (op.operands[1], 0)) for d in range(len(whole))]
        if any(name.startswith(_DATA) for size in sizes for name in size.names):
            raise fail(self._find_line(op), "a slice has a size that depends on data, or that bounds do not decide", "sums, differences and products of sizes")
        offsets: list[SizeExpr | tuple[ir.Value, int]] = []
        for (position, data), full, size in zip(starts, whole, sizes, strict=True):
            limited = self.clamp(SizeExpr.number(0), position, full - size)
            offsets.append(data if limited is None else limited)
        return offsets, sizes

    # --- what reads them ---

    def write(self, b: Builder, size: SizeExpr, op: ir.Operation) -> ir.Value:
        """A size as an index, where an op is."""
        index, i32 = ir.IndexType.get(), ir.IntegerType.get_signless(32)
        function = op
        while function.name != "func.func":
            function = function.parent.operation
        known = {self.names[a]: a for a in function.regions[0].blocks[0].arguments if a in self.names}
        total = None
        for term, n in size.terms.items():
            product = b.index(n)
            for name in term:
                if name in self.quotients:
                    dividend, divisor = self.quotients[name]
                    count = b.index(divisor)
                    quotient = b.value("arith.floordivsi", [self.write(b, dividend, op), count], index)
                    product = b.value("arith.muli", [product, quotient], index)
                    continue
                if name not in known:
                    raise fail(self._find_line(op), f"size {name} is not known there", "sizes that are dims of arguments")
                factor = b.value("arith.index_cast", [b.value("tensor.extract", [known[name]], i32)], index)
                product = b.value("arith.muli", [product, factor], index)
            total = product if total is None else b.value("arith.addi", [total, product], index)
        return b.index(0) if total is None else total

    def emit(self, b: Builder, value: ir.Value | int) -> ir.Value:
        """A size as an i32."""
        i32 = ir.IntegerType.get_signless(32)
        if isinstance(value, int):
            return b.value("arith.constant", [], i32, {"value": f"{value} : i32"})
        op = owner(value)
        if op is not None and op.name in _SAME:
            return self.emit(b, op.operands[0])
        if op is not None and op.name == "stablehlo.constant":
            return self.emit(b, self.scalar(value).known)
        if op is not None and op.name in _ARITHMETIC:
            return b.value(_ARITHMETIC[op.name], [self.emit(b, v) for v in op.operands], i32)
        if op is None or op.name == "stablehlo.get_dimension_size":
            return b.value("tensor.extract", [value], i32)
        found = self.evaluate(value)[0]
        if any(name.startswith(_DATA) for name in found.names):
            raise fail(self._find_line(b.ip.ref_operation), "a size is a quotient, or another one that bounds do not decide", "sums, differences and products of sizes")
        return b.value("arith.index_cast", [self.write(b, found, op)], i32)

    def rewrite(self) -> None:
        """Shapes become `tensor.from_elements`, and reshapes those of tensor."""
        with self.module.context, ir.Location.unknown():
            self._rewrite()

    def _rewrite(self) -> None:
        for op in walk(self.module.operation):
            dynamic = [r for r in op.results if isinstance(r.type, ir.RankedTensorType) and not ir.RankedTensorType(r.type).has_static_shape]
            reads = any(isinstance(v.type, ir.RankedTensorType) and not ir.RankedTensorType(v.type).has_static_shape for v in op.operands)
            if (dynamic or reads) and op.name in _UNSIZED and self._find_cumulative(op) is None and not has_form(op):
                raise fail(self._find_line(op), f"{op.name} of sizes that only the run knows has no lowering", "numbers in place of these sizes")
            for r in dynamic:
                self.shape(r)
        for op in walk(self.module.operation):
            if op.name == "stablehlo.dynamic_reshape":
                self._reshape(op)
            elif op.name in ("stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_iota"):
                self._read_shape(op)
            elif op.name == "chlo.top_k" and not ir.RankedTensorType(op.operands[0].type).has_static_shape:
                self._top_k(op)
            elif op.name == "stablehlo.reverse" and not ir.RankedTensorType(op.operands[0].type).has_static_shape:
                self._replace(op, reverse(op))
            elif (found := self._find_cumulative(op)) is not None:
                self._replace(op, accumulate(op, *found))
            elif op.name in _WINDOWS and any(not ir.RankedTensorType(v.type).has_static_shape for v in op.operands):
                _WINDOWS[op.name](op, [self.write(Builder(op), s, op) for s in self.shape(op.results[0]) if s.known is None])
            elif op.name == "stablehlo.dynamic_gather" and _looks_up(op):
                b = Builder(op)
                self._replace(op, gather(op, [self.write(b, size, op) for size in self.evaluate(op.operands[2])]))
            elif op.name in _SLICES and not ir.RankedTensorType(op.operands[0].type).has_static_shape:
                self._slice(op)
        for op in walk(self.module.operation):
            if op.name == "stablehlo.get_dimension_size":
                replace(op, [_read_dim(Builder(op), op.operands[0], ir.IntegerAttr(op.attributes["dimension"]).value, op.results[0].type)])
        self._bind()

    def _replace(self, op: ir.Operation, value: ir.Value) -> None:
        self.known[value] = self.shape(op.results[0])
        replace(op, [value])

    def _find_cumulative(self, op: ir.Operation) -> tuple[int, bool, ir.Operation] | None:
        """Of windows that reach back to the first element, or on to the last one: the dim, whether it is the latter, and the op whose
        region combines elements."""
        is_call = op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == "stablehlo.dynamic_reduce_window"
        if not is_call and (op.name != "stablehlo.reduce_window" or len(op.operands) != 2):
            return None
        rank = len(shape_of(op.operands[0]))
        if is_call:
            sizes, *ones, padding = (self.evaluate(v) for v in op.operands[2:])
            body = self.functions[ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value].operation
        else:
            ones = [_read_numbers(op, name, [1] * rank) for name in ("window_strides", "base_dilations", "window_dilations")]
            sizes, padding = _read_numbers(op, "window_dimensions", [1] * rank), _read_numbers(op, "padding", [0] * 2 * rank)
            body = op
        block = body.regions[0].blocks[0]
        inner = [o.operation for o in block.operations]
        long = [d for d, size in enumerate(sizes) if size != ONE]
        reach = {k: p for k, p in enumerate(padding) if p != SizeExpr.number(0)}
        is_one = len(inner) == 2 and inner[0].name in _CUMULATIVE
        is_plain = (is_one or [o.name for o in inner[:-1]] == _LOG_ADD_EXP) and set(inner[0].operands) == set(block.arguments) and all(n == ONE for list_ in ones for n in list_)
        if not is_plain or len(long) != 1 or sizes[long[0]] != self.shape(op.operands[0])[long[0]] or len(reach) != 1:
            return None
        (dim,), (k,) = long, reach
        if k // 2 != dim or reach[k] != sizes[dim] - ONE or not _is_neutral(op.operands[1], inner[0].name):
            return None
        return dim, k % 2 == 1, body

    def _find_line(self, op: ir.Operation) -> ir.Operation:
        """The op, or the call of the function that it is in, if only that has a line of the user."""
        parent = op
        while not get_location_text(op) and parent.name != "func.func":
            parent = parent.parent.operation
        calls = self.calls.get(parent.attributes["sym_name"].value, []) if parent.name == "func.func" else []
        return self._find_line(calls[0]) if calls else op

    def _read_shape(self, op: ir.Operation) -> None:
        result = self.shape(op.results[0])
        if op.name == "stablehlo.dynamic_broadcast_in_dim":
            dims, source = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])), self.shape(op.operands[0])
            if dims == list(range(len(result))) and source == result and op.operands[0].type == op.results[0].type:
                replace(op, [op.operands[0]])
                return
            grows = [k for k, d in enumerate(dims) if source[k] == ONE and result[d] != ONE]
            stays = [k for k, d in enumerate(dims) if source[k] == result[d]]
            for name, found in (("known_expanding_dimensions", grows), ("known_nonexpanding_dimensions", stays)):
                op.attributes[name] = ir.Attribute.parse("array<i64" + (": " if found else "") + ", ".join(map(str, found)) + ">")
        b = Builder(op)
        elements = [self.emit(b, e) for e in self.elements(op.operands[-1])]
        op.operands[len(op.operands) - 1] = b.value("tensor.from_elements", elements, ir.RankedTensorType.get([len(elements)], ir.IntegerType.get_signless(32)))

    def _reshape(self, op: ir.Operation) -> None:
        source, result = self.shape(op.operands[0]), self.shape(op.results[0])
        groups = group_dims(source, result)
        if groups is None:
            shapes = [f"[{', '.join(map(str, s))}]" for s in (source, result)]
            raise fail(op, f"a reshape from {shapes[0]} to {shapes[1]} joins parts of sizes", "dims that are joined or split as a whole")
        b, value = Builder(op), op.operands[0]
        index = ir.IndexType.get()

        def get_type(sizes: Sequence[SizeExpr]) -> ir.Type:
            return ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size() if s.known is None else s.known for s in sizes], element(value))

        def spell(parts: Sequence[Sequence[int]]) -> str:
            return "[" + ", ".join("[" + ", ".join(f"{d} : i64" for d in p) + "]" for p in parts) + "]"

        joined = [multiply(source[d] for d in dims) for dims, _ in groups]
        if any(len(dims) > 1 for dims, _ in groups):
            value = b.value("tensor.collapse_shape", [value], get_type(joined), {"reassociation": spell([dims for dims, _ in groups])})
        if any(len(dims) > 1 for _, dims in groups):
            elements = self.elements(op.operands[1])
            sizes = [b.value("arith.index_cast", [self.emit(b, e)], index) for e, s in zip(elements, result) if s.known is None]
            static = ", ".join(str(_DYNAMIC if s.known is None else s.known) for s in result)
            attributes = {"reassociation": spell([dims for _, dims in groups]), "static_output_shape": f"array<i64: {static}>"}
            value = b.value("tensor.expand_shape", [value, *sizes], get_type(result), attributes)
        self._replace(op, value)

    def _slice(self, op: ir.Operation) -> None:
        """Becomes a slice of tensor, or one that is inserted."""
        offsets, sizes = self._find_slice(op)
        b, operands = Builder(op), list(op.operands[:1])
        is_update = op.name == "stablehlo.dynamic_update_slice"
        if is_update:
            operands = [op.operands[1], op.operands[0]]
        static: dict[str, list[int]] = {"static_offsets": [], "static_sizes": [], "static_strides": [1] * len(sizes)}
        counts = [1] * len(operands)
        part = ir.RankedTensorType((operands[0] if is_update else op.results[0]).type)
        for name, entries in (("static_offsets", offsets), ("static_sizes", sizes)):
            made = []
            for d, entry in enumerate(entries):
                # A size that the type does not state stays an operand.
                if isinstance(entry, SizeExpr) and entry.known is not None and (name == "static_offsets" or not part.is_dynamic_dim(d)):
                    static[name].append(entry.known)
                    continue
                static[name].append(_DYNAMIC)
                made.append(self.write(b, entry, op) if isinstance(entry, SizeExpr) else self._limit(b, *entry, self.shape(op.operands[0])[d] - sizes[d], op))
            operands += made
            counts.append(len(made))
        attributes = {n: f"array<i64: {', '.join(map(str, v))}>" for n, v in static.items()}
        attributes["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, [*counts, 0]))}>"
        self._replace(op, b.value("tensor.insert_slice" if is_update else "tensor.extract_slice", operands, op.results[0].type, attributes))

    def _top_k(self, op: ir.Operation) -> None:
        """A sort of the rows with their indices, of which the first elements are kept."""
        b, shape = Builder(op), self.shape(op.operands[0])
        i32 = ir.IntegerType.get_signless(32)
        sizes = [b.value("arith.index_cast", [self.write(b, s, op)], i32) for s in shape]
        counts = b.value("tensor.from_elements", sizes, ir.RankedTensorType.get([len(sizes)], i32))
        type = ir.RankedTensorType.get(shape_of(op.operands[0]), i32)
        index = b.value("stablehlo.dynamic_iota", [counts], type, {"iota_dimension": f"{len(shape) - 1} : i64"})
        self.known[index] = shape
        kept = []
        for value, result in zip(sort_descending(b, op.operands[0], index), op.results):
            self.known[value] = shape
            known = shape_of(result)
            attributes = {"static_offsets": [0] * len(known), "static_sizes": known, "static_strides": [1] * len(known)}
            rows = [self.write(b, s, op) for s, n in zip(shape, known) if n == _DYNAMIC]
            texts = {n: f"array<i64: {', '.join(map(str, v))}>" for n, v in attributes.items()}
            texts["operandSegmentSizes"] = f"array<i32: 1, 0, {len(rows)}, 0>"
            kept.append(b.value("tensor.extract_slice", [value, *rows], result.type, texts))
            self.known[kept[-1]] = self.shape(result)
        replace(op, kept)

    def _limit(self, b: Builder, starts: ir.Value, k: int, most: SizeExpr, op: ir.Operation) -> ir.Value:
        """A start that data decide, moved into the dim."""
        index = ir.IndexType.get()

        found = b.value("tensor.extract", [starts, b.index(k)] if shape_of(starts) else [starts], element(starts))
        below = b.value("arith.minsi", [b.value("arith.index_cast", [found], index), self.write(b, most, op)], index)
        return b.value("arith.maxsi", [below, b.index(0)], index)

    def _bind(self) -> None:
        """The arguments that are sizes become sizes of dims of the others, or follow from these."""
        count = takes_sizes(self.func)
        block = self.func.regions[0].blocks[0]
        arguments = list(block.arguments)
        first = list(block.operations)[0].operation
        b = Builder(first)
        index, i32 = ir.IndexType.get(), ir.IntegerType.get_signless(32)

        def write(size: SizeExpr) -> ir.Value:
            total = b.index(0)
            for term, n in size.terms.items():
                product = b.index(n)
                for name in term:
                    product = b.value("arith.muli", [product, shown[name]], index)
                total = b.value("arith.addi", [total, product], index)
            return total

        shown: dict[str, ir.Value] = {}
        names = {self.names[argument]: argument for argument in arguments[:count]}
        dims = [(a, d, s) for a in arguments[count:] for d, s in enumerate(self.known[a]) if s.known is None]
        while hidden := [name for name in names if name not in shown]:
            solved = ((name, a, d, s, *found) for name in hidden for a, d, s in dims if (found := s.solve(name)) and all(n in shown for n in found[1].names))
            # A dim that is a size first.
            name, a, d, size, factor, rest = min(solved, key=lambda entry: entry[3].symbols != entry[0], default=(hidden[0], None, 0, ONE, 1, ONE))
            if a is None:
                raise fail(self.func, f"size {name} does not follow from the dims of arguments", "each size to be that of a dim, or the one unknown size in one, times a number")
            value = b.dim(a, d)
            if rest.terms:
                value = b.value("arith.subi", [value, write(rest)], index)
            shown[name] = value if factor == 1 else b.value("arith.floordivsi", [value, b.index(factor)], index)
            names[name].replace_all_uses_with(b.value("tensor.from_elements", [b.value("arith.index_cast", [shown[name]], i32)], names[name].type))
        for _ in range(count):
            block.erase_argument(0)
        attributes = list(self.func.attributes["arg_attrs"])[count:]
        self.func.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        results = [v.type for v in list(block.operations)[-1].operands]
        self.func.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in block.arguments], results))


_LIMITS: dict[str, Callable[..., SizeExpr | None]] = {"stablehlo.maximum": Sizes.larger, "stablehlo.minimum": Sizes.smaller, "stablehlo.clamp": Sizes.clamp}

def _join(op: ir.Operation, a: bool | None, b: bool | None) -> bool | None:
    """The and, or, or comparison of conditions; None if it depends on one that is not known."""
    if op.name == "stablehlo.compare":
        return None if a is None or b is None else (a != b) == ("NE" in str(op.attributes["comparison_direction"]))
    decisive = op.name == "stablehlo.or"
    return decisive if decisive in (a, b) else None if None in (a, b) else not decisive


_QUOTIENTS: dict[str, Callable[..., SizeExpr | None]] = {"stablehlo.divide": Sizes.quotient, "stablehlo.remainder": Sizes.remainder, "stablehlo.sign": Sizes.sign}


_WINDOWS: dict[str, Callable[[ir.Operation, Sequence[ir.Value]], None]] = {
    "stablehlo.convolution": rewrite_convolution, "stablehlo.reduce_window": rewrite_pooling,
}  # fmt: skip


def _looks_up(op: ir.Operation) -> bool:
    """Whether a gather of slices of unknown size has several indices; with one it is a slice."""
    return len(shape_of(op.operands[1])) != 1 or "batching_dims" in str(op.attributes["dimension_numbers"])


def _find_vector(numbers: str) -> int:
    """The dim of the indices of a gather that has the numbers of one index."""
    found = re.search(r"index_vector_dim = (\d+)", numbers)
    return int(found[1]) if found else 0


def _is_neutral(value: ir.Value, name: str) -> bool:
    """Whether a scalar changes nothing as an operand of an op."""
    op = owner(value)
    if op is not None and op.name in _SAME:
        return _is_neutral(op.operands[0], name)
    if op is None or op.name != "stablehlo.constant":
        return False
    number, kind = float(ir.DenseElementsAttr(op.attributes["value"]).get_splat_value().value), element(value)
    if name in ("stablehlo.add", "stablehlo.multiply"):
        return number == (name == "stablehlo.multiply")
    least = float("-inf") if is_float(kind) else -(2.0 ** (ir.IntegerType(kind).width - 1))
    return number == (least if name == "stablehlo.maximum" else -least if is_float(kind) else -least - 1)


def _read_numbers(op: ir.Operation, name: str, otherwise: Sequence[int]) -> list[SizeExpr]:
    """An attribute of integers, in one list."""
    if name not in op.attributes:
        return [SizeExpr.number(n) for n in otherwise]
    dense = np.array(ir.DenseElementsAttr(op.attributes[name])).ravel() if name == "padding" else ir.DenseI64ArrayAttr(op.attributes[name])
    return [SizeExpr.number(int(n)) for n in dense]


def _read_list(numbers: str, name: str) -> list[int]:
    found = re.search(rf"\b{name} = \[([\d, ]*)\]", numbers)
    return [int(k) for k in re.findall(r"\d+", found[1])] if found else []


def _find_collapsed(op: ir.Operation) -> list[int]:
    return _read_list(str(op.attributes["dimension_numbers"]), "collapsed_slice_dims")


def _read_dim(b: Builder, value: ir.Value, dim: int, type: ir.Type) -> ir.Value:
    """The size of a dim as a scalar tensor."""
    return b.value("tensor.from_elements", [b.value("arith.index_cast", [b.dim(value, dim)], ir.IntegerType.get_signless(32))], type)
