"""Ops that the lowering of StableHLO to linalg does not take, rewritten before it.

Each rewrite turns one op into ops that the lowering has, or into ops of linalg, scf and math that it lets pass.
"""

from __future__ import annotations

import re
from typing import Callable

from jaxlib.mlir import ir

from . import STAGE_MARK
from .builder import Builder, apply_body, attribute_names, element, owner, replace, shape_of, stored, walk
from .cumulative import rewrite_reduce_window
from .fft import rewrite_fft
from .indices import rewrite_gather, share_dims_of_scatter
from .loops import rewrite_branch, rewrite_while
from .scatter import rewrite_scatter, rewrite_select_and_scatter
from .sorting import rewrite_sort, rewrite_top_k
from .special import FORMULAS, rewrite_hyperbolic, rewrite_next_after

# --- functions of numbers -------------------------------------------------------------------------

"""Functions of floats that MLIR's math dialect has as well. They keep their names through the lowering, which would expand them."""
MATH = {
    "chlo.erf": "math.erf", "chlo.erfc": "math.erfc", "chlo.acos": "math.acos", "chlo.acosh": "math.acosh",
    "chlo.asin": "math.asin", "chlo.asinh": "math.asinh", "chlo.atan": "math.atan", "chlo.atanh": "math.atanh",
    "chlo.cosh": "math.cosh", "chlo.sinh": "math.sinh", "chlo.tan": "math.tan",
}  # fmt: skip


def rename_math(text: str) -> str:
    """The functions of `MATH` in the generic form of a lowered module."""
    return re.sub(r'"(chlo\.\w+)"\((%[\w#]+)\) : (\(tensor<(?:\d+x)*b?f\d+>\))',
                  lambda m: f'"{MATH[m[1]]}"({m[2]}) : {m[3]}' if m[1] in MATH else m[0], text)  # fmt: skip


def rewrite_square(op: ir.Operation) -> None:
    replace(op, [Builder(op).value("stablehlo.multiply", [op.operands[0]] * 2, op.results[0].type)])


FLOATS = {"f16": (11, 65504.0), "bf16": (8, float.fromhex("0x1.fep+127")), "f32": (24, float.fromhex("0x1.fffffep+127")),
          "f64": (53, float.fromhex("0x1.fffffffffffffp+1023"))}  # fmt: skip
"""Bits of the significand, and the largest number."""


def rewrite_convert(op: ir.Operation) -> None:
    """Floats beyond an integer type become its ends, and NaN 0, as XLA has it: the lowering has no value for them."""
    x, type = op.operands[0], op.results[0].type
    match = re.fullmatch(r"(ui|i)(\d+)", str(element(op.results[0])))
    if str(element(x)) not in FLOATS or not match or match[2] == "1":
        return
    bits, largest = FLOATS[str(element(x))]
    width = int(match[2])
    low, high = (0, 2**width - 1) if match[1] == "ui" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    power = (high + 1).bit_length() - 1
    top = min(high if power <= bits else 2**power - 2 ** (power - bits), int(largest))  # what fits, of this many bits
    b = Builder(op)

    def c(number: float) -> ir.Value:
        return b.fill(repr(float(number)), x)

    number = b.select(b.compare("EQ", "FLOAT", x, x), x, c(0))
    inside = b.value("stablehlo.clamp", [c(max(low, -int(largest))), number, c(top)], x.type)
    result = b.value("stablehlo.convert", [inside], type)
    if top < high:
        result = b.select(b.compare("GT", "FLOAT", number, c(top)), b.fill(str(high), result), result)
    if -largest > low:
        result = b.select(b.compare("LT", "FLOAT", number, c(-largest)), b.fill(str(low), result), result)
    replace(op, [result])


# --- types at boundaries ----------------------------------------------------------------------------


def store_signatures(module: ir.Module) -> None:
    """Functions take and return integers without a sign, of the same bits: linalg has no others; and 8-bit floats as bytes."""
    for func in [op.operation for op in module.body.operations if op.operation.name == "func.func"]:
        type = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)
        changed = ir.FunctionType.get([stored(t) for t in type.inputs], [stored(t) for t in type.results])
        if changed == type or not func.regions[0].blocks:
            continue
        func.attributes["function_type"] = ir.TypeAttr.get(changed)
        block = func.regions[0].blocks[0]
        b = object.__new__(Builder)
        b.ip, b.loc = ir.InsertionPoint.at_block_begin(block), func.location
        for argument in block.arguments:
            old, new = argument.type, stored(argument.type)
            if old != new:
                argument.set_type(new)
                cast = b.bitcast(argument, old)
                argument.replace_all_uses_except(cast, owner(cast))
        terminator = list(block.operations)[-1].operation
        b = Builder(terminator)
        for i, value in enumerate(terminator.operands):
            terminator.operands[i] = b.bitcast(value, stored(value.type))
    for call in [op for op in walk(module.operation) if op.name == "func.call"]:
        b = Builder(call)
        types = [r.type for r in call.results]
        made = b.op("func.call", [b.bitcast(v, stored(v.type)) for v in call.operands], [stored(t) for t in types], {
            "callee": call.attributes["callee"]
        })  # fmt: skip
        replace(call, [b.bitcast(r, t) for r, t in zip(made.results, types)])


