"""Residual ops of the lowering of PyTorch and ONNX to linalg: the dialect tm_tensor, on torch-mlir's bindings.

Each becomes a call of a private function that is written as text."""

from __future__ import annotations

import re
from typing import Any, Sequence

from ..errors import ShardKitError, is_users
from ..formulas.blocks import LONGEST_WINDOW, get_block


def lower_residual_ops(module: Any) -> None:
    from torch_mlir import ir

    lowerings = {"tm_tensor.sort": _sort, "tm_tensor.scan": _scan, "tm_tensor.scatter": _scatter}
    for op in _find(module.operation, ("tm_tensor.", "ml_program.", "torch.", "onnx.")):
        if op.name not in lowerings:
            what = "random numbers have" if op.name.startswith("ml_program.") else f"{op.name} has"
            hint = ": take them as an input, in PyTorch also call module.eval()" if op.name.startswith("ml_program.") else ""
            raise fail(op, f"{what} no lowering to linalg", f"ops that have one{hint}")
        _check_sizes(op)
        operands, results, body = lowerings[op.name](op)
        number = len(list(module.body.operations))
        name = f"shardkit_{op.name.split('.')[1]}_{number}"
        names = [f"%v{i}" for i in range(len(operands))]
        arguments = ", ".join(f"{n}: {v.type}" for n, v in zip(names, operands))
        types = ", ".join(str(r.type) for r in results)
        text = f"func.func private @{name}({arguments}) -> ({types}) {{\n{body}\n}}"
        made = ir.Module.parse(text, module.context)
        function = list(made.body.operations)[0].operation.clone(ip=ir.InsertionPoint(module.body))

        def position(inner: Any, location: Any = op.location) -> Any:
            inner.operation.location = location
            return ir.WalkResult.ADVANCE

        function.walk(position)
        call = ir.Operation.create(
            "func.call", results=[r.type for r in results], operands=operands,
            attributes={"callee": ir.FlatSymbolRefAttr.get(name)}, ip=ir.InsertionPoint(op), loc=op.location,
        )  # fmt: skip
        for old, new in zip(results, call.results):
            old.replace_all_uses_with(new)
        op.erase()


def _check_sizes(op: Any) -> None:
    shapes = [_shape(v) for v in [*op.operands, *op.results]]
    if op.name == "tm_tensor.sort":
        shapes = [[shape[_dim(op)]] for shape in shapes]
    if op.name != "tm_tensor.scan" and any(_UNKNOWN in shape for shape in shapes):
        along = " along the dim that is sorted" if op.name == "tm_tensor.sort" else ""
        raise fail(op, f"{op.name} takes a tensor whose size is not known{along}", "known sizes")


def fail(op: Any, fact: str, expected: str) -> ShardKitError:
    lines = re.findall(r'"([^"]+\.\w+)":(\d+)', str(op.location))  # innermost first
    own = [p for p in lines if is_users(p[0])]
    where = ":".join((own or lines)[0]) + ": " if lines else ""
    return ShardKitError(f"{where}error: {fact}, expected {expected}")


def _find(op: Any, prefixes: tuple[str, ...]) -> list[Any]:
    found = []
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                if inner.operation.name.startswith(prefixes) and inner.operation.name != "ml_program.global":
                    found.append(inner.operation)
                else:
                    found += _find(inner.operation, prefixes)
    return found


Lowering = tuple[Sequence[Any], Sequence[Any], str]
"""Operands, results and body of a function."""


_UNKNOWN = -1


def _shape(value: Any) -> list[int]:
    from torch_mlir import ir

    type = ir.RankedTensorType(value.type)
    return [_UNKNOWN if type.is_dynamic_dim(d) else type.get_dim_size(d) for d in range(type.rank)]


def _element(value: Any) -> str:
    from torch_mlir import ir

    return str(ir.RankedTensorType(value.type).element_type)


def _tensor(shape: Sequence[int], kind: str) -> str:
    return f"tensor<{''.join(f'{_spell(s)}x' for s in shape)}{kind}>"


def _spell(size: int) -> str:
    return "?" if size == _UNKNOWN else str(size)


