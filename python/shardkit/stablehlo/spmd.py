"""StableHLO, annotated for Shardy, as the StableHLO of a device."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Sequence

from ..errors import ShardKitError
from ..planning.layouts import Layout, Program
from ..tools import find_tool, run_tool
from . import frontend

_MESH = re.compile(r"sdy\.mesh @[\w.\"]+ = <\[(\"[^\]]*)\]")


@dataclasses.dataclass(frozen=True)
class LocalModule:
    """The module of a device, with the layouts of its arguments and results on a mesh of these axes."""

    text: str
    axes: tuple[tuple[str, int], ...]
    arguments: tuple[Layout, ...]
    results: tuple[Layout, ...]


def partition(text: str, function: str, options: Sequence[str]) -> LocalModule:
    """Propagates the shardings of a module in generic form, and partitions it. `options`: of --spmd-default-pipeline."""
    from jaxlib.mlir import ir

    from . import gspmd

    module = frontend.parse(text)
    gspmd.convert(module)
    axes = _read_axes(str(module))
    with module.context:
        frontend.drop_attributes(module, function)
    generic = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    pipeline = " ".join(["plan=propagation", *options])
    shard_opt = [find_tool("shard-opt"), "-", "--allow-unregistered-dialect", "--mlir-print-op-generic", "--mlir-print-debuginfo"]
    steps = ["--spmd-import-sdy", "--inline", "--symbol-dce"]
    local = run_tool([*shard_opt, *steps, f"--spmd-default-pipeline={pipeline}", "--convert-spmd-to-stablehlo"], generic)
    program = Program(local, function)
    layouts = [tuple(layout or Layout(()) for layout in found) for found in (program.arguments, program.results)]
    stripped = frontend.parse(run_tool([*shard_opt, "--spmd-strip"], local))
    with stripped.context:
        i32 = ir.IntegerType.get_signless(32)
        for name, count in (("num_partitions", math.prod(size for _, size in axes)), ("num_replicas", 1)):
            stripped.operation.attributes[f"mhlo.{name}"] = ir.IntegerAttr.get(i32, count)
    return LocalModule(str(stripped), axes, *layouts)


def _read_axes(text: str) -> tuple[tuple[str, int], ...]:
    found = list(dict.fromkeys(_MESH.findall(text)))
    if len(found) != 1:
        raise ShardKitError(f"error: the function is annotated on {len(found)} meshes, expected one")
    return tuple((name, int(size)) for name, size in re.findall(r'"([^"]*)"=(\d+)', found[0]))
