#!/usr/bin/env python3
"""Compares the memory of a JSON report (standard input) with the lines `// memory:` of a file: function, peak, op, and the
values that are held there, the largest first."""
import json
import re
import sys

functions = {f["name"]: f for f in json.load(sys.stdin)["memory"]["functions"]}
wrong = 0
lines = re.findall(r"^// memory: (\w+) (\d+) (\S+) (.*)$", open(sys.argv[1], encoding="utf-8").read(), re.M)
for name, peak, op, held in lines:
    function = functions.pop(name)
    got = f"{function['peak_bytes']} {function['op']} " + ", ".join(f"{v['name']}={v['bytes']}" for v in function["largest"])
    if got != f"{peak} {op} {held}":
        print(f"@{name}: got      {got}\n{' ' * len(name)}   expected {peak} {op} {held}")
        wrong += 1
if functions:
    print(f"no line for {', '.join(functions)}")
sys.exit(bool(wrong or functions or not lines))