def _map(count: int, results: Sequence[int]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(count))}) -> ({', '.join(f'd{i}' for i in results)})>"


def _iterators(parallel: int, reduction: int) -> str:
    return "[" + ", ".join(['"parallel"'] * parallel + ['"reduction"'] * reduction) + "]"


def _dim(op: Any) -> int:
    from torch_mlir import ir

    return int(ir.IntegerAttr(op.attributes["dimension"]).value)


# --- sort -----------------------------------------------------------------------------------------


def _sort(op: Any) -> Lowering:
    """The comparator of the first values gives the direction, with or without equals. As in PyTorch, NaN is larger
    than all numbers, and equals keep their order."""
    values = list(op.results)
    operands = list(op.operands)[-len(values) :]
    compare = list(op.regions[0].blocks[0].operations)[0].operation
    number = int(str(compare.attributes["predicate"]).split(" ")[0]) if "predicate" in compare.attributes else -1
    less, greater = {"arith.cmpf": ((4, 5), (2, 3)), "arith.cmpi": ((2, 3, 6, 7), (4, 5, 8, 9))}.get(compare.name, ((), ()))
    if number not in less + greater or len(list(op.regions[0].blocks[0].operations)) != 2:
        raise fail(op, "the comparator of tm_tensor.sort does not compare the first values", "one that is")
    kinds = [_element(v) for v in values]
    first, second = ("%a0", "%b0") if number in less else ("%b0", "%a0")  # is the first less?
    if "f" in kinds[0]:
        before = f"""
      %less = arith.cmpf olt, {first}, {second} : {kinds[0]}
      %number = arith.cmpf ord, {first}, {first} : {kinds[0]}
      %nan = arith.cmpf uno, {second}, {second} : {kinds[0]}
      %last = arith.andi %number, %nan : i1
      %before = arith.ori %less, %last : i1"""
    else:
        unsigned = compare.name == "arith.cmpi" and number > 5
        before = f"""
      %before = arith.cmpi {"ult" if unsigned else "slt"}, {first}, {second} : {kinds[0]}"""
    arguments = ", ".join(f"%a{k}: {kind}, %b{k}: {kind}" for k, kind in enumerate(kinds))
    names, types = ", ".join(f"%v{k}" for k in range(len(values))), ", ".join(str(v.type) for v in values)
    returned = ", ".join(f"%r#{k}" for k in range(len(values))) if len(values) > 1 else "%r"
    return operands, values, f"""
    %r{f":{len(values)}" if len(values) > 1 else ""} = "spmd.sort"({names}) ({{
    ^bb0({arguments}):{before}
      "spmd.yield"(%before) : (i1) -> ()
    }}) {{dimension = {_dim(op)} : i64}} : ({types}) -> ({types})
    return {returned} : {types}"""


# --- scan and scatter -----------------------------------------------------------------------------

