#!/usr/bin/env python3
"""What the models of examples/jax/models.py move with ShardKit and with XLA, for the same program and annotations.

    bytes.py [--model NAME]... [--style NAME]... [--devices N] [--train] [--pipeline OPTIONS]

Prints a Markdown table: bytes that a device receives, launches of collectives and the floating-point operations of its
contractions, in one step, for both; collectives in loops count as often as they run. With --train a model that gives one array
becomes a training step: the gradients of its mean square, times 0.1, are subtracted from the weights. Bytes are those of the algorithms that meet the bound: an all-reduce of B
bytes among n is 2 (n-1)/n B, a gather of parts of B is (n-1) B, and so on, for both by one formula. XLA's are read from the HLO
that it compiles for as many CPU devices. Exits with 1 where ours are more although XLA's operations are not more than 1.05 of
ours. Needs: pip install ./python[jax]
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "jax"))

import jax  # noqa: E402
import shardkit  # noqa: E402
from compare import make_mesh  # noqa: E402
from models import MODELS, STYLES, build  # noqa: E402
from shardkit.tools import find_tool, run_tool  # noqa: E402

ELEMENT_BYTES = {"f64": 8, "f32": 4, "s32": 4, "u32": 4, "i32": 4, "s64": 8, "u64": 8, "i64": 8, "bf16": 2, "f16": 2, "pred": 1, "s8": 1, "u8": 1, "i8": 1, "i1": 1}  # fmt: skip


def load(name, path):
    """The file of models at `path` as a module called `name`: several files are called models.py."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def product(values):
    result = 1
    for v in values:
        result *= v
    return result


# --- XLA ------------------------------------------------------------------------------------------


def shapes_of(text):
    """(type, dims) of each array in the type of an instruction."""
    return [(t, [int(d) for d in dims.split(",") if d]) for t, dims in re.findall(r"\b([a-z]\w*)\[([\d,]*)\]", text)]


def bytes_of(text):
    return sum(ELEMENT_BYTES.get(t, 4) * product(dims) for t, dims in shapes_of(text))


