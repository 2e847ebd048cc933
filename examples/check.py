#!/usr/bin/env python3
"""Runs committed models sharded and compares with what their framework made of the same arguments; needs no framework.

    check.py [NAME]... [--verify]

Those under pipelines are cut into stages and four microbatches. With --verify, each device's results are compared with the unsharded program as well.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import arguments
import numpy as np
from shardkit import safetensors
from shardkit.tools import find_tool

RTOL = 1e-5  # of the norm


def check(path, verify):
    """Nothing, or what differs."""
    text = path.read_text()
    expected = json.loads(path.with_suffix(".json").read_text())
    files = {True: {}, False: {}}
    for name, shape, dtype, high, is_weight in arguments.read_arguments(text):
        files[is_weight][name] = arguments.make_argument(name, shape, dtype, high, is_weight)
    with tempfile.TemporaryDirectory() as work:
        command = [find_tool("shard-run"), str(path), "--output-dir", f"{work}/out", "--output-format", "safetensors"]
        command += ["--verify"] if verify else []
        command += ["--pipeline=microbatches=4"] if path.parent.name == "pipelines" else []
        for is_weight, option in ((True, "--weights"), (False, "--input")):
            if files[is_weight]:
                safetensors.write(f"{work}/{option[2:]}.safetensors", files[is_weight])
                command += [option, f"{work}/{option[2:]}.safetensors"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr + done.stdout
        (file,) = Path(work, "out").glob("*.safetensors")
        results = safetensors.read(file)
    if set(results) != set(expected):
        return f"results {sorted(results)}, expected {sorted(expected)}"
    for name, (shape, product, norm) in expected.items():
        own_shape, own_product, own_norm = arguments.checksum(name, results[name])
        scale = RTOL * max(norm, 1e-30)
        close = abs(own_product - product) <= scale and abs(own_norm - norm) <= scale
        if own_shape != shape or not np.isfinite(own_norm) or not close:
            return f"{name}: {own_shape, own_product, own_norm}, expected {shape, product, norm}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    root = Path(__file__).parent
    paths = sorted(root.glob("*/models/*.mlir")) + sorted(root.glob("*/pipelines/*.mlir"))
    paths = [p for p in paths if not options.names or p.stem in options.names]
    failed = 0
    for path in paths:
        problem = check(path, options.verify)
        print(f"{path.stem}: {problem or 'as ' + path.parts[-3]}")
        failed += problem is not None
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
