#!/usr/bin/env python3
"""How code generation grows with the layers of a model: CPU seconds of `shard-compile`, for 8 and for 32 equal layers.

    python3 benchmarks/depth.py [--layers 8,32] [--rounds 3] [--model FILE_PATTERN]

The model is that of gen_transformer.py on a mesh of 2 x 4, or files such as model-{}.mlir. It is partitioned before; what reading it
takes is subtracted. Rows: CPU seconds (of all threads), elapsed seconds, bytes of the program; minima of the rounds, in turns."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measure(*command):
    """CPU seconds and elapsed seconds."""
    before, begin = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4]), time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", default="8,32")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", help="files by number of layers, with {} for it")
    options = parser.parse_args()
    counts = [int(n) for n in options.layers.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for n in counts:
            model = options.model.format(n) if options.model else f"{folder}/model{n}.mlir"
            if not options.model:
                with open(model, "w") as file:
                    subprocess.run([sys.executable, HERE / "gen_transformer.py", "-L", str(n), "--annot", "spmd"], check=True, stdout=file)
            subprocess.run(["shard-opt", model, "--spmd-default-pipeline", "-o", f"{folder}/{n}.mlir"], check=True)
        best = {}
        for _ in range(options.rounds):
            for n in counts:
                read = measure("shard-opt", f"{folder}/{n}.mlir", "-o", os.devnull)
                full = measure("shard-compile", f"{folder}/{n}.mlir", "-o", f"{folder}/bundle{n}")
                found = [b - a for a, b in zip(read, full)]
                best[n] = [min(pair) for pair in zip(best.get(n, found), found)]
        print("| layers | CPU s | ratio | elapsed s | ratio | bytes | ratio |\n| --- | --- | --- | --- | --- | --- | --- |")
        first = None
        for n in counts:
            row = [*best[n], Path(folder, f"bundle{n}", "programs", "main.so").stat().st_size]
            first = first or row
            print(f"| {n} | " + " | ".join(f"{value:.3g} | {value / base:.2f}" for value, base in zip(row, first)) + " |")


if __name__ == "__main__":
    main()
