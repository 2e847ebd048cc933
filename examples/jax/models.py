"""Models in JAX, small enough to be run in seconds, with annotations in four styles.

`build(name, style, mesh)` gives a function and example arguments. The styles say what is annotated:

    data      the batch, and nothing else
    megatron  the batch over `data`, the matrices of each block over `model`, column by row
    fsdp      the batch over both axes, and every matrix too: gathered where it is used
    two       the batch and one matrix: the rest is found by propagation
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

STYLES = ("data", "megatron", "fsdp", "two")


class Annotator:
    """What a style says of the batch, of activations and of weights by their role."""

    def __init__(self, style, mesh):
        assert style in STYLES, style
        self.style, self.mesh = style, mesh
        self.batch_axes = ("data", "model") if style == "fsdp" else "data"

    def named(self, *spec):
        return NamedSharding(self.mesh, P(*spec))

    def batch(self, value, batch_dim=0):
        """An example argument whose dim `batch_dim` counts examples."""
        spec = [None] * value.ndim
        spec[batch_dim] = self.batch_axes
        return jax.device_put(value, self.named(*spec))

    def matrix(self, value, role, is_first=False):
        """A weight; its role is `column` (its last dim is split), `row` (the last but one), or `vector`."""
        spec = [None] * value.ndim
        if self.style == "megatron" or (self.style == "two" and is_first):
            if role == "column":
                spec[-1] = "model"
            elif role == "row":
                spec[-2] = "model"
        elif self.style == "fsdp" and role != "vector":
            spec[-2] = ("data", "model")
        if all(entry is None for entry in spec) and self.style != "fsdp":
            return value
        return jax.device_put(value, self.named(*spec))


class Random:
    """Weights and inputs, the same on every machine."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)

    def normal(self, *shape, scale=None):
        scale = shape[-2] ** -0.5 if scale is None else scale
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def tokens(self, count, *shape):
        return self.rng.integers(0, count, shape, dtype=np.int32)


def layer_norm(x, p):
    mean = x.mean(-1, keepdims=True)
    centered = x - mean
    variance = (centered * centered).mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def norm_weights(dim):
    return {"scale": np.ones(dim, np.float32), "bias": np.zeros(dim, np.float32)}


def split_heads(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def merge_heads(x):
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], -1)


# --- a two-layer perceptron -----------------------------------------------------------------------


def mlp(style, mesh, batch=8, dim=16, hidden=32):
    a, r = Annotator(style, mesh), Random(1)
    params = {
        "up": {"kernel": a.matrix(r.normal(dim, hidden), "column", True), "bias": r.normal(1, hidden)[0]},
        "down": {"kernel": a.matrix(r.normal(hidden, dim), "row"), "bias": r.normal(1, dim)[0]},
    }

    def apply(params, x):
        h = jax.nn.relu(x @ params["up"]["kernel"] + params["up"]["bias"])
        return h @ params["down"]["kernel"] + params["down"]["bias"]

    return apply, (params, a.batch(r.normal(batch, dim, scale=1.0)))


# --- an encoder as MiniLM's -----------------------------------------------------------------------


