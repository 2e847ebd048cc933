#!/usr/bin/env python3
"""The models of examples/jax/models.py as StableHLO that ShardKit partitioned, run by JAX on 8 devices.

    spmd.py [--model NAME]... [--style NAME]...

Prints a Markdown table: the collectives of the exported program, the bytes that a device receives in a run of it and of what XLA
partitions itself, both from the HLO that XLA compiles (see bytes.py), and the largest difference of an element between the results of
both. Exits with 1 where ours moves more, or differs by more than 1e-5. Needs: pip install ./python[jax]
"""

import argparse
import collections
import dataclasses
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bytes import MODELS, STYLES, build, make_mesh, read_hlo  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402

LARGEST = 1e-5
COLLECTIVE = re.compile(r"stablehlo\.(all_gather|all_reduce|reduce_scatter|all_to_all|collective_permute)\b")


@dataclasses.dataclass
class Row:
    collectives: dict
    ours: float  # bytes
    xla: float
    difference: float


def measure_difference(got, want):
    """Of all elements, by the largest element of their array."""
    found = 0.0
    for a, b in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want), strict=True):
        a, b = (np.asarray(v).astype(np.float64) for v in (a, b))
        found = max(found, float(np.abs(a - b).max() / max(1.0, np.abs(b).max())))
    return found


def compare(name, style):
    function, args = build(name, style, make_mesh(8))
    program = shardkit.export_stablehlo_spmd(function, *args)
    ours = read_hlo(program.lower(*args).compile().as_text(), 8)[0]
    compiled = (function if hasattr(function, "lower") else jax.jit(function)).lower(*args).compile()
    xla = read_hlo(compiled.as_text(), 8)[0]
    same_args = build(name, style, make_mesh(8))[1]  # both take over those that are donated
    difference = measure_difference(program(*args), compiled(*same_args))
    return Row(dict(collections.Counter(COLLECTIVE.findall(program.text))), ours, xla, difference)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", action="append", choices=sorted(MODELS))
    parser.add_argument("--style", action="append", choices=STYLES)
    options = parser.parse_args()
    print("| model | style | collectives | bytes, ShardKit | bytes, XLA | ratio | difference |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    worse = 0
    for name in options.model or MODELS:
        for style in options.style or STYLES:
            row = compare(name, style)
            worse += row.ours > row.xla or row.difference > LARGEST
            collectives = ", ".join(f"{count} {kind}" for kind, count in sorted(row.collectives.items()))
            ratio = f"{row.ours / row.xla:.2f}" if row.xla else "" if not row.ours else "inf"
            print(f"| {name} | {style} | {collectives} | {row.ours:,.0f} | {row.xla:,.0f} | {ratio} | {row.difference:.1e} |", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