def group_size(line, devices):
    if match := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return len(match[1].split(","))
    if match := re.search(r"replica_groups=\[\d+,(\d+)\]<=", line):
        return int(match[1])
    if match := re.search(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\([^{}]*\))?\s*\{([^}]*)\}", line):
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", match[1]))
        return product(int(part or sizes[a]) for a, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", match[2]))
    if "replica_groups=" in line and "replica_groups={}" not in line:
        raise ValueError(f"unknown groups: {line}")
    return devices  # replica_groups={}: all


def read_hlo(text, devices):
    """(bytes received, operations of dots and convolutions, launches of collectives) of a device."""
    found = list(list_hlo(text, devices))
    return tuple(sum(f[k] for f in found) for k in (1, 2, 3))


def list_hlo(text, devices):
    """(op, bytes received, operations, launches, the framework's name) of a device, of each op that has some of these in all runs of its loop."""
    bodies, name = {}, None
    for line in text.split("\n"):
        if match := re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\) -> .*\{$", line):
            name = "ENTRY" if match[1] else match[2]
            bodies[name] = []
        elif name and line.startswith("  "):
            bodies[name].append(line)
    types = {}
    for lines in bodies.values():
        for line in lines:
            if match := re.match(r"\s+(?:ROOT )?%([\w.\-]+) = (.*?) [\w\-]+\(", line):
                types[match[1]] = match[2]

    def visit(name, runs):
        for line in bodies.get(name, []):
            received = operations = launches = 0
            match = re.match(r"\s+(?:ROOT )?%[\w.\-]+ = (.*?) ([\w\-]+)\((.*)", line)
            if not match:
                continue
            type, op, rest = match.groups()
            operands = re.findall(r"%([\w.\-]+)", rest.split(")")[0])
            n = group_size(line, devices)
            op = op.removesuffix("-start")
            size = sum(bytes_of(types[o]) for o in operands if o in types)  # of the operands
            launches += op in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute")
            if op == "all-reduce":
                received += 2 * (n - 1) / n * size
            elif op == "all-gather":
                received += (n - 1) * size
            elif op in ("reduce-scatter", "all-to-all", "ragged-all-to-all"):
                received += (n - 1) / n * size
            elif op == "collective-permute":
                pairs = re.findall(r"\{(\d+),(\d+)\}", line.split("source_target_pairs=")[1])
                received += size * sum(a != b for a, b in pairs) / devices
            elif op == "dot":
                lhs = shapes_of(types[operands[0]])[0][1]
                contracted = re.search(r"lhs_contracting_dims=\{([\d,]*)\}", line)[1]
                operations += 2 * product(shapes_of(type)[0][1]) * product(lhs[int(d)] for d in contracted.split(",") if d)
            elif op == "convolution":
                labels = re.search(r"dim_labels=\w+_(\w+)->", line)[1]
                kernel = shapes_of(types[operands[1]])[0][1]
                per_output = product(s for s, l in zip(kernel, labels) if l != "o")
                operations += 2 * product(shapes_of(type)[0][1]) * per_output
            if received or operations or launches:
                framework = re.search(r'op_name="([^"]*)"', line)
                yield op, received * runs, operations * runs, launches * runs, framework[1] if framework else ""
            trips = 1
            if op == "while":
                known = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
                if not known:
                    raise SystemExit("error: a loop of XLA's has no known trip count, expected one")
                trips = int(known[1])
            for callee in re.findall(r"(?:body|calls|to_apply|condition)=%([\w.\-]+)", line):
                if op != "all-reduce" and op != "reduce-scatter":
                    yield from visit(callee, runs * trips)

    return visit("ENTRY", 1)


# --- ShardKit -------------------------------------------------------------------------------------


def read_ours(text, options):
    """The same of what ShardKit emits."""
    command = [find_tool("shard-opt"), "-", f"--spmd-default-pipeline={options}", "--spmd-report=format=json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    report = json.loads(done.stderr[done.stderr.index("{") :])
    sizes = {}
    for mesh in report["meshes"]:
        sizes |= {name: size for name, size in mesh["axes"]}
    received = sum(c["received"] / product(sizes[a.split(":")[0].strip('"')] for a in c["axes"]) * c["count"] for c in report["collectives"])
    return received, count_operations(done.stdout), report["totals"]["launches"]


def count_operations(text):
    """Two for each step of a loop nest whose body multiplies and adds; scf.for bodies as often as they run."""
    text = run_tool([find_tool("shard-opt"), "-", "--linalg-generalize-named-ops"], text)
    maps = dict(re.findall(r"^(#map\d*) = affine_map<(.*)>$", text, re.MULTILINE))
    constants = {n: int(v) for n, v in re.findall(r"(%\w+) = arith\.constant (\d+) : index", text)}
    total, trips = 0, [1]
    lines = text.split("\n")
    depths = []
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        while depths and line.strip().startswith("}") and indent == depths[-1]:
            depths.pop()
            trips.pop()
        if match := re.search(r"scf\.for %\w+ = (%\w+) to (%\w+) step (%\w+)", line):
            low, high, step = (constants[v] for v in match.groups())
            depths.append(indent)
            trips.append(trips[-1] * max(0, -(-(high - low) // step)))
        if "linalg.generic" not in line or '"reduction"' not in line:
            continue
        body = []
        for inner in lines[i + 1 :]:
            if inner.strip().startswith("}"):
                break
            body.append(inner)
        ops = re.findall(r"= (arith\.\w+)", "\n".join(body))
        if not ({"arith.mulf", "arith.addf"} <= set(ops)) or len(ops) > 3:
            continue
        used = re.findall(r"#map\d*", line.split("indexing_maps = [")[1].split("]")[0])
        types = re.findall(r"tensor<([\dx]*)x?\w+>", line.split(" ins(")[1])
        loops = {}
        for m, dims in zip(used, types):
            results = maps[m].split("->")[1].strip(" ()").split(", ")
            for d, size in zip(results, [int(s) for s in dims.split("x") if s]):
                if re.fullmatch(r"d\d+", d):
                    loops[d] = size
        total += 2 * product(loops.values()) * trips[-1]
    return total


def make_step(function):
    """A training step of a model that gives an array, or a tuple whose first value is one."""

    def step(params, *inputs):
        def loss(params):
            out = function(params, *inputs)
            out = out[0] if isinstance(out, tuple) else out
            return (out * out).mean()

        value, gradients = jax.value_and_grad(loss)(params)
        return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, params, gradients)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", action="append", choices=sorted(MODELS))
    parser.add_argument("--style", action="append", choices=STYLES)
    parser.add_argument("--devices", type=int, default=8, choices=(2, 4, 8))
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--pipeline", default="", help="options of --spmd-default-pipeline")
    options = parser.parse_args()
    print("| model | style | bytes, ShardKit | bytes, XLA | ratio | launches, ShardKit | launches, XLA | operations, ShardKit | operations, XLA |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    worse = 0
    for name in options.model or MODELS:
        for style in options.style or STYLES:
            function, args = build(name, style, make_mesh(options.devices))
            if options.train and not name.endswith("_step"):
                function = make_step(function)
            model = shardkit.import_jax(function, *args, locations=False)
            ours, own_operations, launches = read_ours(model.text, options.pipeline)
            jitted = function if hasattr(function, "lower") else jax.jit(function)
            theirs, operations, their_launches = read_hlo(jitted.lower(*args).compile().as_text(), options.devices)
            mark = ""
            if ours > theirs and operations <= 1.05 * own_operations:
                worse, mark = worse + 1, " **more**"
            ratio = f"{ours / theirs:.2f}" if theirs else "" if not ours else "inf"
            print(f"| {name} | {style} | {ours:,.0f}{mark} | {theirs:,.0f} | {ratio} | {launches} | {their_launches} | {own_operations:,} | {operations:,} |", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
