"""Training steps of PyTorch as functions of tensors: a loss, its gradients, and what an optimizer makes of them."""

from __future__ import annotations

import collections
import contextlib
import sys
import warnings
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence
from unittest import mock

import torch
import torch.fx.traceback as fx_traceback
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ..errors import PACKAGE, ShardKitError
from . import decompositions, random
from .concrete import Concrete
from .function import Function, Instead, Tensors, quiet
from .gradients import of_parts


class OptimizerState:
    """What an optimizer of PyTorch keeps of the parameters, and its step as a function."""

    def __init__(self, optimizer: Any, parameters: Mapping[str, Any]):
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise ShardKitError(f"error: the optimizer is {optimizer!r}, expected one of torch.optim")
        self.optimizer = optimizer
        known = {p: n for n, p in parameters.items()}
        self.names: dict[Any, str] = {}
        for p in (p for group in optimizer.param_groups for p in group["params"]):
            if p not in known:
                raise ShardKitError(
                    f"error: the optimizer has a parameter of {tuple(p.shape)} that the module has not, expected one over module.parameters()"
                )
            self.names[p] = known[p]
        self.kept = optimizer.state if all(optimizer.state.get(p) for p in self.names) else self._begin()

    @property
    def kind(self) -> str:
        return type(self.optimizer).__name__

    def get_tensors(self) -> Tensors:
        """Under the names that checkpoints of PyTorch have: `state.PARAMETER.KEY`; and `param_groups.N.KEY`, options that are
        tensors."""
        found = {f"state.{n}.{k}": v for p, n in self.names.items() for k, v in self.kept.get(p, {}).items() if isinstance(v, torch.Tensor)}
        return found | {f"param_groups.{i}.{k}": v for i, k, v in self._find_options()}

    def step(self, tensors: Tensors, gradients: Mapping[str, Any]) -> Tensors:
        """The parameters after one step, and the optimizer state then. One without a gradient stays as it is."""
        copies = {p: tensors[n].detach().clone() for p, n in self.names.items()}
        kept: Any = collections.defaultdict(dict)
        for p, n in self.names.items():
            copies[p].grad = gradients[n]
            if self.kept.get(p):
                kept[copies[p]] = {k: tensors[f"state.{n}.{k}"].clone() if isinstance(v, torch.Tensor) else v for k, v in self.kept[p].items()}
        options = {(i, k): tensors[f"param_groups.{i}.{k}"] for i, k, _ in self._find_options()}
        try:
            with self._replace(copies, kept, options):
                self.optimizer.step()
        except Exception as error:  # an optimizer may raise anything
            raise ShardKitError(f"error: {self.kind}.step: {_first_line(error)}, expected an optimizer that torch.compile takes too") from error
        new = {n: copies[p] for p, n in self.names.items()}
        for p, n in self.names.items():
            for key, value in kept.get(copies[p], {}).items():
                if isinstance(value, torch.Tensor):
                    new[f"state.{n}.{key}"] = value
                elif value != self.kept.get(p, {}).get(key):
                    raise ShardKitError(f"error: {self.kind} changes {key} of {n}, the number {value!r}, expected what it changes to be tensors")
        if unknown := new.keys() - tensors.keys():
            raise ShardKitError(f"error: {self.kind} makes {sorted(unknown)[0]} in a later step than the first, expected an optimizer that has it")
        return new

    def _find_options(self) -> Iterator[tuple[int, str, torch.Tensor]]:
        for i, group in enumerate(self.optimizer.param_groups):
            for key, value in group.items():
                if isinstance(value, torch.Tensor):
                    yield i, key, value

    def _begin(self) -> Any:
        """What is kept before the first step: what a step makes that changes nothing."""
        optimizer = self.optimizer
        if any(group.get("momentum") and group.get("dampening") for group in optimizer.param_groups):
            raise ShardKitError("error: a first step with dampening differs from later ones, expected an optimizer that has made one")
        parameters = list(self.names)
        gradients = [p.grad for p in parameters]
        state: Any = collections.defaultdict(dict, {p: dict(s) for p, s in optimizer.state.items()})
        decay = {(i, "weight_decay"): 0 for i, group in enumerate(optimizer.param_groups) if "weight_decay" in group}
        try:
            for p in parameters:
                p.grad = torch.zeros_like(p)
            with _Unchanged(), self._replace({p: p for p in parameters}, state, decay):
                optimizer.step()
        except Exception as error:
            raise ShardKitError(
                f"error: {self.kind} does not reveal its state before its first step ({_first_line(error)}), expected one that has made a step"
            ) from error
        finally:
            for p, gradient in zip(parameters, gradients):
                p.grad = gradient
        return state

    @contextlib.contextmanager
    def _replace(self, positions: Mapping[Any, Any], state: Any, options: Mapping[tuple[int, str], Any]) -> Iterator[None]:
        """Other tensors for the parameters and another state; and one kernel for each parameter."""
        groups, kept = self.optimizer.param_groups, self.optimizer.state
        plain = {"foreach": False, "fused": False, "capturable": True}
        self.optimizer.param_groups = [
            group
            | {k: v for k, v in plain.items() if k in group}
            | {k: v for (n, k), v in options.items() if n == i}
            | {"params": [positions[p] for p in group["params"]]}
            for i, group in enumerate(groups)
        ]
        self.optimizer.state = state
        try:
            with _compiling():
                yield
        finally:
            self.optimizer.param_groups, self.optimizer.state = groups, kept


