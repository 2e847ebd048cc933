"""Tensors with the values and the shape of one process, computed by DTensor, or in full where DTensor cannot.

A module whose inputs are such tensors runs as in one process, whatever it asks of shapes and values. An op that DTensor has no rule
for, or refuses in these placements, is computed on complete tensors on every device, in the backward pass too, and is noted."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate
from torch.utils._pytree import tree_flatten, tree_unflatten

from ...errors import ShardKitError
from . import rules


@dataclasses.dataclass
class Log:
    """What ran on complete tensors: the first reason and the number of calls by op."""

    mesh: Any
    ops: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)

    def add(self, op: Any, reason: str) -> None:
        first, count = self.ops.get(str(op), (reason, 0))
        self.ops[str(op)] = (first, count + 1)

    def describe(self) -> dict[str, str]:
        return {op: f"{reason} ({count} times)" for op, (reason, count) in self.ops.items()}


class GlobalTensor(torch.Tensor):  # type: ignore[misc]
    """A DTensor that looks like the tensor of one process."""

    dtensor: Any
    log: Log
    is_copy: bool
    """It is a view in one process, but not here: what changes it in place is refused."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, dtensor: Any, log: Log, is_copy: bool = False) -> GlobalTensor:
        made = torch.Tensor._make_wrapper_subclass(cls, dtensor.shape, strides=dtensor.stride(), dtype=dtensor.dtype, device=dtensor.device)
        made.dtensor, made.log, made.is_copy = dtensor, log, is_copy
        return made  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"GlobalTensor({self.dtensor!r})"

    def tolist(self) -> Any:
        return complete(self.dtensor).tolist()

    def numpy(self, *args: Any, **kwargs: Any) -> Any:
        return complete(self.dtensor).numpy(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _Call(func, args, kwargs or {}).run()


class _Call:
    """An op on such tensors, plain ones (of which every device has the same) and DTensors."""

    def __init__(self, func: Any, args: Any, kwargs: Any) -> None:
        self.func = func
        self.leaves, self.tree = tree_flatten((args, kwargs))
        self.tensors = [i for i, v in enumerate(self.leaves) if isinstance(v, torch.Tensor)]
        self.log = next(v.log for v in self.leaves if isinstance(v, GlobalTensor))
        self.changed = _find_changed(func, args, kwargs)
        self.is_view = not self.changed and any(a.alias_info for a in func._schema.arguments)

    def run(self) -> Any:
        for value in self.changed:
            if isinstance(value, GlobalTensor) and value.is_copy:
                raise ShardKitError(f"error: {self.func} changes a view that is sharded otherwise than its tensor, expected a module that makes new tensors")
        given = dict(zip(self.tensors, self._distribute()))
        if any(not isinstance(r.type, (torch.TensorType, torch.ListType)) for r in self.func._schema.returns):
            return self._compute(given)  # a number
        try:
            found = self._call(given)
        except ShardKitError:
            raise
        except Exception as error:  # what a rule raises has no common base
            self.log.add(self.func, _shorten(error))
            return self._compute(given)
        if not self.changed and (reason := self._find_fault(found)):
            self.log.add(self.func, reason)
            return self._compute(given)
        return self._wrap(found, given)

    def _find_fault(self, found: Any) -> str | None:
        """A shard of another size than DTensor claims, which all devices see where shards have one size."""
        for value in tree_flatten(found)[0]:
            if isinstance(value, DTensor) and divides(value.placements, value.shape, self.log.mesh):
                sizes = list(value.shape)
                for axis, placement in enumerate(value.placements):
                    if placement.is_shard():
                        sizes[placement.dim] //= self.log.mesh.size(axis)
                if (made := list(value.to_local().shape)) != sizes:
                    return f"DTensor makes shards of {made}, expected {sizes}"
        return None

    def _distribute(self) -> list[Any]:
        def distribute(value: Any) -> Any:
            if isinstance(value, GlobalTensor):
                return value.dtensor
            return value if isinstance(value, DTensor) else replicate(value, self.log.mesh)

        return [distribute(self.leaves[i]) for i in self.tensors]

    def _call(self, tensors: dict[int, Any]) -> Any:
        args, kwargs = tree_unflatten([tensors.get(i, v) for i, v in enumerate(self.leaves)], self.tree)
        if rule := rules.RULES.get(self.func):
            found, is_other = rule.run(self.func, args, kwargs)
            if is_other and rule.fault:
                self.log.add(self.func, rule.fault)
            return found
        return self.func(*args, **kwargs)

    def _compute(self, given: dict[int, Any]) -> Any:
        """On complete tensors; those that it changes get their new values."""
        full = {i: _restride(complete(v), self.leaves[i]) for i, v in given.items()}
        changed = {i for i in full if any(self.leaves[i] is c for c in self.changed) and full[i] is not given[i].to_local()}
        copies = {i: v.clone() if i in changed else v for i, v in full.items()}
        args, kwargs = tree_unflatten([copies.get(i, v) for i, v in enumerate(self.leaves)], self.tree)
        found = self.func(*args, **kwargs)
        for i in changed:
            shard = replicate(copies[i], self.log.mesh).redistribute(placements=given[i].placements)
            given[i].to_local().copy_(shard.to_local())
        by_id = {id(v): i for i, v in copies.items()}
        leaves, tree = tree_flatten(found)
        return tree_unflatten([self._wrap_full(v, by_id) for v in leaves], tree)

    def _wrap_full(self, value: Any, by_id: dict[int, int]) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in by_id:
            return self.leaves[by_id[id(value)]]
        return GlobalTensor(replicate(value, self.log.mesh), self.log, is_copy=self.is_view)

    def _wrap(self, found: Any, given: dict[int, Any]) -> Any:
        by_id = {id(v): i for i, v in given.items()}
        storages = {v.to_local().untyped_storage().data_ptr() for v in given.values()} if self.is_view else set()

        def wrap(value: Any) -> Any:
            if not isinstance(value, DTensor):
                return value
            if id(value) in by_id:
                return self.leaves[by_id[id(value)]]
            if any(isinstance(p, Partial) and type(p) is not Partial for p in value.placements):
                value = value.redistribute(placements=without_sums(value.placements))  # rows of a table, which can be summed once only
            return GlobalTensor(value, self.log, self.is_view and value.to_local().untyped_storage().data_ptr() not in storages)

        leaves, tree = tree_flatten(found)
        return tree_unflatten([wrap(v) for v in leaves], tree)


def _find_changed(func: Any, args: Sequence[Any], kwargs: Any) -> list[Any]:
    found: list[Any] = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name, args[i] if i < len(args) else None)
            found += value if isinstance(value, (list, tuple)) else [value]
    return found


