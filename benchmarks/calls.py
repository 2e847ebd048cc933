"""Time per call of a program that stays in the process, beside JAX in the same process and run.

    pip install 'jax>=0.10' torch-mlir; python3 benchmarks/calls.py [--calls=300]

Two products of N x N (weights of 8, 17 and 210 MB) with a batch of 64 rows, on 1 and on 4 logical devices;
`call - step` is the median of what a call takes beyond the step that the session itself measures in it.
"""
import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--calls", type=int, default=300)
args = parser.parse_args()
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
import shardkit
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from shardkit.tools import find_tool

rng = np.random.default_rng(0)


def median_us(call, count):
    for _ in range(10):
        call()
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e6 * sorted(times)[count // 2]


def measure(devices, size):
    mesh = jax.make_mesh((2, devices // 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2) if devices > 1 else None

    def constrain(value, *spec):
        return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P(*spec))) if mesh else value

    def network(params, x):
        x = constrain(x, "data", None)
        hidden = jax.nn.relu(jnp.dot(x, constrain(params["w1"], None, "model")))
        return jnp.dot(hidden, constrain(params["w2"], "model", None))

    x = rng.standard_normal((64, size), dtype=np.float32)
    params = {name: jnp.asarray(rng.standard_normal((size, size), dtype=np.float32)) for name in ("w1", "w2")}
    count = max(20, args.calls * 1024**2 // size**2)
    with shardkit.compile(network, params, x) as program:
        program(params, x)
        (function,) = program.session.values()
        call = median_us(lambda: program(params, x), count)
        steps, differences = [], []
        for _ in range(count):
            begin = time.perf_counter()
            program(params, x)
            differences.append(time.perf_counter() - begin)
            steps.append(function.stats["last_seconds"])
            differences[-1] -= steps[-1]
        step, beyond = (1e6 * sorted(times)[count // 2] for times in (steps, differences))
    compiled = jax.jit(network)
    if mesh:
        params = {"w1": jax.device_put(params["w1"], NamedSharding(mesh, P(None, "model"))), "w2": jax.device_put(params["w2"], NamedSharding(mesh, P("model", None)))}
    peer = median_us(lambda: np.asarray(compiled(params, x)), count)
    megabytes = 2 * 4 * size * size / 1e6
    print(f"| {devices} | {megabytes:.0f} | {call:.0f} | {step:.0f} | {beyond:.0f} | {peer:.0f} | {call / peer:.2f} |", flush=True)


def measure_arguments(devices, weights=101):
    """A small step with as many weights as MiniLM has."""
    given = "".join(f', %w{i}: tensor<64xf32> {{spmd.weight = "w{i}"}}' for i in range(weights))
    values = ["%x", *(f"%s{i}" for i in range(weights))]
    sums = "\n".join(f"  {values[i + 1]} = arith.addf {values[i]}, %w{i} : tensor<64xf32>" for i in range(weights))
    sharding = 'spmd.sharding = #spmd.sharding<@m, [{"x"}]>'
    with tempfile.TemporaryDirectory() as work:
        Path(work, "sum.mlir").write_text(
            f'spmd.mesh @m = <["x"={devices}]>\nfunc.func @sum(%x: tensor<64xf32> {{spmd.name = "x", {sharding}}}{given}) -> tensor<64xf32> {{\n'
            f"{sums}\n  return {values[-1]} : tensor<64xf32>\n}}\n"
        )
        subprocess.run([find_tool("shard-compile"), f"{work}/sum.mlir", "-o", f"{work}/bundle"], check=True)
        with shardkit.Session(f"{work}/bundle") as session:
            for i in range(weights):
                session.assign(f"w{i}", np.full(64, i, np.float32))
            function, x, differences = session["sum"], np.zeros(64, np.float32), []
            for _ in range(3000):
                begin = time.perf_counter()
                y = function(x)[0].numpy()
                differences.append(time.perf_counter() - begin - function.stats["last_seconds"])
            assert y[0] == weights * (weights - 1) / 2
    print(f"{weights} weights, {devices} devices: a call takes {1e6 * sorted(differences)[1500]:.0f} us beyond its step", flush=True)


for devices in (1, 4):
    measure_arguments(devices)
print("| devices | weights, MB | call, us | step, us | call - step, us | JAX, us | ratio |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for devices in (1, 4):
    for size in (1024, 1448, 5120):
        measure(devices, size)