_NEUTRAL = {
    "arith.addf": "-0.0", "arith.mulf": "1.0", "arith.addi": "0", "arith.muli": "1", "arith.ori": "0", "arith.andi": "-1",
}  # fmt: skip
_OF_BOOLEANS = {
    "arith.addi": "arith.ori", "arith.maxui": "arith.ori", "arith.maxsi": "arith.ori", "arith.muli": "arith.andi",
    "arith.minui": "arith.andi", "arith.minsi": "arith.andi",
}  # fmt: skip
_EXTREME = ("arith.maximumf", "arith.minimumf", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui")


def _combination(op: Any) -> str:
    """The one op of the region, empty where it returns its first argument."""
    block = op.regions[0].blocks[0]
    *body, terminator = [inner.operation for inner in block.operations]
    if not body and terminator.operands[0] == block.arguments[0]:
        return ""
    if len(body) != 1 or body[0].name not in (*_NEUTRAL, *_EXTREME) or set(body[0].operands) != set(block.arguments):
        raise fail(op, f"the region of {op.name} has no lowering", "a sum, product, maximum or minimum, or the new value")
    name = str(body[0].name)
    return _OF_BOOLEANS.get(name, name) if str(block.arguments[0].type) == "i1" else name


def _scan(op: Any) -> Lowering:
    """Each element of the result combines the elements up to it; in blocks where it is known that there are many."""
    value = op.operands[0]
    out, last = op.results
    combine = _combination(op)
    if list(last.uses) or str(op.attributes["inclusive"]) != "true" or combine not in _NEUTRAL:
        raise fail(op, "tm_tensor.scan has no lowering", "an inclusive sum or product without its last value")
    kind = _element(value)
    lines = [f"%neutral = arith.constant {_NEUTRAL[combine]} : {kind}"]
    result = _accumulate(lines, "%v0", _shape(value), _dim(op), kind, combine, "ule")
    return [value], [out], "\n    ".join(["", *lines, f"return {result} : {value.type}"])


def _accumulate(lines: list[str], value: str, shape: list[int], dim: int, kind: str, combine: str, up_to: str) -> str:
    """Adds the ops that compute it to `lines`. `up_to` is ule, or ult where the element itself does not count."""
    n, rank, at = shape[dim], len(shape), f"%s{len(lines)}"
    own, type = list(range(rank)), _tensor(shape, kind)
    if n <= LONGEST_WINDOW or _UNKNOWN in shape:
        unknown = [d for d in own if shape[d] == _UNKNOWN]
        for d in unknown:
            lines += [f"{at}i{d} = arith.constant {d} : index", f"{at}n{d} = tensor.dim {value}, {at}i{d} : {type}"]
        lines.append(f"""{at}e = tensor.empty({", ".join(f"{at}n{d}" for d in unknown)}) : {type}
    {at}f = linalg.fill ins(%neutral : {kind}) outs({at}e : {type}) -> {type}
    {at} = linalg.generic {{indexing_maps = [{_map(rank + 1, [rank if d == dim else d for d in own])}, {_map(rank + 1, own)}],
        iterator_types = {_iterators(rank, 1)}}} ins({value} : {type}) outs({at}f : {type}) {{
    ^bb0(%a: {kind}, %sum: {kind}):
      %i = linalg.index {dim} : index
      %j = linalg.index {rank} : index
      %counts = arith.cmpi {up_to}, %j, %i : index
      %given = arith.select %counts, %a, %neutral : {kind}
      %more = {combine} %sum, %given : {kind}
      linalg.yield %more : {kind}
    }} -> {type}""")
        return at
    block = get_block(n)
    count = -(-n // block)
    padded, zeros = shape[:dim] + [count * block] + shape[dim + 1 :], ", ".join("0" * rank)
    if padded != shape:
        high = ", ".join(str(p - s) for p, s in zip(padded, shape))
        indices = ", ".join(f"%i{d}: index" for d in own)
        lines.append(f"""{at}p = tensor.pad {value} low[{zeros}] high[{high}] {{
    ^bb0({indices}):
      tensor.yield %neutral : {kind}
    }} : {type} to {_tensor(padded, kind)}""")
        value = f"{at}p"
    blocks, ends = shape[:dim] + [count, block] + shape[dim + 1 :], shape[:dim] + [count] + shape[dim + 1 :]
    joined = "[" + ", ".join(f"[{d}, {d + 1}]" if d == dim else f"[{d + (d > dim)}]" for d in own) + "]"
    wide, narrow = _tensor(blocks, kind), _tensor(ends, kind)
    lines.append(f"""{at}b = tensor.expand_shape {value} {joined} output_shape [{", ".join(map(str, blocks))}] : {_tensor(padded, kind)} into {wide}
    {at}e = tensor.empty() : {narrow}
    {at}f = linalg.fill ins(%neutral : {kind}) outs({at}e : {narrow}) -> {narrow}
    {at}t = linalg.reduce {{ {combine} }} ins({at}b : {wide}) outs({at}f : {narrow}) dimensions = [{dim + 1}]""")
    inside = _accumulate(lines, f"{at}b", blocks, dim + 1, kind, combine, up_to)
    before = _accumulate(lines, f"{at}t", ends, dim, kind, combine, "ult")
    all_dims = range(rank + 1)
    lines.append(f"""{at}o = tensor.empty() : {wide}
    {at}w = linalg.generic {{indexing_maps = [{_map(rank + 1, [d for d in all_dims if d != dim + 1])}, {_map(rank + 1, all_dims)}, {_map(rank + 1, all_dims)}],
        iterator_types = {_iterators(rank + 1, 0)}}} ins({before}, {inside} : {narrow}, {wide}) outs({at}o : {wide}) {{
    ^bb0(%a: {kind}, %b: {kind}, %old: {kind}):
      %more = {combine} %a, %b : {kind}
      linalg.yield %more : {kind}
    }} -> {wide}
    {at} = tensor.collapse_shape {at}w {joined} : {wide} into {_tensor(padded, kind)}""")
    if padded == shape:
        return at
    sizes, ones = ", ".join(map(str, shape)), ", ".join("1" * rank)
    lines.append(f"{at}c = tensor.extract_slice {at}[{zeros}] [{sizes}] [{ones}] : {_tensor(padded, kind)} to {type}")
    return f"{at}c"


def _scatter(op: Any) -> Lowering:
    """Each element reads all updates: one counts where its index, counted from the end if it is negative, is that of the element."""
    from torch_mlir import ir

    updates, indices, original = op.operands
    dims = list(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    shape, window = _shape(original), _shape(updates)[1:]
    rank = len(shape)
    window = [1] * (rank - len(window)) + window
    if any(size != (1 if d in dims else shape[d]) for d, size in enumerate(window)):
        raise fail(op, f"tm_tensor.scatter writes windows of {window} into {original.type}", "single elements of the dims that are addressed")
    combine, kind, index_kind = _combination(op), _element(original), _element(indices)
    count = _shape(updates)[0]
    kept = [d for d in range(rank) if d not in dims]
    rows, column = _tensor([count, *(shape[d] for d in kept)], kind), _tensor([count], index_kind)
    sizes = _shape(updates)
    zeros, ones = ", ".join("0" * len(sizes)), ", ".join("1" * len(sizes))
    text = f"\n    %rows = tensor.extract_slice %v0[{zeros}] [{', '.join(map(str, sizes))}] [{ones}] : {updates.type} to {rows}"
    for k in range(len(dims)):
        text += f"\n    %at{k} = tensor.extract_slice %v1[0, {k}] [{count}, 1] [1, 1] : {indices.type} to {column}"
    maps = [_map(rank + 1, [rank])] * len(dims) + [_map(rank + 1, [rank, *kept]), _map(rank + 1, range(rank))]
    text += f"""
    %r = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = {_iterators(rank, 1)}}}
        ins({", ".join(f"%at{k}" for k in range(len(dims)))}, %rows : {", ".join([column] * len(dims))}, {rows}) outs(%v2 : {original.type}) {{
    ^bb0({", ".join(f"%p{k}: {index_kind}" for k in range(len(dims)))}, %new: {kind}, %old: {kind}):
      %here = arith.constant true"""
    here = "%here"
    for k, d in enumerate(dims):
        text += f"""
      %i{k} = linalg.index {d} : index
      %w{k} = arith.index_cast %p{k} : {index_kind} to index
      %size{k} = arith.constant {shape[d]} : index
      %first{k} = arith.constant 0 : index
      %end{k} = arith.addi %w{k}, %size{k} : index
      %back{k} = arith.cmpi slt, %w{k}, %first{k} : index
      %index{k} = arith.select %back{k}, %end{k}, %w{k} : index
      %same{k} = arith.cmpi eq, %i{k}, %index{k} : index
      %here{k} = arith.andi {here}, %same{k} : i1"""
        here = f"%here{k}"
    other = "%old"  # an extreme of the old element with itself changes nothing
    if combine in _NEUTRAL:
        other = "%neutral"
        text += f"\n      %neutral = arith.constant {_NEUTRAL[combine]} : {kind}"
    text += f"\n      %given = arith.select {here}, %new, {other} : {kind}"
    text += f"\n      %r = {combine} %old, %given : {kind}\n      linalg.yield %r : {kind}" if combine else f"\n      linalg.yield %given : {kind}"
    return [updates, indices, original], [op.results[0]], text + f"\n    }} -> {original.type}\n    return %r : {original.type}"
