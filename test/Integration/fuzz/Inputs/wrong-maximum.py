#!/usr/bin/env python3
"""shard-run with a fault planted: programs that take a maximum over an axis mismatch."""
import os
import subprocess
import sys

path = sys.argv[1]
local = subprocess.run(["shard-opt", path, "--spmd-pipeline-default"], capture_output=True, text=True).stdout
if "spmd.all_reduce" in local and " max <@" in local:
    print("mismatch: planted")
    sys.exit(2)
os.execvp("shard-run", ["shard-run", *sys.argv[1:]])
