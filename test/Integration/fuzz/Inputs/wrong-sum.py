#!/usr/bin/env python3
"""shard-run with a fault planted: functions that combine partial values mismatch, unless they have a reference (and collectives
written by hand)."""
import os
import re
import subprocess
import sys

path = sys.argv[1]
local = subprocess.run(["shard-opt", path, "--spmd-default-pipeline"], capture_output=True, text=True).stdout
for function in local.split("func.func @")[1:]:
    if "spmd.reference" not in function.splitlines()[0] and re.search(r"spmd.(all_reduce|reduce_scatter) ", function):
        print("mismatch: planted")
        sys.exit(2)
os.execvp("shard-run", ["shard-run", *sys.argv[1:]])
