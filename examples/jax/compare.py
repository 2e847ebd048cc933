#!/usr/bin/env python3
"""Runs the models of models.py with ShardKit on logical devices and compares with JAX on one device.

    compare.py [--model NAME]... [--style NAME]... [--devices 4]...

Prints a line for each model, style and number of devices, and exits with 1 if any differs. Needs: pip install ./python[jax]
"""

import argparse
import os
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from models import MODELS, STYLES, build  # noqa: E402

RTOL = 1e-5  # of the largest element; the order of sums differs


def make_mesh(devices):
    """`data` and `model`, as square as it goes."""
    rows = {1: 1, 2: 1, 4: 2, 8: 2}[devices]
    return jax.make_mesh(
        (rows, devices // rows), ("data", "model"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices()[:devices]
    )


def compare(name, style, devices):
    """The largest difference relative to the largest element, and the result it is in."""
    function, args = build(name, style, make_mesh(devices))
    # On whole arrays, jitted anew: the unsharded program.
    whole = jax.tree_util.tree_map(np.asarray, args)
    with jax.default_matmul_precision("highest"):
        expected = jax.jit(getattr(function, "__wrapped__", function))(*whole)
    found = shardkit.run(function, *args)
    worst = (0.0, "")
    for (path, a), b in zip(jax.tree_util.tree_flatten_with_path(found)[0], jax.tree_util.tree_leaves(expected), strict=True):
        b = np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (path, a.shape, a.dtype, b.shape, b.dtype)
        if b.dtype.kind in "biu":
            error = float(np.any(a != b))
        else:
            error = float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))
        if not error <= worst[0]:  # NaN is worse than all
            worst = (error, jax.tree_util.keystr(path))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", action="append", choices=sorted(MODELS))
    parser.add_argument("--style", action="append", choices=STYLES)
    parser.add_argument("--devices", action="append", type=int, choices=(1, 2, 4, 8))
    options = parser.parse_args()
    failed = passed = 0
    for name in options.model or MODELS:
        for devices in options.devices or (4, 8):
            for style in options.style or STYLES:
                start = time.monotonic()
                try:
                    error, where = compare(name, style, devices)
                except shardkit.ShardKitError as problem:
                    print(f"{name:10} {style:9} {devices} devices: {str(problem)[:2000]}", flush=True)
                    failed += 1
                    continue
                good = error <= RTOL
                passed, failed = passed + good, failed + (not good)
                verdict = "same" if good else f"DIFFERS at {where}"
                seconds = time.monotonic() - start
                print(f"{name:10} {style:9} {devices} devices: {verdict}, {error:.1e} ({seconds:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
