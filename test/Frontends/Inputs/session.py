"""Programs that stay in the process, with NumPy alone: state, donation, order, errors. Prints what the test looks for."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import shardkit
from shardkit import safetensors
from shardkit.tools import find_tool


directory = tempfile.mkdtemp()
step_mlir = os.path.join(os.path.dirname(__file__), "step.mlir")
with open(step_mlir) as file:
    TEXT = file.read()
subprocess.run([find_tool("shard-compile"), step_mlir, "-o", f"{directory}/bundle"], check=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell ignores it for what runs in the background.

rng = np.random.default_rng(0)


def numbers(*shape):
    return rng.integers(-4, 4, shape).astype(np.float32)


def report(title, function, *args, **kwargs):
    try:
        print(f"{title}: {function(*args, **kwargs)!r}")
    except (shardkit.ShardKitError, IndexError, ValueError, ZeroDivisionError) as error:
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

# Arguments in other forms, and no reference that is kept.
wide, bytes_of_w = np.zeros((5, 14), np.float32), bytearray(w.nbytes + 1)
wide[:, ::2] = w
bytes_of_w[1:] = w.tobytes()
np.save(f"{directory}/w.npy", w)
forms = {
    "strided": wide[:, ::2], "columns": np.asfortranarray(w), "unaligned": np.frombuffer(bytes_of_w, np.float32, offset=1).reshape(5, 7),
    "mapped": np.load(f"{directory}/w.npy", mmap_mode="r"), "of the session": step.put("w", w), "other dtype object": w.view(np.dtype("f4", copy=True)),
}  # fmt: skip
print("forms:", [name for name, form in forms.items() if not np.array_equal(step(form, m, x=x, z=z)[1], expected[1])])
counts = [sys.getrefcount(value) for value in (w, m, x, z, step, session, step.results[1], step.arguments)]
for _ in range(3):
    step(w, m, z=z, x=x, wait=False)[2].numpy(is_read_only=False)[0, 0] += 1
print("references:", counts == [sys.getrefcount(value) for value in (w, m, x, z, step, session, step.results[1], step.arguments)])

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
report("given twice", step, w, w=w)
report("too many", step, w, m, x, z, w)
report("no array", step, w, m, "x", z)
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
for bad in (1.5, None, [0, 1], w > 0, (..., ...)):
    report("bad index", lambda: w1[bad])
for bad in ("0", -1, 2**70):
    report("bad rank", w1.shard, bad)
for call in (lambda v: shardkit.Session(v), session.add, session.load, session.save, lambda v: session.assign(v, w), session.bound, session.fill_random):
    report("bad value", call, None)
report("bad names", session.load, directory, "w")
report("bad list", step, [[1], [2, 3]], m, x, z)
for option, bad in (("library_threads", 10**12), ("readers", "2"), ("timeout", "60"), ("backend", 1), ("shard_functions", "f.so"), ("device_map", ["a"])):
    report("bad option", lambda: shardkit.Session(f"{directory}/bundle", **{option: bad}))
one = step.put("w", w)
print("numbers:", len(one), [row.shape for row in one] == [(7,)] * 5, bool(np.array_equal(step(one, m, x, z)[1], next_state(w, m, x, z)[1])))
report("truth", lambda: bool(one))
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
report("precision", lambda: shardkit.Session(matmul_precision="tf16"))
report("backend of init", shardkit.init, "gloo")

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
    report("in place", model.stored["w"].__setitem__, (0, 0), 1)
    program["m"] = got[2]
    print("assigned:", np.array_equal(program(x, z)[1], next_state(got[1], got[2], x, z)[1]), np.array_equal(program["m"], got[2]))
    kept = program(x, z, resident=True)
    print(kept[0])
    safetensors.write(f"{directory}/weights.safetensors", {"w": w, "m": m})
    program.load(f"{directory}/weights.safetensors")
    print("loaded:", np.array_equal(program(x, z)[1], next_state(w, m, x, z)[1]))
    report("no file", program.load, f"{directory}/none")
    report("program", lambda: program)
    state = (w, m)
    for i in range(3):  # The state stays, and the next step begins with it.
        y, *kept = program(x, z, donate=True)
        expected, *state = next_state(*state, x, z)
        assert np.array_equal(y, expected) and np.array_equal(kept[0], state[0]) and np.array_equal(program["m"], state[1])
    print("steps of a program:", [type(value).__name__ for value in (y, *kept)], np.array_equal(program(x, z)[1], next_state(*state, x, z)[1]))
    report("stays", program, x, z, donate=True, options=["--load", "direct"])
    safetensors.write(f"{directory}/w.safetensors", {"w": w})
    safetensors.write(f"{directory}/m.safetensors", {"m": m, "unused": m})
    progress = []
    program.load([f"{directory}/w.safetensors", f"{directory}/m.safetensors"], progress=lambda *bytes: progress.append(bytes))
    print("files:", np.array_equal(program["w"], w), np.array_equal(program["m"], m), progress[-1])
    report("a weight in no file", program.load, [f"{directory}/w.safetensors"])
    report("a file of another kind", program.load, [step_mlir])
    report("progress that fails", program.load, f"{directory}/weights.safetensors", progress=lambda *_: 1 / 0)
    print("after that:", np.array_equal(program(x, z)[1], next_state(w, m, x, z)[1]))
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

# Two functions with one state in two layouts: it is kept in that of the first.
with open(f"{directory}/other.mlir", "w") as file:
    file.write(TEXT.replace("@step(", "@evaluate(").replace('[{}, {"y"}]', '[{"x"}, {}]', 1))
subprocess.run([find_tool("shard-compile"), f"{directory}/other.mlir", "-o", f"{directory}/other"], check=True)
with shardkit.Session(f"{directory}/bundle", f"{directory}/other", reshard=True) as session:
    print(session.notes[0])
    session.assign("w", w)
    session.assign("m", m)
    report("session", lambda: session)
    state = (w, m)
    for name in ("evaluate", "step", "evaluate", "evaluate", "step"):
        y, *_ = session[name](x=x, z=z, donate=True)
        expected, *state = next_state(*state, x, z)
        assert np.array_equal(y, expected) and np.array_equal(session.bound("w"), state[0]) and np.array_equal(session.bound("m"), state[1])
    print("resharded:", session["evaluate"].stats["resharded_bytes"], session["step"].stats["resharded_bytes"], session.bound("w").sharding)

# On one device, and where shards are rows, results are seen where they are.
with open(f"{directory}/one.mlir", "w") as file:
    file.write(TEXT.replace('"x"=2, "y"=2', '"x"=1, "y"=1'))
subprocess.run([find_tool("shard-compile"), f"{directory}/one.mlir", "-o", f"{directory}/one"], check=True)
with shardkit.Session(f"{directory}/one") as session:
    for i in range(20):  # On this thread from the second one on.
        y, *_ = session["step"](w, m, x, z)
        assert np.array_equal(y, x @ w)
    print("addresses:", y.numpy().ctypes.data == y.shard(0).ctypes.data, y.numpy().flags.owndata)

# Ctrl-C ends a step that would never end, and the session goes on.
with open(f"{directory}/endless.mlir", "w") as file:
    file.write("""