class _Unchanged(TorchDispatchMode):  # type: ignore[misc]
    """Ops that change a tensor change none."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not func._schema.is_mutable or not func._schema.name.endswith("_"):
            return func(*args, **(kwargs or {}))
        return args[0] if func._schema.returns else None


SEED = "random.seed"


def export(
    function: Function, module: Tensors, trained: Sequence[str], inputs: Sequence[torch.Tensor], optimizer: OptimizerState | None
) -> tuple[Any, list[str], bool]:
    """A step as an exported program, names, and whether it draws random numbers. It takes the state of the module, that of the
    optimizer, the inputs, and, if it draws, a seed. It returns the leaves of the result of `function`, the first of which is the loss; then
    the named values: gradients of the parameters `trained`, or, with an optimizer, the new values of what has changed; then the
    inner values of the function."""
    kept = optimizer.get_tensors() if optimizer else {}
    tensors = [v.detach() for v in (*module.values(), *kept.values(), *inputs)]
    names: list[str] = []
    generator = random.Generator()
    first = 0

    def step(*tensors: torch.Tensor) -> list[Any]:
        nonlocal first
        *tensors, generator.seed = tensors  # type: ignore[assignment]
        given = dict(zip((*module, *kept), tensors))
        state = {n: given[n].detach().requires_grad_() if n in trained else given[n].clone() for n in module}
        leaves = [state[n] for n in trained]
        with torch.enable_grad():
            # Anomaly mode keeps lines for the backward pass.
            with _Lines(), torch.autograd.detect_anomaly(check_nan=False), torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
                # Inside: what is computed once more in the backward pass reads the module.
                result, found, inner = function(state, tensors[len(given) :], lambda result: _differentiate(result, leaves))
            gradients = dict(zip(trained, found))
        fx_traceback.set_stack_trace([])
        if optimizer is None:
            new = {n: torch.zeros_like(given[n]) if g is None else g for n, g in gradients.items()}
        else:
            new = {n: v for n, v in state.items() if n not in trained} | optimizer.step(given, gradients)
            if generator.draws:
                new[SEED] = generator.seed + 1
        names[:], results = new, tree_leaves(result)
        first = len(results)
        return [v.detach() for v in (*results, *new.values(), *inner)]

    with _compiling(), mock.patch("torch._assert", _assert), torch.no_grad(), enable_python_dispatcher(), of_parts(), fx_traceback.preserve_node_meta(), warnings.catch_warnings(action="ignore"):
        table = decompositions.of_backward_ops() | generator.get_table()
        graph = make_fx(step, table, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors, torch.zeros((), dtype=torch.int64))
    _check_constants(graph, module)
    output = graph.graph.output_node()
    values = list(output.args[0])
    changed = [i for i in range(len(names)) if not _is_argument(values[first + i])]
    output.args = ([*values[:first], *(values[first + i] for i in changed), *values[first + len(names) :]],)
    seed = list(graph.graph.find_nodes(op="placeholder"))[-1]
    if generator.draws:
        tensors.append(torch.zeros((), dtype=torch.int64))
    else:
        graph.graph.erase_node(seed)
    graph.recompile()
    with quiet():
        program = torch.export.export(graph, tuple(tensors), strict=False)
    return program, [names[i] for i in changed], generator.draws > 0


def _assert(condition: Any, message: str, *, original: Any = torch._assert) -> None:
    """`torch._assert` as torch.export traces it."""
    if isinstance(condition, torch.Tensor):
        torch.ops.aten._assert_async.msg(condition.detach(), message)
    else:
        original(condition, message)


def _check_constants(graph: Any, module: Tensors) -> None:
    """A parameter that is a constant would stay as it is from step to step."""
    positions = {v.data_ptr(): n for n, v in module.items() if v.numel()}
    for node in graph.graph.find_nodes(op="get_attr"):
        value = getattr(graph, node.target)
        if isinstance(value, torch.Tensor) and value.numel() and not isinstance(value, FakeTensor) and value.data_ptr() in positions:
            raise ShardKitError(
                f"error: {positions[value.data_ptr()]} is read past the module that has it, expected a loss that reads parameters of the module it is given"
            )


def _is_argument(node: Any) -> bool:
    """It is an argument, or a copy of one that nothing changes."""
    aten = torch.ops.aten
    while node.op == "call_function" and node.target in (aten.alias.default, aten.detach.default, aten.clone.default):
        if any(user.op == "call_function" and user.target._schema.is_mutable for user in node.users):
            return False
        node = node.args[0]
    return bool(node.op == "placeholder")


def _differentiate(result: Any, leaves: Sequence[torch.Tensor]) -> Sequence[Any]:
    loss = next(iter(tree_leaves(result)), None)
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.is_floating_point():
        what = f"a tensor of {tuple(loss.shape)} {loss.dtype}" if isinstance(loss, torch.Tensor) else repr(loss)
        raise ShardKitError(f"error: the first result, of which gradients are taken, is {what}, expected a loss: one float")
    if not loss.requires_grad:
        raise ShardKitError("error: the loss depends on no parameter that is trained, expected one that has a gradient")
    _tell_lines(loss.grad_fn)
    return list(torch.autograd.grad(loss, leaves, torch.ones_like(loss), allow_unused=True))


class _Lines(TorchFunctionMode):  # type: ignore[misc]
    """An op has the lines of the user that called it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        lines, frame = [], sys._getframe(1)
        between = (Instead.__torch_function__.__code__, Concrete.__torch_function__.__code__, Concrete._trace.__code__, _assert.__code__)  # they call what they were called for
        while frame is not None and (frame.f_code in between or not Path(frame.f_code.co_filename).is_relative_to(PACKAGE)):
            if frame.f_code not in between:
                lines.append(f'  File "{frame.f_code.co_filename}", line {frame.f_lineno}, in {frame.f_code.co_name}\n')
            frame = frame.f_back  # type: ignore[assignment]
        fx_traceback.set_stack_trace(lines[::-1])
        return func(*args, **(kwargs or {}))


def _tell_lines(root: Any) -> None:
    """An op of the backward pass has the line of the op whose gradient it computes."""
    seen, left = {root}, [root]
    while left:
        node = left.pop()
        stack = node.metadata.get("traceback_", [])
        node.register_prehook(lambda _, stack=stack: fx_traceback.set_stack_trace(stack))
        following = [f for f, _ in node.next_functions if f is not None and f not in seen]
        seen.update(following)
        left += following


def _compiling() -> Any:
    """As in torch.compile: optimizers keep to tensors."""
    return mock.patch.object(torch.compiler, "_is_compiling_flag", True)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
