#!/usr/bin/env python3
"""Programs of a device in StableHLO: run by JAX on 8 devices they give the function's numbers, and move what XLA's own partitioning moves
at most. Errors. Needs the wheels."""

import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "benchmarks" / "frontends")]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

import shardkit  # noqa: E402
from samples import fails, run_tests  # noqa: E402
from spmd import compare  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def put(shape, *spec, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return jax.device_put(values, NamedSharding(MESH, P(*spec)))


def constrain(x, *spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def check(function, *args, contains=()):
    """The same numbers; the program has these ops."""
    program = shardkit.export_stablehlo_spmd(function, *args)
    for text in contains:
        assert text in program.text, (text, program.text)
    for got, want in zip(jax.tree.leaves(program(*args)), jax.tree.leaves(jax.jit(function)(*args)), strict=True):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=2e-6, atol=2e-6)
    return program


def test_models():
    """A gradient of a table by a partial scatter, a loop whose weights are sharded, a cache, top_k, convolutions."""
    for name, style in (("gpt2_step", "megatron"), ("scan", "fsdp"), ("decode", "two"), ("moe", "megatron"), ("conv", "megatron")):
        row = compare(name, style)
        assert row.difference < 1e-5, (name, style, row)
        assert row.ours <= row.xla, (name, style, row)


def test_moves():
    """Each kind of move: of dims, of axes, of parts of an axis, of several dims at once; none of them symmetric."""
    x = put((8, 16), "data", "model")
    check(lambda x: constrain(x * 2, "model", "data") + 1, x)
    check(lambda x: constrain(x * 2, None, ("data", "model")), x, contains=["stablehlo.all_to_all"])
    check(lambda x: constrain(x * 2, ("model", "data"), None), x)
    check(lambda x: constrain(x * 2, None, None), x, contains=["stablehlo.all_gather"])
    check(lambda x: constrain(constrain(x, None, None) * 2, ("data", "model"), None), x, contains=["stablehlo.partition_id"])
    check(lambda x: constrain(x.sum(0), "data"), x)
    check(lambda x: (x @ x.T, x.max(), x.argmax(1), jnp.sort(x, 1)), x)


def test_windows():
    """Of neighbors: a convolution and a pooling of a sharded image, sums along a sharded dim, of which each device reads all before."""
    image, kernel = put((2, 16, 12, 3), None, "model", "data"), np.random.default_rng(1).standard_normal((5, 3, 3, 4), np.float32)

    def convolve(x, k):
        y = jax.lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 1, 1), (1, 2, 1, 1), "VALID")

    check(convolve, image, kernel, contains=["stablehlo.collective_permute"])
    check(lambda x: jnp.cumsum(x, 0), put((8, 6), "data"))


def test_control_flow():
    x = put((8, 16), "data", None)

    def f(x, n):
        y = jax.lax.fori_loop(0, 3, lambda i, v: jnp.tanh(v @ v.T @ v) + i, x)
        z = jax.lax.switch(n, [lambda v: v.sum(0), lambda v: v.max(0), lambda v: v[0] * 2], y)
        return jax.lax.cond(z[0] > 0, lambda v: v + 1, lambda v: v - 1, z)

    for n in (0, 1, 2, 7):
        check(f, x, np.int32(n), contains=["stablehlo.while", "stablehlo.case"] if n == 0 else ())


def test_random_and_tuples():
    """Unsigned integers, a key, results that are shared, arguments that nothing reads, keyword arguments."""
    x = put((8, 4), "data")

    def f(params, unread, *, key):
        noise = jax.random.normal(key, params["x"].shape)
        return {"a": params["x"] + noise, "b": [params["x"], params["x"].sum()]}

    args, key = ({"x": x}, np.zeros(3, np.float32)), jax.random.key(1)
    program = shardkit.export_stablehlo_spmd(f, *args, key=key)
    got, want = program(*args, key=key), jax.jit(f)(*args, key=key)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


def test_inside_a_function():
    """A program is a function of JAX: it is jitted with others, twice. It is exported on an abstract mesh too, and of a `shard_map`."""
    x = put((8, 16), "data", "model")
    program = shardkit.export_stablehlo_spmd(lambda x: x.sum(1), x)
    got = jax.jit(lambda x: program(x) + program(x * 2))(x)
    np.testing.assert_allclose(np.asarray(got), 3 * np.asarray(x).sum(1), rtol=1e-5, atol=1e-5)
    mesh = jax.sharding.AbstractMesh((2, 4), ("data", "model"))
    struct = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(mesh, P("data", "model")))
    got = shardkit.export_stablehlo_spmd(lambda x: x.sum(1), struct)(x)
    np.testing.assert_allclose(np.asarray(got), np.asarray(x).sum(1), rtol=1e-5, atol=1e-5)
    local = lambda v: jax.lax.psum(v.sum(0), "data")
    check(lambda x: jax.shard_map(local, mesh=MESH, in_specs=P("data", "model"), out_specs=P("model"))(x) * 2, x)


def test_errors():
    x = put((8, 16), "data", None)
    uneven = P(None, "model")

    def pad(x):
        y = x[:, :6] * 2
        return jax.lax.with_sharding_constraint(y, NamedSharding(MESH, uneven)).sum(1)

    fails(lambda: shardkit.export_stablehlo_spmd(pad, x), "test_spmd.py:", "error:", "expected")
    fails(lambda: shardkit.export_stablehlo_spmd(lambda x: x, np.ones(8)), "error: arguments are sharded on 0 meshes, expected one")
    fails(lambda: shardkit.export_stablehlo_spmd(lambda x: x, x)(x, x), "error: arguments are")
    fails(lambda: shardkit.export_stablehlo_spmd(lambda x: x, x, options=["plan=best"]), "best")


if __name__ == "__main__":
    run_tests(globals())
