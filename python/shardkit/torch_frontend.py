"""PyTorch modules with a parallel plan."""

from __future__ import annotations

import re
import subprocess
import warnings
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import torch_complex, torch_graph, torch_ops
from .errors import ShardKitError, require
from .lowered import annotate, find_body
from .model import DTYPES, Argument, Model, Result
from .tools import find_tool, find_torch_mlir_opt, run_tool

_LOWERING = [
    "--pass-pipeline=builtin.module(torchdynamo-export-to-torch-backend-pipeline{extra-library=},"
    "torch-backend-to-linalg-on-tensors-backend-pipeline,canonicalize,cse)",
    "--mlir-print-op-generic",
    "--mlir-print-debuginfo",
]


def import_torch(
    module: Any,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    mesh: Mapping[str, int] | None = None,
    plan: Mapping[str, Any] | None = None,
    axis: str | None = None,
    shardings: Mapping[str, Sequence[Any]] | None = None,
    locations: bool = True,
) -> Model:
    """Exports a module by torch.export on example inputs, `kwargs` those by name. Parameters and buffers become weights under their
    names.

    `mesh`: names and sizes of axes. `plan`: module names, with * for any characters within one part, to the styles of
    torch.distributed.tensor.parallel (`ColwiseParallel()`, `RowwiseParallel()`, `SequenceParallel()`), on the axis `axis`
    (default: the last one); or names of parameters and buffers to a list of placements, one for each axis of the mesh. `shardings`: names of inputs (as `forward` calls them), parameters or buffers, to the axes of each
    dim: `("data", None)`, several axes as a tuple."""
    require("torch", "torch", "importing a PyTorch module")
    require("torch_mlir", "torch-mlir", "importing a PyTorch module")
    import torch

    mesh = dict(mesh or {})
    for name, size in mesh.items():
        if not isinstance(size, int) or size < 1:
            raise ShardKitError(f"error: axis {name} of the mesh has size {size!r}, expected a positive number")
    if axis is not None and axis not in mesh:
        known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
        raise ShardKitError(f"error: the plan is on axis {axis}, expected one of: {known}")
    axis = axis or (list(mesh)[-1] if mesh else None)
    kwargs = dict(kwargs or {})
    state = dict(module.named_parameters()) | dict(module.named_buffers())
    found = _read_plan(module, plan or {}, axis, mesh)
    outputs = {name: spec for name, (_, spec) in found.items() if spec is not None}
    names, inputs = _find_inputs(module, args, kwargs)
    arguments = [Argument(n, tuple(v.shape), _dtype(v, n), True) for n, v in state.items()]
    for name, value in zip(names, inputs):
        arguments.append(Argument(name, tuple(value.shape), _dtype(value, name), False))
    given, given_tree = torch.utils._pytree.tree_flatten((args, kwargs))

    class Whole(torch.nn.Module):  # type: ignore[misc]
        """The module as a function of its state, which also hands out what the plan pins."""

        def forward(self, state: dict[str, Any], *tensors: Any) -> Any:
            rest = iter(tensors)
            leaves = [v if _is_constant(v) else next(rest) for v in given]
            args, kwargs = torch.utils._pytree.tree_unflatten(leaves, given_tree)
            pinned: dict[str, Any] = {}
            hooks = [
                module.get_submodule(name).register_forward_hook(lambda _m, _i, out, name=name: pinned.__setitem__(name, out))
                for name in outputs
            ]
            try:
                result = torch.func.functional_call(module, state, args, kwargs)
            finally:
                for hook in hooks:
                    hook.remove()
            return result, [pinned[name] for name in outputs if name in pinned]

    with torch.no_grad():
        leaves, tree = torch.utils._pytree.tree_flatten(module(*args, **kwargs))
        for i, v in enumerate(leaves):
            if not isinstance(v, torch.Tensor):
                raise ShardKitError(f"error: result {i} of the module is {v!r}, expected tensors only")
        try:
            program = torch.export.export(Whole(), (state, *inputs), strict=False)
        except Exception as error:  # what it raises has no common base
            raise ShardKitError(f"error: torch.export: {str(error).strip().splitlines()[0]}, expected a module that it takes") from error
        pinned_count = len(outputs)
    _check_program(program)
    text = _lower(program)

    result_names = ["result" if len(leaves) == 1 else f"result{i}" for i in range(len(leaves))]
    results = [Result(n, _dtype(v, n)) for n, v in zip(result_names, leaves)]

    attributes: dict[str, str] = {}
    ranks = {a.name: len(a.shape) for a in arguments}
    first_names = {id(v): n for n, v in reversed(state.items())}  # tied parameters have one
    for name, (parameters, _) in found.items():
        for parameter, dim in parameters.items():
            full = first_names[id(getattr(module.get_submodule(name), parameter))]
            cut: list[Any] = [None] * ranks[full]
            cut[dim] = axis
            sharding = _sharding(cut, ranks[full], mesh, full)
            if attributes.setdefault(full, sharding) != sharding:
                raise ShardKitError(f"error: the plan cuts {full} in two ways, once as {parameter} of {name}, expected one way")
    placed = {p: placements for p, placements in (plan or {}).items() if isinstance(placements, (list, tuple))}
    for pattern, placements in placed.items():
        matched = [n for n in state if _to_expression(pattern).fullmatch(n)]
        if not matched:
            raise ShardKitError(f"error: no parameter is called {pattern}, expected one of: {', '.join(state)}")
        for name in matched:
            attributes[name] = _sharding(_read_placements(placements, mesh, ranks[name], name), ranks[name], mesh, name)
    for name, spec in (shardings or {}).items():
        if name not in ranks:
            raise ShardKitError(f"error: nothing is called {name}, expected one of: {', '.join(ranks)}")
        attributes[name] = _sharding(spec, ranks[name], mesh, name)
    inner: list[str] = []
    for name, dim in outputs.items():
        rank = _rank_of_result(text, len(results) + len(inner))
        # The plan is about one axis; what others do, the batch's for one, is open.
        dims = ["{?}"] * rank
        if dim is not False:
            dims[dim] = f'{{"{axis}"}}'
        rest = f', replicated = {{"{axis}"}}' if dim is False else ""
        attributes["output of " + name] = f"#spmd.sharding<@mesh, [{', '.join(dims)}]{rest}>"
        inner.append("output of " + name)
    assert len(inner) == pinned_count
    declared = ""
    if mesh:
        axes = ", ".join(f'"{n}"={s}' for n, s in mesh.items())
        declared = f'  "spmd.mesh"() <{{mesh = #spmd.mesh<[{axes}]>, sym_name = "mesh"}}> : () -> ()\n'
    info = ["--mlir-print-debuginfo"] if locations else []
    text = run_tool([find_tool("shard-opt"), "-", *info], annotate(text, arguments, results, attributes, inner, declared))
    return Model(
        text,
        arguments,
        results,
        values={n: to_numpy(v) for n, v in zip(names, inputs)},
        stored={n: to_numpy(v) for n, v in state.items()},
        flatten=lambda *args, **kwargs: [to_numpy(v) for v in torch.utils._pytree.tree_leaves((args, kwargs)) if not _is_constant(v)],
        unflatten=lambda arrays: torch.utils._pytree.tree_unflatten([_to_torch(a) for a in arrays], tree),
    )


