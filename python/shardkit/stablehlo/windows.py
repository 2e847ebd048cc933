"""Windows along dims of known size of values whose other sizes only the run knows. The lowering of StableHLO takes them in one form: convolutions
with batch, spatial dims and features in this order, and without padding; poolings without padding."""

from __future__ import annotations

import re

import numpy as np
from jaxlib.mlir import ir

from .builder import Builder, attribute_names, element, i64s, replace, shape_of

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def _read(op: ir.Operation, name: str, count: int, otherwise: int = 1) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [otherwise] * count


def _read_padding(op: ir.Operation, count: int) -> np.ndarray:
    return np.array(ir.DenseElementsAttr(op.attributes["padding"])) if "padding" in op.attributes else np.zeros((count, 2), int)


def _transpose(b: Builder, value: ir.Value, order: list[int]) -> ir.Value:
    if order == sorted(order):
        return value
    type = ir.RankedTensorType.get([shape_of(value)[d] for d in order], element(value))
    return b.value("stablehlo.transpose", [value], type, {"permutation": i64s(order)})


def _invert(order: list[int]) -> list[int]:
    return [order.index(d) for d in range(len(order))]


def _read_dims(numbers: str) -> list[list[int]]:
    """Per tensor of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` its dims in the order batch, spatial dims, features; of the kernel spatial
    dims, input and output features."""
    parts = [[p.strip() for p in text.split(",")] for text in re.findall(r"\[([^\]]*)\]", numbers)]
    spatial = [str(d) for d in range(len(parts[0]) - 2)]
    orders = (["b", *spatial, "f"], [*spatial, "i", "o"], ["b", *spatial, "f"])
    return [[part.index(name) for name in order] for part, order in zip(parts, orders, strict=True)]


def has_known_windows(op: ir.Operation) -> bool:
    """Whether only dims without a window have a size that is not known."""
    if op.name == "stablehlo.convolution":
        order, kernel, _ = _read_dims(str(op.attributes["dimension_numbers"]))
        sizes = [shape_of(op.operands[0])[d] for d in order[1:-1]] + [shape_of(op.operands[1])[d] for d in kernel[:-2]]
        return _DYNAMIC not in sizes
    shape = shape_of(op.operands[0])
    windows = zip(shape, _read(op, "window_dimensions", len(shape)), _read_padding(op, len(shape)).tolist(), _read(op, "window_strides", len(shape)))
    return op.name == "stablehlo.reduce_window" and all(n != _DYNAMIC or (size, pad, step) == (1, [0, 0], 1) for n, size, pad, step in windows)


def rewrite_convolution(op: ir.Operation) -> None:
    b = Builder(op)
    image, kernel, result = _read_dims(str(op.attributes["dimension_numbers"]))
    count = len(image) - 2
    lhs, rhs = _transpose(b, op.operands[0], image), _transpose(b, op.operands[1], kernel)
    padding, between = _read_padding(op, count), [n - 1 for n in _read(op, "lhs_dilation", count)]
    if padding.any() or any(between):
        zero = b.splat("0.0" if isinstance(element(lhs), ir.FloatType) else "0", ir.RankedTensorType.get([], element(lhs)))
        lhs = b.pad(lhs, zero, [0, *padding[:, 0].tolist(), 0], [0, *padding[:, 1].tolist(), 0], [0, *between, 0])
    reversed_ = [d for d, flag in enumerate(re.findall(r"true|false", str(op.attributes["window_reversal"])) if "window_reversal" in op.attributes else []) if flag == "true"]
    if reversed_:
        rhs = b.value("stablehlo.reverse", [rhs], rhs.type, {"dimensions": i64s(reversed_)})
    spatial = ", ".join(map(str, range(count)))
    kept = {name: op.attributes[name] for name in attribute_names(op) if name in ("feature_group_count", "batch_group_count", "window_strides", "rhs_dilation")}
    kept["dimension_numbers"] = ir.Attribute.parse(f"#stablehlo.conv<[b, {spatial}, f]x[{spatial}, i, o]->[b, {spatial}, f]>")
    type = ir.RankedTensorType.get([shape_of(op.results[0])[d] for d in result], element(op.results[0]))
    replace(op, [_transpose(b, b.value("stablehlo.convolution", [lhs, rhs], type, kept), _invert(result))])


def rewrite_pooling(op: ir.Operation) -> None:
    """The padding of a window is an op of its own."""
    if len(op.operands) != 2:
        return
    b, rank = Builder(op), len(shape_of(op.operands[0]))
    padding, between = _read_padding(op, rank), [n - 1 for n in _read(op, "base_dilations", rank)]
    if padding.any() or any(between):
        op.operands[0] = b.pad(op.operands[0], op.operands[1], padding[:, 0].tolist(), padding[:, 1].tolist(), between)
        for name in ("padding", "base_dilations"):
            if name in op.attributes:
                del op.attributes[name]
