#!/usr/bin/env python3
"""Times steps of MiniLM, a GPT block and a chain of matrix products against JAX (and PyTorch), in turns within one run.

    steps.py export DIR [--target cpu|cuda] [--chip sm_90] [--devices 1,4] [--case CASE]...    bundles; needs the compiler and JAX
    steps.py run DIR [--peer jax] [--peer torch] [--rounds 3] [--steps 10] [--shard-run FILE] [--json FILE]

CASE is a model with sizes that differ from models.py: minilm:length=128, gpt_block:hidden=4096,heads=32,length=2048,batch=8,dtype=bf16,
chain:width=8192,rows=8192,dtype=bf16. Without any: minilm at lengths 64 and 128. `run` needs no compiler: DIR may come from another
machine. Each round runs ours, then each peer, in processes of their own; the least time of all steps counts. On the CPU JAX
has as many virtual devices as ours. The rate of products is the step's, all else included, beside that of one large product by the
library that ours uses (oneDNN, cuBLASLt) in the same run, and what part of the step is in products and in collectives.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def read_case(text):
    from models import SIZES

    name, _, rest = text.partition(":")
    if name not in SIZES:
        sys.exit(f"steps.py: {name} is no model; there are {', '.join(SIZES)}")
    sizes = dict(SIZES[name])
    for entry in filter(None, rest.split(",")):
        key, _, value = entry.partition("=")
        if key not in sizes:
            sys.exit(f"steps.py: {name} has no {key}; there are {', '.join(sizes)}")
        sizes[key] = value if key == "dtype" else int(value)
    return name, sizes


def title(case):
    return f"{case['model']} " + " ".join(f"{key}={value}" for key, value in case["sizes"].items())


def make_mesh(devices):
    import jax

    return jax.sharding.Mesh(jax.devices()[:devices], ("data",)) if devices > 1 else None


def export(options):
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={max(options.devices)}"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import shardkit
    from models import SIZES, build, products
    from shardkit.tools import find_tool, run_tool

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    target = [f"--target={options.target}"] + ([f"--chip={options.chip}"] if options.target == "cuda" else [])
    wide = {"rows": 4096, "width": 4096, "layers": 4, "dtype": "f32"} if options.target == "cuda" else SIZES["chain"]
    cases = [read_case(text) for text in options.case or ["minilm", "minilm:length=128"]]
    dtypes = {sizes.get("dtype", "f32") for _, sizes in cases}
    work = [("chain", wide | {"dtype": dtype}, 1, True) for dtype in sorted(dtypes)]
    work += [(name, sizes, devices, False) for name, sizes in cases for devices in options.devices]
    listed = []
    for name, sizes, devices, is_rate in work:
        function, args = build(name, make_mesh(devices), **sizes)
        model = shardkit.import_jax(function, *args, locations=False)
        bundle = folder / f"case{len(listed)}"
        (folder / "model.mlir").write_text(model.text)
        run_tool([find_tool("shard-compile"), folder / "model.mlir", "-o", bundle, *target])
        listed.append({"model": name, "sizes": sizes, "devices": devices, "bundle": bundle.name, "is_rate": is_rate,
                       "products": products(name, **sizes), "target": options.target})
        print(f"{bundle}: {title(listed[-1])}, {devices} device{'s' * (devices > 1)}", flush=True)
    (folder / "model.mlir").unlink()
    (folder / "cases.json").write_text(json.dumps(listed, indent=1) + "\n")


def time_jax(case, steps):
    import jax
    from models import build

    function, args = build(case["model"], make_mesh(case["devices"]), **case["sizes"])
    step = jax.jit(function)
    args = jax.device_put(args) if case["devices"] == 1 else args
    jax.block_until_ready(step(*args))
    for _ in range(steps):
        start = time.perf_counter()
        jax.block_until_ready(step(*args))
        yield time.perf_counter() - start


def time_torch(case, steps):
    import torch
    from models import torch_gpt_block

    on_gpu = case["target"] == "cuda"
    function, x = torch_gpt_block(**case["sizes"], device="cuda" if on_gpu else "cpu")
    step = torch.compile(function, mode="max-autotune-no-cudagraphs" if not on_gpu else "max-autotune")
    wait = torch.cuda.synchronize if on_gpu else lambda: None
    with torch.no_grad():
        for _ in range(3):
            step(x)
        for _ in range(steps):
            wait()
            start = time.perf_counter()
            step(x)
            wait()
            yield time.perf_counter() - start


def run_peer(options, peer, case):
    environment = dict(os.environ)
    if case["target"] == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
        environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={case['devices']}"
    command = [sys.executable, __file__, "peer", peer, json.dumps(case), str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"steps.py: {peer} failed on {title(case)}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def report_of(options, case, *more):
    report = Path(options.folder) / "run.json"
    command = [options.shard_run, Path(options.folder) / case["bundle"], "--random-inputs=1", f"--repeat={options.steps}", f"--report={report}"]
    if case["model"] == "minilm":
        command += ["--range=input_ids=0:30000"]
    done = subprocess.run([*command, *options.option, *more], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"steps.py: {done.stderr.strip()}")
    return json.loads(report.read_text())


def run_ours(options, case, *more):
    whole = report_of(options, case, *more)
    entry = whole["run"]["functions"][0]
    steps, count = entry["steps"]["seconds"], len(entry["steps"]["seconds"]) + 1  # the untimed one
    moved = [sum(column) for column in zip(*(c["measured"]["seconds_per_rank"] for c in whole["collectives"]))] or [0]
    return {"steps": steps, "products": max(entry["contractions"]["seconds_per_rank"]) / count, "collectives": max(moved) / count,
            "all": sum(steps) / len(steps)}


def profile_ours(options, case):
    """Where the time of a step goes on a GPU: each kind of work, without graphs."""
    profile = report_of(options, case, "--profile")["run"]["functions"][0]["profile"]
    return [{"what": p["what"], "times": p["executions"] / options.steps, "seconds": p["seconds"] / options.steps} for p in profile]


def run(options):
    cases = json.loads((Path(options.folder) / "cases.json").read_text())
    best = [{} for _ in cases]
    parts = [None] * len(cases)
    for _ in range(options.rounds):
        for i, case in enumerate(cases):
            ours = run_ours(options, case)
            if min(ours["steps"]) < best[i].get("ours", float("inf")):
                best[i]["ours"], parts[i] = min(ours["steps"]), ours
            if case["target"] == "cuda":
                best[i]["tuned"] = min([*run_ours(options, case, "--tune")["steps"], best[i].get("tuned", float("inf"))])
            for peer in options.peer:
                can_run = not case["is_rate"] and (peer == "jax" or (case["model"] == "gpt_block" and case["devices"] == 1))
                if can_run and not (peer == "jax" and case["target"] == "cuda" and case["devices"] > 1):
                    best[i][peer] = min([*run_peer(options, peer, case), best[i].get(peer, float("inf"))])
    rates = {case["sizes"]["dtype"]: case["products"] / best[i]["ours"] for i, case in enumerate(cases) if case["is_rate"]}
    for dtype, rate in rates.items():
        tuned = [f", {case['products'] / best[i]['tuned'] / 1e9:.0f} with --tune" for i, case in enumerate(cases)
                 if case["is_rate"] and case["sizes"]["dtype"] == dtype and "tuned" in best[i]]
        print(f"one product after another, {dtype}: {rate / 1e9:.0f} GFLOP/s{''.join(tuned)}\n")
    head = ["case", "devices", "step, ms", "with --tune"] + [text for peer in options.peer for text in (f"{peer}, ms", "ratio")]
    head += ["GFLOP/s of products", "of the library's rate", "in products", "in collectives", "elsewhere"]
    print("| " + " | ".join(head) + " |\n| --- |" + " ---: |" * (len(head) - 1))
    for case, times, part in zip(cases, best, parts):
        if case["is_rate"]:
            continue
        row = [title(case), str(case["devices"]), f"{times['ours'] * 1e3:.2f}", f"{times['tuned'] * 1e3:.2f}" if "tuned" in times else ""]
        for peer in options.peer:
            row += [f"{times[peer] * 1e3:.2f}", f"{times['ours'] / times[peer]:.2f}"] if peer in times else ["", ""]
        rate = case["products"] / times["ours"]
        row += [f"{rate / 1e9:.0f}", f"{rate / rates[case['sizes'].get('dtype', 'f32')]:.0%}"]
        shares = [part["products"] / part["all"], part["collectives"] / part["all"]]
        row += [f"{s:.0%}" for s in (*shares, 1 - sum(shares))] if shares[0] else ["", "", ""]
        print("| " + " | ".join(row) + " |")
    profiles = [profile_ours(options, case) if case["target"] == "cuda" and not case["is_rate"] else [] for case in cases]
    for case, profile in zip(cases, profiles):
        if not profile:
            continue
        total = sum(p["seconds"] for p in profile)
        print(f"\n{title(case)}: {total * 1e3:.2f} ms in\n\n| what | times | ms | of all |\n| --- | ---: | ---: | ---: |")
        for p in profile[:12]:
            print(f"| {p['what']} | {p['times']:.0f} | {p['seconds'] * 1e3:.3f} | {p['seconds'] / total:.0%} |")
    if options.json:
        found = [case | {"seconds": times, "parts": part, "profile": profile} for case, times, part, profile in zip(cases, best, parts, profiles)]
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    exporting = commands.add_parser("export")
    exporting.add_argument("folder")
    exporting.add_argument("--case", action="append")
    exporting.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    exporting.add_argument("--chip", default="sm_90")
    exporting.add_argument("--devices", type=lambda text: [int(n) for n in text.split(",")], default=[1])
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--peer", action="append", choices=("jax", "torch"), default=[])
    running.add_argument("--rounds", type=int, default=3)
    running.add_argument("--steps", type=int, default=10)
    running.add_argument("--shard-run", default=str(HERE.parents[1] / "build/bin/shard-run"))
    running.add_argument("--option", action="append", default=[], help="for shard-run")
    running.add_argument("--json")
    peer = commands.add_parser("peer")
    peer.add_argument("peer")
    peer.add_argument("case")
    peer.add_argument("steps", type=int)
    options = parser.parse_args()
    if options.command == "export":
        export(options)
    elif options.command == "run":
        run(options)
    else:
        timer = {"jax": time_jax, "torch": time_torch}[options.peer]
        print(json.dumps(list(timer(json.loads(options.case), options.steps))))


if __name__ == "__main__":
    main()
