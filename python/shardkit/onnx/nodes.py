"""ONNX nodes that torch-mlir does not lower, or not as ONNX defines them, by nodes that it lowers."""

from __future__ import annotations

from typing import Any, Callable

from ..errors import ShardKitError


def expand_nodes(model: Any, op_type: str | None) -> Any | None:
    """The model with ONNX's own definition of an op in place of its nodes, for this opset and these inputs; None if no node
    has one."""
    import onnx
    from onnx.inliner import inline_local_functions

    version = _opset(model)
    if not op_type or not onnx.defs.has(op_type, version, ""):
        return None
    types = {v.name: v.type for v in [*model.graph.input, *model.graph.value_info, *model.graph.output]}
    types |= {i.name: onnx.helper.make_tensor_type_proto(i.data_type, i.dims) for i in model.graph.initializer}
    for number, node in enumerate(model.graph.node):
        body = _body_of(node, version, types) if node.op_type == op_type and node.domain in ("", "ai.onnx") else None
        if body is None:
            continue
        body.domain, body.name = _DOMAIN, f"{op_type}_{number}"
        del body.opset_import[:]
        body.opset_import.append(onnx.helper.make_opsetid("", version))
        node.domain, node.op_type = body.domain, body.name
        model.functions.append(body)
    if not model.functions:
        return None
    if all(o.domain != _DOMAIN for o in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
    return inline_local_functions(model)


_DOMAIN = "shardkit.expanded"


def _opset(model: Any) -> int:
    return max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=1)


def _body_of(node: Any, version: int, types: dict[str, Any]) -> Any | None:
    import onnx

    schema = onnx.defs.get_schema(node.op_type, version, "")
    # Ops took axes in another way before, so a body of then means something else now.
    versions = [v for v in schema.all_function_opset_versions if v <= version and (v >= 18) == (version >= 18)]
    if not versions:
        return None
    given = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
    if schema.has_context_dependent_function:
        inputs = [types[name] if name in types else onnx.TypeProto() for name in node.input]
        text = schema.get_context_dependent_function_with_opset_version(
            max(versions), node.SerializeToString(), [t.SerializeToString() for t in inputs]
        )
    else:
        text = schema.get_function_with_opset_version(max(versions))
    body = onnx.FunctionProto()
    body.ParseFromString(text if isinstance(text, bytes) else text.SerializeToString())
    return body if body.node else None


def rewrite_nodes(model: Any) -> Any:
    """Replaces nodes that torch-mlir lowers wrongly, or in one form only; one that cannot be replaced is an error."""
    for op_type in _EXPANDED:
        if any(n.op_type == op_type for n in model.graph.node):
            model = expand_nodes(model, op_type) or model
    graph = _Graph(model)
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        rewrite = _REWRITES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        made = rewrite(graph, node) if rewrite else [node]
        for each in made:
            each.name = each.name or node.name
        model.graph.node.extend(made)
    return model


