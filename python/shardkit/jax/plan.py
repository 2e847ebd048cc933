"""Plans that XLA runs: layouts that the search chose, as shardings of JAX."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import warnings
from pathlib import Path
from typing import Any, Callable, Collection, Mapping, Sequence

from ..binding import get_key
from ..errors import ShardKitError, require
from ..model import read_names
from ..planning import completion, search
from ..planning.layouts import Layout, Program
from ..planning.plan import AnnotatedPlan
from ..planning.tactics import Tactics
from ..tools import collect_later
from . import equations, keywords, rolled
from .shortened import Shortened
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
    repeats: int | None = 8,
    **kwargs: Any,
) -> JaxPlan:
    """That of a JAX function: see `shardkit.plan`."""
    with collect_later():
        planner = _Planner(function, args, kwargs, mesh, minimize, repeats)
        return planner.complete(memory, pins or {}, costs or {}, read_names(options, "options"), tactics, search)


@dataclasses.dataclass(frozen=True)
class JaxPlan(AnnotatedPlan):
    """Shardings of a function for JAX: `in_shardings` as the arguments, `out_shardings` as the result. `constraints` are those that XLA needs
    to come to the other layouts, by site; `dropped` says what JAX cannot express."""

    mesh: Any
    in_shardings: tuple[Any, ...]
    kwarg_shardings: dict[str, Any]
    out_shardings: Any
    constraints: dict[str, Any]
    layouts: dict[str, Any]
    dropped: tuple[str, ...]
    _moves: dict[str, tuple[int, tuple[Any, ...]]]
    """Sites that read what is moved once have one number; with shardings on the way."""
    _equations: dict[str, str]
    _loops: tuple[str, ...] = ()
    _names: dict[str, str] = dataclasses.field(default_factory=dict)
    """Of arguments and results in the annotated program, where they are elements of others."""

    def __repr__(self) -> str:
        axes = ", ".join(f"{n}={s}" for n, s in self.mesh.shape.items())
        return f"JaxPlan({axes}: {self.status}, {len(self.constraints)} constraints of {len(self.layouts)} layouts)"

    def constrain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with `with_sharding_constraint` where XLA would otherwise choose another layout."""

        def rewrite(traced: equations.Traced) -> Any:
            equations.check_same(self._equations, traced.jaxpr)
            return equations.Constrainer(self.constraints, self._moves).rewrite(traced.jaxpr)

        return equations.transform(function, rewrite)

    def jit(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """The constrained function with the shardings of arguments, by keyword too, and results; static and donated arguments are those of
        `jax.jit`."""
        inner = equations.get_unjitted(self.constrain(function))
        if self.kwarg_shardings or equations.read_jit_options(function).get("static_argnames"):
            return keywords.KeywordJit(function, inner, self.in_shardings, self.kwarg_shardings, {"out_shardings": self.out_shardings} | options)
        shardings = {"in_shardings": self.in_shardings, "out_shardings": self.out_shardings}
        return equations.jit_like(function, inner, **(shardings | options))  # type: ignore[no-any-return]

    def explain(self, name: str, top: int = 1) -> str:
        return super().explain(self._names.get(name, name), top)

    def _summarize(self) -> Sequence[str]:
        return [*self._loops, f"constraints: {len(self.constraints)} of {len(self.layouts)} layouts", *(f"dropped: {d}" for d in self.dropped)]

    @classmethod
    def load(
        cls,
        path: str | Path,
        function: Callable[..., Any],
        *args: Any,
        mesh: Any = None,
        minimize: int | None = 50,
        repeats: int | None = 8,
        **kwargs: Any,
    ) -> JaxPlan:
        """The plan of a file for the function that it was made for, without a search; `repeats` as it was planned with."""
        with collect_later():
            return _Planner(function, args, kwargs, mesh, minimize, repeats).load(Path(path))


class _Planner:
    """A function on its way to a plan."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any, minimize: int | None, repeats: int | None
    ) -> None:
        require("jax", "jax", "planning a JAX function")
        from . import frontend, nnx

        if repeats is not None and (not isinstance(repeats, int) or repeats < 3):
            raise ShardKitError(f"error: repeats is {repeats!r}, expected a number of repetitions, at least 3, or None")
        self._function, self._args, self._kwargs, self._minimize = nnx.unwrap(function), tuple(args), dict(sorted(kwargs.items())), minimize
        self._mesh = _check_mesh(mesh if mesh is not None else _find_mesh(self._function, args, kwargs))
        static = frontend.find_static(self._function, args)
        with frontend.tracing():
            self._traced = equations.trace_example(self._function, self._args, self._kwargs, static)
        if not self._traced.jaxpr.outvars:
            raise ShardKitError("error: the function returns no array, expected at least one result")
        self._leaves = rolled.list_leaves(frontend.get_parameters(self._function, self._args, self._kwargs), self._traced.jaxpr)
        self._rolled = self._roll(repeats)
        self._import()

    def _roll(self, least: int | None) -> rolled.Rolled | None:
        """The function with loops where blocks repeat. Shardings of results that the user asked for are of each result by itself."""
        options = equations.read_jit_options(self._function)
        is_variadic = any("." in leaf.parameter for leaf in self._leaves)
        if least is None or options.keys() & {"in_shardings", "out_shardings"} or (is_variadic and self._kwargs):
            return None
        found = rolled.Rolled(self._traced, self._leaves, self._name_results(), least)
        return found if found.loops else None

    def _name_results(self) -> list[tuple[str, ...]]:
        import jax

        tree = jax.tree_util.tree_unflatten(self._traced.out_tree, range(self._traced.out_tree.num_leaves))
        return [("result", *map(get_key, path)) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]

    def _import(self) -> None:
        from . import frontend

        if self._rolled is None:
            replayed = equations.transform(self._function, lambda traced: equations.Tagger().rewrite(traced.jaxpr), self._traced)
            self._model = frontend.import_jax(replayed, *self._args, **self._kwargs)
        else:
            arguments = self._rolled.arguments
            donated = [i for i, name in enumerate(arguments) if name in self._find_donated()]
            self._model = frontend.import_jax(equations.jit_with(self._rolled.make_function(), donated), *arguments.values())
        if (axes := search.read_mesh(self._model.text)) and axes != dict(self._mesh.shape):
            raise ShardKitError(f"error: shardings of the function are over a mesh of {axes}, expected that of the plan: {dict(self._mesh.shape)}")

    def _find_donated(self) -> set[str]:
        """Names of parameters."""
        from . import frontend

        options = equations.read_jit_options(self._function)
        names = frontend.get_positional_names(self._function, self._args, self._kwargs)
        return {names[n] for n in options.get("donate_argnums", ()) if n < len(names)} | set(options.get("donate_argnames", ()))

    def complete(
        self, memory: float | None, pins: Mapping[str, Any], costs: Mapping[str, Any], options: Sequence[str], tactics: Tactics | None, is_searched: bool
    ) -> JaxPlan:
        resources = {n: self._read_pin(n, spec) for n, spec in pins.items()}
        stacked = self._pin_stacks(resources)
        if stacked is None:  # layers differ
            self._rolled = None
            self._import()
        rules = [{"function": "main", "argument": n, "axis_resources": r} for n, r in [*(stacked or {}).items(), *resources.items()]]
        text = search.add_mesh(self._model.text, self._mesh.shape, costs)
        completed, applied = completion.complete(text, rules, tactics, memory, options, is_searched)
        return dataclasses.replace(self._read(completed, 6), tactics=applied)

    def _pin_stacks(self, resources: Mapping[str, Any]) -> dict[str, Any] | None:
        """Axis resources of stacked arguments, whose elements are not apart; None where elements are pinned to different ones."""
        found: dict[str, Any] = {}
        for leaf in self._leaves if self._rolled else ():
            assert self._rolled
            name, is_stacked = self._rolled.find_argument(leaf)
            pin = next((n for n in resources if is_named(n, leaf.name)), None)
            if not is_stacked or (pin is None and rolled.get_sharding(leaf.value)):
                continue
            own = ["?"] * leaf.variable.aval.ndim if pin is None else resources[pin]
            own = None if own is None else [None, *own]
            if found.setdefault(name, own) != own:
                return None
        return found

    def load(self, path: Path) -> JaxPlan:
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

    def _read(self, text: str, stacklevel: int) -> JaxPlan:
        program = search.read_program(text)
        translator = Translator(self._mesh)
        parameters = self._name_arguments(program, translator)
        known = dict(zip([r.name for r in self._model.results], program.results, strict=True))
        names = [".".join(path) for path in self._name_results()]
        places = [(n, False) for n in names] if self._rolled is None else [self._rolled.find_result(i) for i in range(len(names))]
        out = [
            translator.translate(name, _take_element(known[own], is_stacked), tuple(aval.shape))
            for name, (own, is_stacked), aval in zip(names, places, self._traced.closed.out_avals, strict=True)
        ]
        for dropped in translator.dropped:
            warnings.warn(f"{dropped}, which JAX cannot express: the dim is not sharded by it", stacklevel=stacklevel)
        sites = read_sites(self._traced.jaxpr, program, self._find_path)
        layouts = {name: translator.translate(name, site.layout, site.shape) for name, site in sites.items()}
        count = sum(name not in self._kwargs for name, _ in parameters)
        made = JaxPlan(
            text,
            self._mesh,
            tuple(tree for _, tree in parameters[:count]),
            dict(parameters[count:]),
            _unflatten(self._traced.out_tree, out),
            {},
            layouts,
            tuple(translator.dropped),
            {
                name: (site.move.number, tuple(translator.translate(name, step, site.shape) for step in site.move.steps))
                for name, site in sites.items()
                if site.move
            },
            equations.describe(self._traced.jaxpr),
            tuple(self._rolled.describe()) if self._rolled else (),
            self._find_names(names, places),
        )
        return dataclasses.replace(made, constraints=layouts if self._minimize is None else self._choose(made, self._minimize))

    def _find_path(self, path: str) -> str:
        """That of the equation that stands for the one at a path in the program."""
        return self._rolled.find_path(path) if self._rolled else path

    def _find_argument(self, leaf: rolled.Leaf) -> tuple[str, bool]:
        return self._rolled.find_argument(leaf) if self._rolled else (leaf.name, False)

    def _find_names(self, results: Sequence[str], places: Sequence[tuple[str, bool]]) -> dict[str, str]:
        """Names in the program of what is an element there."""
        return {
            name: own
            for name, (own, is_stacked) in [*zip(results, places), *((leaf.name, self._find_argument(leaf)) for leaf in self._leaves)]
            if is_stacked
        }

    def _name_arguments(self, program: Program, translator: Translator) -> list[tuple[str, Any]]:
        """The shardings of each parameter, as its value."""
        import jax

        from .frontend import get_parameters

        known = dict(zip([a.name for a in self._model.arguments], program.arguments, strict=True))
        found, leaves = [], iter(self._leaves)
        for parameter, value in get_parameters(self._function, self._args, self._kwargs):
            tree = jax.tree_util.tree_structure(value)
            shardings = []
            for leaf in itertools.islice(leaves, tree.num_leaves):
                name, is_stacked = self._find_argument(leaf)
                shardings.append(translator.translate(leaf.name, _take_element(known.get(name), is_stacked), tuple(getattr(leaf.value, "shape", ()))))
            found.append((parameter, _unflatten(tree, shardings)))
        return found

    def _choose(self, made: JaxPlan, runs: int) -> dict[str, Any]:
        """Those constraints without which XLA comes to other layouts. Where layers repeat they are chosen with three layers, for all; what five
        layers need beyond that is added."""
        first: list[str] = []
        for count in (3, 5) if self._rolled else ():
            assert self._rolled
            short = Shortened(self._rolled, self._traced.jaxpr, count)
            if not short.is_valid:
                break
            needed = set(self._choose_in_short(short, made, runs, first))
            first, runs = [site for site in made.layouts if short.find_path(site) in needed], 0
        else:
            if self._rolled:
                return {site: made.layouts[site] for site in first}
        return {site: made.layouts[site] for site in self._choose_in_all(made, runs, first)}

    def _choose_in_all(self, made: JaxPlan, runs: int, first: Collection[str]) -> list[str]:
        """The sites with all layers, beside the `first`."""
        import jax

        from .frontend import find_static

        constrainer = equations.Constrainer(made.layouts, made._moves, is_tagged=True)

        def constrain(traced: equations.Traced) -> Any:
            return constrainer.rewrite(traced.jaxpr)

        inner = equations.get_unjitted(equations.transform(self._function, constrain, self._traced))
        jitted = equations.jit_like(self._function, inner, out_shardings=made.out_shardings)
        shardings = iter(made.in_shardings)
        static, _ = find_static(self._function, self._args)
        args = [a if i in static else jax.tree_util.tree_map(_place, a, next(shardings)) for i, a in enumerate(self._args)]
        kwargs = {n: jax.tree_util.tree_map(_place, v, made.kwarg_shardings[n]) if n in made.kwarg_shardings else v for n, v in self._kwargs.items()}
        return _find_needed(jitted.trace(*args, **kwargs), made.layouts, constrainer, runs, first, self._find_path)

    def _choose_in_short(self, short: Shortened, made: JaxPlan, runs: int, first: Collection[str]) -> list[str]:
        """The sites with a few layers, beside the `first`."""
        import jax

        layouts = {site: sharding for site, sharding in made.layouts.items() if short.find_path(site) == site}
        constrainer = equations.Constrainer(layouts, made._moves, is_tagged=True)
        function = short.make_function(constrainer, self._traced.closed.consts)
        shardings = [s for tree in (*made.in_shardings, *made.kwarg_shardings.values()) for s in jax.tree_util.tree_leaves(tree)]
        args = [
            jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, sharding=s, weak_type=v.aval.weak_type)
            for v, s in zip(self._traced.jaxpr.invars, shardings, strict=True)
        ]
        results = jax.tree_util.tree_leaves(made.out_shardings)
        jitted = jax.jit(function, out_shardings=[results[i] for i in short.results])
        return _find_needed(jitted.trace(*args), layouts, constrainer, runs, [site for site in first if site in layouts])


def _find_needed(
    traced: Any,
    layouts: Mapping[str, Any],
    constrainer: equations.Constrainer,
    runs: int,
    first: Collection[str] = (),
    get_group: Callable[[str], str] = lambda site: site,
) -> list[str]:
    """The sites at which a function needs a constraint, of one that has it at all sites, by this constrainer."""
    from ..planning import shardy
    from ..stablehlo import frontend

    propagation = shardy.Propagation(frontend.copy(traced.lower(lowering_platforms=("cpu",)).compiler_ir("stablehlo"))[0])
    wanted = {site: to_layout(sharding) for site, sharding in layouts.items()}
    return shardy.choose(propagation, wanted, runs, constrainer.same, first, get_group)


class Translator:
    """From layouts to `NamedSharding`, which has whole axes that divide the dims of arguments."""

    def __init__(self, mesh: Any) -> None:
        self._mesh = mesh
        self.dropped: list[str] = []
        self._known: dict[tuple[Layout | None, tuple[int, ...]], Any] = {}
        """Where nothing was dropped."""

    def translate(self, name: str, layout: Layout | None, shape: Sequence[int]) -> Any:
        key, count = (layout, tuple(shape)), len(self.dropped)
        if key in self._known:
            return self._known[key]
        made = self._translate(name, layout, shape)
        if len(self.dropped) == count:
            self._known[key] = made
        return made

    def _translate(self, name: str, layout: Layout | None, shape: Sequence[int]) -> Any:
        from jax.sharding import NamedSharding, PartitionSpec

        dims = layout.dims if layout else ((),) * len(shape)
        kept = [self._translate_dim(f"dim {d} of {name}", size, axes) for d, (size, axes) in enumerate(zip(shape, dims))]
        return NamedSharding(self._mesh, PartitionSpec(*[axes[0] if len(axes) == 1 else axes or None for axes in kept]))

    def _translate_dim(self, what: str, size: int, axes: Sequence[str]) -> tuple[str, ...]:
        kept: list[str] = []
        for axis in axes:
            if axis.isdigit():
                self.dropped.append(f"{what} is sharded in strides, {{{', '.join(axes)}}}")
            elif ":" in axis:
                self.dropped.append(f"{what} is sharded by a part of an axis, {axis}")
            elif size % (self._mesh.shape[axis] * math.prod(self._mesh.shape[a] for a in kept)):
                self.dropped.append(f"{what} has size {size}, which axis {axis} of {self._mesh.shape[axis]} devices does not divide")
            else:
                kept.append(axis)
                continue
            break
        return tuple(kept)


def _take_element(layout: Layout | None, is_stacked: bool) -> Layout | None:
    """The layout of an element of a stack."""
    return dataclasses.replace(layout, dims=layout.dims[1:]) if layout and is_stacked else layout


def is_named(pattern: str, name: str) -> bool:
    """Whether a pattern of a plan file matches a name, or what it is within."""
    expected = r"\.".join("[^.]*".join(map(re.escape, part.split("*"))) for part in pattern.split("."))
    return re.match(rf"{expected}(?:$|\.)", name) is not None


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
