"""What an ONNX graph computes of constants and of the sizes of tensors, computed when it is imported."""

from __future__ import annotations

import warnings
from typing import Any, Mapping

import numpy as np

# Larger constants are left to the program: what says shapes, axes and positions is small.
_MOST_ELEMENTS = 1 << 12
_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}


def fold_constants(model: Any) -> Any:
    """The model with initialisers in place of small tensors that depend on no input, sizes included, and with the shapes that
    follow from them. Raises what onnx.shape_inference raises."""
    import onnx

    while True:
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        if not _fold(model):
            return model


def _fold(model: Any) -> bool:
    from onnx import numpy_helper

    graph = model.graph
    shapes = _static_shapes(graph)
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer if np.prod(i.dims) <= _MOST_ELEMENTS}
    folded = []
    for node in graph.node:
        values = _evaluate(model, node, constants, shapes)
        if values is None:
            continue
        folded.append(node)
        for name, value in values.items():
            constants[name] = value
            graph.initializer.append(numpy_helper.from_array(value, name))
    for node in folded:
        graph.node.remove(node)
    return bool(folded)


def _static_shapes(graph: Any) -> dict[str, list[int]]:
    shapes = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim):
            shapes[value.name] = [d.dim_value for d in tensor.shape.dim]
    return shapes


def _evaluate(model: Any, node: Any, constants: dict[str, np.ndarray], shapes: dict[str, list[int]]) -> dict[str, np.ndarray] | None:
    """The results of a node, or None where they depend on more than constants or are large."""
    if node.domain not in ("", "ai.onnx") or node.op_type in _RANDOM or any(a.HasField("g") or a.graphs for a in node.attribute):
        return None
    if any(np.prod(shapes.get(name, [1])) > _MOST_ELEMENTS for name in node.output):
        return None
    inputs = {}
    for name in filter(None, node.input):
        if node.op_type in ("Shape", "Size") and name in shapes:
            inputs[name] = np.broadcast_to(np.float32(0), shapes[name])
        elif name in constants:
            inputs[name] = constants[name]
        else:
            return None
    values = evaluate_node(model, node, inputs)
    return values if values is not None and all(v.size <= _MOST_ELEMENTS for v in values.values()) else None


def evaluate_node(model: Any, node: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """The results of a node by ONNX's own evaluator; None where it lacks the op or the type."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    outputs = [name for name in node.output if name]
    declared = [onnx.ValueInfoProto(name=name) for name in [*inputs, *outputs]]
    graph = onnx.helper.make_graph([node], "constant", declared[: len(inputs)], declared[len(inputs) :])
    single = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = ReferenceEvaluator(single).run(None, dict(inputs))
    except Exception:  # the program computes it
        return None
    values = [np.asarray(v) if isinstance(v, np.generic) else v for v in values]
    return dict(zip(outputs, values)) if all(isinstance(v, np.ndarray) for v in values) else None
