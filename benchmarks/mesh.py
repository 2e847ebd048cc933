#!/usr/bin/env python3
"""A training step on a mesh of 32,768 devices beside the same step on 8, as a markdown table.

Per mesh: CPU seconds of shard-opt through all IR phases with the report as JSON and as a page, and of shard-compile, which
writes the manifest (and compiles the program of a device); bytes of the IR, the report, the page and the manifest. The sizes
of the model are such that each axis divides them on both meshes. Ratios are to the small mesh, in one run.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import HERE, find_shard_opt, get_parser, print_table

GENERATOR = HERE.parent / "test" / "Integration" / "training" / "gen_training_step.py"
SIZES = "--batch 64 --seq 128 --heads 64 --head-dim 64 --dim 4096 --ffn 16384".split()
MESHES = {"2 x 2 x 2": "data=2,model=2,spare=2", "64 x 64 x 8": "data=64,model=64,spare=8"}


def take_time(command):
    """CPU seconds; ends the program where the command fails."""
    with subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True) as process:
        text = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))} exited with {process.returncode}\n{text}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = get_parser(__doc__)
    parser.add_argument("--layers", type=int, default=24, help="of the step that shard-opt takes")
    parser.add_argument("--compiled-layers", type=int, default=2, help="of the step that shard-compile takes; 0: none")
    args = parser.parse_args()
    if args.instructions:
        sys.exit("error: --instructions is not counted here, expected times")
    shard_opt = Path(find_shard_opt(args.shard_opt))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        commands, outputs = {}, {}
        for i, (mesh, axes) in enumerate(MESHES.items()):
            def generate(layers):
                path = folder / f"{i}-{layers}.mlir"
                subprocess.run([sys.executable, GENERATOR, "--mesh", axes, "--annotations", "data,megatron,fsdp", *SIZES,
                                "--layers", str(layers), "-o", path], check=True)
                return path
            own = folder / str(i)
            own.mkdir()
            step = generate(args.layers)
            pipeline = [shard_opt, step, "--spmd-default-pipeline=keep-layouts=true", "-o", own / "ir.mlir"]
            commands[mesh] = {
                "phases and report": [*pipeline, f"--spmd-report=format=json output={own / 'report.json'}"],
                "phases and page": [*pipeline, f"--spmd-report=format=html output={own / 'page.html'}"]}
            outputs[mesh] = {"IR": own / "ir.mlir", "report": own / "report.json", "page": own / "page.html"}
            if args.compiled_layers:
                commands[mesh]["compile"] = [shard_opt.parent / "shard-compile", generate(args.compiled_layers), "-o", own / "bundle"]
                outputs[mesh]["manifest"] = own / "bundle" / "manifest.json"
        times = {mesh: {} for mesh in MESHES}
        for _ in range(args.runs):
            for mesh, own in commands.items():
                for name, command in own.items():
                    seconds = take_time(command)
                    times[mesh][name] = min(seconds, times[mesh].get(name, seconds))
        small, large = MESHES
        rows = [[f"{name}, s", f"{times[small][name]:.2f}", f"{times[large][name]:.2f}", f"{times[large][name] / times[small][name]:.2f}"]
                for name in times[small]]
        for name in outputs[small]:
            a, b = (outputs[mesh][name].stat().st_size for mesh in (small, large))
            rows.append([f"{name}, bytes", f"{a:,}", f"{b:,}", f"{b / a:.2f}"])
    print_table(["", small, large, "ratio"], rows)


if __name__ == "__main__":
    main()
