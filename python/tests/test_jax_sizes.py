#!/usr/bin/env python3
"""JAX functions of sizes that only the run knows (jax.export.symbolic_shape): one program, at sizes below the number of devices too."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.export import symbolic_shape
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

import shardkit
from samples import run_tests

MESH = AbstractMesh((2, 2), ("data", "model"))
WIDTH, HEADS, WORDS = 32, 4, 50
SHAPES = {
    "words": (WORDS, WIDTH), "n1": (WIDTH,), "n2": (WIDTH,), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH),
    "o": (WIDTH, WIDTH), "up": (WIDTH, 64), "gate": (WIDTH, 64), "down": (64, WIDTH),
}  # fmt: skip
RNG = np.random.default_rng(0)
WEIGHTS = {n: (RNG.standard_normal(shape) * 0.3).astype(np.float32) for n, shape in SHAPES.items()}


def on(*spec):
    return NamedSharding(MESH, P(*spec))


def get_weights():
    specs = {**dict.fromkeys(("q", "k", "v", "up", "gate"), (None, "model")), "o": ("model", None), "down": ("model", None)}
    return {n: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=on(*specs.get(n, ()))) for n, shape in SHAPES.items()}


def check_error(call, pattern: str) -> None:
    try:
        call()
    except shardkit.ShardKitError as error:
        assert re.search(pattern, str(error)), error
    else:
        raise AssertionError(f"no error, expected {pattern}")


def norm(x, scale):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def feed(w, x):
    h = norm(x, w["n2"])
    return x + (jax.nn.silu(h @ w["up"]) * (h @ w["gate"])) @ w["down"]


def block(w, tokens):
    b, s = tokens.shape
    x = w["words"][tokens]
    h = norm(x, w["n1"])
    q, k, v = ((h @ w[n]).reshape(b, s, HEADS, -1).transpose(0, 2, 1, 3) for n in "qkv")
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS), -1e9)
    x = x + (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(b, s, WIDTH) @ w["o"]
    return jax.nn.log_softmax(feed(w, x) @ w["words"].T)


def decode(w, token, keys, values):
    """The cache grows by one position."""
    x = w["words"][token]
    h = norm(x, w["n1"])
    q, k, v = ((h @ w[n]).reshape(token.shape[0], 1, HEADS, -1) for n in "qkv")
    keys, values = jnp.concatenate([keys, k], 1), jnp.concatenate([values, v], 1)
    scores = jnp.einsum("bohd,bshd->bhs", q, keys) / np.sqrt(WIDTH // HEADS)
    x = x + jnp.einsum("bhs,bshd->bhd", jax.nn.softmax(scores, -1), values).reshape(x.shape) @ w["o"]
    return jnp.argmax(feed(w, x) @ w["words"].T, -1).astype(jnp.int32), keys, values


def test_block() -> None:
    b, s = symbolic_shape("b, s", constraints=["b <= 64", "s <= 128"])
    for spec in (("data", None), (None, "data")):
        model = shardkit.import_jax(block, get_weights(), jax.ShapeDtypeStruct((b, s), jnp.int32, sharding=on(*spec)))
        assert [a.shape for a in model.arguments if not a.is_weight] == [(-1, -1)]
        with model.compile() as program:
            weights = jax.tree.map(jnp.asarray, WEIGHTS)  # which stay on the devices
            for shape in ((2, 5), (7, 33), (1, 1), (64, 3)):
                tokens = RNG.integers(0, WORDS, shape).astype(np.int32)
                np.testing.assert_allclose(np.asarray(program(weights, tokens)), block(WEIGHTS, tokens), atol=2e-5)
            check_error(lambda: program(WEIGHTS, np.zeros((65, 2), np.int32)), "size 'b' is 65, expected one from 1 to 64")


def test_training() -> None:
    """A step of the block: the gradient of its embedding is a scatter of as many updates as there are tokens."""

    def step(w, tokens, targets):
        loss = lambda w: -jnp.take_along_axis(block(w, tokens), targets[..., None], -1).mean()
        value, gradients = jax.value_and_grad(loss)(w)
        return value, jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, w, gradients)

    b, s = symbolic_shape("b, s")  # without bounds
    for spec in (("data", None), (None, "data")):
        tokens = jax.ShapeDtypeStruct((b, s), jnp.int32, sharding=on(*spec))
        with shardkit.import_jax(step, get_weights(), tokens, tokens).compile() as program:
            for shape in ((2, 5), (7, 33), (1, 1), (64, 3)):
                given = [RNG.integers(0, WORDS, shape).astype(np.int32) for _ in range(2)]
                found, wanted = jax.tree.leaves(program(WEIGHTS, *given)), jax.tree.leaves(jax.jit(step)(WEIGHTS, *given))
                for ours, theirs in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(np.asarray(ours), theirs, atol=2e-5, err_msg=f"{spec} {shape}")


def test_buckets() -> None:
    """Steps of few and of many rows have layouts of their own, and update the same weights in turn."""

    @functools.partial(jax.jit, donate_argnums=0)
    def step(w, x):
        loss, gradients = jax.value_and_grad(lambda w: ((jnp.tanh(x @ w["a"]) @ w["b"]) ** 2).mean())(w)
        return jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, w, gradients), loss

    (b,) = symbolic_shape("b", constraints=["b <= 4096"])
    shapes = {"a": jax.ShapeDtypeStruct((64, 128), jnp.float32, sharding=on(None, "model")), "b": jax.ShapeDtypeStruct((128, 64), jnp.float32)}
    model = shardkit.import_jax(step, shapes, jax.ShapeDtypeStruct((b, 64), jnp.float32))
    w = {n: (RNG.standard_normal(v.shape) * 0.1).astype(np.float32) for n, v in shapes.items()}
    with model.compile(["--auto-shard", "--bucket=b=4"]) as program:
        given = w
        for rows in (3, 700, 4, 5, 1):
            x = RNG.standard_normal((rows, 64)).astype(np.float32)
            given, loss = program(given, x, donate=True)
            w, wanted = jax.device_get(step(jax.tree.map(jnp.asarray, w), x))
            np.testing.assert_allclose(np.asarray(loss), wanted, rtol=1e-5, err_msg=str(rows))
        for n, v in w.items():
            np.testing.assert_allclose(np.asarray(given[n]), v, atol=1e-5, err_msg=n)


def test_convolutions() -> None:
    """A step that trains convolutions, strided, padded and in groups, and poolings, with any batch."""
    conv = lambda x, k, step, groups=1: jax.lax.conv_general_dilated(x, k, (step, step), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)

    def step(kernels, x):
        def loss(kernels):
            h = conv(conv(jax.nn.relu(conv(x, kernels[0], 1)), kernels[2], 1, groups=8), kernels[3], 1, groups=2)
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
            h = jax.nn.relu(conv(h, kernels[1], 2))
            return (jax.lax.reduce_window(h, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).mean()

        value, gradients = jax.value_and_grad(loss)(kernels)
        return value, [k - 0.1 * g for k, g in zip(kernels, gradients)]

    (b,) = symbolic_shape("b")
    kernels = [(RNG.standard_normal(s) * 0.2).astype(np.float32) for s in ((3, 3, 3, 8), (3, 3, 8, 4), (3, 3, 1, 8), (1, 1, 4, 8))]
    given = [jax.ShapeDtypeStruct(k.shape, jnp.float32, sharding=on(None, None, None, "model")) for k in kernels]
    model = shardkit.import_jax(step, given, jax.ShapeDtypeStruct((b, 8, 8, 3), jnp.float32, sharding=on("data")))
    with model.compile() as program:
        for count in (1, 2, 5):
            x = RNG.standard_normal((count, 8, 8, 3), dtype=np.float32)
            for ours, theirs in zip(jax.tree.leaves(program(kernels, x)), jax.tree.leaves(jax.jit(step)(kernels, x)), strict=True):
                np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-5)


def test_convolutions_along_sizes() -> None:
    """Also causal, as in state-space models, with gradients; a result shorter than the length."""

    def step(w, x):
        def mix(w, x):
            h = jax.lax.conv_general_dilated(x, w[0], (1,), [(3, 0)], dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=6)
            return jax.lax.conv_general_dilated(jax.nn.silu(h), w[1], (1,), "VALID", rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"))

        return mix(w, x), jax.grad(lambda w: (mix(w, x) ** 2).sum())(w)

    (s,) = symbolic_shape("s", constraints=["s >= 3", "s <= 32"])
    weights = [(RNG.standard_normal(shape) * 0.3).astype(np.float32) for shape in ((4, 1, 6), (2, 6, 10))]
    given = [jax.ShapeDtypeStruct(w.shape, jnp.float32, sharding=on(None, None, "model")) for w in weights]
    model = shardkit.import_jax(step, given, jax.ShapeDtypeStruct((4, s, 6), jnp.float32, sharding=on("data")))
    with model.compile() as program:
        for length in (3, 7, 16):
            x = RNG.standard_normal((4, length, 6), dtype=np.float32)
            for ours, theirs in zip(jax.tree.leaves(program(weights, x)), jax.tree.leaves(jax.jit(step)(weights, x)), strict=True):
                np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-4)


def test_decode_with_a_cache_that_grows() -> None:
    (s,) = symbolic_shape("s", constraints=["s <= 64"])
    step = jax.jit(decode)
    for spec in ((None, None, "model"), (None, "data")):
        cache = jax.ShapeDtypeStruct((2, s, HEADS, WIDTH // HEADS), jnp.float32, sharding=on(*spec))
        model = shardkit.import_jax(decode, get_weights(), jax.ShapeDtypeStruct((2,), jnp.int32), cache, cache)
        with model.compile() as program:
            ours = theirs = (np.array([1, 2], np.int32), *[np.zeros((2, 1, HEADS, WIDTH // HEADS), np.float32)] * 2)
            for i in range(12):
                ours, theirs = program(WEIGHTS, *ours), step(WEIGHTS, *theirs)
                assert np.array_equal(ours[0], theirs[0]), i
                assert np.asarray(ours[1]).shape == (2, i + 2, HEADS, WIDTH // HEADS)


def test_ops() -> None:
    b, s = symbolic_shape("b, s", constraints=["b <= 8", "s >= 2", "s <= 16"])
    cases = {
        "joined dims": lambda x: x.reshape(-1, 6) * jnp.arange(6.0),
        "split dims": lambda x: x.reshape(x.shape[0], x.shape[1], 3, 2).sum(-2),
        "unit dims": lambda x: x[:, None] + x[:, :, None].mean(3, keepdims=True),
        "outer product": lambda x: jnp.einsum("bsk,btk->bst", x, x),
        "sums of sizes": lambda x: jnp.concatenate([x, x * 2, x[:, :0]], 1).max(2),
        "indices": lambda x: jnp.where(jnp.arange(x.shape[1])[None, :, None] < 2, x, -x),
        "full": lambda x: jnp.full(x.shape[:2], 3.0) + x.sum(-1) * x.shape[1],
        "slices": lambda x: (x[:, -1], x[:, 1:] - x[:, :-1], x[:, -2:], x[:, 0, 1:3]),
        "dynamic slices": lambda x: jax.lax.dynamic_update_slice_in_dim(x, x[:, :1] * 2, x[0, 0, 0].astype(int), axis=1) + jax.lax.dynamic_slice_in_dim(x, 1, 1, axis=2),
        "sorts": lambda x: (*jax.lax.top_k(x, 2), jnp.sort(x, -1), jnp.argsort(-x, -1)),
        "sorts of sizes": lambda x: (jnp.sort(x, 0), jnp.argsort(-x, 1), *jax.lax.top_k(x.swapaxes(1, 2), 2), jnp.sort(x.reshape(-1))),
        "orders": lambda x: (x[:, ::-1], jnp.flip(x, 0), jnp.asarray(x)[:, jnp.array([1, 0])], jnp.take_along_axis(x, jnp.argsort(x[..., :1], 1), 1)),
        "cumulative": lambda x: (jnp.cumsum(x, 1), jnp.cumsum(x, 2), jnp.cumprod(x, 0), jax.lax.cummax(x, 1, reverse=True), jax.lax.cumlogsumexp(x, 1), jax.lax.cumlogsumexp(x, 0, reverse=True)),
        "scan": lambda x: jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(x.shape[1:]), x),
        "updates": lambda x: jnp.asarray(x).at[:, jnp.arange(1)].add(2.0).at[:, -1, 1].multiply(3.0),
        "rolls": lambda x: (jnp.roll(x, 1, 1), jnp.roll(x, -1, 1), jnp.roll(x, 2, 2)),
        "windows": lambda x: (
            jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 1), (1, 1, 1), "SAME"),
            jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 1), (1, 1, 1), "VALID"),
            jax.grad(lambda x: (jax.lax.reduce_window(x, 0.0, jax.lax.add, (2, 3, 1), (1, 1, 1), "SAME") ** 2).sum())(x),
        ),
        "steps": lambda x: (
            x[:, ::2].sum(1),
            jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 1), (1, 2, 1), "VALID").sum(1),
            jax.lax.conv_general_dilated(x.swapaxes(1, 2), jnp.ones((4, 6, 3)), (2,), [(1, 1)]).sum(2),
        ),
        "quotients": lambda x: (x[:, ::2], x[::3, 1:], x[: x.shape[0] // 2] * 2, x[:, : x.shape[1] % 4], x.reshape(-1)[::5]),
        "copies": lambda x: (jnp.tile(x, (1, 2, 1)), jnp.repeat(x, 2, axis=1), jnp.stack([x[:, :-1], x[:, 1:]], 2)),
        "numbers": lambda x: (jax.nn.one_hot(x[..., 0].astype(jnp.int32), 3), x + jax.random.normal(jax.random.key(0), x.shape), jnp.nextafter(x, x + 1)),
        "transforms": lambda x: (
            jnp.abs(jnp.fft.fft(x, 130)), jnp.fft.irfft(jnp.fft.rfft(x, axis=2) * (1 + 2j), axis=2), jnp.fft.fft2(x.reshape(-1, 3, 2)).imag, jnp.fft.ifft(x).real,
        ),
        "segments": lambda x: jax.ops.segment_sum(x.reshape(-1, 6), jnp.abs(x[..., 0].reshape(-1)).astype(jnp.int32), 3),
        "trips": lambda x: jax.lax.fori_loop(0, x.shape[1], lambda i, c: c * 0.5 + jnp.asarray(x)[:, i], x[:, 0]),
    }
    for name, function in cases.items():
        for spec in (("data",), (None, "model")):
            model = shardkit.import_jax(function, jax.ShapeDtypeStruct((b, s, 6), jnp.float32, sharding=on(*spec)))
            with model.compile() as program:
                for shape in ((2, 4, 6), (4, 16, 6)):
                    x = RNG.standard_normal(shape, dtype=np.float32)
                    for found, wanted in zip(jax.tree.leaves(program(x)), jax.tree.leaves(function(x)), strict=True):
                        np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-5, err_msg=f"{name} {spec} {shape}")


def test_sizes_of_sizes() -> None:
    """Arguments whose dims are sums and products of sizes, one of which no dim is alone."""
    b, s = symbolic_shape("b, s", constraints=["b <= 8", "s >= 1", "s <= 16"])

    def mix(x, cache, flat):
        return jnp.concatenate([cache, x], 1) * 2, flat.reshape(x.shape[0], -1, 3).sum(1), x[:, ::2]

    given = [(b, 1, 6), (b, 2 * s + 1, 6), (6 * b * s,)]
    for specs in (("data",), ("data",), ()), ((None, None, "model"), (None, None, "model"), ()):
        shapes = [jax.ShapeDtypeStruct(shape, jnp.float32, sharding=on(*spec)) for shape, spec in zip(given, specs)]
        with shardkit.import_jax(mix, *shapes).compile() as program:
            for batch, length in ((1, 1), (5, 4), (8, 16)):
                arrays = [RNG.standard_normal(s, dtype=np.float32) for s in ((batch, 1, 6), (batch, 2 * length + 1, 6), (6 * batch * length,))]
                for found, wanted in zip(program(*arrays), mix(*map(jnp.asarray, arrays)), strict=True):
                    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-5)
            x = np.zeros((2, 1, 6), np.float32)
            check_error(lambda: program(x, np.zeros((2, 4, 6), np.float32), np.zeros(12, np.float32)), r"dim 1 of argument 'cache' is 4, expected 2 \* s \+ 1 for a size 's'")
            check_error(lambda: program(x, np.zeros((2, 3, 6), np.float32), np.zeros(13, np.float32)), r"dim 0 of argument 'flat' is 13, expected 12 \(6 \* b \* s\)")


def test_experts() -> None:
    """Experts and tokens are sharded; how many tokens there are only the run knows, and the router how many an expert gets: in the
    last case two experts get all tokens, the others none."""
    (t,) = symbolic_shape("t", constraints=["t <= 64"])

    def dense(router, up, down, x):
        scores, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
        share = (jax.nn.one_hot(chosen, up.shape[0]) * scores[..., None]).sum(-2)
        return jnp.einsum("eth,ehd,te->td", jax.nn.gelu(jnp.einsum("td,edh->eth", x, up)), down, share)

    def sorted_tokens(router, up, down, x):
        scores, chosen = jax.lax.top_k(jax.nn.softmax(x @ router), 2)
        order = jnp.argsort(chosen.reshape(-1))
        sizes = jnp.bincount(chosen.reshape(-1), length=up.shape[0])
        made = jax.lax.ragged_dot(jax.nn.gelu(jax.lax.ragged_dot(x[order // 2], up, sizes)), down, sizes)
        return (made[jnp.argsort(order)].reshape(x.shape[0], 2, -1) * scores[..., None]).sum(1)

    weights = [(RNG.standard_normal(s) * 0.3).astype(np.float32) for s in ((16, 8), (8, 16, 24), (8, 24, 16))]
    specs = [(), ("model",), ("model",)]
    given = [jax.ShapeDtypeStruct(w.shape, jnp.float32, sharding=on(*spec)) for w, spec in zip(weights, specs)]
    two = np.zeros((16, 8), np.float32)
    two[:, 3], two[:, 6] = 0.5, 0.4
    for layer in (dense, sorted_tokens):
        model = shardkit.import_jax(layer, *given, jax.ShapeDtypeStruct((t, 16), jnp.float32, sharding=on("data")))
        with model.compile() as program:
            for count, router in ((1, weights[0]), (3, weights[0]), (17, weights[0]), (64, weights[0]), (33, two)):
                x = np.abs(RNG.standard_normal((count, 16), dtype=np.float32))
                arguments = (router, *weights[1:], x)
                np.testing.assert_allclose(np.asarray(program(*arguments)), jax.jit(layer)(*arguments), atol=4e-6)


def test_errors() -> None:
    (n,) = symbolic_shape("n", constraints=["n <= 8"])
    check_error(lambda: shardkit.import_jax(jnp.sin, jax.ShapeDtypeStruct((n // 2,), jnp.float32)), r"dim 0 of x is floordiv\(n, 2\), expected a number, or a sum, difference or product")
    check_error(lambda: shardkit.import_jax(jnp.sin, jax.ShapeDtypeStruct((n * n,), jnp.float32)), "size n does not follow from the dims of arguments")
    check_error(lambda: shardkit.import_jax(lambda x: jnp.roll(x, 2), jax.ShapeDtypeStruct((n,), jnp.float32)), "test_jax_sizes.py:.*a slice has a size that depends on data, or that bounds do not decide")


if __name__ == "__main__":
    run_tests(globals())
