"""A module that runs by a plan: parameters are DTensors, and all that it computes is global."""

from __future__ import annotations

import inspect
from typing import Any, Mapping, Sequence

import torch
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor

from ...errors import ShardKitError
from . import tensors
from .inputs import map_inputs
from .placements import describe
from .tensors import GlobalTensor, Log


class Application:
    """The hooks on a module, which have it run by a plan."""

    def __init__(self, plan: Any, module: Any, mesh: Any, gather: bool) -> None:
        self.plan, self.module, self.mesh, self.gather = plan, module, mesh, gather
        self.log = Log(mesh)
        self._signature = inspect.signature(module.forward)
        self._depth = 0
        self._calls: dict[str, int] = {}
        self._shown: dict[tuple[int, str], Any] = {}

    def install(self) -> Any:
        self._check()
        self._distribute()
        self.module.register_forward_pre_hook(self._begin, with_kwargs=True)
        self.module.register_forward_hook(self._end, with_kwargs=True, always_call=True)
        for name, module in self.module.named_modules():
            if name in self.plan.boundaries:
                module.register_forward_pre_hook(self._make_before(name), with_kwargs=True)
                module.register_forward_hook(self._make_after(name), with_kwargs=True)
        self.module.__dict__["_shardkit_application"] = self
        return self.module

    def _check(self) -> None:
        """The module is the one that was planned, and is not distributed."""
        if "_shardkit_application" in self.module.__dict__:
            raise ShardKitError("error: a plan was applied to the module already, expected a module that is not distributed")
        held = dict(self.module.named_parameters()) | dict(self.module.named_buffers())
        for name, placements in self.plan.placements().items():
            if name not in held:
                raise ShardKitError(f"error: the module has no {name}, expected the module that was planned: it has {', '.join(held)}")
            shape = tuple(held[name].shape)
            if any(p.is_shard() and not p.dim < len(shape) for p in placements):
                raise ShardKitError(f"error: {name} has shape {shape}, expected the module that was planned, which has it placed as {describe(placements)}")

    # --- parameters -----------------------------------------------------------------------------------

    def _distribute(self) -> None:
        made: dict[int, Any] = {}
        placements = self.plan.placements()
        first = self.plan.first_names
        for prefix, owner in self.module.named_modules():
            for table in (owner._parameters, owner._buffers):
                for key, value in table.items():
                    name = f"{prefix}.{key}" if prefix else key
                    if value is None or first.get(name, name) not in placements:
                        continue
                    if id(value) not in made:
                        made[id(value)] = self._distribute_one(value, placements[first.get(name, name)])
                    table[key] = made[id(value)]

    def _distribute_one(self, value: Any, placements: Sequence[Any]) -> Any:
        is_parameter = isinstance(value, torch.nn.Parameter)
        if not is_parameter and not any(p.is_shard() for p in placements):
            return value
        dtensor = distribute_tensor(value.detach(), self.mesh, placements)
        return torch.nn.Parameter(dtensor, requires_grad=value.requires_grad) if is_parameter else dtensor

    # --- calls ----------------------------------------------------------------------------------------

    def _begin(self, module: Any, args: Any, kwargs: Any) -> Any:
        self._depth += 1
        if self._depth > 1:
            return None
        self._calls = {}
        self._show_parameters()
        return self._distribute_inputs(args, kwargs)

    def _end(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        self._depth -= 1
        if self._depth:
            return None
        self._hide_parameters()
        finish = tensors.leave if self.gather else tensors.leave_sharded
        return tensors.map_tensors(finish, GlobalTensor, output)

    def _distribute_inputs(self, args: Any, kwargs: Any) -> Any:
        return map_inputs(self._signature, args, kwargs, self._distribute_input)

    def _distribute_input(self, name: str, value: Any) -> Any:
        placements = self.plan.inputs.get(self.plan.input_names.get(name, name), ())
        if len(placements) != self.mesh.ndim or not tensors.divides(placements, value.shape, self.mesh):
            placements = [Replicate()] * self.mesh.ndim
        return tensors.enter(value, self.log, placements)

    def _show_parameters(self) -> None:
        """Modules see their parameters as global tensors."""
        made: dict[int, Any] = {}
        for module in self.module.modules():
            for key, value in [*module._parameters.items(), *module._buffers.items()]:
                if isinstance(value, DTensor):
                    if id(value) not in made:
                        made[id(value)] = tensors.enter(value, self.log, value.placements)
                    module.__dict__[key] = made[id(value)]

    def _hide_parameters(self) -> None:
        for module in self.module.modules():
            for key in (*module._parameters, *module._buffers):
                module.__dict__.pop(key, None)

    # --- boundaries of modules --------------------------------------------------------------------------

    def _make_before(self, name: str) -> Any:
        def before(module: Any, args: Any, kwargs: Any) -> Any:
            self._calls[name] = self._calls.get(name, 0) + 1
            self._gather_parameters(name, module)
            return self._redistribute((args, kwargs), self._find_boundary(name).inputs)

        return before

    def _make_after(self, name: str) -> Any:
        def after(module: Any, args: Any, kwargs: Any, output: Any) -> Any:
            for key in self._find_boundary(name).parameters:
                if key in module.__dict__:
                    module.__dict__[key] = self._shown[id(module), key]
            return self._redistribute(output, self._find_boundary(name).outputs)

        return after

    def _find_boundary(self, name: str) -> Any:
        """A module that is called again has boundaries of its own in each call."""
        calls = self.plan.boundaries[name]
        return calls[min(self._calls.get(name, 1), len(calls)) - 1]

    def _gather_parameters(self, name: str, module: Any) -> None:
        for key, placements in self._find_boundary(name).parameters.items():
            if isinstance(value := module.__dict__.get(key), GlobalTensor):
                self._shown[id(module), key] = value
                module.__dict__[key] = tensors.redistribute(value, placements)

    def _redistribute(self, value: Any, wanted: Mapping[int, Sequence[Any]]) -> Any:
        """Tensors by their number in a structure; sums are completed in any case."""
        number = -1

        def one(leaf: Any) -> Any:
            nonlocal number
            number += 1
            if not isinstance(leaf, GlobalTensor):
                return leaf
            return tensors.redistribute(leaf, wanted.get(number, tensors.without_sums(leaf.dtensor.placements)))

        return tensors.map_tensors(one, torch.Tensor, value)