def _restride(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """In the order in memory that the op was chosen for."""
    if value.stride() == like.stride() or 0 in like.stride() or not value.numel():
        return value
    return torch.empty_strided(like.shape, like.stride(), dtype=value.dtype, device=value.device).copy_(value)


def _shorten(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def replicate(value: torch.Tensor, mesh: Any) -> Any:
    return DTensor.from_local(value, mesh, [Replicate()] * mesh.ndim, run_check=False)


def complete(dtensor: Any) -> torch.Tensor:
    return dtensor.redistribute(placements=[Replicate()] * dtensor.device_mesh.ndim).to_local()


# --- across the boundary of a module ------------------------------------------------------------------


class _Enter(torch.autograd.Function):  # type: ignore[misc]
    """A DTensor, or a plain tensor of which every device has the same, in given placements."""

    @staticmethod
    def forward(ctx: Any, value: Any, log: Log, placements: Any) -> Any:
        ctx.is_plain = not isinstance(value, DTensor)
        dtensor = replicate(value.detach(), log.mesh) if ctx.is_plain else value.detach()
        ctx.placements = dtensor.placements
        return GlobalTensor(dtensor.redistribute(placements=placements), log)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        dtensor = gradient.dtensor.redistribute(placements=ctx.placements)
        return dtensor.to_local() if ctx.is_plain else dtensor, None, None


class _Leave(torch.autograd.Function):  # type: ignore[misc]
    """The complete tensor."""

    @staticmethod
    def forward(ctx: Any, value: GlobalTensor) -> torch.Tensor:
        ctx.log = value.log
        full = complete(value.dtensor)
        return full.clone() if full is value.dtensor.to_local() else full

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient if isinstance(gradient, GlobalTensor) else GlobalTensor(replicate(gradient, ctx.log.mesh), ctx.log)


class _LeaveSharded(torch.autograd.Function):  # type: ignore[misc]
    """The DTensor."""

    @staticmethod
    def forward(ctx: Any, value: GlobalTensor) -> Any:
        ctx.log = value.log
        return value.dtensor.redistribute(placements=without_sums(value.dtensor.placements))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return GlobalTensor(gradient, ctx.log)


class _Redistribute(torch.autograd.Function):  # type: ignore[misc]
    """The same value in other placements; its gradient comes in those that it had."""

    @staticmethod
    def forward(ctx: Any, value: GlobalTensor, placements: Any) -> GlobalTensor:
        ctx.placements = without_sums(value.dtensor.placements)
        return GlobalTensor(value.dtensor.redistribute(placements=placements), value.log)

    @staticmethod
    def backward(ctx: Any, gradient: GlobalTensor) -> Any:
        return GlobalTensor(gradient.dtensor.redistribute(placements=ctx.placements), gradient.log), None


def without_sums(placements: Sequence[Any]) -> list[Any]:
    return [Replicate() if isinstance(p, Partial) else p for p in placements]


def enter(value: Any, log: Log, placements: Sequence[Any]) -> GlobalTensor:
    if not value.is_floating_point() and not value.is_complex():  # no gradient
        dtensor = value if isinstance(value, DTensor) else replicate(value, log.mesh)
        return GlobalTensor(dtensor.redistribute(placements=placements), log)
    return _Enter.apply(value, log, placements)  # type: ignore[no-any-return]


def leave(value: GlobalTensor) -> torch.Tensor:
    return _Leave.apply(value)


def leave_sharded(value: GlobalTensor) -> Any:
    return _LeaveSharded.apply(value)


def redistribute(value: GlobalTensor, placements: Sequence[Any]) -> GlobalTensor:
    """As it is where it has these placements, or where DTensor has to divide a dim unevenly for them."""
    mesh = value.log.mesh
    wanted = tuple(placements)
    if wanted == tuple(value.dtensor.placements) or not divides(wanted, value.shape, mesh):
        return value
    return _Redistribute.apply(value, wanted)  # type: ignore[no-any-return]


def divides(placements: Sequence[Any], shape: Sequence[int], mesh: Any) -> bool:
    """All shards have one size."""
    sizes = list(shape)
    for axis, placement in enumerate(placements):
        if placement.is_shard():
            if placement.dim >= len(sizes) or sizes[placement.dim] % mesh.size(axis):
                return False
            sizes[placement.dim] //= mesh.size(axis)
    return True


def map_tensors(function: Callable[[Any], Any], kind: type, value: Any) -> Any:
    """In the structures that modules take and return, and in objects that a dataclass describes."""
    if isinstance(value, kind):
        return function(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, (dict, type)):
        return dataclasses.replace(value, **{f.name: map_tensors(function, kind, getattr(value, f.name)) for f in dataclasses.fields(value) if f.init})
    leaves, tree = tree_flatten(value)
    return tree_unflatten([function(v) if isinstance(v, kind) else v for v in leaves], tree)
