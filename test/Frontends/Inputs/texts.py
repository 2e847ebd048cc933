"""What tools made of a text is on disk for other processes: texts.py CACHE."""

import os
import subprocess
import sys
from pathlib import Path

cache = Path(sys.argv[1])
MODULE = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
RUN = """
import subprocess, sys
from shardkit import tools
starts, run = [], subprocess.run
tools.subprocess.run = lambda *args, **kwargs: starts.append(args) or run(*args, **kwargs)
text = tools.run_tool([tools.find_tool("shard-opt"), "-"], sys.argv[1])
print(f"{len(starts)} starts, {'func.func @f' in text}")
"""


def call(**environment):
    done = subprocess.run([sys.executable, "-c", RUN, MODULE], capture_output=True, text=True, env=os.environ | {"SHARDKIT_CACHE": str(cache)} | environment)
    return done.stdout.strip() + (done.stderr and f"; {done.stderr.strip().replace(str(cache), '')}")


print("first:", call())
print("second:", call())
(entry,) = cache.glob("*.text")
entry.write_bytes(entry.read_bytes()[:-3] + b"..]")
print("damaged:", call().replace(entry.name, "ENTRY"))
print("mended:", call())
print("off:", call(SHARDKIT_CACHE="off"))
print("a file:", call(SHARDKIT_CACHE=str(entry)))
print(f"{oct(cache.stat().st_mode & 0o777)}, {len(os.listdir(cache))} file")
