"""The programs whose steps are timed, in JAX.

`build(name, mesh, **sizes)` gives a function and its arguments, for one device where there is no mesh, else with the batch cut over
its axis `data`.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
from models import gpt_block_weights, load_minilm

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


class Maker:
    """Arrays from one generator, uniform as shard-run's; what has the batch in dim 0 is cut, the rest is on every device."""

    def __init__(self, mesh, dtype="f32"):
        self.mesh, self.dtype, self.rng = mesh, DTYPES[dtype], np.random.default_rng(7)

    def place(self, value, *spec):
        return value if self.mesh is None else jax.device_put(value, NamedSharding(self.mesh, P(*spec)))

    def uniform(self, *shape):
        return self.rng.random(shape, np.float32) * 2 - 1

    def weight(self, *shape):
        return self.place((self.uniform(*shape) * shape[-1] ** -0.5).astype(self.dtype))

    def batch(self, value):
        return self.place(value, "data")


def minilm(mesh, batch, length):
    module, make = load_minilm(), Maker(mesh)
    weights = {name: make.weight(*shape) for name, shape in module.weight_shapes().items()}
    ids = make.rng.integers(0, module.VOCAB, (batch, length), dtype=np.int32)
    mask = (np.arange(length)[None, :] < make.rng.integers(length // 2, length + 1, (batch, 1))).astype(np.int32)
    return module.encode, (make.batch(ids), make.batch(mask), weights)


def gpt_block_step(x, w, heads):
    """Attention of earlier tokens, then the feed-forward layer, each behind a layer norm and added to what came in; sums in f32."""

    def norm(x, scale, shift):
        wide = x.astype(jnp.float32)
        centered = wide - wide.mean(-1, keepdims=True)
        return (centered * jax.lax.rsqrt((centered * centered).mean(-1, keepdims=True) + 1e-5) * scale + shift).astype(x.dtype)

    batch, length, hidden = x.shape
    inner = norm(x, w["scale1"], w["shift1"])
    q, k, v = ((inner @ w[name] + w[name + "_bias"]).reshape(batch, length, heads, hidden // heads).transpose(0, 2, 1, 3) for name in "qkv")
    scores = (q @ k.swapaxes(2, 3)).astype(jnp.float32) * (hidden // heads) ** -0.5
    seen = jnp.tril(jnp.ones((length, length), bool))
    chances = jax.nn.softmax(jnp.where(seen, scores, -1e30), -1).astype(x.dtype)
    x = x + (chances @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ w["o"] + w["o_bias"]
    inner = norm(x, w["scale2"], w["shift2"])
    return x + jax.nn.gelu(inner @ w["up"] + w["up_bias"]) @ w["down"] + w["down_bias"]


def gpt_block(mesh, batch, length, hidden, heads, dtype):
    make = Maker(mesh, dtype)
    weights = {name: make.weight(*shape) for name, shape in gpt_block_weights(hidden).items()}
    x = make.batch(make.uniform(batch, length, hidden).astype(make.dtype))
    return lambda x, w: gpt_block_step(x, w, heads), (x, weights)


def chain(mesh, rows, width, layers, dtype):
    make = Maker(mesh, dtype)

    def run(x, weights):
        for w in weights:
            x = x @ w
        return x

    x = make.batch(make.uniform(rows, width).astype(make.dtype))
    return run, (x, [make.weight(width, width) for _ in range(layers)])


def build(name, mesh=None, **sizes):
    return {"minilm": minilm, "gpt_block": gpt_block, "chain": chain}[name](mesh, **sizes)
