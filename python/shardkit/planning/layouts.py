"""The layouts of values in an annotated program, and which values are those of an op that it was lowered from.

Ops carry the name of what they were lowered from in their location. It has a counterpart where ops of its name make values of its
types that no other op of its name reads; what was fused, folded or merged with another has none."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from typing import Any, Sequence

from . import tags

_SHARDING = re.compile(r"<@[\w.\"]+, \[([^\[\]]*)\](?:, [^<>]*?)?>")
_UNREDUCED = re.compile(r"unreduced\s*=\s*\{")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Axes per dim, and in a strided dim the sizes of what stays together; `is_partial`: the values of devices are parts of a sum."""

    dims: tuple[tuple[str, ...], ...]
    is_partial: bool = False

    @property
    def is_common(self) -> bool:
        """Whether other frameworks have it: of complete values in contiguous blocks."""
        return not self.is_partial and not self.is_strided

    @property
    def is_strided(self) -> bool:
        return any(entry.isdigit() for entries in self.dims for entry in entries)


@dataclasses.dataclass(frozen=True)
class Move:
    """A reshard by its number, and layouts between that of its operand and its own."""

    number: int
    steps: tuple[Layout, ...] = ()


@dataclasses.dataclass(frozen=True)
class Operand:
    """What is known of an operand of what ops were lowered from: the name of what makes it, its shape, its counterpart."""

    maker: str | None
    shape: tuple[int, ...] | None
    value: Any = None


@functools.lru_cache(maxsize=1 << 14)
def parse_layouts(text: str) -> tuple[Layout, ...]:
    """The shardings in an attribute, of this dialect or of Shardy's."""
    found = []
    for match in _SHARDING.finditer(text):
        dims = re.findall(r"\{([^{}]*)\}", match[1])
        axes = [tuple(a for entry in dim.split(",") if (a := entry.strip().replace('"', "")) and a != "?") for dim in dims]
        found.append(Layout(tuple(tuple(re.sub(r"p\d+$", "", a) for a in dim) for dim in axes), bool(_UNREDUCED.search(match[0]))))
    return tuple(found)


