"""Indices that count up, `x[arange(n), t]`: such a dim becomes a batch dim that a gather or a scatter has in common with its
indices, so that it can be sharded."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from .builder import Builder, element, owner, shape_of
from .scatter import read_numbers

LARGEST_EVALUATED = 1 << 20
"""Elements of a constant that is looked at."""


def rewrite_gather(op: ir.Operation) -> None:
    sizes = [int(n) for n in re.findall(r"-?\d+", str(op.attributes["slice_sizes"]).split(":")[-1])]
    _share_dims(op, "dimension_numbers", ("collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"), sizes)


def share_dims_of_scatter(op: ir.Operation) -> None:
    names = ("inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims")
    if len(op.operands) == 3:
        _share_dims(op, "scatter_dimension_numbers", names, None)


def _share_dims(op: ir.Operation, attribute: str, names: tuple[str, str, str, str], sizes: list[int] | None) -> None:
    """`sizes`: of the slices of a gather."""
    operand, indices = op.operands[0], op.operands[1]
    numbers = str(op.attributes[attribute])
    dropped, batching, index_batching, mapped = (read_numbers(numbers, n) for n in names)
    match = re.search(r"index_vector_dim = (\d+)", numbers)
    shape = shape_of(indices)
    if not match or int(match[1]) != len(shape) - 1 or len(mapped) < 2:
        return
    parts = _split(indices, len(mapped))
    if parts is None:
        return
    kept = list(range(len(mapped)))
    for c, part in enumerate(parts):
        d = mapped[c]
        if len(kept) == 1 or d not in dropped or (sizes is not None and sizes[d] != 1):
            continue
        position = _find_position(_evaluate(part), shape[:-1], shape_of(operand)[d], index_batching)
        if position is None:
            continue
        dropped.remove(d)
        kept.remove(c)
        at = sum(b < d for b in batching)
        batching.insert(at, d)
        index_batching.insert(at, position)
    if len(kept) == len(mapped):
        return
    b = Builder(op)
    rest = [parts[c] for c in kept]
    type = ir.RankedTensorType.get([*shape[:-1], len(rest)], element(indices))
    op.operands[1] = b.value("stablehlo.concatenate", rest, type, {"dimension": f"{len(shape) - 1} : i64"}) if len(rest) > 1 else rest[0]
    for name, value in zip(names, (dropped, batching, index_batching, [mapped[c] for c in kept])):
        numbers = re.sub(rf",? *\b{name} = \[[\d, ]*\]", "", numbers)
        if value:
            numbers = re.sub(r"<[, ]*", f"<{name} = {value}, ", numbers, count=1)
    op.attributes[attribute] = ir.Attribute.parse(re.sub(r"<[, ]*", "<", numbers, count=1))
    if "indices_are_sorted" in op.attributes:
        op.attributes["indices_are_sorted"] = ir.BoolAttr.get(False)


def _split(indices: ir.Value, count: int) -> list[ir.Value] | None:
    """The numbers of index vectors, each along a last dim of one."""
    made = owner(indices)
    if made is None or made.name != "stablehlo.concatenate" or len(made.operands) != count:
        return None
    last = len(shape_of(indices)) - 1
    is_split = str(made.attributes["dimension"]).split(" ")[0] == str(last) and all(shape_of(v)[last] == 1 for v in made.operands)
    return list(made.operands) if is_split else None


def _find_position(value: Any, shape: list[int], size: int, taken: list[int]) -> int | None:
    """The dim of the indices along which they count all elements of a dim of `size`."""
    if value is None:
        return None
    value = value.reshape(shape)
    for p, n in enumerate(shape):
        counted = np.arange(n).reshape([-1 if d == p else 1 for d in range(len(shape))])
        if n == size and p not in taken and np.array_equal(value, np.broadcast_to(counted, shape)):
            return p
    return None


_COMPARE: dict[str, Any] = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}
_PLAIN: dict[str, Any] = {
    "stablehlo.add": np.add, "stablehlo.subtract": np.subtract, "stablehlo.multiply": np.multiply,
    "stablehlo.maximum": np.maximum, "stablehlo.minimum": np.minimum, "stablehlo.select": np.where,
}  # fmt: skip


def _evaluate(value: ir.Value) -> Any:
    """What integers are that depend on no argument; None for others, and for what their type does not hold."""
    if not isinstance(element(value), ir.IntegerType) or int(np.prod(shape_of(value))) > LARGEST_EVALUATED:
        return None
    found, width = _compute(value), ir.IntegerType(element(value)).width
    return found if found is None or width == 1 or (np.abs(found) < 2 ** (width - 1)).all() else None


def _compute(value: ir.Value) -> Any:
    made, shape = owner(value), shape_of(value)
    if made is None:
        return None
    if made.name == "stablehlo.iota":
        dim = int(str(made.attributes["iota_dimension"]).split(" ")[0])
        return np.broadcast_to(np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))]), shape)
    if made.name == "stablehlo.constant":
        if ir.IntegerType(element(value)).width == 1:
            return None
        dense = ir.DenseElementsAttr(made.attributes["value"])
        number = np.array(ir.IntegerAttr(dense.get_splat_value()).value) if dense.is_splat else np.array(dense)
        return np.broadcast_to(number, shape)
    inputs = [_evaluate(v) for v in made.operands]
    if any(v is None for v in inputs):
        return None
    if made.name in _PLAIN:
        return _PLAIN[made.name](*inputs)
    if made.name == "stablehlo.compare":
        match = re.search(r"comparison_direction ([A-Z]+)", str(made.attributes["comparison_direction"]))
        return _COMPARE[match[1]](*inputs) if match else None
    if made.name in ("stablehlo.reshape", "stablehlo.convert"):
        return inputs[0].reshape(shape)
    if made.name == "stablehlo.broadcast_in_dim":
        dims = [int(n) for n in re.findall(r"\d+", str(made.attributes["broadcast_dimensions"]).split(":")[-1])]
        spread = inputs[0].reshape([inputs[0].shape[dims.index(d)] if d in dims else 1 for d in range(len(shape))])
        return np.broadcast_to(spread, shape)
    return None
