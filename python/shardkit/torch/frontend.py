"""PyTorch modules with a parallel plan."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Mapping, Sequence

from ..binding import Binding, Flattened, get_key
from ..constants import detach_resources
from ..errors import ShardKitError, find_users_line, require
from ..linalg.annotations import annotate, find_body
from ..model import DTYPES, Argument, Model, Result, read_mesh, read_names
from ..session import Array
from ..safetensors import numpy_dtype
from ..tools import collect_later, find_tool, run_tool, show_progress


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
    batch: Sequence[str] = (),
    dynamic_shapes: Mapping[str, Mapping[int, Any]] | None = None,
    locations: bool = True,
) -> Model:
    """Exports a module by torch.export on example inputs, `kwargs` those by name. Parameters and buffers become weights under their
    names. A buffer that checkpoints leave out (`persistent=False`) is a constant of the program, unless the module changes it. What is
    on the meta device has no elements: programs load it by its name (`Program.load`).

    A module that changes buffers in evaluation mode (caches) returns its result and a dictionary of their new values, by name.

    `loss`: a function of the module and the inputs (`lambda module, x, y: cross_entropy(module(x), y)`); the model computes the
    loss, which is its result or the first of its results, and the gradients of the parameters that have one. It returns what `loss`
    returns, and the gradients by name. `optimizer`: of torch.optim, over these parameters; the model is a training step, and returns,
    in place of gradients, all that the step changes: parameters, buffers and what the optimizer keeps, `state.PARAMETER.KEY`. Without
    `loss` the module itself returns the loss, alone or first. `batch`: inputs that the microbatches of a pipeline split along dim 0;
    `shardkit.stage_boundary` in a module marks where a stage ends.

    `dynamic_shapes`: inputs by name to dims whose size each call brings along, each a `torch.export.Dim("batch", min=1, max=64)`; dims
    of one name have one size, one may be computed of another (`2 * batch + 1`), and memory is that of `max`.

    `mesh`: names and sizes of axes. `plan`: module names, with * for any characters between two dots, to the styles of
    torch.distributed.tensor.parallel (`ColwiseParallel()`, `RowwiseParallel()`, `SequenceParallel()`), on the axis `axis`
    (default: the last one); or names of parameters and buffers to a list of placements, one for each axis of the mesh. `shardings`: names of inputs (as `forward` calls them), parameters or buffers, to the axes of each
    dim: `("data", None)`, several axes as a tuple."""
    return import_watched(module, args, kwargs, mesh, plan, axis, shardings, loss, optimizer, batch, locations, dynamic_shapes=dynamic_shapes)[0]


@collect_later()
def import_watched(
    module: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    mesh: Mapping[str, int] | None,
    plan: Any,
    axis: str | None,
    shardings: Mapping[str, Sequence[Any]] | None,
    loss: Callable[..., Any] | None,
    optimizer: Any,
    batch: Sequence[str],
    locations: bool,
    watched: Sequence[str] = (),
    call: Callable[..., Any] | None = None,
    describe: Callable[[Argument], Argument] = lambda argument: argument,
    functions: str = "",
    dynamic_shapes: Mapping[str, Mapping[int, Any]] | None = None,
    made: Sequence[str] = (),
    is_alike_at_one: bool = False,
) -> tuple[Model, dict[str, tuple[str, tuple[int, ...]]]]:
    """The model, and for each tensor that the modules `watched` take and make, `NAME/CALL/in0` or `out0`, its shape and the tag in the
    location of what it is computed by, or the argument that it is.

    `plan` may be styles that were read (`plans.Styles`). `call`: a function of the module and the inputs, in place of `forward`.
    `describe`: of a parameter or buffer as an argument, how it is loaded; `functions`: the loading functions that it names, as IR. `made`:
    buffers that the module changes without reading them. `dynamic_shapes` may name buffers that are no weights.
    `is_alike_at_one`: where the module asks whether a size is 1, what it does at other sizes is right for 1 too."""
    require("torch", "torch", "importing a PyTorch module")
    require("torch_mlir", "torch-mlir", "importing a PyTorch module")
    import torch

    from torch.utils._pytree import tree_flatten, tree_unflatten

    from . import lowering, plans, training
    from .sizes import read_sizes
    from .function import Function, is_constant, is_fake

    mesh, batch = read_mesh(mesh), read_names(batch, "batch")
    parameters = dict(module.named_parameters())
    styles = plan if isinstance(plan, plans.Styles) else plans.read_plan(module, plan or {}, axis, mesh)
    kept = training.OptimizerState(optimizer, parameters) if optimizer is not None else None
    own_call = loss or call
    binding = Binding(own_call or module.forward, args, kwargs or {}, _flatten, is_constant, skipped=1 if own_call else 0, tree=(tree_flatten, lambda tree, leaves: tree_unflatten(leaves, tree)))
    names, inputs = binding.get_names(), list(binding.arrays.values())
    passed = [_describe_input(n, v, batch) for n, v in zip(names, inputs)]
    function = Function(module, own_call, args, kwargs or {}, list(styles.outputs), watched)
    leaves, tree = function.call_once()
    # A buffer without numbers is no constant.
    left_out = {n for n in _find_non_persistent(module) if not module.get_buffer(n).is_meta} - set(function.changed)
    held = parameters | {n: b for n, b in module.named_buffers() if n not in left_out}
    changed = function.make_fake({n: held.pop(n) for n in made})
    own = function.make_fake(held)
    state = own | (kept.get_tensors() if kept else {})
    arguments = [describe(Argument(n, tuple(v.shape), _dtype(v, n), True)) for n, v in state.items()] + passed
    sizes = read_sizes(dynamic_shapes, {a.name: len(a.shape) for a in arguments if not a.is_weight})
    arguments = [dataclasses.replace(a, shape=sizes.shape(a.name, a.shape)) for a in arguments]
    for name in names:
        if [a.name for a in arguments].count(name) > 1:
            raise ShardKitError(f"error: two arguments are called {name}, expected distinct names")
    for name in batch:
        if not any(n == name or n.startswith(name + ".") for n in names):
            raise ShardKitError(f"error: no input is called {name}, expected one of: {', '.join(names)}")

    updated: list[str] = []
    is_step = loss is not None or kept is not None
    if sizes.dims and is_step:
        raise ShardKitError("error: dynamic_shapes of a training step, expected a module alone")
    try:
        if is_step:
            trained = list(kept.names.values()) if kept else [n for n, p in parameters.items() if p.requires_grad]
            with show_progress("exporting the training step"):
                program, updated, draws = training.export(function, own, trained, inputs, kept)
            if draws:
                state[training.SEED] = torch.zeros((), dtype=torch.int64)
                arguments.append(Argument(training.SEED, (), "int64", True))
        else:
            dims = (sizes.specs(list(own)), sizes.specs(names)) if sizes.dims else None
            known = None if is_alike_at_one else [sizes.dims.get(name, {}) for name in names]
            program, updated = function.export(own, inputs, dims, changed, known), function.changed
    except ShardKitError:
        raise
    except Exception as error:  # what it raises has no common base
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        # A size that data decide is a symbol such as u12, which some operations do not take.
        if "data-dependent" in str(error) or "DataDependent" in type(error).__name__ or re.search(r"symbolic SymInt.*\bu\d+\b", reason):
            raise ShardKitError(
                f"{find_users_line(error)}error: a branch, a number or a size depends on data, expected torch.where or torch.cond for a branch, "
                "a mask for a size, or values that are not inputs: numbers, or tensors that the module holds (buffers with persistent=False)"
            ) from error
        raise ShardKitError(f"{find_users_line(error)}error: torch.export: {reason.rstrip('.')}, expected {_advise(reason)}") from error
    lowering.check_program(program, has_sizes=bool(sizes.dims))
    with show_progress("lowering to linalg"):
        text, constants = lowering.lower(program)

    results = [Result("result" if len(leaves) == 1 else f"result{i}", _dtype(v, "result")) for i, v in enumerate(leaves)]
    numbers = {a.name: i for i, a in enumerate(arguments)}
    results += [Result(f"grad.{n}", _dtype(state[n], n)) if is_step and not kept else _describe_update(n, changed | state, arguments, numbers) for n in updated]
    placements = plan if isinstance(plan, Mapping) else {}
    attributes = plans.find_shardings(module, styles, placements, shardings or {}, arguments, state | held, mesh)
    constrained = [mark.name for mark in function.inner if not mark.is_boundary and not mark.is_tagged]  # they come first
    if constrained:
        ranks = _find_ranks(text)[len(results) :]
        attributes |= {n: styles.write_output(n, rank) for n, rank in zip(constrained, ranks)}
    declared = functions
    if mesh:
        axes = ", ".join(f'"{n}"={s}' for n, s in mesh.items())
        declared += f'  "spmd.mesh"() <{{mesh = #spmd.mesh<[{axes}]>, sym_name = "mesh"}}> : () -> ()\n'

    def unflatten(arrays: Sequence[Any]) -> Any:
        tensors = [_to_torch(a) for a in arrays]
        result = tree_unflatten(tensors[: len(leaves)], tree)
        return (result, dict(zip(updated, tensors[len(leaves) :], strict=True))) if is_step or updated else result

    info = ["--mlir-print-debuginfo"] if locations else []
    tagged: dict[str, str] = {}
    text = run_tool([find_tool("shard-opt"), "-", *info], annotate(text, arguments, results, attributes, function.inner, declared, tagged, sizes=sizes if sizes.dims else None))
    text = detach_resources(text, constants)
    model = Model(
        text,
        arguments,
        results,
        values={n: to_numpy(v) for n, v in zip(names, inputs)},
        stored={n: to_numpy(v).copy() for n, v in state.items() if not is_fake(v)},
        is_loaded=any(map(is_fake, state.values())),
        constants=constants,
        flatten=lambda *args, **kwargs: binding.bind(args, kwargs),
        to_array=lambda value, dtype: to_numpy(value),
        unflatten=unflatten,
    )
    return model, {n: (tag, function.shapes[n]) for n, tag in tagged.items()}


# What to write where torch.export refuses a module that can be called, by patterns of its reason. The first that matches counts.
_ADVICE = [
    (r"(?i)broadcast|\bshapes?\b|\bsizes? of tensor|mat1 and mat2|expand|mismatch", "inputs whose shapes fit on every path: the call alone leaves out a part "
     "that looks at values (a mask that is all true) or asks torch.compiler.is_exporting()"),
    (r"(?i)numpy|memoryview|array interface", "operations of torch in place of those of NumPy, which do not see what is traced"),
    (r"(?i)input type|pytree|dataclass", "tensors, numbers, strings, and lists, tuples and dicts of them, or a class that torch.export.register_dataclass registers"),
    (r"(?i)register_buffer|assigned during export", "values that forward keeps to be buffers (register_buffer)"),
    ("", "a forward that computes by operations of torch alone: what makes text, objects or files of values belongs outside of it"),
]  # fmt: skip


def _advise(reason: str) -> str:
    return next(advice for pattern, advice in _ADVICE if re.search(pattern, reason))


def _find_non_persistent(module: Any) -> set[str]:
    """The names of the buffers that the module's state_dict leaves out."""
    return {
        f"{prefix}.{name}" if prefix else name for prefix, child in module.named_modules() for name in child._non_persistent_buffers_set
    }


