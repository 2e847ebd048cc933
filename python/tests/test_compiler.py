#!/usr/bin/env python3
"""The compiler in the process of JAX and PyTorch, which bring other versions of LLVM and MLIR: programs, errors, Ctrl-C."""

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
tempfile.tempdir = tempfile.mkdtemp()
os.environ["SHARDKIT_CACHE"] = f"{tempfile.tempdir}/cache"

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

for name in ("torch", "torch_mlir.ir", "torch_mlir._mlir_libs._torchMlir"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        print(f"{name} is not installed")

import shardkit  # noqa: E402
from shardkit import compiler  # noqa: E402

assert compiler._load(compiler.find_tool("shard-compile")), "the library is not installed"
mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
rng = np.random.default_rng(0)
x = jax.device_put(rng.standard_normal((8, 16), dtype=np.float32), NamedSharding(mesh, P("data")))
w = jax.device_put(rng.standard_normal((16, 12), dtype=np.float32), NamedSharding(mesh, P(None, "model")))


def network(x, w):
    return jax.numpy.tanh(x @ w)


def expect(text, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except shardkit.ShardKitError as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no error, expected {text}")


# Several threads, each with JAX on both sides of it.
results = {}


def work(factor):
    with shardkit.compile(lambda x, w: network(x, w) * factor, x, w) as program:
        results[factor] = np.abs(program(x, w) - np.asarray(network(x, w)) * factor).max()


threads = [threading.Thread(target=work, args=(factor,)) for factor in (2.0, 3.0, 4.0)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(results) == 3 and max(results.values()) < 1e-5, results

# The second time it comes from the cache.
def count_entries():
    """Bundles, and what the tools of the front end made of a text."""
    names = os.listdir(os.environ["SHARDKIT_CACHE"])
    return [sum(name.endswith(suffix) for name in names) for suffix in (".bundle", ".text")]


entries = count_entries()
shardkit.compile(network, x, w).close()
begin = time.perf_counter()
program = shardkit.compile(network, x, w)
seconds = time.perf_counter() - begin
assert count_entries()[0] == entries[0] + 1 and count_entries()[1] > 1
assert np.abs(program(x, w) - np.asarray(network(x, w))).max() < 1e-5
program.close()

expect("--opt-level is 4, expected 0 to 3", shardkit.compile, network, x, w, options=["--opt-level=4"])
expect("unknown option '--fast'", shardkit.compile, network, x, w, options=["--fast"])
model = shardkit.import_jax(network, x, w)
model.text = model.text.replace('{"data"}', '{"date"}', 1)
expect('unknown axis "date"', model.compile)
text = model.text.replace('{"date"}', '{"data"}', 1)

# Ctrl-C ends a compilation, and the next one is as before.
model.text = text
before = set(Path(tempfile.gettempdir()).glob("shardkit-*"))
long = shardkit.import_jax(lambda x, w: jax.lax.fori_loop(0, 2, lambda i, y: y + sum((i + k) * network(y[:, :16], w).sum() for k in range(60)), x), x, w)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    long.compile(["--mcpu=x86-64"]).close()
    print("Ctrl-C: the compilation was faster")
except KeyboardInterrupt:
    print(f"Ctrl-C: ended after {time.perf_counter() - begin:.1f} s")
assert set(Path(tempfile.gettempdir()).glob("shardkit-*")) <= before
with model.compile() as program:
    assert np.abs(program(x, w) - np.asarray(network(x, w))).max() < 1e-5

# As a program of its own the compiler gives the same errors and results.
compiler._load = lambda tool: None
expect("--opt-level is 4, expected 0 to 3", model.compile, ["--opt-level=4"])
with model.compile() as program:
    assert np.abs(program(x, w) - np.asarray(network(x, w))).max() < 1e-5
shutil.rmtree(tempfile.tempdir)
print(f"compiler: passed, in {sys.executable}")
