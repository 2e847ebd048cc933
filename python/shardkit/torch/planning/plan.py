"""Plans that DTensor runs: layouts that the search chose, as placements of parameters and of what modules take and make."""

from __future__ import annotations

import dataclasses
import inspect
import math
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import torch
from torch.utils._pytree import tree_map_only

from ...errors import ShardKitError
from ...model import Model, read_mesh, read_names
from ...planning import completion, search
from ...planning.layouts import Program, get_shape, regroup
from ...planning.plan import AnnotatedPlan
from ...planning.tactics import Tactics
from ..frontend import import_watched
from . import styles
from .inputs import map_inputs
from .placements import Placements, Translator, describe, read_pins


def plan(
    module: Any,
    *args: Any,
    mesh: Any = None,
    memory: float | None = None,
    pins: Mapping[str, Any] | None = None,
    costs: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    loss: Callable[..., Any] | None = None,
    optimizer: Any = None,
    tactics: Tactics | None = None,
    search: bool = True,
    trial: Sequence[Any] | None = None,
    **kwargs: Any,
) -> TorchPlan:
    """That of a module of PyTorch: see `shardkit.plan`."""
    planner = _Planner(module, args, kwargs, mesh, loss, optimizer, trial)
    return planner.complete(memory, pins or {}, costs or {}, read_names(options, "options"), tactics, search)


@dataclasses.dataclass(frozen=True)
class Boundary:
    """Placements at a module in one of its calls: of the tensors that it takes and makes, by number, and of its own parameters while it runs."""

    inputs: Mapping[int, Placements]
    outputs: Mapping[int, Placements]
    parameters: Mapping[str, Placements]


@dataclasses.dataclass(frozen=True)
class TorchPlan(AnnotatedPlan):
    """Placements of a module for DTensor. It can be pickled, and is the same on all ranks once it was made on one."""

    mesh: dict[str, int]
    inputs: dict[str, Placements]
    """By the names of inputs."""
    results: dict[str, Placements]
    boundaries: dict[str, tuple[Boundary, ...]]
    """By the names of modules with parameters: an entry for each call."""
    dropped: tuple[str, ...]
    """What DTensor cannot express."""
    input_names: dict[str, str]
    """From tensors that the module takes to inputs; they differ where a loss calls the module."""
    first_names: dict[str, str]
    """From all names of parameters and buffers to the first."""
    styles: styles.Styles
    _placements: dict[str, Placements]
    _device_mesh: Any = dataclasses.field(default=None, compare=False)
    """The caller's, where it is one; it is not pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_device_mesh": None}

    def __repr__(self) -> str:
        axes = ", ".join(f"{n}={s}" for n, s in self.mesh.items())
        sharded = sum(any(p.is_shard() for p in placements) for placements in self._placements.values())
        return f"TorchPlan({axes}: {self.status}, {sharded} of {len(self._placements)} parameters and buffers sharded)"

    def placements(self) -> dict[str, Placements]:
        """Of each parameter and buffer by its first name: a placement for each axis of the mesh, as `distribute_tensor` takes them."""
        return dict(self._placements)

    def parallelize_plan(self, axis: str | None = None) -> dict[str, Any]:
        """Styles of `torch.distributed.tensor.parallel` by patterns of modules, for `parallelize_module` on an axis, by default the only
        one that shards computation: of weights, and of values that the axis shards along the sequence between them. What they cannot
        express is in `left_out("parallelize_plan")`."""
        return self.styles.make_parallelize_plan(axis)

    def tp_plan(self, values: bool = False) -> dict[str, str]:
        """Styles of Hugging Face's transformers by patterns of modules, for `DistributedConfig(tp_plan=...)`; those of the model's own plan
        that this plan does not have are `replicate`. What they cannot express is in `left_out("tp_plan")`. `values`: of values between modules
        too, as `parallelize_plan` has them: styles that are registered with transformers in the process that calls it, which each rank does."""
        return self.styles.make_tp_plan(values)

    def fsdp_plan(self) -> dict[str, str]:
        """The modules to wrap by `fully_shard`, inner ones first, and for each the axis of the mesh."""
        return self.styles.make_fsdp_plan()

    def left_out(self, what: str = "parallelize_plan", axis: str | None = None) -> dict[str, str]:
        """Why `parallelize_plan`, `tp_plan` or `fsdp_plan` does not shard parameters that this plan does, by name or pattern; of
        `parallelize_plan` also why it does not shard values that modules take or make, by pattern of modules."""
        return self.styles.list_left_out(what, axis)

    def apply(self, module: Any, mesh: Any = None, gather: bool = True) -> Any:
        """Distributes the parameters of a module, and has it run by this plan; `mesh`: a `DeviceMesh`, by default one of all ranks.

        The module takes what it took, of which each rank has all, and makes complete tensors; `gather=False`: DTensors. The result is
        the module. `shardkit.TorchPlan.find_replicated(module)` has what DTensor could not run sharded so far."""
        from .apply import Application

        return Application(self, module, _make_device_mesh(self.mesh, self._device_mesh if mesh is None else mesh), gather).install()

    @staticmethod
    def find_replicated(module: Any) -> dict[str, str]:
        """Ops that ran on complete tensors in a module that a plan was applied to, with the reason: DTensor's error, and how often."""
        application = module.__dict__.get("_shardkit_application")
        if application is None:
            raise ShardKitError("error: no plan was applied to the module, expected what plan.apply returned")
        return application.log.describe()  # type: ignore[no-any-return]

    def _summarize(self) -> Sequence[str]:
        lines = [f"sharded: {n} {describe(p)}" for n, p in self._placements.items() if any(q.is_shard() for q in p)]
        return [*lines, *(f"dropped: {d}" for d in self.dropped)]

    @classmethod
    def load(
        cls, path: str | Path, module: Any, *args: Any, mesh: Any = None, loss: Any = None, optimizer: Any = None, trial: Sequence[Any] | None = None, **kwargs: Any
    ) -> TorchPlan:
        """The plan of a file for the module that it was made for, without a search."""
        return _Planner(module, args, kwargs, mesh, loss, optimizer, trial).load(Path(path))


