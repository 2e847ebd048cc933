"""Facts about the arguments of a function that random inputs need."""

from __future__ import annotations

from typing import Any

from .builder import shape_of, walk
from .scatter import read_numbers

# Ops whose result holds elements of their operands, perhaps shifted into range by a select.
_PASSED = {
    "stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.select", "stablehlo.add",
    "stablehlo.concatenate", "stablehlo.transpose", "stablehlo.slice", "stablehlo.clamp", "stablehlo.dynamic_slice",
    "sdy.sharding_constraint",
}  # fmt: skip


def find_index_ranges(module: Any, func: Any) -> list[tuple[int, int] | None]:
    """Per argument of `func` the range of elements that it addresses, where it is used as an index; else None."""
    functions = {
        op.attributes["sym_name"].value: op for op in module.body.operations if op.operation.name == "func.func"
    }
    known: dict[str, list[tuple[int, int] | None]] = {}

    def visit(name: str) -> list[tuple[int, int] | None]:
        if name in known:
            return known[name]
        block = functions[name].regions[0].blocks[0]
        known[name] = [None] * len(block.arguments)
        numbers = {argument: i for i, argument in enumerate(block.arguments)}

        def mark(value: Any, size: int, seen: set[Any]) -> None:
            """Everything that `value` is computed from addresses at most `size` elements."""
            if value in seen:
                return
            seen.add(value)
            if value in numbers:
                old = known[name][numbers[value]]
                known[name][numbers[value]] = (0, min(size, old[1]) if old else size)
                return
            op = getattr(value.owner, "operation", None)
            if op is None or op.name not in _PASSED:
                return
            first = 1 if op.name == "stablehlo.select" else 0
            operands = list(op.operands)[first:] if op.name != "stablehlo.dynamic_slice" else [op.operands[0]]
            for operand in operands:
                mark(operand, size, seen)

        for op in walk(functions[name].operation):
            if op.name in ("stablehlo.gather", "stablehlo.scatter"):
                text = str(op.attributes["dimension_numbers" if op.name.endswith("gather") else "scatter_dimension_numbers"])
                dims = read_numbers(text, "start_index_map" if op.name.endswith("gather") else "scatter_dims_to_operand_dims")
                shape = shape_of(op.operands[0])
                if dims:
                    mark(op.operands[1], min(shape[d] for d in dims), set())
            elif op.name in ("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"):
                shape = shape_of(op.operands[0])
                skip = 1 if op.name == "stablehlo.dynamic_slice" else 2
                for d, index in enumerate(list(op.operands)[skip:]):
                    mark(index, shape[d], set())
            elif op.name == "func.call":
                callee = str(op.attributes["callee"]).lstrip("@").strip('"')
                for operand, found in zip(op.operands, visit(callee)):
                    if found:
                        mark(operand, found[1], set())
        return known[name]

    return visit(func.attributes["sym_name"].value)
