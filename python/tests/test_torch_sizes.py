#!/usr/bin/env python3
"""PyTorch modules of sizes that each call brings along: one program, at sizes below the number of devices too. Needs the wheels."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
from torch.export import Dim
from torch.nn.attention.varlen import varlen_attn

import shardkit
from samples import run_tests

MESH = {"data": 2, "model": 2}


def check_error(call, pattern: str) -> None:
    try:
        call()
    except shardkit.ShardKitError as error:
        assert re.search(pattern, str(error)), error
    else:
        raise AssertionError(f"no error, expected {pattern}")


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(16, 32), nn.Linear(32, 12), nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.tanh(self.up(self.norm(x))))


class Block(nn.Module):
    def __init__(self, is_causal: bool, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.embedding = nn.Embedding(50, width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding(ids)
        b, s, width = x.shape
        y = self.first(x)
        q, k, v = (f(y).view(b, s, self.heads, width // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(2, 3) / 8**0.5
        if self.is_causal:
            scores = scores.masked_fill(torch.ones(s, s, dtype=torch.bool).triu(1), float("-inf"))
        x = x + self.o((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, s, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


def test_batch() -> None:
    torch.manual_seed(0)
    module = Layers().eval()
    model = shardkit.import_torch(
        module, torch.randn(4, 16), mesh=MESH, plan={"up": ColwiseParallel(), "down": RowwiseParallel()}, axis="model",
        shardings={"x": ("data", None)}, dynamic_shapes={"x": {0: Dim("batch", min=1, max=64)}},
    )  # fmt: skip
    assert model.arguments[-1].shape == (-1, 16)
    with model.compile() as program:
        for batch in (1, 4, 5, 64, 5):
            x = torch.randn(batch, 16)
            torch.testing.assert_close(program(x), module(x), atol=1e-5, rtol=1e-5)
        check_error(lambda: program(torch.randn(65, 16)), "size 'batch' is 65, expected one from 1 to 64")
        check_error(lambda: program(torch.randn(3, 15)), r"x has shape \(3, 15\), expected \(-1, 16\)")


def test_batch_and_length() -> None:
    check_block(False, ("data", None))


def test_length_sharded() -> None:
    check_block(False, (None, "data"))


def test_causal() -> None:
    check_block(True, ("data", None))


def check_block(is_causal: bool, sharding: tuple[str | None, ...]) -> None:
    torch.manual_seed(0)
    module = Block(is_causal).eval()
    plan = {n: ColwiseParallel() for n in ("q", "k", "v", "up")} | {n: RowwiseParallel() for n in ("o", "down")}
    model = shardkit.import_torch(
        module, torch.randint(0, 50, (3, 5)), mesh=MESH, plan=plan, axis="model", shardings={"ids": sharding},
        dynamic_shapes={"ids": {0: Dim("batch", min=1, max=16), 1: Dim("length", min=1, max=64)}},
    )  # fmt: skip
    with model.compile() as program:
        for shape in ((1, 1), (1, 2), (3, 5), (4, 16), (7, 33), (16, 64)):
            ids = torch.randint(0, 50, shape)
            torch.testing.assert_close(program(ids), module(ids), atol=1e-5, rtol=1e-5)


class Sequences(nn.Module):
    """Attention of sequences that follow one another, with two query heads for each key head."""

    def __init__(self, window: tuple[int, int]) -> None:
        super().__init__()
        self.window = window
        self.q, self.k, self.v = nn.Linear(16, 64), nn.Linear(16, 32), nn.Linear(16, 32)

    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        q, k, v = (f(x).unflatten(-1, (-1, 16)) for f in (self.q, self.k, self.v))
        return varlen_attn(q, k, v, ends, ends, 64, 64, window_size=self.window, enable_gqa=True)

    def one_by_one(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        q, k, v = (f(x).unflatten(-1, (-1, 16)).transpose(0, 1) for f in (self.q, self.k, self.v))
        results = []
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist()):
            distance = torch.arange(b - a)[None] - torch.arange(b - a)[:, None]
            seen = (distance >= (-self.window[0] if self.window[0] >= 0 else -64)) & (distance <= (self.window[1] if self.window[1] >= 0 else 64))
            results.append(F.scaled_dot_product_attention(q[:, a:b], k[:, a:b], v[:, a:b], attn_mask=seen, enable_gqa=True).transpose(0, 1))
        return torch.cat(results)


def test_sequences_of_several_lengths() -> None:
    torch.manual_seed(0)
    for window in ((-1, -1), (-1, 0), (2, 0)):
        module = Sequences(window).eval()
        x, ends = torch.randn(12, 16), torch.tensor([0, 4, 5, 12], dtype=torch.int32)
        plan = {name: ColwiseParallel() for name in "qkv"}
        model = shardkit.import_torch(module, x, ends, mesh={"model": 2}, plan=plan, dynamic_shapes={"x": {0: Dim("t", min=1)}})
        with model.compile() as program, torch.no_grad():
            for given in ([0, 4, 5, 12], [0, 0, 3, 7], [0, 1, 20, 40]):
                x, ends = torch.randn(given[-1], 16), torch.tensor(given, dtype=torch.int32)
                np.testing.assert_allclose(np.asarray(program(x, ends)), module.one_by_one(x, ends), atol=1e-5, err_msg=f"{window} {given}")


def test_sums_and_slices() -> None:
    """What data are summed over, and sizes that a result has twice."""

    class Gram(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x @ x.T, x.sum(0), x.mean(1), torch.cat([x, y], 1), x.softmax(0), y[:, 1:3]

    b = Dim("b", min=1, max=32)
    x, y = torch.randn(6, 8), torch.randn(6, 4)
    model = shardkit.import_torch(Gram(), x, y, mesh=MESH, shardings={"x": (("data", "model"), None)}, dynamic_shapes={"x": {0: b}, "y": {0: b}})
    with model.compile() as program:
        for size in (1, 2, 6, 31):
            x, y = torch.randn(size, 8), torch.randn(size, 4)
            for found, wanted in zip(program(x, y), Gram()(x, y), strict=True):
                torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        check_error(lambda: program(torch.randn(5, 8), torch.randn(3, 4)), "dim 0 of argument 'y' is 3, expected 5, as dim 0 of argument 'x': both are 'b'")


def test_sizes_of_sizes() -> None:
    """A cache of one position less than what is attended, and twice as many rows as the batch, which no dim is alone."""

    class Cached(nn.Module):
        def forward(self, x: torch.Tensor, cache: torch.Tensor) -> tuple[torch.Tensor, ...]:
            keys = torch.cat([cache, x], 1)
            return keys.softmax(1), x[:, :, ::3].sum(1), keys[:, 1:] - keys[:, :-1]

    b, s = Dim("b", min=1, max=8), Dim("s", min=2, max=16)
    shapes = {"x": {0: 2 * b}, "cache": {0: 2 * b, 1: s - 1}}
    model = shardkit.import_torch(Cached(), torch.randn(6, 1, 7), torch.randn(6, 4, 7), mesh=MESH, shardings={"x": ("data", None, "model")}, dynamic_shapes=shapes)
    with model.compile() as program:
        for batch, length in ((1, 2), (3, 5), (8, 16)):
            given = torch.randn(2 * batch, 1, 7), torch.randn(2 * batch, length - 1, 7)
            for found, wanted in zip(program(*given), Cached()(*given), strict=True):
                torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
        check_error(lambda: program(torch.randn(5, 1, 7), torch.randn(5, 4, 7)), r"dim 0 of argument 'x' is 5, expected 2 \* b for a size 'b'")
        check_error(lambda: program(torch.randn(6, 1, 7), torch.randn(6, 16, 7)), "size 's' is 17, expected one from 2 to 16")


def test_bad_input() -> None:
    for given, message in [
        ({"y": {0: Dim("b", min=1, max=4)}}, "dynamic_shapes names y, expected one of: x"),
        ({"x": {2: Dim("b", min=1, max=4)}}, "dynamic_shapes of x has dim 2, expected 0 to 1"),
        ({"x": {0: 4}}, "dim 0 of x is 4, expected a torch.export.Dim"),
        ({"x": [0]}, r"dynamic_shapes of x is \[0\], expected dims"),
        (3, "dynamic_shapes is 3, expected inputs by name"),
        ({"x": {1: Dim("b", min=1, max=64)}}, "torch.export: "),  # the layer has 16 features
    ]:
        check_error(lambda: shardkit.import_torch(Layers().eval(), torch.randn(4, 16), dynamic_shapes=given), message)


def test_branches() -> None:
    """What a module does where a size is 1 must be what it does at others."""

    class Branch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2 if x.shape[0] == 1 else x + x.shape[0]

    sizes = {"x": {0: Dim("b", min=1, max=8)}}
    check_error(lambda: shardkit.import_torch(Branch(), torch.randn(4), dynamic_shapes=sizes), r"test_torch_sizes.py:\d+: error: a branch goes another way where size b is 1, expected a torch.export.Dim with min=2")
    shardkit.import_torch(Branch(), torch.randn(4), dynamic_shapes={"x": {0: Dim("b", min=2, max=8)}})


def test_a_training_step_has_known_sizes() -> None:
    sizes = {"x": {0: Dim("b", min=1, max=4)}}
    check_error(lambda: shardkit.import_torch(Layers(), torch.randn(4, 16), loss=lambda m, x: m(x).sum(), dynamic_shapes=sizes), "dynamic_shapes of a training step")


def test_the_caller_may_stay_on_the_devices() -> None:
    module = Layers().eval()
    model = shardkit.import_torch(module, torch.randn(4, 16), mesh=MESH, dynamic_shapes={"x": {0: Dim("batch", min=1, max=8)}})
    with model.compile() as program:
        x = torch.randn(3, 16)
        result = program(x, resident=True)
        np.testing.assert_allclose(np.asarray(result), module(x).detach().numpy(), atol=1e-5)


if __name__ == "__main__":
    run_tests(globals())
