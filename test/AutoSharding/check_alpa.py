#!/usr/bin/env python3
"""Runs the cases of alpa_cases.py: objective to 1e-6, the collectives that partition emits, and that their cost is the objective.

usage: check_alpa.py SHARD_OPT SCRATCH_DIRECTORY [NAME]
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

from alpa_cases import BUDGETS, CASES, SMALLEST, b_case


def run(shard_opt, scratch, name, program, options):
    path = scratch / "case.mlir"
    path.write_text(program.text())
    out = subprocess.run([shard_opt, path, f"--spmd-auto-shard=cost-model=alpa {options}"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{name}: {out.stderr}")
    solver = re.search(r'spmd.solver = \{lower_bound = ([^ ]+) : f64, objective = ([^ ]+) : f64, status = "([^"]+)"', out.stdout)
    report = scratch / "report.json"
    lowered = subprocess.run([shard_opt, "-", "--spmd-insert-reshards=defer-reductions=false", "--spmd-partition", "--spmd-assign-collective-ids",
                              f"--spmd-report=format=json output={report}", "-o", "/dev/null"], input=out.stdout, capture_output=True, text=True)
    if lowered.returncode:
        sys.exit(f"{name}: {lowered.stderr}")
    loaded = json.loads(report.read_text())
    emitted = loaded["collectives"]
    moves = collections.Counter((c["kind"], c["bytes"]) for c in emitted if c["kind"] != "all_slice" for _ in range(c["count"]))
    return float(solver[2]), float(solver[1]), solver[3], moves, loaded["memory"]["peak_bytes"]


def main():
    shard_opt, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    failures = 0
    for name, program, options, objective, collectives in CASES:
        if len(sys.argv) > 3 and sys.argv[3] != name:
            continue
        found, bound, status, moves, _ = run(shard_opt, scratch, name, program, options)
        problems = []
        if abs(found - objective) > 1e-6 * max(objective, 1):
            problems.append(f"objective {found}, expected {objective}")
        if status != "optimal" or bound != found:
            problems.append(f"status {status}, bound {bound}")
        if collectives is not None and moves != collections.Counter(collectives):
            problems.append(f"collectives {sorted(moves.items())}, expected {sorted(collections.Counter(collectives).items())}")
        print(f"{'FAIL' if problems else 'ok'} {name}: {found} {'; '.join(problems)} {sorted(moves.items()) if problems else ''}")
        failures += bool(problems)
    for name, options, budgets in BUDGETS:
        for budget, objective in budgets.items():
            limited = f"{options} memory-budget={budget} optimality-gap=0"
            if objective is None:
                path = scratch / "case.mlir"
                path.write_text(b_case().text())
                out = subprocess.run([shard_opt, path, f"--spmd-auto-shard=cost-model=alpa {limited}"], capture_output=True, text=True)
                wanted = f"error: function @main does not fit into {budget} bytes per device, expected a memory budget of at least {SMALLEST}\n"
                failed = out.returncode != 1 or wanted not in out.stderr or out.stderr.count("note: holds") != 4
                print(f"{'FAIL' if failed else 'ok'} {name} {budget}: infeasible {out.stderr if failed else ''}")
            else:
                found, _, status, _, peak = run(shard_opt, scratch, name, b_case(), limited)
                failed = abs(found - objective) > 1e-6 * max(objective, 1) or status != "optimal" or peak > budget
                print(f"{'FAIL' if failed else 'ok'} {name} {budget}: {found} (expected {objective}) {status}, peak {peak}")
            failures += failed
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
