#!/usr/bin/env python3
"""Times steps of MiniLM, a GPT block and a chain of matrix products against JAX (and PyTorch), in turns within one run.

    steps.py export DIR [--target cpu|cuda] [--chip sm_90] [--devices 1,4] [--case CASE]...    bundles; needs the compiler and JAX
    steps.py run DIR [--peer jax] [--peer torch] [--rounds 3] [--steps 10] [--minutes M] [--shard-run FILE] [--json FILE]

CASE is a model with sizes that differ from models.py: minilm:length=128, gpt_block:hidden=4096,heads=32,length=2048,batch=8,dtype=bf16,
chain:width=8192,rows=8192,dtype=bf16. Without any: minilm at lengths 64 and 128. `run` needs no compiler: DIR may come from another
machine. Each round runs ours, then each peer, in processes of their own; on the CPU the least time of all steps counts, and JAX
has as many virtual devices as ours. A GPU lowers its clock when it has worked for some tenths of a second: there each process runs for
a second first, and the median of the steps behind that counts, of the better round. The rate of products is the step's, all else included, beside that of one large product by the
library that ours uses (oneDNN, cuBLASLt) in the same run, and what part of the step is in products and in collectives. On a GPU f32 is
multiplied as f32 by all, or by all as tf32 with --option=--matmul-precision=tf32. What fails, of ours or of a peer, is left empty; its
message is in the JSON and below the table. After --minutes nothing more is begun.
"""

import argparse
import json
import os
import platform
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "scripts"))
from processes import Children, Clock  # noqa: E402

TIMEOUT = 600  # Seconds of one process.
WARM_UP = 1.0  # Seconds that a GPU works before anything counts.


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
    from jax_models import build
    from models import SIZES, products
    from shardkit.tools import find_tool, run_tool

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    target = [f"--target={options.target}"] + ([f"--chip={options.chip}"] if options.target == "cuda" else [])
    if options.target == "cuda" and platform.machine() == "x86_64":
        target.append("--mcpu=x86-64-v3")  # It runs on another host.
    width = options.width or (4096 if options.target == "cuda" else 2048)
    wide = SIZES["chain"] | {"rows": width, "width": width}
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


def warm_up_steps(case):
    """How many steps take at least WARM_UP on the fastest GPU of today; what is not products takes longer."""
    if case["target"] != "cuda":
        return 0
    rate = 60e12 if case["sizes"].get("dtype", "f32") == "f32" else 1000e12
    return min(2000, int(WARM_UP * rate / case["products"]))


def time_steps(step, case, steps):
    """Seconds of each."""
    begin = time.perf_counter()
    while case["target"] == "cuda" and time.perf_counter() - begin < WARM_UP:
        step()
    found = []
    for _ in range(steps):
        start = time.perf_counter()
        step()
        found.append(time.perf_counter() - start)
    return found


def time_jax(case, steps):
    """Seconds of each step, and what is to be said of them."""
    import jax
    from jax_models import build

    if case["target"] == "cuda" and case["sizes"].get("dtype", "f32") == "f32":
        jax.config.update("jax_default_matmul_precision", "tensorfloat32" if case["precision"] == "tf32" else "highest")
    function, args = build(case["model"], make_mesh(case["devices"]), **case["sizes"])
    step = jax.jit(function)
    args = jax.device_put(args) if case["devices"] == 1 else args
    jax.block_until_ready(step(*args))
    return time_steps(lambda: jax.block_until_ready(step(*args)), case, steps), None


def time_torch(case, steps, mode="default"):
    import torch
    from models import torch_gpt_block

    on_gpu = case["target"] == "cuda"
    torch.set_float32_matmul_precision("high" if on_gpu and case["precision"] == "tf32" else "highest")
    function, x = torch_gpt_block(**case["sizes"], device="cuda" if on_gpu else "cpu")
    compiled = torch.compile(function, mode=mode if on_gpu else "max-autotune-no-cudagraphs")
    wait = torch.cuda.synchronize if on_gpu else lambda: None

    def measure(function):
        def step():
            function(x)
            wait()

        with torch.no_grad():
            for _ in range(3):
                step()
            return time_steps(step, case, steps)

    try:
        return measure(compiled), None
    except Exception as error:  # It needs a compiler, and more.
        return measure(function), f"as it is: torch.compile: {type(error).__name__}: {str(error).strip().splitlines()[0][:300]}"


