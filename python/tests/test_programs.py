#!/usr/bin/env python3
"""Several functions in one program: prefill and decode of a Llama block, against JAX. Needs the wheels."""

import os
import shutil

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import shardkit
from shardkit.constants import Constants
from shardkit.model import compile_text

WIDTH, HEADS, GROUPS, HIDDEN, VOCABULARY, LENGTH, PROMPT = 32, 8, 4, 96, 40, 24, 10
SIZE = WIDTH // HEADS
MESH = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def make_params(seed=0, width=WIDTH, hidden=HIDDEN):
    rng = np.random.default_rng(seed)
    shapes = {
        "embedding": (VOCABULARY, width), "q": (width, width), "k": (width, GROUPS * width // HEADS), "v": (width, GROUPS * width // HEADS),
        "o": (width, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width), "head": (width, VOCABULARY), "norm1": (width,), "norm2": (width,),
    }  # fmt: skip
    return {n: (rng.standard_normal(s) / np.sqrt(s[0])).astype(np.float32) for n, s in shapes.items()}


def normalize(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * scale


def rotate(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None, None] * 0.5 ** jnp.arange(half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angles) - b * jnp.sin(angles), a * jnp.sin(angles) + b * jnp.cos(angles)], axis=-1)


def block(params, cache, tokens, start):
    """The logits of the last token, and the cache with the keys and values of all of them."""
    count = tokens.shape[0]
    x = params["embedding"][tokens]
    size = x.shape[-1] // HEADS
    h = normalize(x, 1 + params["norm1"])
    positions = (start + jnp.arange(count)).astype(jnp.float32)
    q = rotate((h @ params["q"]).reshape(count, HEADS, size), positions)
    k = rotate((h @ params["k"]).reshape(count, GROUPS, size), positions)
    v = (h @ params["v"]).reshape(count, GROUPS, size)
    cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k, (start, 0, 0)), "v": jax.lax.dynamic_update_slice(cache["v"], v, (start, 0, 0))}
    grouped = q.reshape(count, GROUPS, HEADS // GROUPS, size)
    scores = jnp.einsum("tgrd,sgd->tgrs", grouped, cache["k"]) / np.sqrt(size)
    seen = jnp.arange(LENGTH)[None, :] <= (start + jnp.arange(count))[:, None]
    weights = jax.nn.softmax(jnp.where(seen[:, None, None, :], scores, -1e9), axis=-1)
    x = x + jnp.einsum("tgrs,sgd->tgrd", weights, cache["v"]).reshape(count, -1) @ params["o"]
    h = normalize(x, 1 + params["norm2"])
    x = x + (jax.nn.silu(h @ params["gate"]) * (h @ params["up"])) @ params["down"]
    return x[-1] @ params["head"], cache


def make_cache(width=WIDTH):
    return {n: jnp.zeros((LENGTH, GROUPS, width // HEADS), jnp.float32) for n in "kv"}


def prefill(params, tokens):
    """Makes the cache."""
    width = params["q"].shape[0]
    return block(params, make_cache(width), tokens, 0)


def decode(params, cache, token, position):
    return block(params, cache, token, position)


PARAMS = make_params()
TOKENS = np.random.default_rng(1).integers(0, VOCABULARY, PROMPT).astype(np.int32)


def put(value, *spec):
    return jax.device_put(value, NamedSharding(MESH, P(*spec)))


def shard(params):
    """Megatron's shardings of the projections; all others follow."""
    specs = {"q": (None, "model"), "k": (None, "model"), "gate": (None, "model"), "down": ("model", None)}
    return {n: put(v, *specs[n]) if n in specs else v for n, v in params.items()}


def generate(prefill, decode, params, steps=LENGTH - PROMPT):
    """Tokens that are chosen greedily, and the logits of each step."""
    logits, cache = prefill(params, TOKENS)
    tokens, all_logits = [], []
    for i in range(steps):
        all_logits.append(np.asarray(logits))
        tokens.append(int(np.argmax(all_logits[-1])))
        logits, cache = decode(params, cache, np.array([tokens[-1]], np.int32), np.int32(PROMPT + i))
    return tokens, np.array(all_logits), cache


def check_alike(program):
    """Every value that both functions have is in one layout, and is held once. Returns the layouts."""
    layouts = {}
    for function in program.session.values():
        for value in function.arguments:
            if value.name.startswith(("params.", "cache.")):
                assert layouts.setdefault(value.name, value.sharding) == value.sharding, (function.name, value)
    results = {r.name: r.sharding for r in program.session["prefill"].results}
    assert results["cache.k"] == layouts["cache.k"] and results["cache.v"] == layouts["cache.v"], (results, layouts)
    assert program.session.notes == [], program.session.notes
    return layouts


def check_tokens(program, params):
    expected, logits, cache = generate(jax.jit(prefill), jax.jit(decode), PARAMS)
    assert len(set(expected)) > 3, expected

    def run_prefill(params, tokens):
        return program.prefill(params, tokens, resident=True)

    addresses = set()

    def run_decode(params, cache, token, position):
        logits, cache = program.decode(params, cache, token, position, resident=True, donate=True)
        addresses.add(cache["k"].wait().shard(0).ctypes.data)
        return logits, cache

    found, found_logits, found_cache = generate(run_prefill, run_decode, params)
    assert found == expected, (found, expected)
    np.testing.assert_allclose(found_logits, logits, rtol=2e-4, atol=2e-5)
    for n in "kv":
        np.testing.assert_allclose(found_cache[n].numpy(), cache[n], rtol=2e-4, atol=2e-5)
    return addresses


DECODE = jax.jit(decode, donate_argnames="cache")
STATE = {"prefill.result.1": "cache"}


def test_propagation():
    """Annotations of one function: those of prefill hold in decode, and the other way round."""
    plain = (PARAMS, TOKENS), (PARAMS, make_cache(), TOKENS[:1], np.int32(0))
    sharded = (shard(PARAMS), TOKENS), (shard(PARAMS), make_cache(), TOKENS[:1], np.int32(0))
    found = []
    for first, second in ((sharded[0], plain[1]), (plain[0], sharded[1])):
        with shardkit.compile({"prefill": prefill, "decode": DECODE}, {"prefill": first, "decode": second}, state=STATE) as program:
            found.append(check_alike(program))
            params = jax.tree.map(jnp.asarray, PARAMS)
            addresses = check_tokens(program, params)
            assert len(addresses) <= 2, "the cache is not updated in place"
    layouts = found[0]
    assert layouts["params.gate"] == '<@mesh, [{}, {"model"}]>' and layouts["params.up"] == '<@mesh, [{}, {"model"}]>', layouts
    assert layouts["cache.k"] == '<@mesh, [{}, {"model"}, {}]>', layouts
    assert found[0] == found[1], found


def test_search():
    """The search decides for both at once."""
    first = (PARAMS, put(TOKENS)), (PARAMS, make_cache(), put(TOKENS[:1]), np.int32(0))
    options = ["--auto-shard=allow-replicated-weights=false"]
    with shardkit.compile({"prefill": prefill, "decode": DECODE}, dict(zip(("prefill", "decode"), first)), state=STATE, calls={"decode": 14}, options=options) as program:
        layouts = check_alike(program)
        assert any("model" in v or "data" in v for n, v in layouts.items() if n.startswith("params.")), layouts
        check_tokens(program, jax.tree.map(jnp.asarray, PARAMS))


def test_training():
    """Evaluation takes the parameters where the last step of training has left them."""
    rng = np.random.default_rng(3)
    params = {"up": rng.standard_normal((6, 16)).astype(np.float32), "down": rng.standard_normal((16, 5)).astype(np.float32) / 4}
    x, y, test = (rng.standard_normal(s).astype(np.float32) for s in ((8, 6), (8, 5), (3, 6)))

    def evaluate(params, x):
        return jnp.tanh(x @ params["up"]) @ params["down"]

    def step(params, x, y):
        loss, gradients = jax.value_and_grad(lambda p: jnp.mean((evaluate(p, x) - y) ** 2))(params)
        return {n: params[n] - 0.1 * gradients[n] for n in params}, loss

    train = jax.jit(step, donate_argnames="params")
    structs = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), params)
    sharded = {"up": put(params["up"], None, "model"), "down": params["down"]}
    with shardkit.compile({"train": train, "evaluate": evaluate}, {"train": (sharded, put(x, "data"), y), "evaluate": (params, test)}) as program:
        layouts = [{v.name: v.sharding for v in f.arguments if v.name.startswith("params.")} for f in program.session.values()]
        assert layouts[0] == layouts[1] == {"params.up": '<@mesh, [{}, {"model"}]>', "params.down": '<@mesh, [{"model"}, {}]>'}, layouts
        expected, given = params, params
        for _ in range(4):
            _, loss = program.train(given, x, y, donate=True)
            expected, expected_loss = jax.jit(step)(expected, x, y)
            given = structs
            np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
            np.testing.assert_allclose(program.evaluate(structs, test), evaluate(expected, test), rtol=1e-4, atol=1e-5)
        assert program.session.notes == [], program.session.notes


FUSED = """
spmd.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x24xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x24xf32>) -> tensor<4x24xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x24xf32>) outs(%init : tensor<4x24xf32>) -> tensor<4x24xf32>
  %a = tensor.extract_slice %h[0, 0] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %h[0, 8] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  %c = tensor.extract_slice %h[0, 16] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  %m = arith.mulf %a, %b : tensor<4x8xf32>
  %r = arith.addf %m, %c : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
"""


def test_random():
    """Random weights are those of the stored tensors, also where a loading function makes segments of them."""
    found = []
    for options in ([], ["--infer-segments=false"]):
        directory = compile_text(FUSED, Constants(), options)
        with shardkit.Session(directory / "bundle") as session:
            session.fill_random(1)
            (function,) = session.values()
            found.append((any(v.is_computed for v in function.arguments), function(np.ones((4, 8), np.float32))[0].numpy()))
        shutil.rmtree(directory)
    assert found[0][0] and not found[1][0] and np.array_equal(found[0][1], found[1][1]), found


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory():
    """Weights are in memory once: decode takes what prefill has loaded."""
    width, hidden = 512, 8192
    params = make_params(2, width, hidden)
    sharded = {n: put(v, *(("model", None) if v.ndim == 2 and v.size > 1 << 20 and n == "down" else (None, "model") if n in ("gate", "up") else ())) for n, v in params.items()}
    given = {"prefill": (sharded, TOKENS), "decode": (sharded, make_cache(width), TOKENS[:1], np.int32(0))}
    with shardkit.compile({"prefill": prefill, "decode": DECODE}, given, state=STATE) as program:
        sizes = {v.name: v.bytes_per_device * v.devices for v in program.session["prefill"].arguments if v.name.startswith("params.")}
        for n, v in params.items():
            program.prefill[f"params.{n}"] = v
        before = resident_bytes()
        structs = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), params)
        for _ in range(3):
            logits, cache = program.prefill(structs, TOKENS, resident=True)
            program.decode(structs, cache, TOKENS[:1], np.int32(PROMPT), resident=True, donate=True)
        grown = resident_bytes() - before
        print(f"weights: {sum(sizes.values()) / 2**20:.1f} MiB on 4 devices, memory grew by {grown / 2**20:.1f} MiB in both functions")
        assert grown < sum(sizes.values()) / 4, grown
        for name in sizes:
            shards = {f.name: program.session.bound(name).shard(0).ctypes.data for f in program.session.values()}
            assert len(set(shards.values())) == 1
        # Arrays of JAX that are passed to both are copied once.
        before, arrays = resident_bytes(), jax.tree.map(jnp.asarray, params)
        held = resident_bytes() - before
        for _ in range(3):
            logits, cache = program.prefill(arrays, TOKENS, resident=True)
            program.decode(arrays, cache, TOKENS[:1], np.int32(PROMPT), resident=True)
        grown = resident_bytes() - before - held
        print(f"passed: memory grew by {grown / 2**20:.1f} MiB")
        assert grown < 1.5 * sum(sizes.values()), grown