def _check_program(program: Any) -> None:
    """Refuses what has no place in a function of static shapes."""
    import torch

    for node in program.graph.nodes:
        for value in torch.utils._pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor) and not all(isinstance(size, int) for size in value.shape):
                raise ShardKitError(
                    f"{_place(node)}error: {node.target} makes a tensor of a size that data says, expected static shapes: "
                    "mask with torch.where instead"
                )


def _lower(program: Any) -> str:
    """Linalg in generic form. An op that torch-mlir does not lower, and that PyTorch or we define by others, becomes these."""
    torch_graph.rewrite_graph(program)
    table, added = torch_ops.always(), set()
    while True:
        try:
            return _lower_graph(program, table)
        except _NotLowered as error:
            more = {k: v for k, v in torch_ops.find_decompositions(error.ops).items() if k not in added}
            if not more:
                raise
            added |= set(more)
            table |= {k: torch_ops.either(table.get(k), v) for k, v in more.items()}


class _NotLowered(ShardKitError):
    def __init__(self, message: str, ops: Sequence[str]):
        super().__init__(message)
        self.ops = ops


def _lower_graph(program: Any, table: torch_ops.Table) -> str:
    from torch_mlir import fx

    try:
        if torch_complex.has_complex(program):
            table = torch_complex.by_parts(table)
        program = program.run_decompositions(table)
        if any(spec.kind.name != "USER_OUTPUT" for spec in program.graph_signature.output_specs):
            raise ShardKitError(
                "error: the module changes its buffers or arguments while it runs, expected none that it changes: call module.eval(), "
                "or return the new value"
            )
        torch_graph.mend_graph(program)
        exported = fx.export_and_import(program, output_type="raw", func_name="main", decomposition_table={})
    except ShardKitError:
        raise
    except NotImplementedError as error:
        raise ShardKitError(f"error: {str(error).splitlines()[0]}, expected plain operations of PyTorch") from None
    except Exception as error:  # what decompositions raise has no common base
        node = re.search(r"target=torch\.ops\.([\w.]+)", str(error))
        lines = [line for line in re.findall(r'File "([^"]+)", line (\d+)', str(error)) if not _is_inside(line[0])]
        where = ":".join(lines[-1]) + ": " if lines else ""
        what = f"{node[1]}: " if node else ""
        why = f"torch-mlir does not know {error.args[0]}" if isinstance(error, KeyError) else str(error).strip().splitlines()[0]
        raise ShardKitError(f"{where}error: {what}{why}, expected ops and types that it takes") from error
    text = exported.operation.get_asm(enable_debug_info=True)
    try:
        return run_tool([find_torch_mlir_opt(), *_LOWERING], text)
    except ShardKitError as error:
        raise _describe_failure(str(error), text) from None


