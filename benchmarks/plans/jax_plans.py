#!/usr/bin/env python3
"""What XLA moves under ShardKit's plans and under those a hand would write: bytes in its compiled HLO, on 8 devices.

    jax_plans.py [--group examples|models]... [--model NAME]... [--verify] [--json FILE]

By hand: data parallel (inputs), Megatron (inputs on one axis, weights by columns and rows on the other), FSDP (inputs, and the largest dim of each
weight) and both of these together, on all meshes of two axes. ShardKit's plan is that of the mesh with the least predicted time. Training
steps donate their weights, so that their shardings are those of the results. A row has megabytes that a device receives, operations of contractions,
megabytes that XLA holds, of the best plan by hand and of ours; constraints, seconds of import and search, and the status of the search. "args" is
XLA with the shardings of our arguments and results alone. `--verify` runs the examples: numbers equal those of the unsharded function.
Exits with 1 where ours moves more than the best by hand. Needs: pip install ./python[jax]
"""
import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "frontends"))

from bytes import read_hlo  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402
from shardkit.binding import get_key  # noqa: E402

SHAPES = ((8, 1), (4, 2), (2, 4), (1, 8))
STYLES = {"data": SHAPES[:1], "Megatron": SHAPES[1:], "FSDP": SHAPES[:1], "FSDP + Megatron": SHAPES[1:3]}
COLUMN = r"query|key|value|wq|wk|wv|w1|w3|up|bottom1|top1|enter|middle|join|stem|block\d\.0|inputs|state|head|kernel|select"
ROW = r"out|wo|w2|down|bottom2|top2|leave|block\d\.1"
ROWS = r"wte|words|tables\.\d"


def load(name, path):
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_mesh(shape):
    return jax.make_mesh(shape, ("data", "model"), axis_types=(AxisType.Auto,) * 2)


# --- models ---------------------------------------------------------------------------------------


def models(wanted):
    for name, make in load("default_models", HERE.parent / "defaults" / "models.py").MODELS.items():
        if wanted(name):
            function, args = make()
            yield name, (jax.jit(function, donate_argnums=0) if name.endswith("step") else function), args


def examples(wanted):
    module = load("example_models", HERE.parents[1] / "examples" / "jax" / "models.py")
    for name in module.MODELS:
        if wanted(name):
            function, args = module.build(name, "data", make_mesh((8, 1)))
            yield f"examples: {name}", function, jax.tree_util.tree_map(np.asarray, args)


# --- plans by hand --------------------------------------------------------------------------------


def is_free(spec, shape, d, count):
    return d < len(shape) and spec[d] is None and shape[d] % count == 0


def megatron(name, shape, count, model):
    spec = [None] * len(shape)
    leaf = re.sub(r"^layers\.\d+\.|^(encoder|decoder|cross)\.|\.kernel$", "", name)
    row = ROW if model != "unet" else r"down|up|leave"
    if model.endswith("moe_step") and leaf in ("up", "down"):
        d = 0
    elif re.fullmatch(ROWS, leaf):
        d = 0
    elif re.fullmatch(row, leaf):
        d = len(shape) - 2
    elif re.fullmatch(COLUMN, leaf):
        d = len(shape) - 1
    else:
        return spec
    if d >= 0 and is_free(spec, shape, d, count):
        spec[d] = "model"
    return spec


def by_hand(style, mesh, model, args):
    """The shardings of the arguments: the first are weights, all others inputs."""
    data, count = mesh.shape["data"], mesh.shape["model"]
    batch = 1 if model == "lstm_step" else 0

    def weight(path, leaf):
        shape = np.shape(leaf)
        spec = megatron(".".join(map(get_key, path)), shape, count, model) if "Megatron" in style else [None] * len(shape)
        if "FSDP" in style:
            for d in sorted(range(len(shape)), key=lambda d: -shape[d]):
                if is_free(spec, shape, d, data):
                    spec[d] = "data"
                    break
        return NamedSharding(mesh, PartitionSpec(*spec))

    def given(leaf):
        shape, spec = np.shape(leaf), [None] * len(np.shape(leaf))
        if is_free(spec, shape, batch, data):
            spec[batch] = "data"
        return NamedSharding(mesh, PartitionSpec(*spec))

    return (jax.tree_util.tree_map_with_path(weight, args[0]), *[jax.tree_util.tree_map(given, a) for a in args[1:]])


