#!/usr/bin/env python3
"""Whether a module that `shardkit-plan` writes makes XLA move what the plan does: bytes that a device receives, predicted and in the
compiled HLO, on 8 devices.

    stablehlo_plans.py [--group examples|models]... [--model NAME]... [--mesh data=4,model=2]... [--options TEXT] [--show]

The models of jax_plans.py are lowered by JAX without shardings, planned by the command, and the written modules compiled by jaxlib. XLA on
CPU has no reduce-scatter, so that plans have none by default (`--options forbid-collectives=reduce_scatter`). Where XLA moves more
than the plan, the kinds of collectives follow of which it has more, with the ops of the model at which XLA has them. `--show` lists the
largest collectives of both. Exits with 1 where XLA moves more than 1.01 of the plan. Needs: pip install ./python[jax]
"""
import argparse
import contextlib
import io
import json
import math
import re
import sys
import tempfile
import time
from pathlib import Path

from jax_plans import examples, list_hlo, models, predict, read_hlo, show  # first, as it sets what JAX reads

import jax  # isort: skip
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir
from shardkit.planning import cli

MESHES = ("data=8", "data=4,model=2")


def compile_xla(text):
    """XLA's program of a module with shardings, for all devices."""
    options = compiler.get_compile_options(num_replicas=1, num_partitions=8, device_assignment=np.arange(8).reshape(1, 8))
    options.executable_build_options.use_spmd_partitioning = options.executable_build_options.use_shardy_partitioner = True
    with mlir.make_ir_context():
        compiled = compiler.backend_compile_and_load(xla_bridge.get_backend("cpu"), ir.Module.parse(text), _jax.DeviceList(tuple(jax.devices())), options, [])
    (program,) = compiled.hlo_modules()
    return program.to_string()


def plan(text, mesh, options):
    """The planned module, and the plan."""
    plans = []
    plan_stablehlo = cli._plan_stablehlo
    cli._plan_stablehlo = lambda given: plans.append(plan_stablehlo(given)) or plans[0]
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as errors:
            module = Path(folder, "module.mlir")
            module.write_text(text)
            if cli.main([str(module), "-o", f"{folder}/planned.mlir", f"--mesh={mesh}", f"--options={options}"]):
                raise SystemExit(errors.getvalue())
            return Path(folder, "planned.mlir").read_text(), plans[0][0]
    finally:
        cli._plan_stablehlo = plan_stablehlo


def list_meshes(text, wanted):
    """The mesh that a module has, else those that are wanted."""
    own = re.search(r'sdy\.mesh @\w+ = <\[(".+?)\]', text)
    return [own[1].replace('"', "").replace(" ", "")] if own else wanted


def name_op(path):
    """An op of JAX by the last part of its name: `jit(step)/while/body/reduce_sum` is reduce_sum."""
    return path.rstrip("/").rpartition("/")[2].strip('"') or "?"


def list_extra(hlo, found, least=0.001):
    """Kinds of collectives with which XLA moves more than the plan, from a part of all of it: megabytes of both, and XLA's ops of this kind."""
    theirs, ours = {}, {}
    for op, received, _, _, name in list_hlo(hlo, 8):
        if received:
            ops = theirs.setdefault(op, {})
            ops[name_op(name)] = ops.get(name_op(name), 0) + received / 1e6
    for size, c in list_planned(found):
        kind = c["kind"].replace("_", "-")
        ours[kind] = ours.get(kind, 0) + size
    for kind, ops in theirs.items():
        size, planned = sum(ops.values()), ours.get(kind, 0)
        if size - planned > least * sum(ours.values()):
            listed = ", ".join(f"{name} {part:.2f}" for name, part in sorted(ops.items(), key=lambda item: -item[1])[:4])
            yield f"{kind}: {size:.2f} MB, in the plan {planned:.2f}, at {listed}"


def list_planned(found):
    """Collectives of the plan, each with megabytes that a device receives."""
    report = json.loads(found.report(format="json"))
    sizes = {name: size for mesh in report["meshes"] for name, size in mesh["axes"]}
    for c in report["collectives"]:
        if c["received"]:
            yield c["received"] / math.prod(sizes[a.split(":")[0].strip('"')] for a in c["axes"]) * c["count"] / 1e6, c


def list_largest(hlo, found, count=6):
    moved = {}
    for op, received, _, launches, name in list_hlo(hlo, 8):
        if received:
            key = op, name
            moved[key] = moved.get(key, 0) + received / 1e6
    yield from (f"XLA  {size:.3f} MB {op} {name}" for (op, name), size in sorted(moved.items(), key=lambda item: -item[1])[:count])
    for size, c in sorted(list_planned(found), key=lambda o: -o[0])[:count]:
        yield f"plan {size:.3f} MB {c['kind']} x {c['count']} {'+'.join(c['axes'])} {re.sub('eqn.[0-9a-z_.]*.', '', str(c.get('location', c.get('at', ''))))[-60:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=("examples", "models"))
    parser.add_argument("--model", action="append")
    parser.add_argument("--mesh", action="append")
    parser.add_argument("--options", default="forbid-collectives=reduce_scatter")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    print("| model | mesh | plan, MB | XLA, MB | ratio | constraints | s |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    worse = rows = 0
    extra = []
    for group in options.group or ("models", "examples"):
        for name, function, args in globals()[group](lambda n: not options.model or n in options.model):
            text = (function if hasattr(function, "lower") else jax.jit(function)).lower(*args).as_text(debug_info=True)
            for mesh in list_meshes(text, options.mesh or MESHES):
                start = time.monotonic()
                planned, found = plan(text, mesh, options.options)
                seconds = time.monotonic() - start
                hlo = compile_xla(planned)
                theirs, ours = read_hlo(hlo, 8)[0] / 1e6, predict(found)
                rows += 1
                worse += theirs > 1.01 * ours
                ratio = f"{theirs / ours:.2f}" if ours else "1.00" if not theirs else "inf"
                print(f"| {name} | {mesh} | {show(ours)} | {show(theirs)} | {ratio} | {len(found.constraints)} of {len(found.layouts)} | {seconds:.1f} |", flush=True)
                if theirs > 1.001 * ours:
                    extra.append((name, mesh, list(list_extra(hlo, found))))
                if options.show and ratio != "1.00":
                    print("  " + "\n  ".join(list_largest(hlo, found)), flush=True)
    for name, mesh, ops in extra:
        print(f"\n{name}, {mesh}: XLA moves more by\n  " + "\n  ".join(ops))
    print(f"\n{worse} of {rows} move more than the plan")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