def _describe_failure(message: str, text: str) -> _NotLowered:
    """Of what torch-mlir says: which ops they are, and where."""
    found = re.search(r'name = "torch\.(\w+\.[\w.]+)"|torch\.((?:aten|prims)\.[\w.]+)', message)
    ops, place = [found[1] or found[2]] if found else [], message
    if not found:  # it names what is left of an op: its constants
        done = subprocess.run([find_torch_mlir_opt(), *_LOWERING, "--mlir-print-ir-after-failure"], input=text, capture_output=True, text=True)
        left = re.findall(r'= "torch\.((?:aten|prims)\.[\w.]+)"\(.*', done.stderr)
        ops = list(dict.fromkeys(left))
    lines = re.findall(r'"?([^"()\n\s]+\.py)"?:(\d+)', place)
    own = [line for line in lines if not _is_inside(line[0])]
    where = ":".join(own[0]) + ": " if own else ""
    if ops:
        what = f"{ops[0]} has no lowering to linalg"
    else:
        said = re.search(r"error: ([^\n]*)", message)
        what = f"an op has no lowering to linalg (torch-mlir: {said[1] if said else 'it crashes'})"
    return _NotLowered(f"{where}error: {what}, expected ops that have one: write it with other operations of PyTorch", ops)


def _is_inside(path: str) -> bool:
    """A file of PyTorch or of ours, not of the user."""
    return "/torch/" in path or Path(path).parent == Path(__file__).parent


def _place(node: Any) -> str:
    """`file.py:12: ` of the line of the user that a node came from."""
    lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return ":".join(lines[-1]) + ": " if lines else ""


def _dtype(value: Any, name: str) -> str:
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in DTYPES.values():
        raise ShardKitError(f"error: {name} has dtype {dtype}, expected one of {', '.join(DTYPES.values())}")
    return dtype


def _is_constant(value: Any) -> bool:
    """Numbers, and nothing, are part of an exported program."""
    return value is None or isinstance(value, (bool, int, float, str))


def to_numpy(value: Any) -> Any:
    """Of a tensor its array, with bf16 as ml_dtypes has it; else the value itself."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().resolve_conj().resolve_neg()
    if value.dtype == torch.bfloat16:  # which NumPy has from a package
        import ml_dtypes

        return value.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return value.numpy()


def _to_torch(array: Any) -> Any:
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def _find_inputs(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Tensors among the arguments, by the names of the parameters of `forward`."""
    import inspect

    import torch

    parameters = list(inspect.signature(module.forward).parameters.values())
    names: list[str] = []
    tensors: list[Any] = []
    for k, value in [*enumerate(args), *kwargs.items()]:
        if isinstance(k, str):
            name = k
        else:  # more arguments than parameters: the last one takes them all
            name = parameters[k].name if k < len(parameters) and parameters[k].kind != inspect.Parameter.VAR_POSITIONAL else f"arg{k}"
        found = [v for v in torch.utils._pytree.tree_leaves(value) if not _is_constant(v)]
        names += [name] if len(found) == 1 else [f"{name}.{i}" for i in range(len(found))]
        tensors += found
    return names, tensors


def _rank_of_result(text: str, index: int) -> int:
    from torch_mlir import ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        terminator = list(find_body(module).regions[0].blocks[0].operations)[-1]
        return int(ir.RankedTensorType(terminator.operands[index].type).rank)


