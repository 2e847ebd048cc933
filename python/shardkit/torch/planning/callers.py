"""Which modules hand the tensors that they take to modules inside of them."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch


def to_pattern(name: str) -> str:
    """Layers of all numbers."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)", "*", name)


class Callers:
    """What one call of a module shows: by name of an inner module, of its first input."""

    def __init__(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], loss: Callable[..., Any] | None) -> None:
        self._callers: dict[str, list[tuple[str, int | str]]] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._running: dict[str, tuple[Any, Any]] = {}
        self._made: list[tuple[str, Any]] = []
        self._takers: dict[str, list[tuple[str, int | str]]] = {}
        self._outputs: dict[str, list[bool] | None] = {}
        hooks = [m.register_forward_pre_hook(self._make_note(name), with_kwargs=True) for name, m in module.named_modules()]
        hooks += [m.register_forward_hook(self._make_end(name)) for name, m in module.named_modules()]
        try:
            with torch.no_grad(), evaluating(module):
                loss(module, *args, **kwargs) if loss else module(*args, **kwargs)
        finally:
            for hook in hooks:
                hook.remove()
        self._running.clear()
        self._made.clear()
        self._names = {to_pattern(name): name for name in self._counts}

    def find(self, name: str) -> list[tuple[str, int | str]]:
        """The modules around it that take its first input too, outermost first, and the number or name of that input there. A layer that
        the module does not have, as it has fewer, is like any other."""
        return self._callers.get(name if name in self._counts else self._names.get(to_pattern(name), ""), [])

    def find_takers(self, name: str) -> list[tuple[str, int | str]]:
        """The modules that take what it makes, in the order of their calls, and the number or name of that input."""
        return self._takers.get(name, [])

    def get_outputs(self, name: str) -> list[bool] | None:
        """Which outputs of a tuple are tensors; none for a module that makes something else than a tensor or a tuple of them; None: a tensor."""
        return self._outputs.get(name, [])

    def takes_one(self, name: str) -> bool:
        """Whether it is called with one input, by position, as styles have it."""
        return self._counts.get(name) == (1, 0)

    def count_positional(self, name: str) -> int:
        """The inputs that it is called with by position."""
        return self._counts.get(name, (0, 0))[0]

    def _make_note(self, name: str) -> Callable[..., None]:
        def note(_module: Any, args: Any, kwargs: Any) -> None:
            self._running[name] = args, kwargs
            if name in self._counts:
                return
            for side, value in [*enumerate(args), *kwargs.items()]:
                for maker in [n for n, v in self._made if v is value]:
                    self._takers.setdefault(maker, []).append((name, side))
            self._counts[name] = len(args), len(kwargs)
            first = args[0] if args else next(iter(kwargs.values()), None)
            self._callers[name] = self._find_around(name, first) if isinstance(first, torch.Tensor) else []

        return note

    def _find_around(self, name: str, value: Any) -> list[tuple[str, int | str]]:
        parts = name.split(".") if name else []
        found = list[tuple["str", "int | str"]]()
        for around in (".".join(parts[:i]) for i in range(len(parts))):
            args, kwargs = self._running.get(around, ((), {}))
            sides: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
            found += [(around, side) for side, v in sides if v is value][:1]
        return found

    def _make_end(self, name: str) -> Callable[..., None]:
        def end(_module: Any, _args: Any, output: Any) -> None:
            if name in self._outputs:
                return
            is_tuple = type(output) is tuple
            are_tensors = [isinstance(v, torch.Tensor) for v in (output if is_tuple else (output,))]
            is_known = all(t or v is None for t, v in zip(are_tensors, output if is_tuple else (output,)))
            self._outputs[name] = (are_tensors if is_tuple else None) if is_known and any(are_tensors) else []
            if isinstance(output, torch.Tensor):
                self._made.append((name, output))

        return end


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
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
