#!/usr/bin/env python3
"""What XLA moves under ShardKit's plans and under those a hand would write: bytes in its compiled HLO, on 8 devices.

    jax_plans.py [--group examples|models]... [--model NAME]... [--verify] [--json FILE]

By hand: data parallel (inputs), Megatron (inputs on one axis, weights by columns and rows on the other), FSDP (inputs, and the
largest dim of each weight) and both of these together, on all meshes of two axes. ShardKit's plan is that of the mesh with the
least predicted time, within a budget where XLA holds more for it than for the best plan by hand, without reduce-scatters, which XLA does not have on
CPU, and with messages that cost nothing but for their bytes. Training steps donate their
weights, so that their shardings are those of the results. A row has megabytes that a device receives, millions of operations of
contractions and megabytes that XLA holds, of the best plan by hand and of ours; constraints, seconds of import and search, and
the status of the search. "predicted" is what the plan itself moves, "args" XLA with the shardings of our arguments and results
alone. Where XLA moves more than 1.5 times what is predicted, its largest collectives follow. `--verify` runs every model under its plan
and unsharded, with steps of rate 1: "difference" is the largest one of an element, by the largest element of the result, of new weights and
moments by the largest change (at least a thousandth of the largest element). Exits with 1 where ours moves more than the best by hand, or a difference is above 1e-3.
Needs: pip install ./python[jax]
"""
import argparse
import functools
import json
import math
import os
import re
import sys
import time
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "frontends"))

from bytes import list_hlo, load, read_hlo  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402
from shardkit.binding import get_key  # noqa: E402

OPTIONS = ["forbid-collectives=reduce_scatter", "time-limit=10"]  # XLA on CPU has no reduce-scatter
COSTS = {"alpha": [1e-9, 1e-9], "beta": [1e-10, 1e-10]}  # bytes are compared, not how often they are sent
LARGEST = 1e-3  # difference of numbers
TRIES, SMALLER = 4, 0.97  # budgets: XLA may hold more for a plan than is predicted
SHAPES = ((8, 1), (4, 2), (2, 4), (1, 8))
STYLES = {"data": SHAPES[:1], "Megatron": SHAPES[1:], "FSDP": SHAPES[:1], "FSDP + Megatron": SHAPES[1:3]}
COLUMN = r"query|key|value|wq|wk|wv|w1|w3|up|bottom1|top1|enter|middle|join|stem|block\d\.0|inputs|state|head|kernel|select"
ROW = r"out|wo|w2|down|bottom2|top2|leave|block\d\.1"
ROWS = r"wte|words|tables\.\d"


def make_mesh(shape):
    return jax.make_mesh(shape, ("data", "model"), axis_types=(AxisType.Auto,) * 2)


# --- models ---------------------------------------------------------------------------------------


@functools.cache
def load_models():
    return load("default_models", HERE.parent / "defaults" / "models.py")


def tied_head_step(batch=32, length=128, dim=512, vocab=16384):
    """An embedding whose table is the head too: each token is predicted from the mean of those up to it."""
    own = load_models()
    params = {"words": own.array(vocab, dim), "norm": own.array(dim)}

    def loss(params, tokens, targets):
        x = params["words"][tokens]
        mean = jax.numpy.cumsum(x, 1) / jax.numpy.arange(1, length + 1, dtype=np.float32)[:, None]
        return own.cross_entropy(own.rms_norm(mean, params["norm"]) @ params["words"].T, targets)

    return own.train(loss), (params, own.indices(batch, length), own.indices(batch, length))


def models(wanted):
    for name, make in (load_models().MODELS | {"tied_head_step": tied_head_step}).items():
        if wanted(name):
            function, args = make()
            yield name, (jax.jit(function, donate_argnums=0) if name.endswith("step") else function), args
    if wanted("gpt_adam_step"):
        times = load("times", HERE / "times.py")
        function, (params, *inputs) = load_models().gpt_step(train=times.adam)
        yield "gpt_adam_step", function, (params, params, params, *inputs)


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
    """The shardings of the arguments: the first are weights, those like it moments of these, all others inputs."""
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

    kind = jax.tree_util.tree_structure(args[0])
    return tuple(
        jax.tree_util.tree_map_with_path(weight, a) if jax.tree_util.tree_structure(a) == kind else jax.tree_util.tree_map(given, a) for a in args
    )


