"""Jitted functions with shardings of arguments by keyword, which `jax.jit` has for those by position alone."""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Sequence

from ..errors import ShardKitError
from . import equations


class KeywordJit:
    """`inner`, jitted as `function` is, whose arguments by keyword have shardings. They are passed to `jax.jit` by position, after the others,
    in the order of their names."""

    def __init__(
        self, function: Callable[..., Any], inner: Callable[..., Any], shardings: Sequence[Any], keywords: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        self._inner, self._shardings, self._keywords = inner, tuple(shardings), dict(keywords)
        self._options = equations.read_jit_options(function) | dict(options)
        self._made: dict[tuple[int, tuple[str, ...]], Any] = {}
        functools.update_wrapper(self, inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._pass("__call__", args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._pass("lower", args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._pass("trace", args, kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self._pass("eval_shape", args, kwargs)

    def _pass(self, method: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        names = tuple(sorted(kwargs))
        if wrong := sorted(self._keywords.keys() ^ (kwargs.keys() - set(self._read("static_argnames")))):
            raise ShardKitError(
                f"error: the call {'lacks' if wrong[0] in self._keywords else 'has'} the keyword {wrong[0]}, "
                f"expected those that were planned: {', '.join(self._keywords)}"
            )
        key = len(args), names
        if key not in self._made:
            self._made[key] = self._make(*key)
        return getattr(self._made[key], method)(*args, *(kwargs[n] for n in names))

    def _read(self, option: str) -> tuple[Any, ...]:
        value = self._options.get(option) or ()
        return (value,) if isinstance(value, (str, int)) else tuple(value)

    def _make(self, count: int, names: tuple[str, ...]) -> Any:
        """The function of `count` arguments and then those of these names, jitted."""
        import jax

        def by_position(*values: Any) -> Any:
            return self._inner(*values[:count], **dict(zip(names, values[count:], strict=True)))

        options = {n: v for n, v in self._options.items() if n not in ("static_argnames", "donate_argnames")}
        for kind in ("static", "donate"):
            by_name = [count + i for i, n in enumerate(names) if n in self._read(f"{kind}_argnames")]
            options[f"{kind}_argnums"] = (*(n % count for n in self._read(f"{kind}_argnums") if -count <= n < count), *by_name)
        options["in_shardings"] = (*self._shardings, *(self._keywords[n] for n in names if n in self._keywords))
        return jax.jit(by_position, **options)
