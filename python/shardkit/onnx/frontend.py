"""ONNX models, also with ONNX Runtime's distributed ops."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ShardKitError, require
from ..linalg.annotations import Inner, annotate
from ..model import Argument, Model, Result
from ..tools import find_tool, find_torch_mlir_opt, run_tool
from .constants import fold_constants
from .nodes import expand_nodes, rewrite_nodes

_LOWERING = [
    "--torch-onnx-to-torch-backend-pipeline", "--torch-backend-to-linalg-on-tensors-backend-pipeline", "--canonicalize", "--cse",
]  # fmt: skip


def import_onnx(path: str | Path, *, locations: bool = True) -> Model:
    """Imports a model file. Initialisers of floats, also in external files, become weights under their names, graph inputs
    inputs; results have the names of graph outputs.

    Nodes `Distributed*` of the domain com.microsoft become the plain nodes, and the specs on their device meshes shardings of
    the tensors: of arguments, results, and as constraints of what is between."""
    require("onnx", "onnx", "importing an ONNX model")
    require("torch_mlir", "torch-mlir", "importing an ONNX model")
    import onnx
    from onnx import numpy_helper

    try:
        model = onnx.load(str(path))
        if model.functions:
            from onnx.inliner import inline_local_functions

            model = inline_local_functions(model)
    except FileNotFoundError:
        raise ShardKitError(f"error: {path}: no such file") from None
    except Exception as error:  # what protobuf and onnx raise has no common base
        raise ShardKitError(f"error: {path} cannot be read as an ONNX model: {str(error).splitlines()[0]}") from None
    specs = _drop_distribution(model)
    graph = model.graph

    # Weights are arguments.
    sizes = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
    weights = {i.name: numpy_helper.to_array(i) for i in graph.initializer if i.data_type in _FLOATS and i.name not in sizes}
    given = {v.name for v in graph.input}
    for initializer in [i for i in graph.initializer if i.name in weights]:
        if initializer.name not in given:  # older models list them among the inputs
            graph.input.append(onnx.helper.make_tensor_value_info(initializer.name, initializer.data_type, initializer.dims))
        graph.initializer.remove(initializer)
    for initializer in graph.initializer:  # constants that older models list as inputs
        for value in [v for v in graph.input if v.name == initializer.name]:
            graph.input.remove(value)
    model = _fold(model, str(path))
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise ShardKitError(f"error: {path}: {str(error).splitlines()[0]}") from None
    graph = model.graph
    arguments = [_describe(v, v.name in weights, "input") for v in graph.input]
    outputs = [_describe(v, False, "output") for v in graph.output]
    results = [Result(o.name, o.dtype) for o in outputs]

    # What is annotated inside is handed out, so that it is found again once lowered.
    arguments_by_name = {a.name for a in arguments}
    known = {v.name: v for v in graph.value_info}
    named = {v.name for v in graph.output}
    inner = [name for name in specs if name not in arguments_by_name and name not in named and name not in _constants(graph)]
    for name in inner:
        if name not in known:
            raise ShardKitError(f"error: tensor {name} has a spec and no shape, expected one that shape inference finds")
        graph.output.append(known[name])

    lowered = _lower(model, str(path))
    attributes = {
        name: f'#spmd.ort<"{spec}", shape = {shape}, elements = {elements}>' for name, (spec, shape, elements) in specs.items()
    }
    text = annotate(lowered, arguments, results, attributes, [Inner(name) for name in inner])
    info = ["--mlir-print-debuginfo"] if locations else []
    text = run_tool([find_tool("shard-opt"), "-", "--spmd-import-ort", *info], text)
    return Model(text, arguments, results, stored=weights)


_FLOATS = {1, 10, 11, 16}  # float, float16, double, bfloat16


def _constants(graph: Any) -> set[str]:
    return {i.name for i in graph.initializer} | {o for n in graph.node if n.op_type == "Constant" for o in n.output}


def _describe(value: Any, is_weight: bool, what: str) -> Argument:
    import onnx

    tensor = value.type.tensor_type
    shape = []
    for i, dim in enumerate(tensor.shape.dim):
        if not dim.HasField("dim_value"):
            raise ShardKitError(
                f"error: {what} {value.name} has the unknown size {dim.dim_param or '?'} in dim {i}, expected a number: "
                "write sizes into the model (onnx.tools.update_model_dims)"
            )
        shape.append(dim.dim_value)
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        raise ShardKitError(f"error: {what} {value.name} has no shape, expected a tensor of a known shape")
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)).name
    return Argument(value.name, tuple(shape), dtype, is_weight)


def _drop_distribution(model: Any) -> dict[str, tuple[str, list[int], list[int]]]:
    """Makes plain nodes of distributed ones; returns the spec of each tensor that has one."""
    specs: dict[str, tuple[str, list[int], list[int]]] = {}
    for node in model.graph.node:
        if node.domain != "com.microsoft" or not node.op_type.startswith("Distributed"):
            continue
        attributes = {a.name: a for a in node.attribute}

        def read(side: str, tensors: Any) -> list[tuple[str, tuple[str, list[int], list[int]]]]:
            lists = []
            for key in (f"{side}_shard_specs", f"{side}_device_mesh_shapes", f"{side}_device_mesh_elements"):
                if key not in attributes or len(attributes[key].strings) != len(tensors):
                    raise ShardKitError(
                        f"error: node {node.name or node.output[0]} ({node.op_type}) has "
                        f"{len(attributes[key].strings) if key in attributes else 'no'} {key}, expected {len(tensors)}, one for each {side}"
                    )
                lists.append([s.decode() for s in attributes[key].strings])

            def numbers(text: str) -> list[int]:
                return [int(n) for n in re.findall(r"\d+", text)]

            return [(t, (spec, numbers(shape), numbers(ids))) for t, spec, shape, ids in zip(tensors, *lists) if t]

        for tensor, spec in read("output", node.output):
            specs[tensor] = spec
        for tensor, spec in read("input", node.input):
            if tensor not in specs:
                specs[tensor] = spec
            elif specs[tensor] != spec:
                warnings.warn(
                    f"{tensor} is {specs[tensor][0]} on {specs[tensor][2]} and node {node.name or node.output[0]} reads it as "
                    f"{spec[0]} on {spec[2]}: how it is read is left to ShardKit",
                    stacklevel=3,
                )
        node.op_type, node.domain = node.op_type[len("Distributed") :], ""
        for name in [n for n in attributes if "shard_spec" in n or "device_mesh" in n]:
            node.attribute.remove(attributes[name])
    return specs


def _fold(model: Any, path: str) -> Any:
    import onnx

    try:
        return fold_constants(model)
    except onnx.shape_inference.InferenceError as error:
        raise ShardKitError(f"error: {path}: {str(error).splitlines()[0]}") from None


def _lower(model: Any, path: str) -> str:
    """Linalg in generic form. An op that torch-mlir does not lower and that ONNX defines by others becomes these."""

    expanded: set[str | None] = set()
    while True:
        model = _fold(rewrite_nodes(model), path)
        for node in model.graph.node:  # what errors and locations name
            node.name = node.name or next(filter(None, node.output), "")
        try:
            return _lower_nodes(model, path)
        except _NotLowered as error:
            more = None if error.op_type in expanded else expand_nodes(model, error.op_type)
            if more is None:
                raise
            expanded.add(error.op_type)
            model = more


class _NotLowered(ShardKitError):
    def __init__(self, message: str, op_type: str | None):
        super().__init__(message)
        self.op_type = op_type


def _lower_nodes(model: Any, path: str) -> str:
    import onnx
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras import onnx_importer

    with tempfile.TemporaryDirectory() as work:
        # Shapes of what is larger than a protobuf may be are found in a file.
        onnx.save(model, f"{work}/model.onnx", save_as_external_data=model.ByteSize() > 1 << 30)
        model = onnx.load(f"{work}/model.onnx")
    context = ir.Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(model)
    module = info.create_module(context=context)
    try:
        onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    except onnx_importer.OnnxImportError as error:
        raise ShardKitError(f"error: {path}: {str(error).splitlines()[0]}") from None
    text = module.operation.get_asm(enable_debug_info=True)
    try:
        return run_tool([find_torch_mlir_opt(), *_LOWERING, "--mlir-print-op-generic", "--mlir-print-debuginfo"], text)
    except ShardKitError as error:
        raise _describe_failure(model, path, str(error)) from None


def _describe_failure(model: Any, path: str, message: str) -> _NotLowered:
    """The node that a message of torch-mlir is about, and the reason if it gives one."""
    found = re.search(r'error: (?:loc\("([^"]*)"\): )?([^\n]*)', message)
    name, why = (found[1], found[2]) if found else (None, "torch-mlir-opt has ended without a message")
    node = next((n for n in model.graph.node if n.name == name), None)
    operator = re.search(r'name = "onnx\.([\w.]+)"', message)
    op_type = operator[1] if operator else node.op_type if node else None
    illegal = re.search(r"failed to legalize operation '([\w.]+)'", why)
    what = f"node {op_type}" if op_type else illegal[1] if illegal else "a node"
    what += f' "{name}"' if name else ""
    why = "" if illegal else f" ({why})"
    return _NotLowered(
        f"error: {path}: {what} has no lowering to linalg{why}, expected nodes that have one: replace it before exporting", op_type
    )