# --- figures --------------------------------------------------------------------------------------


def measure(jitted, args):
    """Megabytes received, operations in millions, megabytes held."""
    compiled = jitted.lower(*args).compile()
    received, operations, _ = read_hlo(compiled.as_text(), 8)
    memory = compiled.memory_analysis()
    held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes + memory.temp_size_in_bytes
    return received / 1e6, operations / 1e6, held / 1e6


def name_largest(jitted, args, count=4):
    """What XLA moves most with: megabytes, kind and name of the op."""
    moved = {}
    for op, received, _, _, name in list_hlo(jitted.lower(*args).compile().as_text(), 8):
        if received:
            moved[op, name] = moved.get((op, name), 0) + received / 1e6
    return [f"{size:.2f} MB {op} {name}" for (op, name), size in sorted(moved.items(), key=lambda item: -item[1])[:count]]


def measure_by_hand(name, function, args):
    inner = getattr(function, "__wrapped__", function)
    found = []
    for style, shapes in STYLES.items():
        for shape in shapes:
            mesh = make_mesh(shape)
            shardings = by_hand(style, mesh, name.removeprefix("examples: "), args)
            options = {"in_shardings": shardings}
            if hasattr(function, "lower"):  # a step
                options |= {"donate_argnums": function._jit_info.donate_argnums, "out_shardings": shard_results(inner, args, shardings, mesh)}
            found.append((f"{style}, {shape[0]} x {shape[1]}", *measure(jax.jit(inner, **options), args)))
    return found


def shard_results(function, args, shardings, mesh):
    """New values of arguments are sharded as these, other results are replicated."""

    def describe(tree):
        leaves, structure = jax.tree_util.tree_flatten(tree)
        return structure, [(np.shape(leaf), str(leaf.dtype)) for leaf in leaves]

    found, free = [], list(range(len(args)))
    for result in jax.eval_shape(function, *args):
        same = next((i for i in free if describe(args[i]) == describe(result)), None)
        free = [i for i in free if i != same]
        found.append(jax.tree_util.tree_map(lambda _: NamedSharding(mesh, PartitionSpec()), result) if same is None else shardings[same])
    return tuple(found)


def predict(plan):
    """Megabytes that a device receives where the plan is followed."""
    report = json.loads(plan.report(format="json"))
    sizes = {name: size for mesh in report["meshes"] for name, size in mesh["axes"]}
    groups = [math.prod(sizes[a.split(":")[0].strip('"')] for a in c["axes"]) for c in report["collectives"]]
    return sum(c["received"] / n * c["count"] for c, n in zip(report["collectives"], groups)) / 1e6


def make_plan(function, args, **options):
    """That of the mesh with the least predicted time, and the seconds of all plans."""
    start = time.monotonic()
    plans, errors = [], []
    for shape in SHAPES:
        try:
            plans.append(shardkit.plan(function, *args, mesh=make_mesh(shape), minimize=None, options=OPTIONS, costs=COSTS, **options))
        except shardkit.ShardKitError as error:  # the budget is too small for the mesh
            errors.append(error)
    if not plans:
        raise errors[0]
    best = min(plans, key=lambda p: p.objective)
    seconds = (time.monotonic() - start) / len(SHAPES)
    return shardkit.plan(function, *args, mesh=best.mesh, options=OPTIONS, costs=COSTS, **options), seconds


def make_numbers(name, args):
    """Arguments with numbers: weights by their fan-in, inputs of size 1, indices that every model has; of Adam moments of no step yet."""
    rng = np.random.default_rng(0)
    kind = jax.tree_util.tree_structure(args[0])
    moments = [i for i, a in enumerate(args) if i and jax.tree_util.tree_structure(a) == kind]

    def make(leaf, is_weight):
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        if leaf.dtype == np.int32:
            return rng.integers(0, 1024, leaf.shape, np.int32)
        fan = math.prod(leaf.shape[:-1] if len(leaf.shape) == 4 else leaf.shape[-2:-1])
        scale = 0.3 if fan > 4096 else fan**-0.5  # of a table, and of others
        return rng.standard_normal(leaf.shape, np.float32) * np.float32(scale if is_weight else 1)

    def make_moment(leaf, number):
        return np.full(leaf.shape, 0 if number == moments[0] else 1e-6, np.float32)

    return tuple(
        jax.tree_util.tree_map(lambda leaf: make_moment(leaf, i) if i in moments else make(leaf, i == 0), a) for i, a in enumerate(args)
    )