class Program:
    """The main function of a module whose values have explicit layouts."""

    def __init__(self, text: str, main: str = "main") -> None:
        from ..stablehlo.builder import walk
        from ..stablehlo.frontend import find_function, parse

        self._module = parse(text)
        self.main = find_function(self._module, main)
        self._ops: dict[str, list[Any]] = {}
        self._makers: dict[Any, tuple[Any, int]] = {}
        self._readers: dict[Any, list[Any]] = {}  # in the order of the program
        self._numbers: dict[Any, int] = {}
        for op in walk(self.main.operation):
            self._numbers[op] = len(self._numbers)
            self._makers |= {value: (op, k) for k, value in enumerate(op.results)}
            for value in op.operands:
                self._readers.setdefault(value, []).append(op)
            name = tags.read(str(op.location))
            if name is not None and op.name not in (*_TRANSPARENT, *_INITIAL):
                self._ops.setdefault(name, []).append(op)

    # --- layouts --------------------------------------------------------------------------------------

    @functools.cached_property
    def arguments(self) -> list[Layout | None]:
        return self._read_signature("arg_attrs")

    @functools.cached_property
    def results(self) -> list[Layout | None]:
        return self._read_signature("res_attrs")

    def _read_signature(self, key: str) -> list[Layout | None]:
        from jaxlib.mlir import ir

        found: list[Layout | None] = []
        for attributes in self.main.attributes[key] if key in self.main.attributes else ():  # a function may have no arguments
            entries = {a.name: str(a.attr) for a in ir.DictAttr(attributes)}
            found.append(next(iter(parse_layouts(entries.get("spmd.sharding", ""))), None))
        return found

    def get_layout(self, value: Any) -> Layout | None:
        """Where it is made; None where any layout is had for nothing, as that of a constant."""
        from jaxlib.mlir import ir

        if value not in self._makers:  # an argument
            op, number = value.owner.owner.operation, int(ir.BlockArgument(value).arg_number)
            if op.name == "func.func":
                return self.arguments[number]
            return self._read(op, number - 1 if op.name == "scf.for" else number)
        op, number = self._makers[value]
        if "sharding" in op.attributes and op.name in _TRANSPARENT:
            return next(iter(parse_layouts(str(op.attributes["sharding"]))), None)
        return self._read(op, number)

    def _read(self, op: Any, number: int) -> Layout | None:
        if "spmd.shardings" not in op.attributes:
            return None
        layouts = parse_layouts(str(op.attributes["spmd.shardings"]))
        return layouts[number] if 0 <= number < len(layouts) else None

    def get_reduced(self, value: Any) -> Layout | None:
        """The layout of a value once its sum is complete: of a reader that shards it further, else as it was computed."""
        layout = self.get_layout(value)
        if layout is None or not layout.is_partial:
            return layout
        for op in self._readers.get(value, ()):
            if op.name == "spmd.reshard":
                reduced = self.get_layout(op.results[0])
                if reduced and not reduced.is_partial and all(a[: len(b)] == b for a, b in zip(reduced.dims, layout.dims)):
                    return reduced
        return Layout(layout.dims)

    def find_uses(self, number: int) -> list[Layout]:
        """The layouts in which ops read an argument, in the order of the program; each as one of the argument, which may be transposed."""
        found, argument = [], self.main.regions[0].blocks[0].arguments[number]
        waiting = [(argument, list(range(len(get_shape(argument) or ()))))]
        while waiting:
            value, dims = waiting.pop(0)
            for op in self._readers.get(value, ()):
                if op.name in _TRANSPARENT:
                    waiting.append((op.results[0], dims))
                elif op.name == "linalg.transpose":
                    waiting.append((op.results[0], [dims[int(d)] for d in op.attributes["permutation"]]))
                elif op.name != "func.return" and (layout := self.get_layout(value)):
                    found.append((self._numbers[op], Layout(tuple(layout.dims[dims.index(d)] for d in range(len(dims))))))
        return [layout for _, layout in sorted(found, key=lambda f: f[0])]

    # --- counterparts ---------------------------------------------------------------------------------

    def find(self, name: str, shapes: Sequence[tuple[int, ...]]) -> list[Any] | None:
        """The values that what has this name makes, without numbers; None where it has no counterpart, or several."""
        found = self.find_all(name, shapes)
        return found[0] if len(found) == 1 else None

    def find_all(self, name: str, shapes: Sequence[tuple[int, ...]]) -> list[list[Any]]:
        """The values of each counterpart: what a function that is called twice does has two."""
        ops = set(self._ops.get(name, ()))
        made = [op for op in self._ops.get(name, ()) if op.results and not any(self._is_read_by(r, ops) for r in op.results)]
        values = [[r for r in op.results if get_shape(r)] for op in made]
        wanted = [shape for shape in shapes if shape]
        return [v for v in values if wanted and [get_shape(r) for r in v] == wanted]

    def find_made(self, name: str) -> Any | None:
        """The only value that what has this name makes."""
        ops = set(self._ops.get(name, ()))
        made = [r for op in ops for r in op.results if get_shape(r) is not None and not self._is_read_by(r, ops)]
        return made[0] if len(made) == 1 else None

    def find_result(self, name: str, number: int) -> Any | None:
        """That of the only op of this name with so many results that no other of the name reads."""
        ops = set(self._ops.get(name, ()))
        made = [op for op in ops if len(op.results) > number and not any(self._is_read_by(r, ops) for r in op.results)]
        return made[0].results[number] if len(made) == 1 else None

    def find_read(self, value: Any, name: str) -> Layout | None:
        """The layout in which the first op reads a value that has this name, or one that begins with it and a slash."""
        waiting = [value]
        for read in waiting:
            for op in self._readers.get(read, ()):
                if op.name in _TRANSPARENT:
                    waiting.append(op.results[0])
                elif (tag := tags.read(str(op.location))) is not None and tag.partition("/")[0] == name:
                    return self.get_reduced(read)
        return None

    def find_operands(self, values: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[Any]:
        """The operands of the op that makes these values, where it has those of these shapes first."""
        operands = list(self._makers[values[0]][0].operands)[: len(shapes)]
        return operands if [get_shape(v) for v in operands] == list(shapes) else []

    def find_moved(self, name: str, operands: Sequence[Operand]) -> dict[int, Any]:
        """The values that operands of what has this name are moved to, right before it, by number. It may have reshaped them before."""
        found: dict[int, list[Any]] = {}
        for op in self._ops.get(name, ()):
            for value in self._list_read(op):
                source = self._get_source(value)
                if source == value or self._makers[value][0].operation.block != op.operation.block or (layout := self.get_layout(value)) is None or layout == self.get_reduced(source):
                    continue
                source = self._get_unshaped(source, name)
                maker = self._get_name(source)
                shaped = [k for k, operand in enumerate(operands) if operand.shape == get_shape(source)]
                known = [k for k in shaped if operands[k].value is not None and operands[k].value == source]  # as in x * x
                same = known or [k for k in shaped if operands[k].maker == maker] or shaped
                for k in same if (known or len(same) == 1) and maker != name else ():
                    found.setdefault(k, []).append(value)
        return {k: values[0] for k, values in found.items() if all(self.get_layout(v) == self.get_layout(values[0]) for v in values)}

    def _get_unshaped(self, value: Any, name: str) -> Any:
        """What ops of this name reshape to a value, and do nothing else."""
        while value in self._makers and self._makers[value][0].name in _RESHAPES and self._get_name(value) == name:
            value = self._makers[value][0].operands[0]
        return value

    def _get_name(self, value: Any) -> str | None:
        """The name of what makes a value."""
        return tags.read(str(self._makers[value][0].location)) if value in self._makers else None

    def _list_read(self, op: Any) -> list[Any]:
        """What an op reads, inside of its regions too."""
        from ..stablehlo.builder import walk

        inside = walk(op.operation) if len(op.operation.regions) else []
        return list(dict.fromkeys([*op.operands, *(v for inner in inside for v in inner.operands)]))

    def _get_source(self, value: Any) -> Any:
        """What is resharded."""
        while value in self._makers and self._makers[value][0].name == "spmd.reshard":
            value = self._makers[value][0].operands[0]
        return value

    def read_moved(self, value: Any, shape: Sequence[int]) -> tuple[Layout | None, Move | None]:
        """The layout of a value and the reshard that makes it, if one does; as those of an operand of this shape."""
        layout, move, own = self.get_layout(value), self._get_move(value), get_shape(value)
        if own is None or own == tuple(shape):
            return layout, move
        steps = [regroup(step, own, shape) for step in move.steps] if move else []
        return layout and regroup(layout, own, shape), move and Move(move.number, tuple(step for step in steps if step) if all(steps) else ())

    def _get_move(self, value: Any) -> Move | None:
        source = self._get_source(value)
        if source == value:
            return None
        has, wanted = self.get_reduced(source), self.get_layout(value)
        steps = list_steps(has, wanted) if has and wanted and not (has.is_strided or wanted.is_strided) else ()
        return Move(self._numbers[self._makers[value][0]], tuple(steps))

    def _is_read_by(self, value: Any, ops: set[Any]) -> bool:
        return any(
            op in ops or (op.name in _TRANSPARENT and any(self._is_read_by(r, ops) for r in op.results)) for op in self._readers.get(value, ())
        )


_TRANSPARENT = ("spmd.reshard", "spmd.with_sharding_constraint")

_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")

_INITIAL = ("tensor.empty", "linalg.fill")
"""What ops write into; those of several equations are one."""


def get_shape(value: Any) -> tuple[int, ...] | None:
    from jaxlib.mlir import ir

    return tuple(ir.RankedTensorType(value.type).shape) if isinstance(value.type, ir.RankedTensorType) else None


def list_steps(has: Layout, wanted: Layout) -> list[Layout]:
    """Layouts between two, where XLA would gather the whole value to come from one to the other: where axes leave the value, those that it
    gets come first; axes that stay in a dim become its major ones; then those move that another dim has, one at a time; the others are
    gathered."""
    dims, steps = [list(d) for d in has.dims], list[Layout]()
    used, needed = ({a for axes in layout.dims for a in axes} for layout in (has, wanted))
    if used - needed and needed - used:
        for own, axes in zip(dims, wanted.dims):
            if tuple(own) == axes[: len(own)]:
                own += itertools.takewhile(lambda a: a not in used, axes[len(own) :])
        steps.append(Layout(tuple(map(tuple, dims))))
    for own, axes in zip(dims, wanted.dims):
        if (staying := sorted(set(own).intersection(axes), key=axes.index)) != own[: len(staying)]:
            own[:] = [*staying, *(a for a in own if a not in axes)]
            steps.append(Layout(tuple(map(tuple, dims))))
    places = {a: d for d, axes in enumerate(wanted.dims) for a in axes}
    leaving = [(own, a) for d, own in enumerate(dims) for a in own if places.get(a) != d]
    moved = [(own, a) for own, a in leaving if a in places]
    for own, axis in moved if len(moved) < len(leaving) else ():
        target = dims[places[axis]]
        if (*target, axis) != wanted.dims[places[axis]][: len(target) + 1]:
            break
        own.remove(axis)
        target.append(axis)
        steps.append(Layout(tuple(map(tuple, dims))))
    return [step for step in steps if step not in (has, wanted)]


def regroup(layout: Layout, shape: Sequence[int], other: Sequence[int]) -> Layout | None:
    """The layout of a value in another shape of as many elements. None where a dim that is split or joined is not sharded by its first part."""
    found: list[tuple[str, ...]] = [()] * len(other)
    for dims, others in _group(shape, other):
        axes = [d for d in dims if layout.dims[d]]
        if not axes:
            continue
        rest, entries = [d for d in others if other[d] > 1], layout.dims[axes[0]]
        while len(rest) > 1 and entries[0] == str(other[rest[0]]):  # the part before the sharded one is a dim
            rest, entries = rest[1:], entries[1:]
        if not rest or len(axes) > 1 or any(shape[d] > 1 for d in dims if d < axes[0]):
            return None
        if len(dims) != len(others) and entries == layout.dims[axes[0]] and other[rest[0]] % shape[axes[0]] and shape[axes[0]] % other[rest[0]]:
            return None
        found[rest[0]] = entries
    return Layout(tuple(found), layout.is_partial)


def _group(shape: Sequence[int], other: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Dims of both shapes that have the same elements."""
    groups, i, j = [], 0, 0
    while i < len(shape) or j < len(other):
        a, b = [i] if i < len(shape) else [], [j] if j < len(other) else []
        i, j = i + len(a), j + len(b)
        while (x := math.prod(shape[d] for d in a)) != (y := math.prod(other[d] for d in b)):
            if x < y:
                a, i = [*a, i], i + 1
            else:
                b, j = [*b, j], j + 1
        groups.append((a, b))
    return groups
