#!/usr/bin/env python3
"""Predicted beside measured time of a step, on threads of this machine, whose costs are measured first.

    predicted.py [--model NAME]... [--devices N]... [--repeats N] [--steps]
    mpirun -n N predicted.py --backend=mpi --devices N ...    (in processes)

MiniLM (inference), a training step of a block of GPT and one of a mixture of experts, on meshes of 1, 2, 4 and 8 devices, each with the
costs that `shardkit.calibrate` measures on it just before: devices beyond the processors share them, in both. A model runs under six plans:
the batch on both axes or on one, Megatron with and without the batch, FSDP, and that of the search. "predicted" is the time of collectives
and of compute in the report, and of a step by itself; "measured" the least of the medians of five rounds, in which all plans take turns. The first table has the plan that the search finds;
the second which of the six is predicted to be the fastest, and how much slower it is than the one measured fastest (1: it is that one).
`--steps` lists all plans. Run it as `chrt -f 10` where other programs run.
"""
import argparse
import contextlib
import dataclasses
import json
import math
import os
import pickle
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks" / "plans"), str(ROOT / "python")]

import models  # noqa: E402
import numpy as np  # noqa: E402
import gen_training_step as step  # noqa: E402
import shardkit  # noqa: E402
from shardkit.calibration import _measure  # noqa: E402
from shardkit.constants import Constants  # noqa: E402
from shardkit.meshes import spell_mesh  # noqa: E402
from shardkit.model import compile_text  # noqa: E402
from shardkit.tools import find_tool, run_tool  # noqa: E402

SHAPES = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4)}
BOTH = ["data", "model"]
ROUNDS = 5


def gpt():
    text = "--layers 1 --batch 8 --seq 64 --heads 8 --head-dim 32 --dim 256 --ffn 1024 --vocab 512 --loss cross-entropy"
    args = step.parse(text.split())
    model = step.Model(args)
    weights = {name: node.shape for name, node in model.weights.items()}
    cut = {n: int(n.split(".")[-1] in step.COLUMN) for n in weights if n.split(".")[-1] in step.COLUMN + step.ROW} | {"head.w": 1}
    return models.write(model, args), models.by_hand({"x": 3, "labels": 2}, weights, cut)


def experts():
    args = argparse.Namespace(batch=8, seq=64, dim=128, ffn=512, experts=8)
    model = models.Experts(args)
    weights = {name: node.shape for name, node in model.weights.items()}
    return models.write(model, args), models.by_hand({"x": 3, "target": 3}, weights, {"up": 0, "down": 0})


MODELS = {"MiniLM": lambda: models.minilm("table"), "GPT block": gpt, "mixture of experts": experts}


def make_plans(by_hand):
    """Six plans from those of a hand, whose rules name `data` where they shard by all devices; None is the search."""
    data, megatron, fsdp = (by_hand[name][1] for name in ("data parallel", "megatron", "fsdp"))

    def replace(rules, axes):
        return [r | {"axis_resources": [axes if a == "data" else a for a in r["axis_resources"]]} for r in rules]

    return {"batch on both axes": replace(data, BOTH), "batch on one axis": data, "Megatron": megatron,
            "Megatron alone": replace(megatron, None), "FSDP": replace(fsdp, BOTH), "search": None}  # fmt: skip


def annotate(text, rules):
    """The module under a plan."""
    if rules is None:
        return run_tool([find_tool("shard-opt"), "-", "--inline", "--symbol-dce", "--spmd-auto-shard=compare-plans=false", "-mlir-print-debuginfo"], text)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "plan.json")
        file.write_text(json.dumps({"version": 1, "rules": rules}))
        return run_tool([find_tool("shard-opt"), "-", "--inline", "--symbol-dce", f"--spmd-apply-plan=file={file}", "-mlir-print-debuginfo"], text)


