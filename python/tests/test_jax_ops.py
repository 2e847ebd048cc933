#!/usr/bin/env python3
"""The programs that JAX tests exporters with, of one primitive each, on one device and sharded on four: each equals JAX, or is one
error. Needs the wheels.

test_jax_ops.py [--every=N] [--table] [--target=cuda] [NAME...], as samples.py says.
"""

import os

import numpy as np
import samples

import shardkit

os.environ["JAX_PLATFORMS"] = "cpu"


def read_harnesses():
    from jax._src.internal_test_util import test_harnesses

    return test_harnesses.all_harnesses


def is_array(value):
    import jax

    return not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key) and value.dtype.kind != "c" and 0 <= value.size < 1 << 18


def run(task):
    import jax

    index, options = task
    harness = read_harnesses()[index]
    name = harness.fullname
    if not harness.filter("cpu"):
        return name, "left out", "not on cpu"
    given = harness.dyn_args_maker(np.random.RandomState(42))
    given = [jax.numpy.asarray(a) if isinstance(a, (np.ndarray, np.generic, float, int, bool)) else a for a in given]
    if not given or not all(map(is_array, jax.tree_util.tree_leaves(given))):
        return name, "left out", "no small arrays of numbers"
    try:
        expected = jax.tree_util.tree_leaves(jax.jit(harness.dyn_fun)(*given))
    except Exception as error:  # what JAX does not do either
        return name, "left out", str(error).splitlines()[0]
    if not all(map(is_array, expected)):
        return name, "left out", "no arrays of numbers as results"
    kind, why = samples.check(lambda: shardkit.import_jax(lambda *args: harness.dyn_fun(*args), *given), given, expected, options)
    return name, kind, why


def main():
    import jax

    args = samples.read_arguments(__doc__)
    harnesses = read_harnesses()
    tasks = [
        (index, [f"--target={args.target}"])
        for index, harness in enumerate(harnesses)
        if not args.names or {harness.fullname, harness.group_name} & set(args.names)
    ]
    samples.run_all(f"primitives of JAX {jax.__version__}", run, tasks[:: args.every], args, start="spawn")


if __name__ == "__main__":
    main()
