#!/usr/bin/env python3
"""Propagation beside that of upstream MLIR and of Shardy, over the depth of one transformer, as a markdown table.

Each tool gets the graph in the dialects it reads, with the same annotations on the batch and the weights; rounds run all
tools in turn. Upstream is the line ShardingPropagation of mlir-opt; Shardy is UserPriorityPropagationPass of the jaxlib
wheel, where a Python that has it is given (--python). The last columns compare the peak memory of parsing and propagating
with that of parsing alone; neither prints the module.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import HERE, find_shard_opt, get_parser, print_table

FLAGS = ["--mlir-disable-threading", "--verify-each=0", "-o", "/dev/null"]
TIMING = ["--mlir-timing", "--mlir-timing-display=list"]
# A pass that refuses its option ends the program before the module is printed.
STOP = "--spmd-propagate=conflicts=stop-here"


def take_line(command, name):
    """Milliseconds of a pass in the report of --mlir-timing."""
    process = subprocess.run(command, capture_output=True, text=True)
    found = re.search(rf"^\s+([\d.]+) \(.*{name}\S*$", process.stderr, re.MULTILINE)
    if process.returncode != 0 or not found:
        sys.exit(f"error: {' '.join(command)} exited with {process.returncode}, expected a line {name}\n{process.stderr[-2000:]}")
    return float(found[1]) * 1e3


def take_memory(command):
    """Peak memory in MB of a run that STOP ends."""
    code = ("import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
            "assert p.returncode == 1 and 'stop-here' in p.stderr, p.stderr[-2000:]; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    return int(subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True).stdout) / 1024


def take_shardy(python, path):
    """Milliseconds, or None where there is no jaxlib."""
    process = subprocess.run([python, HERE / "run_shardy.py", path], capture_output=True, text=True)
    if process.returncode == 3:
        return None
    if process.returncode != 0:
        sys.exit(f"error: run_shardy.py exited with {process.returncode}\n{process.stderr[-2000:]}")
    return json.loads(process.stdout)["propagation"]


def generate(script, layers, path, *options):
    with open(path, "w") as file:
        text = subprocess.run([sys.executable, HERE / script, "-L", str(layers), "--count", *options],
                              check=True, stdout=file, stderr=subprocess.PIPE, text=True).stderr
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", text)}


def main():
    parser = get_parser(__doc__)
    parser.set_defaults(runs=3)
    parser.add_argument("--layers", default="64,512,4096,16384", help="sizes; 16384 layers are 950,272 tensor ops")
    parser.add_argument("--peers-up-to", type=int, default=512, help="layers beyond which only shard-opt runs")
    parser.add_argument("--mlir-opt", default=shutil.which("mlir-opt-22") or shutil.which("mlir-opt"))
    parser.add_argument("--python", default=sys.executable, help="a Python with the wheel jaxlib")
    args = parser.parse_args()
    shard_opt = find_shard_opt(args.shard_opt)
    if args.instructions:
        sys.exit("error: --instructions counts one program, expected phases.py or edges.py for it")
    if not args.mlir_opt:
        print("No mlir-opt on PATH: upstream's column is empty.", file=sys.stderr)
    shardy = True
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ours, upstream, sdy = (Path(folder) / f"{name}.mlir" for name in ("spmd", "upstream", "sdy"))
        for layers in map(int, args.layers.split(",")):
            counts = generate("gen_transformer.py", layers, ours, "--annot", "spmd")
            ops = counts["linalg"] + counts["empty"]
            peers = layers <= args.peers_up_to
            best = {}

            def take(name, value):
                best[name] = min(value, best.get(name, value))

            if peers:
                generate("gen_transformer.py", layers, upstream, "--annot", "upstream")
                generate("gen_stablehlo.py", layers, sdy)
            for _ in range(args.runs):
                take("ours", take_line([shard_opt, ours, "--spmd-propagate", *FLAGS, *TIMING], "SPMDPropagatePass"))
                if peers and args.mlir_opt:
                    take("upstream", take_line([args.mlir_opt, upstream, "--pass-pipeline=builtin.module(func.func(sharding-propagation))",
                                                *FLAGS, *TIMING], "ShardingPropagation"))
                if peers and shardy:
                    time = take_shardy(args.python, sdy)
                    if time is None:
                        shardy = False
                        print(f"{args.python} has no jaxlib: Shardy's column is empty (pip install jaxlib, --python).", file=sys.stderr)
                    else:
                        take("shardy", time)
            parse = take_memory([shard_opt, ours, STOP, *FLAGS])
            whole = take_memory([shard_opt, ours, "--spmd-propagate", STOP, *FLAGS])
            row = [f"{layers:,}", f"{ops:,}", f"{best['ours']:.1f}", f"{best['ours'] / ops * 1e3:.2f}"]
            for peer in ("upstream", "shardy"):
                row += [f"{best[peer]:.1f}", f"{best['ours'] / best[peer]:.3f}"] if peer in best else ["", ""]
            rows.append(row + [f"{parse:.0f}", f"{whole:.0f}", f"{whole / parse:.2f}"])
    print_table(["layers", "tensor ops", "propagate, ms", "µs/op", "upstream, ms", "ratio to it", "Shardy, ms", "ratio to it",
                 "parse, MB", "and propagate, MB", "ratio"], rows)


if __name__ == "__main__":
    main()