def predict(text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report")
        run_tool([find_tool("shard-opt"), "-", f"--spmd-report=format=json output={file}", "-o", "/dev/null"], text)
        totals = json.loads(file.read_text())["totals"]
    return totals["cost"] - totals.get("hidden", 0), totals["compute"]


def measure(texts, repeats):
    """Seconds of a step of each program: the least of the medians of several rounds, in which all take their turn."""
    with contextlib.ExitStack() as stack:
        functions = []
        for text in texts:
            directory = compile_text(text, Constants(), [])
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            session = stack.enter_context(shardkit.Session(directory / "bundle"))
            session.fill_random(1)
            (function,) = session.values()
            for value in function.arguments:
                if value.kind != "weight":
                    session.assign(value.name, np.ones(value.shape, value.dtype))
            functions.append(function)
        return [min(times) for times in zip(*([_measure(f, repeats) for f in functions] for _ in range(ROUNDS)))]


def share(make, calibration, what):
    """What the first process makes, for all processes of an mpirun."""
    path = Path(tempfile.gettempdir(), f"shared-{os.getppid()}-{len(calibration.axes)}-{math.prod(calibration.axes.values())}-{what.replace(' ', '-')}")
    if calibration.process == 0:
        path.with_suffix(".new").write_bytes(pickle.dumps(make()))
        path.with_suffix(".new").rename(path)
    while not path.exists():
        time.sleep(0.01)
    return pickle.loads(path.read_bytes())


def compare(name, calibration, repeats):
    """Of each plan seconds of collectives, of compute and of a step by itself, and as measured."""

    def prepare():
        """Plans and their predictions. What is compiled here is in the cache of the other processes."""
        text, by_hand = MODELS[name]()
        text = text.replace("MESH", spell_mesh(calibration.axes, calibration.costs))
        plans = {plan: annotate(text, rules) for plan, rules in make_plans(by_hand).items()}
        for annotated in plans.values():
            shutil.rmtree(compile_text(annotated, Constants(), []))
        return {plan: (annotated, predict(annotated)) for plan, annotated in plans.items()}

    plans = share(prepare, calibration, name)
    times = measure([annotated for annotated, _ in plans.values()], repeats)
    return {plan: (*predicted, calibration.overhead, time) for (plan, (_, predicted)), time in zip(plans.items(), times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=list(MODELS))
    parser.add_argument("--devices", action="append", type=int, choices=list(SHAPES))
    parser.add_argument("--repeats", type=int, default=5, help="steps of a round")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--backend", choices=("local", "mpi", "tcp"), default="local", help="of the processes that run this, one for each device; local: threads")
    options = parser.parse_args()
    shardkit.init(options.backend)
    first, second, errors = [], [], []
    for devices in options.devices or SHAPES:
        calibration = shardkit.calibrate(dict(zip(BOTH, SHAPES[devices])), repeats=5, rounds=ROUNDS)
        if options.backend != "local":
            calibration = dataclasses.replace(share(lambda: calibration, calibration, "calibration"), process=calibration.process)
        if calibration.process:
            sys.stdout = sys.stderr = open(os.devnull, "w")  # the first process prints
        print(calibration.mesh, f"step by itself {1e6 * calibration.overhead:.0f} us, median error {100 * calibration.get_error():.0f} %", file=sys.stderr)
        for name in options.model or MODELS:
            found = compare(name, calibration, options.repeats)
            times = {plan: (sum(f[:3]), f[3]) for plan, f in found.items()}
            if options.steps:
                for plan, f in found.items():
                    print(f"{name}, {devices}: {plan:20} collectives {1e3 * f[0]:8.3f} ms, compute {1e3 * f[1]:8.3f} ms, predicted {1e3 * sum(f[:3]):8.3f} ms, measured {1e3 * f[3]:8.3f} ms", flush=True)  # fmt: skip
            predicted, measured = times["search"]
            errors.append(abs(predicted / measured - 1))
            first.append(f"| {name} | {devices} | {1e3 * predicted:.2f} | {1e3 * measured:.2f} | {predicted / measured:.2f} |")
            chosen, fastest = min(times, key=lambda p: times[p][0]), min(times, key=lambda p: times[p][1])
            second.append(f"| {name} | {devices} | {chosen} | {fastest} | {times[chosen][1] / times[fastest][1]:.2f} |")
    print("| model | devices | predicted, ms | measured, ms | ratio |\n| --- | ---: | ---: | ---: | ---: |", *first, sep="\n")
    print("\n| model | devices | predicted fastest | measured fastest | ratio |\n| --- | ---: | --- | --- | ---: |", *second, sep="\n")
    print(f"\nmedian error of the prediction: {100 * statistics.median(errors):.0f} %")


if __name__ == "__main__":
    main()
