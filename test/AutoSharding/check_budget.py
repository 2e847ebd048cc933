#!/usr/bin/env python3
"""What the search says of budgets is so: within the one that it says is enough there are layouts, whose partitioned program holds no more, below the
one that is needed at least there are none.

usage: check_budget.py SHARD_OPT SCRATCH_DIRECTORY
"""

import json
import pathlib
import re
import subprocess
import sys

import alpa_cases


def search(shard_opt, path, budget, output):
    return subprocess.run([shard_opt, path, f"--spmd-auto-shard=time-limit=2 memory-budget={budget}", "-o", str(output)], capture_output=True, text=True)


def main():
    shard_opt, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    path = scratch / "mlp.mlir"
    path.write_text(alpa_cases.mlp(alpa_cases.mesh({"m": 4}), 3, 64, 32, bias=True).text())
    refused = search(shard_opt, path, 1, scratch / "none.mlir")
    said = re.search(r"expected a memory budget of at least (\d+)(?: \((\d+) is enough\))?", refused.stderr)
    if refused.returncode != 1 or not said:
        sys.exit(f"FAIL a budget of 1: {refused.returncode} {refused.stderr}")
    least, enough = int(said[1]), int(said[2] or said[1])
    below = search(shard_opt, path, least - 1, scratch / "none.mlir")
    if below.returncode != 1:
        sys.exit(f"FAIL {least} are needed, {least - 1} do")
    anew = 0
    for budget in (enough, enough * 9 // 8, enough * 5 // 4):
        found = search(shard_opt, path, budget, scratch / "found.mlir")
        if found.returncode:
            sys.exit(f"FAIL {budget}, where {enough} are enough: {found.stderr}")
        text = (scratch / "found.mlir").read_text()
        bound, objective = (float(v) for v in re.search(r"lower_bound = (\S+) : f64, objective = (\S+) : f64", text).groups())
        if bound > objective:
            sys.exit(f"FAIL {budget}: {objective}, bound {bound}")
        anew += "spmd.reshard_per_use" in text
        report = scratch / "report.json"
        subprocess.run([shard_opt, str(scratch / "found.mlir"), "--spmd-insert-reshards=defer-reductions=false", "--spmd-partition", "--spmd-assign-collective-ids",
                        f"--spmd-report=format=json output={report}", "-o", "/dev/null"], check=True)
        held = json.loads(report.read_text())["memory"]["peak_bytes"]
        if held > budget:
            sys.exit(f"FAIL {budget}: the partitioned program holds {held} bytes")
    print(f"{least} bytes are needed, {enough} are enough, {anew} of 3 make copies anew")


if __name__ == "__main__":
    main()
