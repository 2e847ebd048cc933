#!/usr/bin/env python3
"""Collectives, with the bandwidths that nccl-tests defines: algbw = size / time, busbw = algbw times what a link has to carry of it.

    collectives.py [--devices 4] [--backend local|mpi|nccl] [--target cpu|cuda] [--sizes 1024,1048576,67108864] [--kinds all_reduce,...]
                   [--repeat 20] [--copies 8] [--export DIR | --run DIR] [-- OPTIONS OF shard-run]

A step is COPIES collectives of one kind, each on a buffer of its own; the least step of REPEAT counts, divided by COPIES. The size is
the larger of what a device gives and gets. `--backend mpi` runs under mpirun, with one process per device. With --export the
bundles are written, for a machine without the compiler, which runs them with --run.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(__file__).resolve().parents[1] / "build" / "bin"
# What crosses a link, of the size, on n devices.
LINK = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
}


def program(kind, devices, size, copies):
    """`copies` collectives of f32, of `size` bytes."""
    count = max(size // 4 // devices, 1)  # of one device's part
    whole, part, row = f"tensor<{count * devices}xf32>", f"tensor<{count}xf32>", f"tensor<{devices}x{count}xf32>"
    cut, none = '[{"x"}]', "[{}]"
    # Global type and layout of arguments and results, local types, the op.
    big = f"tensor<{count * devices * devices}xf32>"
    argument, given, local, result, wanted, op, to = {
        "all_reduce": (big, cut, whole, whole, none, 'spmd.all_reduce %{} sum <@m, {{"x"}}> : {}', whole),
        "all_gather": (whole, cut, part, whole, none, 'spmd.all_gather %{} <@m, [{{"x"}}]> : {} -> {}', whole),
        "reduce_scatter": (big, cut, whole, whole, cut, 'spmd.reduce_scatter %{} sum <@m, [{{"x"}}]> : {} -> {}', part),
        "all_to_all": (f"tensor<{devices}x{count * devices}xf32>", '[{"x"}, {}]', f"tensor<1x{count * devices}xf32>",
                       f"tensor<{devices}x{count * devices}xf32>", '[{}, {"x"}]',
                       'spmd.all_to_all %{} <@m, [{{"x"}}, {{}}]> to <@m, [{{}}, {{"x"}}]> : {} -> {}', row),
    }[kind]
    names = range(copies)
    arguments = ", ".join(f"%x{i}: {argument} {{spmd.sharding = #spmd.sharding<@m, {given}>}}" for i in names)
    results = ", ".join(f"{result} {{spmd.sharding = #spmd.sharding<@m, {wanted}>}}" for _ in names)
    types = ", ".join([result] * copies)
    lists = [", ".join([f"<@m, {layout}>"] * copies) for layout in (given, wanted)]
    return "\n".join([
        f'spmd.mesh @m = <["x"={devices}]>',
        f"func.func @main({arguments}) -> ({results}) {{",
        f"  %0:{copies} = spmd.manual_computation ({', '.join(f'%x{i}' for i in names)}) in [{lists[0]}] out [{lists[1]}] "
        f'axes ["x"] ({", ".join(f"%a{i}: {local}" for i in names)}) {{',
        *(f"    %r{i} = {op.format(f'a{i}', local, to)}" for i in names),
        f"    spmd.return {', '.join(f'%r{i}' for i in names)} : {', '.join([to] * copies)}",
        f"  }} : ({', '.join([argument] * copies)}) -> ({types})",
        f"  return {', '.join(f'%0#{i}' for i in names)} : {types}", "}", ""]), 4 * count * devices


def call(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"collectives.py: {done.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--backend", choices=("local", "mpi", "nccl"), default="local")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--sizes", default="1024,65536,1048576,16777216,67108864")
    parser.add_argument("--kinds", default=",".join(LINK))
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--export")
    parser.add_argument("--run")
    parser.add_argument("--shard-run", default=str(BIN / "shard-run"))
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    if unknown := set(options.kinds.split(",")) - set(LINK):
        parser.error(f"no collective {', '.join(sorted(unknown))}; there are {', '.join(LINK)}")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(options.export or options.run or work)
        if not options.run:
            listed = []
            folder.mkdir(parents=True, exist_ok=True)
            for kind in options.kinds.split(","):
                for size in map(int, options.sizes.split(",")):
                    text, size = program(kind, options.devices, size, options.copies)
                    source, bundle = Path(work, "program.mlir"), f"{kind}-{size}"
                    source.write_text(text)
                    elsewhere = ["--mcpu=x86-64-v3"] if options.export and platform.machine() == "x86_64" else []
                    call([BIN / "shard-compile", source, "-o", folder / bundle, f"--target={options.target}", "--combine=false", "--overlap=false", *elsewhere])
                    listed.append({"bundle": bundle, "kind": kind, "size": size, "devices": options.devices, "copies": options.copies})
            (folder / "collectives.json").write_text(json.dumps(listed, indent=1) + "\n")
        if options.export:
            return
        print("| collective | devices | bytes | us | algbw, GB/s | busbw, GB/s |\n| --- | ---: | ---: | ---: | ---: | ---: |")
        for case in json.loads((folder / "collectives.json").read_text()):
            report = Path(work, "run.json")
            command = [options.shard_run, folder / case["bundle"], "--random-inputs=1", f"--backend={options.backend}", f"--repeat={options.repeat}",
                       f"--report={report}", *options.options]
            if options.backend != "local":
                command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", case["devices"], *command]
            call(command)
            seconds = json.loads(report.read_text())["run"]["functions"][0]["steps"]["min_seconds"] / case["copies"]
            rate = case["size"] / seconds / 1e9
            print(f"| {case['kind']} | {case['devices']} | {case['size']} | {seconds * 1e6:.1f} | {rate:.3f} | {rate * LINK[case['kind']](case['devices']):.3f} |", flush=True)


if __name__ == "__main__":
    main()
