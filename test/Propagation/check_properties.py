#!/usr/bin/env python3
"""Properties of propagation over random programs.

  check_properties.py --seed 1 --count 100 --opt shard-opt --generator gen_random.py
  check_properties.py --shared ...      pairs of functions that share weights

* order: the same layouts whatever the order of operations, arguments and functions
* idempotent: a second run changes nothing
* deterministic: the same text with and without threads
* given: every axis that the user gave is still there
* monotone, conflicts=basic: an added annotation that conflicts with nothing
  (nothing that explain calls a conflict) removes no inferred axis
"""
import argparse
import importlib.util
import json
import random
import re
import subprocess
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("generator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Program:
    """A generated function as arguments and ops, each with its name as location."""

    def __init__(self, text):
        # What a function with manual computations is compared with does not matter.
        head, *body = text.split("func.func private")[0].strip().split("\n")
        name, args, results = re.match(
            r"func.func @(\w+)\((.*)\) -> \((.*)\)(?: attributes .*)? \{$", head).groups()
        self.name, self.results = name, results
        self.args = [f'{a} loc("{a.split(":")[0][1:]}")'
                     for a in re.split(r", (?=%arg\d)", args)]
        self.ops, self.tail = [], None
        lines = body[:-1]  # without the closing brace
        chunk = []
        for line in lines:
            chunk.append(line)
            opened = sum(l.count("{") - l.count("}") for l in chunk)
            cases = "scf.index_switch" in chunk[0] and not any("default {" in l for l in chunk)
            if opened > 0 or cases:
                continue
            if chunk[0].startswith("  return"):
                self.tail = chunk[0]
            else:
                defined = re.match(r"\s*%(\w+)", chunk[0]).group(1)
                chunk[-1] += f' loc("{defined}")'
                text = "\n".join(chunk)
                inside = re.findall(r"%(v\d+)(?::\d+)? =|(?:forall|parallel) \(%(v\d+)\)|[( ]%(v\d+):", text)
                read = set(re.findall(r"%(v\d+)", text)) - {n for names in inside for n in names}
                self.ops.append((defined, read, text))
            chunk = []

    def text(self, rng=None):
        args, ops = list(self.args), list(self.ops)
        if rng:
            rng.shuffle(args)
            ready, done, order = list(self.ops), set(), []
            while ready:
                free = [op for op in ready if op[1] <= done]
                op = rng.choice(free)
                ready.remove(op)
                done.add(op[0])
                order.append(op)
            ops = order
        return "\n".join([f"func.func @{self.name}({', '.join(args)}) -> ({self.results}) {{"]
                         + [op[2] for op in ops] + [self.tail, "}", ""])


def canonical(output):
    """Lines of each function in an order of their own; arguments too."""
    functions = {}
    lines = None
    maps = dict(re.findall(r"^(#map\d*) = (.*)$", output, re.M))
    for line in output.split("\n"):
        line = re.sub(r"#map\d*", lambda m: maps.get(m.group(0), m.group(0)), line)
        # Several values with one name are numbered as they come.
        line = re.sub(r"(%[a-z]+\d*)_\d+\b", r"\1_", line)
        if match := re.match(r"\s*func.func @(\w+)\((.*)\) -> (.*) \{$", line):
            lines = functions.setdefault(match.group(1), [])
            lines.append(match.group(3))
            lines += sorted(re.split(r", (?=%arg\d)", match.group(2)))
        elif lines is not None and line not in ("", "}"):  # of the module
            lines.append(line)
    return {name: sorted(lines) for name, lines in functions.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--opt", default="shard-opt")
    parser.add_argument("--generator", required=True)
    parser.add_argument("--shared", action="store_true")
    options = parser.parse_args()
    generator = load(options.generator)

    def run(text, *flags):
        result = subprocess.run([options.opt, "--mlir-use-nameloc-as-prefix", *flags],
                                input=text, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"shard-opt failed:\n{result.stderr}")
        return result.stdout

    meshes = []
    for i, sizes in enumerate(generator.MESHES):
        axes = ", ".join(f'"{generator.AXES[a]}"={s}' for a, s in enumerate(sizes))
        meshes.append(f"spmd.mesh @m{i} = <[{axes}]>")
    head = "\n".join(meshes) + "\n"
    programs = []
    i = 0
    weights = None
    while len(programs) < options.count:
        rng = random.Random(f"{options.seed}.{i}")
        if options.shared and i % 2 == 0:
            weights = {}
        text = generator.Function(rng, f"f{i}", shared=weights).build(reference=False)
        if "func.call" not in text:   # functions one by one, so that the order is only that of their ops
            programs.append(Program(text))
        i += 1
    plain = head + "\n".join(p.text() for p in programs)
    rng = random.Random(options.seed)
    shuffled = head + "\n".join(p.text(rng) for p in rng.sample(programs, len(programs)))

    def check(what, a, b):
        a, b = canonical(a), canonical(b)
        bad = [name for name in a if a[name] != b.get(name)]
        if bad:
            name = bad[0]
            print(f"{what}: @{name} and {len(bad) - 1} more differ")
            for line in sorted(set(a[name]) ^ set(b[name])):
                print(("- " if line in a[name] else "+ ") + line)
            sys.exit(1)
        print(f"{what}: {len(a)} functions agree")

    for conflicts in ("cost", "basic"):
        pass_ = f"--spmd-propagate=conflicts={conflicts}"
        once = run(plain, pass_)
        check(f"order, conflicts={conflicts}", once, run(shuffled, pass_))
        check(f"idempotent, conflicts={conflicts}", once, run(plain, pass_, pass_))
        check(f"deterministic, conflicts={conflicts}", once,
              run(plain, pass_, "--mlir-disable-threading"))

    if options.shared:
        # Functions differ in the layout of a weight only if what they were given differs.
        check_shared(plain, run(plain, "--spmd-propagate"))
        return
    # What was inferred for some arguments is given as well.
    once = run(plain, "--spmd-propagate=conflicts=basic")
    before = shardings(once)
    added = 0
    for program in programs:
        for i, arg in enumerate(program.args):
            name = arg.split(":")[0]
            inferred = before.get((program.name, name))
            if inferred and "spmd.sharding" not in arg and rng.random() < 0.7:
                program.args[i] = arg.replace("{", "{spmd.sharding = #spmd.sharding" + inferred + ", ", 1)
                added += 1
    text = head + "\n".join(p.text() for p in programs)
    after = shardings(run(text, "--spmd-propagate=conflicts=basic"))
    explained = json.loads(run(text, "--spmd-explain=conflicts=basic format=json output=-",
                               "-o", "/dev/null"))
    conflicting = {f["name"] for f in explained["functions"] for v in f["values"]
                   for stop in v["stopped"]
                   if not re.search("closed|divisible|whole|no sharding rule|partial|must not",
                                    stop["reason"])}
    checked = 0
    for key, had in before.items():
        if key[0] in conflicting:
            continue
        checked += 1
        for now, then in zip(dims(after[key]), dims(had)):
            if now[:len(then)] != then:
                sys.exit(f"monotone: {key} had {had}, has {after[key]}")
    if not added or not checked:
        sys.exit("monotone: nothing to check")
    print(f"monotone: {checked} values keep their axes, {added} annotations added")


def check_shared(text, output):
    def collect(text):
        found = {}
        for arg in re.findall(r"%arg\w+: [^%]*", "\n".join(line for line in text.split("\n") if "func.func @" in line)):
            if name := re.search(r'spmd\.weight = "([^"]*)"', arg):
                sharding = re.search(r"spmd\.sharding = #spmd\.sharding(<.*?\](?:, \w+ = \{[^}]*\})?>)", arg)
                found.setdefault(name.group(1), []).append(sharding and sharding.group(1))
        return found
    before, after = collect(text), collect(output)
    alike = several = 0
    for name, layouts in after.items():
        if len(layouts) < 2:
            continue
        given = {layout for layout in before[name] if layout}
        several += len(set(layouts)) > 1
        # Of one annotation, or none, all have what it becomes.
        if len(given) < 2:
            alike += 1
            axes = {str(dims(layout)) for layout in layouts}
            if len(axes) != 1:
                sys.exit(f"shared: {name} has the layouts {layouts}, was given {before[name]}")
    if alike < 20 or not several:
        sys.exit(f"shared: {alike} weights of one layout, {several} of several: nothing to check")
    print(f"shared: {alike} weights have one layout, {several} have several")


def shardings(output):
    """Sharding of each value that has one, by function and name."""
    found, function = {}, None
    for line in output.split("\n"):
        if match := re.match(r"\s*func.func @(\w+)\((.*)\) -> ", line):
            function = match.group(1)
            for arg in re.split(r", (?=%arg\d)", match.group(2)):
                if given := re.search(r"spmd\.sharding = #spmd\.sharding(<.*?\](?:, \w+ = \{[^}]*\})?>)", arg):
                    found[function, arg.split(":")[0]] = given.group(1)
        elif match := re.match(r"\s*(%\w+)(?::\d+)? = .*spmd\.shardings = \[#spmd\.sharding(<.*?\](?:, \w+ = \{[^}]*\})?>)", line):
            found[function, match.group(1)] = match.group(2)
    return found


def dims(sharding):
    """Entries per dim, without what says that it is open."""
    inner = re.match(r"<@\w+, \[(.*?)\](, |>)", sharding).group(1)
    return [[e for e in dim.split(", ") if e not in ("", "?")]
            for dim in re.findall(r"\{([^{}]*)\}", inner)]


if __name__ == "__main__":
    main()