class Runs:
    """What is measured of each case: seconds of a step of ours, with --tune and of peers; errors in their place."""

    def __init__(self, options):
        self.options, self.clock, self.children = options, Clock(options.minutes), Children()
        self.cases = json.loads((Path(options.folder) / "cases.json").read_text())
        self.precision = "tf32" if "--matmul-precision=tf32" in options.option else "ieee"
        self.best = [{} for _ in self.cases]
        self.parts = [None] * len(self.cases)
        self.profiles = [[] for _ in self.cases]
        self.errors = [{} for _ in self.cases]

    def call(self, command, env=None):
        """What it prints."""
        status, out, err = self.children.run(command, self.clock.bound(TIMEOUT), env)
        if status is None:
            raise RuntimeError("did not end in time")
        if status:
            lines = [line.strip() for line in (err + out).splitlines() if line.strip(" ^~")] or [f"ended with {status}"]
            last = lines[-1] if ":" in lines[-1] else ": ".join(lines[-1:-3:-1])  # AssertionError: assert ...
            raise RuntimeError(next((line for line in lines if line.startswith("error")), last)[:500])
        return out

    def run_peer(self, peer, case):
        environment = dict(os.environ)
        if case["target"] == "cpu":
            environment["JAX_PLATFORMS"] = "cpu"
            environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={case['devices']}"
        else:
            environment["JAX_PLATFORMS"] = "cuda"  # or an error, and not the processor
        given = json.dumps(case | {"precision": self.precision})
        out = self.call([sys.executable, __file__, "peer", peer, given, self.options.steps], environment)
        return json.loads(out.strip().splitlines()[-1])

    def report_of(self, case, repeat, *more):
        with tempfile.TemporaryDirectory() as work:
            report = Path(work, "run.json")
            command = [self.options.shard_run, Path(self.options.folder) / case["bundle"], "--random-inputs=1",
                       f"--repeat={repeat}", f"--report={report}"]
            if case["model"] == "minilm":
                command += ["--range=input_ids=0:30000"]
            self.call([*command, *self.options.option, *more])
            return json.loads(report.read_text())

    def run_ours(self, case, *more):
        whole = self.report_of(case, warm_up_steps(case) + self.options.steps, *more)
        entry = whole["run"]["functions"][0]
        steps, count = entry["steps"]["seconds"], len(entry["steps"]["seconds"]) + 1  # the untimed one
        counted = steps[-self.options.steps:]
        moved = [sum(column) for column in zip(*(c["measured"]["seconds_per_rank"] for c in whole["collectives"]))] or [0]
        return {"steps": counted, "products": max(entry["contractions"]["seconds_per_rank"]) / count, "collectives": max(moved) / count,
                "all": sum(steps) / len(steps), "uses": {key: whole["run"][key] for key in ("products", "graphs_failed") if key in whole["run"]}}

    def profile_ours(self, case):
        """Where the time of a step goes on a GPU: each kind of work, without graphs."""
        profile = self.report_of(case, self.options.steps, "--profile")["run"]["functions"][0]["profile"]
        return [{"what": p["what"], "times": p["executions"] / self.options.steps, "seconds": p["seconds"] / self.options.steps}
                for p in profile]

    def whos(self, case):
        """Ours and the peers that can run it."""
        found = ["ours"] + ["tuned"] * (case["target"] == "cuda")
        for peer in self.options.peer:
            can_run = not case["is_rate"] and (peer == "jax" or (case["model"] == "gpt_block" and case["devices"] == 1))
            can_run = can_run and not (peer == "torch-autotuned" and case["target"] != "cuda")
            if can_run and not (peer == "jax" and case["target"] == "cuda" and case["devices"] > 1):
                found.append(peer)
        return found

    def attempt(self, i, who, measure):
        """Whatever it raises is written down; who fails once is not asked again."""
        if self.clock.is_over():
            self.errors[i].setdefault(who, "not run: the time was over")
            return
        try:
            measure(self.cases[i])
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            self.errors[i][who] = str(error)
        self.write()

    def measure(self, i, who, case):
        if who in ("ours", "tuned"):
            ours = self.run_ours(case, *["--tune"] * (who == "tuned"))
            steps = ours["steps"]
            if who == "ours" and self.of_round(case, steps) < self.best[i].get(who, float("inf")):
                self.parts[i] = ours
        else:
            steps, note = self.run_peer(who, case)
            if note:
                self.errors[i][who] = note
        self.best[i][who] = min(self.of_round(case, steps), self.best[i].get(who, float("inf")))

    @staticmethod
    def of_round(case, steps):
        return statistics.median(steps) if case["target"] == "cuda" else min(steps)

    def profile(self, i, case):
        self.profiles[i] = self.profile_ours(case)

    def run(self):
        for turn in range(self.options.rounds):
            for i, case in enumerate(self.cases):
                for who in self.whos(case):
                    if who not in self.errors[i] and not (turn and self.clock.is_over()):
                        self.attempt(i, who, lambda case: self.measure(i, who, case))
        for i, case in enumerate(self.cases):
            if case["target"] == "cuda" and not case["is_rate"]:
                self.attempt(i, "profile", lambda case: self.profile(i, case))
        self.write()

    def write(self):
        if self.options.json:
            found = [case | {"seconds": times, "parts": part, "profile": profile, "errors": errors}
                     for case, times, part, profile, errors in zip(self.cases, self.best, self.parts, self.profiles, self.errors)]
            Path(self.options.json).write_text(json.dumps(found, indent=1) + "\n")