# --- figures --------------------------------------------------------------------------------------


def measure(jitted, args):
    """Megabytes received, operations in millions, megabytes held."""
    compiled = jitted.lower(*args).compile()
    received, operations, _ = read_hlo(compiled.as_text(), 8)
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes + memory.temp_size_in_bytes
    return received / 1e6, operations / 1e6, held / 1e6


def measure_by_hand(name, function, args):
    inner = getattr(function, "__wrapped__", function)
    found = []
    for style, shapes in STYLES.items():
        for shape in shapes:
            mesh = make_mesh(shape)
            shardings = by_hand(style, mesh, name.removeprefix("examples: "), args)
            options = {"in_shardings": shardings}
            if name.endswith("step") and hasattr(function, "lower"):  # new weights and the loss
                options |= {"donate_argnums": 0, "out_shardings": (shardings[0], NamedSharding(mesh, PartitionSpec()))}
            found.append((f"{style}, {shape[0]} x {shape[1]}", *measure(jax.jit(inner, **options), args)))
    return found


def make_plan(function, args, **options):
    """That of the mesh with the least predicted time, and the seconds of all plans."""
    start = time.monotonic()
    plans = [shardkit.plan(function, *args, mesh=make_mesh(shape), minimize=0, **options) for shape in SHAPES]
    best = min(plans, key=lambda p: p.objective)
    seconds = (time.monotonic() - start) / len(SHAPES)
    return shardkit.plan(function, *args, mesh=best.mesh, **options), seconds


def verify(function, plan, args):
    expected = jax.tree_util.tree_leaves(jax.jit(function)(*args))
    found = jax.tree_util.tree_leaves(plan.jit(function)(*jax.device_put(args, plan.in_shardings)))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-3, atol=2e-4)


def compare(name, function, args, options):
    hand = measure_by_hand(name, function, args)
    plan, seconds = make_plan(function, args)
    ours = measure(plan.jit(function), args)
    alone = measure(jit_alone(function, plan), args)
    if options.verify and name.startswith("examples"):
        verify(function, plan, args)
    return {"model": name, "hand": hand, "best": min(hand, key=lambda h: h[1]), "ours": ours, "args": alone, "mesh": tuple(plan.mesh.shape.values()),
            "constraints": len(plan.constraints), "layouts": len(plan.layouts), "seconds": seconds, "status": plan.status, "objective": plan.objective}  # fmt: skip


def jit_alone(function, plan):
    from shardkit.jax import equations

    return equations.jit_like(function, equations.get_unjitted(function), in_shardings=plan.in_shardings, out_shardings=plan.out_shardings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=("examples", "models"))
    parser.add_argument("--model", action="append")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, worse = [], 0
    print("| model | best by hand | MB | Mop | held, MB | ours, mesh | MB | Mop | held, MB | ratio | args, MB | constraints | s | search |")
    print("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for group in options.group or ("models", "examples"):
        for name, function, args in globals()[group](lambda n: not options.model or n in options.model):
            row = compare(name, function, args, options)
            rows.append(row)
            best, ours = row["best"], row["ours"]
            ratio = ours[0] / best[1] if best[1] else float(bool(ours[0]))
            worse += ratio > 1
            figures = [f"{v:,.2f}" for v in best[1:]], [f"{v:,.2f}" for v in ours]
            print(f"| {name} | {best[0]} | {' | '.join(figures[0])} | {row['mesh'][0]} x {row['mesh'][1]} | {' | '.join(figures[1])} | {ratio:.2f} | "
                  f"{row['args'][0]:,.2f} | {row['constraints']} of {row['layouts']} | {row['seconds']:.1f} | {row['status']} |", flush=True)  # fmt: skip
            if options.json:
                Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    print(f"\n{worse} of {len(rows)} more than by hand")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
