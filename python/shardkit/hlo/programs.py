"""The modules before and after SPMD partitioning as two programs of ours: a global and a local one."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Mapping

import numpy as np
from jaxlib.mlir import ir

from ..errors import ShardKitError
from ..model import Argument, Result
from ..stablehlo import frontend, gspmd
from ..stablehlo.builder import Builder, attribute_names, fail, owner, replace, shape_of, signless, walk
from ..stablehlo.manual import Mesh, erase_unused, rewrite_collective
from ..tools import find_tool, run_tool
from . import reader
from .devices import DeviceNumbers
from .permutes import rewrite_permute

_UNREAD = ("mhlo.sharding", "mhlo.frontend_attributes", "result_layout", "xla_shape", "operand_layouts", "result_layouts", "source_target_pairs_layout")
"""Attributes that XLA writes on ops and that say nothing of what they compute."""


@dataclasses.dataclass
class Programs:
    """IR of both, in linalg and `spmd`."""

    unsharded: str
    partitioned: str
    devices: int


def import_hlo(before: str, after: str, before_path: str, after_path: str, mesh: Mapping[str, int] | None = None) -> Programs:
    """Texts of HLO before and after SPMD partitioning. Shardings of arguments and results are those that the first one is
    annotated with. `mesh`: names and sizes of axes that messages use."""
    count = reader.count_partitions(after)
    for text, path in ((before, before_path), (after, after_path)):
        if not reader.is_hlo(text):
            raise ShardKitError(f"{path}: error: not a module of HLO, expected HLO text, as --xla_dump_to writes it")
        if replicas := reader.count_replicas(text):
            raise ShardKitError(f"{path}: error: the module is for {replicas} replicas, expected one: SPMD partitioning has partitions")
    if reader.count_partitions(before) != count:
        raise ShardKitError(f"{before_path}: error: the module is for {reader.count_partitions(before)} partitions, expected {count}, as {after_path}")
    if mesh and int(np.prod(list(mesh.values()), dtype=int)) != count:
        raise ShardKitError(f"error: the mesh has {int(np.prod(list(mesh.values()), dtype=int))} devices, expected {count}, the partitions of {after_path}")
    unsharded = reader.parse(before, before_path)
    _clean(unsharded)
    gspmd.convert(unsharded, mesh, count)
    text = next(str(op.attributes["mesh"]) for op in unsharded.body.operations if op.operation.name == "sdy.mesh")
    partitioned = reader.parse(reader.locate(reader.expand_groups(after, after_path), after_path), after_path)
    _drop_shardings(partitioned)
    _clean(partitioned)
    _rewrite_local(partitioned, text)
    return Programs(_lower(unsharded, before_path), _lower(partitioned, after_path), count)


_COMMUTATIVE = ("stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum", "stablehlo.and", "stablehlo.or", "stablehlo.xor")


def _merge_equal(module: Any) -> None:
    """Leaves one of equal values: after SPMD partitioning XLA has one product, in whichever order the factors stood."""
    numbers: dict[ir.Value, int] = {}
    known: dict[tuple[Any, ...], ir.Operation] = {}
    with module.context, ir.Location.unknown():
        for op in walk(module.operation):
            if not op.name.startswith("stablehlo.") or op.regions or not op.results or op.name in _IMPURE:
                continue
            operands = [numbers.setdefault(v, len(numbers)) for v in op.operands]
            if op.name in _COMMUTATIVE:
                operands.sort()
            attributes = tuple((name, str(op.attributes[name])) for name in sorted(attribute_names(op)))
            key = (op.block, op.name, tuple(operands), attributes, tuple(str(r.type) for r in op.results))
            first = known.setdefault(key, op)
            if first is not op:
                replace(op, list(first.results))
            elif op.name == "stablehlo.select" and op.operands[1] == op.operands[2]:
                replace(op, [op.operands[1]])


_IMPURE = ("stablehlo.custom_call", "stablehlo.rng", "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv")


def _lower(module: Any, path: str) -> str:
    _merge_equal(module)
    func = frontend.find_function(module, "main")
    block = func.regions[0].blocks[0]
    arguments = [Argument(f"arg{i}", (), "float32", False) for i in range(len(block.arguments))]
    results = [Result(f"result{i}", "float32") for i in range(len(frontend.get_result_types(func)))]
    try:
        text = frontend.lower(module, func, arguments, results, True)
        return run_tool([find_tool("shard-opt"), "-", "--inline", "--canonicalize", "--cse", "--symbol-dce", "--mlir-print-debuginfo"], text)
    except ShardKitError as error:
        raise ShardKitError(str(error) if "error: " in str(error) else f"{path}: error: {error}") from None


def _clean(module: Any) -> None:
    """Ops and attributes that only XLA has."""
    with module.context, ir.Location.unknown():
        for op in walk(module.operation):
            for name in attribute_names(op):
                if name in _UNREAD and op.name != "func.func":
                    del op.attributes[name]
            if op.name == "mhlo.copy":
                replace(op, list(op.operands))
            elif op.name == "mhlo.topk":
                if "false" in op.get_asm(print_generic_op_form=True).partition(" : (")[0]:  # in properties, which the bindings do not read
                    raise fail(op, "the k smallest elements are not read", "the largest ones")
                made = Builder(op).op("chlo.top_k", [op.operands[0]], [r.type for r in op.results], {"k": f"{shape_of(op.results[0])[-1]} : i64"})
                replace(op, list(made.results))
            elif op.name.startswith("mhlo."):
                raise fail(op, f"{op.name} is not read", "an op that StableHLO has")


def _drop_shardings(module: Any) -> None:
    """Those of arguments and results, which are of the global types."""
    with module.context, ir.Location.unknown():
        for op in module.body.operations:
            for key in ("arg_attrs", "res_attrs"):
                if key in op.attributes:
                    op.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get({}) for _ in op.attributes[key]])


def _rewrite_local(module: Any, mesh_text: str) -> None:
    """Collectives and numbers of devices become ours, on a mesh."""
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        count = int(np.prod([int(s) for s in re.findall(r"=(\d+)", mesh_text)], dtype=int))
        for op in walk(module.operation):
            _check_group_mode(op)
            if "replica_groups" in op.attributes:
                op.attributes["replica_groups"] = _read_groups(op, count)
        for op in [op for op in module.body.operations if op.operation.name == "sdy.mesh"]:
            op.operation.erase()
        attribute = ir.Attribute.parse(mesh_text)
        ir.Operation.create(
            "sdy.mesh", attributes={"sym_name": ir.StringAttr.get("mesh"), "mesh": attribute}, ip=ir.InsertionPoint.at_block_begin(module.body)
        )
        mesh = Mesh("mesh", mesh_text)
        functions = {op.attributes["sym_name"].value: op for op in module.body.operations if op.operation.name == "func.func"}
        for func in functions.values():
            DeviceNumbers(func.operation, mesh).rewrite()
        for op in [op for op in walk(module.operation) if op.name == "stablehlo.all_to_all"]:
            _join_all_to_all(op)
        joined = [op for op in walk(module.operation) if op.name == "stablehlo.concatenate" and any(map(_is_permuted, op.operands))]
        for op in walk(module.operation):
            is_permute = op.name == "stablehlo.collective_permute" and rewrite_permute(op, mesh)
            if is_permute or rewrite_collective(op, mesh):
                continue
            if op.name == "stablehlo.replica_id":
                raise fail(op, "stablehlo.replica_id is not read", "stablehlo.partition_id, of SPMD partitioning")
        for op in joined:
            b = Builder(op)
            plain = [b.bitcast(v, signless(v.type)) for v in op.operands]
            made = b.value("tensor.concat", plain, signless(op.results[0].type), {"dim": op.attributes["dimension"]})
            replace(op, [b.bitcast(made, op.results[0].type)])
        for func in functions.values():
            _erase_dead(func.operation)
        erase_unused(module, functions)


def _check_group_mode(op: ir.Operation) -> None:
    """Groups are of partitions, not of replicas."""
    if op.name in ("stablehlo.all_to_all", "stablehlo.collective_permute"):
        is_read = "channel_handle" in op.attributes
    elif op.name in ("stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.reduce_scatter"):
        is_read = "channel_handle" in op.attributes and "use_global_device_ids" in op.attributes
    else:
        return
    if not is_read:
        raise fail(op, f"{op.name} is over replicas", "groups of partitions: channel_id and use_global_device_ids, as SPMD partitioning writes them")


def _join_all_to_all(op: ir.Operation) -> None:
    """An exchange of slices of one dim, with what XLA writes around it, as one from a dim to another:

        reshape [a, n m, c] -> [a, n, m, c]; all_to_all of dim 1; transpose to [a, m, n, c]; reshape -> [a, m, n c]

    is an all_to_all that divides the dim of n m, and joins along that of c. The same for any two dims."""
    if len(op.operands) != 1:
        return
    k = ir.IntegerAttr(op.attributes["split_dimension"]).value
    count = ir.IntegerAttr(op.attributes["split_count"]).value
    before = owner(op.operands[0])
    turned = _get_only_user(op, "stablehlo.transpose")
    after = turned and _get_only_user(turned, "stablehlo.reshape")
    if ir.IntegerAttr(op.attributes["concat_dimension"]).value != k or not before or before.name != "stablehlo.reshape" or not turned or not after:
        return
    source = before.operands[0]
    shape, wide = shape_of(source), shape_of(op.operands[0])
    if k >= len(shape) or wide != [*shape[:k], count, shape[k] // count, *shape[k + 1 :]] or wide[k] != count:
        return
    order = list(ir.DenseI64ArrayAttr(turned.attributes["permutation"]))
    at = order.index(k)
    rest = [d for d in order if d != k]
    if at == len(rest) or rest != sorted(rest) or rest[at] == k + 1:
        return
    joined = rest[at]
    sizes = [wide[d] * (count if d == joined else 1) for d in rest]
    if shape_of(after.results[0]) != sizes:
        return
    dim = joined - (1 if joined > k else 0)
    attributes = {name: op.attributes[name] for name in attribute_names(op)}
    attributes |= {"split_dimension": ir.Attribute.parse(f"{k} : i64"), "concat_dimension": ir.Attribute.parse(f"{dim} : i64")}
    made = Builder(op).value("stablehlo.all_to_all", [source], after.results[0].type, attributes)
    replace(after, [made])
    turned.erase()
    op.erase()


def _is_permuted(value: ir.Value) -> bool:
    """Whether a value comes from another device, to be joined with what this one has."""
    op = owner(value)
    return op is not None and op.name == "stablehlo.collective_permute"


def _get_only_user(op: ir.Operation, name: str) -> ir.Operation | None:
    users = [use.owner.operation for use in op.results[0].uses]
    return users[0] if len(users) == 1 and users[0].name == name else None


def _erase_dead(func: ir.Operation) -> None:
    for op in reversed(walk(func)):
        is_pure = op.name.startswith(("stablehlo.", "arith.", "tensor.")) or op.name == "shardkit.spmd.device_coordinate"
        if is_pure and op.results and not op.regions and not any(list(r.uses) for r in op.results):
            op.erase()


def _read_groups(op: ir.Operation, count: int) -> ir.Attribute:
    """Groups of devices as a list of them."""
    attribute = op.attributes["replica_groups"]
    if not isinstance(attribute, ir.DenseElementsAttr):
        raise fail(op, f"{op.name} is over groups {attribute}", "lists of devices")
    groups = np.array(attribute)
    if groups.size == 0:  # all of them
        groups = np.arange(count).reshape(1, -1)
    if sorted(groups.reshape(-1).tolist()) != list(range(count)):
        raise fail(op, f"{op.name} is over groups {groups.tolist()}", f"each of {count} devices in one group")
    return ir.DenseElementsAttr.get(np.ascontiguousarray(groups.astype(np.int64)))
