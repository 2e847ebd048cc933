#!/usr/bin/env python3
"""CPU time of the proof, by that of the compile without it.

    benchmarks/proof.py [--layers 24,126] [--grids 2x2,8x8,32x8] [--repeat 3]

Transformers with the widths of Llama 3.1 405B (gen_transformer.py), compiled with and without --proof. Prints per depth and mesh both
times and their ratio, the least of some runs each.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTHS = ["-B", "64", "-S", "512", "-H", "128", "-K", "128", "-F", "53248"]


def run(command):
    """CPU seconds, and MiB at most, of a child."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default="24,126")
    parser.add_argument("--grids", default="2x2,8x8,32x8")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    print("layers   mesh  without    with  ratio    MiB")
    with tempfile.TemporaryDirectory() as folder:
        for layers in args.layers.split(","):
            for grid in args.grids.split(","):
                model = Path(folder) / "model.mlir"
                generated = subprocess.run([sys.executable, ROOT / "benchmarks" / "gen_transformer.py", "-L", layers, "--annot", "spmd",
                                            "--grid", grid, *WIDTHS], capture_output=True, text=True, check=True)
                model.write_text(generated.stdout)
                times = {}
                for proof in ("false", "true"):
                    runs = [run([ROOT / "build" / "bin" / "shard-compile", model, f"--proof={proof}", "-o", Path(folder) / f"{proof}.{i}"])
                            for i in range(args.repeat)]
                    times[proof] = min(runs)
                    subprocess.run(["rm", "-r", *(Path(folder) / f"{proof}.{i}" for i in range(args.repeat))], check=True)
                (without, _), (with_proof, memory) = times["false"], times["true"]
                print(f"{layers:>6} {grid:>6} {without:8.2f} {with_proof:7.2f} {with_proof / without:6.2f} {memory:6.0f}")


if __name__ == "__main__":
    main()
