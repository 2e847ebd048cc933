"""Plans that XLA runs: layouts that the search chose, as shardings of JAX."""

from __future__ import annotations

import dataclasses
import math
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from ..errors import ShardKitError, require
from ..model import read_names
from ..planning import completion, search
from ..planning.layouts import Layout, Program
from ..planning.plan import AnnotatedPlan
from ..planning.tactics import Tactics
from . import equations, keywords
from .sites import read_sites


def plan(
    function: Callable[..., Any],
    *args: Any,
    mesh: Any = None,
    memory: float | None = None,
    pins: Mapping[str, Any] | None = None,
    costs: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    minimize: int | None = 50,
    tactics: Tactics | None = None,
    search: bool = True,
    **kwargs: Any,
) -> Plan:
    """That of a JAX function: see `shardkit.plan`."""
    planner = _Planner(function, args, kwargs, mesh, minimize)
    return planner.complete(memory, pins or {}, costs or {}, read_names(options, "options"), tactics, search)


@dataclasses.dataclass(frozen=True)
class Plan(AnnotatedPlan):
    """Shardings of a function for JAX: `in_shardings` as the arguments, `out_shardings` as the result. `constraints` are those that XLA needs
    to come to the other layouts, by site; `dropped` says what JAX cannot express."""

    mesh: Any
    in_shardings: tuple[Any, ...]
    kwarg_shardings: dict[str, Any]
    out_shardings: Any
    constraints: dict[str, Any]
    layouts: dict[str, Any]
    dropped: tuple[str, ...]
    _equations: dict[str, str]

    def __repr__(self) -> str:
        axes = ", ".join(f"{n}={s}" for n, s in self.mesh.shape.items())
        return f"Plan({axes}: {self.status}, {len(self.constraints)} constraints of {len(self.layouts)} layouts)"

    def constrain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with `with_sharding_constraint` where XLA would otherwise choose another layout."""

        def rewrite(traced: equations.Traced) -> Any:
            equations.check_same(self._equations, traced.jaxpr)
            return equations.Constrainer(self.constraints).rewrite(traced.jaxpr)

        return equations.transform(function, rewrite)

    def jit(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """The constrained function with the shardings of arguments, by keyword too, and results; static and donated arguments are those of
        `jax.jit`."""
        inner = equations.get_unjitted(self.constrain(function))
        if self.kwarg_shardings:
            return keywords.KeywordJit(function, inner, self.in_shardings, self.kwarg_shardings, {"out_shardings": self.out_shardings} | options)
        shardings = {"in_shardings": self.in_shardings, "out_shardings": self.out_shardings}
        return equations.jit_like(function, inner, **(shardings | options))  # type: ignore[no-any-return]

    def _summarize(self) -> Sequence[str]:
        return [f"constraints: {len(self.constraints)} of {len(self.layouts)} layouts", *(f"dropped: {d}" for d in self.dropped)]

    @classmethod
    def load(cls, path: str | Path, function: Callable[..., Any], *args: Any, mesh: Any = None, minimize: int | None = 50, **kwargs: Any) -> Plan:
        """The plan of a file for the function that it was made for, without a search."""
        return _Planner(function, args, kwargs, mesh, minimize).load(Path(path))


class _Planner:
    """A function on its way to a plan."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any, minimize: int | None) -> None:
        require("jax", "jax", "planning a JAX function")
        from . import frontend, nnx

        self._function, self._args, self._kwargs, self._minimize = nnx.unwrap(function), tuple(args), dict(sorted(kwargs.items())), minimize
        self._mesh = _check_mesh(mesh if mesh is not None else _find_mesh(self._function, args, kwargs))
        self._traced: Any = None

        def name_equations(traced: equations.Traced) -> Any:
            self._traced = traced
            return equations.Tagger().rewrite(traced.jaxpr)

        self._model = frontend.import_jax(equations.transform(self._function, name_equations), *args, **kwargs)
        if (axes := search.read_mesh(self._model.text)) and axes != dict(self._mesh.shape):
            raise ShardKitError(f"error: shardings of the function are over a mesh of {axes}, expected that of the plan: {dict(self._mesh.shape)}")

    def complete(
        self, memory: float | None, pins: Mapping[str, Any], costs: Mapping[str, Any], options: Sequence[str], tactics: Tactics | None, is_searched: bool
    ) -> Plan:
        rules = [{"function": "main", "argument": n, "axis_resources": self._read_pin(n, spec)} for n, spec in pins.items()]
        text = search.add_mesh(self._model.text, self._mesh.shape, costs)
        completed, applied = completion.complete(text, rules, tactics, memory, options, is_searched)
        return dataclasses.replace(self._read(completed, 5), tactics=applied)

    def load(self, path: Path) -> Plan:
        return self._read(search.apply(search.add_mesh(self._model.text, self._mesh.shape, {}), path), 4)

    def _read_pin(self, name: str, spec: Any) -> Any:
        from jax.sharding import PartitionSpec

        if spec is None:
            return None
        if not isinstance(spec, (PartitionSpec, tuple, list)):
            raise ShardKitError(f"error: the pin of {name} is {spec!r}, expected a PartitionSpec, or None for a replicated value")
        entries = ["?" if e is PartitionSpec.UNCONSTRAINED else list(e) if isinstance(e, (tuple, list)) else e for e in spec]
        search.check_axes(f"the pin of {name}", entries, self._mesh.shape)
        return entries

    # --- from annotations to shardings ------------------------------------------------------------------

    def _read(self, text: str, stacklevel: int) -> Plan:
        program = search.read_program(text)
        translator = Translator(self._mesh)
        parameters = self._name_arguments(program, translator)
        out = [
            translator.translate(r.name, layout, tuple(aval.shape))
            for r, layout, aval in zip(self._model.results, program.results, self._traced.closed.out_avals, strict=True)
        ]
        for dropped in translator.dropped:
            warnings.warn(f"{dropped}, which JAX cannot express: the dim is not sharded by it", stacklevel=stacklevel)
        types = equations.find_types(self._traced.jaxpr)
        layouts = {s: translator.translate(s, layout, types[s].shape) for s, layout in read_sites(self._traced.jaxpr, program).items()}
        count = sum(name not in self._kwargs for name, _ in parameters)
        made = Plan(
            text,
            self._mesh,
            tuple(tree for _, tree in parameters[:count]),
            dict(parameters[count:]),
            _unflatten(self._traced.out_tree, out),
            {},
            layouts,
            tuple(translator.dropped),
            equations.describe(self._traced.jaxpr),
        )
        return dataclasses.replace(made, constraints=layouts if self._minimize is None else self._choose(made, self._minimize))

    def _name_arguments(self, program: Program, translator: Translator) -> list[tuple[str, Any]]:
        """The shardings of each parameter, as its value."""
        import jax

        from .frontend import get_leaf_name, get_parameters

        known = dict(zip([a.name for a in self._model.arguments], program.arguments, strict=True))
        found = []
        for parameter, value in get_parameters(self._function, self._args, self._kwargs):
            leaves, tree = jax.tree_util.tree_flatten_with_path(value)
            names = [get_leaf_name(parameter, path) for path, _ in leaves]
            shapes = [tuple(getattr(leaf, "shape", ())) for _, leaf in leaves]
            found.append((parameter, _unflatten(tree, [translator.translate(n, known.get(n), s) for n, s in zip(names, shapes)])))
        return found

    def _choose(self, made: Plan, runs: int) -> dict[str, Any]:
        """Those constraints without which XLA comes to other layouts."""
        import jax

        from ..planning import shardy
        from ..stablehlo import frontend
        from .frontend import find_static

        def constrain(traced: equations.Traced) -> Any:
            return equations.Constrainer(made.layouts, is_tagged=True).rewrite(traced.jaxpr)

        jitted = equations.jit_like(
            self._function, equations.get_unjitted(equations.transform(self._function, constrain)), out_shardings=made.out_shardings
        )
        shardings = iter(made.in_shardings)
        static, _ = find_static(self._function, self._args)
        args = [a if i in static else jax.tree_util.tree_map(_place, a, next(shardings)) for i, a in enumerate(self._args)]
        kwargs = {n: jax.tree_util.tree_map(_place, v, made.kwarg_shardings[n]) if n in made.kwarg_shardings else v for n, v in self._kwargs.items()}
        lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",))
        propagation = shardy.Propagation(frontend.copy(lowered.compiler_ir("stablehlo"))[0])
        wanted = {site: to_layout(sharding) for site, sharding in made.layouts.items()}
        return {site: made.layouts[site] for site in shardy.choose(propagation, wanted, runs)}


