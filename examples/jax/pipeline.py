#!/usr/bin/env python3
"""Training steps in JAX that run as pipelines of four microbatches: a perceptron in two stages of 2 (data) x 2 (model) devices, and
a language model in four stages of 2 (model), whose first and last stage share the embedding.

    pipeline.py            runs them with ShardKit and compares with JAX
    pipeline.py --export   writes pipelines/NAME.mlir and NAME.json, which check.py runs without JAX

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


def mlp_step(params, x, y):
    """Loss, and parameters after a step of gradient descent."""

    def loss(params):
        h = jnp.tanh(x @ params["first"]["kernel"] + params["first"]["bias"])
        h = h @ params["second"]["kernel"] + params["second"]["bias"]
        h = shardkit.stage_boundary(h)
        h = jnp.tanh(h) @ params["third"]["kernel"] + params["third"]["bias"]
        return jnp.mean((h - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, params, gradients)


def lm_step(params, moments, tokens, targets):
    """The same with momentum, of residual blocks between an embedding and its transpose."""

    def loss(params):
        h = params["table"][tokens]
        for i, block in enumerate(params["blocks"]):
            h = shardkit.stage_boundary(h) if i else h
            centered = h - h.mean(-1, keepdims=True)
            normed = centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * block["gain"]
            h = h + jax.nn.gelu(normed @ block["up"]) @ block["down"]
        scores = jax.nn.log_softmax(h @ params["table"].T)
        return -jnp.take_along_axis(scores, targets[..., None], -1).mean()

    value, gradients = jax.value_and_grad(loss)(params)
    moments = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, moments, gradients)
    return value, jax.tree_util.tree_map(lambda w, m: w - 0.1 * m, params, moments), moments


def make_puts(names, *sizes):
    """What makes arrays on a mesh whose first axis is left to the stages: of floats, and of integers below a number."""
    mesh = jax.make_mesh(sizes, names, axis_types=(AxisType.Auto,) * len(sizes))
    rng = np.random.default_rng(0)

    def put(spec, *shape):
        value = (rng.standard_normal(shape) * shape[0] ** -0.5).astype(np.float32)
        return jax.device_put(value, NamedSharding(mesh, P(*spec)))

    def put_ints(high, *shape):
        return jax.device_put(rng.integers(0, high, shape, dtype=np.int32), NamedSharding(mesh, P()))

    return put, put_ints


def make_mlp_arguments():
    put, _ = make_puts(("stage", "data", "model"), 2, 2, 2)
    params = {
        "first": {"kernel": put((None, "model"), 12, 20), "bias": put(("model",), 20)},
        "second": {"kernel": put(("model", None), 20, 16), "bias": put((), 16)},
        "third": {"kernel": put((None, "model"), 16, 10), "bias": put((), 10)},
    }
    return params, put(("data",), 16, 12), put(("data",), 16, 10)


def make_lm_arguments():
    put, put_ints = make_puts(("stage", "model"), 4, 2)

    def make():
        blocks = [{"gain": put((), 8), "up": put((None, "model"), 8, 20), "down": put(("model", None), 20, 8)} for _ in range(4)]
        return {"table": put((), 30, 8), "blocks": blocks}

    return make(), make(), put_ints(30, 8, 6), put_ints(30, 8, 6)


STEPS = {
    "mlp_step": (mlp_step, make_mlp_arguments, ["x", "y"]),
    "lm_step": (lm_step, make_lm_arguments, ["tokens", "targets"]),
}


def run_jax(step, values):
    whole = jax.tree_util.tree_map(np.asarray, values)
    with jax.default_matmul_precision("highest"):
        return jax.tree_util.tree_leaves(jax.jit(step)(*whole))


def export(name):
    directory = Path(__file__).with_name("pipelines")
    directory.mkdir(exist_ok=True)
    step, make_arguments, batch = STEPS[name]
    args = make_arguments()
    model = shardkit.import_jax(step, *args, batch=batch, locations=False)
    (directory / f"{name}.mlir").write_text(f"// {name} of pipeline.py. Written by pipeline.py --export.\n" + model.text)
    made = {n: arguments.make_argument(n, s, d, h, w) for n, s, d, h, w in arguments.read_arguments(model.text)}
    leaves, tree = jax.tree_util.tree_flatten(args)
    assert len(leaves) == len(model.arguments)
    values = jax.tree_util.tree_unflatten(tree, [made[a.name] for a in model.arguments])
    sums = {r.name: arguments.checksum(r.name, v) for r, v in zip(model.results, run_jax(step, values), strict=True)}
    lines = [f"  {json.dumps(n)}: {json.dumps(s)}" for n, s in sums.items()]
    (directory / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def compare(name):
    step, make_arguments, batch = STEPS[name]
    args = make_arguments()
    model = shardkit.import_jax(step, *args, batch=batch)
    found = jax.tree_util.tree_leaves(model.run(*args, options=[PIPELINE]))
    worst = max(
        float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, run_jax(step, args), strict=True)
    )
    print(f"{name}: 4 microbatches, {len(found)} results, largest difference {worst:.1e}")
    return worst <= RTOL


if __name__ == "__main__":
    if sys.argv[1:] == ["--export"]:
        for name in STEPS:
            export(name)
    elif sys.argv[1:]:
        sys.exit(__doc__)
    elif not all([compare(name) for name in STEPS]):
        sys.exit(1)
