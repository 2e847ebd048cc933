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
        self._module, self.has_tensors_out = module, False
        hooks = [m.register_forward_pre_hook(self._make_note(name), with_kwargs=True) for name, m in module.named_modules()]
        hooks.append(module.register_forward_hook(self._end))
        try:
            with torch.no_grad(), evaluating(module):
                loss(module, *args, **kwargs) if loss else module(*args, **kwargs)
        finally:
            for hook in hooks:
                hook.remove()
        self._running.clear()

    def find(self, name: str) -> list[tuple[str, int | str]]:
        """The modules around it that take its first input too, outermost first, and the number or name of that input there."""
        return self._callers.get(name, [])

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

    def _end(self, _module: Any, _args: Any, output: Any) -> None:
        values = output if isinstance(output, tuple) else (output,)
        self.has_tensors_out = type(values) is tuple and all(v is None or isinstance(v, torch.Tensor) for v in values)


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