def fails(expected, *args, **kwargs):
    try:
        shardkit.compile(*args, **kwargs)
    except shardkit.ShardKitError as error:
        assert expected in str(error), error
        assert str(error).count("error:") == 1, error
    else:
        raise AssertionError(f"expected {expected}")


def test_errors():
    x = np.ones((4, 6), np.float32)

    def f(params, x):
        return x @ params["w"]

    good = {"f": ({"w": np.ones((6, 8), np.float32)}, x)}
    fails("no function was given", {})
    fails("arguments is tuple", {"f": f}, (1,))
    fails("arguments names g, expected one of the functions: f", {"f": f}, {"g": ()})
    fails("a function is called 'a b', expected a name", {"a b": f}, {})
    fails("arguments of f are a ndarray, expected a tuple", {"f": f}, {"f": x})
    fails("f is a int, expected a JAX function", {"f": 1})
    fails("f has no result result.1, expected one of: result", {"f": f}, good, state={"f.result.1": "cache"})
    fails("no function takes cache, which f returns, expected one of: params.w, x", {"f": f}, good, state={"f.result": "cache"})
    fails("calls of f is 0, expected a positive number", {"f": f}, good, calls={"f": 0})
    both = good | {"g": ({"w": np.ones((6, 4), np.float32)}, x)}
    both["f"] = ({"w": put(both["f"][0]["w"])}, x)
    fails("weight params.w of @g has type 'tensor<6x4xf32>', expected 'tensor<6x8xf32>' as in @f", {"f": f, "g": f}, both)
    with shardkit.compile({"f": f}, {"f": {"params": good["f"][0], "x": x}}) as program:
        assert np.array_equal(program["f"](*good["f"]), x @ np.ones((6, 8), np.float32)) and list(program) == ["f"]
        for get in (lambda: program["g"], lambda: program.g):
            try:
                get()
            except (shardkit.ShardKitError, AttributeError) as error:
                assert "no function is called g, expected one of: f" in str(error), error
            else:
                raise AssertionError("expected an error")
        for call, message in (
            (lambda: program.f({"w": jax.ShapeDtypeStruct((8, 6), np.float32)}, x), "params.w stands for float32[8, 6], expected float32[6, 8]"),
            (lambda: program.f({"w": jax.ShapeDtypeStruct((6, 8), np.int32)}, x), "params.w stands for int32[6, 8], expected float32[6, 8]"),
            (lambda: program.f({"w": jax.ShapeDtypeStruct((6, 8), np.float32)}, x), "'params.w' of function 'f' (f32 6x8 on 1 device) is neither given nor bound"),
            (lambda: program.f.load([]), "path is [], expected a path, or several"),
            (lambda: program.f.load(3), "path is 3, expected a path"),
            (lambda: program.f.save(""), "directory is '', expected a path"),
            (lambda: program.f[3], "name is 3, expected a string"),
            (lambda: program.f.__setitem__(3, x), "name is 3, expected a string"),
        ):
            try:
                call()
            except shardkit.ShardKitError as error:
                assert message in str(error), error
            else:
                raise AssertionError(f"expected: {message}")
    try:
        program.session
    except shardkit.ShardKitError as error:
        assert "closed" in str(error)
    else:
        raise AssertionError("expected an error")


if __name__ == "__main__":
    for test in (test_errors, test_random, test_propagation, test_search, test_training, test_memory):
        test()
        print(test.__name__, "passed")