class Translator:
    """From layouts to `NamedSharding`, which has whole axes that divide the dims of arguments."""

    def __init__(self, mesh: Any) -> None:
        self._mesh = mesh
        self.dropped: list[str] = []

    def translate(self, name: str, layout: Layout | None, shape: Sequence[int]) -> Any:
        from jax.sharding import NamedSharding, PartitionSpec

        dims = layout.dims if layout else ((),) * len(shape)
        kept = [self._translate_dim(f"dim {d} of {name}", size, axes) for d, (size, axes) in enumerate(zip(shape, dims))]
        return NamedSharding(self._mesh, PartitionSpec(*[axes[0] if len(axes) == 1 else axes or None for axes in kept]))

    def _translate_dim(self, what: str, size: int, axes: Sequence[str]) -> tuple[str, ...]:
        kept: list[str] = []
        for axis in axes:
            if ":" in axis:
                self.dropped.append(f"{what} is sharded by a part of an axis, {axis}")
            elif size % (self._mesh.shape[axis] * math.prod(self._mesh.shape[a] for a in kept)):
                self.dropped.append(f"{what} has size {size}, which axis {axis} of {self._mesh.shape[axis]} devices does not divide")
            else:
                kept.append(axis)
                continue
            break
        return tuple(kept)


def to_layout(sharding: Any) -> Layout:
    return Layout(tuple((e,) if isinstance(e, str) else tuple(e or ()) for e in sharding.spec))


