"""PyTorch modules with a parallel plan."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ..errors import ShardKitError, require
from ..linalg.annotations import annotate, find_body
from ..model import DTYPES, Argument, Model, Result
from ..tools import find_tool, run_tool


def import_torch(
    module: Any,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    mesh: Mapping[str, int] | None = None,
    plan: Mapping[str, Any] | None = None,
    axis: str | None = None,
    shardings: Mapping[str, Sequence[Any]] | None = None,
    loss: Callable[..., Any] | None = None,
    optimizer: Any = None,
    locations: bool = True,
) -> Model:
    """Exports a module by torch.export on example inputs, `kwargs` those by name. Parameters and buffers become weights under their
    names.

    `loss`: a function of the module and the inputs (`lambda module, x, y: cross_entropy(module(x), y)`); the model computes the
    loss, which is its result or the first of its results, and the gradients of the parameters that have one. It returns what `loss`
    returns, and the gradients by name. `optimizer`: of torch.optim, over these parameters; the model is a training step, and returns,
    in place of gradients, all that the step changes: parameters, buffers and what the optimizer keeps, `state.PARAMETER.KEY`. Without
    `loss` the module itself returns the loss, alone or first.

    `mesh`: names and sizes of axes. `plan`: module names, with * for any characters within one part, to the styles of
    torch.distributed.tensor.parallel (`ColwiseParallel()`, `RowwiseParallel()`, `SequenceParallel()`), on the axis `axis`
    (default: the last one); or names of parameters and buffers to a list of placements, one for each axis of the mesh. `shardings`: names of inputs (as `forward` calls them), parameters or buffers, to the axes of each
    dim: `("data", None)`, several axes as a tuple."""
    require("torch", "torch", "importing a PyTorch module")
    require("torch_mlir", "torch-mlir", "importing a PyTorch module")
    import torch

    from . import lowering, plans, training

    mesh = dict(mesh or {})
    for name, size in mesh.items():
        if not isinstance(size, int) or size < 1:
            raise ShardKitError(f"error: axis {name} of the mesh has size {size!r}, expected a positive number")
    if axis is not None and axis not in mesh:
        known = ", ".join(f"{n}={s}" for n, s in mesh.items()) or "none: give mesh={...}"
        raise ShardKitError(f"error: the plan is on axis {axis}, expected one of: {known}")
    axis = axis or (list(mesh)[-1] if mesh else None)
    kwargs = dict(kwargs or {})
    parameters = dict(module.named_parameters())
    own = parameters | dict(module.named_buffers())
    found = plans.read_plan(module, plan or {}, axis, mesh)
    outputs = {name: spec for name, (_, spec) in found.items() if spec is not None}
    keeper = training.OptimizerState(optimizer, parameters) if optimizer is not None else None
    state = own | (keeper.get_tensors() if keeper else {})
    names, inputs = _find_inputs(loss or module.forward, args, kwargs, skipped=1 if loss else 0)
    arguments = [Argument(n, tuple(v.shape), _dtype(v, n), True) for n, v in state.items()]
    for name, value in zip(names, inputs):
        arguments.append(Argument(name, tuple(value.shape), _dtype(value, name), False))
    given, given_tree = torch.utils._pytree.tree_flatten((args, kwargs))

    class Function(torch.nn.Module):  # type: ignore[misc]
        """The loss as a module."""

        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, then: Callable[[Any], Any], args: Any, kwargs: Any) -> Any:
            result = loss(self.module, *args, **kwargs) if loss else self.module(*args, **kwargs)
            return result, then(result)

    function = Function()

    def call(state: dict[str, Any], tensors: Sequence[Any], then: Callable[[Any], Any] = lambda result: None) -> tuple[Any, list[Any], Any]:
        """The module as a function of its state, which also hands out what the plan pins, and what `then` makes of the result
        while the module has this state."""
        rest = iter(tensors)
        leaves = [v if _is_constant(v) else next(rest) for v in given]
        args, kwargs = torch.utils._pytree.tree_unflatten(leaves, given_tree)
        pinned: dict[str, Any] = {}
        hooks = [
            module.get_submodule(name).register_forward_hook(lambda _m, _i, out, name=name: pinned.__setitem__(name, out))
            for name in outputs
        ]
        inner = {f"module.{n}": v for n, v in state.items()}
        try:
            result, more = torch.func.functional_call(function, inner, (then, args, kwargs))
        finally:
            for hook in hooks:
                hook.remove()
        state.update({n.removeprefix("module."): v for n, v in inner.items()})
        return result, [pinned[name] for name in outputs if name in pinned], more

    class Whole(torch.nn.Module):  # type: ignore[misc]
        def forward(self, state: dict[str, Any], *tensors: Any) -> Any:
            return call(dict(state), tensors)[:2]

    updated: list[str] = []
    with torch.no_grad():
        leaves, tree = torch.utils._pytree.tree_flatten(_call_once(function, args, kwargs))
        for i, v in enumerate(leaves):
            if not isinstance(v, torch.Tensor):
                raise ShardKitError(f"error: result {i} of the {'loss' if loss else 'module'} is {v!r}, expected tensors only")
        try:
            if loss or keeper:
                trained = list(keeper.names.values()) if keeper else [n for n, p in parameters.items() if p.requires_grad]
                program, updated, draws = training.export(call, own, trained, inputs, keeper)
                if draws:
                    state[training.SEED] = torch.zeros((), dtype=torch.int64)
                    arguments.append(Argument(training.SEED, (), "int64", True))
            else:
                program = torch.export.export(Whole(), (own, *inputs), strict=False)
        except ShardKitError:
            raise
        except Exception as error:  # what it raises has no common base
            raise ShardKitError(f"error: torch.export: {str(error).strip().splitlines()[0]}, expected a module that it takes") from error
        pinned_count = len(outputs)
    lowering.check_program(program)
    text = lowering.lower(program)

    result_names = ["result" if len(leaves) == 1 else f"result{i}" for i in range(len(leaves))]
    results = [Result(n, _dtype(v, n)) for n, v in zip(result_names, leaves)]
    numbers = {a.name: i for i, a in enumerate(arguments)}
    results += [Result(n, _dtype(state[n], n), numbers[n]) if keeper else Result(f"grad.{n}", _dtype(state[n], n)) for n in updated]

    attributes: dict[str, str] = {}
    ranks = {a.name: len(a.shape) for a in arguments}
    first_names = {id(v): n for n, v in reversed(state.items())}  # tied parameters have one
    for name, (split, _) in found.items():
        for parameter, dim in split.items():
            full = first_names[id(getattr(module.get_submodule(name), parameter))]
            cut: list[Any] = [None] * ranks[full]
            cut[dim] = axis
            sharding = plans.write_sharding(cut, ranks[full], mesh, full)
            if attributes.setdefault(full, sharding) != sharding:
                raise ShardKitError(f"error: the plan cuts {full} in two ways, once as {parameter} of {name}, expected one way")
    placed = {p: placements for p, placements in (plan or {}).items() if isinstance(placements, (list, tuple))}
    for pattern, placements in placed.items():
        matched = [n for n in state if plans.to_expression(pattern).fullmatch(n)]
        if not matched:
            raise ShardKitError(f"error: no parameter is called {pattern}, expected one of: {', '.join(state)}")
        for name in matched:
            attributes[name] = plans.write_sharding(plans.read_placements(placements, mesh, ranks[name], name), ranks[name], mesh, name)
    for name, spec in (shardings or {}).items():
        if name not in ranks:
            raise ShardKitError(f"error: nothing is called {name}, expected one of: {', '.join(ranks)}")
        attributes[name] = plans.write_sharding(spec, ranks[name], mesh, name)
    for name in parameters:  # what the optimizer keeps of one goes with it
        for other in state:
            if name in attributes and other.startswith(f"state.{name}.") and state[other].shape == state[name].shape:
                attributes.setdefault(other, attributes[name])
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

    def unflatten(arrays: Sequence[Any]) -> Any:
        tensors = [_to_torch(a) for a in arrays]
        result = torch.utils._pytree.tree_unflatten(tensors[: len(leaves)], tree)
        return (result, dict(zip(updated, tensors[len(leaves) :], strict=True))) if loss or keeper else result

    info = ["--mlir-print-debuginfo"] if locations else []
    text = run_tool([find_tool("shard-opt"), "-", *info], annotate(text, arguments, results, attributes, inner, declared))
    return Model(
        text,
        arguments,
        results,
        values={n: to_numpy(v) for n, v in zip(names, inputs)},
        stored={n: to_numpy(v).copy() for n, v in state.items()},
        flatten=lambda *args, **kwargs: [to_numpy(v) for v in torch.utils._pytree.tree_leaves((args, kwargs)) if not _is_constant(v)],
        unflatten=unflatten,
    )


def _call_once(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What it returns; buffers stay as they are."""
    import torch

    state = {n: v.detach().clone() for n, v in function.named_buffers()}
    return torch.func.functional_call(function, state, (lambda result: None, args, kwargs))[0]


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


def _find_inputs(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], skipped: int) -> tuple[list[str], list[Any]]:
    """Tensors among the arguments, by the names of the function's parameters behind the first ones."""
    import inspect

    import torch

    parameters = list(inspect.signature(function).parameters.values())[skipped:]
    names: list[str] = []
    tensors: list[Any] = []
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for k, value in given:
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


