"""Annotations in a module that torch-mlir lowered, on its bindings."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Sequence

from ..model import Argument, Result
from ..planning import tags
from .joins import Joins, constrain
from .residual_ops import lower_residual_ops


@dataclasses.dataclass(frozen=True)
class Inner:
    """`count` values inside of a function that are returned after its results, so that they are found again: one that a sharding
    of this name constrains, or what crosses between two pipeline stages, where the name is forward or backward, or one whose layout
    is asked for."""

    name: str
    count: int = 1
    is_boundary: bool = False
    is_tagged: bool = False


def find_body(module: Any) -> Any:
    """The function with a body; functions without are what a lowering declared."""
    return next(op for op in module.body.operations if op.operation.name == "func.func" and len(op.regions[0].blocks))


def annotate(
    text: str,
    arguments: Sequence[Argument],
    results: Sequence[Result],
    shardings: Mapping[str, str],
    inner: Sequence[Inner],
    mesh: str = "",
    tagged: dict[str, str] | None = None,
    joins: Joins | None = None,
    sizes: Any = None,
) -> str:
    """Names the arguments and results of the only function of a lowered module, and writes their shardings.

    `shardings`: attributes by name, #spmd.sharding or #spmd.ort. `inner`: the results past `results`, which are marked where they
    are made, and results no more. `mesh`: an spmd.mesh in generic form. `tagged` is filled: the tag of what each tagged one is in,
    or the name of the argument that it is. `joins`: of the arguments past `arguments`, in place of `inner`. `sizes` (torch/sizes.py): the names and bounds of
    sizes that only the run knows."""
    from torch_mlir import ir

    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        lower_residual_ops(module)
        func = find_body(module)
        block = func.regions[0].blocks[0]
        if joins:
            joins.apply(block, [a.name for a in arguments], [r.name for r in results])

        def describe(kind: str, name: str, more: str = "") -> Any:
            sharding = f", spmd.sharding = {shardings[name]}" if name in shardings else ""
            return ir.Attribute.parse(f"{{spmd.{kind} = {ir.StringAttr.get(name)}{sharding}{more}}}")

        ranges = _find_ranges(block, len(arguments))
        attributes = []
        for a, r in zip(arguments, ranges, strict=True):
            entries = {e.name: e.attr for e in ir.DictAttr(describe("weight" if a.is_weight else "name", a.name))}
            if a.sources:
                entries["spmd.weight"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in a.sources]) if a.load else ir.StringAttr.get(a.sources[0])
            if a.load:
                entries |= {"spmd.name": ir.StringAttr.get(a.name), "spmd.load": ir.FlatSymbolRefAttr.get(a.load)}
            if r:
                entries["spmd.range"] = ir.Attribute.parse(f"[0, {r}]")
            if sizes and -1 in a.shape:
                entries["spmd.symbols"] = ir.ArrayAttr.get([ir.StringAttr.get(n) for n in sizes.symbols(a.name, len(a.shape))])
            if a.is_batch:
                entries["spmd.microbatch"] = ir.Attribute.parse("#spmd.microbatch<dim = 0>")
            attributes.append(ir.DictAttr.get(entries))
        func.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        if sizes:
            bounds = ", ".join(f"{name} = [{least}, {most}]" for name, (least, most) in sizes.bounds().items())
            func.attributes["spmd.bounds"] = ir.Attribute.parse(f"{{{bounds}}}")
        func.attributes["res_attrs"] = ir.ArrayAttr.get([describe("name", r.name, "" if r.tied is None else f", spmd.tied = {r.tied} : i64") for r in results])
        terminator = list(block.operations)[-1].operation
        values = list(terminator.operands)
        rest = iter(values[len(results) :])
        for mark in inner:
            found = [next(rest) for _ in range(mark.count)]
            if mark.is_tagged:
                assert tagged is not None
                tagged[mark.name] = _tag(found[0], mark.name, arguments)
            elif mark.is_boundary:
                _mark_boundary(block, found, mark.name == "backward")
            elif len(list(found[0].uses)) > 1:  # else reshapes were joined: nothing reads it, so it is not there to be sharded
                made = constrain(_behind(block, [found[0]]), found[0], mark.name, shardings[mark.name])
                found[0].replace_all_uses_except(made, [made.owner.operation])
        kept = list(terminator.operands)[: len(results)]
        ir.Operation.create("func.return", operands=kept, ip=ir.InsertionPoint(terminator), loc=terminator.location)
        terminator.erase()
        type = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in kept])
        func.attributes["function_type"] = ir.TypeAttr.get(type)
        lowered = str(module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True))
        return lowered.replace("({\n", "({\n" + mesh, 1) if mesh else lowered


def _tag(value: Any, name: str, arguments: Sequence[Argument]) -> str:
    """Names what makes a value, in its location. Of a reshape, which others were joined with, it is what is reshaped."""
    from torch_mlir import ir

    while not isinstance(value.owner, ir.Block) and value.owner.name in ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast"):
        value = value.owner.operands[0]
    if isinstance(value.owner, ir.Block):
        return arguments[int(ir.BlockArgument(value).arg_number)].name
    op = value.owner.operation if hasattr(value.owner, "operation") else value.owner
    known = tags.read(str(op.location))
    if known is None:
        op.location = ir.Location.name(tags.make(name), childLoc=op.location)
    return known or name


def _mark_boundary(block: Any, values: Sequence[Any], is_backward: bool) -> None:
    from torch_mlir import ir

    ir.Operation.create(
        "spmd.stage_boundary", operands=list(dict.fromkeys(values)), attributes={"backward": ir.UnitAttr.get()} if is_backward else {},
        loc=values[0].location, ip=_behind(block, values),
    )  # fmt: skip


def _behind(block: Any, values: Sequence[Any]) -> Any:
    """Where all of them have been made."""
    from torch_mlir import ir

    ops = [op.operation for op in block.operations]
    makers = [v.owner.operation for v in values if isinstance(v.owner, (ir.Operation, ir.OpView))]
    return ir.InsertionPoint(ops[max(map(ops.index, makers)) + 1]) if makers else ir.InsertionPoint.at_block_begin(block)


_KEEPING = ("arith.select", "arith.index_cast", "arith.extsi", "arith.trunci")


def _find_ranges(block: Any, count: int) -> list[int | None]:
    """Per argument of integers the number of elements that it addresses: the size of a tensor that a body reads at one of its elements, as they
    are or with some replaced."""
    from torch_mlir import ir

    found: list[int | None] = [None] * count
    numbers = dict(zip(block.arguments, range(count)))
    for op in block.operations:
        if op.operation.name in ("tensor.expand_shape", "tensor.collapse_shape") and op.operands[0] in numbers:
            numbers[op.results[0]] = numbers[op.operands[0]]
        if op.operation.name != "linalg.generic":
            continue
        body = op.regions[0].blocks[0]
        from_element, kept = {}, set()
        for element, operand in zip(body.arguments, op.operands):
            if operand in numbers and isinstance(element.type, ir.IntegerType):
                from_element[element] = numbers[operand]
                kept.add(element)
        for inner in body.operations:
            for value in inner.operands:
                if value in from_element:
                    for result in inner.results:
                        from_element[result] = from_element[value]
                if value in kept and inner.operation.name in _KEEPING:
                    kept.update(inner.results)
            if inner.operation.name == "tensor.extract":
                shape = ir.RankedTensorType(inner.operands[0].type).shape
                for d, index in enumerate(list(inner.operands)[1:]):
                    if index in from_element:
                        i = from_element[index]
                        found[i] = min(shape[d], found[i] or shape[d])
            if inner.operation.name == "linalg.yield":
                numbers.update({r: from_element[v] for r, v in zip(op.results, inner.operands) if v in kept and v.type != ir.IntegerType.get_signless(1)})
    return found
