"""Blocks of equations that repeat, as the layers of a model that are written out do: which they are, and what goes from one to the next.

The equations of a jaxpr are compared by what they compute, without what they read. Where `p` equations repeat `n` times in a row, and
each block reads its operands from the same places, these are the repetitions of one block:

    a = layer(a, w0); b = layer(a, w1); c = layer(b, w2)      n = 3: carries its result, and takes one of w0, w1, w2

An operand is made in the block itself, by the block before (`carried`), before all blocks and for all of them (shared), or for each
block by itself (`taken`)."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any, Hashable, Iterator, Mapping, Sequence

import numpy as np

Slot = tuple[int, int]
"""A result in a block: the number of the equation, and of its result."""


@dataclasses.dataclass
class Region:
    """Blocks that repeat: `count` times `size` equations from `start` on."""

    start: int
    size: int
    count: int
    carried: dict[Slot, Any] = dataclasses.field(default_factory=dict)
    """With the variable that the first block has for it."""
    taken: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    """Variables, one for each block."""
    shared: set[Any] = dataclasses.field(default_factory=set)
    made: list[Slot] = dataclasses.field(default_factory=list)
    """Results that are read elsewhere."""

    @property
    def end(self) -> int:
        return self.start + self.size * self.count

    def trim(self, first: int, count: int) -> Region:
        return Region(self.start + self.size * first, self.size, count)


class Finder:
    """Finds the regions of a jaxpr: `least` is the number of repetitions that counts."""

    def __init__(self, jaxpr: Any, least: int) -> None:
        self._jaxpr, self._least = jaxpr, least
        self._eqns = jaxpr.eqns
        self._makers = {v: (i, k) for i, eqn in enumerate(self._eqns) for k, v in enumerate(eqn.outvars)}
        self._readers: dict[Any, list[int]] = {}
        self._owners: dict[Any, tuple[int, int]] = {}
        """Of variables that blocks make or take: the first region and its block."""
        for i, eqn in enumerate(self._eqns):
            for v in eqn.invars:
                if not hasattr(v, "val"):
                    self._readers.setdefault(v, []).append(i)
        for v in jaxpr.outvars:
            if not hasattr(v, "val"):
                self._readers.setdefault(v, []).append(len(self._eqns))

    def find(self) -> list[Region]:
        """In the order of the program, so that each is one loop over values that are stacked in the same order, or in reverse."""
        regions: list[Region] = []
        for start, size, end in self._list_repeats():
            start = self._choose_start(start, size, end)
            if region := self._settle(Region(start, size, (end - start) // size)):
                self._note_owners(region, len(regions))
                regions.append(region)
        while True:
            aligned = self._align(regions)
            regions = [r for r in map(self._settle, aligned) if r and r.count >= self._least]
            if [(r.start, r.count) for r in regions] == [(r.start, r.count) for r in aligned]:
                return regions

    # --- equal equations --------------------------------------------------------------------------------

    def _list_repeats(self) -> list[tuple[int, int, int]]:
        """Start, size of a block and end of what repeats, in the order of the program; long ones win over what overlaps them."""
        numbers = _number(self._eqns)
        free = np.ones(len(numbers), bool)
        found = []
        for start, size, end in sorted(self._list_candidates(numbers), key=lambda c: (c[1] + c[0] - c[2], c[1], c[0])):
            while start < end and not free[start]:
                start += 1
            while end > start and not free[end - 1]:
                end -= 1
            if end - start >= self._least * size and free[start:end].all():
                free[start:end] = False
                found.append((start, size, end))
        return sorted(found)

    def _list_candidates(self, numbers: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Start, size of a block and end of what repeats."""
        distances: collections.Counter[int] = collections.Counter()
        order = np.argsort(numbers, kind="stable")
        same = numbers[order][1:] == numbers[order][:-1]
        distances.update(np.diff(order)[same].tolist())
        for size, _ in distances.most_common(_CANDIDATES):
            equal = numbers[:-size] == numbers[size:]
            edges = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
            for start, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
                if end - start >= (self._least - 1) * size:
                    yield start, size, end + size

    def _choose_start(self, start: int, size: int, end: int) -> int:
        """Where the fewest values go from block to block. Of these, where a block has to do with the fewest blocks of earlier regions: one
        begins with a layer, not within it. Of these the first."""
        middle = start + size * ((end - start) // size // 2)
        starts = range(size if end - start >= (self._least + 1) * size else (end - start) % size + 1)
        alive = np.cumsum(self._count_alive(middle, size, len(starts)))[: len(starts)]
        partners = self._count_partners(middle, size, len(starts))
        return start + min(starts, key=lambda s: (alive[s], partners[s], s))

    def _count_alive(self, middle: int, size: int, count: int) -> np.ndarray:
        """Of as many places from `middle` on, how many more values than one before are made before it and read within a block after it."""
        changes = np.zeros(count + 1, np.int64)
        for i in range(middle - size, middle + count - 1):
            for v in self._eqns[i].outvars:
                last = max((r for r in self._readers.get(v, ()) if r < i + size), default=i)
                first, stop = max(i + 1 - middle, 0), min(last + 1 - middle, count)
                if stop > first:
                    changes[first] += 1
                    changes[stop] -= 1
        return changes

    def _count_partners(self, middle: int, size: int, count: int) -> list[int]:
        """Of blocks that begin at as many places, with how many blocks of earlier regions they share values."""
        owners = [[self._owners[v] for v in self._eqns[i].invars if not hasattr(v, "val") and v in self._owners] for i in range(middle, middle + size + count - 1)]
        inside = collections.Counter(o for own in owners[:size] for o in own)
        found = [len(inside)]
        for s in range(1, count):
            inside.subtract(owners[s - 1])
            inside.update(owners[s + size - 1])
            found.append(sum(n > 0 for n in inside.values()))
        return found

    def _note_owners(self, region: Region, number: int) -> None:
        for block in range(region.count):
            first = region.start + region.size * block
            made = [v for eqn in self._eqns[first : first + region.size] for v in eqn.outvars]
            for v in (*made, *(t[block] for t in region.taken)):
                self._owners.setdefault(v, (number, block))

    # --- operands ---------------------------------------------------------------------------------------

    def _settle(self, region: Region) -> Region | None:
        """With what it reads and makes; without first or last blocks that differ."""
        for first, last in ((0, 0), (1, 0), (0, 1), (1, 1)):
            found = region.trim(first, region.count - first - last)
            if found.count >= self._least and self._read(found):
                return found
        return None

    def _read(self, region: Region) -> bool:
        size, start = region.size, region.start
        for k in range(size):
            blocks = [self._eqns[start + size * i + k] for i in range(region.count)]
            for operands in zip(*(eqn.invars for eqn in blocks), strict=True):
                if not self._read_operand(region, operands):
                    return False
        region.taken = list(dict.fromkeys(region.taken))
        roles = [*(t[1] for t in region.taken), *(self.get_made(region, s, 0) for s in region.carried)]
        if len(set(roles)) < len(roles) or region.shared.intersection(roles):
            return False  # one variable is read as two
        region.made = [(k, o) for k in range(size) for o in range(len(self._eqns[start + k].outvars)) if self._is_made(region, k, o)]
        return True

    def _read_operand(self, region: Region, operands: Sequence[Any]) -> bool:
        if hasattr(operands[0], "val"):
            return True
        places = [self._makers.get(v, (-1, 0)) for v in operands]
        blocks = [(i - region.start) // region.size if region.start <= i < region.end else -1 for i, _ in places]
        slots = {((i - region.start) % region.size, o) for i, o in places[1:]}
        if blocks == list(range(region.count)):
            return len(slots) == 1 and ((places[0][0] - region.start), places[0][1]) in slots
        if blocks[1:] == list(range(region.count - 1)):
            (slot, *others) = slots
            first = region.carried.setdefault(slot, operands[0])
            made = self._eqns[region.start + slot[0]].outvars[slot[1]]
            return not others and first is operands[0] and first.aval == made.aval
        if any(b >= 0 for b in blocks):
            return False
        if any(v is not operands[0] for v in operands):
            if len(set(operands)) < len(operands):
                return False
            region.taken.append(tuple(operands))
        else:
            region.shared.add(operands[0])
        return True

    def _is_made(self, region: Region, k: int, o: int) -> bool:
        return any(self.is_read_outside(region, self.get_made(region, (k, o), i)) for i in range(region.count))

    def is_read_outside(self, region: Region, variable: Any) -> bool:
        return any(not region.start <= r < region.end for r in self._readers.get(variable, ()))

    def get_made(self, region: Region, slot: Slot, block: int) -> Any:
        return self._eqns[region.start + region.size * block + slot[0]].outvars[slot[1]]

    # --- regions that go with each other ----------------------------------------------------------------

    def _align(self, regions: Sequence[Region]) -> list[Region]:
        """Without first and last blocks that exchange values with fewer regions than others do: each layer is in all of them, or in none."""
        owners: dict[Any, list[tuple[int, int]]] = {}
        for number, region in enumerate(regions):
            lists = [*region.taken, *(tuple(self.get_made(region, s, i) for i in range(region.count)) for s in region.made)]
            for block, variables in enumerate(zip(*lists)):
                for v in variables:
                    owners.setdefault(v, []).append((number, block))
        partners = [[set[int]() for _ in range(r.count)] for r in regions]
        for places in owners.values():
            for number, block in places:
                partners[number][block] |= {other for other, _ in places}
        return [self._keep_common(region, partners[number]) for number, region in enumerate(regions)]

    def _keep_common(self, region: Region, partners: Sequence[set[int]]) -> Region:
        usual = max(map(frozenset, partners), key=[*map(frozenset, partners)].count)
        first, last = 0, region.count
        while first < last and not usual <= partners[first]:
            first += 1
        while last > first and not usual <= partners[last - 1]:
            last -= 1
        return region.trim(first, last - first)


_CANDIDATES = 256
"""How many distances between equal equations are tried."""


def _number(eqns: Sequence[Any]) -> np.ndarray:
    """A number for each equation; equal ones have one."""
    numbers: dict[Hashable, int] = {}
    known: dict[int, Hashable] = {}
    types: dict[Any, int] = {}
    variables: dict[Any, int] = {}

    def number_type(variable: Any) -> int:
        """A number for the type of a variable: a type takes longer to hash."""
        if (number := variables.get(variable)) is None:
            number = variables[variable] = types.setdefault(variable.aval, len(types))
        return number

    keys = [
        (
            eqn.primitive.name,
            tuple((n, _get_key(v, known)) for n, v in eqn.params.items()),
            tuple((str(v.val), v.aval) if hasattr(v, "val") else number_type(v) for v in eqn.invars),
            tuple(map(number_type, eqn.outvars)),
            not eqn.effects or object(),  # those with an effect are like no other
        )
        for eqn in eqns
    ]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _get_key(value: Any, known: dict[int, Hashable]) -> Hashable:
    """Of a parameter: what it computes."""
    if isinstance(value, (str, int, float, type(None))):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_get_key(v, known) for v in value)
    if hasattr(getattr(value, "jaxpr", value), "eqns"):
        if id(value) not in known:
            consts = tuple(_get_key(c, known) for c in getattr(value, "consts", ()))
            known[id(value)] = (str(getattr(value, "jaxpr", value)), consts)
        return known[id(value)]
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, Mapping):
        return tuple((str(k), _get_key(v, known)) for k, v in value.items())
    if callable(value):
        return str(type(value))
    return value if isinstance(value, Hashable) else repr(value)
