#!/usr/bin/env python3
"""Loops over programs whose state stays in the process: they compute what the framework computes, and in which time.

    pip install 'jax>=0.10' torch torch-mlir; python3 benchmarks/loops.py [decode] [train-jax] [train-torch] [minilm]

decode       a transformer of two layers with a KV cache, greedy: tokens equal JAX's, no growth of memory, no file read
train-jax    AdamW as a function of JAX on 4 devices; saved in the middle, loaded on 2 and on 8, continued
train-torch  the same with a module and torch.optim.AdamW
minilm       the demo's sentence encoder with its weights (examples/minilm/fetch_weights.sh) called again and again

`--check`: few steps of the first three, without times; what differs is an error in any case.
"""

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOPS = ("decode", "train-jax", "train-torch", "minilm")
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("loops", nargs="*", metavar="LOOP", help=f"of {', '.join(LOOPS)}; default: all but minilm")
parser.add_argument("--steps", type=int, help="default: 10000 to decode, 200 to train, 1000 calls of minilm")
parser.add_argument("--devices", default="1,4", help="of decode and minilm")
parser.add_argument("--cores", type=int, help="of this process, where others compute too; default: all")
parser.add_argument("--cpu-time", action="store_true", help="in place of time that passes; with --cores=1, where others compute too")
parser.add_argument("--check", action="store_true")
args = parser.parse_args()
if unknown := set(args.loops) - set(LOOPS):
    parser.error(f"no loop is called {min(unknown)}, expected of {', '.join(LOOPS)}")
if args.cores:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
import shardkit
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

clock = time.process_time if args.cpu_time else time.perf_counter
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "minilm"
rng = np.random.default_rng(0)


def normal(*shape):
    return (rng.standard_normal(shape) * shape[0] ** -0.5).astype(np.float32)


def make_mesh(**axes):
    count = int(np.prod(list(axes.values())))
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes), devices=jax.devices()[:count])


def expect(is_right, what):
    if not is_right:
        sys.exit(f"error: {what}")


