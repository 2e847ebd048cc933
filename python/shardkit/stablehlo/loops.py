"""Loops and branches."""

from __future__ import annotations

import re
from typing import Sequence

from jaxlib.mlir import ir

from .builder import Builder, i1, owner, replace, shape_of, signless


def _constant_int(value: ir.Value) -> int | None:
    op = owner(value)
    if op is not None and op.name == "stablehlo.constant" and not shape_of(value):
        match = re.fullmatch(r"dense<(-?\d+)> : tensor<u?i\d+>", str(op.attributes["value"]))
        return int(match[1]) if match else None
    return None


def _move_body(source: ir.Block, target: ir.Block) -> ir.Operation:
    """Moves all ops but the terminator, which is returned."""
    ops = list(source.operations)
    for op in ops[:-1]:
        target.append(op)
    return ops[-1].operation


def rewrite_while(op: ir.Operation) -> list[ir.Value]:
    """A counted loop becomes scf.for, any other scf.while. Values that the loop yields unchanged are captured. Returns the
    replacements of the results."""
    cond, body = (region.blocks[0] for region in op.regions)
    inits = list(op.operands)
    returned = list(list(body.operations)[-1].operands)
    for k, init in enumerate(inits):
        if returned[k] == body.arguments[k]:
            cond.arguments[k].replace_all_uses_with(init)
            op.results[k].replace_all_uses_with(init)
    unchanged = [k for k in range(len(inits)) if returned[k] == body.arguments[k]]
    for k in unchanged:
        # The terminator uses it too; it goes with the loop.
        body.arguments[k].replace_all_uses_with(inits[k])
    changed = [k for k in range(len(inits)) if k not in unchanged]
    returned = list(list(body.operations)[-1].operands)
    counter = _find_counter(cond, body, inits, returned, changed)
    b = Builder(op)
    index = ir.IndexType.get()
    if counter is None:
        return _make_while(op, b, cond, body, changed)
    k, low, step, high = counter
    carried = [c for c in changed if c != k]

    def number_of(n: int | ir.Value) -> ir.Value:
        if isinstance(n, int):
            return b.index(n)
        kind = ir.RankedTensorType(signless(n.type)).element_type
        return b.value("arith.index_cast", [b.value("tensor.extract", [b.bitcast(n, signless(n.type))], kind)], index)

    bounds = [number_of(n) for n in (low, high, step)]
    own = [signless(inits[c].type) for c in carried]
    loop = b.op("scf.for", bounds + [b.bitcast(inits[c], t) for c, t in zip(carried, own)], own, regions=1)
    types = [index] + own
    block = loop.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    inner = b.at_end_of(block)
    scalar = signless(inits[k].type)
    number = inner.value("arith.index_cast", [block.arguments[0]], ir.RankedTensorType(scalar).element_type)
    count = inner.bitcast(inner.value("tensor.from_elements", [number], scalar), inits[k].type)
    body.arguments[k].replace_all_uses_with(count)
    for argument, c in zip(list(block.arguments)[1:], carried):
        body.arguments[c].replace_all_uses_with(inner.bitcast(argument, inits[c].type))
    terminator = _move_body(body, block)
    _yield(b.at_end_of(block), [terminator.operands[c] for c in carried])
    if isinstance(high, int):
        last = b.splat(str(low + max(0, -(-(high - low) // step)) * step), inits[k].type)
    else:
        last = b.value("stablehlo.maximum", [high, inits[k]], inits[k].type)
    after = [b.bitcast(r, inits[c].type) for c, r in zip(carried, loop.results)]
    made = dict(zip(carried, after)) | {k: last} | {u: inits[u] for u in unchanged}
    results = [made[i] for i in range(len(inits))]
    replace(op, results)
    return results


def _yield(b: Builder, values: Sequence[ir.Value]) -> None:
    b.op("scf.yield", [b.bitcast(v, signless(v.type)) for v in values])


def _find_counter(
    cond: ir.Block, body: ir.Block, inits: Sequence[ir.Value], returned: Sequence[ir.Value], changed: Sequence[int]
) -> tuple[int, int, int, int | ir.Value] | None:
    """(number, first, step, end) of the value that counts; None if the loop is not counted. An end that is not a number is
    computed before the loop, which counts by one to it."""
    test = owner(list(cond.operations)[-1].operands[0])
    if test is None or test.name != "stablehlo.compare" or "LT" not in str(test.attributes["comparison_direction"]):
        return None
    high: int | ir.Value | None = _constant_int(test.operands[1])
    if high is None and _is_before(test.operands[1], cond):
        high = test.operands[1]
    for k in changed:
        if test.operands[0] != cond.arguments[k] or high is None:
            continue
        low = _constant_int(inits[k])
        add = owner(returned[k])
        if low is None or add is None or add.name != "stablehlo.add" or add.operands[0] != body.arguments[k]:
            return None
        step = _constant_int(add.operands[1])
        if step is None or step <= 0 or low < 0 or (step != 1 and not isinstance(high, int)):
            return None
        return k, low, step, high
    return None


def _is_before(value: ir.Value, cond: ir.Block) -> bool:
    """Whether a value of a condition is the same in all iterations: it is computed outside of the loop."""
    op = owner(value)
    return bool((op.block if op is not None else value.owner) != cond)


def _make_while(op: ir.Operation, b: Builder, cond: ir.Block, body: ir.Block, changed: Sequence[int]) -> list[ir.Value]:
    full = [op.operands[c].type for c in changed]
    types = [signless(t) for t in full]
    loop = b.op("scf.while", [b.bitcast(op.operands[c], t) for c, t in zip(changed, types)], types, regions=2)
    before, after = (region.blocks.append(*types, arg_locs=[op.location] * len(types)) for region in loop.regions)
    for source, target in ((cond, before), (body, after)):
        inner = b.at_end_of(target)
        for argument, c, t in zip(target.arguments, changed, full):
            source.arguments[c].replace_all_uses_with(inner.bitcast(argument, t))
    terminator = _move_body(cond, before)
    inner = b.at_end_of(before)
    test = inner.value("tensor.extract", [terminator.operands[0]], i1())
    inner.op("scf.condition", [test] + list(before.arguments))
    terminator = _move_body(body, after)
    _yield(b.at_end_of(after), [terminator.operands[c] for c in changed])
    made = dict(zip(changed, [b.bitcast(r, t) for r, t in zip(loop.results, full)]))
    results = [made.get(i, op.operands[i]) for i in range(len(op.operands))]
    replace(op, results)
    return results


def rewrite_branch(op: ir.Operation) -> None:
    """stablehlo.if and stablehlo.case: one scf.if for each branch but the last, which takes what is out of range."""
    b = Builder(op)
    choice = op.operands[0]
    full = [r.type for r in op.results]
    types = [signless(t) for t in full]
    branches = [region.blocks[0] for region in op.regions]

    def fill(b: Builder, block: ir.Block, target: ir.Block) -> None:
        terminator = _move_body(block, target)
        _yield(b.at_end_of(target), list(terminator.operands))

    is_if = op.name == "stablehlo.if"
    count = 1 if is_if else len(branches) - 1

    def test(b: Builder, n: int) -> ir.Value:
        same = choice if is_if else b.compare("EQ", "SIGNED", choice, b.splat(str(n), choice.type))
        return b.value("tensor.extract", [same], i1())

    def chain(b: Builder, n: int) -> list[ir.Value]:
        made = b.op("scf.if", [test(b, n)], types, regions=2)
        fill(b, branches[n], made.regions[0].blocks.append())
        rest = made.regions[1].blocks.append()
        if n + 1 == count:
            fill(b, branches[n + 1], rest)
        else:
            inner = b.at_end_of(rest)
            values = chain(inner, n + 1)
            b.at_end_of(rest).op("scf.yield", values)
        return list(made.results)

    if len(branches) == 1:  # a case of one branch
        terminator = list(branches[0].operations)[-1].operation
        for inner in list(branches[0].operations)[:-1]:
            inner.operation.move_before(op)
        replace(op, list(terminator.operands))
        return
    replace(op, [b.bitcast(r, t) for r, t in zip(chain(b, 0), full)])
