#!/usr/bin/env python3
"""For every function of a file: the objective of --spmd-auto-shard is the predicted time of the collectives that partition emits, and no less than that of
those that are left with all optimisations on.

The searched plan is not compared with others.

usage: check_objective.py SHARD_OPT FILE SCRATCH_DIRECTORY [OPTIONS]
"""

import collections
import json
import pathlib
import re
import subprocess
import sys


def read_costs(report):
    costs = collections.Counter()
    for c in json.loads(report.read_text())["collectives"]:
        costs[c["function"]] += c["cost"] * c["count"]
    return costs


def main():
    shard_opt, path, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    options = sys.argv[4] if len(sys.argv) > 4 else ""
    scratch.mkdir(parents=True, exist_ok=True)
    front = subprocess.run([shard_opt, path, "--spmd-resolve-axis-resources", "--spmd-decompose", "--inline", "--symbol-dce",
                            f"--spmd-auto-shard=compare-plans=false {options}"], capture_output=True, text=True)
    if front.returncode:
        sys.exit(front.stderr)
    objectives = {}
    for name, bound, objective, status in re.findall(
            r'func.func (?:private )?@(\w+)\([^\n]*spmd.solver = \{lower_bound = ([^ ]+) : f64, objective = ([^ ]+) : f64, status = "([^"]+)"',
            front.stdout):
        objectives[name] = float(objective), float(bound), status
    left_out = set()
    for function in re.split(r"(?m)^  func.func ", front.stdout)[1:]:
        # What users wrote as collectives is no choice; reports count a size that is not known otherwise than the search does.
        if "spmd.manual_computation" in function or re.search(r"tensor<[^>]*\?", function):
            left_out.add(re.search(r"@(\w+)", function)[1])
    report = scratch / "report.json"
    back = subprocess.run([shard_opt, "-", "--spmd-insert-reshards=defer-reductions=false", "--spmd-partition", "--spmd-assign-collective-ids",
                           f"--spmd-report=format=json output={report}", "-o", "/dev/null"], input=front.stdout, capture_output=True, text=True)
    if back.returncode:
        sys.exit(back.stderr)
    costs = read_costs(report)
    # The report takes what is not partitioned yet through all phases as the pipeline has them.
    back = subprocess.run([shard_opt, "-", f"--spmd-report=format=json output={report}", "-o", "/dev/null"], input=front.stdout, capture_output=True, text=True)
    if back.returncode:
        sys.exit(back.stderr)
    optimised = read_costs(report)
    failures = cheaper = 0
    for name, (objective, bound, status) in objectives.items():
        # Private functions are not in the report.
        if name.endswith("_reference") or name in left_out:
            continue
        cost = costs[name]
        if abs(cost - objective) > 1e-9 * max(abs(objective), 1e-9) or bound > objective:
            failures += 1
            print(f"FAIL {name}: objective {objective}, {status}, bound {bound}; emitted {cost}")
        elif optimised[name] > objective + 1e-9 * max(objective, 1e-9):
            failures += 1
            print(f"FAIL {name}: objective {objective}; with optimisations {optimised[name]}")
        cheaper += optimised[name] < objective * (1 - 1e-9)
    print(f"{len(objectives)} functions, {sum(objective > 0 for objective, *_ in objectives.values())} with a cost, {failures} differ, optimisations make {cheaper} cheaper")
    sys.exit(1 if failures or not objectives else 0)


if __name__ == "__main__":
    main()
