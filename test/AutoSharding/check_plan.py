#!/usr/bin/env python3
"""The plan of a search, applied to the program without shardings, partitions to the same ops as the search itself.

usage: check_plan.py SHARD_OPT FILE SCRATCH_DIRECTORY [OPTIONS]

Values have other numbers and collectives other places, so the lines are compared without the names of values, in any order.
"""

import collections
import pathlib
import re
import subprocess
import sys


def run(*command):
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return out.stdout


def read(text):
    text = re.sub(r" attributes \{spmd\.solver = .*\}\} \{$", " {", text, flags=re.M)
    text = re.sub(r"^#map\d* = .*\n", "", text, flags=re.M)
    return collections.Counter(re.sub(r"#map\d*", "#map", re.sub(r"%[\w#:]+", "%", line)) for line in text.splitlines())


def main():
    shard_opt, path, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    options = sys.argv[4] if len(sys.argv) > 4 else ""
    base, bare, plan = (str(scratch / name) for name in ("base.mlir", "bare.mlir", "plan.json"))
    run(shard_opt, path, "--spmd-decompose", "--inline", "--symbol-dce", "-mlir-print-debuginfo", "-o", base)
    finish = ["--spmd-insert-reshards", "--spmd-partition"]
    searched = run(shard_opt, base, f"--spmd-auto-shard={options}", f"--spmd-export-plan=file={plan} content=all", *finish)
    if '"factor_shardings"' not in pathlib.Path(plan).read_text():
        sys.exit("FAIL: the plan does not say how ops compute")
    run(shard_opt, base, "--spmd-strip=shardings-only", "-mlir-print-debuginfo", "-o", bare)
    if "spmd.sharding" in pathlib.Path(bare).read_text():
        sys.exit("FAIL: shardings were not stripped")
    applied = run(shard_opt, bare, f"--spmd-apply-plan=file={plan}", "--spmd-propagate", *finish)
    one, other = read(searched), read(applied)
    for line in list((one - other).elements())[:5]:
        print("FAIL search alone:", line[:200])
    for line in list((other - one).elements())[:5]:
        print("FAIL plan alone:", line[:200])
    if one != other:
        sys.exit(1)
    print(f"the same {sum(one.values())} lines")


if __name__ == "__main__":
    main()
