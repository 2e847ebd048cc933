"""Time to compile a function of JAX: the first time, and again, when the cache has the bundle.

    pip install 'jax>=0.10' torch-mlir; python3 benchmarks/compile.py [--repeat=10]

`beyond tracing` is what the second `shardkit.compile` takes beyond `jax.jit(f).trace(...).lower()` of the same function,
which JAX has traced before: medians of --repeat turns, one of each after the other. The last column is a process of its own
that finds the bundle, without its imports. --cpu counts the processor time of the process instead, without that of
the tools that it starts, for a machine that has other work.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--repeat", type=int, default=10)
parser.add_argument("--cpu", action="store_true")
parser.add_argument("--only", help=argparse.SUPPRESS)
args = parser.parse_args()
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
folder = None
if not args.only:
    folder = tempfile.TemporaryDirectory()
    os.environ["SHARDKIT_CACHE"] = folder.name
import jax
import jax.numpy as jnp
import numpy as np
import shardkit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def constrain(value, *spec):
    return jax.lax.with_sharding_constraint(value, NamedSharding(mesh, P(*spec)))


def network(params, x):
    hidden = jax.nn.relu(jnp.dot(constrain(x, "data", None), constrain(params["w1"], None, "model")))
    return jnp.dot(hidden, constrain(params["w2"], "model", None))


def transformer(params, x):
    x = constrain(x, "data", None, None)
    for layer in params:
        q, k, v = (jnp.einsum("bse,ehd->bhsd", x, constrain(layer[name], None, "model", None)) for name in "qkv")
        weights = jax.nn.softmax(jnp.einsum("bhsd,bhtd->bhst", q, k) / 8)
        x = x + jnp.einsum("bhsd,hde->bse", jnp.einsum("bhst,bhtd->bhsd", weights, v), layer["o"])
        x = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        x = x + jax.nn.gelu(x @ constrain(layer["up"], None, "model")) @ layer["down"]
    return x


def zeros(*shape):
    return np.zeros(shape, np.float32)


def layer():
    return {name: zeros(64, 4, 16) for name in "qkv"} | {"o": zeros(4, 16, 64), "up": zeros(64, 256), "down": zeros(256, 64)}


CASES = {
    "two products": (network, ({"w1": zeros(64, 64), "w2": zeros(64, 64)}, zeros(64, 64))),
    "transformer, 2 layers": (transformer, ([layer() for _ in range(2)], zeros(4, 32, 64))),
    "transformer, 12 layers": (transformer, ([layer() for _ in range(12)], zeros(4, 32, 64))),
}


def clock(work):
    now = time.process_time if args.cpu else time.perf_counter
    begin = now()
    work()
    return 1e3 * (now() - begin)


def trace(function, values):
    jax.jit(function).trace(*values).lower(lowering_platforms=("cpu",))


def median(times):
    return sorted(times)[len(times) // 2]


if args.only:
    function, values = CASES[args.only]
    traced = clock(lambda: trace(function, values))
    print(clock(lambda: shardkit.compile(function, *values).close()), traced)
    sys.exit()
print("| function | first compile | second | tracing | beyond tracing | another process |")
print("| --- | --- | --- | --- | --- | --- |")
for name, (function, values) in CASES.items():
    first = clock(lambda: shardkit.compile(function, *values).close())
    turns = [(clock(lambda: trace(function, values)), clock(lambda: shardkit.compile(function, *values).close())) for _ in range(args.repeat)]
    traced, second = (median(times) for times in zip(*turns))
    beyond = median([again - once for once, again in turns])
    done = subprocess.run([sys.executable, __file__, f"--only={name}", *["--cpu"] * args.cpu], capture_output=True, text=True, check=True)
    other = float(done.stdout.split()[0])
    print(f"| {name} | {first:.0f} ms | {second:.0f} ms | {traced:.0f} ms | {beyond:.0f} ms | {other:.0f} ms |", flush=True)
