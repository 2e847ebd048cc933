"""ONNX models, also with annotations for several devices: the standard's, or those of ONNX Runtime's distributed ops."""

from __future__ import annotations

import dataclasses
import math
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ..errors import ShardKitError, require
from ..linalg.annotations import Inner, annotate
from ..model import Argument, Model, Result, read_names
from ..planning import tags
from ..tools import find_tool, find_torch_mlir_opt, run_tool
from .constants import fold_constants
from .devices import rules
from ..size_exprs import ONE
from .devices.pieces import Pieces
from .devices.placement import Placement, find_stages, place
from .devices.specs import Configuration, choose, find_nested, has_fields
from .devices.specs import read as read_fields
from .nodes import expand_nodes, rewrite_nodes
from .size_ops import KEPT, lower_sizes
from .sizes import Sizes, find_names, mark_sizes, read_bounds, read_dim


def _lowering(has_sizes: bool) -> list[str]:
    """The passes of torch-mlir."""
    kept = f"{{backend-legal-ops={KEPT}}}" if has_sizes else ""
    passes = f"torch-onnx-to-torch-backend-pipeline{kept},torch-backend-to-linalg-on-tensors-backend-pipeline,canonicalize,cse"
    return [f"--pass-pipeline=builtin.module({passes})"]


def import_onnx(
    path: str | Path,
    *,
    configuration: str | None = None,
    sizes: Mapping[str, int] | None = None,
    bounds: Mapping[str, Sequence[int]] | None = None,
    batch: Sequence[str] = (),
    locations: bool = True,
) -> Model:
    """Imports a model file. Initialisers of floats, also in external files, become weights under their names, graph inputs
    inputs; results have the names of graph outputs.

    The standard's fields for several devices (IR version 11 and later) are checked and become the mesh, shardings of arguments and results,
    constraints of what is between. `configuration`: the name of a device configuration, where there are several; `sizes`: of symbolic
    dims; `bounds`: the least and the largest size of symbolic dims that each call brings along, `{"batch": (1, 64)}`: dims of one name
    have one size, those of sums, differences and products of names what these give, and memory is that of the largest; `batch`: inputs
    that the microbatches of a pipeline split along dim 0. With it pipeline stages become stage boundaries, and the program is run by
    `--pipeline`; without it stages are left out, with a warning.

    Nodes `Distributed*` of the domain com.microsoft become the plain nodes, and the specs on their device meshes shardings of
    the tensors in the same way."""
    importer = Importer(path, sizes or {}, configuration, batch, bounds={} if bounds is None else bounds)
    return importer.lower(locations=locations)