def minilm(style, mesh, layers=2, batch=8, length=8, dim=32, heads=4, vocab=64):
    a, r = Annotator(style, mesh), Random(2)

    def layer(i):
        return {
            name: {
                "kernel": a.matrix(r.normal(ins, outs), role, i == 0 and name == "query"),
                "bias": r.normal(1, outs, scale=0.1)[0],
            }
            for name, ins, outs, role in (
                ("query", dim, dim, "column"),
                ("key", dim, dim, "column"),
                ("value", dim, dim, "column"),
                ("out", dim, dim, "row"),
                ("up", dim, 4 * dim, "column"),
                ("down", 4 * dim, dim, "row"),
            )
        } | {"norm1": norm_weights(dim), "norm2": norm_weights(dim)}

    params = {
        "words": r.normal(vocab, dim, scale=0.5),
        "places": r.normal(length, dim, scale=0.5),
        "norm": norm_weights(dim),
        "layers": [layer(i) for i in range(layers)],
    }

    def dense(x, p):
        return x @ p["kernel"] + p["bias"]

    def encode(params, tokens, mask):
        x = layer_norm(params["words"][tokens] + params["places"], params["norm"])
        bias = (1.0 - mask[:, None, None, :]) * -1e9
        for p in params["layers"]:
            q, k, v = (split_heads(dense(x, p[n]), heads) for n in ("query", "key", "value"))
            weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) * (dim // heads) ** -0.5 + bias)
            x = layer_norm(x + dense(merge_heads(weights @ v), p["out"]), p["norm1"])
            h = jax.nn.gelu(dense(x, p["up"]), approximate=False)
            x = layer_norm(x + dense(h, p["down"]), p["norm2"])
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)

    lengths = r.tokens(length, batch) + 1
    mask = (np.arange(length) < lengths[:, None]).astype(np.float32)
    return encode, (params, a.batch(r.tokens(vocab, batch, length)), a.batch(mask))


# --- a training step of GPT-2 with Adam -----------------------------------------------------------


def gpt2_step(style, mesh, layers=4, batch=8, length=8, dim=32, heads=4, vocab=64):
    a, r = Annotator(style, mesh), Random(3)

    def layer(i):
        return {
            "norm1": norm_weights(dim),
            "norm2": norm_weights(dim),
            "query": a.matrix(r.normal(dim, dim), "column", i == 0),
            "key": a.matrix(r.normal(dim, dim), "column"),
            "value": a.matrix(r.normal(dim, dim), "column"),
            "out": a.matrix(r.normal(dim, dim), "row"),
            "up": a.matrix(r.normal(dim, 4 * dim), "column"),
            "down": a.matrix(r.normal(4 * dim, dim), "row"),
        }

    params = {
        "wte": r.normal(vocab, dim, scale=0.1),
        "wpe": r.normal(length, dim, scale=0.1),
        "norm": norm_weights(dim),
        "layers": [layer(i) for i in range(layers)],
    }

    def logits(params, tokens):
        x = params["wte"][tokens] + params["wpe"]
        causal = jnp.tril(jnp.ones((length, length), bool))
        for p in params["layers"]:
            h = layer_norm(x, p["norm1"])
            q, k, v = (split_heads(h @ p[n], heads) for n in ("query", "key", "value"))
            scores = q @ k.swapaxes(-1, -2) * (dim // heads) ** -0.5
            weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
            x = x + merge_heads(weights @ v) @ p["out"]
            h = layer_norm(x, p["norm2"])
            x = x + jax.nn.gelu(h @ p["up"]) @ p["down"]
        return layer_norm(x, params["norm"]) @ params["wte"].T

    def loss(params, tokens, targets):
        logp = jax.nn.log_softmax(logits(params, tokens))
        return -jnp.take_along_axis(logp, targets[..., None], -1).mean()

    def step(params, moments, count, tokens, targets):
        value, grads = jax.value_and_grad(loss)(params, tokens, targets)
        count = count + 1
        tree = jax.tree_util.tree_map
        m = tree(lambda m, g: 0.9 * m + 0.1 * g, moments["m"], grads)
        v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, moments["v"], grads)
        scale_m, scale_v = 1 / (1 - 0.9**count), 1 / (1 - 0.999**count)
        params = tree(
            lambda p, m, v: p - 1e-3 * (m * scale_m) / (jnp.sqrt(v * scale_v) + 1e-8), params, m, v
        )
        return params, {"m": m, "v": v}, count, value

    def moments(p, square):
        """Those of a run under way: from zero the first step is the sign of the gradient, which hangs on a last bit."""
        value = r.normal(1, *p.shape, scale=0.01)[0]
        return jax.device_put(np.square(value) + 1e-4 if square else value, getattr(p, "sharding", None))

    tokens = r.tokens(vocab, batch, length + 1)
    return jax.jit(step, donate_argnums=(0, 1)), (
        params,
        {name: jax.tree_util.tree_map(lambda p: moments(p, name == "v"), params) for name in ("m", "v")},
        np.float32(10),
        a.batch(tokens[:, :-1]),
        a.batch(tokens[:, 1:]),
    )


