"""Measures the phases of shard-opt; shared by phases.py and edges.py."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PASSES = {"propagate": ("--spmd-propagate", "PropagatePass"),
          "insert reshards": ("--spmd-insert-reshards", "InsertReshardsPass"),
          "partition": ("--spmd-partition", "PartitionPass")}
PHASES = list(PASSES)
NO_VERIFIER = ["--verify-each=0"]


def get_parser(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard-opt", help="default: build/bin/shard-opt of this checkout, else the one on PATH")
    parser.add_argument("--runs", type=int, default=9, help="runs per size; the minimum counts")
    parser.add_argument("--instructions", action="store_true",
                        help="count instructions with valgrind, once, in place of time: slow, and the same whatever else the machine does")
    return parser


def find_shard_opt(given):
    built = HERE.parent / "build" / "bin" / "shard-opt"
    found = given or (str(built) if built.exists() else shutil.which("shard-opt"))
    if not found or not os.access(found, os.X_OK):
        sys.exit(f"error: no executable shard-opt at {found or built}, expected scripts/build to have run or --shard-opt=PATH")
    return found


def get_command(shard_opt, path, flags):
    return [shard_opt, str(path), *(flag for flag, _ in PASSES.values()), "--mlir-disable-threading", *flags, "-o", os.devnull]


def run(command):
    """Standard error and the peak memory in MB; ends the program where the command fails."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        text = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(command)} exited with {process.returncode}\n{text}")
    return text, usage.ru_maxrss / 1024


def take_time(shard_opt, path, flags):
    """Milliseconds per phase and of "parse", peak "memory" in MB."""
    text, memory = run(get_command(shard_opt, path, flags) +
                       ["--mlir-timing", "--mlir-timing-display=list", "--mlir-output-format=json"])
    lines = text.splitlines()
    times = {entry["name"]: entry["wall"]["duration"] * 1e3 for entry in json.loads("\n".join(lines[lines.index("["):]))}
    return {"parse": times["Parser"], "memory": memory, **{phase: times["SPMD" + name] for phase, (_, name) in PASSES.items()}}


def count_instructions(shard_opt, path, flags):
    """Millions of instructions per phase."""
    if not shutil.which("valgrind"):
        sys.exit("error: no valgrind on PATH, expected it for --instructions")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=*Pass::runOnOperation*",
             *get_command(shard_opt, path, flags)])
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                              check=True, capture_output=True, text=True).stdout
    counts = {}
    for phase, (_, name) in PASSES.items():
        found = re.search(rf"^\s*([\d,]+) .*[:)]{name}::runOnOperation\(\)", text, re.MULTILINE)
        counts[phase] = int(found[1].replace(",", "")) / 1e6
    return counts


def measure(args, jobs):
    """Per job (path, flags) a dict of minima. Each round runs every job once, so that a disturbance hits all sizes alike."""
    shard_opt = find_shard_opt(args.shard_opt)
    if args.instructions:
        return [count_instructions(shard_opt, path, flags) for path, flags in jobs]
    best = [{} for _ in jobs]
    for done in range(args.runs):
        for minima, (path, flags) in zip(best, jobs):
            for key, value in take_time(shard_opt, path, flags).items():
                minima[key] = min(value, minima.get(key, value))
        if sys.stderr.isatty():
            print(f"\rrun {done + 1} of {args.runs}", end="" if done + 1 < args.runs else "\n", file=sys.stderr, flush=True)
    return best


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " ---: |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
