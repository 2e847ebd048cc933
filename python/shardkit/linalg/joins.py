"""A program that was lowered in pieces, joined: what its function returned and took again, so that no op is on both sides."""

from __future__ import annotations

import dataclasses
import heapq
from typing import Any, Mapping, Sequence

from ..planning import tags


@dataclasses.dataclass(frozen=True)
class Join:
    """The argument of this name is the value of the name `source`, in a sharding if there is one; `tag`: of what reads it so."""

    argument: str
    source: str
    sharding: str = ""
    tag: str = ""


@dataclasses.dataclass
class Joins:
    """`sources`: the names of the last results. `joins`: for the last arguments, in an order in which each depends on earlier ones only.

    `tagged`: from names of values that are to be found again to tags; `sites` is filled for them: the tag, and the number of the result
    of the op that has it, or the name of an argument and None. `stages`: of ops, by the tags that they come with. `boundaries`: the
    names of what crosses from each stage to the next."""

    sources: Sequence[str]
    joins: Sequence[Join]
    tagged: Mapping[str, str] = dataclasses.field(default_factory=dict)
    stages: Mapping[str, int] = dataclasses.field(default_factory=dict)
    boundaries: Sequence[Sequence[str]] = ()
    sites: dict[str, tuple[str, int | None]] = dataclasses.field(default_factory=dict)

    def apply(self, block: Any, arguments: Sequence[str], results: Sequence[str]) -> None:
        """The names are those of the other arguments and results. The last ones are removed."""
        from torch_mlir import ir

        terminator = list(block.operations)[-1].operation
        values = dict(zip(arguments, block.arguments))
        numbers = {name: k for k, name in enumerate([*results, *self.sources])}
        constraints = dict[str, Any]()
        for join, argument in zip(self.joins, list(block.arguments)[len(arguments) :], strict=True):
            value = values[join.source] if join.source in values else terminator.operands[numbers[join.source]]
            if join.sharding:
                name = f"{join.source}/{tags.make(join.tag)}" if join.tag else join.source
                value = constrain(ir.InsertionPoint(terminator), value, name, join.sharding)
                constraints[join.argument] = value.owner.operation
            values[join.argument] = value
            argument.replace_all_uses_with(value)
        values |= {name: terminator.operands[k] for name, k in numbers.items()}
        names = dict(zip(block.arguments, arguments))
        self.sites.update({name: _tag(values[name], tag, names) for name, tag in self.tagged.items() if name in values})
        made = ir.Operation.create(
            "func.return", operands=list(terminator.operands)[: len(results)], ip=ir.InsertionPoint(terminator), loc=terminator.location
        )
        terminator.erase()
        for _ in self.joins:
            block.erase_argument(len(arguments))
        for name, op in reversed(constraints.items()):
            if not any(True for _ in op.results[0].uses):  # the program computes nothing of it
                del values[name]
                op.erase()
        order = self._sort(block)
        for op, _ in order:
            op.move_before(made)
        for stage, crossing in enumerate(self.boundaries):
            later = next((op for op, s in order if s > stage), made)
            operands = list(dict.fromkeys(values[name] for name in crossing if name in values))
            if operands:
                ir.Operation.create("spmd.stage_boundary", operands=operands, loc=later.location, ip=ir.InsertionPoint(later))

    def _sort(self, block: Any) -> list[tuple[Any, int]]:
        """The ops in an order in which each comes after what it reads, stage by stage, else as they are; with their stages."""
        ops = [op.operation for op in block.operations][:-1]
        numbers = {result: k for k, op in enumerate(ops) for result in op.results}
        read = [{numbers[v] for v in _find_operands(op) if v in numbers} for op in ops]
        readers: list[list[int]] = [[] for _ in ops]
        for k, makers in enumerate(read):
            for maker in makers:
                readers[maker].append(k)
        stages, missing = [0] * len(ops), [len(makers) for makers in read]
        sorted_ops = list[tuple[Any, int]]()
        ready = list[tuple[int, int]]()

        def add(k: int) -> None:
            tag = tags.read(str(ops[k].location)) if self.stages else None
            known = self.stages.get(tag.partition("/")[0]) if tag else None
            stages[k] = max([stages[maker] for maker in read[k]] + ([known] if known is not None else []), default=0)
            heapq.heappush(ready, (stages[k], k))

        for k, count in enumerate(missing):
            if not count:
                add(k)
        while ready:
            stage, k = heapq.heappop(ready)
            sorted_ops.append((ops[k], stage))
            for reader in readers[k]:
                missing[reader] -= 1
                if not missing[reader]:
                    add(reader)
        return sorted_ops


def constrain(ip: Any, value: Any, name: str, sharding: str) -> Any:
    """The value in a sharding, an attribute #spmd.sharding or #spmd.ort."""
    from torch_mlir import ir

    key = "ort" if sharding.startswith("#spmd.ort") else "sharding"
    made = ir.Operation.create(
        "spmd.with_sharding_constraint", results=[value.type], operands=[value],
        attributes={key: ir.Attribute.parse(sharding)}, loc=ir.Location.name(name), ip=ip,
    )  # fmt: skip
    return made.results[0]


def _find_operands(op: Any) -> list[Any]:
    """Also of the ops inside."""
    from torch_mlir import ir

    found = list[Any]()

    def visit(inner: Any) -> Any:
        found.extend(inner.operation.operands)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
    return found


def _tag(value: Any, tag: str, arguments: Mapping[Any, str]) -> tuple[str, int | None]:
    """Where a value is found: the op that makes it gets the tag, if it has none that names a result already."""
    from torch_mlir import ir

    if value in arguments:
        return arguments[value], None
    op = value.owner.operation if hasattr(value.owner, "operation") else value.owner
    number = list(op.results).index(value)
    known = tags.read(str(op.location))
    if known is None or "/" not in known:
        op.location = ir.Location.name(tags.make(tag), childLoc=op.location)
        known = tag
    return known, number
