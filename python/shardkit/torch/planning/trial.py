"""Whether the code between modules works on shards: what one rank would compute under styles, compared with the module itself.

Modules with a style are not run. The value that a rank would have is taken from a run of the module as it is, so no other rank is
needed: of a local side a shard, else all of it. What comes into such modules must be the shard, or all, of what came in there, and
gradients are compared in the same way, so that a parameter whose gradient a rank has a part of is found."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch
from torch.utils._pytree import tree_leaves


def try_styles(module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Callable[..., Any] | None, styles: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The styles, of which those are local that can be."""
    from .styles import to_pattern

    owners = {n: p for n, _ in module.named_modules() if (p := to_pattern(n)) in styles}
    found = {p: dataclasses.replace(s, is_local=False) if s.is_embedding else s for p, s in styles.items()}
    with _evaluating(module):
        reference = _Run(module, owners, found, None, count)
        reference.call(args, kwargs, loss)
        while wrong := _find_wrong(module, args, kwargs, loss, owners, found, reference, count):
            for pattern in wrong:
                found[pattern] = dataclasses.replace(found[pattern], is_local=False)
    return found


def _find_wrong(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Any, owners: Mapping[str, str], styles: Mapping[str, Any], reference: _Run, count: int
) -> set[str]:
    """Patterns that must not be local."""
    if not any(s.is_local for s in styles.values()):
        return set()
    for rank in {0, count - 1}:
        run = _Run(module, owners, styles, reference, count, rank)
        try:
            run.call(args, kwargs, loss)
        except Exception:  # shards do not fit: what the module raises has no common base
            pass
        else:
            continue
        return run.suspects or {p for p, s in styles.items() if s.is_local}
    return set()


class _Mismatch(Exception):
    pass