def verify(name, function, plan, args):
    """The largest difference of an element from the unsharded function, by the largest one of the result; of new weights by the largest
    change, or a thousandth of the largest one if that is more."""
    given = make_numbers(name, args)
    before = jax.tree_util.tree_leaves(given)[: len(jax.tree_util.tree_leaves(args))]
    expected = [np.array(a) for a in jax.tree_util.tree_leaves(jax.jit(getattr(function, "__wrapped__", function))(*given))]
    found = [np.array(b) for b in jax.tree_util.tree_leaves(plan.jit(function)(*jax.device_put(given, plan.in_shardings)))]
    worst = 0.0
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        is_new = name.endswith("step") and i < len(before) and before[i].shape == a.shape
        size = max(np.abs(a - before[i]).max(initial=0), 1e-3 * np.abs(a).max(initial=0)) if is_new else np.abs(a).max(initial=0)
        worst = max(worst, float(np.abs(a - b).max(initial=0) / size) if size else float(np.abs(b).max(initial=0)))
    return worst


def compare(name, function, args, options):
    hand = measure_by_hand(name, function, args)
    plan, seconds = make_plan(function, args)
    ours = measure(plan.jit(function), args)
    best = min(hand, key=lambda h: h[1])
    budget = math.inf
    for _ in range(TRIES):
        if ours[2] <= best[3]:  # within the same memory
            break
        peak = json.loads(plan.report(format="json"))["memory"]["peak_bytes"]
        budget = min(SMALLER * budget, 0.99 * peak * best[3] / ours[2])
        try:
            plan, seconds = make_plan(function, args, memory=budget)
        except shardkit.ShardKitError:  # no plan needs less
            break
        ours = measure(plan.jit(function), args)
    alone = measure(jit_alone(function, plan), args)
    return {"model": name, "difference": verify(name, function, plan, args) if options.verify else None, "hand": hand, "best": best, "ours": ours, "args": alone, "predicted": predict(plan), "largest": name_largest(plan.jit(function), args), "mesh": tuple(plan.mesh.shape.values()),
            "constraints": len(plan.constraints), "layouts": len(plan.layouts), "seconds": seconds, "status": plan.status, "objective": plan.objective}  # fmt: skip


def jit_alone(function, plan):
    from shardkit.jax import equations

    return equations.jit_like(function, equations.get_unjitted(function), in_shardings=plan.in_shardings, out_shardings=plan.out_shardings)


def show(value):
    return f"{value:,.2f}" if value >= 0.1 or not value else f"{value:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=("examples", "models"))
    parser.add_argument("--model", action="append")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.verify:
        load_models().RATE = 1.0  # so that new weights show the gradients
    rows, worse = [], 0
    print("| model | best by hand | MB | Mop | held, MB | ours, mesh | MB | Mop | held, MB | ratio | predicted, MB | args, MB | constraints | s | search | difference |")
    print("| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    for group in options.group or ("models", "examples"):
        for name, function, args in globals()[group](lambda n: not options.model or n in options.model):
            row = compare(name, function, args, options)
            rows.append(row)
            best, ours = row["best"], row["ours"]
            ratio = ours[0] / best[1] if best[1] else float(bool(ours[0]))
            worse += ratio > 1 or (row["difference"] or 0) > LARGEST
            figures = list(map(show, best[1:])), list(map(show, ours))
            print(f"| {name} | {best[0]} | {' | '.join(figures[0])} | {row['mesh'][0]} x {row['mesh'][1]} | {' | '.join(figures[1])} | {ratio:.2f} | "
                  f"{show(row['predicted'])} | {show(row['args'][0])} | {row['constraints']} of {row['layouts']} | {row['seconds']:.1f} | {row['status']} | {'' if row['difference'] is None else format(row['difference'], '.1e')} |", flush=True)  # fmt: skip
            if options.json:
                Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    for row in rows:
        if row["ours"][0] > 1.5 * row["predicted"]:
            print(f"\n{row['model']}: XLA moves {row['ours'][0] / max(row['predicted'], 1e-6):.2f} times what the plan does\n  " + "\n  ".join(row["largest"]))
    print(f"\n{worse} of {len(rows)} more than by hand, or with other numbers")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