def _place(leaf: Any, sharding: Any) -> Any:
    """An example argument in the place that the plan has for it."""
    import jax

    if not hasattr(leaf, "shape"):  # a number
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=getattr(leaf, "weak_type", False))


def _unflatten(tree: Any, leaves: Sequence[Any]) -> Any:
    import jax

    return jax.tree_util.tree_unflatten(tree, leaves)


def _find_mesh(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    import jax

    options = equations.read_jit_options(function)
    leaves = jax.tree_util.tree_leaves((args, kwargs)) + jax.tree_util.tree_leaves((options.get("in_shardings"), options.get("out_shardings")))
    for leaf in leaves:
        sharding = getattr(leaf, "sharding", leaf)
        if isinstance(sharding, jax.sharding.NamedSharding):
            return sharding.mesh
    raise ShardKitError("error: no argument has a NamedSharding, expected mesh=, such as jax.make_mesh((2, 4), ('data', 'model'), axis_types=(AxisType.Auto,) * 2)")


def _check_mesh(mesh: Any) -> Any:
    import jax

    if not isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh)):
        raise ShardKitError(f"error: mesh is {mesh!r}, expected a mesh of JAX, such as jax.make_mesh makes")
    for name, kind in zip(mesh.axis_names, mesh.axis_types):
        if kind != jax.sharding.AxisType.Auto:
            raise ShardKitError(f"error: axis {name} of the mesh has type {kind.name}, expected Auto: axis_types=(AxisType.Auto,) * {len(mesh.axis_names)}")
    return mesh