class _Run:
    """One run of the module: the reference, which notes what goes in and out of modules with a style, or that of a rank."""

    def __init__(self, module: Any, owners: Mapping[str, str], styles: Mapping[str, Any], reference: _Run | None, count: int, rank: int = 0) -> None:
        self._module, self._owners, self._styles, self._reference = module, owners, styles, reference
        self._count, self._rank = count, rank
        self._open: set[str] = set()
        self._calls: list[tuple[str, torch.Tensor, torch.Tensor]] = []
        """Of modules with a style: what came in and went out."""
        self._parameters = {n: p for n, p in module.named_parameters() if n.rpartition(".")[0] not in owners}
        self._open_at: dict[str, set[str]] = {}
        self.inputs: list[torch.Tensor] = []
        self.outputs: list[torch.Tensor] = []
        self.results: list[torch.Tensor] = []
        self.gradients: list[Any] = []
        self.suspects: set[str] = set()

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Any) -> None:
        with self._hooked(), torch.enable_grad():
            found = loss(self._module, *args, **kwargs) if loss else self._module(*args, **kwargs)
        self.results = [v for v in tree_leaves(found) if isinstance(v, torch.Tensor) and v.is_floating_point()]
        if self._reference is None:
            self._differentiate(self.results, [torch.cos(torch.arange(v.numel(), dtype=v.dtype, device=v.device)).reshape(v.shape) for v in self.results])
            return
        self.suspects = set(self._open)
        for value, expected in zip(self.results, self._reference.results, strict=True):
            self._compare(value, expected)
        self._check_gradients()

    # --- forward ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _hooked(self) -> Iterator[None]:
        hooks, replaced = [], []
        for name, module in self._module.named_modules():
            if name in self._owners:
                replaced.append((module, module.__dict__.get("forward")))
                module.forward = self._make_forward(self._owners[name], module.forward)
            elif next(module.parameters(recurse=False), None) is not None:
                hooks.append(module.register_forward_pre_hook(lambda _m, _a, name=name: self._open_at.setdefault(name, set()).update(self._open)))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
            for module, forward in replaced:
                module.__dict__.pop("forward")
                if forward is not None:
                    module.forward = forward

    def _make_forward(self, pattern: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        def note(*args: Any, **kwargs: Any) -> Any:
            x = _get_input(args, kwargs)
            x = x.clone()  # its gradient is that of this module alone
            output = forward(x)
            self.inputs.append(x)
            self.outputs.append(output)
            return output.clone()  # which may be changed in place

        def stand_in(*args: Any, **kwargs: Any) -> Any:
            return self._stand_in(pattern, _get_input(args, kwargs))

        return note if self._reference is None else stand_in

    def _stand_in(self, pattern: str, x: torch.Tensor) -> torch.Tensor:
        assert self._reference
        style, call = self._styles[pattern], len(self.inputs)
        is_row = style.kind == "rowwise" and not style.is_embedding
        self.suspects = {pattern} if is_row and style.is_local and not self._open else set(self._open)
        self._compare(x, self._shard(self._reference.inputs[call], is_row and style.is_local))
        if is_row and style.is_local:
            self._open.clear()
        output = self._shard(self._reference.outputs[call].detach(), style.kind == "colwise" and style.is_local).clone()
        if style.kind == "colwise" and style.is_local:
            self._open.add(pattern)
        self.inputs.append(x)
        self.outputs.append(output.requires_grad_(output.is_floating_point()))
        self.suspects = set(self._open)
        return self.outputs[-1].clone()

    def _shard(self, value: torch.Tensor, is_local: bool) -> torch.Tensor:
        return value.chunk(self._count, -1)[self._rank] if is_local else value

    def _compare(self, value: torch.Tensor, expected: torch.Tensor) -> None:
        value, expected = value.detach().double(), expected.detach().double()
        least = 1e-5 * float(expected.abs().max()) if expected.numel() else 0.0
        if value.shape != expected.shape or not torch.allclose(value, expected, rtol=1e-3, atol=least + 1e-9):
            raise _Mismatch

    # --- backward ---------------------------------------------------------------------------------------

    def _differentiate(self, values: Sequence[torch.Tensor], gradients: Sequence[Any]) -> None:
        """The gradients of what went in and out of modules with a style, and of the other parameters."""
        pairs = [(v, g) for v, g in zip(values, gradients) if v.requires_grad and g is not None]
        wanted = [v for v in (*self.inputs, *self.outputs, *self._parameters.values()) if v.requires_grad]
        if not pairs or not wanted:
            return
        if self._reference is not None:  # what went in is what gradients come from
            wanted = [v for v in (*self.outputs, *self._parameters.values()) if v.requires_grad]
        found = dict(zip(map(id, wanted), torch.autograd.grad([v for v, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True)))
        self.gradients = [found.get(id(v)) for v in (*self.inputs, *self.outputs, *self._parameters.values())]

    def _check_gradients(self) -> None:
        reference = self._reference
        assert reference
        if not reference.gradients:
            return
        count = len(self.inputs)
        expected = [None if g is None else self._fit(g, v) for g, v in zip(reference.gradients, (*self.inputs, *self.outputs, *self._parameters.values()))]
        cotangents = [torch.cos(torch.arange(v.numel(), dtype=v.dtype, device=v.device)).reshape(v.shape) for v in self.results]
        self._differentiate([*self.inputs, *self.results], [*expected[:count], *cotangents])
        for position, (found, wanted) in enumerate(zip(self.gradients[count:], expected[count:])):
            number = position - len(self.outputs)
            owner = list(self._parameters)[number].rpartition(".")[0] if number >= 0 else ""
            self.suspects = self._open_at.get(owner, set()) if number >= 0 else set()
            if found is not None or wanted is not None:
                self._compare(torch.zeros_like(wanted) if found is None else found, torch.zeros_like(found) if wanted is None else wanted)

    def _fit(self, gradient: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return gradient if gradient.shape == value.shape else gradient.chunk(self._count, -1)[self._rank]


def _get_input(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()))


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
    """Without dropout; buffers stay as they are."""
    modes = {m: m.training for m in module.modules()}
    buffers = {b: b.detach().clone() for b in module.buffers()}
    state = torch.get_rng_state()
    module.eval()
    try:
        yield
    finally:
        for m, mode in modes.items():
            m.training = mode
        with torch.no_grad():
            for buffer, value in buffers.items():
                buffer.copy_(value)
        torch.set_rng_state(state)
