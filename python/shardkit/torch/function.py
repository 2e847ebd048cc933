"""A module of PyTorch as a function of tensors."""

from __future__ import annotations

import contextlib
import itertools
import logging
from typing import Any, Callable, Iterator, Mapping, Sequence
from unittest import mock

import torch
import torch.export._trace
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from ..errors import ShardKitError
from ..linalg.annotations import Inner
from . import attention, experts, stages
from .concrete import Concrete
from .sizes import refuse_branches

Tensors = dict[str, torch.Tensor]


class Function:
    """A module, or a loss of a module, as a function of its state, by name, and of the tensors among its arguments. It also returns
    requested values inside: the outputs of modules, by their names, what crosses between pipeline stages, and what modules that are
    `watched` take and make."""

    def __init__(
        self, module: Any, loss: Callable[..., Any] | None, args: Sequence[Any], kwargs: Mapping[str, Any], outputs: Sequence[str],
        watched: Sequence[str] = (),
    ):  # fmt: skip
        self.module, self.outputs, self.watched = module, outputs, watched
        self.caller = _Caller(module, loss)
        self.given, self.given_tree = tree_flatten((tuple(args), dict(kwargs)))
        self.what = "loss" if loss else "module"
        self.inner: list[Inner] = []
        """The inner values that the last call returned."""
        self.shapes: dict[str, tuple[int, ...]] = {}
        """Of those that watched modules took and made."""
        self.changed: list[str] = []
        """The buffers that a call changes."""
        held = [*module.parameters(), *module.buffers()]
        self.fake = FakeTensorMode(allow_non_fake_inputs=True) if any(v.is_meta for v in held) else None
        """Of a module whose tensors have no elements, at least in part."""

    def make_fake(self, tensors: Tensors) -> Tensors:
        """Tensors of the meta device as such that a trace takes for tensors of this one."""
        if self.fake is None:
            return tensors
        with self.fake:
            return {n: torch.empty(v.shape, dtype=v.dtype) if v.is_meta else v for n, v in tensors.items()}

    def call_once(self) -> Any:
        """The leaves of what it returns, and their tree. Buffers stay as they are."""
        buffers = {n: v.detach() for n, v in self.caller.named_buffers()}
        held: Tensors = {}
        with contextlib.ExitStack() as stack:
            if self.fake is not None:
                held = self.make_fake({n: v for n, v in self.caller.named_parameters()})
                buffers = self.make_fake(buffers)
                stack.enter_context(self.fake)
                stack.enter_context(Concrete())
                stack.enter_context(mock.patch("torch.compiler.is_exporting", lambda: True))
            copies = {n: v.clone() for n, v in buffers.items()}
            buffers = held | copies
            stack.enter_context(torch.no_grad())
            result, _ = self._call(buffers, self.given, _nothing)
        self.changed = [n.removeprefix("module.") for n, v in buffers.items() if n in copies and (v is not copies[n] or v._version)]
        leaves, tree = tree_flatten(result)
        for i, v in enumerate(leaves):
            if not isinstance(v, torch.Tensor):
                raise ShardKitError(f"error: result {i} of the {self.what} is {v!r}, expected tensors only")
        return leaves, tree

    def __call__(self, state: Tensors, tensors: Sequence[Any], then: Callable[[Any], Any]) -> tuple[Any, Any, list[torch.Tensor]]:
        """The result, what `then` makes of it while the module has this state, which may change, and the inner values."""
        rest = iter(tensors)
        leaves = [v if is_constant(v) else next(rest) for v in self.given]
        constrained: Tensors = {}
        hooks = [
            self.module.get_submodule(name).register_forward_hook(lambda _m, _i, out, name=name: constrained.__setitem__(name, out))
            for name in self.outputs
        ]
        seen: Tensors = {}
        hooks += [hook for name in self.watched for hook in _watch(self.module.get_submodule(name), name, seen)]
        held = {f"module.{n}": v for n, v in state.items()}
        try:
            with stages.record_boundaries() as boundaries, Concrete():
                result, more = self._call(held, leaves, then)
        finally:
            for hook in hooks:
                hook.remove()
        state.update({n.removeprefix("module."): v for n, v in held.items()})
        self.inner = [Inner(n) for n in self.outputs if n in constrained]
        self.inner += [Inner("backward" if is_backward else "forward", len(crossing), is_boundary=True) for is_backward, crossing in boundaries]
        self.inner += [Inner(n, is_tagged=True) for n in seen]
        self.shapes = {n: tuple(v.shape) for n, v in seen.items()}
        crossing = [v for _, values in boundaries for v in values]
        return result, more, [*(constrained[n] for n in self.outputs if n in constrained), *crossing, *seen.values()]

    def _call(self, held: Tensors, leaves: Sequence[Any], then: Callable[[Any], Any]) -> tuple[Any, Any]:
        own = dict(self.caller.named_parameters()) | dict(self.caller.named_buffers())
        with Instead({id(own[n]): v for n, v in held.items() if n in own}), experts.by_token(self.module), _keep_modules(), attention.replace_varlen():
            found: tuple[Any, Any] = torch.func.functional_call(self.caller, held, (*tree_unflatten(leaves, self.given_tree), then))
        return found

    def export(self, state: Tensors, inputs: Sequence[torch.Tensor], dims: tuple[Any, Any] | None = None, made: Tensors | None = None, known: Any = None) -> Any:
        """The exported program of state and inputs to the result, the new values of the buffers that change, and the inner values.
        `dims`: of each tensor of the state, and of each input, a `torch.export.Dim` for every dim whose size is not known. `made`: buffers
        that change and are not read. `known`: dims of inputs at whose smallest sizes no branch of the module may go another way."""
        if self.changed and self.module.training:
            raise ShardKitError(
                f"error: {self.changed[0]} changes while the module runs in training mode, expected a loss, or none that changes: call module.eval()"
            )

        def forward(state: Tensors, *tensors: Any) -> Any:
            own = {n: v.clone() if n in self.changed else v for n, v in state.items()} | (made or {})
            result, _, inner = self(own, tensors, _nothing)
            return tree_leaves(result), [own[n] for n in self.changed], inner

        def trace() -> Any:
            # A size that is not known is none of 0 and 1 where a trace asks, and the program is right for these too.
            unknown = torch.fx.experimental._config.patch(backed_size_oblivious=dims is not None)
            with torch.no_grad(), quiet(), unknown, refuse_branches(known or ()):
                dynamic = None if dims is None else ((dict(zip(state, dims[0])), *dims[1]),)
                return torch.export.export(_Module(forward), (state, *inputs), strict=False, dynamic_shapes=dynamic)

        try:
            return trace()
        except (AttributeError, TypeError) as error:
            # Outside of a trace it runs. Modules leave out what callers may omit where `torch.compiler.is_compiling()`.
            try:
                with mock.patch("torch.compiler.is_compiling", lambda: False):
                    return trace()
            except Exception:
                raise error from None