class _Graph:
    """Queries of rewrites about the model of a node."""

    def __init__(self, model: Any):
        self.model, self.version = model, _opset(model)
        graph = model.graph
        self._types = {v.name: v.type.tensor_type for v in [*graph.input, *graph.value_info, *graph.output]}
        self._constants = {i.name: i for i in graph.initializer}

    def type_of(self, name: str) -> int:
        """A TensorProto.DataType, 0 where it is not known."""
        if name in self._constants:
            return int(self._constants[name].data_type)
        return int(self._types[name].elem_type) if name in self._types else 0

    def shape_of(self, name: str) -> list[int | None] | None:
        if name in self._constants:
            return list(self._constants[name].dims)
        if name not in self._types or not self._types[name].HasField("shape"):
            return None
        return [d.dim_value if d.HasField("dim_value") else None for d in self._types[name].shape.dim]

    def rank_of(self, name: str) -> int | None:
        shape = self.shape_of(name)
        return None if shape is None else len(shape)

    def values_of(self, name: str) -> list[Any] | None:
        """Of a constant."""
        from onnx import numpy_helper

        return numpy_helper.to_array(self._constants[name]).ravel().tolist() if name in self._constants else None

    def is_float(self, name: str) -> bool:
        import onnx

        return self.type_of(name) in {getattr(onnx.TensorProto, kind) for kind in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")}

    def number(self, name: str, value: float, like: str) -> str:
        """A constant of the dtype of `like`."""
        return self._add(name, self.type_of(like), [], [value])

    def constant(self, name: str, values: list[int]) -> str:
        import onnx

        return self._add(name, onnx.TensorProto.INT64, [len(values)], values)

    def _add(self, name: str, kind: int, dims: list[int], values: list[Any]) -> str:
        import onnx

        tensor = onnx.helper.make_tensor(name, kind, dims, values)
        self.model.graph.initializer.append(tensor)
        self._constants[name] = tensor
        return name


def _attribute(node: Any, name: str, default: Any) -> Any:
    import onnx

    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def _dequantize(graph: _Graph, node: Any) -> list[Any]:
    """(x - zero point) * scale. torch-mlir takes an unsigned zero point of an axis for a signed one, and no blocks."""
    import onnx

    x, scale, zero = node.input[0], node.input[1], node.input[2] if len(node.input) > 2 else ""
    out, kind, rank, ranks = node.output[0], graph.type_of(node.input[0]), graph.rank_of(node.input[0]), graph.rank_of(node.input[1])
    integers = {getattr(onnx.TensorProto, name) for name in ("INT8", "UINT8", "INT16", "UINT16", "INT32")}
    floats = graph.type_of(scale) == onnx.TensorProto.FLOAT and _attribute(node, "output_dtype", 0) in (0, onnx.TensorProto.FLOAT)
    if kind not in integers or not floats or rank is None or ranks != 1 or graph.version < 13:
        return [node]
    axis = _attribute(node, "axis", 1) % max(rank, 1)
    shape = graph.constant(f"{out}:shape", [1] * axis + [-1] + [1] * (rank - axis - 1))
    make = onnx.helper.make_node
    nodes = [make("Cast", [x], [f"{out}:x"], to=onnx.TensorProto.INT32), make("Reshape", [scale, shape], [f"{out}:scale"])]
    difference = f"{out}:x"
    if zero:
        difference = f"{out}:difference"
        nodes += [
            make("Cast", [zero], [f"{out}:flat"], to=onnx.TensorProto.INT32),
            make("Reshape", [f"{out}:flat", shape], [f"{out}:zero"]),
            make("Sub", [f"{out}:x", f"{out}:zero"], [difference]),
        ]
    return [
        *nodes,
        make("Cast", [difference], [f"{out}:float"], to=onnx.TensorProto.FLOAT),
        make("Mul", [f"{out}:float", f"{out}:scale"], [out]),
    ]


def _reduce(graph: _Graph, node: Any) -> list[Any]:
    """All axes are named: torch-mlir wants them where they go."""
    import onnx

    rank = graph.rank_of(node.input[0])
    named = len(node.input) > 1 and node.input[1] and graph.values_of(node.input[1]) != []
    given = named or _attribute(node, "axes", None) is not None
    if given or not rank or _attribute(node, "noop_with_empty_axes", 0):
        return [node]
    made = onnx.NodeProto()
    made.CopyFrom(node)
    if graph.version >= (13 if node.op_type == "ReduceSum" else 18):
        del made.input[1:]
        made.input.append(graph.constant(f"{node.output[0]}:axes", list(range(rank))))
    else:
        made.attribute.append(onnx.helper.make_attribute("axes", list(range(rank))))
    return [made]


def _matmul(graph: _Graph, node: Any) -> list[Any]:
    """A vector times more than a matrix becomes a matrix."""
    import onnx

    (a, b), out = node.input, node.output[0]
    ranks = [r for r in (graph.rank_of(a), graph.rank_of(b)) if r is not None]
    if len(ranks) < 2 or 1 not in ranks or max(ranks) < 3 or graph.version < 13:
        return [node]
    side = ranks.index(1)
    axis = graph.constant(f"{out}:axis", [-1] if side else [0])
    gone = graph.constant(f"{out}:gone", [-1] if side else [-2])
    make = onnx.helper.make_node
    return [
        make("Unsqueeze", [b if side else a, axis], [f"{out}:matrix"]),
        make("MatMul", [a, f"{out}:matrix"] if side else [f"{out}:matrix", b], [f"{out}:product"]),
        make("Squeeze", [f"{out}:product", gone], [out]),
    ]


def _normalize(graph: _Graph, node: Any) -> list[Any]:
    """x / norm; zeros where the norm is 0."""
    import onnx

    x, out, rank = node.input[0], node.output[0], graph.rank_of(node.input[0])
    if not rank or graph.version < 18:
        return [node]
    axes = graph.constant(f"{out}:axes", [_attribute(node, "axis", -1) % rank])
    zero, one = graph.constant(f"{out}:0", [0]), graph.constant(f"{out}:1", [1])
    make = onnx.helper.make_node
    return [
        make(f"ReduceL{_attribute(node, 'p', 2)}", [x, axes], [f"{out}:norm"], keepdims=1),
        make("CastLike", [zero, x], [f"{out}:zero"]),
        make("CastLike", [one, x], [f"{out}:one"]),
        make("Equal", [f"{out}:norm", f"{out}:zero"], [f"{out}:none"]),
        make("Where", [f"{out}:none", f"{out}:one", f"{out}:norm"], [f"{out}:divisor"]),
        make("Div", [x, f"{out}:divisor"], [out]),
    ]


def _slice(graph: _Graph, node: Any) -> list[Any]:
    """Backward, a start beyond the dim is its first or last element: torch-mlir reads there."""
    import onnx

    shape = graph.shape_of(node.input[0])
    if len(node.input) < 5 or shape is None:
        return [node]
    starts, steps = graph.values_of(node.input[1]), graph.values_of(node.input[4])
    axes = graph.values_of(node.input[3]) if node.input[3] else list(range(len(starts or [])))
    if steps is not None and min(steps) > 0:
        return [node]
    if starts is None or steps is None or axes is None or any(shape[axis] is None for axis in axes):
        raise ShardKitError(f'error: node Slice "{node.name}" goes backwards from a position that is not known, expected constants')

    def clamp(start: int, size: int) -> int:
        return min(max(start + size if start < 0 else start, 0), size - 1)

    clamped = [clamp(start, shape[axis]) if step < 0 else start for start, axis, step in zip(starts, axes, steps)]
    if clamped == starts:
        return [node]
    made = onnx.NodeProto()
    made.CopyFrom(node)
    made.input[1] = graph.constant(f"{node.output[0]}:starts", clamped)
    return [made]


def _widen(graph: _Graph, node: Any) -> list[Any]:
    """torch-mlir takes unsigned integers for signed ones in these ops: those of 8 bits, which it converts, are computed in a wider type."""
    import onnx

    kinds = onnx.TensorProto
    narrow = graph.type_of(node.input[0])
    if narrow in (kinds.UINT16, kinds.UINT32, kinds.UINT64):
        raise _wrong(node, "as if its integers were signed", "uint8 or signed integers")
    if narrow != kinds.UINT8:
        return [node]
    made = onnx.NodeProto()
    made.CopyFrom(node)
    before, after = [], []
    for i, name in enumerate(node.input):
        if graph.type_of(name) == narrow:
            made.input[i] = f"{node.output[0]}:in{i}"
            before.append(onnx.helper.make_node("Cast", [name], [made.input[i]], to=kinds.INT32))
    for i, name in enumerate(node.output):
        if graph.type_of(name) == narrow:
            made.output[i] = f"{node.output[0]}:out{i}"
            after.append(onnx.helper.make_node("Cast", [made.output[i]], [name], to=narrow))
    return [*before, made, *after]


def _reciprocal(graph: _Graph, node: Any) -> list[Any]:
    """Also of 0, where torch-mlir ends the program."""
    import onnx

    x, out = node.input[0], node.output[0]
    return [onnx.helper.make_node("Div", [graph.number(f"{out}:one", 1, x), x], [out])] if graph.is_float(x) else [node]


def _sign(graph: _Graph, node: Any) -> list[Any]:
    """NaN stays NaN."""
    import onnx

    x, out = node.input[0], node.output[0]
    if not graph.is_float(x) or graph.version < 9 or out.endswith(":sign"):
        return _widen(graph, node)
    make = onnx.helper.make_node
    return [make("IsNaN", [x], [f"{out}:none"]), make("Sign", [x], [f"{out}:sign"]), make("Where", [f"{out}:none", x, f"{out}:sign"], [out])]


def _clip(graph: _Graph, node: Any) -> list[Any]:
    """NaN stays NaN."""
    import onnx

    x, out = node.input[0], node.output[0]
    if not graph.is_float(x) or graph.version < 11:
        return _widen(graph, node)
    nodes = []
    for i, compare in ((1, "Less"), (2, "Greater")):
        if len(node.input) > i and node.input[i]:
            nodes += [
                onnx.helper.make_node(compare, [x, node.input[i]], [f"{out}:beyond{i}"]),
                onnx.helper.make_node("Where", [f"{out}:beyond{i}", node.input[i], x], [f"{out}:clip{i}"]),
            ]
            x = f"{out}:clip{i}"
    return [*nodes, onnx.helper.make_node("Identity", [x], [out])]


def _pick(compare: str) -> Callable[[_Graph, Any], list[Any]]:
    """Max and Min propagate NaN."""

    def rewrite(graph: _Graph, node: Any) -> list[Any]:
        import onnx

        best, out = node.input[0], node.output[0]
        if not graph.is_float(best) or graph.version < 9:
            return [node]
        make, nodes = onnx.helper.make_node, []
        for i, x in enumerate(node.input[1:]):
            names = [f"{out}:{what}{i}" for what in ("beyond", "none", "kept", "best")]
            nodes += [
                make(compare, [best, x], [names[0]]),
                make("IsNaN", [best], [names[1]]),
                make("Or", names[:2], [names[2]]),
                make("Where", [names[2], best, x], [names[3]]),
            ]
            best = names[3]
        return [*nodes, make("Identity", [best], [out])]

    return rewrite


def _log_sum_exp(graph: _Graph, node: Any) -> list[Any]:
    """From the largest on, so that nothing overflows."""
    import onnx

    (node,) = _reduce(graph, node)
    x, out = node.input[0], node.output[0]
    if not graph.is_float(x) or graph.version < 18 or len(node.input) < 2 or not node.input[1]:
        return [node]
    make, axes, keeps = onnx.helper.make_node, node.input[1], _attribute(node, "keepdims", 1)
    noop = _attribute(node, "noop_with_empty_axes", 0)
    nodes = [
        make("ReduceMax", [x, axes], [f"{out}:max"], keepdims=1, noop_with_empty_axes=noop),
        make("IsInf", [f"{out}:max"], [f"{out}:ends"]),
        make("Where", [f"{out}:ends", graph.number(f"{out}:zero", 0, x), f"{out}:max"], [f"{out}:base"]),
        make("Sub", [x, f"{out}:base"], [f"{out}:difference"]),
        make("Exp", [f"{out}:difference"], [f"{out}:exp"]),
        make("ReduceSum", [f"{out}:exp", axes], [f"{out}:sum"], keepdims=1, noop_with_empty_axes=noop),
        make("Log", [f"{out}:sum"], [f"{out}:log"]),
        make("Add", [f"{out}:log", f"{out}:base"], [out if keeps else f"{out}:full"]),
    ]
    return nodes if keeps else [*nodes, make("Squeeze", [f"{out}:full", axes], [out])]


def _pad(graph: _Graph, node: Any) -> list[Any]:
    """What is padded by less than nothing is sliced first."""
    import onnx

    mode, rank, out = _attribute(node, "mode", b"constant"), graph.rank_of(node.input[0]), node.output[0]
    if mode == b"wrap":
        raise _wrong(node, "its mode: that does not end", "Concat of slices")
    pads = _attribute(node, "pads", None) if graph.version < 11 else graph.values_of(node.input[1])
    if pads is None or min(pads, default=0) >= 0:
        return [node]
    if mode != b"constant" or not rank or graph.version < 10:
        raise _wrong(node, "padding by less than nothing", "Slice")
    named = graph.values_of(node.input[3]) if len(node.input) > 3 and node.input[3] else list(range(rank))
    if named is None:
        raise _wrong(node, "axes that are not known", "constants")
    lows, highs = pads[: len(named)], pads[len(named) :]
    boundaries = [graph.constant(f"{out}:starts", [max(0, -p) for p in lows]), graph.constant(f"{out}:ends", [min(p, 0) or _END for p in highs])]
    made = onnx.NodeProto()
    made.CopyFrom(node)
    made.input[0] = f"{out}:part"
    rest = [max(0, p) for p in pads]
    if graph.version < 11:
        next(a for a in made.attribute if a.name == "pads").ints[:] = rest
    else:
        made.input[1] = graph.constant(f"{out}:pads", rest)
    axes = graph.constant(f"{out}:axes", named)
    return [onnx.helper.make_node("Slice", [node.input[0], *boundaries, axes], [f"{out}:part"]), made]


_END = (1 << 63) - 1


def _wrong(node: Any, why: str, expected: str) -> ShardKitError:
    name = node.name or node.output[0]
    return ShardKitError(f'error: node {node.op_type} "{name}" is lowered wrongly by torch-mlir ({why}), expected {expected}')


def _refuse(why: str, expected: str, when: Callable[[_Graph, Any], bool] = lambda graph, node: True) -> Callable[[_Graph, Any], list[Any]]:
    def refuse(graph: _Graph, node: Any) -> list[Any]:
        if when(graph, node):
            raise _wrong(node, why, expected)
        return [node]

    return refuse


def _shifts_signed(graph: _Graph, node: Any) -> bool:
    import onnx

    return graph.type_of(node.input[0]) in {getattr(onnx.TensorProto, f"INT{bits}") for bits in (8, 16, 32, 64)}


def _aligns_to_fractions(graph: _Graph, node: Any) -> bool:
    if _attribute(node, "coordinate_transformation_mode", b"") != b"align_corners" or len(node.input) < 3 or not node.input[2]:
        return False
    shape, scales = graph.shape_of(node.input[0]), graph.values_of(node.input[2])
    if shape is None or scales is None or None in shape:
        return True
    return any(size * scale % 1 for size, scale in zip(shape[-len(scales) :], scales))


# These are expanded although torch-mlir has a lowering: it makes dims of unknown size, divides by 0, or has
# another constant.
_EXPANDED = ("CenterCropPad", "Gelu", "SoftmaxCrossEntropyLoss")

_REWRITES: dict[str, Callable[[_Graph, Any], list[Any]]] = {
    "Clip": _clip,
    "DequantizeLinear": _dequantize,
    "LpNormalization": _normalize,
    "MatMul": _matmul,
    "Max": _pick("Greater"),
    "Min": _pick("Less"),
    "Reciprocal": _reciprocal,
    "Sign": _sign,
    "Slice": _slice,
    "BitShift": _refuse("shifts by the width and more", "unsigned integers", _shifts_signed),
    "GridSample": _refuse("it reads beyond the image", "Gather nodes"),
    "LSTM": _refuse("it leaves out the peepholes", "an LSTM without them", lambda graph, node: len(node.input) > 7 and node.input[7] != ""),
    "Pad": _pad,
    "QLinearMatMul": _refuse(
        "in batches", "matrices, or DequantizeLinear, MatMul and QuantizeLinear", lambda graph, node: graph.rank_of(node.output[0]) != 2
    ),
    "Resize": _refuse("sizes that scales do not give exactly, with align_corners", "sizes in place of scales", _aligns_to_fractions),
    "SpaceToDepth": _refuse("its mode", "mode DCR", lambda graph, node: _attribute(node, "mode", b"DCR") != b"DCR"),
} | {name: _widen for name in ("Abs", "Div", "MaxPool", "Mod", "Pow", "TopK")} | {
    f"Reduce{name}": _reduce
    for name in ("L1", "L2", "LogSum", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
} | {"ReduceLogSumExp": _log_sum_exp}  # fmt: skip