def _sharding(spec: Sequence[Any], rank: int, mesh: Mapping[str, int], name: str) -> str:
    if len(spec) > rank:
        raise ShardKitError(f"error: sharding of {name} has {len(spec)} dims, expected at most {rank}")
    dims = []
    for entry in list(spec) + [None] * (rank - len(spec)):
        axes = () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)
        for a in axes:
            if a not in mesh:
                known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
                raise ShardKitError(f"error: sharding of {name} names axis {a}, expected one of: {known}")
        dims.append("{" + ", ".join(f'"{a}"' for a in axes) + "}")
    return f"#spmd.sharding<@mesh, [{', '.join(dims)}]>"


def _to_expression(pattern: str) -> re.Pattern[str]:
    """`*` is any characters within one part of a name."""
    return re.compile("".join("[^.]*" if c == "*" else re.escape(c) for c in pattern))


def _read_placements(placements: Sequence[Any], mesh: Mapping[str, int], rank: int, name: str) -> list[tuple[str, ...]]:
    """The axes of each dim, of a placement for each axis of the mesh."""
    if len(placements) != len(mesh):
        raise ShardKitError(f"error: {name} has {len(placements)} placements, expected {len(mesh)}, one for each axis of the mesh")
    dims: list[tuple[str, ...]] = [()] * rank
    for axis, placement in zip(mesh, placements):
        if placement.is_shard():
            if not -rank <= placement.dim < rank:
                raise ShardKitError(f"error: placement {placement} of {name} is of no dim, expected less than {rank}")
            dims[placement.dim] += (axis,)
        elif not placement.is_replicate():
            raise ShardKitError(f"error: placement of {name} is {placement}, expected Shard or Replicate: weights are complete")
    return dims


def _read_plan(
    module: Any, plan: Mapping[str, Any], axis: str | None, mesh: Mapping[str, int]
) -> dict[str, tuple[dict[str, int], int | bool | None]]:
    """Per module of the plan the dim of each parameter that is split, and what is pinned of its output: a dim, False for all
    whole, None for nothing."""
    import torch

    found: dict[str, tuple[dict[str, int], int | bool | None]] = {}
    modules = dict(module.named_modules())
    for pattern, style in plan.items():
        if isinstance(style, (list, tuple)):
            continue  # placements of parameters
        names = [n for n in modules if _to_expression(pattern).fullmatch(n)]
        if not names:
            known = ", ".join(n for n in modules if n) or "none: the module has no parts"
            raise ShardKitError(f"error: no module is called {pattern}, expected one of: {known}")
        if axis is None:
            raise ShardKitError("error: the plan has no mesh, expected mesh={...}")
        kind = style if isinstance(style, str) else type(style).__name__
        for name in names:
            own = modules[name]
            is_embedding = isinstance(own, torch.nn.Embedding)
            if kind not in ("ColwiseParallel", "RowwiseParallel", "SequenceParallel"):
                raise ShardKitError(f"error: style of {name} is {kind}, expected ColwiseParallel, RowwiseParallel or SequenceParallel")
            if kind != "SequenceParallel" and not (is_embedding or isinstance(own, torch.nn.Linear)):
                raise ShardKitError(f"error: {name} is a {type(own).__name__}, expected a Linear or an Embedding for {kind}")
            dims: dict[str, int] = {}
            output: int | bool | None = None
            if kind == "ColwiseParallel":
                dims = {"weight": 1} if is_embedding else {"weight": 0, "bias": 0}
            elif kind == "RowwiseParallel":
                dims = {"weight": 0 if is_embedding else 1}
            else:
                output = getattr(style, "sequence_sharding", (None,))[0]
                output = output.dim if output is not None else 1
            dims = {p: d for p, d in dims.items() if getattr(own, p, None) is not None}
            # What DTensor hands on: a linear layer by columns its last dim cut, one by rows a complete sum.
            if kind != "SequenceParallel":
                output = -1 if kind == "ColwiseParallel" else False
                for layout in getattr(style, "output_layouts", None) or ():
                    output = layout.dim if hasattr(layout, "dim") else False
            for side in ("input_layouts", "desired_input_layouts"):
                for layout in getattr(style, side, None) or ():
                    if hasattr(layout, "dim") and kind == "ColwiseParallel":
                        warnings.warn(f"{name} says {side} {layout}: how its input comes is left to ShardKit", stacklevel=4)
            found[name] = (dims, output)
    return found
