"""Sizes that only the run knows: dims of inputs that a model gives names. What its nodes compute of them is followed when the model is
imported, so that shapes are sums, differences and products of names, and nodes that read shapes become ops that state these."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Callable, Collection, Mapping, Sequence

import numpy as np

from ..errors import ShardKitError
from ..size_exprs import ONE, SizeExpr, group_dims, multiply
from .constants import evaluate_node

LARGEST = 2**40
"""The largest bound of a size."""

DOMAIN, MARKER = "shardkit.sizes", "Sized"
"""Of nodes that are lowered by `size_ops`."""

_MOST_ELEMENTS = 64
"""Of a tensor whose elements are sizes."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """`dims`: of inputs by name."""

    dims: Mapping[str, Sequence[SizeExpr]]
    limits: Mapping[str, tuple[int, int]]

    def symbols(self, name: str, rank: int) -> list[str]:
        return ["" if size.known is not None else size.symbols for size in self.dims[name]] if name in self.dims else [""] * rank

    def bounds(self) -> dict[str, tuple[int, int]]:
        return dict(self.limits)


def find_names(text: str) -> list[str]:
    """Those that a dim may be computed of: `past_length + 1` has one; any other text is a name."""
    size = SizeExpr.parse(text)
    return [text] if size is None or size.known is not None else size.names


def read_dim(dim: Any, known: Collection[str]) -> SizeExpr | None:
    """The size of a dim of an input. A text is a name if it is one of `known`, else a sum, difference or product of these; None for others."""
    if dim.HasField("dim_value"):
        return SizeExpr.number(dim.dim_value)
    size = SizeExpr.name(dim.dim_param) if dim.dim_param in known else SizeExpr.parse(dim.dim_param)
    return size if size is not None and size.names and all(name in known for name in size.names) else None


def read_bounds(bounds: Any, symbols: Sequence[str], sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """`bounds`: the least and the largest size by the name of a dim; one error for anything else. `symbols`: names of dims of inputs."""
    example = "{'batch': (1, 64)}"
    if not isinstance(bounds, Mapping):
        raise ShardKitError(f"error: bounds is {bounds!r}, expected the least and the largest size of symbolic dims by name, such as {example}")
    for name, bound in bounds.items():
        if name not in symbols:
            raise ShardKitError(f"error: bounds has {name!r}, expected a symbolic dim of an input: {', '.join(symbols) or 'there is none'}")
        if name in sizes:
            raise ShardKitError(f"error: {name} has a size, {sizes[name]}, and a bound, expected one of both")
        is_pair = isinstance(bound, Sequence) and len(bound) == 2 and all(isinstance(n, int) and not isinstance(n, bool) for n in bound)
        if not is_pair or not 0 <= bound[0] <= bound[1] < LARGEST:
            raise ShardKitError(f"error: bounds has {name} = {bound!r}, expected the least and the largest size, such as {example}")
    return {name: (int(low), int(high)) for name, (low, high) in bounds.items()}


class SizeInference:
    """The shapes of all tensors of a model, and the elements of those that sizes are computed in."""

    def __init__(self, model: Any, bounds: Mapping[str, tuple[int, int]], path: str):
        self.model, self.bounds, self.path = model, bounds, path
        self.shapes: dict[str, list[SizeExpr]] = {}
        self.kinds: dict[str, int] = {}
        self.values: dict[str, np.ndarray] = {}
        """Elements, sizes or flags, of what nodes compute of sizes."""
        self.constants = {i.name: i for i in model.graph.initializer}
        self._texts: dict[str, SizeExpr] = {}
        for initializer in model.graph.initializer:
            self._set(initializer.name, initializer.data_type, [SizeExpr.number(n) for n in initializer.dims])
        for value in model.graph.input:
            tensor = value.type.tensor_type
            dims = [read_dim(d, bounds) or SizeExpr.name(d.dim_param) for d in tensor.shape.dim]
            self._set(value.name, tensor.elem_type, dims)

    def run(self) -> None:
        for node in self.model.graph.node:
            self._infer(node)
            values = self._evaluate(node)
            if values is not None:
                self.values.update(values)

    def fail(self, node: Any, why: str, expected: str = "sums, differences and products of the sizes of inputs") -> ShardKitError:
        return ShardKitError(f'error: {self.path}: node {node.op_type} "{node.name or node.output[0]}" {why}, expected {expected}')

    def value(self, name: str) -> np.ndarray | None:
        """The elements of a tensor as sizes or flags; None where they are not known."""
        from onnx import numpy_helper

        if name not in self.values and name in self.constants and math.prod(self.constants[name].dims) <= _MOST_ELEMENTS:
            array = numpy_helper.to_array(self.constants[name])
            if array.dtype.kind in "iub":
                self.values[name] = _objects(array)
        return self.values.get(name)

    def is_decided(self, difference: SizeExpr) -> bool:
        """Whether it is not negative at all sizes within the bounds."""
        return difference.range(self.bounds)[0] >= 0

    # --- shapes ---

    def _set(self, name: str, kind: int, dims: list[SizeExpr]) -> None:
        self.kinds[name], self.shapes[name] = kind, dims
        self._texts.update({str(d): d for d in dims if d.known is None})

    def _infer(self, node: Any) -> None:
        import onnx

        if any(a.HasField("g") or a.graphs for a in node.attribute):
            raise self.fail(node, "has a body, where sizes are not known", "nodes without one, or numbers in place of names (--size)")
        names = [name for name in node.input if name]
        types = {n: onnx.helper.make_tensor_type_proto(self.kinds[n], [d.known if d.known is not None else str(d) for d in self.shapes[n]]) for n in names}
        data = {n: c for n in names if (c := self._constant(n)) is not None}
        schema = onnx.defs.get_schema(node.op_type, _opset(self.model, node.domain), node.domain)
        try:
            found = onnx.shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        except Exception as error:  # of C++, without a common base
            raise self.fail(node, f"has no shape ({(str(error).splitlines() or [''])[0]})") from None
        rule = _SHAPES.get(node.op_type)
        for i, name in enumerate(node.output):
            if not name:
                continue
            tensor = found[name].tensor_type if name in found else None
            known: Sequence[SizeExpr | None] | None = None
            if tensor is not None and tensor.HasField("shape"):
                known = [SizeExpr.number(d.dim_value) if d.HasField("dim_value") else self._texts.get(d.dim_param) for d in tensor.shape.dim]
            if rule is not None:
                known = rule(self, node, i)
            if tensor is None or known is None or None in known:
                raise self.fail(node, "makes a tensor whose size depends on data, or is not followed")
            self._set(name, tensor.elem_type, known)  # type: ignore[arg-type, unused-ignore]

    def _constant(self, name: str) -> Any:
        """A tensor of numbers that shapes may be read from."""
        import onnx

        if name in self.constants:
            return self.constants[name]
        numbers = _numbers(self.values[name]) if name in self.values else None
        if numbers is None:
            return None
        return onnx.helper.make_tensor(name, self.kinds[name], list(numbers.shape), numbers.ravel().tolist())

    def sizes_of(self, node: Any, i: int) -> list[SizeExpr]:
        """The sizes that are an operand of a node."""
        value = self.value(node.input[i]) if i < len(node.input) and node.input[i] else None
        if value is None:
            raise self.fail(node, f"reads sizes that depend on data ({node.input[i] if i < len(node.input) else 'none'})")
        return list(value.ravel())

    def numbers_of(self, node: Any, i: int) -> list[int] | None:
        """Numbers that are an operand, None where it is left out."""
        if i >= len(node.input) or not node.input[i]:
            return None
        known = [size.known for size in self.sizes_of(node, i)]
        if None in known:
            raise self.fail(node, f"reads {node.input[i]}, which depends on sizes", "numbers")
        return [int(n) for n in known]  # type: ignore[arg-type, unused-ignore]

    def broadcast(self, node: Any, shapes: Sequence[Sequence[SizeExpr]]) -> list[SizeExpr]:
        rank = max(map(len, shapes))
        found = [ONE] * rank
        for shape in shapes:
            for d, size in enumerate(shape, rank - len(shape)):
                if found[d] == ONE:
                    found[d] = size
                elif size not in (ONE, found[d]):
                    raise self.fail(node, f"combines dims of sizes {found[d]} and {size}", "equal sizes, or 1: dims of one size have one name")
        return found

    # --- elements ---

    def _evaluate(self, node: Any) -> dict[str, np.ndarray] | None:
        if node.op_type in ("Shape", "Size"):
            shape = self.shapes[node.input[0]]
            if node.op_type == "Size":
                return {node.output[0]: _objects(np.array(multiply(shape), object))}
            start, end = (_attribute(node, n, default) for n, default in (("start", 0), ("end", len(shape))))
            return {node.output[0]: _list(shape[start:end])}
        if node.domain not in ("", "ai.onnx") or any(math.prod(_known(self.shapes[n])) > _MOST_ELEMENTS for n in node.output if n):
            return None
        values = [self.value(n) for n in node.input if n]
        if not values or any(v is None for v in values):
            return None
        numbers = [_numbers(v) for v in values]  # type: ignore[arg-type, unused-ignore]
        if all(n is not None for n in numbers):
            return self._evaluate_numbers(node, numbers)
        if node.op_type in _MOVES:
            return self._move(node, values, numbers)
        function = _ELEMENTWISE.get(node.op_type)
        if function is None or (node.op_type == "Cast" and _attribute(node, "to", 0) not in (6, 7)):
            return None
        result = function(self, *values)
        return None if result is None or any(e is None for e in result.ravel()) else {node.output[0]: result}

    def _evaluate_numbers(self, node: Any, numbers: Sequence[Any]) -> dict[str, np.ndarray] | None:
        import onnx

        inputs = {n: v.astype(onnx.helper.tensor_dtype_to_np_dtype(self.kinds[n])) for n, v in zip(filter(None, node.input), numbers)}
        found = evaluate_node(self.model, node, inputs)
        if found is None or any(v.dtype.kind not in "iub" for v in found.values()):
            return None
        return {n: _objects(v) for n, v in found.items()}

    def _move(self, node: Any, values: Sequence[Any], numbers: Sequence[Any]) -> dict[str, np.ndarray] | None:
        """What moves elements moves their numbers."""
        count = len(values) if node.op_type == "Concat" else 1
        if any(n is None for n in numbers[count:]):
            return None
        elements: list[Any] = []
        inputs = {}
        for name, value, number in zip(filter(None, node.input), values, [None] * count + list(numbers[count:])):
            if number is None:
                number = np.arange(len(elements), len(elements) + value.size).reshape(value.shape)
                elements += list(value.ravel())
            inputs[name] = number.astype(np.int64)
        found = evaluate_node(self.model, node, inputs)
        return None if found is None else {n: _objects(np.array([elements[k] for k in v.ravel()], object).reshape(v.shape)) for n, v in found.items()}


def _opset(model: Any, domain: str) -> int:
    return max((o.version for o in model.opset_import if (o.domain or "ai.onnx") == (domain or "ai.onnx")), default=1)


def _attribute(node: Any, name: str, default: Any) -> Any:
    import onnx

    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def _known(shape: Sequence[SizeExpr]) -> list[int]:
    return [_MOST_ELEMENTS + 1 if d.known is None else d.known for d in shape]


def _list(elements: Sequence[Any]) -> np.ndarray:
    found = np.empty(len(elements), object)
    found[:] = elements
    return found


def _objects(array: np.ndarray) -> np.ndarray:
    """Sizes and flags in place of numbers."""
    elements = [e if isinstance(e, SizeExpr) else bool(e) if isinstance(e, (bool, np.bool_)) else SizeExpr.number(int(e)) for e in array.ravel()]
    return _list(elements).reshape(array.shape)


def _numbers(value: np.ndarray) -> np.ndarray | None:
    elements = [e.known if isinstance(e, SizeExpr) else e for e in value.ravel()]
    return None if any(e is None for e in elements) else np.array(elements, bool if elements and isinstance(elements[0], bool) else np.int64).reshape(value.shape)


# --- shapes of results that depend on elements, or that ONNX's inference leaves out ---


def _shape_of_reshape(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    source, wanted = s.shapes[node.input[0]], s.sizes_of(node, 1)
    keeps = not _attribute(node, "allowzero", 0)
    found = [source[d] if keeps and size.known == 0 and d < len(source) else size for d, size in enumerate(wanted)]
    open_dims = [d for d, size in enumerate(found) if size.known == -1]
    for d in open_dims:
        rest = multiply(source).divide(multiply(size for k, size in enumerate(found) if k != d))
        if rest is None or len(open_dims) > 1:
            raise s.fail(node, f"reshapes {_text(source)} to {_text(found)}", "a size for -1 that follows from the others")
        found[d] = rest
    return found


def _shape_of_concat(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    shapes = [s.shapes[n] for n in node.input]
    axis = _attribute(node, "axis", 0) % len(shapes[0])
    total = SizeExpr.number(0)
    for shape in shapes:
        for d, size in enumerate(shape):
            if d != axis and size != shapes[0][d]:
                raise s.fail(node, f"joins dims of sizes {shapes[0][d]} and {size}", "equal sizes: dims of one size have one name")
        total = total + shape[axis]
    return [total if d == axis else size for d, size in enumerate(shapes[0])]


def _shape_of_range(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    (start,), (limit,), (step,) = (s.sizes_of(node, i) for i in range(3))
    length = limit - start if step.known is not None and step.known > 0 else start - limit
    count = length.divide(SizeExpr.number(abs(step.known or 0)))
    if count is None and length.known is not None and step.known:
        count = SizeExpr.number(max(0, -(-length.known // abs(step.known))))
    if count is None or not s.is_decided(count):
        raise s.fail(node, f"counts from {start} to {limit} by {step}", "a number of steps that is a sum or product of sizes and not negative within their bounds")
    return [count]


def _shape_of_slice(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    shape = list(s.shapes[node.input[0]])
    for axis, start, end, step in find_slices(s, node):
        length = end - start
        count = length.divide(SizeExpr.number(step))
        if count is None and length.known is not None:
            count = SizeExpr.number(-(-length.known // step))
        if count is None:
            raise s.fail(node, f"takes every {step}th of {length} elements", "a number that divides the size, or step 1")
        shape[axis] = count
    return shape


def find_slices(s: SizeInference, node: Any) -> list[tuple[int, SizeExpr, SizeExpr, int]]:
    """Axis, start, end and step, within the dim: for a step below zero those of the elements in their order, and the step."""
    shape = s.shapes[node.input[0]]
    if len(node.input) > 1:
        starts, ends = s.sizes_of(node, 1), s.sizes_of(node, 2)
        axes, steps = s.numbers_of(node, 3), s.numbers_of(node, 4)
    else:
        starts, ends = ([SizeExpr.number(n) for n in _attribute(node, key, [])] for key in ("starts", "ends"))
        axes, steps = _attribute(node, "axes", None), None
    axes = list(range(len(starts))) if axes is None else axes
    found = []
    for axis, start, end, step in zip(axes, starts, ends, steps or [1] * len(starts)):
        size = shape[axis % len(shape)]
        if step < 1 and size.known is None:
            raise s.fail(node, f"goes backwards along a dim of size {size}", "a step of at least 1")
        if step < 1:
            picked = range(size.known)[slice(start.known, end.known, step)]  # type: ignore[arg-type, unused-ignore]
            found.append((axis % len(shape), SizeExpr.number(0), SizeExpr.number(len(picked)), 1))
            continue
        first, last = (_clamp(s, node, position, size) for position in (start, end))
        if not s.is_decided(last - first):
            if not s.is_decided(first - last):
                raise s.fail(node, f"takes elements {first} to {last}", "a start that is not past the end within the bounds of sizes")
            last = first
        found.append((axis % len(shape), first, last, step))
    return found


def _clamp(s: SizeInference, node: Any, position: SizeExpr, size: SizeExpr) -> SizeExpr:
    zero = SizeExpr.number(0)
    low, high = position.range(s.bounds)
    if low < 0 <= high:
        raise s.fail(node, f"takes elements at {position}", "a position that is always counted from the start, or always from the end")
    if high < 0:
        position = position + size
        if not s.is_decided(position):
            if not s.is_decided(-position):
                raise s.fail(node, f"takes elements at {position}", f"one that is not below 0: a larger least size of {', '.join(position.names)}")
            return zero
    if s.is_decided(position - size):
        return size
    if not s.is_decided(size - position):
        names = ", ".join(position.names + size.names)
        raise s.fail(node, f"takes elements up to {position} of {size}", f"bounds of {names} at which the one is at most the other")
    return position


def _shape_of_split(s: SizeInference, node: Any, i: int) -> list[SizeExpr]:
    shape = list(s.shapes[node.input[0]])
    axis = _attribute(node, "axis", 0) % len(shape)
    parts = s.sizes_of(node, 1) if len(node.input) > 1 and node.input[1] else None
    if parts is None and (given := _attribute(node, "split", None)) is not None:
        parts = [SizeExpr.number(n) for n in given]
    if parts is None:
        count = len(node.output)
        part = shape[axis].divide(SizeExpr.number(count))
        if part is None and shape[axis].known is not None:
            most = -(-shape[axis].known // count)
            part = SizeExpr.number(most if i < count - 1 else shape[axis].known - most * (count - 1))
        if part is None:
            raise s.fail(node, f"splits a dim of size {shape[axis]} into {count}", "a number that divides it")
        parts = [part] * count
    shape[axis] = parts[i]
    return shape


def _shape_of_pad(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    shape = list(s.shapes[node.input[0]])
    pads = s.sizes_of(node, 1) if len(node.input) > 1 else [SizeExpr.number(n) for n in _attribute(node, "pads", [])]
    axes = s.numbers_of(node, 3) or list(range(len(shape)))
    for k, axis in enumerate(axes):
        shape[axis] = shape[axis] + pads[k] + pads[k + len(axes)]
    return shape


def _shape_of_flatten(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    shape = s.shapes[node.input[0]]
    axis = _attribute(node, "axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return [multiply(shape[:axis]), multiply(shape[axis:])]


def _shape_of_tile(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    return [a * b for a, b in zip(s.shapes[node.input[0]], s.sizes_of(node, 1), strict=True)]


def _shape_of_matmul(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    a, b = (s.shapes[n] for n in node.input[:2])
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise s.fail(node, f"sums over dims of sizes {a[-1]} and {b[-2 if len(b) > 1 else 0]}", "equal sizes: dims of one size have one name")
    batch = s.broadcast(node, [a[:-2], b[:-2]]) if max(len(a), len(b)) > 2 else []
    return [*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else [])]


def _text(shape: Sequence[SizeExpr]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _broadcast(s: SizeInference, node: Any, _: int) -> list[SizeExpr]:
    return s.broadcast(node, [s.shapes[n] for n in node.input if n])


_BROADCASTS = (
    "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min",
    "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
)  # fmt: skip

_SHAPES: dict[str, Callable[[SizeInference, Any, int], list[SizeExpr]]] = {name: _broadcast for name in _BROADCASTS} | {
    "Concat": _shape_of_concat,
    "ConstantOfShape": lambda s, node, _: s.sizes_of(node, 0),
    "Expand": lambda s, node, _: s.broadcast(node, [s.shapes[node.input[0]], s.sizes_of(node, 1)]),
    "Flatten": _shape_of_flatten,
    "MatMul": _shape_of_matmul,
    "Pad": _shape_of_pad,
    "Range": _shape_of_range,
    "Reshape": _shape_of_reshape,
    "Slice": _shape_of_slice,
    "Split": _shape_of_split,
    "Tile": _shape_of_tile,
}  # fmt: skip


# --- elements that are computed of sizes ---

_MOVES = {"Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}


def _map(function: Callable[..., Any]) -> Callable[..., Any]:
    """On elements; what is not decided is None."""
    return lambda s, *values: _wrap(np.frompyfunc(lambda *elements: function(s, *elements), len(values), 1)(*values))


def _wrap(found: Any) -> np.ndarray:
    if isinstance(found, np.ndarray):
        return found
    array = np.empty((), object)
    array[()] = found
    return array


def _divide(s: SizeInference, a: SizeExpr, b: SizeExpr) -> SizeExpr | None:
    if a.known is not None and b.known:
        return SizeExpr.number(abs(a.known) // abs(b.known) * (1 if (a.known < 0) == (b.known < 0) else -1))
    return a.divide(b)


def _equal(s: SizeInference, a: Any, b: Any) -> bool | None:
    if a == b:
        return True
    low, high = (a - b).range(s.bounds) if isinstance(a, SizeExpr) else (1, 1)
    return False if low > 0 or high < 0 else None


def _at_least(s: SizeInference, difference: SizeExpr) -> bool | None:
    """Whether it is not negative."""
    low, high = difference.range(s.bounds)
    return True if low >= 0 else False if high < 0 else None


def _not(flag: bool | None) -> bool | None:
    return None if flag is None else not flag


def _select(s: SizeInference, flag: bool | None, a: Any, b: Any) -> Any:
    return None if flag is None else a if flag else b


def _reduce(product: bool) -> Callable[..., Any]:
    def reduce(s: SizeInference, value: np.ndarray, *axes: Any) -> Any:
        if value.ndim != 1:
            return None
        total = multiply(value) if product else sum(value, SizeExpr.number(0))
        return _list([total])

    return reduce


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Add": _map(lambda s, a, b: a + b),
    "Cast": lambda s, value: value,
    "Div": _map(_divide),
    "Equal": _map(_equal),
    "Greater": _map(lambda s, a, b: _not(_at_least(s, b - a))),
    "GreaterOrEqual": _map(lambda s, a, b: _at_least(s, a - b)),
    "Less": _map(lambda s, a, b: _not(_at_least(s, a - b))),
    "LessOrEqual": _map(lambda s, a, b: _at_least(s, b - a)),
    "Max": _map(lambda s, a, b: _select(s, _at_least(s, a - b), a, b)),
    "Min": _map(lambda s, a, b: _select(s, _at_least(s, a - b), b, a)),
    "Mul": _map(lambda s, a, b: a * b),
    "Neg": _map(lambda s, a: -a),
    "Not": _map(lambda s, a: _not(a)),
    "ReduceProd": _reduce(True),
    "ReduceSum": _reduce(False),
    "Sub": _map(lambda s, a, b: a - b),
    "Where": _map(_select),
}


# --- the model that is lowered ---


def mark_sizes(model: Any, bounds: Mapping[str, tuple[int, int]], path: str) -> Any:
    """A copy of the model without the nodes that compute sizes, in which those that read sizes are marked with what they read. All
    tensors have the shapes that were found."""
    import onnx

    inference = SizeInference(model, bounds, path)
    inference.run()
    marked = onnx.ModelProto()
    marked.CopyFrom(model)
    graph = marked.graph
    del graph.node[:], graph.value_info[:]
    marking = _Marking(inference, graph)
    for node in model.graph.node:
        marking.add(node)
    for value in graph.output:
        marking.use(value.name)
        value.CopyFrom(_describe(inference, value.name))
    graph.value_info.extend(_describe(inference, name) for node in graph.node for name in node.output if name)
    marked.opset_import.append(onnx.helper.make_opsetid(DOMAIN, 1))
    return marked


def _describe(inference: SizeInference, name: str) -> Any:
    import onnx

    dims = [d.known if d.known is not None else str(d) for d in inference.shapes[name]]
    return onnx.helper.make_tensor_value_info(name, inference.kinds[name], dims)


class _Marking:
    def __init__(self, inference: SizeInference, graph: Any):
        self.inference, self.graph = inference, graph
        self.made: set[str] = set()

    def add(self, node: Any) -> None:
        s = self.inference
        if all(name in s.values for name in node.output if name):
            return
        spec = _MARKS[node.op_type](s, node) if node.op_type in _MARKS and self._has_sizes(node) else None
        if spec is None:
            for name in node.input:
                self.use(name)
            self.graph.node.append(node)
            return
        for name in spec.pop("inputs"):
            self.use(name)
            spec.setdefault("operands", []).append(name)
        self._mark(node.name or node.output[0], spec.pop("operands", []), node.output[0], spec)

    def _has_sizes(self, node: Any) -> bool:
        names = [name for name in (*node.input, *node.output) if name]
        return any(d.known is None for name in names for d in self.inference.shapes[name]) or any(
            name in self.inference.values and _numbers(self.inference.values[name]) is None for name in node.input
        )

    def use(self, name: str) -> None:
        """A tensor that a node reads, which is made if sizes are all that it depends on."""
        from onnx import numpy_helper
        import onnx

        s = self.inference
        if not name or name in self.made or name in s.constants or name not in s.values:
            return
        self.made.add(name)
        value, numbers = s.values[name], _numbers(s.values[name])
        if numbers is not None:
            array = numbers.astype(onnx.helper.tensor_dtype_to_np_dtype(s.kinds[name]))
            self.graph.initializer.append(numpy_helper.from_array(array, name))
        else:
            self._mark(name, [], name, {"kind": "values", "elements": [_spell(e) for e in value.ravel()]})

    def _mark(self, name: str, operands: Sequence[str], result: str, spec: Mapping[str, Any]) -> None:
        import onnx

        self.graph.node.append(onnx.helper.make_node(MARKER, operands, [result], name=name, domain=DOMAIN, spec=json.dumps(spec)))


def _spell(size: SizeExpr) -> list[Any]:
    return [[n, list(term)] for term, n in size.terms.items()]


def _spell_all(sizes: Sequence[SizeExpr]) -> list[Any]:
    return [_spell(size) for size in sizes]


def _mark_reshape(s: SizeInference, node: Any) -> dict[str, Any]:
    source, result = s.shapes[node.input[0]], s.shapes[node.output[0]]
    groups = group_dims(source, result)
    if groups is None:
        raise s.fail(node, f"reshapes {_text(source)} to {_text(result)}", "dims that are joined or split as a whole")
    return {"kind": "reshape", "inputs": [node.input[0]], "groups": groups, "source": _spell_all(source), "shape": _spell_all(result)}


def _mark_expand(s: SizeInference, node: Any) -> dict[str, Any]:
    if node.op_type == "Tile" and any(a != ONE and b != ONE for a, b in zip(s.shapes[node.input[0]], s.sizes_of(node, 1))):
        raise s.fail(node, "repeats a dim of more than one element", "Expand, or Concat")
    return {"kind": "expand", "inputs": [node.input[0]], "shape": _spell_all(s.shapes[node.output[0]])}


def _mark_fill(s: SizeInference, node: Any) -> dict[str, Any]:
    from onnx import numpy_helper

    given = _attribute(node, "value", None)
    value = 0.0 if given is None else numpy_helper.to_array(given).ravel()[0].item()
    return {"kind": "fill", "inputs": [], "shape": _spell_all(s.shapes[node.output[0]]), "value": value}


def _mark_range(s: SizeInference, node: Any) -> dict[str, Any]:
    (start,), (step,) = (s.sizes_of(node, i) for i in (0, 2))
    return {"kind": "range", "inputs": [], "start": _spell(start), "step": _spell(step), "shape": _spell_all(s.shapes[node.output[0]])}


def _mark_slice(s: SizeInference, node: Any) -> dict[str, Any] | None:
    if any(n < 0 for n in s.numbers_of(node, 4) or []):
        return None
    slices = [[axis, _spell(start), _spell(end), step] for axis, start, end, step in find_slices(s, node)]
    return {"kind": "slice", "inputs": [node.input[0]], "slices": slices, "source": _spell_all(s.shapes[node.input[0]])}


def _mark_gather(s: SizeInference, node: Any) -> dict[str, Any]:
    rank = len(s.shapes[node.input[0]])
    spec = {"kind": "take", "axis": _attribute(node, "axis", 0) % rank}
    index = s.value(node.input[1])
    if index is not None and index.ndim == 0:
        return spec | {"kind": "select", "inputs": [node.input[0]], "index": _spell(index.item())}
    return spec | {"inputs": list(node.input)}


_MARKS: dict[str, Callable[[SizeInference, Any], dict[str, Any] | None]] = {
    "ConstantOfShape": _mark_fill,
    "Expand": _mark_expand,
    "Flatten": _mark_reshape,
    "Gather": _mark_gather,
    "Range": _mark_range,
    "Reshape": _mark_reshape,
    "Slice": _mark_slice,
    "Squeeze": _mark_reshape,
    "Tile": _mark_expand,
    "Unsqueeze": _mark_reshape,
}
