"""Checks that ranks read what they own: check_loading.py OWNED REPORT.

OWNED is of gen_loading.py --owned, REPORT of shard-run --report. A rank may need 1.05 times the
bytes of the stored elements that its shard depends on.
"""
import json
import sys

owned = json.load(open(sys.argv[1]))
runs = {run["function"]: run["load"]["bytes_needed"] for run in json.load(open(sys.argv[2]))["run"]["functions"]}
failed = 0
for name, limits in owned.items():
    needed = runs[name]
    if any(n > 1.05 * limit for n, limit in zip(needed, limits)):
        failed += 1
        print(f"{name}: needs {needed} bytes, expected at most 1.05 x {limits}")
print(f"{len(owned)} functions, {failed} of which need more than ranks own")
sys.exit(failed > 0)
