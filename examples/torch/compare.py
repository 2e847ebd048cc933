#!/usr/bin/env python3
"""An encoder layer and a Llama block in PyTorch with DTensor's column and row plans, on 4 logical devices, against PyTorch.

    compare.py            runs both and prints the largest difference
    compare.py export     writes models/NAME.mlir and .json, as tested always

Needs: pip install torch torch-mlir
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import arguments  # noqa: E402
import shardkit  # noqa: E402

MESH = {"data": 2, "model": 2}


class Attention(nn.Module):
    """Grouped queries where `groups` is less than `heads`; rotary embeddings on request."""

    def __init__(self, dim, heads, groups, bias, rotary):
        super().__init__()
        self.heads, self.groups, self.size, self.rotary = heads, groups, dim // heads, rotary
        self.q = nn.Linear(dim, heads * self.size, bias=bias)
        self.k = nn.Linear(dim, groups * self.size, bias=bias)
        self.v = nn.Linear(dim, groups * self.size, bias=bias)
        self.o = nn.Linear(heads * self.size, dim, bias=bias)

    def rotate(self, x):
        length = x.shape[-2]
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, self.size, 2) / self.size)
        even, odd = x[..., ::2], x[..., 1::2]
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def forward(self, x, causal):
        batch, length, _ = x.shape
        q = self.q(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        k = self.k(x).view(batch, length, self.groups, self.size).transpose(1, 2)
        v = self.v(x).view(batch, length, self.groups, self.size).transpose(1, 2)
        if self.rotary:
            q, k = self.rotate(q), self.rotate(k)
        q = q.reshape(batch, self.groups, self.heads // self.groups, length, self.size)
        scores = q @ k[:, :, None].transpose(-1, -2) * self.size**-0.5
        if causal:
            scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -1e9)
        o = torch.softmax(scores, -1) @ v[:, :, None]
        return self.o(o.reshape(batch, self.heads, length, self.size).transpose(1, 2).reshape(batch, length, -1))


class EncoderLayer(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.attention = Attention(dim, heads, heads, bias=True, rotary=False)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        x = self.norm1(x + self.attention(x, causal=False))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class RmsNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.scale


class LlamaBlock(nn.Module):
    def __init__(self, dim=32, heads=8, groups=4, hidden=64):
        super().__init__()
        self.attention = Attention(dim, heads, groups, bias=False, rotary=True)
        self.attention_norm, self.ffn_norm = RmsNorm(dim), RmsNorm(dim)
        self.w1, self.w3 = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x), causal=True)
        h = self.ffn_norm(x)
        return x + self.w2(nn.functional.silu(self.w1(h)) * self.w3(h))


def build(name):
    """(module, plan) with weights that are functions of their names."""
    attention = {f"attention.{n}": ColwiseParallel() for n in "qkv"} | {"attention.o": RowwiseParallel()}
    if name == "encoder":
        module, plan = EncoderLayer(), attention | {"up": ColwiseParallel(), "down": RowwiseParallel()}
    else:
        # With the sequence cut between the parts: sums are scattered, not completed.
        module = LlamaBlock()
        plan = attention | {"attention.o": RowwiseParallel(output_layouts=Shard(1)), "ffn_norm": SequenceParallel()}
        plan |= {"w1": ColwiseParallel(), "w3": ColwiseParallel(), "w2": RowwiseParallel(output_layouts=Shard(1))}
    with torch.no_grad():
        for n, p in module.named_parameters():
            p.copy_(torch.from_numpy(arguments.make_argument(n, tuple(p.shape), "float32", 2, True)))
    return module.eval(), plan


def main():
    failed = 0
    directory = Path(__file__).with_name("models")
    for name in ("encoder", "llama_block"):
        module, plan = build(name)
        x = torch.from_numpy(arguments.make_argument("x", (4, 8, 32), "float32", 2, False))
        with torch.no_grad():
            expected = module(x).numpy()
        model = shardkit.import_torch(module, x, mesh=MESH, plan=plan, shardings={"x": ("data",)}, locations=False)
        if sys.argv[1:] == ["export"]:
            directory.mkdir(exist_ok=True)
            (directory / f"{name}.mlir").write_text(f"// {name} of compare.py. Written by it.\n" + model.text)
            (directory / f"{name}.json").write_text(json.dumps({"result": arguments.checksum("result", expected)}) + "\n")
            continue
        found = model.run(x).numpy()
        error = np.abs(found - expected).max() / np.abs(expected).max()
        failed += not error <= 1e-5
        print(f"{name} on 4 devices against PyTorch: largest difference {error:.1e} of the largest element")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
