"""How a program uses its arguments: which of their dims are one thing, which weights it contracts over what, what only updates read.

Read from the sharding rules of its ops, as `--spmd-export-rules` writes them, so that no op is known by name."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Iterator, Mapping, Sequence

Dim = tuple[int, int, int]
"""A value class, the number of a dim, and where a part of it begins: after so many parts of those before it, 1 for the first and for the dim.
A dim of 4 x 8 has the parts 1 and 4."""


@dataclasses.dataclass(frozen=True)
class Contraction:
    """The first contraction of a weight with what is computed from inputs. Dims of the weight: `reduced` are summed over, `batch` are in the
    result and in the other operand, `free` are in the result alone."""

    number: int
    value: str
    """The position of its result."""
    result: int
    """The value class of its result."""
    reduced: tuple[int, ...]
    free: tuple[int, ...]
    batch: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class _Origin:
    """A value that is made of one argument alone: for each of its dims the one of the argument, or -1."""

    argument: str
    dims: tuple[int, ...]


class Groups:
    """Dims that ops relate: they are sharded alike wherever nothing is moved. A dim is one with its first part."""

    def __init__(self) -> None:
        self._parents: dict[Dim, Dim] = {}
        self._divisors: dict[Dim, int] = {}

    def find(self, dim: Dim) -> Dim:
        root = dim
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while self._parents.get(dim, root) != root:
            self._parents[dim], dim = root, self._parents[dim]
        return root

    def join(self, dims: Sequence[Dim], size: int) -> None:
        """Relates dims by a factor of a size."""
        roots = [self.find(d) for d in dims]
        first = min(roots)
        divisor = functools.reduce(math.gcd, [self._divisors.get(r, 0) for r in roots], size)
        for root in roots:
            self._parents[root] = first
        self._divisors[first] = divisor

    def get_divisor(self, dim: Dim) -> int:
        """The largest number of devices that shards all of its group evenly; 0 for a dim that nothing relates."""
        return self._divisors.get(self.find(dim), 0)


class Uses:
    """The uses of the arguments of a function. `inputs`: predicates of names; by default arguments that are no stored weights."""

    def __init__(self, function: Mapping[str, Any], inputs: Sequence[str] | None = None) -> None:
        self._function, self.hash, self.name = function, str(function["hash"]), str(function["name"])
        self.shapes: list[list[int]] = function["classes"]
        self.arguments = {a["name"]: a["class"] for a in function["arguments"] if a["class"] >= 0 and self.shapes[a["class"]]}
        self.groups = Groups()
        self._ops: list[Mapping[str, Any]] = function["ops"]
        self._join()
        flagged = {a["name"] for a in function["arguments"] if a["weight"]}
        self.given = list(inputs) if inputs is not None else [n for n in self.arguments if n not in flagged]
        self.batch = self._find_batch()
        self.inputs = [n for n in self.arguments if self.batch and any(self.get_group(n, d) == self.batch for d in range(self.get_rank(n)))]
        self.weights = [n for n in self.arguments if n not in self.inputs and n not in (self.given if inputs is not None else ())]
        self._origins: dict[int, _Origin] = {}
        self._computed: set[int] = set()
        self.contractions: dict[str, Contraction] = {}
        self.lookups: dict[str, tuple[int, int]] = {}
        """The number of the op and the dim of a weight whose elements data choose."""
        self._trace()

    def get_shape(self, name: str) -> list[int]:
        return self.shapes[self.arguments[name]]

    def get_rank(self, name: str) -> int:
        return len(self.get_shape(name))

    def get_group(self, name: str, dim: int) -> Dim:
        return self.groups.find((self.arguments[name], dim, 1))

    def get_groups(self, name: str) -> tuple[Dim, ...]:
        return tuple(self.get_group(name, d) for d in range(self.get_rank(name)))

    # --- relations of dims ------------------------------------------------------------------------------

    def _join(self) -> None:
        """Joins the dims that share a factor, and their parts: of 4 x 8 that is taken as 32, both parts."""
        related = []
        for op in self._ops:
            found: dict[int, list[Dim]] = {}
            for tensor in (*op["operands"], *op["results"]):
                for f, d, before in _list_parts(op, tensor):
                    found.setdefault(f, []).append((tensor["class"], d, before))
            for f, dims in found.items():
                factor = op["factors"][f]
                if factor["kind"] != "replicated" and not factor["windows"]:
                    related.append((dims, factor["size"]))
        parts: dict[tuple[int, int], set[int]] = {}
        for dims, _ in related:
            for value, d, before in dims:
                parts.setdefault((value, d), {1}).add(before)
        self._parts = parts
        for _ in range(_PASSES):
            count = sum(map(len, parts.values()))
            for dims, size in related:
                for part in _get_inner(parts, dims, size):
                    for value, d, before in dims:
                        parts[value, d].add(before * part)
            if count == sum(map(len, parts.values())):
                break
        for dims, size in related:
            for part in _get_inner(parts, dims, size):
                self.groups.join([(value, d, before * part) for value, d, before in dims], size // part)

    def find_part(self, value: int, group: Dim) -> tuple[int, int] | None:
        """The dim of a value of which a part is of a group, and where that begins."""
        return next(((d, before) for d, before, g in self._list_part_groups(value) if g == group), None)

    def _list_part_groups(self, value: int) -> Iterator[tuple[int, int, Dim]]:
        for d in range(len(self.shapes[value])):
            for before in sorted(self._parts.get((value, d), {1})):
                yield d, before, self.groups.find((value, d, before))

    # --- inputs -----------------------------------------------------------------------------------------

    def _find_batch(self) -> Dim | None:
        """The group of dims of inputs that most contractions compute with and none of their first ones sums over."""
        counts: dict[Dim, int] = {}
        for op in self._ops:
            for group in self._list_groups(op, lambda f, op: _is_in(f, op["results"])) if op["contraction"] else ():
                counts[group] = counts.get(group, 0) + 1
        best: tuple[int, Dim] | None = None
        for name in self.given:
            summed = self._find_summed(name)
            for d in range(self.get_rank(name)) if name in self.arguments else ():
                group = self.get_group(name, d)
                if group not in summed and counts.get(group, 0) > (best[0] if best else 0):
                    best = counts[group], group
        return best[1] if best else None

    def _find_summed(self, name: str) -> set[Dim]:
        """Groups that the first contraction of an argument sums over."""
        for op in self._ops:
            if op["contraction"] and any(t["class"] == self.arguments.get(name) for t in op["operands"]):
                return set(self._list_groups(op, lambda f, op: not _is_in(f, op["results"])))
        return set()

    def _list_groups(self, op: Mapping[str, Any], accepts: Any) -> set[Dim]:
        return {self.groups.find((t["class"], d, 1)) for t in (*op["operands"], *op["results"]) for f, d in _list_factors(op, t) if accepts(f, op)}

    @functools.cached_property
    def sequence(self) -> Dim | None:
        """The other group of dims of inputs that contractions of weights compute with, and do not sum over."""
        used = {self.get_group(n, d) for n, c in self.contractions.items() for d in (*c.reduced, *c.free, *c.batch)}
        rows = [g for c in self.contractions.values() for _, _, g in self._list_part_groups(c.result) if g not in used]
        found = [g for n in self.inputs for g in self.get_groups(n) if g != self.batch and g in rows]
        return max(found, key=lambda g: (rows.count(g), -found.index(g))) if found else None

    # --- weights ----------------------------------------------------------------------------------------

    def _trace(self) -> None:
        for name in self.weights:
            self._origins[self.arguments[name]] = _Origin(name, tuple(range(self.get_rank(name))))
        self._computed |= {self.arguments[n] for n in self.arguments if n not in self.weights}
        fixed = set(self.arguments.values())
        for _ in range(2):  # what a loop carries is known after its body
            for number, op in enumerate(self._ops):
                self._read(number, op)
                self._pass_on(op, fixed)

    def _pass_on(self, op: Mapping[str, Any], fixed: set[int]) -> None:
        """Whether the results are computed from inputs, or from one weight alone."""
        read = [t for t in op["operands"] if t["class"] >= 0]
        results = [t for t in op["results"] if t["class"] >= 0 and t["class"] not in fixed]
        if any(t["class"] in self._computed for t in read):
            self._computed |= {t["class"] for t in results}
            for t in results:
                self._origins.pop(t["class"], None)
            return
        origins = [(t, o) for t in read if (o := self._origins.get(t["class"]))]
        if len({o.argument for _, o in origins}) != 1:
            return
        for result in results:
            if result["class"] not in self._computed:
                self._origins.setdefault(result["class"], _Origin(origins[0][1].argument, self._map(op, result, *origins[0])))

    def _map(self, op: Mapping[str, Any], result: Mapping[str, Any], operand: Mapping[str, Any], origin: _Origin) -> tuple[int, ...]:
        """The dims of the argument that the dims of a result are."""
        known = {f: origin.dims[d] for f, d in _list_factors(op, operand)}
        own = {d: f for f, d in _list_factors(op, result)}
        return tuple(known.get(own[d], -1) if d in own else -1 for d in range(len(self.shapes[result["class"]])))

    def _read(self, number: int, op: Mapping[str, Any]) -> None:
        operands = [t for t in op["operands"] if not t.get("init")]
        others = [t for t in operands if t["class"] in self._computed]
        if not others:
            return
        for operand in operands:
            if (origin := self._origins.get(operand["class"])) is None:
                continue
            dims = [(f, origin.dims[d]) for f, d in _list_factors(op, operand) if origin.dims[d] >= 0 and not op["factors"][f]["windows"]]
            chosen = [a for f, a in dims if op["factors"][f]["kind"] == "indexed" and not _is_in(f, op["results"])]
            if chosen:
                self.lookups.setdefault(origin.argument, (number, chosen[0]))
            if op["contraction"]:
                self._add_contraction(number, op, origin.argument, dims, others)

    def _add_contraction(self, number: int, op: Mapping[str, Any], name: str, dims: Sequence[tuple[int, int]], others: Sequence[Any]) -> None:
        reduced = tuple(a for f, a in dims if not _is_in(f, op["results"]) and _is_in(f, others))  # not the dims of a kernel
        batch = tuple(a for f, a in dims if _is_in(f, op["results"]) and _is_in(f, others))
        free = tuple(a for f, a in dims if _is_in(f, op["results"]) and not _is_in(f, others))
        if name not in self.contractions and reduced:
            self.contractions[name] = Contraction(number, op["value"], op["results"][0]["class"], reduced, free, batch)

    def is_last(self, name: str) -> bool:
        """Whether no first contraction of another weight depends on that of this one."""
        first = {c.number for c in self.contractions.values()}
        start = self.contractions[name]
        reached, fixed = {start.result}, set(self.arguments.values())
        for number, op in enumerate(self._ops):
            if number > start.number and any(t["class"] in reached for t in op["operands"]):
                if number in first:
                    return False
                reached |= {t["class"] for t in op["results"]} - fixed - {-1}
        return True

    @functools.cached_property
    def experts(self) -> set[Dim]:
        """Groups of dims that contractions of weights have as batch dims: an element is a matrix of its own."""
        return {self.get_group(n, d) for n, c in self.contractions.items() for d in c.batch} - {self.batch, self.sequence}

    # --- training ---------------------------------------------------------------------------------------

    @functools.cached_property
    def state(self) -> list[str]:
        """Weights that no contraction and no sum depends on: only updates read them."""
        makers: dict[int, set[int]] = {}
        reached: set[int] = set()  # classes that lead to a contraction or a sum
        for op in self._ops:
            for t in op["results"]:
                makers.setdefault(t["class"], set()).update(o["class"] for o in op["operands"] if o["class"] >= 0)
            sums = any(f["kind"] == "reduction" for f in op["factors"])
            if op["contraction"] or sums:
                reached |= {o["class"] for o in op["operands"] if o["class"] >= 0}
        waiting = list(reached)
        updated = {self.arguments[n] for n in self.weights}  # an argument and the result that takes its place
        while waiting:
            value = waiting.pop()
            for other in makers.get(value, ()) if value not in updated else ():
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
        updates = {t["class"] for op in self._ops if any(o["class"] in self._computed for o in op["operands"]) for t in op["operands"]}
        return [n for n in self.weights if self.arguments[n] not in reached and self._is_updated(self.arguments[n], updates)]

    def _is_updated(self, value: int, updates: set[int]) -> bool:
        """It is combined with what is computed."""
        return value in updates or any(o.argument and c in updates for c, o in self._origins.items() if self.arguments[o.argument] == value)

    def find_gradients(self) -> dict[str, tuple[str, int]]:
        """What updates state with, by the state: the position of the value and its value class."""
        positions = {t["class"]: op["value"] for op in self._ops for t in op["results"][:1] if op["value"]}
        found: dict[str, tuple[str, int]] = {}
        state = set(self.state)
        for op in self._ops:
            for operand in op["operands"]:
                origin = self._origins.get(operand["class"])
                if origin is None or origin.argument not in state:
                    continue
                shape = self.get_shape(origin.argument)
                for other in op["operands"]:
                    value = other["class"]
                    if value in self._computed and self.shapes[value] == shape and value in positions:
                        found.setdefault(origin.argument, (positions[value], value))
        return found


_PASSES = 8
"""How far parts of dims are followed through ops that take them as one."""


def _get_inner(parts: Mapping[tuple[int, int], set[int]], dims: Sequence[Dim], size: int) -> set[int]:
    """The parts of a factor that any of its dims has."""
    return {k // before for value, d, before in dims for k in parts[value, d] if before <= k < before * size and k % before == 0}


def _list_parts(op: Mapping[str, Any], tensor: Mapping[str, Any]) -> Iterator[tuple[int, int, int]]:
    """The factors of each dim, the dim, and where the part begins."""
    for d, factors in enumerate(tensor["dims"] if tensor["class"] >= 0 else ()):
        before = 1
        for f in factors:
            size = op["factors"][f]["size"]
            if size > 1:
                yield f, d, before
                before *= size


def _list_factors(op: Mapping[str, Any], tensor: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """The major factor of each dim that has one, and the dim."""
    return ((f, d) for f, d, before in _list_parts(op, tensor) if before == 1)


def _is_in(factor: int, tensors: Sequence[Mapping[str, Any]]) -> bool:
    return any(factor in factors for t in tensors for factors in t["dims"])
