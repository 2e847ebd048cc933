"""Equations of a jaxpr by their path, so that what is known of a value elsewhere finds its equation again.

The path of an equation is the number of its position, after the path and the parameter of the equation around it: `12` is
the thirteenth of the function, `12.jaxpr.3` the fourth in the body of that one, `5.branches.1.0` the first of a branch.
A site is a value at an equation: `12/in0` what it reads, `12/out0` what it makes, `12.jaxpr/arg0` an argument of its body and
`12.jaxpr/result0` a result. The same function traced on the same types has the same paths.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, Collection, Iterator, Mapping, Sequence

from ..errors import ShardKitError
from ..planning import tags

_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "scan", "while", "cond", "custom_jvp_call", "custom_vjp_call")
"""Primitives whose inner jaxprs compute global values, as those of `shard_map` do not."""

@dataclasses.dataclass(frozen=True)
class Inner:
    """A jaxpr in a parameter of an equation."""

    path: str
    parameter: str
    index: int | None
    jaxpr: Any

    @property
    def open(self) -> Any:
        return getattr(self.jaxpr, "jaxpr", self.jaxpr)


def find_inner(eqn: Any, path: str) -> Iterator[Inner]:
    if eqn.primitive.name not in _CALLS:
        return
    for name, value in eqn.params.items():
        if hasattr(getattr(value, "jaxpr", value), "eqns"):
            yield Inner(f"{path}.{name}", name, None, value)
        elif isinstance(value, tuple):
            for i, each in enumerate(value):
                if hasattr(getattr(each, "jaxpr", each), "eqns"):
                    yield Inner(f"{path}.{name}.{i}", name, i, each)


def walk(jaxpr: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All equations with their paths, outer ones first."""
    for i, eqn in enumerate(jaxpr.eqns):
        path = f"{prefix}{i}"
        yield path, eqn
        for inner in find_inner(eqn, path):
            yield from walk(inner.open, f"{inner.path}.")


def describe(jaxpr: Any) -> dict[str, str]:
    """Primitives and types by path: what two traces of one function have in common."""
    return {path: " ".join([eqn.primitive.name, *(_describe_type(v.aval) for v in eqn.outvars)]) for path, eqn in walk(jaxpr)}


@functools.lru_cache(maxsize=4096)
def _describe_type(type: Any) -> str:
    return str(type)


class Rewriter:
    """Makes a jaxpr anew with an edit of each equation."""

    def equation(self, path: str, eqn: Any) -> list[Any]:
        """The equations in place of one whose inner jaxprs are done."""
        return [eqn]

    def body(self, path: str, jaxpr: Any) -> Any:
        """The jaxpr in place of one inside of an equation."""
        return jaxpr

    def rewrite(self, jaxpr: Any, prefix: str = "") -> Any:
        eqns = []
        for i, eqn in enumerate(jaxpr.eqns):
            eqns += self.rewrite_equation(f"{prefix}{i}", eqn)
        return jaxpr.replace(eqns=eqns)

    def rewrite_equation(self, path: str, eqn: Any) -> list[Any]:
        return self.equation(path, self._rewrite_inner(path, eqn))

    def _rewrite_inner(self, path: str, eqn: Any) -> Any:
        if eqn.primitive.name not in _CALLS:
            return eqn
        params = dict(eqn.params)
        for inner in find_inner(eqn, path):
            made = self.body(inner.path, self.rewrite(inner.open, f"{inner.path}."))
            made = inner.jaxpr.replace(jaxpr=made) if inner.open is not inner.jaxpr else made
            if inner.index is None:
                params[inner.parameter] = made
            else:
                old = params[inner.parameter]
                params[inner.parameter] = (*old[: inner.index], made, *old[inner.index + 1 :])
        return eqn.replace(params=params)


def tag(eqn: Any, name: str) -> Any:
    """The equation with a name that the locations of what it is lowered to carry."""
    info = eqn.source_info
    return eqn.replace(source_info=info.replace(name_stack=info.name_stack.extend(tags.make(name))))


