"""Programs that stay in the process, with NumPy alone: state, donation, order, errors. Prints what the test looks for."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import shardkit
from shardkit import safetensors
from shardkit.tools import find_tool

# A step of a state that is sharded unevenly: w' = w - m', m' = m / 2 + x^T x; and what an evaluation has of it.
TEXT = """
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @step(%w: tensor<5x7xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
                %m: tensor<5x7xf32> {spmd.name = "m", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
                %x: tensor<6x5xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %z: tensor<6x7xf32> {spmd.name = "z"})
    -> (tensor<6x7xf32> {spmd.name = "y"}, tensor<5x7xf32> {spmd.name = "w", spmd.tied = 0 : i64}, tensor<5x7xf32> {spmd.name = "m", spmd.tied = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x7xf32>) -> tensor<6x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x5xf32>, tensor<5x7xf32>) outs(%f : tensor<6x7xf32>) -> tensor<6x7xf32>
  %s = tensor.empty() : tensor<5x7xf32>
  %halved = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<5x7xf32>) outs(%s : tensor<5x7xf32>) {
    ^bb0(%a: f32, %b: f32):
      %h = arith.mulf %a, %half : f32
      linalg.yield %h : f32
  } -> tensor<5x7xf32>
  %xt = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%x : tensor<6x5xf32>) outs(%xt : tensor<5x6xf32>) permutation = [1, 0]
  %next = linalg.matmul ins(%t, %z : tensor<5x6xf32>, tensor<6x7xf32>) outs(%halved : tensor<5x7xf32>) -> tensor<5x7xf32>
  %moved = linalg.sub ins(%w, %next : tensor<5x7xf32>, tensor<5x7xf32>) outs(%s : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %y, %moved, %next : tensor<6x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>
}
"""

directory = tempfile.mkdtemp()
with open(f"{directory}/step.mlir", "w") as file:
    file.write(TEXT)
subprocess.run([find_tool("shard-compile"), f"{directory}/step.mlir", "-o", f"{directory}/bundle"], check=True)

rng = np.random.default_rng(0)


def numbers(*shape):
    return rng.integers(-4, 4, shape).astype(np.float32)


def report(title, function, *args, **kwargs):
    try:
        print(f"{title}: {function(*args, **kwargs)!r}")
    except (shardkit.ShardKitError, IndexError) as error:
        print(f"{title}: {error}")


w, m, x, z = numbers(5, 7), numbers(5, 7), numbers(6, 5), numbers(6, 7)


def next_state(w, m, x, z):
    m = m / 2 + x.T @ z
    return x @ w, w - m, m


session = shardkit.Session(f"{directory}/bundle")
step = session["step"]
print(session, step)
print(step.arguments[0])

# One call with everything from here, and the state where it was.
y, w1, m1 = step(w, m, x, z)
expected = next_state(w, m, x, z)
print("call:", all(np.array_equal(a, b) for a, b in zip((y, w1, m1), expected)))
print("slices:", np.array_equal(w1[1:4, 2], expected[1][1:4, 2]), np.array_equal(w1[..., -3:], expected[1][..., -3:]), w1[2, 3].item() == expected[1][2, 3])
print("shard:", np.array_equal(m1.shard(3)[:2, :3], expected[2][3:, 4:]), m1.shard(3).flags.writeable)
report("repr", lambda: m1)

# State that stays: steps in its memory.
session.assign("w", w)
session.assign("m", m)
addresses = set()
state = (w, m)
for i in range(6):
    x, z = numbers(6, 5), numbers(6, 7)
    y, *kept = step(x=x, z=z, donate=True, wait=i % 2 == 0)
    expected, *state = next_state(*state, x, z)
    assert np.array_equal(y, expected) and np.array_equal(session.bound("w"), state[0]) and np.array_equal(kept[1], state[1])
    addresses.add(kept[0].shard(1).ctypes.data)
print("steps in place:", len(addresses) <= 2)
old = session.bound("w")
step(x=x, z=z, donate=True)
report("donated", old.numpy)
report("donated argument", step, old, m, x, z)

# What is wrong.
report("shape", step, w.T, m, x, z)
report("dtype", step, w.astype(np.float64), m, x, z)
report("name", step, q=x)
report("missing", shardkit.Session(f"{directory}/bundle")["step"], x=x)
report("function", lambda: session["train"])
report("bundle", session.add, f"{directory}/none")
report("twice", session.add, f"{directory}/bundle")
report("layout", step, m1, w1, x, z)
report("other session", shardkit.Session(f"{directory}/bundle")["step"], w1, m1, x, z)
report("index", lambda: w1[5])
report("step of a slice", lambda: w1[::2])
report("assign", session.assign, "v", w)
report("rank", w1.shard, 4)
session.add(f"{directory}/bundle", "again")
report("named", lambda: list(session))
view = w1.shard(0)
first = view.copy()
session.close()
print("views stay:", np.array_equal(view, first))
report("closed", step, w, m, x, z)
report("closed array", w1.numpy)
report("options", lambda: shardkit.Session(backend="smoke"))
report("timeout", lambda: shardkit.Session(timeout=-1))

# A program: weights of the model, updates, arrays that stay.
arguments = [shardkit.Argument(n, a.shape, "float32", n in "wm") for n, a in (("w", w), ("m", m), ("x", x), ("z", z))]
results = [shardkit.Result("y", "float32"), shardkit.Result("w", "float32", 0), shardkit.Result("m", "float32", 1)]
model = shardkit.Model(TEXT.replace('spmd.name = "w", ', 'spmd.weight = "w", ', 1).replace('spmd.name = "m", ', 'spmd.weight = "m", ', 1), arguments, results, stored={"w": w, "m": m})
with model.compile() as program:
    got = program(x, z)
    print("program:", all(np.array_equal(a, b) for a, b in zip(got, next_state(w, m, x, z))), got[0].flags.writeable)
    print("by shard-run:", all(np.array_equal(a, b) for a, b in zip(program(x, z, options=["--load", "direct"]), got)))
    model.update({"w": got[1]})
    print("updated:", np.array_equal(program(x, z)[1], next_state(got[1], m, x, z)[1]))
    program["m"] = got[2]
    print("assigned:", np.array_equal(program(x, z)[1], next_state(got[1], got[2], x, z)[1]), np.array_equal(program["m"], got[2]))
    kept = program(x, z, resident=True)
    print(kept[0])
    safetensors.write(f"{directory}/weights.safetensors", {"w": w, "m": m})
    program.load(f"{directory}/weights.safetensors")
    print("loaded:", np.array_equal(program(x, z)[1], next_state(w, m, x, z)[1]))
    report("no file", program.load, f"{directory}/none")
report("closed program", program, x, z)

# State that is saved after some steps goes on elsewhere: on other meshes, with other layouts.
session = shardkit.Session(f"{directory}/bundle")
report("nothing to save", session.save, f"{directory}/set")
session.assign("w", w)
session.assign("m", m)
state = (w, m)
for i in range(3):
    session["step"](x=x, z=z, donate=True)
    state = next_state(*state, x, z)[1:]
session.save(f"{directory}/set")
print("set:", *sorted(os.listdir(f"{directory}/set")))
for mesh, sharding in (('"x"=2, "y"=1', '{"x"}, {"y"}'), ('"x"=4, "y"=2', '{"y"}, {"x"}'), ('"x"=3, "y"=1', '{"x"}, {}')):
    with open(f"{directory}/other.mlir", "w") as file:
        file.write(TEXT.replace('"x"=2, "y"=2', mesh).replace('[{}, {"y"}]', f"[{sharding}]", 1))
    subprocess.run([find_tool("shard-compile"), f"{directory}/other.mlir", "-o", f"{directory}/other"], check=True)
    with shardkit.Session(f"{directory}/other") as other:
        other.load(f"{directory}/set")
        assert np.array_equal(other.bound("w"), state[0]) and np.array_equal(other.bound("m"), state[1])
        y, *_ = other["step"](x=x, z=z, donate=True)
        print(other["step"].devices, "devices:", np.array_equal(y, x @ state[0]), np.array_equal(other.bound("w"), next_state(*state, x, z)[1]))
    shutil.rmtree(f"{directory}/other")

# Memory does not grow, and no file is opened.
session = shardkit.Session(f"{directory}/bundle")
session.assign("w", w)
session.assign("m", m)
step = session["step"]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


for i in range(4000):
    step(x=x, z=z, donate=True)[0].numpy()
    if i == 500:
        gc.collect()
        before, opened = resident(), set(os.listdir("/proc/self/fd"))
print("pages more:", max(0, resident() - before) < 64, set(os.listdir("/proc/self/fd")) == opened)
