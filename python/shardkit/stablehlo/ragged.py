"""`jax.lax.ragged_all_to_all`: each device of a group sends as many rows to another as the data say.

It becomes collectives of known sizes. Device j sends rows `input_offsets[k] + i` to device k, which writes them as its rows
`output_offsets[k] + i`, for i below `send_sizes[k]`; offsets and sizes are values of j. So what a row of the result is follows
from the offsets that all devices have for this one, which an all-to-all of numbers brings here.
"""

from __future__ import annotations

from jaxlib.mlir import ir

from .builder import Builder, element, fail, i64s, replace, shape_of, walk

_TARGET = "ragged_all_to_all"


def expand_ragged(module: ir.Module) -> None:
    """Expands all of a module."""
    with module.context, ir.Location.unknown():
        for op in walk(module.operation):
            if op.name == "stablehlo.custom_call" and ir.StringAttr(op.attributes["call_target_name"]).value == _TARGET:
                _expand(op)


def _expand(op: ir.Operation) -> None:
    config = ir.DictAttr(op.attributes["backend_config"])
    groups = config["replica_groups"]
    count = ir.RankedTensorType(groups.type).shape[1]
    operand, output, input_offsets, _, output_offsets, received = op.operands  # what is sent is what the others receive
    if shape_of(input_offsets) != [count]:
        raise fail(op, f"ragged_all_to_all has {shape_of(input_offsets)[0]} offsets for {count} devices", "one for each device of a group")
    b = Builder(op)
    collective = {"replica_groups": groups, "use_global_device_ids": ir.UnitAttr.get()}
    number = ir.RankedTensorType.get([count], element(input_offsets))

    def exchange(numbers: ir.Value) -> ir.Value:
        """Entry j is what device j has for this one."""
        dims = {"split_dimension": "0 : i64", "concat_dimension": "0 : i64", "split_count": f"{count} : i64"}
        return b.value("stablehlo.all_to_all", [numbers], number, {"replica_groups": groups, **dims})

    rows, total = shape_of(operand)[0], shape_of(output)[0]
    gathered = b.value("stablehlo.all_gather", [operand], ir.RankedTensorType.get([count * rows, *shape_of(operand)[1:]], element(operand)), {
        "all_gather_dim": "0 : i64", **collective
    })  # fmt: skip
    starts, sources = exchange(output_offsets), exchange(input_offsets)
    vector = ir.RankedTensorType.get([total], element(input_offsets))
    position = b.iota([total], 0, element(input_offsets))
    source = b.splat("-1", vector)
    for j in range(count):

        def of_sender(values: ir.Value, j: int = j) -> ir.Value:
            return b.broadcast(b.reshape(b.slice(values, [j], [j + 1]), []), [total], [])

        # The number of the row within what device j sends.
        i = b.value("stablehlo.subtract", [position, of_sender(starts)], vector)
        is_sent = b.value("stablehlo.and", [
            b.compare("GE", "SIGNED", i, b.splat("0", vector)), b.compare("LT", "SIGNED", i, of_sender(received))
        ], ir.RankedTensorType.get([total], ir.IntegerType.get_signless(1)))  # fmt: skip
        row = b.value("stablehlo.add", [b.value("stablehlo.add", [i, of_sender(sources)], vector), b.splat(str(j * rows), vector)], vector)
        source = b.select(is_sent, row, source)
    is_received = b.compare("GE", "SIGNED", source, b.splat("0", vector))
    rank = len(shape_of(operand))
    taken = b.value("stablehlo.gather", [gathered, b.reshape(source, [total, 1])], output.type, {
        "dimension_numbers": f"#stablehlo.gather<offset_dims = {list(range(1, rank))}, collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>",
        "slice_sizes": i64s([1, *shape_of(operand)[1:]]), "indices_are_sorted": "false",
    })  # fmt: skip
    replace(op, [b.select(b.broadcast(is_received, shape_of(output), [0]), taken, output)])
