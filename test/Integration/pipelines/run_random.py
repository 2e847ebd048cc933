#!/usr/bin/env python3
"""Runs random functions (gen_random_step.py) in microbatches and compares with the whole.

  run_random.py --from-seed 1 --count 20 --dir DIR

The number of microbatches is 1 to 4, that of stages 1 to 3. What cannot be split has to be
refused with one located error; how many were is printed. With --uneven the stages have meshes of
several shapes, which do not divide the dims; padding is filled, and weights are written over.
"""
import argparse
import os
import re
import subprocess
import sys

from gen_random_step import Program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from-seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--size", type=int, default=12, help="ops")
    parser.add_argument("--dir", default=".")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--uneven", action="store_true")
    parser.add_argument("--explain", action="store_true", help="print why programs are refused")
    args = parser.parse_args()
    os.makedirs(args.dir, exist_ok=True)
    refused = bad = 0
    for seed in range(args.from_seed, args.from_seed + args.count):
        microbatches, stages = seed % 4 + 1, seed // 4 % 3 + 1
        path = os.path.join(args.dir, f"{seed}.mlir")
        with open(path, "w") as file:
            file.write(Program(seed, 12, stages, args.size, args.uneven).text())
        meshes = ",".join(f"s{i}" for i in range(stages))
        more = []
        if args.uneven:
            more = [f"--compile-option=--fill-padding={['lowest', 'none', 'ones', 'zero'][seed // 3 % 4]}"]
            more += ["--donate"] * (seed % 3 > 0)
        command = ["shard-run", path, f"--target={args.target}", f"--pipeline=meshes={meshes} microbatches={microbatches}",
                   f"--random-inputs={seed}", "--verify", "--compile-option=--opt-level=0", *more]
        run = subprocess.run(command, capture_output=True, text=True)
        if "error: --donate: " in run.stderr:  # another stage reads the weight
            run = subprocess.run(command[:-1], capture_output=True, text=True)
        located = re.findall(r"^\S+:\d+:\d+: error: .*, expected ", run.stderr, re.M)
        if run.returncode == 1 and len(located) == 1 and "step" not in run.stdout:
            refused += 1
            if args.explain:
                print(located[0], run.stderr.splitlines()[0][:300])
        elif run.returncode != 0:
            bad += 1
            print(f"seed {seed}, {stages} stages, {microbatches} microbatches: exit {run.returncode}")
            print("\n".join((run.stdout + run.stderr).splitlines()[-6:]))
    print(f"{args.count} programs, {refused} refused, {bad} wrong")
    return 1 if bad or refused > args.count // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
