#!/usr/bin/env python3
"""The plans that --spmd-auto-shard finds on 8 devices against those a hand would write: a table, and a check.

usage: plans.py [--bin build/bin] [--size small|table] [--model NAME] [--write DIRECTORY] [--check]

By hand: arguments are annotated (a plan file) and the rest is propagated. "search" finds layouts on the mesh of Megatron, "shapes" on the best mesh of two
axes. Seconds are those of all collectives with their optimisations off, which is what the search minimises; in brackets with all of them on. `--check` fails
unless "shapes" is proven optimal and costs no more than the best plan by hand. `--write` leaves the program and the shape found, to be run.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from models import BOTH, MODELS


def spell(shape):
    return f'spmd.mesh @mesh = <["data"={shape[0]}, "model"={shape[1]}]>'


class Bench:
    def __init__(self, tools, scratch):
        self.tool, self.scratch = str(pathlib.Path(tools) / "shard-opt"), pathlib.Path(scratch)

    def run(self, text, *passes):
        out = subprocess.run([self.tool, "-", *passes], input=text, capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{' '.join(passes)}\n{out.stderr}")
        return out.stdout

    def measure(self, text):
        """What partitioning completed layouts gives: seconds, with optimisations, bytes at the peak; and the search's own words."""
        report = self.scratch / "report.json"
        found = []
        for passes in (["--spmd-insert-reshards=defer-reductions=false", "--spmd-partition", "--spmd-assign-collective-ids"], []):
            self.run(text, *passes, f"--spmd-report=format=json output={report}", "-o", "/dev/null")
            found.append(json.loads(report.read_text()))
        return found[0]["totals"]["cost"], found[1]["totals"]["cost"], found[1]["memory"]["peak_bytes"], found[0].get("solver")

    def prepare(self, text, shape):
        return self.run(text.replace("MESH", spell(shape)), "--inline", "--symbol-dce", "-mlir-print-debuginfo")

    def by_hand(self, text, shape, rules):
        plan = self.scratch / "plan.json"
        plan.write_text(json.dumps({"version": 1, "rules": rules}))
        return self.measure(self.run(self.prepare(text, shape), f"--spmd-apply-plan=file={plan}", "--spmd-propagate"))

    def search(self, text, options):
        return self.measure(self.run(self.prepare(text, BOTH), f"--spmd-auto-shard={options}"))


def show(result):
    return f"{result[0]:.3e} ({result[1]:.3e})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--size", choices=["small", "table"], default="table")
    parser.add_argument("--model", choices=list(MODELS))
    parser.add_argument("--write")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failures, names = [], ["data parallel", "megatron", "fsdp"]
    print("| model | data parallel, 8 x 1 | Megatron, 2 x 4 | FSDP, 8 x 1 | search, 2 x 4 | search, best shape | shape | peak by hand, MB | peak found, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(args.bin, scratch)
        for name, make in MODELS.items():
            if args.model not in (None, name):
                continue
            text, plans = make(args.size)
            hand = {plan: bench.by_hand(text, *plans[plan]) for plan in names}
            fixed, best = bench.search(text, ""), bench.search(text, "mesh-shapes=all")
            shape = best[3]["mesh_shapes"][0]["shape"]
            costs = " | ".join(show(result) for result in [*hand.values(), fixed, best])
            peaks = ", ".join(f"{result[2] / 1e6:.1f}" for result in hand.values())
            print(f"| {name} | {costs} | {shape[0]} x {shape[1]} | {peaks} | {best[2] / 1e6:.1f} |", flush=True)
            least = min(r[0] for r in hand.values())
            if best[0] > least * (1 + 1e-9) or not best[3]["status"].startswith("optimal"):
                failures.append(f"{name}: found {best[0]}, {best[3]['status']}, by hand {least}")
            if args.write:
                pathlib.Path(args.write).mkdir(parents=True, exist_ok=True)
                (pathlib.Path(args.write) / (name.replace(" ", "-") + ".mlir")).write_text(text.replace("MESH", spell(shape)))
    for failure in failures:
        print("WORSE", failure)
    print(f"{len(failures)} worse than by hand")
    sys.exit(1 if args.check and failures else 0)


if __name__ == "__main__":
    main()