def _describe_input(name: str, value: Any, batch: Sequence[str]) -> Argument:
    dtype = _dtype(value, name)
    return Argument(name, tuple(value.shape), dtype, False, _is_batch(name, value, batch))


def _describe_update(name: str, state: Mapping[str, Any], arguments: Sequence[Argument], numbers: Mapping[str, int]) -> Result:
    """The new value of what the module changes. One that grows has memory of its own."""
    number = numbers.get(name)
    is_kept = number is None or -1 in arguments[number].shape
    return Result(name, _dtype(state[name], name), None if is_kept else number, is_state=is_kept)


def _is_batch(name: str, value: Any, batch: Sequence[str]) -> bool:
    if name not in batch and name.rpartition(".")[0] not in batch:
        return False
    if not value.dim():
        raise ShardKitError(f"error: {name} is a scalar, expected batch to name tensors that count examples along dim 0")
    return True


def _dtype(value: Any, name: str) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        raise ShardKitError(f"error: {name} is a {type(value).__name__}, expected a tensor, or a number, flag, string or None as a constant")
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in DTYPES.values():
        raise ShardKitError(f"error: {name} has dtype {dtype}, expected one of {', '.join(DTYPES.values())}")
    return dtype


def to_numpy(value: Any) -> Any:
    """Of a tensor its array, with bf16 and 8-bit floats as ml_dtypes has them; else the value itself."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().resolve_conj().resolve_neg()
    name = str(value.dtype).removeprefix("torch.")
    if name.startswith(("bfloat16", "float8")):  # which NumPy has from a package
        return value.view(torch.int16 if name == "bfloat16" else torch.uint8).numpy().view(numpy_dtype(name))
    return value.numpy()


def _to_torch(array: Any) -> Any:
    import torch

    if isinstance(array, Array):  # stays on the devices
        return array
    if array.dtype.name.startswith(("bfloat16", "float8")):
        return torch.from_numpy(array.view(f"int{8 * array.itemsize}")).view(getattr(torch, array.dtype.name))
    return torch.from_numpy(array)


def _flatten(value: Any) -> Flattened:
    from torch.utils._pytree import tree_flatten_with_path

    found, spec = tree_flatten_with_path(value)
    return [(tuple(map(get_key, path)), leaf) for path, leaf in found], _Tree(spec)


class _Tree:
    """The structure of a value. Unlike that of PyTorch it has the keys of dictionaries in any order."""

    def __init__(self, spec: Any):
        self.kind, self.context = spec.type, spec.context
        self.children = [_Tree(child) for child in spec.children()]
        self.is_dict = isinstance(self.kind, type) and issubclass(self.kind, Mapping) and isinstance(self.context, list)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Tree) or self.kind is not other.kind:
            return False
        if self.is_dict:
            return dict(zip(self.context, self.children)) == dict(zip(other.context, other.children))
        return bool(self.context == other.context) and self.children == other.children

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        children = [f"{k!r}: {v}" for k, v in zip(self.context, self.children)] if self.is_dict else list(map(str, self.children))
        return f"{self.kind.__name__}({', '.join(children)})"


def _find_ranks(text: str) -> list[int]:
    """Of the results of a lowered module."""
    from torch_mlir import ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        terminator = list(find_body(module).regions[0].blocks[0].operations)[-1]
        return [int(ir.RankedTensorType(v.type).rank) for v in terminator.operands]
