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

from alpa_cases import CASES


def run(shard_opt, scratch, name, program, options):
    path = scratch / "case.mlir"
    path.write_text(program.text())
    out = subprocess.run([shard_opt, path, f"--spmd-auto-shard=cost-model=alpa {options}"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"{name}: {out.stderr}")
    solver = re.search(r'spmd.solver = \{lower_bound = ([^ ]+) : f64, objective = ([^ ]+) : f64, status = "([^"]+)"', out.stdout)
    report = scratch / "report.json"
    lowered = subprocess.run([shard_opt, "-", "--spmd-insert-reshards=carry-sums=false", "--spmd-partition", "--spmd-number-collectives",
                              f"--spmd-report=format=json output={report}", "-o", "/dev/null"], input=out.stdout, capture_output=True, text=True)
    if lowered.returncode:
        sys.exit(f"{name}: {lowered.stderr}")
    emitted = json.loads(report.read_text())["collectives"]
    moves = collections.Counter((c["kind"], c["bytes"]) for c in emitted if c["kind"] != "all_slice" for _ in range(c["count"]))
    return float(solver[2]), float(solver[1]), solver[3], moves


def main():
    shard_opt, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    failures = 0
    for name, program, options, objective, collectives in CASES:
        if len(sys.argv) > 3 and sys.argv[3] != name:
            continue
        found, bound, status, moves = run(shard_opt, scratch, name, program, options)
        problems = []
        if abs(found - objective) > 1e-6 * max(objective, 1):
            problems.append(f"objective {found}, expected {objective}")
        if status != "optimal" or bound != found:
            problems.append(f"status {status}, bound {bound}")
        if collectives is not None and moves != collections.Counter(collectives):
            problems.append(f"collectives {sorted(moves.items())}, expected {sorted(collections.Counter(collectives).items())}")
        print(f"{'FAIL' if problems else 'ok'} {name}: {found} {'; '.join(problems)} {sorted(moves.items()) if problems else ''}")
        failures += bool(problems)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
