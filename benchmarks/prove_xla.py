#!/usr/bin/env python3
"""Proves XLA's SPMD partitioning of the models of examples/jax, and looks for faults that are put into its HLO text.

    benchmarks/prove_xla.py [--model NAME]... [--style NAME]... [--layers N] [--faults] [--list]

Prints a line per model and style on a mesh of 2 x 4 devices: the outcome, ops, and seconds with and without XLA's compile. With
--faults each program that is proven is changed by one fault at a time, and the last lines count per kind of fault what is
refused, not decided, proven and an error, and how often the instruction that is named is the changed one or one that reads it.
--list prints each fault. Exit status 1 if a program or a fault is not as expected. Needs: pip install './python[jax]'
"""

import argparse
import collections
import os
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "jax"))

import jax  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from models import MODELS, STYLES, build  # noqa: E402
from shardkit.hlo import reader  # noqa: E402
from shardkit.hlo.proof import prove_hlo  # noqa: E402

AXES = {"data": 2, "model": 4}
GROUPS = ["{{0,1,2,3,4,5,6,7}}", "{{0,1,2,3},{4,5,6,7}}", "{{0,4},{1,5},{2,6},{3,7}}", "{{0,1},{2,3},{4,5},{6,7}}", "{{0,2,4,6},{1,3,5,7}}"]
GROUP_TEXT = re.compile(r"replica_groups=(mesh\[[^\]]*\](?:, device_ids=\(.*?\))? \{[^}]*\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?|\{\{.*?\}\})")
COMBINERS = {"add": "maximum", "maximum": "add", "or": "and"}
RESULT = r"^(\s+(?:ROOT )?%?[\w.-]+ = (\S+) )"


def read_groups(text):
    """The groups of an attribute, as sets."""
    listed = reader.expand_groups(f"replica_groups={text}", "-").partition("{{")[2].partition("}}")[0]
    return {frozenset(map(int, group.split(","))) for group in listed.split("},{")}


def find_faults(text):
    """(kind, number of the line, lines) of programs with one fault each."""
    lines = text.split("\n")
    bodies = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"(%?[\w.-]+) \(.*\{$", line))}

    def with_line(i, line):
        return lines[:i] + [line] + lines[i + 1 :]

    for i, line in enumerate(lines):
        head = re.match(RESULT + r"([a-z-]+)\(([^)]*)\)", line)
        if not head:
            continue
        opcode, operands = head[3], head[4]
        if opcode == "all-reduce" and "," not in operands:
            yield "all-reduce dropped", i, with_line(i, f"{head[1]}copy({operands})")
            body = re.search(r"to_apply=(%?[\w.-]+)", line)[1]
            users = sum(f"to_apply={body}," in other or other.rstrip().endswith(f"to_apply={body}") for other in lines)
            end = next(k for k in range(bodies[body], len(lines)) if "ROOT" in lines[k])
            combiner = re.search(r" (\w+)\(", lines[end].partition("=")[2])[1]
            if users == 1 and combiner in COMBINERS:
                yield "other reduction", i, with_line(end, lines[end].replace(f" {combiner}(", f" {COMBINERS[combiner]}("))
        if opcode in ("all-reduce", "all-gather", "all-to-all") and (found := GROUP_TEXT.search(line)):
            groups = read_groups(found[1])
            size = len(next(iter(groups)))
            for other in GROUPS:
                if read_groups(other) != groups and (opcode == "all-reduce" or len(next(iter(read_groups(other)))) == size):
                    yield "other groups", i, with_line(i, line.replace(found[0], f"replica_groups={other}"))
        if opcode in ("all-gather", "all-to-all") and (found := GROUP_TEXT.search(line)):
            ordered = [sorted(g) for g in read_groups(found[1])]
            turned = ",".join("{" + ",".join(map(str, g[1:] + g[:1])) + "}" for g in sorted(ordered))
            yield "order of a group", i, with_line(i, line.replace(found[0], f"replica_groups={{{turned}}}"))
        if opcode == "slice":
            for begin, end, step in re.findall(r"\[(\d+):(\d+)(?::(\d+))?\]", line.partition("slice={")[2]):
                moved = f"[{int(begin) - 1}:{int(end) - 1}" if int(begin) else None
                if moved:
                    yield "slice off by one", i, with_line(i, line.replace(f"[{begin}:{end}", moved, 1))
        # Tables by partition-id, but for those of which XLA takes the difference with themselves.
        if opcode == "constant" and (table := re.match(r"\{(\d+(?:, ?\d+){7})\}", operands)) and is_table(lines, i):
            numbers = [int(n) for n in table[1].split(",")]
            yield "table off by one", i, with_line(i, line.replace(table[0], "{" + ", ".join(map(str, numbers[1:] + numbers[:1])) + "}"))
            low, high = min(numbers), max(numbers)
            yield "table reversed", i, with_line(i, line.replace(table[0], "{" + ", ".join(str(low + high - n) for n in numbers) + "}"))
        if opcode in ("subtract", "divide") and len(set(operands.split(", "))) == 2 and "[]" not in head[2]:
            a, b = operands.split(", ")
            yield "operands swapped", i, with_line(i, line.replace(f"{opcode}({operands})", f"{opcode}({b}, {a})"))


