"""PyTorch modules with a parallel plan."""

from __future__ import annotations

import re
import warnings
from typing import Any, Mapping, Sequence

from .errors import ShardKitError, require
from .lowered import annotate, find_body
from .model import Argument, Model, Result
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
    mesh: Mapping[str, int] | None = None,
    plan: Mapping[str, Any] | None = None,
    axis: str | None = None,
    shardings: Mapping[str, Sequence[Any]] | None = None,
    locations: bool = True,
) -> Model:
    """Exports a module by torch.export on example inputs. Parameters and buffers become weights under their names.

    `mesh`: names and sizes of axes. `plan`: module names, with * for any characters within one part, to the styles of
    torch.distributed.tensor.parallel (`ColwiseParallel()`, `RowwiseParallel()`, `SequenceParallel()`), on the axis `axis`
    (default: the last one); or names of parameters and buffers to a list of placements, one for each axis of the mesh. `shardings`: names of inputs (as `forward` calls them), parameters or buffers, to the axes of each
    dim: `("data", None)`, several axes as a tuple."""
    require("torch", "torch", "importing a PyTorch module")
    require("torch_mlir", "torch-mlir", "importing a PyTorch module")
    import torch
    from torch_mlir import fx

    mesh = dict(mesh or {})
    axis = axis or (list(mesh)[-1] if mesh else None)
    state = dict(module.named_parameters()) | dict(module.named_buffers())
    found = _read_plan(module, plan or {}, axis, mesh)
    outputs = {name: spec for name, (_, spec) in found.items() if spec is not None}

    class Whole(torch.nn.Module):
        """The module as a function of its state, which also hands out what the plan pins."""

        def forward(self, state: dict[str, Any], *args: Any) -> Any:
            pinned: dict[str, Any] = {}
            hooks = [
                module.get_submodule(name).register_forward_hook(lambda _m, _i, out, name=name: pinned.__setitem__(name, out))
                for name in outputs
            ]
            try:
                result = torch.func.functional_call(module, state, args)
            finally:
                for hook in hooks:
                    hook.remove()
            return result, [pinned[name] for name in outputs if name in pinned]

    with torch.no_grad():
        program = torch.export.export(Whole(), (state, *args), strict=False)
        pinned_count = len(outputs)
        results_tree = torch.utils._pytree.tree_flatten(module(*args))
    exported = fx.export_and_import(program, output_type="raw", func_name="main")
    try:
        text = run_tool([find_torch_mlir_opt(), *_LOWERING], exported.operation.get_asm(enable_debug_info=True))
    except ShardKitError as error:
        op = re.search(r'name = "torch\.(aten\.[\w.]+)"|torch\.(aten\.\w+|prims?\.\w+)', str(error))
        place = re.search(r'callsite\("?([^"()\n]+\.py)"?:(\d+)|^"?([^"()\n]+\.py)"?:(\d+)', str(error))
        where = ":".join(filter(None, place.groups())) + ": " if place else ""
        raise ShardKitError(
            f"{where}error: {(op[1] or op[2]) if op else 'an op'} has no lowering to linalg, expected ops that have one: "
            "write it with other operations of PyTorch"
        ) from None

    names = _input_names(module, args)
    arguments = [Argument(n, tuple(v.shape), _dtype(v), True) for n, v in state.items()]
    for name, value in zip(names, torch.utils._pytree.tree_leaves(args)):
        arguments.append(Argument(name, tuple(value.shape), _dtype(value), False))
    leaves, tree = results_tree
    results = [Result("result" if len(leaves) == 1 else f"result{i}", _dtype(v)) for i, v in enumerate(leaves)]

    attributes: dict[str, str] = {}
    ranks = {a.name: len(a.shape) for a in arguments}
    for name, (parameters, _) in found.items():
        for parameter, dim in parameters.items():
            full = f"{name}.{parameter}" if name else parameter
            cut: list[Any] = [None] * ranks[full]
            cut[dim] = axis
            attributes[full] = _sharding(cut, ranks[full], mesh, full)
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
        values={n: v.detach().numpy() for n, v in zip(names, torch.utils._pytree.tree_leaves(args))},
        stored={n: v.detach().numpy() for n, v in state.items()},
        flatten=lambda *given: [v.detach().numpy() if isinstance(v, torch.Tensor) else v for v in torch.utils._pytree.tree_leaves(given)],
        unflatten=lambda arrays: torch.utils._pytree.tree_unflatten([torch.from_numpy(a) for a in arrays], tree),
    )


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


def _input_names(module: Any, args: Sequence[Any]) -> list[str]:
    import inspect

    import torch

    parameters = list(inspect.signature(module.forward).parameters)
    names = []
    for parameter, value in zip(parameters, args):
        count = len(torch.utils._pytree.tree_leaves(value))
        names += [parameter] if count == 1 else [f"{parameter}.{i}" for i in range(count)]
    return names


def _rank_of_result(text: str, index: int) -> int:
    from torch_mlir import ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        terminator = list(find_body(module).regions[0].blocks[0].operations)[-1]
        return ir.RankedTensorType(terminator.operands[index].type).rank


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
            raise ShardKitError(f"error: no module is called {pattern}, expected one of: {', '.join(n for n in modules if n)}")
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