class Importer:
    """A model on its way from a file: read, checked and prepared, then lowered."""

    def __init__(
        self, path: str | Path, sizes: Mapping[str, int], configuration: str | None, batch: Sequence[str] = (), axes: Mapping[str, int] | None = None,
        is_planned: bool = False, bounds: Mapping[str, Sequence[int]] | None = None,
    ) -> None:  # fmt: skip
        """`is_planned`: there is a mesh on all devices, of these axes if there are any, in a new configuration if the model has none of that name."""
        require("onnx", "onnx", "importing an ONNX model")
        require("torch_mlir", "torch-mlir", "importing an ONNX model")
        import onnx

        self._path, batch = str(path), read_names(batch, "batch")
        if configuration is not None and not isinstance(configuration, str):
            raise ShardKitError(f"error: configuration is {configuration!r}, expected the name of a device configuration")
        model = _load(self._path)
        self.sizes = _set_sizes(model, sizes)
        self.bounds = read_bounds({} if bounds is None else bounds, _find_symbols(model.graph.input), self.sizes)
        self.fields = onnx.ModelProto(ir_version=model.ir_version, configuration=model.configuration, functions=model.functions)
        self.fields.graph.node.extend(model.graph.node)
        if model.functions:
            from onnx.inliner import inline_local_functions

            model = _attempt(self._path, lambda: inline_local_functions(model))
        del model.configuration[:]
        for node in model.graph.node:
            del node.device_configurations[:]
        self.specs = _drop_distribution(model)
        if self.specs and has_fields(self.fields):
            raise ShardKitError("error: the model has device configurations and Distributed nodes of com.microsoft, expected one of both")
        self.stored = _take_weights(model)
        model = _fold(model, self._path)
        try:
            onnx.checker.check_model(model)
        except onnx.checker.ValidationError as error:
            raise ShardKitError(f"error: {path}: {str(error).splitlines()[0]}") from None
        self.graph, self._model = model.graph, model
        self.arguments = [_describe(v, v.name in self.stored, "input", self.bounds) for v in model.graph.input]
        results = (_describe(v, False, "output", self.bounds, is_followed=bool(self.bounds)) for v in model.graph.output)
        self.results = [Result(o.name, o.dtype) for o in results]
        self._has_stages = bool(batch)
        for name in batch:
            if name not in (inputs := [a.name for a in self.arguments if not a.is_weight]):
                raise ShardKitError(f"error: batch names {name!r}, expected inputs: {', '.join(inputs)}")
        self.arguments = [dataclasses.replace(a, is_batch=a.name in batch) for a in self.arguments]
        self._read_fields(configuration, axes, is_planned)

    def _read_fields(self, name: str | None, axes: Mapping[str, int] | None, is_planned: bool) -> None:
        self.shapes = _find_shapes(self.graph)
        self.configurations = read_fields(self.fields, self.shapes, self.sizes)
        for each in self.configurations.values():
            rules.check(each, self.fields.graph.node, self.shapes, find_stages(each, self.fields.graph.node))
        self.is_new = is_planned and (name not in self.configurations if name else not self.configurations)
        self.configuration = self._add_configuration(name, axes) if self.is_new else choose(self.configurations, name)
        self.placement: Placement | None = None
        self.notes = [f"{n} is annotated: only nodes of the main graph are taken over" for n in find_nested(self.fields)]
        if self.configuration:
            self.placement, notes = place(self.configuration, self.fields.graph.node, self.shapes, axes, is_planned)
            self.notes += notes

    def _add_configuration(self, name: str | None, axes: Mapping[str, int] | None) -> Configuration:
        if not axes:
            known = ", ".join(self.configurations)
            expected = f"one of: {known}; or a mesh (--mesh) for a new one" if known else "a mesh: names and sizes of axes, such as data=2,model=4"
            raise ShardKitError(f"error: the model has no device configuration{f' {name!r}' if name else ''}, expected {expected}")
        return Configuration(name or "shardkit", math.prod(axes.values()), {})

    def lower(self, locations: bool = True, watch: bool = False) -> Model:
        """`watch`: the values of all tensors are to be found again: `self.sites` has where, as `Joins` does, and ops carry tags with the
        numbers of nodes. Then stages are left out, and the mesh is that of one."""
        for note in self.notes:
            warnings.warn(note, stacklevel=3)
        if self.placement is None and not watch:
            text = self._lower_distributed()
        else:
            text = self._lower_joined(watch)
            if not watch:
                text = tags.remove(text)
        info = ["--mlir-print-debuginfo"] if locations or watch else []
        text = run_tool([find_tool("shard-opt"), "-", "--spmd-import-ort", *info], text)
        return Model(text, self.arguments, self.results, stored=self.stored)

    def _describe_sizes(self) -> Sizes | None:
        """The names of the dims of inputs."""
        dims = {v.name: [read_dim(d, self.bounds) or ONE for d in v.type.tensor_type.shape.dim] for v in self.graph.input}
        return Sizes(dims, self.bounds) if self.bounds else None

    def _lower_distributed(self) -> str:
        """What is annotated inside is handed out, so that it is found again once lowered."""
        arguments_by_name = {a.name for a in self.arguments}
        known = {v.name: v for v in self.graph.value_info}
        named = {v.name for v in self.graph.output}
        constants = _constants(self.graph)
        inner = [name for name in self.specs if name not in arguments_by_name and name not in named and name not in constants]
        for name in inner:
            if name not in known:
                raise ShardKitError(f"error: tensor {name} has a spec and no shape, expected one that shape inference finds")
            self.graph.output.append(known[name])
        lowered = _lower(self._model, self._path, self.bounds)
        attributes = {
            name: f'#spmd.ort<"{spec}", shape = {shape}, elements = {elements}>' for name, (spec, shape, elements) in self.specs.items()
        }
        return annotate(lowered, self.arguments, self.results, attributes, [Inner(name) for name in inner], sizes=self._describe_sizes())

    def _lower_joined(self, watch: bool) -> str:
        """Tensors that are annotated, cross between stages or are watched are results and arguments of what is lowered."""
        stages = self.placement.stages if self.placement and not watch else ()
        if stages and not self._has_stages:
            warnings.warn("pipeline stages are left out, expected batch (--batch): inputs that microbatches split, or none", stacklevel=4)
            stages = ()
        pieces = Pieces(self.graph, self.fields.graph.node, self.configuration, self.placement, self.shapes, stages, watch)
        for note in pieces.notes:
            warnings.warn(note, stacklevel=4)
        try:
            lowered = _lower(self._model, self._path, self.bounds)
        except ShardKitError as error:
            raise ShardKitError(tags.remove(str(error))) from None
        mesh = (self.placement.mesh.place(range(len(self.placement.mesh.devices))) if watch else self.placement.full_mesh).spell() if self.placement else ""
        text = annotate(lowered, self.arguments, self.results, pieces.shardings, (), mesh, joins=pieces.joins, sizes=self._describe_sizes())
        self.sites = pieces.joins.sites
        return text


def _load(path: str) -> Any:
    import onnx

    if not Path(path).is_file():
        raise ShardKitError(f"error: {path}: no such file")
    return _attempt(path, lambda: onnx.load(path))


