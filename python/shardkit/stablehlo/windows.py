"""Windows of values of sizes that only the run knows. Where dims with windows are known the lowering of StableHLO takes them in one form:
convolutions with batch, spatial dims and features in this order, without padding and groups; poolings without padding. Other convolutions are a
linalg.generic."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

import numpy as np
from jaxlib.mlir import ir

from ..size_exprs import SizeExpr
from .builder import Builder, apply_body, attribute_names, element, i64s, is_complex, is_float, is_unsigned, replace, shape_of

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


def _read_count(op: ir.Operation, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else 1


def _is_plain(op: ir.Operation) -> bool:
    """Whether a convolution has no groups, and windows along dims of known size alone."""
    image, kernel, _ = _read_dims(str(op.attributes["dimension_numbers"]))
    sizes = [shape_of(op.operands[0])[d] for d in image[1:-1]] + [shape_of(op.operands[1])[d] for d in kernel[:-2]]
    return _DYNAMIC not in sizes and _read_count(op, "feature_group_count") == _read_count(op, "batch_group_count") == 1


def _has_known_groups(op: ir.Operation) -> bool:
    """Of a convolution of floats or signed integers: whether the dims that groups divide have known sizes."""
    image, kernel, _ = _read_dims(str(op.attributes["dimension_numbers"]))
    features, batches = _read_count(op, "feature_group_count"), _read_count(op, "batch_group_count")
    divided = [shape_of(op.operands[0])[image[-1]]] * (features > 1) + [shape_of(op.operands[0])[image[0]]] * (batches > 1)
    divided += [shape_of(op.operands[1])[kernel[-1]]] * (max(features, batches) > 1)
    kinds = [element(v) for v in (*op.operands, op.results[0])]
    return _DYNAMIC not in divided and not any(is_complex(kind) or is_unsigned(kind) for kind in kinds)


def has_form(op: ir.Operation) -> bool:
    """Whether there is a form of the op for sizes that only the run knows."""
    if op.name == "stablehlo.fft":
        count = len(list(ir.DenseI64ArrayAttr(op.attributes["fft_length"])))
        return _DYNAMIC not in [n for v in (op.operands[0], op.results[0]) for n in shape_of(v)[-count:]]
    if op.name == "stablehlo.convolution":
        image, _, result = _read_dims(str(op.attributes["dimension_numbers"]))
        if not (_is_plain(op) or _has_known_groups(op)):
            return False
        return all(shape_of(op.results[0])[d] != _DYNAMIC or between == 1 for d, between in zip(result[1:-1], _read(op, "lhs_dilation", len(image) - 2)))
    if op.name == "stablehlo.reduce_window" and len(op.operands) == 2 and _has_plain_bases(op):
        return True
    return op.name in ("stablehlo.reduce_window", "stablehlo.select_and_scatter") and _has_known_windows(op)


def find_pooled(op: ir.Operation, d: int, size: SizeExpr) -> tuple[SizeExpr, int]:
    """How many places the window of a pooling has along dim d, of size `size`, and the step by which it takes some of them."""
    rank = len(shape_of(op.operands[0]))
    low, high = _read_padding(op, rank)[d].tolist()
    places = size + SizeExpr.number(low + high - (_read(op, "window_dimensions", rank)[d] - 1) * _read(op, "window_dilations", rank)[d])
    return places, _read(op, "window_strides", rank)[d]


def find_length(op: ir.Operation, d: int, length: SizeExpr) -> tuple[SizeExpr, int]:
    """The same of a convolution and spatial dim d, of size `length`."""
    count = len(shape_of(op.operands[0])) - 2
    kernel = shape_of(op.operands[1])[_read_dims(str(op.attributes["dimension_numbers"]))[1][d]]
    low, high = _read_padding(op, count)[d].tolist()
    return length + SizeExpr.number(low + high - (kernel - 1) * _read(op, "rhs_dilation", count)[d]), _read(op, "window_strides", count)[d]


def rewrite_convolution(op: ir.Operation, sizes: Sequence[ir.Value]) -> None:
    """`sizes`: of the dims of the result that only the run knows."""
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
    if not _is_plain(op):
        shape = shape_of(op.results[0])
        known = dict(zip((d for d, n in enumerate(shape) if n == _DYNAMIC), sizes))
        made = _contract(b, op, lhs, rhs, [shape[d] for d in result], [known[d] for d in result if d in known])
        replace(op, [_transpose(b, made, _invert(result))])
        return
    spatial = ", ".join(map(str, range(count)))
    kept = {name: op.attributes[name] for name in attribute_names(op) if name in ("feature_group_count", "batch_group_count", "window_strides", "rhs_dilation")}
    kept["dimension_numbers"] = ir.Attribute.parse(f"#stablehlo.conv<[b, {spatial}, f]x[{spatial}, i, o]->[b, {spatial}, f]>")
    type = ir.RankedTensorType.get([shape_of(op.results[0])[d] for d in result], element(op.results[0]))
    replace(op, [_transpose(b, b.value("stablehlo.convolution", [lhs, rhs], type, kept), _invert(result))])


def _split(b: Builder, value: ir.Value, dim: int, count: int) -> ir.Value:
    """A dim of a known multiple of `count` as one of `count` and the rest of it."""
    shape = shape_of(value)
    parts = [count, _DYNAMIC if shape[dim] == _DYNAMIC else shape[dim] // count]
    split = [*shape[:dim], *parts, *shape[dim + 1 :]]
    groups = [[d] if d < dim else [d, d + 1] if d == dim else [d + 1] for d in range(len(shape))]
    sizes = [b.dim(value, d) for d, n in enumerate(shape) if n == _DYNAMIC]
    attributes = {"reassociation": _spell(groups), "static_output_shape": i64s(split)}
    return b.value("tensor.expand_shape", [value, *sizes], ir.RankedTensorType.get(split, element(value)), attributes)


def _spell(groups: Sequence[Sequence[int]]) -> str:
    return "[" + ", ".join("[" + ", ".join(f"{d} : i64" for d in group) + "]" for group in groups) + "]"


def _contract(b: Builder, op: ir.Operation, lhs: ir.Value, rhs: ir.Value, shape: list[int], sizes: Sequence[ir.Value]) -> ir.Value:
    """A convolution without padding as a sum of products: of batch, spatial dims and features by spatial dims, input and output features.
    `shape`: of the result in this order; `sizes`: of the dims of it that only the run knows."""
    count, kind = len(shape) - 2, element(op.results[0])
    features, batches = _read_count(op, "feature_group_count"), _read_count(op, "batch_group_count")
    groups = max(features, batches)
    steps, spread = _read(op, "window_strides", count), _read(op, "rhs_dilation", count)
    # Loops: batch, spatial dims, group, output feature; spatial dims of the kernel, input feature.
    n, g, o, i = "d0", f"d{count + 1}", f"d{count + 2}", f"d{2 * count + 3}"
    s, k = [f"d{1 + d}" for d in range(count)], [f"d{count + 3 + d}" for d in range(count)]
    window = [f"{a} * {step} + {c} * {by}" for a, c, step, by in zip(s, k, steps, spread)]
    lhs = _split(b, lhs, 0, groups) if batches > 1 else _split(b, lhs, count + 1, groups)
    rhs = _split(b, rhs, count + 1, groups)
    loops = ", ".join(f"d{d}" for d in range(2 * count + 4))
    reads = ([g, n, *window, i] if batches > 1 else [n, *window, g, i], [*k, i, g, o], [n, *s, g, o])
    maps = ", ".join(f"affine_map<({loops}) -> ({', '.join(r)})>" for r in reads)
    kinds = ", ".join(f"#linalg.iterator_type<{'parallel' if d < count + 3 else 'reduction'}>" for d in range(2 * count + 4))
    split = [*shape[:-1], groups, shape[-1] // groups]
    type = ir.RankedTensorType.get(split, kind)
    zero = b.value("arith.constant", [], kind, {"value": f"{'0.0' if is_float(kind) else '0'} : {kind}"})
    init = b.value("tensor.splat", [zero, *sizes], type)
    attributes = {"indexing_maps": f"[{maps}]", "iterator_types": f"[{kinds}]", "operandSegmentSizes": "array<i32: 2, 1>"}
    generic = b.op("linalg.generic", [lhs, rhs, init], [type], attributes, regions=1)
    block = generic.regions[0].blocks.append(element(lhs), element(rhs), kind, arg_locs=[b.loc] * 3)
    inner = b.at_end_of(block)
    factors = []
    for value in block.arguments[:2]:
        widen = "arith.extf" if is_float(kind) else "arith.extsi"
        factors.append(value if value.type == kind else inner.value(widen, [value], kind))
    multiply, add = ("arith.mulf", "arith.addf") if is_float(kind) else ("arith.muli", "arith.addi")
    inner.op("linalg.yield", [inner.value(add, [block.arguments[2], inner.value(multiply, factors, kind)], kind)])
    joined = [[d] for d in range(count + 1)] + [[count + 1, count + 2]]
    return b.value("tensor.collapse_shape", [generic.results[0]], ir.RankedTensorType.get(shape, kind), {"reassociation": _spell(joined)})


def _has_known_windows(op: ir.Operation) -> bool:
    """Of a pooling: whether only dims without a window have a size that is not known."""
    shape = shape_of(op.operands[0])
    windows = zip(shape, _read(op, "window_dimensions", len(shape)), _read_padding(op, len(shape)).tolist(), _read(op, "window_strides", len(shape)))
    return all(n != _DYNAMIC or (size, pad, step) == (1, [0, 0], 1) for n, size, pad, step in windows)


def _has_plain_bases(op: ir.Operation) -> bool:
    """Of a pooling: whether elements are next to each other along all dims of unknown size."""
    shape = shape_of(op.operands[0])
    return all(n != _DYNAMIC or between == 1 for n, between in zip(shape, _read(op, "base_dilations", len(shape))))


def _reduce_along_sizes(b: Builder, op: ir.Operation, sizes: Mapping[int, ir.Value]) -> None:
    """Windows along dims of unknown size are reduced first: so many slices, of which each begins an element later, with the steps of the window. `sizes`: of the
    dims of the result that only the run knows."""
    value, shape = op.operands[0], shape_of(op.operands[0])
    windows, apart = _read(op, "window_dimensions", len(shape)), _read(op, "window_dilations", len(shape))
    steps = _read(op, "window_strides", len(shape))
    for d in [d for d in sizes if (windows[d], steps[d]) != (1, 1)]:
        others = [sizes[d] if e == d else b.dim(value, e) for e, n in enumerate(shape) if n == _DYNAMIC]
        total = None
        for k in range(windows[d]):
            attributes = {
                "static_offsets": i64s([k * apart[d] if e == d else 0 for e in range(len(shape))]),
                "static_sizes": i64s(shape),
                "static_strides": i64s([steps[d] if e == d else 1 for e in range(len(shape))]),
                "operandSegmentSizes": f"array<i32: 1, 0, {len(others)}, 0>",
            }
            part = b.value("tensor.extract_slice", [value, *others], value.type, attributes)
            total = part if total is None else apply_body(b, op, [total, part])[0]
        value, windows[d], steps[d] = total or value, 1, 1
    if all(n == 1 for n in (*windows, *steps)):
        replace(op, apply_body(b, op, [b.spread(op.operands[1], value), value]))
        return
    op.operands[0] = value
    op.attributes["window_dimensions"] = ir.Attribute.parse(i64s(windows))
    op.attributes["window_strides"] = ir.Attribute.parse(i64s(steps))


def rewrite_pooling(op: ir.Operation, sizes: Sequence[ir.Value]) -> None:
    """The padding of a window is an op of its own. `sizes`: of the dims of the result that only the run knows."""
    if len(op.operands) != 2:
        return
    b, rank = Builder(op), len(shape_of(op.operands[0]))
    padding, between = _read_padding(op, rank), [n - 1 for n in _read(op, "base_dilations", rank)]
    if padding.any() or any(between):
        op.operands[0] = b.pad(op.operands[0], op.operands[1], padding[:, 0].tolist(), padding[:, 1].tolist(), between)
        for name in ("padding", "base_dilations"):
            if name in op.attributes:
                del op.attributes[name]
    _reduce_along_sizes(b, op, dict(zip((d for d, n in enumerate(shape_of(op.results[0])) if n == _DYNAMIC), sizes)))
