"""Large constants of a module, which the lowering does not see: an op names them in their place."""

from __future__ import annotations

import re

import numpy as np
from jaxlib.mlir import ir

from ..constants import LARGE, Constants, add_constant
from .builder import Builder, element, is_complex, is_float, replace, shape_of, signless, walk
from .indices import LARGEST_EVALUATED


def detach(root: ir.Operation) -> Constants:
    """Takes large constants out of a module, each once."""
    constants: Constants = {}
    with root.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        for op in walk(root):
            if op.name != "stablehlo.constant" or not _is_large(op.results[0]) or (elements := _read(op)) is None:
                continue
            b, type = Builder(op), op.results[0].type
            name = ir.StringAttr.get(add_constant(constants, elements))
            replace(op, [b.bitcast(b.value("shardkit.constant", [], signless(type), {"resource": name}), type)])
    return constants


def write_resources(text: str) -> str:
    """The constants of `detach` as constants, in the generic form of the lowered module."""
    return re.sub(r'"shardkit\.constant"\(\) (?:<?\{resource = "(\w+)"\}>?) : \(\) -> (tensor<(?:[^<>]|<[^<>]*>)*>)',
                  r'"arith.constant"() <{value = dense_resource<\1> : \2}> : () -> \2', text)  # fmt: skip


def _is_large(value: ir.Value) -> bool:
    kind, count = element(value), int(np.prod(shape_of(value)))
    if is_complex(kind):
        return count * 8 > LARGE and isinstance(ir.ComplexType(kind).element_type, ir.F32Type)
    if is_float(kind):
        return bool(kind.width >= 16 and count * kind.width > 8 * LARGE)
    if not isinstance(kind, ir.IntegerType) or 1 < kind.width < 8:
        return False
    # Others may be indices, which decide what an op becomes.
    return bool(count * max(8, kind.width) > 8 * LARGE and (count > LARGEST_EVALUATED or kind.width == 1))


def _read(op: ir.Operation) -> np.ndarray | None:
    """The elements, unless all are equal."""
    kind = element(op.results[0])
    if is_complex(kind) or isinstance(kind, ir.BF16Type):  # the bindings have no arrays of these
        digits = re.search(r'dense<"0x(\w*)"', op.get_asm())
        return np.frombuffer(bytes.fromhex(digits[1]), np.uint8) if digits else None
    elements = ir.DenseElementsAttr(op.attributes["value"])
    return None if elements.is_splat else np.array(elements)