def _attempt(path: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except FileNotFoundError as error:  # external data
        raise ShardKitError(f"error: {path} cannot be read as an ONNX model: {error}") from None
    except Exception as error:  # what protobuf and onnx raise has no common base
        raise ShardKitError(f"error: {path} cannot be read as an ONNX model: {str(error).splitlines()[0]}") from None


def _set_sizes(model: Any, sizes: Mapping[str, int]) -> dict[str, int]:
    """Gives symbolic dims their sizes. What is computed of them is left to shape inference."""
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    dims = [dim for value in values for dim in value.type.tensor_type.shape.dim]
    symbols = _find_symbols(values)
    if not isinstance(sizes, Mapping):
        raise ShardKitError(f"error: sizes is {sizes!r}, expected the sizes of symbolic dims by name, such as {{'batch': 8}}")
    for name, size in sizes.items():
        if name not in symbols:
            raise ShardKitError(f"error: sizes has {name!r}, expected a symbolic dim of the model: {', '.join(symbols) or 'it has none'}")
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ShardKitError(f"error: sizes has {name} = {size!r}, expected a positive number")
    for dim in dims:
        if dim.dim_param and (expr := read_dim(dim, sizes)) is not None:
            dim.dim_value = expr.range({name: (n, n) for name, n in sizes.items()})[0]
    if sizes:
        inputs = {id(dim) for value in model.graph.input for dim in value.type.tensor_type.shape.dim}
        for dim in dims:
            if dim.dim_param and id(dim) not in inputs:
                dim.ClearField("dim_param")
    return dict(sizes)


def _find_symbols(values: Sequence[Any]) -> list[str]:
    """The names of dims, and of those that dims are computed of, each once."""
    texts = dict.fromkeys(dim.dim_param for value in values for dim in value.type.tensor_type.shape.dim if dim.dim_param)
    return list(dict.fromkeys([*texts, *(name for text in texts for name in find_names(text))]))


def _take_weights(model: Any) -> dict[str, np.ndarray]:
    """Weights become inputs."""
    import onnx
    from onnx import numpy_helper

    graph = model.graph
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
    return weights


def _find_shapes(graph: Any) -> dict[str, list[int | str | None]]:
    shapes: dict[str, list[int | str | None]] = {i.name: list(i.dims) for i in graph.initializer}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        if value.type.HasField("tensor_type") and value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            shapes[value.name] = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims]
    return shapes


_FLOATS = {1, 10, 11, 16}  # float, float16, double, bfloat16


def _constants(graph: Any) -> set[str]:
    return {i.name for i in graph.initializer} | {o for n in graph.node if n.op_type == "Constant" for o in n.output}


def _describe(value: Any, is_weight: bool, what: str, bounds: Mapping[str, Any], is_followed: bool = False) -> Argument:
    """`is_followed`: sizes that are not known are found later."""
    import onnx

    tensor = value.type.tensor_type
    shape = []
    for i, dim in enumerate(tensor.shape.dim):
        is_known = dim.HasField("dim_value")
        if read_dim(dim, bounds) is None and not is_followed:
            is_named = dim.dim_param and not dim.dim_param.startswith("unk__")  # as shape inference calls what it does not know
            name, how = dim.dim_param, "write sizes into the model (onnx.tools.update_model_dims)"
            if is_named:
                how = f"--size {name}=8, sizes={{{name!r}: 8}}; or a bound: --bound {name}=1:64, bounds={{{name!r}: (1, 64)}}"
            raise ShardKitError(f"error: {what} {value.name} has the unknown size {name or '?'} in dim {i}, expected a number: {how}")
        shape.append(dim.dim_value if is_known else -1)
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


def _lower(model: Any, path: str, bounds: Mapping[str, tuple[int, int]]) -> str:
    """Linalg in generic form. An op that torch-mlir does not lower and that ONNX defines by others becomes these."""

    expanded: set[str | None] = set()
    while True:
        model = _fold(rewrite_nodes(model), path)
        for node in model.graph.node:  # what errors and locations name
            node.name = node.name or next(filter(None, node.output), "")
        marked = mark_sizes(model, bounds, path) if bounds else model
        try:
            return _lower_nodes(marked, path, bounds)
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


def _lower_nodes(model: Any, path: str, bounds: Mapping[str, tuple[int, int]]) -> str:
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
    if bounds:
        sizes = [[read_dim(d, bounds) or ONE for d in v.type.tensor_type.shape.dim] for v in model.graph.input]
        lower_sizes(module.body.operations[0].operation, sizes, path)
    text = module.operation.get_asm(enable_debug_info=True)
    try:
        return run_tool([find_torch_mlir_opt(), *_lowering(bool(bounds)), "--mlir-print-op-generic", "--mlir-print-debuginfo"], text)
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