def show(runs):
    """The tables, and what failed."""
    cases, best = runs.cases, runs.best
    rates = {}
    for case, times in zip(cases, best):
        if case["is_rate"] and "ours" in times:
            dtype = case["sizes"]["dtype"]
            rates[dtype] = case["products"] / times["ours"]
            tuned = f", {case['products'] / times['tuned'] / 1e9:.0f} with --tune" if "tuned" in times else ""
            print(f"one product after another, {dtype}: {rates[dtype] / 1e9:.0f} GFLOP/s{tuned}\n")
    head = ["case", "devices", "step, ms", "with --tune"] + [text for peer in runs.options.peer for text in (f"{peer}, ms", "ratio")]
    head += ["GFLOP/s of products", "of the library's rate", "in products", "in collectives", "elsewhere"]
    print("| " + " | ".join(head) + " |\n| --- |" + " ---: |" * (len(head) - 1))
    for case, times, part in zip(cases, best, runs.parts):
        if case["is_rate"]:
            continue
        row = [title(case), str(case["devices"])] + [f"{times[who] * 1e3:.2f}" if who in times else "" for who in ("ours", "tuned")]
        for peer in runs.options.peer:
            row.append(f"{times[peer] * 1e3:.2f}" if peer in times else "")
            row.append(f"{times['ours'] / times[peer]:.2f}" if peer in times and "ours" in times else "")
        rate, of = case["products"] / times["ours"] if "ours" in times else None, rates.get(case["sizes"].get("dtype", "f32"))
        row += [f"{rate / 1e9:.0f}" if rate else "", f"{rate / of:.0%}" if rate and of else ""]
        shares = [part["products"] / part["all"], part["collectives"] / part["all"]] if part else [0, 0]
        row += [f"{s:.0%}" for s in (*shares, 1 - sum(shares))] if shares[0] else ["", "", ""]
        print("| " + " | ".join(row) + " |")
    for case, part in zip(cases, runs.parts):
        calls = (part or {}).get("uses", {}).get("products", {})
        if calls.get("by_library_and_kernel") or calls.get("by_kernel"):
            print(f"\n{title(case)}: of the products {calls['by_library_and_kernel']} have a kernel behind cuBLASLt's, {calls['by_kernel']} are by "
                  f"the runtime's plain kernel, {calls['by_library']} by cuBLASLt: {calls['reason']}")
        if failed := (part or {}).get("uses", {}).get("graphs_failed"):
            print(f"\n{title(case)}: {failed['count']} graphs could not be recorded: {failed['reason']}")
    for case, errors in zip(cases, runs.errors):
        for who, error in errors.items():
            print(f"\n{title(case)}, {who}: {error}")
    for case, profile in zip(cases, runs.profiles):
        if not profile:
            continue
        total = sum(p["seconds"] for p in profile)
        print(f"\n{title(case)}: {total * 1e3:.2f} ms in\n\n| what | times | ms | of all |\n| --- | ---: | ---: | ---: |")
        for p in profile[:12]:
            print(f"| {p['what']} | {p['times']:.0f} | {p['seconds'] * 1e3:.3f} | {p['seconds'] / total:.0%} |")


def run(options):
    runs = Runs(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        runs.run()
    finally:
        runs.children.end()
    show(runs)
    sys.exit(1 if any({"ours", "tuned"} & set(errors) for errors in runs.errors) else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    exporting = commands.add_parser("export")
    exporting.add_argument("folder")
    exporting.add_argument("--case", action="append")
    exporting.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    exporting.add_argument("--chip", default="sm_90")
    exporting.add_argument("--width", type=int, help="of the product whose rate is the library's; 4096 on a GPU, else 2048")
    exporting.add_argument("--devices", type=lambda text: [int(n) for n in text.split(",")], default=[1])
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--peer", action="append", choices=("jax", "torch"), default=[])
    running.add_argument("--rounds", type=int, default=3)
    running.add_argument("--steps", type=int, default=10)
    running.add_argument("--minutes", type=float)
    running.add_argument("--shard-run", default=str(HERE.parents[1] / "build/bin/shard-run"))
    running.add_argument("--option", action="append", default=[], help="for shard-run")
    running.add_argument("--json")
    peer = commands.add_parser("peer")
    peer.add_argument("peer")
    peer.add_argument("case")
    peer.add_argument("steps", type=int)
    options = parser.parse_args()
    if options.command == "run" and "torch" in options.peer:
        options.peer.insert(options.peer.index("torch") + 1, "torch-autotuned")  # That takes long: behind the default.
    if options.command == "export":
        export(options)
    elif options.command == "run":
        run(options)
    else:
        timer = {"jax": time_jax, "torch": time_torch,
                 "torch-autotuned": lambda case, steps: time_torch(case, steps, "max-autotune")}[options.peer]
        print(json.dumps(timer(json.loads(options.case), options.steps)))


if __name__ == "__main__":
    main()
