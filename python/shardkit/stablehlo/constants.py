"""Large constants of a module, which the lowering does not see: an op names them in their place."""

from __future__ import annotations

import re

import numpy as np
from jaxlib.mlir import ir

from ..constants import LARGE, Constants, add_constant
from .builder import Builder, element, is_float, is_unsigned, replace, shape_of, signless, walk
from .indices import LARGEST_EVALUATED


def detach(root: ir.Operation) -> Constants:
    """Takes large constants out of a module, each once."""
    constants: Constants = {}
    with root.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        for op in walk(root):
            if op.name != "stablehlo.constant" or not _is_large(op.results[0]) or ir.DenseElementsAttr(op.attributes["value"]).is_splat:
                continue
            b, type = Builder(op), op.results[0].type
            name = ir.StringAttr.get(add_constant(constants, _read(op.attributes["value"], element(op.results[0]))))
            replace(op, [b.bitcast(b.value("shardkit.constant", [], signless(type), {"resource": name}), type)])
    return constants


def write_resources(text: str) -> str:
    """The constants of `detach` as constants, in the generic form of the lowered module."""
    return re.sub(r'"shardkit\.constant"\(\) (?:<?\{resource = "(\w+)"\}>?) : \(\) -> (tensor<[^>]*>)',
                  r'"arith.constant"() <{value = dense_resource<\1> : \2}> : () -> \2', text)  # fmt: skip


def _is_large(value: ir.Value) -> bool:
    kind, count = element(value), int(np.prod(shape_of(value)))
    if is_float(kind):
        return kind.width >= 16 and count * kind.width > 8 * LARGE
    if not isinstance(kind, ir.IntegerType) or 1 < kind.width < 8:
        return False
    # Others may be indices, which decide what an op becomes.
    return count * max(8, kind.width) > 8 * LARGE and (count > LARGEST_EVALUATED or kind.width == 1)


def _read(value: ir.Attribute, kind: ir.Type) -> np.ndarray:
    if not isinstance(kind, ir.BF16Type):
        return np.array(value)
    return np.frombuffer(bytes.fromhex(re.search(r'"0x(\w*)"', str(value))[1]), np.uint16)  # type: ignore[index]