class Tagger(Rewriter):
    """Names each equation by its path."""

    def equation(self, path: str, eqn: Any) -> list[Any]:
        return [tag(eqn, path)]


class Constrainer(Rewriter):
    """Constrains the values at sites; `is_tagged`: the constraints have names too. `moves`: of sites, the number of the move and shardings on its
    way; those of one move in a jaxpr that read the same value have one constraint, with the name of the first."""

    def __init__(self, shardings: Mapping[str, Any], moves: Mapping[str, tuple[int, Sequence[Any]]], is_tagged: bool = False) -> None:
        self._shardings, self._moves, self._is_tagged = shardings, moves, is_tagged
        self._moved: dict[Any, tuple[str, Any]] = {}
        self.same: dict[str, str] = {}
        """Sites without a constraint of their own, with that which has it."""

    def equation(self, path: str, eqn: Any) -> list[Any]:
        before, after = [], []
        invars, outvars = list(eqn.invars), list(eqn.outvars)
        for k, v in enumerate(invars):
            if not (sharding := self._shardings.get(site := f"{path}/in{k}")):
                continue
            number, steps = self._moves.get(site, (site, ()))
            key = (path.rpartition(".")[0], v, number)
            if key in self._moved:
                self.same[site], invars[k] = self._moved[key]
                continue
            for i, step in enumerate(steps):
                v, between = _copy(v), v
                before.append(self._constrain(f"{site}/via{i}", between, v, step))
            invars[k] = _copy(v)
            self._moved[key] = site, invars[k]
            before.append(self._constrain(site, v, invars[k], sharding))
        for k, v in enumerate(outvars):
            if sharding := self._shardings.get(site := f"{path}/out{k}"):
                outvars[k] = _copy(v)
                after.append(self._constrain(site, outvars[k], v, sharding))
        return [*before, eqn.replace(invars=invars, outvars=outvars), *after]

    def body(self, path: str, jaxpr: Any) -> Any:
        eqns = list(jaxpr.eqns)
        invars, outvars = list(jaxpr.invars), list(jaxpr.outvars)
        for k, v in enumerate(invars):
            if sharding := self._shardings.get(site := f"{path}/arg{k}"):
                invars[k] = _copy(v)
                eqns.insert(0, self._constrain(site, invars[k], v, sharding))
        for k, v in enumerate(outvars):
            if sharding := self._shardings.get(site := f"{path}/result{k}"):
                outvars[k] = _copy(v)
                eqns.append(self._constrain(site, v, outvars[k], sharding))
        return jaxpr.replace(eqns=eqns, invars=invars, outvars=outvars)

    def _constrain(self, site: str, value: Any, result: Any, sharding: Any) -> Any:
        eqn = _make_constraint(value.aval.shape, value.aval.dtype, sharding).replace(invars=[value], outvars=[result])
        return tag(eqn, site) if self._is_tagged else eqn


def _copy(variable: Any) -> Any:
    from jax.extend import core

    return core.Var(variable.aval)


@functools.lru_cache(maxsize=4096)
def _make_constraint(shape: tuple[int, ...], dtype: Any, sharding: Any) -> Any:
    import jax

    value = jax.ShapeDtypeStruct(shape, dtype)
    (eqn,) = jax.make_jaxpr(lambda x: jax.lax.with_sharding_constraint(x, sharding))(value).jaxpr.eqns
    return eqn


@dataclasses.dataclass(frozen=True)
class Traced:
    """A function's jaxpr, and how its result is made of the jaxpr's."""

    closed: Any
    out_tree: Any

    @property
    def jaxpr(self) -> Any:
        return self.closed.jaxpr


def trace(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], is_static: Callable[[Any], bool]) -> tuple[Traced, list[Any]]:
    """The jaxpr of a function, and the leaves of its arguments that the jaxpr takes."""
    import jax

    leaves, tree = jax.tree_util.tree_flatten((tuple(args), dict(kwargs)))
    dynamic = [i for i, leaf in enumerate(leaves) if not is_static(leaf)]

    def call(*values: Any) -> Any:
        given = list(leaves)
        for i, value in zip(dynamic, values):
            given[i] = value
        args, kwargs = jax.tree_util.tree_unflatten(tree, given)
        return function(*args, **kwargs)

    values = [leaves[i] for i in dynamic]
    closed, out = jax.make_jaxpr(call, return_shape=True)(*map(_get_type, values))
    return Traced(closed, jax.tree_util.tree_structure(out)), values


