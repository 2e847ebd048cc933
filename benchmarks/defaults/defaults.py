#!/usr/bin/env python3
"""The predicted time of the default plan, propagation alone, beside that of the search under the same constraints.

    defaults.py [--group frontends|ops|modules|models]... [--case TEXT]... [--seeds N] [--xla] [--check] [--json FILE] [--before FILE]

Groups of cases:
    frontends   the models of examples/jax/models.py in their four styles, on 2 x 4 devices
    ops         single ops with few annotations (OPS of models.py)
    modules     the files of modules/
    models      the ten models of models.py, each with one to three arguments annotated at random, on 2 x 2, 4 x 2 and 8 devices

Prints a Markdown table: seconds of all collectives as they run, with all optimizations; their ratio; the number of collectives that are launched, and the
bytes that a device receives. `--xla` adds the bytes of XLA's compiled HLO for the same annotations. `--check` verifies that a second
propagation changes nothing, and that annotations that equal what was chosen change nothing. `--before` takes figures of XLA, and the column "before",
from an earlier `--json`. `--search` adds options to those of the search, `--options` to those of both, `--default` to those of the default plan.
Exits with 1 where a ratio is above `--limit`, or a check fails. Needs: pip install ./python[jax]
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "frontends"))

from bytes import count_operations, load, make_mesh, product, read_hlo  # noqa: E402  (before jax: sets the number of devices)

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402
from shardkit.tools import find_tool  # noqa: E402

MESHES = ({"data": 2, "model": 2}, {"data": 4, "model": 2}, {"x": 8})
EPSILON = 1e-12  # seconds: less is none
PHASES = ("--spmd-resolve-axis-resources", "--spmd-decompose", "--inline", "--symbol-dce")


@dataclass
class Case:
    group: str
    name: str
    text: str
    devices: int
    annotations: str = ""
    lower: Callable | None = None  # gives what XLA compiles
    found: dict = field(default_factory=dict)


# --- cases ----------------------------------------------------------------------------------------


def find_header(text):
    """The line of @main's arguments, and each argument: its text up to its attributes, its name, its dims and its type."""
    header = next(line for line in text.split("\n") if re.match(r"\s*func\.func (public )?@main\(", line))
    pattern = r'(%arg\d+: tensor<((?:\d+x)*)(\w+)> \{)(?=[^%]*?spmd\.(?:name|weight) = "([^"]*)")'
    return header, [(m[1], m[4], [int(d) for d in m[2].split("x") if d], m[3]) for m in re.finditer(pattern, header)]


def annotate(text, mesh, specs):
    """The text with a mesh and with the sharding of some arguments: index -> axes per dim."""
    axes = ", ".join(f'"{name}"={size}' for name, size in mesh.items())
    header, arguments = find_header(text)
    changed = header
    for index, spec in specs.items():
        dims = ", ".join("{" + ", ".join(f'"{a}"' for a in dim) + "}" for dim in spec)
        changed = changed.replace(arguments[index][0], f"{arguments[index][0]}spmd.sharding = #spmd.sharding<@mesh, [{dims}]>, ", 1)
    return text.replace(header, changed, 1).replace("{\n", f"{{\n  spmd.mesh @mesh = <[{axes}]>\n", 1)


def draw(rng, mesh, arguments):
    """One to three arguments and a sharding of each by whole axes that divide its dims."""
    inputs = [i for i, a in enumerate(arguments) if not a[1].startswith("params")]
    weights = [i for i, a in enumerate(arguments) if i not in inputs and product(a[2]) >= 4096]
    specs, count = {}, rng.randrange(1, 4)
    while len(specs) < count:
        index = rng.choice(inputs if rng.random() < 0.4 else weights)
        spec, left = [[] for _ in arguments[index][2]], list(arguments[index][2])
        names = list(mesh)
        rng.shuffle(names)
        for name in names:
            fits = [d for d, size in enumerate(left) if size % mesh[name] == 0]
            if fits and rng.random() < 0.75:
                d = rng.choice(fits)
                spec[d].append(name)
                left[d] //= mesh[name]
        if any(spec):
            specs[index] = spec
    return specs