spmd.mesh @m = <["x"=4]>
func.func @endless(%a: tensor<8x8xf32> {spmd.name = "a", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<8x8xf32> {spmd.name = "b"}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000000000000 : index
  %e = tensor.empty() : tensor<8x8xf32>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<8x8xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = math.tanh %p : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  return %b : tensor<8x8xf32>
}
""")
subprocess.run([find_tool("shard-compile"), f"{directory}/endless.mlir", "-o", f"{directory}/endless"], check=True)
with shardkit.Session(f"{directory}/endless", f"{directory}/bundle") as session:
    a = numbers(8, 8)
    for wait in (True, False):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            session["endless"](a, wait=wait)[0].numpy()
            print("ended")
        except KeyboardInterrupt:
            print("interrupted:", session.is_stuck, np.array_equal(session["step"](w, m, x, z)[0], x @ w))
    result = session["endless"](a, wait=False)[0]
    ends = threading.Timer(0.2, session.interrupt)
    ends.start()
    report("by a thread", result.wait)
    session["endless"](a, wait=False)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        session.close()
        print("ended")
    except KeyboardInterrupt:
        print("interrupted while it is closed")

# Threads of OpenMP that wait for a thread that does not compute are too many: they let the others sleep.
with open(f"{directory}/product.mlir", "w") as file:
    file.write("""
spmd.mesh @m = <["x"=1]>
func.func @product(%a: tensor<128x128xf32> {spmd.name = "a", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %p = linalg.matmul ins(%a, %a : tensor<128x128xf32>, tensor<128x128xf32>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %p : tensor<128x128xf32>
}
""")
subprocess.run([find_tool("shard-compile"), f"{directory}/product.mlir", "-o", f"{directory}/product"], check=True)
a = numbers(128, 128)
with shardkit.Session(f"{directory}/product", library_threads=4) as session, shardkit.Session(f"{directory}/product", library_threads=4) as other:
    counts = []
    for one in (session, session, other, other, session, session, other):  # the first step of a session is not on this thread
        assert np.array_equal(one["product"](a)[0], a @ a)
        counts.append(len(os.listdir("/proc/self/task")))
print("threads:", max(counts) - counts[0] <= 1 or counts)

# Stages on meshes of 2 x 3, microbatches, weights on shards of uneven sizes that steps update in place.
pipeline = os.path.join(os.path.dirname(__file__), "../../Integration/pipelines/uneven.mlir")
subprocess.run([find_tool("shard-compile"), pipeline, "-o", f"{directory}/stages", "--pipeline=microbatches=2"], check=True)
with shardkit.Session(f"{directory}/stages") as session:
    (train,) = session.values()
    w1, w2 = numbers(6, 7) / 8, numbers(7, 5) / 8
    session.assign("w1", w1)
    session.assign("w2", w2)
    for i in range(4):
        batch = numbers(8, 6) / 8
        results = train(x=batch, donate=i > 1)
        h = batch @ w1
        g = np.tanh(h @ w2)
        new = w1 - batch.T @ (g @ w2.T), w2 - h.T @ g
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(results, new)), i
        if i > 1:
            w1, w2 = new
            assert np.array_equal(session.bound("w1"), results[0]) and np.array_equal(session.bound("w2")[2:, 1:4], np.asarray(results[1])[2:, 1:4])
    print("devices in stages:", train.devices)
    session.save(f"{directory}/stages.set")
    with shardkit.Session(f"{directory}/stages") as other:
        other.load(f"{directory}/stages.set")
        print("state of stages:", all(np.array_equal(other.bound(n), session.bound(n)) for n in ("w1", "w2")))

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