def _get_type(value: Any) -> Any:
    """Without its sharding: JAX traces other equations where an argument has one."""
    import jax

    type = jax.typeof(value) if not isinstance(value, jax.ShapeDtypeStruct) else value
    return jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=getattr(type, "weak_type", False))


@dataclasses.dataclass(frozen=True)
class _Static:
    """A static argument, which is one leaf."""

    value: Any


def trace_example(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], static: tuple[Collection[int], Collection[str]]) -> Traced:
    """The jaxpr of a function for example arguments. `static`: the numbers and the names of those that are static."""
    inner = get_unjitted(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return inner(*map(_unmark, args), **{n: _unmark(v) for n, v in kwargs.items()})

    marked = [_Static(a) if i in static[0] else a for i, a in enumerate(args)]
    return trace(call, marked, {n: _Static(v) if n in static[1] else v for n, v in kwargs.items()}, lambda leaf: isinstance(leaf, _Static))[0]


def _unmark(value: Any) -> Any:
    return value.value if isinstance(value, _Static) else value


def transform(function: Callable[..., Any], rewrite: Callable[[Traced], Any], known: Traced | None = None) -> Callable[..., Any]:
    """The function, whose jaxpr `rewrite` makes anew; jitted, donating and static as it was. `known`: its jaxpr for the types that it will
    be called with, which is traced otherwise."""
    import jax
    from jax.extend import core

    jitted, inner = hasattr(function, "lower"), get_unjitted(function)

    def is_static(leaf: Any) -> bool:
        """Under `jit` all that is not static is traced."""
        return jitted and not isinstance(leaf, jax.core.Tracer)

    @functools.wraps(inner)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        if known is None:
            traced, values = trace(inner, args, kwargs, is_static)
        else:
            traced, values = known, [leaf for leaf in jax.tree_util.tree_leaves((tuple(args), dict(kwargs))) if not is_static(leaf)]
        made = traced.closed.replace(jaxpr=rewrite(traced))
        return jax.tree_util.tree_unflatten(traced.out_tree, core.jaxpr_as_fun(made)(*values))

    return jit_like(function, transformed) if jitted else transformed


def get_unjitted(function: Callable[..., Any]) -> Any:
    return getattr(function, "__wrapped__", function) if hasattr(function, "lower") else function


def jit_like(function: Callable[..., Any], other: Callable[..., Any], **options: Any) -> Any:
    """`other`, jitted as `function` is, with more options."""
    import jax

    return jax.jit(other, **(read_jit_options(function) | options))


def jit_with(function: Callable[..., Any], donated: Sequence[int]) -> Any:
    import jax

    return jax.jit(function, donate_argnums=tuple(donated))


def read_jit_options(function: Callable[..., Any]) -> dict[str, Any]:
    import jax

    info = getattr(function, "_jit_info", None)
    if info is None:
        return {}
    options = {n: getattr(info, n) for n in ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "keep_unused", "inline") if getattr(info, n, None)}
    for kind in ("in_shardings", "out_shardings"):
        leaves = getattr(info, f"{kind}_leaves", ())
        if any(type(leaf).__name__ != "UnspecifiedValue" for leaf in leaves):
            options[kind] = jax.tree_util.tree_unflatten(getattr(info, f"{kind}_treedef"), leaves)
    return options


def check_same(known: Mapping[str, str], jaxpr: Any) -> None:
    """An error where a function is not the one that was planned."""
    found = describe(jaxpr)
    for path in known.keys() | found.keys():
        if known.get(path) != found.get(path):
            raise ShardKitError(
                f"error: the function has {found.get(path, 'no equation')} at {path} where the plan has {known.get(path, 'no equation')}, "
                "expected the function and the types that were planned"
            )
