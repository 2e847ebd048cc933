#!/usr/bin/env python3
"""Adding a constraint never lowers the optimum: random programs, searched free and with constraints.

usage: check_constraints.py SHARD_OPT FILE

Options: whatever they ask for costs no less in collectives. Pins: the first argument of each function that an axis divides is pinned to be whole, or to be
cut by one; shardings of the file itself are dropped before, since what is given in parts of axes is in the space only because it is given.
"""

import json
import re
import subprocess
import sys
import tempfile

OPTIONS = ["reshard-per-use=always", "small-value-threshold=40", "deviation-penalty=1e-6", "deviation-penalty=1", "allow-replicated-weights=false"]
# May leave nothing at all, for functions one by one.
STRICT = ["forbid-collectives=all_to_all", "forbid-collectives=all_reduce,reduce_scatter", "forbid-collectives=exchange,collective_permute"]


def run(*command, stdin=None):
    return subprocess.run(command, capture_output=True, text=True, input=stdin)


def read(text):
    objectives = {}
    for name, solver in re.findall(r"func\.func (?:private )?@(\w+)\([^\n]*spmd\.solver = \{([^\n]*?)\}\} \{", text):
        number = {key: float(value) for key, value in re.findall(r"(\w+) = ([-+.\deE]+) : f64", solver)}
        objectives[name] = number.get("communication", number["objective"]), number["lower_bound"], '"gap"' in solver
    return objectives


def main():
    shard_opt, path = sys.argv[1:3]
    compared = failures = nothing = 0

    def compare(what, free, other):
        nonlocal compared, failures
        for name, (cost, *_) in other.items():
            bound = free[name][1]
            compared += 1
            if cost < bound - 1e-9 * max(bound, 1e-9):
                failures += 1
                print(f"FAIL {name} with {what}: {cost} < {bound}")

    bare = run(shard_opt, path, "--spmd-resolve-axis-resources", "--spmd-decompose", "--inline", "--symbol-dce")
    if bare.returncode:
        sys.exit(bare.stderr)

    def search(text, options, *passes):
        nonlocal nothing
        out = run(shard_opt, "-", *passes, f"--spmd-auto-shard=compare-plans=false {options}", stdin=text)
        if out.returncode and "no layouts of function" in out.stderr:
            nothing += 1
            return {}
        if out.returncode:
            sys.exit(out.stderr)
        return read(out.stdout)

    free = search(bare.stdout, "")
    for options in OPTIONS + STRICT:
        compare(options, free, search(bare.stdout, options))

    # Pins by whole axes that divide, against the same argument left open.
    meshes = {name: (line, [(axis, int(size)) for axis, size in re.findall(r'"(\w+)"=(\d+)', line)])
              for line, name in re.findall(r"^ *(spmd\.mesh @(\w+) = .*)$", bare.stdout, flags=re.M)}
    stripped = run(shard_opt, "-", "--spmd-strip=shardings-only", stdin=bare.stdout).stdout
    missing = "".join(line + "\n" for name, (line, _) in meshes.items() if f"spmd.mesh @{name} " not in stripped)
    text = re.sub(r"module( attributes \{.*\})? \{\n", lambda m: m[0] + missing, stripped, count=1)
    plans = {"open": [], "whole": [], "first": [], "last": []}
    for function in re.split(r"(?m)^  func\.func ", bare.stdout)[1:]:
        named = set(re.findall(r"<@(\w+), \[", function))
        head = re.match(r"@(\w+)\(([^\n]*?)\) -> ([^\n]*)", function)
        # Cuts that propagation begins at windows are in the space where it begins them.
        if len(named) != 1 or not head or not (named <= set(meshes)) or re.search(r"pool|conv|pad|slice|concat|reverse", function):
            continue
        mesh = named.pop()

        def pick(text):
            """The first tensor with dims that whole axes divide: its number, its rank, the cuts."""
            for index, shape in enumerate(re.findall(r"tensor<(?:([\dx?]+)x)?\w+>(?! *:)", re.sub(r"\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "", text))):
                sizes = [int(size) for size in shape.split("x")] if shape and "?" not in shape else []
                fits = [(d, axis) for d, size in enumerate(sizes) for axis, n in meshes[mesh][1] if size and n > 1 and size % n == 0]
                if fits:
                    return index, len(sizes), fits
            return None

        def spell(rank, cut=None, dim="{}"):
            dims = [dim] * rank
            if cut:
                dims[cut[0]] = '{"%s"}' % cut[1]
            return f"<@{mesh}, [{', '.join(dims)}]>"

        argument, result = pick(head[2]), pick(head[3])
        if not argument:
            continue
        index, rank, fits = argument
        for kind, rules in plans.items():
            cut = {"first": fits[0], "last": fits[-1]}.get(kind)
            rules.append({"function": head[1], "argument": f"arg{index}", "sharding": spell(rank, cut, "{?}" if kind == "open" else "{}")})
            # Else nothing would cost anything.
            if result:
                rules.append({"function": head[1], "result": f"result{result[0]}", "sharding": spell(result[1], result[2][0])})
    found = {}
    for kind, rules in plans.items():
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump({"version": 1, "rules": rules}, plan)
            plan.flush()
            found[kind] = search(text, "", f"--spmd-apply-plan=file={plan.name}")
    for kind in ("whole", "first", "last"):
        compare(f"an argument {kind}", found["open"], found[kind])
    raised = sum(found[kind][name][0] > found["open"][name][0] for kind in ("whole", "first", "last") for name in found["open"])
    print(f"{compared} comparisons, {raised} pins cost something, {nothing} options leave nothing, {failures} failures")
    sys.exit(1 if failures or not compared else 0)


if __name__ == "__main__":
    main()
