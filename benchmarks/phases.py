#!/usr/bin/env python3
"""Cost of each phase over the depth of a transformer, as a markdown table.

The phases run in one process with --verify-each=0: a pass in `--mlir-timing` otherwise includes upstream's verifier,
which has a column of its own. `--mlir-timing` prints tenths of a millisecond, so a file of fewer layers than --fill
holds as many copies of the function as make that many; all numbers but the peak memory are per function.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import HERE, NO_VERIFIER, PHASES, get_parser, measure, print_table


def generate(layers, copies, options, path):
    """Writes the module; returns tensor ops and arguments of a function."""
    process = subprocess.run([sys.executable, HERE / "gen_transformer.py", "-L", str(layers), "--annot", "spmd", "--count", *options],
                             check=True, capture_output=True, text=True)
    mesh, function = process.stdout.split("\n", 1)
    with open(path, "w") as file:
        file.write(mesh + "\n")
        for i in range(copies):
            file.write(function.replace("func.func @main(", f"func.func @main{i}(", 1))
    counts = {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", process.stderr)}
    return counts["linalg"] + counts["empty"], counts["args"]


def main():
    parser = get_parser(__doc__)
    parser.add_argument("--layers", default="8,16,32,64,128,256,512", help="sizes; ratios are to the first")
    parser.add_argument("--model", choices=["transformer", "mlp"], default="transformer")
    parser.add_argument("--tied", action="store_true", help="all layers share one set of weights: few function arguments")
    parser.add_argument("--fill", type=int, default=64, help="layers that a file holds at least; the largest size: files of equal size")
    args = parser.parse_args()
    sizes = [int(size) for size in args.layers.split(",")]
    copies = [max(1, args.fill // size) for size in sizes]
    options = ["--model", args.model] + ["--tied"] * args.tied
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{size}.mlir" for size in sizes]
        shapes = [generate(size, n, options, path) for size, n, path in zip(sizes, copies, paths)]
        jobs = [(path, NO_VERIFIER) for path in paths]
        if not args.instructions:
            jobs += [(path, []) for path in paths]
        results = measure(args, jobs)

    unit, per_op_unit, per_op_scale = ("M instr.", "instr./op", 1e6) if args.instructions else ("ms", "µs/op", 1e3)
    rows, first = [], None
    for i, (size, n, (ops, arguments)) in enumerate(zip(sizes, copies, shapes)):
        own = results[i]
        total = sum(own[phase] for phase in PHASES)
        per_op = total / n / ops * per_op_scale
        first = first or per_op
        row = [str(size), f"{ops:,}", f"{arguments:,}", *(f"{own[phase] / n:.2f}" for phase in PHASES), f"{total / n:.2f}",
               f"{per_op:,.0f}" if args.instructions else f"{per_op:.2f}", f"{per_op / first:.2f}"]
        if not args.instructions:
            verifier = sum(results[len(sizes) + i][phase] for phase in PHASES) - total
            row += [f"{own['parse'] / n:.2f}", f"{total / own['parse']:.2f}", f"{verifier / n:.2f}", f"{own['memory']:.0f}"]
        rows.append(row)
    head = ["layers", "tensor ops", "arguments", *(f"{phase}, {unit}" for phase in PHASES), f"total, {unit}",
            per_op_unit, f"ratio to {sizes[0]} layers"]
    if not args.instructions:
        head += ["parse, ms", "total / parse", "verifier, ms", "peak MB"]
    print_table(head, rows)


if __name__ == "__main__":
    main()
