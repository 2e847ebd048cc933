"""The programs whose steps are timed: their sizes, operations and weights; the GPT block in PyTorch. Needs neither JAX nor PyTorch.

`products(name, **sizes)` counts the floating point operations of its matrix products.
"""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZES = {
    "minilm": {"batch": 12, "length": 64},
    "gpt_block": {"batch": 1, "length": 128, "hidden": 256, "heads": 4, "dtype": "f32"},
    "chain": {"rows": 2048, "width": 2048, "layers": 4, "dtype": "f32"},
}


def load_minilm():
    spec = importlib.util.spec_from_file_location("minilm_trace", ROOT / "examples" / "minilm" / "trace.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gpt_block_weights(hidden):
    shapes = {name: (hidden, hidden) for name in "qkvo"} | {"up": (hidden, 4 * hidden), "down": (4 * hidden, hidden)}
    shapes |= {name + "_bias": (shape[1],) for name, shape in shapes.items()}
    return shapes | {name: (hidden,) for name in ("scale1", "shift1", "scale2", "shift2")}


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

    def make(*shape):  # As shard-run makes its inputs: what a GPU takes for its products depends on the numbers.
        return torch.rand(shape, device=device, dtype=kind) * 2 - 1

    w = {name: make(*shape) * shape[-1] ** -0.5 for name, shape in gpt_block_weights(hidden).items()}

    def step(x):
        inner = F.layer_norm(x, (hidden,), w["scale1"], w["shift1"])
        q, k, v = ((inner @ w[name] + w[name + "_bias"]).view(batch, length, heads, -1).transpose(1, 2) for name in "qkv")
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape) @ w["o"] + w["o_bias"]
        inner = F.layer_norm(x, (hidden,), w["scale2"], w["shift2"])
        return x + F.gelu(inner @ w["up"] + w["up_bias"], approximate="tanh") @ w["down"] + w["down_bias"]

    return step, make(batch, length, hidden)
