#!/usr/bin/env python3
"""Propagation on StableHLO as JAX exports it, beside the same models as linalg: where shardings differ, and times.

    python3 benchmarks/propagate_stablehlo.py [--styles megatron ...] [--repeats 5] [NAME ...]

The models of examples/jax in each style on 4 x 2 devices. Both programs come from one trace, so that their ops have the
same locations: a result of an op of StableHLO is compared with the results of its shape at its location in linalg. Times
are those of the pass, the least of several runs. Needs: pip install ./python[jax]"""

import argparse
import collections
import os
import re
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples/jax"))

import jax  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from models import MODELS, STYLES, build  # noqa: E402
from shardkit.stablehlo.frontend import parse  # noqa: E402
from shardkit.tools import find_tool  # noqa: E402
from subprocess import run  # noqa: E402

SHAPE = re.compile(r"tensor<([0-9x]*)x?\w+>")


def propagate(text, passes, plan, repeats):
    """The propagated module, and the seconds of the pass."""
    command = [find_tool("shard-opt"), "-", "--allow-unregistered-dialect", *passes, f"--spmd-propagate=plan={plan}"]
    command += ["--mlir-print-op-generic", "--mlir-print-debuginfo", "--mlir-timing"]
    seconds = []
    for _ in range(repeats):
        done = run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        seconds.append(float(re.search(r"([0-9.]+) \([^)]*\)\s+SPMDPropagatePass", done.stderr)[1]))
    return parse(done.stdout), min(seconds)


def walk(op):
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from walk(inner.operation)


def close(sharding):
    """Open dims say what later propagation may do, not where elements are."""
    return re.sub(r"(, )?\?", "", sharding)


def read_shardings(module):
    """By location and shape the shardings of results, those of the boundary of the main function, and the number of ops."""
    found, boundary, count = collections.defaultdict(list), [], 0
    for op in walk(module.operation):
        if op.name == "func.func" and "private" not in str(op.attributes["sym_visibility"]):
            for key in ("arg_attrs", "res_attrs"):
                boundary += [close(s) for s in re.findall(r"spmd.sharding = (#spmd.sharding<.*?\]>)", str(op.attributes[key]))]
        if "spmd.shardings" not in op.attributes:
            continue
        count += 1
        shardings = re.findall(r"(unit|#spmd.sharding<.*?\]>)", str(op.attributes["spmd.shardings"]))
        for result, sharding in zip(op.results, shardings, strict=True):
            if match := SHAPE.fullmatch(str(result.type)):
                found[str(op.location), match[1]].append(close(sharding))
    return found, boundary, count


def compare(name, style, args):
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    function, arguments = build(name, style, mesh)
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    lowered = jitted.trace(*arguments).lower(lowering_platforms=("cpu",))
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    imported = shardkit.import_jax(function, *arguments).text
    importing = ["--spmd-import-sdy", "--convert-stablehlo-control-flow-to-scf"]
    ours, seconds = propagate(text, importing, args.plan, args.repeats)
    theirs, other_seconds = propagate(imported, ["--spmd-decompose=split-broadcasts=true"], args.plan, args.repeats)
    found, boundary, count = read_shardings(ours)
    wanted, other_boundary, other_count = read_shardings(theirs)
    equal = different = 0
    for key, shardings in found.items():
        if key in wanted:
            differs = [s for s in shardings if s not in wanted[key]]
            equal += len(shardings) - len(differs)
            different += len(differs)
            if args.verbose and differs:
                print("  ", key[0][:60], key[1], *sorted(set(differs)), "in linalg", *sorted(set(wanted[key])))
    ends = sum(a != b for a, b in zip(boundary, other_boundary, strict=True))
    ratio = (seconds / count) / (other_seconds / other_count)
    print(
        f"{name:10} {style:9} {ends:3} of {len(boundary):3}   {different:4} of {equal + different:4}   "
        f"{count:5} {1e6 * seconds / count:8.1f}   {other_count:5} {1e6 * other_seconds / other_count:8.1f}   {ratio:5.2f}",
        flush=True,
    )
    return ends + different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    parser.add_argument("--styles", nargs="+", default=STYLES)
    parser.add_argument("--plan", default="improved", choices=("improved", "propagation"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--verbose", action="store_true", help="print the values whose shardings differ")
    args = parser.parse_args()
    print("                     boundary      values that      StableHLO         linalg           time")
    print("                     differs       differ           ops    us/op      ops    us/op     per op")
    return sum(compare(name, style, args) for name in args.names for style in args.styles) != 0


if __name__ == "__main__":
    sys.exit(main())