def device_mesh(mesh):
    count = product(mesh.values())
    return jax.make_mesh(tuple(mesh.values()), tuple(mesh), axis_types=(AxisType.Auto,) * len(mesh), devices=jax.devices()[:count])


def lowered(function, args, mesh, specs):
    """XLA's compilation of a function whose flat arguments have these shardings."""

    def lower():
        leaves, tree = jax.tree_util.tree_flatten(args)
        m = device_mesh(mesh)
        for index, spec in specs.items():
            dims = [tuple(dim) if dim else None for dim in spec]
            leaves[index] = jax.ShapeDtypeStruct(leaves[index].shape, leaves[index].dtype, sharding=NamedSharding(m, PartitionSpec(*dims)))
        return jax.jit(function).lower(*jax.tree_util.tree_unflatten(tree, leaves))

    return lower


def models(wanted, seeds):
    for name, make in load("default_models", HERE / "models.py").MODELS.items():
        keys = [f"{name} {seed}" for seed in range(seeds)]
        if not any(map(wanted, keys)):
            continue
        function, args = make()
        text = shardkit.import_jax(function, *args, locations=False).text
        arguments = find_header(text)[1]
        assert len(arguments) == len(jax.tree_util.tree_leaves(args)), name
        for seed, key in enumerate(keys):
            mesh = MESHES[seed % len(MESHES)]
            specs = draw(random.Random(f"{name}.{seed}"), mesh, arguments)
            said = "; ".join(f"{arguments[i][1]} [{', '.join('{' + ', '.join(d) + '}' for d in s)}]" for i, s in specs.items())
            yield Case("models", key, annotate(text, mesh, specs), product(mesh.values()), said, lowered(function, args, mesh, specs))


def ops(wanted):
    for name, sizes, function, arguments, out in load("default_models", HERE / "models.py").OPS:
        if not wanted(name):
            continue
        mesh = device_mesh(sizes)
        args = [jax.ShapeDtypeStruct(a[0], a[2] if len(a) > 2 else np.float32, sharding=NamedSharding(mesh, PartitionSpec(*a[1]))) for a in arguments]
        jitted = jax.jit(function) if out is None else jax.jit(function, out_shardings=NamedSharding(mesh, PartitionSpec(*out)))
        text = shardkit.import_jax(jitted, *args, locations=False).text
        yield Case("ops", name, text, product(sizes.values()), "", lambda jitted=jitted, args=args: jitted.lower(*args))


def modules(wanted):
    for path in sorted((HERE / "modules").glob("*.mlir")):
        if wanted(path.stem):
            yield Case("modules", path.stem, path.read_text(), 0)


def frontends(wanted):
    examples = load("example_models", HERE.parents[1] / "examples" / "jax" / "models.py")
    for name in examples.MODELS:
        for style in examples.STYLES:
            if wanted(f"{name} {style}"):
                function, args = examples.build(name, style, make_mesh(8))
                text = shardkit.import_jax(function, *args, locations=False).text
                jitted = function if hasattr(function, "lower") else jax.jit(function)
                yield Case("frontends", f"{name} {style}", text, 8, "", lambda jitted=jitted, args=args: jitted.lower(*args))


# --- figures --------------------------------------------------------------------------------------