# --- a Llama block: rotary embeddings, grouped queries, SwiGLU --------------------------------------


def llama(style, mesh, batch=8, length=8, dim=32, heads=8, groups=4, hidden=64):
    a, r = Annotator(style, mesh), Random(4)
    size = dim // heads
    params = {
        "attention_norm": np.ones(dim, np.float32),
        "ffn_norm": np.ones(dim, np.float32),
        "wq": a.matrix(r.normal(dim, heads * size), "column", True),
        "wk": a.matrix(r.normal(dim, groups * size), "column"),
        "wv": a.matrix(r.normal(dim, groups * size), "column"),
        "wo": a.matrix(r.normal(heads * size, dim), "row"),
        "w1": a.matrix(r.normal(dim, hidden), "column"),
        "w2": a.matrix(r.normal(hidden, dim), "row"),
        "w3": a.matrix(r.normal(dim, hidden), "column"),
    }

    def rms_norm(x, scale):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    def rotate(x):
        angles = jnp.arange(length)[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
        cos, sin = jnp.cos(angles), jnp.sin(angles)
        even, odd = x[..., ::2], x[..., 1::2]
        return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)

    def block(params, x):
        h = rms_norm(x, params["attention_norm"])
        q = rotate(split_heads(h @ params["wq"], heads))
        k = rotate(split_heads(h @ params["wk"], groups))
        v = split_heads(h @ params["wv"], groups)
        q = q.reshape(batch, groups, heads // groups, length, size)
        scores = jnp.einsum("bgrqd,bgkd->bgrqk", q, k) * size**-0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        o = jnp.einsum("bgrqk,bgkd->bgrqd", jax.nn.softmax(scores), v)
        x = x + merge_heads(o.reshape(batch, heads, length, size)) @ params["wo"]
        h = rms_norm(x, params["ffn_norm"])
        return x + (jax.nn.silu(h @ params["w1"]) * (h @ params["w3"])) @ params["w2"]

    return block, (params, a.batch(r.normal(batch, length, dim, scale=1.0)))


# --- a transformer whose layers are a scan ----------------------------------------------------------


def scan(style, mesh, layers=3, batch=8, length=4, dim=16, heads=4):
    a, r = Annotator(style, mesh), Random(5)
    params = {
        "query": a.matrix(r.normal(layers, dim, dim), "column", True),
        "key": a.matrix(r.normal(layers, dim, dim), "column"),
        "value": a.matrix(r.normal(layers, dim, dim), "column"),
        "out": a.matrix(r.normal(layers, dim, dim), "row"),
        "up": a.matrix(r.normal(layers, dim, 4 * dim), "column"),
        "down": a.matrix(r.normal(layers, 4 * dim, dim), "row"),
    }

    def layer(x, p):
        q, k, v = (split_heads(x @ p[n], heads) for n in ("query", "key", "value"))
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) * (dim // heads) ** -0.5)
        x = x + merge_heads(weights @ v) @ p["out"]
        return x + jnp.tanh(x @ p["up"]) @ p["down"], x.mean()

    def apply(params, x):
        return jax.lax.scan(layer, x, params)

    return apply, (params, a.batch(r.normal(batch, length, dim, scale=1.0)))


# --- one step of decoding with a cache --------------------------------------------------------------


def decode(style, mesh, batch=8, length=8, dim=32, heads=4, vocab=64):
    a, r = Annotator(style, mesh), Random(6)
    params = {
        "words": r.normal(vocab, dim, scale=0.5),
        "query": a.matrix(r.normal(dim, dim), "column", True),
        "key": a.matrix(r.normal(dim, dim), "column"),
        "value": a.matrix(r.normal(dim, dim), "column"),
        "out": a.matrix(r.normal(dim, dim), "row"),
    }

    def step(params, cache, place, token):
        x = params["words"][token]
        q, k, v = ((x @ params[n]).reshape(batch, heads, 1, -1) for n in ("query", "key", "value"))
        keys = jax.lax.dynamic_update_slice(cache["keys"], k, (0, 0, place, 0))
        values = jax.lax.dynamic_update_slice(cache["values"], v, (0, 0, place, 0))
        scores = q @ keys.swapaxes(-1, -2) * (dim // heads) ** -0.5
        scores = jnp.where(jnp.arange(length) <= place, scores, -1e9)
        o = (jax.nn.softmax(scores) @ values).reshape(batch, dim)
        x = x + o @ params["out"]
        return {"keys": keys, "values": values}, jnp.argmax(x @ params["words"].T, -1)

    # The next step finds the cache as this one did; its heads are split as the projections are.
    split = a.named(a.batch_axes, "model" if style == "megatron" else None)
    cache = {n: jax.device_put(r.normal(batch, heads, length, dim // heads, scale=1.0), split) for n in ("keys", "values")}
    jitted = jax.jit(step, donate_argnums=1, out_shardings=({n: split for n in cache}, None))
    return jitted, (params, cache, np.int32(3), a.batch(r.tokens(vocab, batch)))


# --- a mixture of experts ---------------------------------------------------------------------------


def moe(style, mesh, batch=16, dim=16, hidden=32, experts=8, used=2):
    """The router's scores are far apart, so that no choice hangs on a last bit."""
    a, r = Annotator(style, mesh), Random(7)
    up, down = r.normal(experts, dim, hidden), r.normal(experts, hidden, dim)
    if style in ("megatron", "two"):  # experts are what is split
        up = jax.device_put(up, a.named("model", None, None))
        down = jax.device_put(down, a.named("model", None, None)) if style == "megatron" else down
    else:
        up, down = a.matrix(up, "column"), a.matrix(down, "row")
    params = {"router": r.normal(dim, experts, scale=4.0), "up": up, "down": down}

    def apply(params, x):
        weights, chosen = jax.lax.top_k(jax.nn.softmax(x @ params["router"]), used)
        weights = weights / weights.sum(-1, keepdims=True)
        combine = (jax.nn.one_hot(chosen, experts) * weights[..., None]).sum(-2)
        h = jax.nn.gelu(jnp.einsum("bd,edh->ebh", x, params["up"]))
        return jnp.einsum("ebd,be->bd", jnp.einsum("ebh,ehd->ebd", h, params["down"]), combine)

    return apply, (params, a.batch(r.normal(batch, dim, scale=1.0)))


# --- a residual block of convolutions ---------------------------------------------------------------


def conv(style, mesh, batch=8, size=8, channels=8):
    a, r = Annotator(style, mesh), Random(8)
    params = {
        "conv1": a.matrix(r.normal(3, 3, channels, channels, scale=0.2), "column", True),
        "conv2": a.matrix(r.normal(3, 3, channels, channels, scale=0.2), "row"),
        "skip": a.matrix(r.normal(1, 1, channels, channels, scale=0.4), "column"),
        "scale": np.ones(channels, np.float32),
        "bias": np.zeros(channels, np.float32),
    }

    def convolve(x, w, stride=1):
        return jax.lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def block(params, x):
        h = jax.nn.relu(convolve(x, params["conv1"], 2) * params["scale"] + params["bias"])
        h = convolve(h, params["conv2"])
        h = jax.nn.relu(h + convolve(x, params["skip"], 2))
        return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return block, (params, a.batch(r.normal(batch, size, size, channels, scale=1.0)))


MODELS = {f.__name__: f for f in (mlp, minilm, gpt2_step, llama, scan, decode, moe, conv)}


def build(name, style, mesh, **sizes):
    """A function and a tuple of example arguments, annotated in `style` on a mesh with axes `data` and `model`."""
    return MODELS[name](style, mesh, **sizes)