def rewrite_annotation(op: ir.Operation) -> None:
    """Annotations of unsigned integers and 8-bit floats hold for signed integers of the same bits."""
    values = [*op.operands, *op.results]
    if all(stored(v.type) == v.type for v in values):
        return
    b = Builder(op)
    made = b.op(
        op.name, [b.bitcast(v, stored(v.type)) for v in op.operands], [stored(r.type) for r in op.results],
        {name: op.attributes[name] for name in attribute_names(op)},
    )  # fmt: skip
    replace(op, [b.bitcast(new, old.type) for old, new in zip(op.results, made.results)])


# --- odd sizes ------------------------------------------------------------------------------------


def makes_nothing(op: ir.Operation) -> bool:
    """Whether the results of an op that computes have no elements."""
    if not op.name.startswith(("stablehlo.", "chlo.")) or op.name in ("stablehlo.custom_call", "stablehlo.return") or not op.results:
        return False
    types = [r.type for r in op.results]
    return all(isinstance(t, ir.RankedTensorType) and t.has_static_shape and 0 in t.shape for t in types)


def rewrite_empty(op: ir.Operation) -> None:
    """Nothing is constant: linalg's slices, for one, begin within their tensor."""
    replace(op, [Builder(op).value("tensor.empty", [], r.type) for r in op.results])


def rewrite_pad(op: ir.Operation) -> None:
    """Nothing with padding around it is padding."""
    if 0 in shape_of(op.operands[0]):
        replace(op, [Builder(op).broadcast(op.operands[1], shape_of(op.results[0]), [])])


def rewrite_reduce(op: ir.Operation) -> None:
    """A reduction over no dims combines each element with the initial one, one over no elements is that one."""
    b = Builder(op)
    values, inits = op.operands[: len(op.operands) // 2], op.operands[len(op.operands) // 2 :]
    shape, dims = shape_of(values[0]), ir.DenseI64ArrayAttr(op.attributes["dimensions"])
    if any(shape[d] == 0 for d in dims):
        replace(op, [b.broadcast(v, shape_of(r), []) for v, r in zip(inits, op.results)])
    elif not dims:
        replace(op, apply_body(b, op, [b.broadcast(v, shape, []) for v in inits] + list(values)))


# --- markers --------------------------------------------------------------------------------------


def rewrite_barrier(op: ir.Operation) -> None:
    """Our marker of a stage boundary; any other barrier is about how XLA orders its work."""
    if STAGE_MARK in op.attributes:
        is_backward = ir.StringAttr(op.attributes[STAGE_MARK]).value == "backward"
        Builder(op).op("shardkit.spmd.stage_boundary", list(op.operands), [], {"backward": "unit"} if is_backward else {})
    replace(op, list(op.operands))


def rewrite_scatter_of_elements(op: ir.Operation) -> None:
    share_dims_of_scatter(op)
    rewrite_scatter(op)


# --- all ------------------------------------------------------------------------------------------

REWRITES: dict[str, Callable[[ir.Operation], object]] = {
    **FORMULAS,
    "chlo.square": rewrite_square,
    "stablehlo.convert": rewrite_convert,
    "chlo.sinh": rewrite_hyperbolic,
    "chlo.cosh": rewrite_hyperbolic,
    "chlo.next_after": rewrite_next_after,
    "chlo.top_k": rewrite_top_k,
    "stablehlo.sort": rewrite_sort,
    "stablehlo.fft": rewrite_fft,
    "stablehlo.gather": rewrite_gather,
    "stablehlo.scatter": rewrite_scatter_of_elements,
    "stablehlo.select_and_scatter": rewrite_select_and_scatter,
    "stablehlo.pad": rewrite_pad,
    "stablehlo.reduce": rewrite_reduce,
    "stablehlo.reduce_window": rewrite_reduce_window,
    "stablehlo.while": rewrite_while,
    "stablehlo.case": rewrite_branch,
    "stablehlo.if": rewrite_branch,
    "stablehlo.optimization_barrier": rewrite_barrier,
    "sdy.sharding_constraint": rewrite_annotation,
    "sdy.sharding_group": rewrite_annotation,
    "sdy.propagation_barrier": rewrite_annotation,
    "sdy.reshard": rewrite_annotation,
    "shardkit.manual": rewrite_annotation,
}


def rewrite_module(module: ir.Module) -> None:
    """Runs all rewrites, inner ops first, so that a loop is moved when what is in it is done."""
    with module.context, ir.Location.unknown():
        store_signatures(module)
        for op in reversed(walk(module.operation)):
            rewrite = rewrite_empty if makes_nothing(op) else REWRITES.get(op.name)
            if rewrite:
                rewrite(op)
