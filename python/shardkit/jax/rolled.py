"""A function whose repeated blocks are loops: what is planned in place of a function with many equal layers.

Each loop computes what the blocks did. What a block takes or makes for itself is an element of a stack: of an argument for each layer
there is one of all layers, `params.layers.0-31.up` for `params.layers.0.up` to `params.layers.31.up`. So the plan has one layout for all
blocks, and counts what each of them moves and holds. The equations have their tags, those of the second block in place of all."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import inspect
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import equations
from .repeats import Finder, Region, Slot


@dataclasses.dataclass(frozen=True)
class Leaf:
    """An array of the arguments. `suffix`: its name within the parameter."""

    parameter: str
    suffix: str
    value: Any
    variable: Any

    @property
    def name(self) -> str:
        return f"{self.parameter}.{self.suffix}" if self.suffix else self.parameter


@dataclasses.dataclass
class Stack:
    """Variables that are the elements of one value."""

    members: tuple[Any, ...]
    name: str = ""
    """Of an argument or a result."""


@dataclasses.dataclass
class Loop:
    region: Region
    is_reversed: bool
    """Blocks run from the last element of stacks to the first."""
    taken: list[tuple[Stack, bool]]
    """Of what blocks take, and whether it is stacked the other way."""
    made: dict[Slot, Stack]
    incoming: dict[Slot, Stack] = dataclasses.field(default_factory=dict)
    """Of carried values, as each block takes them."""


class Refused(Exception):
    """A region cannot be a loop."""


class Rolled:
    """The function with loops, for arguments as it takes them."""

    def __init__(self, traced: equations.Traced, leaves: Sequence[Leaf], result_names: Sequence[tuple[str, ...]], least: int) -> None:
        self._traced, self._jaxpr, self._leaves, self._result_names = traced, traced.jaxpr, list(leaves), result_names
        self.finder = Finder(self._jaxpr, least)
        regions = self.finder.find()
        while True:
            self.stacks: dict[Any, tuple[Stack, int]] = {}
            self.loops: list[Loop] = []
            refused = next((r for r in regions if not self._add(r)), None)
            if refused is None:
                break
            regions = [r for r in regions if r is not refused]
        self._results = self._stack_results()
        self._keep_needed()

    def describe(self) -> list[str]:
        """Of each loop how many equations repeat how often."""
        return [f"planned as one: {loop.region.count} times {loop.region.size} equations" for loop in self.loops]

    # --- loops ------------------------------------------------------------------------------------------

    def _add(self, region: Region) -> bool:
        try:
            self.loops.append(self._make_loop(region))
        except Refused:
            return False
        return True

    def _make_loop(self, region: Region) -> Loop:
        found = [self._find_stack(t) for t in region.taken]
        directions = {flipped for _, flipped in filter(None, found)}
        is_reversed = directions == {True}
        taken = [(f[0], f[1] != is_reversed) if f else (self._stack_arguments(t, is_reversed), False) for f, t in zip(found, region.taken)]
        loop = Loop(region, is_reversed, taken, {})
        for slot in region.made:
            variables = [self.finder.get_made(region, slot, i) for i in range(region.count)]
            loop.made[slot] = self._add_stack(variables[::-1] if is_reversed else variables)
        return loop

    def _find_stack(self, variables: Sequence[Any]) -> tuple[Stack, bool] | None:
        """The stack that has these elements, and whether in reverse."""
        for loop, slot, members in self._list_incoming(variables):
            stack = loop.incoming.setdefault(slot, Stack(members[::-1] if loop.is_reversed else members))
            return stack, stack.members != tuple(variables)
        known = next((self.stacks[v] for v in variables if v in self.stacks), None)
        if known is None:
            return None
        members = known[0].members
        if members not in (tuple(variables), tuple(variables[::-1])):
            raise Refused
        return known[0], members != tuple(variables)

    def _list_incoming(self, variables: Sequence[Any]) -> Iterator[tuple[Loop, Slot, tuple[Any, ...]]]:
        """Where these are what the blocks of a loop begin with."""
        for loop in self.loops:
            for slot, first in loop.region.carried.items():
                if first in (variables[0], variables[-1]) and loop.region.count == len(variables):
                    members = (first, *(self.finder.get_made(loop.region, slot, i) for i in range(len(variables) - 1)))
                    if members in (tuple(variables), tuple(variables[::-1])):
                        yield loop, slot, members

    def _keep_needed(self) -> None:
        """Stacks that nothing reads are not made."""
        needed = {id(stack) for loop in self.loops for stack, _ in loop.taken} | {id(stack) for _, stack in self._results if stack}
        inside = {i for loop in self.loops for i in range(loop.region.start, loop.region.end)}
        last = {v for loop in self.loops for v in self.get_last(loop).values()}
        read = [v for i, eqn in enumerate(self._jaxpr.eqns) if i not in inside for v in eqn.invars]
        read += [v for v, (_, stack) in zip(self._jaxpr.outvars, self._results) if stack is None]
        read += [v for loop in self.loops for v in (*loop.region.shared, *loop.region.carried.values())]
        needed |= {id(self.stacks[v][0]) for v in read if not hasattr(v, "val") and v in self.stacks and v not in last}
        for loop in self.loops:
            loop.made = {slot: stack for slot, stack in loop.made.items() if id(stack) in needed}

    def get_last(self, loop: Loop) -> dict[Slot, Any]:
        """The variables that what is carried has after the loop."""
        return {slot: self.finder.get_made(loop.region, slot, loop.region.count - 1) for slot in loop.region.carried}

    def _stack_arguments(self, variables: Sequence[Any], is_reversed: bool) -> Stack:
        arguments = {leaf.variable: leaf for leaf in self._leaves}
        own = [arguments.get(v) for v in (reversed(variables) if is_reversed else variables)]
        if not all(own) or len({leaf.parameter for leaf in own if leaf}) > 1 or len({str(get_sharding(leaf.value)) for leaf in own if leaf}) > 1:
            raise Refused
        stack = self._add_stack([leaf.variable for leaf in own if leaf])
        stack.name = _join([leaf.name for leaf in own if leaf])
        return stack

    def _add_stack(self, variables: Sequence[Any]) -> Stack:
        stack = Stack(tuple(variables))
        self.stacks |= {v: (stack, i) for i, v in enumerate(variables)}
        return stack

    # --- arguments and results --------------------------------------------------------------------------

    def find_argument(self, leaf: Leaf) -> tuple[str, bool]:
        """The name of the argument that a leaf is, or is an element of; whether it is one."""
        stack = self.stacks.get(leaf.variable)
        return (stack[0].name, True) if stack else (leaf.name, False)

    def find_result(self, number: int) -> tuple[str, bool]:
        """The same of a result."""
        name, stack = self._results[number]
        return name, stack is not None

    def _stack_results(self) -> list[tuple[str, Stack | None]]:
        """Results that are all elements of a stack are one result."""
        names, outvars = [".".join(path) for path in self._result_names], self._jaxpr.outvars
        found: list[tuple[str, Stack | None]] = [(name, None) for name in names]
        counts = collections.Counter(v for v in outvars if not hasattr(v, "val"))
        numbers = {v: i for i, v in enumerate(outvars) if not hasattr(v, "val") and counts[v] == 1}
        for stack in {id(s): s for v in numbers if v in self.stacks for s in [self.stacks[v][0]]}.values():
            own = [numbers[v] for v in stack.members if v in numbers]
            if len(own) == len(stack.members) and not stack.name:
                with contextlib.suppress(Refused):
                    stack.name = _join([names[i] for i in own])
                    for i in own:
                        found[i] = stack.name, stack
        return found

    @property
    def arguments(self) -> dict[str, Any]:
        """Example arguments by parameter: of a container with their suffixes."""
        import jax

        found: dict[str, Any] = {}
        for leaf in self._leaves:
            value = jax.ShapeDtypeStruct(leaf.variable.aval.shape, leaf.variable.aval.dtype, weak_type=leaf.variable.aval.weak_type, sharding=get_sharding(leaf.value))
            if not leaf.suffix:
                found[leaf.parameter] = value
                continue
            name, is_stacked = self.find_argument(leaf)
            count = len(self.stacks[leaf.variable][0].members) if is_stacked else 0
            found.setdefault(leaf.parameter, {})[name.removeprefix(f"{leaf.parameter}.")] = _stack(value, count) if is_stacked else value
        return found

    def make_function(self) -> Callable[..., Any]:
        """Takes the arguments by position."""
        parameters = list(self.arguments)

        def rolled(*values: Any) -> Any:
            return _Run(self, dict(zip(parameters, values, strict=True))).get_results()

        kinds = {p.partition(".")[0]: inspect.Parameter.VAR_POSITIONAL if "." in p else inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters}
        rolled.__signature__ = inspect.Signature([inspect.Parameter(p, kind) for p, kind in kinds.items()])  # type: ignore[attr-defined]
        return rolled

    # --- paths ------------------------------------------------------------------------------------------

    def find_path(self, path: str) -> str:
        """That of the equation which stands for the one at a path."""
        first, dot, rest = path.partition(".")
        number, slash, site = first.partition("/")
        i = int(number)
        for loop in self.loops:
            r = loop.region
            if r.start <= i < r.end:
                return f"{r.start + r.size + (i - r.start) % r.size}{slash}{site}{dot}{rest}"
        return path


class _Run:
    """One call of a function with loops, as it is traced."""

    def __init__(self, rolled: Rolled, values: Mapping[str, Any]) -> None:
        self._rolled, self._jaxpr = rolled, rolled._jaxpr
        self._known: dict[Any, Any] = dict(zip(self._jaxpr.constvars, rolled._traced.closed.consts))
        self._stacks: dict[int, Any] = {}
        for leaf in rolled._leaves:
            name, is_stacked = rolled.find_argument(leaf)
            value = values[leaf.parameter]
            value = value[name.removeprefix(f"{leaf.parameter}.")] if leaf.suffix else value
            if is_stacked:
                self._stacks[id(rolled.stacks[leaf.variable][0])] = value
            else:
                self._known[leaf.variable] = value
        position = 0
        for loop in rolled.loops:
            self._run_equations(position, loop.region.start)
            self._run_loop(loop)
            position = loop.region.end
        self._run_equations(position, len(self._jaxpr.eqns))

    def get_results(self) -> Any:
        found: dict[str, Any] = {}
        names = list(zip(self._rolled._result_names, self._jaxpr.outvars))
        for number, (path, v) in enumerate(names):
            name, is_stacked = self._rolled.find_result(number)
            if is_stacked and self._rolled.stacks[v][1]:
                continue  # the first element is as good
            value = self._stacks[id(self._rolled.stacks[v][0])] if is_stacked else self._read(v)
            keys = name.split(".")[1:]
            if not keys:
                return value
            owner = found if len(path) < 3 else found.setdefault(keys[0], {})
            owner[".".join(keys if len(path) < 3 else keys[1:])] = value
        return found

    def _read(self, variable: Any) -> Any:
        from jax import lax

        if hasattr(variable, "val"):
            return variable.val
        if variable not in self._known:
            stack, index = self._rolled.stacks[variable]
            self._known[variable] = lax.index_in_dim(self._stacks[id(stack)], index, keepdims=False)
        return self._known[variable]

    def _run_equations(self, start: int, end: int) -> None:
        made = [v for eqn in self._jaxpr.eqns[start:end] for v in eqn.outvars if type(v).__name__ != "DropVar"]
        self._known |= zip(made, self._evaluate(start, end, {}, made))

    def _evaluate(self, start: int, end: int, inside: Mapping[Any, Any], results: Sequence[Any]) -> list[Any]:
        """The results of equations, which get their names. `inside`: variables that are known in a block alone."""
        from jax.extend import core

        tagger = equations.Tagger()
        eqns = [tagged for i in range(start, end) for tagged in tagger.rewrite_equation(str(i), self._jaxpr.eqns[i])]
        own = {v for eqn in eqns for v in eqn.outvars}
        read = dict.fromkeys(v for eqn in eqns for v in eqn.invars if not hasattr(v, "val") and v not in own)
        jaxpr = self._jaxpr.replace(constvars=[], invars=list(read), outvars=list(results), eqns=eqns)
        return list(core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, []))(*(inside[v] if v in inside else self._read(v) for v in read)))

    def _run_loop(self, loop: Loop) -> None:
        import jax
        from jax import lax

        region, finder = loop.region, self._rolled.finder
        carried = list(region.carried)
        before = [finder.get_made(region, slot, 0) for slot in carried]
        after = [finder.get_made(region, slot, 1) for slot in carried]
        made = [finder.get_made(region, slot, 1) for slot in loop.made]
        second = region.start + region.size

        def block(state: Sequence[Any], elements: Sequence[Any]) -> tuple[Any, Any]:
            inside = dict(zip(before, state)) | {t[1]: e for t, e in zip(region.taken, elements)}
            found = self._evaluate(second, second + region.size, inside, [*after, *made])
            return found[: len(after)], (found[len(after) :], [inside[v] for v in before if v in incoming])

        incoming = {finder.get_made(region, slot, 0): stack for slot, stack in loop.incoming.items()}
        elements = [jax.numpy.flip(x, 0) if flipped else x for stack, flipped in loop.taken for x in [self._stacks[id(stack)]]]
        state = [self._read(region.carried[slot]) for slot in carried]
        state, stacks = lax.scan(block, state, elements, length=region.count, reverse=loop.is_reversed)
        self._stacks |= {id(stack): value for stack, value in zip(loop.made.values(), stacks[0])}
        self._stacks |= {id(incoming[v]): value for v, value in zip([v for v in before if v in incoming], stacks[1])}
        self._known |= dict(zip(self._rolled.get_last(loop).values(), state))


def list_leaves(parameters: Sequence[tuple[str, Any]], jaxpr: Any) -> list[Leaf]:
    """The arrays of parameters with their variables."""
    import jax

    from .frontend import get_leaf_name

    paths = [(p, path, leaf) for p, value in parameters for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]]
    return [
        Leaf(p, get_leaf_name(p, path)[len(p) + 1 :], leaf, variable) for (p, path, leaf), variable in zip(paths, jaxpr.invars, strict=True)
    ]


def _join(names: Sequence[str]) -> str:
    """`layers.0.up` to `layers.7.up` as `layers.0-7.up`."""
    if len({name.count(".") for name in names}) > 1:
        raise Refused
    return ".".join(own[0] if len(set(own)) == 1 else f"{own[0]}-{own[-1]}" for own in zip(*(name.split(".") for name in names)))


def get_sharding(value: Any) -> Any:
    from jax.sharding import NamedSharding

    sharding = getattr(value, "sharding", None)
    return sharding if isinstance(sharding, NamedSharding) else None


def _stack(value: Any, count: int) -> Any:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    sharding = value.sharding and NamedSharding(value.sharding.mesh, PartitionSpec(None, *value.sharding.spec))
    return jax.ShapeDtypeStruct((count, *value.shape), value.dtype, sharding=sharding)