class Bench:
    def __init__(self, options):
        self.tool, self.options = find_tool("shard-opt"), options

    def run(self, text, *passes):
        done = subprocess.run([self.tool, "-", *passes], input=text, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(passes)}\n{done.stderr[:3000]}")
        return done.stdout

    def report(self, text, options=""):
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            self.run(text, f"--spmd-report=format=json output={file.name} {self.options.options} {options}", "-o", os.devnull)
            return json.load(file)

    def measure(self, case):
        plan = self.report(case.text, self.options.default)
        best = self.report(case.text, f"auto-shard={{{self.options.search}}}" if self.options.search else "auto-shard")
        solver = best["solver"]
        case.found |= {"default": plan["totals"]["cost"], "search": best["totals"]["cost"], "status": solver["status"], "bound": solver["lower_bound"],
                       "launches": count_launches(plan), "bytes": received(plan),
                       "search_launches": count_launches(best), "search_bytes": received(best)}  # fmt: skip
        case.found["ratio"] = ratio(case.found["default"], case.found["search"])
        if self.options.check:
            case.found["checks"] = [*self.check_again(case), *self.check_annotated(case, plan)]

    def check_again(self, case):
        options = " ".join(f"{self.options.options} {self.options.default}".split())
        propagate = f"--spmd-propagate={options}" if options else "--spmd-propagate"
        once = self.run(case.text, *PHASES, propagate)
        if self.run(once, propagate) != once:
            yield "a second propagation changes the plan"

    def check_annotated(self, case, plan):
        """All arguments, and one of those that the user did not annotate, with the sharding that they have."""
        main = plan["functions"][0]
        free = [a for a in main["arguments"] if find_annotation(case.text, a["name"]) is None and a.get("sharding")]
        one = random.Random(case.name).sample(free, min(1, len(free)))
        for what, arguments in (("one annotation", one), ("annotations of all arguments", free)):
            if not arguments:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump({"version": 1, "rules": [{"argument": a["name"], "sharding": a["sharding"]} for a in arguments]}, file)
                file.flush()
                text = self.run(case.text, f"--spmd-apply-plan=file={file.name}")
            again = self.report(text, self.options.default)
            if key(again) != key(plan):
                yield f"{what} that equals what was chosen changes the plan: {plan['totals']['cost']:.3e} to {again['totals']['cost']:.3e} s"


def find_annotation(text, name):
    """The sharding of an argument by its name, else its number."""
    pieces = re.split(r"(?=%\w+: tensor<)", find_main(text))
    for piece in pieces[1:]:
        found = re.search(r'spmd\.(?:name|weight) = "([^"]*)"', piece)
        if (found[1] if found else re.match(r"%(\w+)", piece)[1]) == name:
            return re.search(r"spmd\.sharding = ", piece)
    return None


def find_main(text):
    return re.search(r"func\.func (?:public )?@main\((.*?)\) (?:->|\{)", text, re.DOTALL)[1]


def key(report):
    """What of a plan must not change."""
    return ([(v["name"], v.get("sharding")) for f in report["functions"] for v in f["arguments"] + f["results"]],
            sorted((c["kind"], tuple(c["axes"]), c["bytes"], c["count"]) for c in report["collectives"]))  # fmt: skip


def received(report):
    sizes = {name: size for mesh in report["meshes"] for name, size in mesh["axes"]}
    return sum(c["received"] / product(sizes[a.split(":")[0].strip('"')] for a in c["axes"]) * c["count"] for c in report["collectives"])


def count_launches(report):
    """Collectives that move bytes, as often as they run."""
    return sum(c["count"] for c in report["collectives"] if c["received"])


def ratio(ours, other):
    return 1.0 if ours <= other + EPSILON else ours / other if other > EPSILON else float("inf")


def compare_with_xla(bench, case):
    theirs, operations = read_hlo(case.lower().compile().as_text(), case.devices)
    return {"xla_bytes": theirs, "xla_operations": operations}


def count_own(bench, case):
    """The operations of the default plan."""
    options = f"{bench.options.options} {bench.options.default}".strip()
    return count_operations(bench.run(case.text, f"--spmd-default-pipeline={options}" if options else "--spmd-default-pipeline"))


# --- the table ------------------------------------------------------------------------------------


