"""Ten models in JAX without annotations, of sizes at which bytes dominate latency, and single ops with few annotations.

`MODELS[name]()` gives a function and its arguments, all `jax.ShapeDtypeStruct`; nothing is computed. Those whose name ends in
`step` are training steps by stochastic gradient descent. `OPS` lists (name, axis sizes, function, arguments, result spec):
arguments are (shape, spec) or (shape, spec, dtype), a spec is a tuple of axis names per dim.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RATE = 1e-3


def array(*shape, dtype=np.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def indices(*shape):
    return array(*shape, dtype=np.int32)


def train(loss):
    """A step on `params`, the first argument of `loss`."""

    def step(params, *inputs):
        value, grads = jax.value_and_grad(loss)(params, *inputs)
        return jax.tree_util.tree_map(lambda p, g: p - RATE * g, params, grads), value

    return step


def rms_norm(x, scale):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def split_heads(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def merge_heads(x):
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], -1)


def attend(x, memory, p, heads, causal):
    q, k, v = (split_heads(source @ p[name], heads) for source, name in ((x, "query"), (memory, "key"), (memory, "value")))
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return merge_heads(jax.nn.softmax(scores) @ v) @ p["out"]


def attention_weights(dim, *layers):
    return {name: array(*layers, dim, dim) for name in ("query", "key", "value", "out")}


def cross_entropy(logits, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()


def gpt_step(layers=2, batch=32, length=256, dim=512, heads=8, vocab=8192, train=train):
    layer = attention_weights(dim) | {"up": array(dim, 4 * dim), "down": array(4 * dim, dim), "norm1": array(dim), "norm2": array(dim)}
    params = {"wte": array(vocab, dim), "wpe": array(length, dim), "norm": array(dim), "layers": [layer] * layers}

    def loss(params, tokens, targets):
        x = params["wte"][tokens] + params["wpe"]
        for p in params["layers"]:
            h = rms_norm(x, p["norm1"])
            x = x + attend(h, h, p, heads, True)
            x = x + jax.nn.gelu(rms_norm(x, p["norm2"]) @ p["up"]) @ p["down"]
        return cross_entropy(rms_norm(x, params["norm"]) @ params["wte"].T, targets)

    return train(loss), (params, indices(batch, length), indices(batch, length))


def llama(layers=2, batch=32, length=256, dim=512, heads=8, groups=4, hidden=1536, vocab=8192):
    size = dim // heads
    layer = {"norm1": array(dim), "norm2": array(dim), "wq": array(dim, dim), "wk": array(dim, groups * size),
             "wv": array(dim, groups * size), "wo": array(dim, dim), "w1": array(dim, hidden), "w2": array(hidden, dim),
             "w3": array(dim, hidden)}  # fmt: skip
    params = {"words": array(vocab, dim), "layers": [layer] * layers, "norm": array(dim), "head": array(dim, vocab)}

    def rotate(x):
        angles = jnp.arange(length)[:, None] * 10000.0 ** (-jnp.arange(0, size, 2) / size)
        cos, sin = jnp.cos(angles), jnp.sin(angles)
        even, odd = x[..., ::2], x[..., 1::2]
        return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)

    def apply(params, tokens):
        x = params["words"][tokens]
        for p in params["layers"]:
            h = rms_norm(x, p["norm1"])
            q, k = rotate(split_heads(h @ p["wq"], heads)), rotate(split_heads(h @ p["wk"], groups))
            v = split_heads(h @ p["wv"], groups)
            q = q.reshape(batch, groups, heads // groups, length, size)
            scores = jnp.einsum("bgrqd,bgkd->bgrqk", q, k) * size**-0.5
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
            o = jnp.einsum("bgrqk,bgkd->bgrqd", jax.nn.softmax(scores), v)
            x = x + merge_heads(o.reshape(batch, heads, length, size)) @ p["wo"]
            h = rms_norm(x, p["norm2"])
            x = x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]
        return rms_norm(x, params["norm"]) @ params["head"]

    return apply, (params, indices(batch, length))


def encoder_decoder_step(batch=32, length=128, dim=512, heads=8, vocab=8192):
    feed = {"up": array(dim, 4 * dim), "down": array(4 * dim, dim)}
    params = {"words": array(vocab, dim), "encoder": attention_weights(dim) | feed, "decoder": attention_weights(dim) | feed,
              "cross": attention_weights(dim), "norm": array(dim)}  # fmt: skip

    def feed_forward(x, p):
        return x + jax.nn.relu(x @ p["up"]) @ p["down"]

    def loss(params, source, tokens, targets):
        memory = params["words"][source]
        memory = feed_forward(memory + attend(memory, memory, params["encoder"], heads, False), params["encoder"])
        x = params["words"][tokens]
        x = x + attend(x, x, params["decoder"], heads, True)
        x = feed_forward(x + attend(x, memory, params["cross"], heads, False), params["decoder"])
        return cross_entropy(rms_norm(x, params["norm"]) @ params["words"].T, targets)

    return train(loss), (params, indices(batch, length), indices(batch, length), indices(batch, length))


def moe_step(batch=32, length=128, dim=512, hidden=1024, experts=8, used=2):
    """Each expert has room for a share of the tokens of each example; dispatched and combined by products with one-hot tensors."""
    room = used * length // experts
    params = {"router": array(dim, experts), "up": array(experts, dim, hidden), "down": array(experts, hidden, dim), "head": array(dim, dim)}

    def loss(params, x, target):
        gates = jax.nn.softmax(x @ params["router"])
        weights, chosen = lax.top_k(gates, used)
        hot = jax.nn.one_hot(chosen, experts)  # b s k e
        rank = jnp.cumsum(hot.reshape(batch, length * used, experts), 1).reshape(hot.shape) - 1
        slots = jax.nn.one_hot(jnp.where(hot > 0, rank, -1).astype(jnp.int32), room) * hot[..., None]  # b s k e c
        combine = jnp.einsum("bskec,bsk->bsec", slots, weights)
        taken = jnp.einsum("bsec,bsd->ebcd", slots.sum(2), x)
        h = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", taken, params["up"]))
        out = jnp.einsum("bsec,ebcd->bsd", combine, jnp.einsum("ebcf,efd->ebcd", h, params["down"]))
        return ((x + out) @ params["head"] - target).__pow__(2).mean()

    return train(loss), (params, array(batch, length, dim), array(batch, length, dim))


def dlrm_step(batch=4096, tables=4, rows=65536, dim=64, bag=8, dense=64):
    params = {"tables": [array(rows, dim)] * tables, "bottom1": array(dense, 512), "bottom2": array(512, dim),
              "top1": array(dim + (tables + 1) * tables // 2, 512), "top2": array(512, 1)}  # fmt: skip

    def loss(params, features, ids, labels):
        x = jax.nn.relu(jax.nn.relu(features @ params["bottom1"]) @ params["bottom2"])
        bags = [params["tables"][t][ids[:, t]].sum(1) for t in range(tables)]
        vectors = jnp.stack([x, *bags], 1)
        products = jnp.einsum("bid,bjd->bij", vectors, vectors)
        rows, cols = np.tril_indices(tables + 1, -1)
        top = jax.nn.relu(jnp.concatenate([x, products[:, rows, cols]], 1) @ params["top1"]) @ params["top2"]
        return jnp.square(jax.nn.sigmoid(top[:, 0]) - labels).mean()

    return train(loss), (params, array(batch, dense), indices(batch, tables, bag), array(batch))


def convolve(x, w, stride=1, dilate=1):
    """`dilate`: zeros between the elements of x, as for a transposed convolution."""
    padding = "SAME" if dilate == 1 else [(2, 2)] * 2
    return lax.conv_general_dilated(x, w, (stride,) * 2, padding, lhs_dilation=(dilate,) * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def resnet_step(batch=32, size=64, channels=64, classes=1024):
    params = {"stem": array(3, 3, 4, channels), "head": array(2 * channels, classes), "scale": array(channels),
              "block1": [array(3, 3, channels, channels)] * 2,
              "block2": [array(3, 3, channels, 2 * channels), array(3, 3, 2 * channels, 2 * channels)],
              "skip": array(1, 1, channels, 2 * channels)}  # fmt: skip

    def loss(params, images, labels):
        x = jax.nn.relu(convolve(images, params["stem"]) * params["scale"])
        x = jax.nn.relu(x + convolve(jax.nn.relu(convolve(x, params["block1"][0])), params["block1"][1]))
        h = convolve(jax.nn.relu(convolve(x, params["block2"][0], 2)), params["block2"][1])
        x = jax.nn.relu(h + convolve(x, params["skip"], 2))
        return cross_entropy(x.mean((1, 2)) @ params["head"], labels)

    return train(loss), (params, array(batch, size, size, 4), indices(batch))


def unet(batch=16, size=64, channels=32):
    params = {"enter": array(3, 3, 4, channels), "down": array(3, 3, channels, 2 * channels), "middle": array(3, 3, 2 * channels, 2 * channels),
              "up": array(4, 4, 2 * channels, channels), "join": array(3, 3, 2 * channels, channels), "leave": array(1, 1, channels, 4)}  # fmt: skip

    def apply(params, images):
        fine = jax.nn.relu(convolve(images, params["enter"]))
        coarse = jax.nn.relu(convolve(fine, params["down"], 2))
        coarse = jax.nn.relu(convolve(coarse, params["middle"]))
        up = jax.nn.relu(convolve(coarse, params["up"], 1, 2))
        return convolve(jax.nn.relu(convolve(jnp.concatenate([fine, up], -1), params["join"])), params["leave"])

    return apply, (params, array(batch, size, size, 4))


def state_space(batch=32, length=512, dim=512, inner=1024, states=8, width=4):
    """A gated block as in Mamba: a causal convolution per channel, then a linear recurrence by an associative scan."""
    params = {"enter": array(dim, 2 * inner), "kernel": array(width, inner), "rate": array(inner, 1), "select": array(inner, 2 * states),
              "decay": array(inner, states), "leave": array(inner, dim)}  # fmt: skip

    def apply(params, x):
        h, gate = jnp.split(x @ params["enter"], 2, -1)
        padded = jnp.pad(h, ((0, 0), (width - 1, 0), (0, 0)))
        h = jax.nn.silu(sum(padded[:, i : i + length] * params["kernel"][i] for i in range(width)))
        step = jax.nn.softplus(h @ params["rate"])
        b, c = jnp.split(h @ params["select"], 2, -1)
        keep = jnp.exp(-step[..., None] * jnp.exp(params["decay"]))
        push = (step * h)[..., None] * b[:, :, None, :]
        _, state = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (keep, push), axis=1)
        return x + ((state * c[:, :, None, :]).sum(-1) * jax.nn.silu(gate)) @ params["leave"]

    return apply, (params, array(batch, length, dim))


def lstm_step(batch=256, length=32, dim=512):
    params = {"inputs": array(dim, 4 * dim), "state": array(dim, 4 * dim), "bias": array(4 * dim), "head": array(dim, dim)}

    def loss(params, x, target):
        def cell(carry, x):
            h, c = carry
            i, f, o, g = jnp.split(x @ params["inputs"] + h @ params["state"] + params["bias"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((batch, dim))
        _, states = lax.scan(cell, (zero, zero), x)
        return jnp.square(states @ params["head"] - target).mean()

    return train(loss), (params, array(length, batch, dim), array(length, batch, dim))


def layer_scan_step(layers=8, batch=32, length=128, dim=512, heads=8):
    params = attention_weights(dim, layers) | {"up": array(layers, dim, 4 * dim), "down": array(layers, 4 * dim, dim), "norm": array(layers, dim)}

    def loss(params, x, target):
        def layer(x, p):
            h = rms_norm(x, p["norm"])
            x = x + attend(h, h, p, heads, False)
            return x + jnp.tanh(x @ p["up"]) @ p["down"], None

        return jnp.square(lax.scan(layer, x, params)[0] - target).mean()

    return train(loss), (params, array(batch, length, dim), array(batch, length, dim))


MODELS = {f.__name__: f for f in (gpt_step, llama, encoder_decoder_step, moe_step, dlrm_step, resnet_step, unet, state_space, lstm_step, layer_scan_step)}


# --- single ops with few annotations ----------------------------------------------------------------

INT = np.int32
LINE, GRID = {"x": 4}, {"dp": 2, "tp": 2}
ROWS, WIDTH, PICKED = 65536, 512, 256


def embedding_step(table, ids, grads):
    return table - RATE * jax.grad(lambda t: jnp.sum(jnp.take(t, ids, 0) * grads))(table)


def accumulate(count, size):
    """Gradients of microbatches of `size` rows, summed by a loop."""

    def run(weight, x):
        def add(total, part):
            return total + jax.grad(lambda w: jnp.mean(jnp.tanh(part @ w) ** 2))(weight), None

        return lax.scan(add, jnp.zeros_like(weight), x[: count * size].reshape(count, size, x.shape[1]))[0]

    return run


def experts_of(copies):
    return lambda x, w: jnp.einsum("etd,edf->etf", copies(x).reshape(32, *x.shape), w)


def updates(axis):
    return ((PICKED,), (axis,), INT), ((PICKED, WIDTH), (axis,))


def lookups(axis):
    return ((64, 32), (axis,), INT), ((64, 32, WIDTH), (axis,))


OPS = [
    ("scatter add, rows on dp, updates on tp", GRID, lambda x, i, u: x.at[i].add(u), [((ROWS, WIDTH), ("dp",)), *updates("tp")], ("dp",)),
    ("scatter set, rows on dp, updates on tp", GRID, lambda x, i, u: x.at[i].set(u), [((ROWS, WIDTH), ("dp",)), *updates("tp")], ("dp",)),
    ("scatter max, rows on dp, updates on tp", GRID, lambda x, i, u: x.at[i].max(u), [((ROWS, WIDTH), ("dp",)), *updates("tp")], ("dp",)),
    ("segment sum to a replicated result", LINE, lambda i, u: jax.ops.segment_sum(u, i, num_segments=ROWS), [*updates("x")], ()),
    ("scatter add to a replicated tensor", LINE, lambda x, i, u: x.at[i].add(u), [((ROWS, WIDTH), ()), *updates("x")], ()),
    ("scatter add, rows and updates on one axis", LINE, lambda x, i, u: x.at[i].add(u), [((ROWS, WIDTH), ("x",)), *updates("x")], ("x",)),
    ("embedding step, rows on tp, batch on dp", GRID, embedding_step, [((ROWS, WIDTH), ("tp",)), *lookups("dp")], None),
    ("embedding step, rows and batch on one axis", LINE, embedding_step, [((ROWS, WIDTH), ("x",)), *lookups("x")], None),
    ("embedding step, small replicated table", LINE, embedding_step, [((64, WIDTH), ()), *lookups("x")], ()),
    ("concatenation of three copies", LINE, lambda x: jnp.concatenate([jnp.concatenate([x, x]), x]), [((1024, 512), ())], ("x",)),
    ("concatenation of tanh and sin", LINE, lambda x: jnp.concatenate([jnp.tanh(x), jnp.sin(x)]), [((1024, 512), ())], ("x",)),
    ("32 copies for 32 experts", LINE, experts_of(lambda x: jnp.concatenate([x] * 32)), [((128, 512), ()), ((32, 512, 512), ("x",))], None),
    ("a tile for 32 experts", LINE, experts_of(lambda x: jnp.tile(x, (32, 1))), [((128, 512), ()), ((32, 512, 512), ("x",))], None),
    ("product split in three", LINE, lambda x, w: jnp.split(x @ w, 3, 1), [((1024, 512), ()), ((512, 768), (None, "x"))], None),
    ("slice: a fifth of a sharded dim", LINE, lambda x: x[:, 384:540] * 1, [((1024, 768), (None, "x"))], None),
    ("slice: half of a sharded dim", LINE, lambda x: x[:, :384] * 1, [((1024, 768), (None, "x"))], None),
    ("two microbatches of a sharded batch", LINE, accumulate(2, 4096), [((1024, 1024), ()), ((8192, 1024), ("x",))], None),
    ("three microbatches of a sharded batch", LINE, accumulate(3, 2728), [((1024, 1024), ()), ((8192, 1024), ("x",))], None),
    ("scan of a stack that is sharded along layers", LINE, lambda w, h: lax.scan(lambda h, w: (jnp.tanh(h @ w), None), h, w)[0],
     [((32, 1024, 1024), ("x",)), ((16, 1024), ())], None),
    ("top 5 along a sharded dim", LINE, lambda x: lax.top_k(x, 5), [((8, 131072), (None, "x"))], None),
    ("argmax along a sharded dim", LINE, lambda x: jnp.argmax(x, 1), [((8, 131072), (None, "x"))], None),
]  # fmt: skip
