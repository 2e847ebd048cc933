"""Runs tests of diagnostics again on ops without locations (--strip-debuginfo). Each file has as many errors as its test
expects, none of them at <unknown>:0."""

import pathlib
import re
import subprocess
import sys

bad, errors = [], 0
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.mlir")):
    text = path.read_text()
    run = re.search(r"^// RUN: shard-opt %s (.*--verify-diagnostics[^|\n]*)", text, re.M)
    passes = [] if not run else [option for option in run[1].split() if option.startswith("--spmd")]
    if not passes:
        continue
    options = [option for option in run[1].split() if option not in passes and option != "--verify-diagnostics"]
    done = subprocess.run(["shard-opt", str(path), *options, "--strip-debuginfo", *passes, "-o", "/dev/null"], capture_output=True, text=True)
    found = re.findall(r"^(\S+): (?:error|warning): .*", done.stderr, re.M)
    errors += len(found)
    if "<unknown>" in done.stderr or done.returncode not in (0, 1) or ("expected-error" in text and not found):
        bad.append(f"{path}: exit {done.returncode}\n{done.stderr[-2000:]}")
print(*bad, f"{errors} errors and warnings, {len(bad)} files without a location", sep="\n")
