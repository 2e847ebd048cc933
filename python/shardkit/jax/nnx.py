"""Functions of `flax.nnx.jit`."""

from __future__ import annotations

import functools
from typing import Any, Callable

from ..errors import ShardKitError


def unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of `nnx.jit` the function, jitted by JAX, which takes modules as pytrees; any other function as it is."""
    jitted = getattr(function, "jitted_fn", None)
    if not type(function).__module__.startswith("flax.nnx") or jitted is None:
        return function
    import jax

    in_shardings, out_shardings = function.in_shardings, function.out_shardings  # type: ignore[attr-defined]
    is_of_states = any(type(s).__name__ == "StateSharding" for s in jax.tree_util.tree_leaves((in_shardings, out_shardings)))
    if is_of_states or getattr(function, "partial_args", None):
        what = "shardings of states" if is_of_states else "arguments that are bound before"
        raise ShardKitError(f"error: a function of nnx.jit has {what}, expected NamedSharding on the arrays of its modules, and functools.partial")

    inner = function.fun  # type: ignore[attr-defined]

    @functools.wraps(inner)
    def plain(*args: Any, **kwargs: Any) -> Any:
        before = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
        result = inner(*args, **kwargs)
        after = dict(jax.tree_util.tree_flatten_with_path((args, kwargs))[0])
        returned = set(map(id, jax.tree_util.tree_leaves(result)))
        leaves = dict(before)
        for path in leaves | after:
            if leaves.get(path) is not after.get(path) and id(after.get(path)) not in returned:
                name = jax.tree_util.keystr(path[2:], simple=True, separator=".")
                raise ShardKitError(
                    f"error: the function changes {name} of an argument, expected one that returns what it changes, such as nnx.state(module)"
                )
        return result

    info = jitted._jit_info
    return jax.jit(plain, in_shardings=in_shardings, out_shardings=out_shardings, static_argnums=info.static_argnums, static_argnames=info.static_argnames)  # type: ignore[no-any-return]