def median(times):
    return 1e6 * sorted(times)[len(times) // 2]


class Usage:
    """Resident pages, read system calls and open files of this process."""

    def __init__(self):
        gc.collect()
        self.pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.files = set(os.listdir("/proc/self/fd"))
        self.reads = int(Path("/proc/self/io").read_text().split("syscr: ")[1].split()[0])


# --- decoding ----------------------------------------------------------------

WIDTH, HEADS, INNER, LAYERS, VOCABULARY = 128, 4, 512, 2, 256


def norm(x):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def decode(params, cache, token, position):
    """The next token, and the cache of keys and values of the last tokens, which it is written into."""
    window = cache[0][0].shape[1]
    x = params["embed"][token] + params["positions"][position % window]
    seen = jnp.arange(window) <= position
    for i, layer in enumerate(params["layers"]):
        q, k, v = ((norm(x) @ layer[name]).reshape(HEADS, WIDTH // HEADS) for name in "qkv")
        at = (0, position % window, 0)
        keys, values = (jax.lax.dynamic_update_slice(old, new[:, None], at) for old, new in zip(cache[i], (k, v)))
        scores = jnp.einsum("hd,hwd->hw", q, keys) * (WIDTH // HEADS) ** -0.5
        context = jnp.einsum("hw,hwd->hd", jax.nn.softmax(jnp.where(seen, scores, -1e30), -1), values)
        x = x + context.reshape(WIDTH) @ layer["o"]
        x = x + (jax.nn.silu(norm(x) @ layer["gate"]) * (norm(x) @ layer["up"])) @ layer["down"]
        cache = [*cache[:i], (keys, values), *cache[i + 1 :]]
    return jnp.argmax(norm(x) @ params["head"]).astype(jnp.int32), cache


def run_decode(devices, steps, window):
    global rng
    # Logits that differ by their last bit only, on which rounding decides, do not occur with these weights.
    rng = np.random.default_rng(devices)
    mesh = make_mesh(model=devices) if devices > 1 else None

    def put(value, *spec):
        # JAX copies it later otherwise, while memory is watched.
        return jax.block_until_ready(jax.device_put(value, NamedSharding(mesh, P(*spec))) if mesh else jnp.asarray(value))

    def make_layer():
        columns = {name: put(normal(WIDTH, size), None, "model") for name, size in (("q", WIDTH), ("k", WIDTH), ("v", WIDTH), ("gate", INNER), ("up", INNER))}
        return columns | {name: put(normal(size, WIDTH), "model", None) for name, size in (("o", WIDTH), ("down", INNER))}

    def make_cache():
        return [tuple(put(np.zeros((HEADS, window, WIDTH // HEADS), np.float32), "model") for _ in range(2)) for _ in range(LAYERS)]

    params = {"embed": put(normal(VOCABULARY, WIDTH) * 16), "positions": put(normal(window, WIDTH) * 16),
              "layers": [make_layer() for _ in range(LAYERS)], "head": put(normal(WIDTH, VOCABULARY), None, "model")}  # fmt: skip
    step = jax.jit(decode, donate_argnums=(1,))
    program = shardkit.compile(step, params, make_cache(), np.int32(3), np.int32(0))
    state = {name: (np.int32(3), make_cache()) for name in ("jax", "own")}

    def generate(name, begin, end):
        """Tokens and seconds."""
        token, cache, tokens = *state[name], []
        time.sleep(0.05)
        start = clock()
        for position in range(begin, end):
            if name == "jax":
                token, cache = step(params, cache, token, np.int32(position))
            else:
                token, cache = program(params, cache, token, np.int32(position), donate=True)
            tokens.append(int(token))
        state[name] = token, cache
        return tokens, clock() - start

    # In turns, as other work comes and goes. A pause lets the threads of one fall asleep before the other begins.
    rounds, seconds = 10, {"jax": [], "own": []}
    expected, found, pages, reads = [], [], 0, 0
    for k in range(rounds):
        begin, end = steps * k // rounds, steps * (k + 1) // rounds
        tokens, time_of_jax = generate("jax", begin, end)
        expected += tokens
        if k == 0:  # What is made at first.
            first = min(100, (end - begin) // 2)
            found += generate("own", begin, first)[0]
            begin = first
        before = Usage()
        os.path.exists("/begin of own")  # A mark in a trace of system calls.
        tokens, own_time = generate("own", begin, end)
        os.path.exists("/end of own")
        after = Usage()
        found += tokens
        pages += after.pages - before.pages if k else 0
        reads += after.reads - before.reads
        expect(after.files == before.files, f"decode: files are open that were not: {after.files - before.files}")
        if k:
            seconds["jax"].append(time_of_jax / (end - begin))
            seconds["own"].append(own_time / (end - begin))
    expect(found == expected, f"decode on {devices}: tokens differ from JAX's from {next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), -1)} on")
    expect(len(set(found)) > 10, f"decode: only {len(set(found))} different tokens")
    # In each round /proc is read to count, by four calls.
    expect(reads <= rounds * 4 + 1, f"decode: {reads} reads of files")
    expect(pages * 4096 <= 1 << 20, f"decode: memory grows by {pages} pages in {steps} steps")
    (function,) = program.session.values()
    inside = function.stats["seconds"] / function.stats["calls"]
    program.close()
    own, peer = median(seconds["own"]), median(seconds["jax"])
    return f"| {devices} | {steps} | {window} | {1e6 / own:.0f} | {1e6 / peer:.0f} | {peer / own:.2f} | {1e6 * inside:.0f} | {max(0, pages)} |"


# --- training ----------------------------------------------------------------


def loss_of(params, x, y):
    hidden = jax.nn.gelu(x @ params["up"]["kernel"] + params["up"]["bias"])
    return jnp.mean((hidden @ params["down"]["kernel"] - y) ** 2)


def adamw(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    count = state["count"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], gradients)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, state["square"], gradients)
    scale = 1e-2 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(lambda p, m, s: p - scale * m / (jnp.sqrt(s) + 1e-8) - 1e-4 * p, params, mean, square)
    return params, {"count": count, "mean": mean, "square": square}, loss


def make_examples():
    x = rng.standard_normal((512, 32)).astype(np.float32)
    noise = rng.standard_normal((512, 16)).astype(np.float32) / 4
    return x, np.tanh(x @ normal(32, 16)).astype(np.float32) + noise


def compare(found, expected, what):
    """The largest difference of losses, as a fraction."""
    error = max(abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True))
    expect(error < 1e-4, f"{what}: losses differ by {error:.1e}: {found[-1]} and {expected[-1]}")
    expect(expected[-1] < expected[0], f"{what}: the loss does not fall")
    return error


def train_jax(steps):
    x, y = make_examples()
    weights = {"up": {"kernel": normal(32, 64), "bias": np.zeros(64, np.float32)}, "down": {"kernel": normal(64, 16)}}
    zeros = jax.tree.map(np.zeros_like, weights)
    whole = (weights, {"count": np.float32(0), "mean": zeros, "square": zeros})

    def shard(mesh, tree):
        """Kernels over `model`, what has their names too."""

        def put(path, value):
            spec = {"up": P(None, "model"), "down": P("model", None)}.get(path[-2].key if len(path) > 1 else "") if np.ndim(value) == 2 else P()
            return jax.device_put(value, NamedSharding(mesh, spec or P()))

        return jax.tree_util.tree_map_with_path(put, tree)

    def compile(**axes):
        mesh = make_mesh(**axes)
        batch = [jax.device_put(v, NamedSharding(mesh, P("data"))) for v in (x, y)]
        return shardkit.compile(jax.jit(adamw, donate_argnums=(0, 1)), *shard(mesh, whole), *batch)

    reference, state, expected = jax.jit(adamw), whole, []
    for _ in range(steps):
        *state, loss = reference(*state, x, y)
        expected.append(float(loss))
    abstract, errors = jax.eval_shape(lambda: whole), []
    with compile(data=2, model=2) as program, tempfile.TemporaryDirectory() as directory:
        state, losses = whole, []
        for i in range(steps):
            *state, loss = program(*state, x, y, donate=True)
            losses.append(float(loss))
            if i + 1 == steps // 2:
                program.save(directory)
        errors.append(compare(losses, expected, "train-jax on 4"))
        for axes in ({"data": 1, "model": 2}, {"data": 2, "model": 4}):
            with compile(**axes) as other:
                other.load(directory)
                # Abstract arguments stand for what was loaded, and for what the last step made of it.
                found = [float(other(*abstract, x, y, donate=True)[-1]) for _ in range(steps - steps // 2)]
                errors.append(compare(found, expected[steps // 2 :], f"train-jax on {axes}"))
    return f"| JAX | {steps} | {' | '.join(f'{e:.0e}' for e in errors)} | {expected[0]:.4f} | {expected[-1]:.6f} |"


def train_torch(steps):
    import torch
    from torch import nn
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    torch.manual_seed(0)
    x, y = (torch.from_numpy(v) for v in make_examples())
    module = nn.Sequential()
    module.up, module.act, module.norm, module.down = nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 16)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2)

    def loss_of(module, x, y):
        return ((module(x) - y) ** 2).mean()

    def compile(**mesh):
        plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        return shardkit.import_torch(module, x, y, loss=loss_of, optimizer=optimizer, mesh=mesh, plan=plan, shardings={"x": ("data",), "y": ("data",)}).compile()

    expected, errors = [], []
    programs = {devices: compile(**axes) for devices, axes in ((4, {"data": 2, "model": 2}), (2, {"data": 1, "model": 2}), (8, {"data": 2, "model": 4}))}
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(module, x, y)
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    with tempfile.TemporaryDirectory() as directory:
        losses = []
        for i in range(steps):
            loss, state = programs[4](x, y, donate=True)
            losses.append(loss.item())
            if i + 1 == steps // 2:
                programs[4].save(directory)
        errors.append(compare(losses, expected, "train-torch on 4"))
        worst = max(np.abs(np.asarray(state[n]) - p.detach().numpy()).max() for n, p in module.named_parameters())
        expect(worst < 1e-3, f"train-torch: parameters differ by {worst}")
        for devices in (2, 8):
            programs[devices].load(directory)
            found = [programs[devices](x, y, donate=True)[0].item() for _ in range(steps - steps // 2)]
            errors.append(compare(found, expected[steps // 2 :], f"train-torch on {devices}"))
    for program in programs.values():
        program.close()
    return f"| PyTorch | {steps} | {' | '.join(f'{e:.0e}' for e in errors)} | {expected[0]:.4f} | {expected[-1]:.6f} |"


# --- the demo's encoder ------------------------------------------------------


def run_minilm(devices, calls):
    sys.path.insert(0, str(EXAMPLE))
    import trace as example

    weights = subprocess.run([EXAMPLE / "fetch_weights.sh"], check=True, capture_output=True, text=True).stdout.strip()
    ids, mask = np.load(EXAMPLE / "input_ids.npy"), np.load(EXAMPLE / "attention_mask.npy")
    expected = np.load(EXAMPLE / "reference.npy")
    mesh = make_mesh(data=2, model=2) if devices == 4 else None

    def put(name, value):
        columns = any(part in name for part in (".query.weight", ".key.weight", ".value.weight", ".intermediate.dense.weight"))
        spec = P("model", None) if columns else P(None, "model") if ".output.dense.weight" in name else P()
        return jax.device_put(value, NamedSharding(mesh, spec)) if mesh else jnp.asarray(value)

    from shardkit import safetensors

    stored = safetensors.read(weights)
    params = {name: put(name, stored[name]) for name in example.weight_shapes()}
    inputs = [jax.device_put(v, NamedSharding(mesh, P("data"))) if mesh else jnp.asarray(v) for v in (ids, mask)]
    jitted = jax.jit(example.encode)
    with tempfile.TemporaryDirectory() as work:
        text = (EXAMPLE / "minilm.mlir").read_text()
        if devices == 1:
            text = text.replace('"data"=2, "model"=2', '"data"=1, "model"=1')
        Path(work, "minilm.mlir").write_text(text)
        subprocess.run([shardkit.tools.find_tool("shard-compile"), f"{work}/minilm.mlir", "-o", f"{work}/bundle"], check=True)
        with shardkit.Session(f"{work}/bundle") as session:
            session.load(weights)
            (encode,) = session.values()
            beyond, whole, peer = [], [], []
            for k in range(calls // 20):
                for i in range(20):
                    start, begin = time.perf_counter(), clock()
                    found = encode(ids, mask)[0].numpy()
                    whole.append(clock() - begin)
                    beyond.append(time.perf_counter() - start - encode.stats["last_seconds"])
                for i in range(20):
                    begin = clock()
                    reference = np.asarray(jitted(*inputs, params))
                    peer.append(clock() - begin)
    for what, value in (("ours", found), ("JAX's", reference)):
        expect(np.abs(value - expected).max() < 1e-5, f"minilm: {what} differ from the reference by {np.abs(value - expected).max()}")
    low = 1e6 * sorted(beyond)[len(beyond) // 10]
    return f"| {devices} | {len(whole)} | {median(beyond):.0f} | {low:.0f} | {median(whole) / 1e3:.1f} | {median(peer) / 1e3:.1f} | {median(whole) / median(peer):.2f} |"


def main():
    loops = args.loops or LOOPS[:3]
    devices = [int(d) for d in args.devices.split(",")]
    if "decode" in loops:
        print("| devices | steps | window | tokens/s | JAX's | ratio | step, us | pages more |\n" + "| ---: " * 8 + "|")
        for count in [4] if args.check else devices:
            for steps, window in [(args.steps or 60, 16)] if args.check else [(args.steps or 10000, 256), (args.steps or 10000, 2048)]:
                print(run_decode(count, steps, window), flush=True)
    if "train-jax" in loops or "train-torch" in loops:
        print("\n| AdamW in | steps | error on 4 | on 2 | on 8 | first loss | last loss |\n| --- " + "| ---: " * 6 + "|")
        for name, train in (("train-jax", train_jax), ("train-torch", train_torch)):
            if name in loops:
                print(train(args.steps or (10 if args.check else 200)), flush=True)
    if "minilm" in loops:
        print("\n| devices | calls | call - step, us | of a tenth at most | call, ms | JAX, ms | ratio |\n" + "| ---: " * 7 + "|")
        for count in devices:
            print(run_minilm(count, args.steps or 1000), flush=True)


main()
