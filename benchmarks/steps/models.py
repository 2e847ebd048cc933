"""The programs whose steps are timed, in JAX; the GPT block in PyTorch too.

`build(name, mesh, **sizes)` gives a function and its arguments, for one device where there is no mesh, else with the batch cut over
its axis `data`; `products(name, **sizes)` counts the floating point operations of its matrix products.
"""

import importlib.util
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P

ROOT = Path(__file__).resolve().parents[2]
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
SIZES = {
    "minilm": {"batch": 12, "length": 64},
    "gpt_block": {"batch": 1, "length": 128, "hidden": 256, "heads": 4, "dtype": "f32"},
    "chain": {"rows": 2048, "width": 2048, "layers": 4, "dtype": "f32"},
}


class Maker:
    """Arrays from one generator; what has the batch in dim 0 is cut, the rest is on every device."""

    def __init__(self, mesh, dtype="f32"):
        self.mesh, self.dtype, self.rng = mesh, DTYPES[dtype], np.random.default_rng(7)

    def place(self, value, *spec):
        return value if self.mesh is None else jax.device_put(value, NamedSharding(self.mesh, P(*spec)))

    def weight(self, *shape):
        return self.place((self.rng.standard_normal(shape) * shape[-1] ** -0.5).astype(self.dtype))

    def batch(self, value):
        return self.place(value, "data")


def load_minilm():
    spec = importlib.util.spec_from_file_location("minilm_trace", ROOT / "examples" / "minilm" / "trace.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def gpt_block_weights(hidden):
    shapes = {name: (hidden, hidden) for name in "qkvo"} | {"up": (hidden, 4 * hidden), "down": (4 * hidden, hidden)}
    shapes |= {name + "_bias": (shape[1],) for name, shape in shapes.items()}
    return shapes | {name: (hidden,) for name in ("scale1", "shift1", "scale2", "shift2")}


def gpt_block(mesh, batch, length, hidden, heads, dtype):
    make = Maker(mesh, dtype)
    weights = {name: make.weight(*shape) for name, shape in gpt_block_weights(hidden).items()}
    x = make.batch(make.rng.standard_normal((batch, length, hidden)).astype(make.dtype))
    return lambda x, w: gpt_block_step(x, w, heads), (x, weights)


def chain(mesh, rows, width, layers, dtype):
    make = Maker(mesh, dtype)

    def run(x, weights):
        for w in weights:
            x = x @ w
        return x

    x = make.batch(make.rng.standard_normal((rows, width)).astype(make.dtype))
    return run, (x, [make.weight(width, width) for _ in range(layers)])


def build(name, mesh=None, **sizes):
    return {"minilm": minilm, "gpt_block": gpt_block, "chain": chain}[name](mesh, **sizes)


def products(name, **s):
    """Two per product and sum; the causal half of the scores that is masked counts too."""
    if name == "minilm":
        m = load_minilm()
        token = 4 * m.HIDDEN * m.HIDDEN + 2 * m.HIDDEN * m.FFN + 2 * s["length"] * m.HIDDEN
        return 2 * m.LAYERS * s["batch"] * s["length"] * token
    if name == "gpt_block":
        return 2 * s["batch"] * s["length"] * (12 * s["hidden"] ** 2 + 2 * s["length"] * s["hidden"])
    return 2 * s["rows"] * s["width"] ** 2 * s["layers"]


def torch_gpt_block(batch, length, hidden, heads, dtype, device):
    """The same block, as PyTorch's users write it."""
    import torch
    from torch.nn import functional as F

    kind = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[dtype]
    w = {name: torch.randn(shape, device=device, dtype=kind) * shape[-1] ** -0.5 for name, shape in gpt_block_weights(hidden).items()}

    def step(x):
        inner = F.layer_norm(x, (hidden,), w["scale1"], w["shift1"])
        q, k, v = ((inner @ w[name] + w[name + "_bias"]).view(batch, length, heads, -1).transpose(1, 2) for name in "qkv")
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape) @ w["o"] + w["o_bias"]
        inner = F.layer_norm(x, (hidden,), w["scale2"], w["shift2"])
        return x + F.gelu(inner @ w["up"] + w["up_bias"], approximate="tanh") @ w["down"] + w["down_bias"]

    return step, torch.randn((batch, length, hidden), device=device, dtype=kind)
