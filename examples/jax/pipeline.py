#!/usr/bin/env python3
"""A training step in JAX that runs as a pipeline: two stages of 2 (data) x 2 (model) devices, four microbatches.

    pipeline.py            runs it with ShardKit and compares with JAX
    pipeline.py --export   writes pipelines/mlp_step.mlir and mlp_step.json, which check.py runs without JAX

Needs: pip install ./python[jax]
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import shardkit  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import arguments  # noqa: E402

PIPELINE = "--pipeline=microbatches=4"
RTOL = 1e-5  # of the largest element; the order of sums differs


def step(params, x, y):
    """Loss, and parameters after a step of gradient descent."""

    def loss(params):
        h = jnp.tanh(x @ params["first"]["kernel"] + params["first"]["bias"])
        h = h @ params["second"]["kernel"] + params["second"]["bias"]
        h = shardkit.stage_boundary(h)
        h = jnp.tanh(h) @ params["third"]["kernel"] + params["third"]["bias"]
        return jnp.mean((h - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, params, gradients)


def make_arguments():
    """On a mesh whose first axis is left to the stages."""
    mesh = jax.make_mesh((2, 2, 2), ("stage", "data", "model"), axis_types=(AxisType.Auto,) * 3)
    rng = np.random.default_rng(0)

    def put(spec, *shape):
        value = (rng.standard_normal(shape) * shape[0] ** -0.5).astype(np.float32)
        return jax.device_put(value, NamedSharding(mesh, P(*spec)))

    params = {
        "first": {"kernel": put((None, "model"), 12, 20), "bias": put(("model",), 20)},
        "second": {"kernel": put(("model", None), 20, 16), "bias": put((), 16)},
        "third": {"kernel": put((None, "model"), 16, 10), "bias": put((), 10)},
    }
    return params, put(("data",), 16, 12), put(("data",), 16, 10)


def run_jax(values):
    whole = jax.tree_util.tree_map(np.asarray, values)
    with jax.default_matmul_precision("highest"):
        return jax.tree_util.tree_leaves(jax.jit(step)(*whole))


def export():
    directory = Path(__file__).with_name("pipelines")
    directory.mkdir(exist_ok=True)
    args = make_arguments()
    model = shardkit.import_jax(step, *args, batch=["x", "y"], locations=False)
    (directory / "mlp_step.mlir").write_text("// step of pipeline.py. Written by pipeline.py --export.\n" + model.text)
    made = {n: arguments.make_argument(n, s, d, h, w) for n, s, d, h, w in arguments.read_arguments(model.text)}
    leaves, tree = jax.tree_util.tree_flatten(args)
    assert len(leaves) == len(model.arguments)
    values = jax.tree_util.tree_unflatten(tree, [made[a.name] for a in model.arguments])
    sums = {r.name: arguments.checksum(r.name, v) for r, v in zip(model.results, run_jax(values), strict=True)}
    lines = [f"  {json.dumps(n)}: {json.dumps(s)}" for n, s in sums.items()]
    (directory / "mlp_step.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def compare():
    args = make_arguments()
    model = shardkit.import_jax(step, *args, batch=["x", "y"])
    found = jax.tree_util.tree_leaves(model.run(*args, options=[PIPELINE]))
    worst = max(
        float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, run_jax(args), strict=True)
    )
    print(f"pipeline: 2 stages, 4 microbatches, {len(found)} results, largest difference {worst:.1e}")
    return worst <= RTOL


if __name__ == "__main__":
    if sys.argv[1:] == ["--export"]:
        export()
    elif sys.argv[1:]:
        sys.exit(__doc__)
    elif not compare():
        sys.exit(1)
