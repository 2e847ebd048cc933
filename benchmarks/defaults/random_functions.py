#!/usr/bin/env python3
"""The predicted time of the default plan beside that of the search, for random functions with two or fewer annotations.

    random_functions.py [--seed S] [--count N] [--annotations N] [--worst N] [--write DIR] [--json FILE]
    random_functions.py --seed S --only N        prints function N with its annotations

The functions are those of test/Integration/gen_random.py without their annotations; of the arguments and results of each, up to
`--annotations` are annotated by whole axes that divide their dims. On a third of the meshes bytes count, on the others calls. Prints the share
of functions whose default plan takes at most `--limit` of the search's time, percentiles of the ratio, and the worst. Exits with 1
where the share is below `--share` or a ratio is above `--maximum`, or where a plan is reported of one alone. Needs the tools alone.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "Integration"))

import gen_random  # noqa: E402

BATCH = 100
EPSILON = 1e-15
# What strips of no annotation: regions with shardings of their own, and collectives.
KEPT = re.compile(r"\bspmd\.(?!sharding|range|weight|name|tied)\w|<@[mv]\d")


class Functions:
    """A module as text, by its public functions and what each calls."""

    def __init__(self, text):
        pieces = re.split(r"(?m)^(?=  func\.func )", text.rstrip().removesuffix("}"))
        self.head, self.pieces = pieces[0], {}
        for piece in pieces[1:]:
            name = re.match(r"  func\.func (?:private )?@(f\d+)", piece)[1]
            self.pieces[name] = self.pieces.get(name, "") + piece

    def module(self, names=None):
        return self.head + "".join(text for name, text in self.pieces.items() if names is None or name in names) + "}\n"


class Bench:
    def __init__(self, options):
        self.options, self.tool = options, str(Path(options.bin) / "shard-opt")

    def run(self, text, *passes):
        return subprocess.run([self.tool, "-", *passes], input=text, capture_output=True, text=True)

    def must(self, text, *passes):
        done = self.run(text, *passes)
        if done.returncode:
            raise SystemExit(f"{' '.join(passes)}\n{done.stderr[:2000]}")
        return done.stdout

    def prepare(self, first, count):
        """The functions from `first` on, annotated."""
        meshes = gen_random.get_meshes(False, flops=False)  # times of collectives are compared
        texts = [gen_random.Function(random.Random(f"{self.options.seed}.{i}"), f"f{i}").build(reference=False) for i in range(first, first + count)]
        used = {name: re.search(r"<@(m\d+)", text) for name, text in ((f"f{first + k}", text) for k, text in enumerate(texts))}
        stripped = self.must("\n".join([*meshes, *texts]), "--spmd-decompose", "--spmd-strip=shardings-only")
        lines = "".join(f"  {mesh}\n" for mesh in meshes if f"{mesh.split(' = ')[0]} " not in stripped)
        functions = Functions(re.sub(r"module( attributes \{.*\})? \{\n", lambda m: m[0] + lines, stripped, count=1))
        rules = []
        for name in list(functions.pieces):
            if KEPT.search(functions.pieces[name]):
                del functions.pieces[name]
                continue
            rng = random.Random(f"{self.options.seed}.{name}.annotations")
            mesh = int(used[name][1][1:]) if used.get(name) else rng.randrange(len(gen_random.MESHES))
            rules += annotate(rng, name, mesh, functions.pieces[name], self.options.annotations)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump({"version": 1, "rules": rules}, plan)
            plan.flush()
            return Functions(self.must(functions.module(), f"--spmd-apply-plan=file={plan.name}"))

    def report(self, text, options):
        """Seconds per function, or the errors."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            done = self.run(text, f"--spmd-report=format=json output={file.name} {self.options.options} {options}", "-o", os.devnull)
            if done.returncode:
                return done.stderr
            report = json.load(file)
        seconds = {f["name"]: 0.0 for f in report["functions"]}
        for c in report["collectives"]:
            seconds[c["function"]] += c["cost"]
        return seconds

    def compare(self, functions, names):
        """(name, default, search) of each; names that one plan alone reports as errors."""
        text = functions.module(set(names))
        search = f"auto-shard={{{self.options.search}}}" if self.options.search else "auto-shard"
        found = [self.report(text, self.options.default), self.report(text, search)]
        if all(isinstance(f, dict) for f in found):
            return [(name, found[0][name], found[1][name], "") for name in names]
        if len(names) == 1:
            said = next(f for f in found if isinstance(f, str))
            return [(names[0], None, None, "" if all(isinstance(f, str) for f in found) else said)]
        half = len(names) // 2
        return self.compare(functions, names[:half]) + self.compare(functions, names[half:])

    def batch(self, first):
        functions = self.prepare(first, min(BATCH, self.options.count - first))
        return [row + (functions.module({row[0]}),) for row in self.compare(functions, list(functions.pieces))]


