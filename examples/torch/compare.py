#!/usr/bin/env python3
"""In PyTorch with DTensor's column and row plans, on 4 logical devices, against PyTorch: an encoder layer, a Llama block, and training
steps of a small Llama; one in two pipeline stages, on 8.

    compare.py            runs both and prints the largest difference
    compare.py export     writes models/NAME.mlir and pipelines/NAME.mlir with checksums, as tested always

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


class Llama(nn.Module):
    """Of several blocks; with `cuts` each begins a pipeline stage."""

    def __init__(self, dim=32, blocks=2, words=24, cuts=False):
        super().__init__()
        self.cuts, self.table = cuts, nn.Embedding(words, dim)
        self.blocks = nn.ModuleList(LlamaBlock(dim) for _ in range(blocks))
        self.norm, self.head = RmsNorm(dim), nn.Linear(dim, words, bias=False)

    def forward(self, tokens):
        x = self.table(tokens)
        for i, block in enumerate(self.blocks):
            x = block(shardkit.stage_boundary(x) if i and self.cuts else x)
        return self.head(self.norm(x))


def next_token(module, tokens, labels):
    """The mean over labels that count, which are fewer in some samples than in others."""
    labels = labels.masked_fill(labels >= 18, -100)
    return nn.functional.cross_entropy(module(tokens).flatten(0, 1), labels.flatten())


COLUMNS, ROWS = ColwiseParallel(), RowwiseParallel()
ATTENTION = {"q": COLUMNS, "k": COLUMNS, "v": COLUMNS, "o": ROWS}
FFN = {"w1": COLUMNS, "w3": COLUMNS, "w2": ROWS}


def under(prefix, plan):
    return {prefix + name: style for name, style in plan.items()}


BLOCKS = under("blocks.*.attention.", ATTENTION) | under("blocks.*.", FFN)
# With the sequence cut between the parts: sums are scattered, not completed.
SEQUENCE = RowwiseParallel(output_layouts=Shard(1))
STEP = {"plan": BLOCKS, "shardings": {"tokens": ("data",), "labels": ("data",)}}
VALUES, TOKENS = {"x": (4, 8, 32)}, {"tokens": (8, 8), "labels": (8, 8)}
CASES = {
    "models/encoder": (EncoderLayer, VALUES, {"plan": under("attention.", ATTENTION) | {"up": COLUMNS, "down": ROWS}, "shardings": {"x": ("data",)}}),
    "models/llama_block": (LlamaBlock, VALUES, {"plan": under("attention.", ATTENTION | {"o": SEQUENCE}) | FFN | {"w2": SEQUENCE, "ffn_norm": SequenceParallel()}, "shardings": {"x": ("data",)}}),
    "models/llama_step": (Llama, TOKENS, STEP),
    "pipelines/llama_stages": (lambda: Llama(cuts=True), TOKENS, STEP | {"batch": ["tokens", "labels"]}),
}  # fmt: skip


def make(name, shape, is_weight=True):
    dtype = "int64" if name in TOKENS else "float32"
    return torch.from_numpy(np.asarray(arguments.make_argument(name, tuple(shape), dtype, 24, is_weight)))


def fill(module, optimizer):
    """All values are functions of their names; the optimizer's those behind a step."""
    names = {p: n for n, p in module.named_parameters()}
    with torch.no_grad():
        for p, n in names.items():
            p.copy_(make(n, p.shape))
            p.grad = torch.zeros_like(p)
        if optimizer:
            optimizer.step()
            for p, n in names.items():
                p.copy_(make(n, p.shape))
                for key, value in optimizer.state[p].items():
                    value.copy_(make(f"state.{n}.{key}", value.shape))


def run_torch(module, optimizer, inputs):
    """By name: the result, and what a step has changed."""
    if optimizer is None:
        with torch.no_grad():
            return {"result": module(*inputs)}
    optimizer.zero_grad()
    loss = next_token(module, *inputs)
    loss.backward()
    optimizer.step()
    names = {p: n for n, p in module.named_parameters()}
    state = {f"state.{names[p]}.{k}": v for p, kept in optimizer.state.items() for k, v in kept.items()}
    return {"result": loss, **dict(module.named_parameters()), **state}


def main():
    failed = 0
    for path, (build, shapes, options) in CASES.items():
        module, is_step = build().eval(), "labels" in shapes
        optimizer = torch.optim.AdamW(module.parameters(), lr=0.01, weight_decay=0.1) if is_step else None
        fill(module, optimizer)
        inputs = [make(n, shape, is_weight=False) for n, shape in shapes.items()]
        is_cut = path.startswith("pipelines/")
        mesh = {"stage": 2, "data": 2, "model": 2} if is_cut else {"data": 2, "model": 2}
        step = {"loss": next_token, "optimizer": optimizer} if is_step else {}
        model = shardkit.import_torch(module, *inputs, mesh=mesh, locations=False, **options, **step)
        expected = {n: v.detach().numpy() for n, v in run_torch(module, optimizer, inputs).items()}
        if sys.argv[1:] == ["export"]:
            file = Path(__file__).parent / f"{path}.mlir"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"// {file.stem} of compare.py. Written by it.\n" + model.text)
            checksums = {n: arguments.checksum(n, v) for n, v in expected.items()}
            file.with_suffix(".json").write_text(json.dumps(checksums) + "\n")
            continue
        found = model.run(*inputs, options=["--pipeline=microbatches=4"] if is_cut else [])
        found = {"result": found[0], **found[1]} if is_step else {"result": found}
        errors = {n: np.abs(found[n].numpy() - v).max() / max(np.abs(v).max(), 1e-30) for n, v in expected.items()}
        name = max(errors, key=errors.get)
        failed += not errors[name] <= 1e-5
        print(f"{path} on {np.prod(list(mesh.values()))} devices against PyTorch: largest difference {errors[name]:.1e} of the largest element ({name})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