def write_table(cases, before, out):
    has_before, has_xla = bool(before), any("xla_bytes" in c.found for c in cases)
    heads = ["case", "default, s", "search, s", "ratio", *(["before"] if has_before else []), "search", "launches", "MB", *(["MB, XLA", "operations, ratio"] if has_xla else [])]
    print("| " + " | ".join(heads) + " |\n| --- |" + " ---: |" * (len(heads) - 1), file=out)
    for c in cases:
        f = c.found
        row = [c.name, f"{f['default']:.3e}", f"{f['search']:.3e}", f"{f['ratio']:.2f}"]
        if has_before:
            old = before.get(c.name)
            row.append(f"{ratio(old['default'], old['search']):.2f}" if old else "")
        row += [f["status"], str(f["launches"]), f"{f['bytes'] / 1e6:.2f}"]
        if has_xla:
            row += [f"{f['xla_bytes'] / 1e6:.2f}", f"{f['xla_operations'] / max(1, f.get('operations', 0)):.2f}"] if "xla_bytes" in f else ["", ""]
        print("| " + " | ".join(row) + " |", file=out)


def summarize(cases, limit, out):
    ratios = sorted(c.found["ratio"] for c in cases)
    near = sum(r <= limit for r in ratios)
    print(f"\n{near} of {len(ratios)} cases at most {limit} of the search's time, median {ratios[len(ratios) // 2]:.2f}, worst {ratios[-1]:.2f}", file=out)
    compared = [c for c in cases if "xla_bytes" in c.found]
    if compared:
        equal = [c for c in compared if c.found["xla_operations"] <= 1.05 * c.found["operations"]]
        more = [c for c in equal if c.found["bytes"] > 1.02 * c.found["xla_bytes"]]
        print(f"{len(equal)} of {len(compared)} with no more operations in XLA, of these {len(more)} with more than 1.02 of its bytes", file=out)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", action="append", choices=("frontends", "ops", "modules", "models"))
    parser.add_argument("--case", action="append", help="only cases whose name holds this text")
    parser.add_argument("--seeds", type=int, default=6, help="random annotations of each model")
    parser.add_argument("--limit", type=float, default=1.1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--options", default="", help="more options of --spmd-report, for both plans")
    parser.add_argument("--default", default="", help="more options of --spmd-report, for the default plan")
    parser.add_argument("--search", default="", help="more options of --spmd-auto-shard")
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--before")
    parser.add_argument("--write", help="directory that gets the annotated modules")
    return parser.parse_args()


def main():
    options = parse()
    bench = Bench(options)
    before = {}
    if options.before:
        before = {c["name"]: c for c in json.loads(Path(options.before).read_text())["cases"]}

    def wanted(name):
        return not options.case or any(text in name for text in options.case)

    groups = options.group or ("frontends", "ops", "modules", "models")
    cases = []
    for group in groups:
        cases += {"frontends": frontends, "ops": ops, "modules": modules, "models": lambda w: models(w, options.seeds)}[group](wanted)
    cases = [c for c in cases if wanted(c.name)]
    if not cases:
        raise SystemExit("no case has such a name")
    if options.write:
        Path(options.write).mkdir(parents=True, exist_ok=True)
        for c in cases:
            (Path(options.write) / (re.sub(r"\W+", "-", c.name) + ".mlir")).write_text(c.text)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(bench.measure, cases))
    for c in cases:
        old = before.get(c.name, {})
        if options.xla and c.lower:
            c.found |= compare_with_xla(bench, c)
        elif "xla_bytes" in old:
            c.found |= {name: old[name] for name in ("xla_bytes", "xla_operations")}
        if "xla_bytes" in c.found:
            c.found["operations"] = count_own(bench, c)
    write_table(cases, before, sys.stdout)
    summarize(cases, options.limit, sys.stdout)
    failures = [f"{c.name}: {said}" for c in cases for said in c.found.get("checks", [])]
    for failure in failures:
        print(f"FAIL {failure}")
    if options.json:
        rows = [{"group": c.group, "name": c.name, "annotations": c.annotations} | {k: v for k, v in c.found.items() if k != "ratio"} for c in cases]
        Path(options.json).write_text(json.dumps({"cases": rows}, indent=1) + "\n")
    return 1 if failures or any(c.found["ratio"] > options.limit for c in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
