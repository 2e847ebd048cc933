"""Nodes that `sizes` has marked, as ops of torch-mlir that state the sizes they read."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Mapping, Sequence

from ..errors import ShardKitError
from ..size_exprs import SizeExpr, multiply
from .sizes import MARKER

_DTYPES = {"ui8": 0, "si8": 1, "si16": 2, "si32": 3, "si64": 4, "f16": 5, "f32": 6, "f64": 7, "i1": 11, "bf16": 15}
"""Element types as torch-mlir numbers them."""

KEPT = "aten.flatten.using_ints,aten.unflatten.int"
"""Ops that torch-mlir keeps until linalg: it makes views of them otherwise, and guesses which dims these join."""


@dataclasses.dataclass(frozen=True)
class _Source:
    """Where a size is found: in dim `d` of an argument, which is `factor` times the size, plus `least`."""

    argument: Any
    d: int
    factor: int
    least: int

    @property
    def is_size(self) -> bool:
        """Whether the dim is the size itself."""
        return (self.factor, self.least) == (1, 0)


def lower_sizes(func: Any, sizes: Sequence[Sequence[SizeExpr]], path: str) -> None:
    """Replaces the marked nodes of a function. `sizes`: of the dims of each argument."""
    from torch_mlir import ir

    # As torch.export has it: sizes of different names are not combined, and one that is not 1 by its type is not broadcast.
    func.attributes["torch.assume_strict_symbolic_shapes"] = ir.UnitAttr.get(func.context)
    block = func.regions[0].blocks[0]
    dims: dict[str, _Source] = {}
    for argument, shape in zip(block.arguments, sizes, strict=True):
        for d, size in enumerate(shape):
            for name in size.names:
                found = size.solve(name)
                if found is None or found[1].known is None:
                    continue
                source = _Source(argument, d, found[0], found[1].known)
                if name not in dims or (source.is_size and not dims[name].is_size):
                    dims[name] = source
    for name in (name for shape in sizes for size in shape for name in size.names):
        if name not in dims:
            raise ShardKitError(f"error: {path}: size {name} does not follow from the inputs, expected one with a dim of it, or of a number times it")
    for op in list(block.operations):
        attributes = op.operation.attributes
        if op.operation.name == "torch.operator" and ir.StringAttr(attributes["name"]).value == f"onnx.{MARKER}":
            spec = json.loads(ir.StringAttr(attributes["torch.onnx.spec"]).value)
            _Lowering(op.operation, dims).lower(spec)


class _Lowering:
    """Of one node."""

    def __init__(self, op: Any, dims: Mapping[str, _Source]):
        from torch_mlir import ir

        self.op, self.dims = op, dims
        self.type = op.results[0].type
        self.element = re.search(r",([\w<>]+)>$", str(self.type))[1]  # type: ignore[index, unused-ignore]
        self.int = ir.Type.parse("!torch.int", op.context)

    def lower(self, spec: Mapping[str, Any]) -> None:
        from torch_mlir import ir

        with self.op.context, self.op.location, ir.InsertionPoint(self.op):
            made = getattr(self, f"_lower_{spec['kind']}")(spec)
        self.op.results[0].replace_all_uses_with(made)
        self.op.erase()

    def _create(self, name: str, operands: Sequence[Any], result: Any, **attributes: Any) -> Any:
        from torch_mlir import ir

        type = ir.Type.parse(result) if isinstance(result, str) else result
        return ir.Operation.create(f"torch.{name}", results=[type], operands=list(operands), attributes=attributes).result

    def _number(self, value: int) -> Any:
        from torch_mlir import ir

        return self._create("constant.int", [], self.int, value=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value))

    def _size(self, terms: Any) -> Any:
        """A sum of products, as an int."""
        total = None
        for n, names in terms:
            product = None
            for name in names:
                source = self.dims[name]
                size = self._create("aten.size.int", [source.argument, self._number(source.d)], self.int)
                if source.least:
                    size = self._create("aten.sub.int", [size, self._number(source.least)], self.int)
                if source.factor != 1:
                    size = self._create("aten.floordiv.int", [size, self._number(source.factor)], self.int)
                product = size if product is None else self._create("aten.mul.int", [product, size], self.int)
            if product is None:
                product = self._number(n)
            elif n != 1:
                product = self._create("aten.mul.int", [product, self._number(n)], self.int)
            total = product if total is None else self._create("aten.add.int", [total, product], self.int)
        return self._number(0) if total is None else total

    def _sizes(self, sizes: Sequence[Any]) -> Any:
        return self._create("prim.ListConstruct", [self._size(size) for size in sizes], "!torch.list<int>")

    def _none(self) -> Any:
        return self._create("constant.none", [], "!torch.none")

    def _tensor_type(self, sizes: Sequence[Any]) -> str:
        dims = ",".join("?" if any(names for _, names in size) else str(sum(n for n, _ in size)) for size in sizes)
        return f"!torch.vtensor<[{dims}],{self.element}>"

    def _lower_reshape(self, spec: Mapping[str, Any]) -> Any:
        def read(size: Any) -> SizeExpr:
            return SizeExpr({tuple(names): n for n, names in size})

        value, shape, result = self.op.operands[0], [read(s) for s in spec["source"]], spec["shape"]
        joined = [multiply(shape[d] for d in dims) for dims, _ in spec["groups"]]
        written = [[[n, list(names)] for names, n in size.terms.items()] for size in joined]
        sizes = list(spec["source"])
        for at, (dims, _) in enumerate(spec["groups"]):  # dims before `at` are done
            if len(dims) > 1:
                sizes[at : at + len(dims)] = [written[at]]
                operands = [value, self._number(at), self._number(at + len(dims) - 1)]
                value = self._create("aten.flatten.using_ints", operands, self._tensor_type(sizes))
        for at, (_, dims) in reversed(list(enumerate(spec["groups"]))):
            if len(dims) > 1:
                split = [result[d] for d in dims]
                sizes[at : at + 1] = split
                value = self._create("aten.unflatten.int", [value, self._number(at), self._sizes(split)], self._tensor_type(sizes))
        return value

    def _lower_expand(self, spec: Mapping[str, Any]) -> Any:
        return self._create("aten.broadcast_to", [self.op.operands[0], self._sizes(spec["shape"])], self.type)

    def _lower_fill(self, spec: Mapping[str, Any]) -> Any:
        from torch_mlir import ir

        value, none = spec["value"], self._none()
        if isinstance(value, float):
            number = self._create("constant.float", [], "!torch.float", value=ir.FloatAttr.get(ir.F64Type.get(), value))
        else:
            number = self._number(int(value))
        return self._create("aten.full", [self._sizes(spec["shape"]), number, self._number(_DTYPES[self.element]), none, none, none], self.type)

    def _lower_range(self, spec: Mapping[str, Any]) -> Any:
        start, step = self._size(spec["start"]), self._size(spec["step"])
        none, kind = self._none(), _DTYPES[self.element]
        if spec["start"] in ([], [[0, []]]) and spec["step"] == [[1, []]]:
            return self._create("aten.arange.start_step", [self._number(0), self._size(spec["shape"][0]), self._number(1), self._number(kind), none, none, none], self.type)
        end = self._create("aten.add.int", [start, self._create("aten.mul.int", [self._size(spec["shape"][0]), step], self.int)], self.int)
        return self._create("aten.arange.start_step", [start, end, step, self._number(kind), none, none, none], self.type)

    def _lower_slice(self, spec: Mapping[str, Any]) -> Any:
        value, sizes = self.op.operands[0], list(spec["source"])
        for i, (axis, start, end, step) in enumerate(spec["slices"]):
            first, last = (SizeExpr({tuple(names): n for n, names in size}) for size in (start, end))
            length = (last - first).divide(SizeExpr.number(step)) or SizeExpr.number(-(-((last - first).known or 0) // step))
            sizes[axis] = [[n, list(names)] for names, n in length.terms.items()]
            type = self.type if i == len(spec["slices"]) - 1 else self._tensor_type(sizes)
            value = self._create("aten.slice.Tensor", [value, self._number(axis), self._size(start), self._size(end), self._number(step)], type)
        return value

    def _lower_select(self, spec: Mapping[str, Any]) -> Any:
        return self._create("aten.select.int", [self.op.operands[0], self._number(spec["axis"]), self._size(spec["index"])], self.type)

    def _lower_take(self, spec: Mapping[str, Any]) -> Any:
        source, index = self.op.operands
        indices = self._create("prim.ListConstruct", [*[self._none()] * spec["axis"], index], "!torch.list<optional<vtensor>>")
        return self._create("aten.index.Tensor", [source, indices], self.type)

    def _lower_values(self, spec: Mapping[str, Any]) -> Any:
        none, kind = self._none(), self._number(_DTYPES[self.element])
        is_scalar = "<[]," in str(self.type)
        parts = []
        for element in spec["elements"]:
            shape = self._create("prim.ListConstruct", [] if is_scalar else [self._number(1)], "!torch.list<int>")
            type = self.type if is_scalar or len(spec["elements"]) == 1 else f"!torch.vtensor<[1],{self.element}>"
            parts.append(self._create("aten.full", [shape, self._size(element), kind, none, none, none], type))
        if len(parts) == 1:
            return parts[0]
        listed = self._create("prim.ListConstruct", parts, "!torch.list<vtensor>")
        return self._create("aten.cat", [listed, self._number(0)], self.type)