class _Planner:
    """A module on its way to a plan."""

    def __init__(
        self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any, loss: Any, optimizer: Any, trial: Sequence[Any] | None
    ) -> None:
        # Inputs without numbers are traced like any others.
        args, kwargs = tree_map_only(torch.Tensor, lambda v: torch.zeros(v.shape, dtype=v.dtype) if v.is_meta else v, (args, kwargs))
        self._module, self._args, self._kwargs, self._loss = module, args, kwargs, loss
        self._mesh, self._device_mesh = read_device_mesh(mesh), mesh if hasattr(mesh, "mesh_dim_names") else None
        self._trial = None if trial is None else styles.Trial.read(trial, module, loss)
        self._check_parameters()
        self._names = _name_tensors(module)
        watched = [n for n, m in module.named_modules() if n and any(True for _ in m.named_parameters(recurse=False))]
        with _InputNames(module, loss, args, kwargs) as self._inputs:
            self._model, self._tagged = import_watched(
                module, args, kwargs, self._mesh, None, None, None, loss, optimizer, (), True, watched=watched
            )
        self._watched = watched
        self._sites: dict[str, tuple[Placements, tuple[int, ...]]] = {}

    def complete(
        self, memory: float | None, pins: Mapping[str, Any], costs: Mapping[str, Any], options: Sequence[str], tactics: Tactics | None, is_searched: bool
    ) -> TorchPlan:
        ranks = {a.name: len(a.shape) for a in self._model.arguments}
        rules = [
            {"function": "main", "argument": n, "axis_resources": e}
            for n, e in read_pins(pins, ranks, self._names, self._mesh).items()
        ]
        text = search.add_mesh(self._model.text, self._mesh, costs)
        completed, applied = completion.complete(text, rules, tactics, memory, options, is_searched)
        return dataclasses.replace(self._read(completed, 5), tactics=applied)

    def load(self, path: Path) -> TorchPlan:
        return self._read(search.apply(search.add_mesh(self._model.text, self._mesh, {}), path), 4)

    def _check_parameters(self) -> None:
        for name, value in [*self._module.named_parameters(), *self._module.named_buffers()]:
            if type(value).__name__ == "DTensor":
                raise ShardKitError(f"error: {name} is a DTensor already, expected a module that is not distributed")
            if value.layout is not torch.strided:
                raise ShardKitError(f"error: {name} has layout {str(value.layout).removeprefix('torch.')}, expected a dense tensor (to_dense()), which DTensor can place")
        if self._loss is not None and not callable(self._loss):
            raise ShardKitError(f"error: loss is {self._loss!r}, expected a function of the module and its inputs")

    # --- from annotations to placements -------------------------------------------------------------------

    def _read(self, text: str, stacklevel: int) -> TorchPlan:
        program, translator = search.read_program(text), Translator(self._mesh)
        arguments = {
            a.name: translator.translate(a.name, layout, a.shape)
            for a, layout in zip(self._model.arguments, program.arguments, strict=True)
        }
        results = {
            r.name: translator.translate(r.name, layout, ())
            for r, layout in zip(self._model.results, program.results, strict=True)
        }
        own = [n for n in dict.fromkeys(self._names.values()) if n in arguments]
        for dropped in translator.dropped:
            warnings.warn(f"{dropped}, which DTensor cannot express: the dim is not sharded by it", stacklevel=stacklevel)
        used = self._read_uses(program)
        boundaries = {name: calls for name in self._watched if (calls := self._read_boundaries(name, program, used))}
        placements = {n: arguments[n] for n in own}
        inputs = {a.name: arguments[a.name] for a in self._model.arguments if not a.is_weight}
        tried = self._trial or styles.Trial(self._module, self._args, self._kwargs, self._loss)
        found = styles.find(self._module, tried, self._mesh, placements, used, self._names, self._sites)
        return TorchPlan(
            text, dict(self._mesh), inputs, results, boundaries, tuple(translator.dropped), self._inputs, self._names, found, placements, self._device_mesh
        )

    def _read_uses(self, program: Program) -> dict[str, Placements]:
        """The placements of parameters where the forward pass reads them first."""
        found, own = {}, set(self._names.values())
        for number, argument in enumerate(self._model.arguments):
            if argument.name in own and (layouts := program.find_uses(number)):
                found[argument.name] = Translator(self._mesh).translate(argument.name, layouts[0], argument.shape)
        return found

    def _read_boundaries(self, name: str, program: Program, used: Mapping[str, Placements]) -> tuple[Boundary, ...]:
        """What is known at a module, by call."""
        numbers = sorted({int(site.split("/")[-2]) for site in self._tagged if site.rpartition("/")[0].rpartition("/")[0] == name})
        owner = self._module.get_submodule(name)
        parameters = {k: used[self._names[n]] for k, _ in owner.named_parameters(recurse=False) if (n := f"{name}.{k}") in self._names and self._names[n] in used}
        return tuple(
            Boundary(self._read_sites(f"{name}/{call}/in", program), self._read_sites(f"{name}/{call}/out", program), parameters)
            for call in numbers
        )

    def _read_sites(self, prefix: str, program: Program) -> dict[int, Placements]:
        found = {}
        for site, (tag, shape) in self._tagged.items():
            if not site.startswith(prefix) or not site[len(prefix) :].isdigit():
                continue
            if (value := self._find_value(tag, program)) is None or (layout := program.get_reduced(value)) is None:
                continue
            made = get_shape(value) or ()
            if math.prod(made) != math.prod(shape) or (layout := regroup(layout, made, shape)) is None:
                continue
            if not layout.is_strided:  # which has no placement
                self._sites[site] = Translator(self._mesh).translate(site, layout, shape), tuple(shape)
                found[int(site[len(prefix) :])] = self._sites[site][0]
        return found

    def _find_value(self, tag: str, program: Program) -> Any:
        numbers = {a.name: i for i, a in enumerate(self._model.arguments)}
        return program.main.regions[0].blocks[0].arguments[numbers[tag]] if tag in numbers else program.find_made(tag)