def get_name(line):
    return line.split("=")[0].replace("ROOT", "").strip()


def is_table(lines, i):
    read = next((get_name(line) for line in lines if f"dynamic-slice({get_name(lines[i])}, %partition-id" in line), None)
    number = next((get_name(line) for line in lines if read and f"reshape({read})" in line), None)
    return number and not any(f"subtract({number}, {number})" in line for line in lines)


def reads(lines, reader, changed):
    """Whether the instruction of a line is the changed one, or one of its readers (through moves of elements)."""
    front, seen = {changed}, set()
    for _ in range(6):
        if reader in front:
            return True
        names = {get_name(lines[i]) for i in front}
        seen |= front
        front = {i for i, line in enumerate(lines) if i not in seen and any(re.search(rf"[(, ]{re.escape(n)}[,)]", line.partition("=")[2]) for n in names)}
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=sorted(MODELS))
    parser.add_argument("--style", action="append", choices=STYLES)
    parser.add_argument("--layers", type=int, help="of gpt2_step and minilm")
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    mesh = jax.make_mesh(tuple(AXES.values()), tuple(AXES), axis_types=(AxisType.Auto,) * 2)
    counts = collections.defaultdict(collections.Counter)
    is_good = True
    for name in options.model or MODELS:
        for style in options.style or STYLES:
            sizes = {"layers": options.layers} if options.layers and name in ("gpt2_step", "minilm") else {}
            function, args = build(name, style, mesh, **sizes)
            start = time.monotonic()
            proof = shardkit.prove_xla(function, *args)
            both = time.monotonic() - start
            start = time.monotonic()
            prove_hlo(proof.before, proof.after, mesh=AXES)
            alone = time.monotonic() - start
            print(f"{name:10} {style:9} {proof.outcome:12} {proof.ops[1]:5} ops against {proof.ops[0]:5} {both:6.1f} {alone:6.1f} s", flush=True)
            is_good &= bool(proof)
            if not proof:
                print(proof.message)
                continue
            for kind, changed, lines in find_faults(proof.after) if options.faults else ():
                try:
                    found = prove_hlo(proof.before, "\n".join(lines), mesh=AXES)
                    outcome, message = found.outcome, found.message
                except shardkit.ShardKitError as error:
                    outcome, message = "error", str(error)
                counts[kind][outcome] += 1
                named = re.search(r"after(?:\.txt)?:(\d+):", message)
                counts[kind]["named"] += bool(named) and reads(lines, int(named[1]) - 1, changed)
                is_good &= outcome != "proven"
                if options.list or outcome == "proven":
                    print(f"  {kind} in line {changed + 1}: {outcome}{': ' + message.splitlines()[0] if message else ''}\n    {lines[changed].strip()[:160]}", flush=True)
    if options.faults:
        print(f"{'fault':22} {'count':>5} {'refused':>8} {'not decided':>12} {'error':>6} {'proven':>7} {'named':>6}")
        for kind, found in counts.items():
            total = sum(found[o] for o in ("refused", "not decided", "error", "proven"))
            print(f"{kind:22} {total:5} {found['refused']:8} {found['not decided']:12} {found['error']:6} {found['proven']:7} {found['named']:6}")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