def annotate(rng, name, mesh, text, most):
    """Rules for up to `most` arguments and results of a function."""
    head = re.search(rf"(?m)^  func\.func @{name}\(([^\n]*?)\) -> ([^\n]*) \{{$", text)
    axes = [(gen_random.AXES[i], size) for i, size in enumerate(gen_random.MESHES[mesh])]
    tensors = []
    for kind, part in (("argument", head[1]), ("result", head[2])):
        for index, dims in enumerate(re.findall(r"tensor<((?:\d+x)*)\w+>", part)):
            tensors.append(({kind: f"{'arg' if kind == 'argument' else 'result'}{index}"}, [int(d) for d in dims.split("x") if d]))
    rules = []
    for who, shape in rng.sample(tensors, min(len(tensors), rng.randrange(most + 1))):
        spec, left = [[] for _ in shape], list(shape)
        for axis, size in rng.sample(axes, len(axes)):
            fits = [d for d, n in enumerate(left) if n % size == 0]
            if size > 1 and fits and rng.random() < 0.75:
                d = rng.choice(fits)
                spec[d].append(f'"{axis}"')
                left[d] //= size
        dims = ", ".join("{" + ", ".join(d) + "}" for d in spec)
        rules.append({"function": name, **who, "sharding": f"<@m{mesh}, [{dims}]>"})
    return rules


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--annotations", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1.1)
    parser.add_argument("--share", type=float, default=0.99)
    parser.add_argument("--maximum", type=float, default=2)
    parser.add_argument("--worst", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--options", default="", help="more options of --spmd-report, for both plans")
    parser.add_argument("--default", default="", help="more options of --spmd-report, for the default plan")
    parser.add_argument("--search", default="", help="more options of --spmd-auto-shard")
    parser.add_argument("--write", help="directory that gets the worst functions")
    parser.add_argument("--json")
    options = parser.parse_args()
    bench = Bench(options)
    if options.only is not None:
        options.count = options.only + 1
        print(bench.prepare(options.only, 1).module())
        return 0
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [row for batch in pool.map(bench.batch, range(0, options.count, BATCH)) for row in batch]
    errors = [(name, said) for name, _, _, said, _ in rows if said]
    found = []
    for name, plan, best, _, text in rows:
        if plan is not None:
            found.append((1.0 if plan <= best + EPSILON else plan / best if best > EPSILON else float("inf"), name, plan, best, text))
    found.sort(key=lambda row: (-row[0], -row[2]))
    ratios = [row[0] for row in reversed(found)]
    near = sum(r <= options.limit for r in ratios) / len(ratios)
    moving = sum(max(row[2], row[3]) > EPSILON for row in found)
    below = sum(row[2] < row[3] / options.limit for row in found)
    print(f"{len(found)} functions of {options.count}, {moving} with collectives, seed {options.seed}")
    print(f"{100 * near:.2f} % at most {options.limit} of the search's time, {sum(r > options.maximum for r in ratios)} above {options.maximum}")
    print("percentiles: " + ", ".join(f"{p} %: {ratios[min(len(ratios) - 1, int(len(ratios) * p / 100))]:.2f}" for p in (50, 75, 90, 95, 99, 99.9)) + f", worst {ratios[-1]:.2f}")
    print(f"search behind the default plan by more than {options.limit}: {below}")
    for ratio, name, plan, best, text in found[: options.worst]:
        print(f"  --seed {options.seed} --only {name[1:]}: {ratio:.2f}, default {plan:.3e} s, search {best:.3e} s")
        if options.write and ratio > options.limit:
            Path(options.write).mkdir(parents=True, exist_ok=True)
            (Path(options.write) / f"{options.seed}-{name}.mlir").write_text(text)
    for name, said in errors[:20]:
        print(f"  --seed {options.seed} --only {name[1:]}: one plan alone: {said.splitlines()[0] if said else ''}")
    if options.json:
        Path(options.json).write_text(json.dumps([{"name": row[1], "ratio": row[0] if row[0] != float("inf") else None, "default": row[2], "search": row[3]} for row in found]) + "\n")
    return 1 if errors or near < options.share or ratios[-1] > options.maximum else 0


if __name__ == "__main__":
    sys.exit(main())