class _InputNames:
    """The inputs that a module takes when it is first called, by the names of its parameters: those of a loss may have others."""

    def __init__(self, module: Any, loss: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._module, self._names, self._found = module, dict[int, str](), dict[str, str]()
        self._signature = inspect.signature(module.forward)
        signature = inspect.signature(loss) if loss else self._signature
        given = list(signature.parameters.values())[1 if loss else 0 :]
        map_inputs(signature.replace(parameters=given), args, kwargs, lambda name, value: self._names.setdefault(id(value), name))

    def __enter__(self) -> dict[str, str]:
        def note(module: Any, args: Any, kwargs: Any) -> None:
            map_inputs(self._signature, args, kwargs, lambda name, value: self._found.setdefault(name, self._names.get(id(value), name)))

        self._hook = self._module.register_forward_pre_hook(note, with_kwargs=True)
        return self._found

    def __exit__(self, *error: Any) -> None:
        self._hook.remove()


def _name_tensors(module: Any) -> dict[str, str]:
    """The first name of each parameter and buffer, by all its names."""
    tensors = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    first: dict[int, str] = {}
    return {name: first.setdefault(id(value), name) for name, value in tensors}


def read_device_mesh(mesh: Any) -> dict[str, int]:
    """Names and sizes of axes, of a DeviceMesh too."""
    if mesh is not None and hasattr(mesh, "mesh_dim_names"):
        if not mesh.mesh_dim_names:
            raise ShardKitError("error: the DeviceMesh has no names, expected mesh_dim_names, such as init_device_mesh('cpu', (2, 4), mesh_dim_names=('data', 'model'))")
        return {n: int(mesh.size(i)) for i, n in enumerate(mesh.mesh_dim_names)}
    if not mesh:
        raise ShardKitError("error: the plan has no mesh, expected mesh=: a DeviceMesh, or names and sizes of axes, such as {'data': 2, 'model': 4}")
    return read_mesh(mesh)


def _make_device_mesh(axes: Mapping[str, int], mesh: Any) -> Any:
    """The mesh that a module is distributed over, which has the axes of the plan."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    if mesh is None:
        count = math.prod(axes.values())
        if not dist.is_initialized() or dist.get_world_size() != count:
            ranks = f"{dist.get_world_size()} ranks" if dist.is_initialized() else "no process group"
            raise ShardKitError(f"error: the plan is for {count} devices, but there is {ranks}, expected torch.distributed with {count} ranks, or mesh=")
        kind = "cuda" if dist.get_backend() == "nccl" else "cpu"
        return init_device_mesh(kind, tuple(axes.values()), mesh_dim_names=tuple(axes))
    if (given := read_device_mesh(mesh)) != dict(axes):
        raise ShardKitError(f"error: the mesh has axes {given}, expected those of the plan: {dict(axes)}")
    return mesh