def _watch(module: Any, name: str, seen: Tensors) -> list[Any]:
    """Hooks that note the tensors that a module takes and makes in each of its calls: `NAME/CALL/in0`, `NAME/CALL/out0`."""
    calls = itertools.count()
    call = 0

    def note(kind: str, value: Any) -> None:
        for k, leaf in enumerate(v for v in tree_leaves(value) if isinstance(v, torch.Tensor)):
            seen[f"{name}/{call}/{kind}{k}"] = leaf

    def before(_module: Any, args: Any, kwargs: Any) -> None:
        nonlocal call
        call = next(calls)
        note("in", (args, kwargs))

    def after(_module: Any, args: Any, kwargs: Any, output: Any) -> None:
        note("out", output)

    return [module.register_forward_pre_hook(before, with_kwargs=True), module.register_forward_hook(after, with_kwargs=True)]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What torch.export prints of a graph where it fails is left out: the error has the line."""
    logs = [logging.getLogger(name) for name in ("torch.fx.experimental.symbolic_shapes", "torch._subclasses.fake_tensor")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        with mock.patch("torch.export._trace.print", lambda *args, **kwargs: None, create=True):
            yield
    finally:
        for log, level in zip(logs, before):
            log.setLevel(level)


@contextlib.contextmanager
def _keep_modules() -> Iterator[None]:
    """A module that is moved to the type and device that it has stays as it is: its tensors may be those of a trace."""
    move = torch.nn.Module.to

    def to(module: Any, *args: Any, **kwargs: Any) -> Any:
        device, dtype, _, layout = torch._C._nn._parse_to(*args, **kwargs)
        tensors = [*module.parameters(), *module.buffers()]
        is_same = all((device is None or v.device == device) and (dtype is None or v.dtype == dtype or not v.is_floating_point()) for v in tensors)
        return module if is_same and layout is None else move(module, *args, **kwargs)

    with mock.patch.object(torch.nn.Module, "to", to):
        yield


class Instead(TorchFunctionMode):  # type: ignore[misc]
    """Where a tensor is used by another way than by its name in the module (what a cache of keys holds), what it has become is."""

    def __init__(self, tensors: Mapping[int, torch.Tensor]):
        super().__init__()
        self.tensors = tensors

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map_only(torch.Tensor, lambda v: self.tensors.get(id(v), v), (args, kwargs or {}))
        return func(*args, **kwargs)


class _Caller(torch.nn.Module):  # type: ignore[misc]
    """The loss as a module."""

    def __init__(self, module: Any, loss: Callable[..., Any] | None):
        super().__init__()
        self.module, self.loss = module, loss

    def forward(self, args: Any, kwargs: Any, then: Callable[[Any], Any]) -> Any:
        result = self.loss(self.module, *args, **kwargs) if self.loss else self.module(*args, **kwargs)
        return result, then(result)


class _Module(torch.nn.Module):  # type: ignore[misc]
    """A function as a module, for APIs that take modules."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def _nothing(result: Any) -> None:
    return None


def is_fake(value: Any) -> bool:
    return isinstance(value, FakeTensor)


def is_constant(value: Any) -> bool:
    """Numbers, and nothing, are part of a program."""
    return value is None or isinstance(value, (bool, int, float, str))
