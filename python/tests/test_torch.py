#!/usr/bin/env python3
"""Plans, placements and errors of the import from PyTorch. Needs the wheels."""

import copy
import inspect
import math
import sys
from collections import OrderedDict
from unittest import mock

import numpy as np
import samples
import torch
from torch import nn
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel

import shardkit

MODULE = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
X = torch.randn(4, 8)
BOTH = {"mesh": {"data": 2, "model": 2}, "locations": False}


class Svd(nn.Module):
    def forward(self, x):
        return torch.linalg.svd(x)[1]


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, *more):
        return self.function(x, *more)


class Scaled(nn.Module):
    """A number among the arguments, and a weight of two names."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(16, 8), nn.Linear(8, 16, bias=False)
        self.out.weight = self.table.weight

    def forward(self, tokens, scale=1.0):
        return self.out(self.table(tokens)) * scale


# Equals, and what is no number; one dim of 300 for the network, one of 8 that is counted.
ODD = torch.randint(-40, 40, (8, 300)).float()
ODD[1, 3], ODD[2, 7], ODD[2, 9], ODD[4, 2] = -torch.inf, torch.nan, torch.nan, -torch.nan
INDEX = torch.tensor([[0, 3], [5, 5], [7, 1], [2, 2], [0, 0], [299, 4], [1, 2], [6, 6]])
RESIDUAL_OPS = {
    "sort": lambda x: torch.sort(x, dim=1, stable=True),
    "sort_short": lambda x: torch.sort(x, dim=0, stable=True, descending=True),
    "sort_integers": lambda x: torch.sort(torch.nan_to_num(x).long(), dim=1, stable=True, descending=True),
    "topk": lambda x: torch.topk(x, 3, 1)[0],
    "cumsum": lambda x: (x > 0).cumsum(1),
    "cumsum_rest": lambda x: torch.round(torch.nan_to_num(x, neginf=0))[:, :131].cumsum(1),  # no block divides it
    "cumsum_short": lambda x: torch.nan_to_num(x, neginf=0).cumsum(0),
    "cumprod": lambda x: torch.sign(torch.nan_to_num(x) + 0.5).cumprod(0),
    "scatter_add": lambda x: torch.nan_to_num(x).scatter_add(1, INDEX, x[:, 20:22]),
    "scatter_largest": lambda x: torch.nan_to_num(x).scatter_reduce(1, INDEX, x[:, 20:22], "amax"),
    "put": lambda x: x.index_put((torch.tensor([1, -2]),), x[5:7]),
    "shifted": lambda x: torch.nn.functional.pad(x, (2, -2, -1, 0)),
    "largest_so_far": lambda x: torch.cummax(x, 1),
    "middle": lambda x: torch.median(torch.nan_to_num(x)[:, :7], 1)[0],
    "bytes": lambda x: (torch.nan_to_num(x, neginf=0) * 3 + 120).to(torch.uint8).float().to(torch.uint8) / 255,
    "byte_sums": lambda x: (torch.nan_to_num(x, neginf=0) * 3 + 120).to(torch.uint8).clamp(10, 200).sum(1),
    "booleans_put": lambda x: (x > 0).index_put((torch.tensor([1, -2]),), x[5:7] > 3, accumulate=True),
    "same": lambda x: [f(x, x) for f in (torch.eq, torch.ne, torch.ge, torch.le, torch.gt, torch.lt, torch.sub, torch.div, torch.maximum)],
    "masked": lambda x: [x.masked_fill(x > 3, 1.5), x.index_put((x[:, 0] > 0,), x[0]), x.index_put((x > 5,), torch.tensor(2.0), accumulate=True)],
    "counts": lambda x: torch.histc(torch.nan_to_num(x, neginf=0), 16, -40, 40),
    "put_twice": lambda x: torch.nan_to_num(x).index_put((torch.tensor([1, 1]), torch.tensor([0, 0])), x[5:7, 0], accumulate=True),
}


class Experts(nn.Module):
    """Rows in groups that end where data say, each by a matrix of its own."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(4, 8, 12))

    def forward(self, x, counts):
        return torch._grouped_mm(x, self.weights, offs=counts.cumsum(0).to(torch.int32))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 8)
        self.register_buffer("scale", torch.full((8,), 2.0))

    def forward(self, tokens):
        return {"words": self.table(tokens) * self.scale}


def check_placements():
    plan = {"0.*": [Replicate(), Shard(0)], "2.weight": [Shard(0), Shard(1)]}
    model = shardkit.import_torch(MODULE, X, plan=plan, **BOTH)
    for name, sharding in (("0.weight", '[{"model"}, {}]'), ("0.bias", '[{"model"}]'), ("2.weight", '[{"data"}, {"model"}]')):
        assert f'spmd.sharding = #spmd.sharding<@mesh, {sharding}>, spmd.weight = "{name}"' in model.text, (name, model.text)
    assert torch.allclose(model.run(X), MODULE(X), atol=1e-6)


def check_styles():
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    model = shardkit.import_torch(MODULE, X, plan=plan, shardings={"input": ("data",)}, **BOTH)
    assert '<@mesh, [{?}, {"model"}]>' in model.text and 'replicated = {"model"}>' in model.text
    assert torch.allclose(model.run(X), MODULE(X), atol=1e-6)


def check_embedding():
    module, tokens = Words(), torch.tensor([[1, 15], [0, 3]])
    model = shardkit.import_torch(module, tokens, plan={"table": RowwiseParallel()}, mesh={"model": 2})
    assert [a.name for a in model.arguments] == ["table.weight", "scale", "tokens"]
    assert 'spmd.range = [0, 16]' in model.text
    assert np.array_equal(model.run(tokens)["words"].numpy(), module(tokens)["words"].detach().numpy())


def check_residual_ops():
    for name, function in RESIDUAL_OPS.items():
        for sharding in (("data",), (None, "model")):
            module = Function(function)
            found = shardkit.import_torch(module, ODD, shardings={"x": sharding}, **BOTH).run()
            leaves = torch.utils._pytree.tree_leaves
            for a, b in zip(leaves(found), leaves(module(ODD)), strict=True):
                assert a.dtype == b.dtype and torch.equal(torch.nan_to_num(a, 1e30), torch.nan_to_num(b, 1e30)), (name, sharding, a, b)


def check_experts():
    module, x, counts = Experts(), torch.randn(16, 8), torch.tensor([3, 0, 9, 4])
    expected = torch.cat([part @ w for part, w in zip(x.split(counts.tolist()), module.weights)])
    found = shardkit.import_torch(module, x, counts, plan={"weights": [Shard(0), Shard(2)]}, **BOTH).run()
    assert torch.allclose(found, expected, atol=1e-5), (found, expected)


NONE = torch.zeros(0, dtype=torch.long)
LENGTH, NARROW = torch.tensor(3), torch.tensor([True, False, True, True])


def by_language(x, language=1):
    """Rows go through the layer of their language, which the module itself names."""
    of, y = torch.ones(x.shape[0], dtype=torch.long) * language, torch.zeros_like(x)
    for i in range(3):
        y[of == i] = x[of == i] * (i + 2)
    return y


def count(x):
    """Written to by data: what is decided before counts, not after."""
    total = torch.zeros(4)
    total[1] = 7
    x = x * total.max().item()
    total += x[:, 0]
    return x, total


def sizes(x):
    """Sizes of levels, written into a tensor that was empty, and checked."""
    table = torch.empty((2, 2), dtype=torch.long)
    for i, (height, width) in enumerate(((2, 1), (1, 2))):
        table[i, 0], table[i, 1] = height, width
    torch._check(((table[:, 0] * table[:, 1]).sum() == x.shape[0]).item())
    ends = x.new_empty(2, dtype=torch.long)
    ends.copy_(table.prod(1))
    return torch.cat([v * (i + 1) for i, v in enumerate(x.split(ends.tolist()))])


def checked(x):
    """What a check of data computes is a flag, and a number of it."""
    torch._check((x.abs().sum() > 0).item())
    return x * 3


def asserted(x):
    """`torch._assert` is kept as `torch._check` is: of flags, of numbers, and of one element in dims."""
    torch._assert((x > -1e6).all(), "all elements are large")
    torch._assert(x.abs().sum() + 1, "the sum is not zero")
    torch.ops.aten._assert_async.default(x[:1, :1] < 1e6)
    return x * 5


# The module's own constants decide branches, numbers and sizes.
CONCRETE = {
    "branch": lambda x: x if (torch.arange(4) > 2).any() else -x,
    "number": lambda x: x * torch.ones(3).sum().item(),
    "loop": lambda x: sum(x * n for n in torch.arange(4).tolist()),
    "size": lambda x: x[: int(torch.arange(4).max())],
    "slice": lambda x: x[..., LENGTH - 2 : LENGTH],
    "pad": lambda x: torch.nn.functional.pad(x, (LENGTH - 1, LENGTH)),
    "mask": lambda x: x[NARROW] * 2,
    "selected": lambda x: x.masked_select(torch.ones(4, 8, dtype=torch.bool).tril()),
    "set": lambda x: x.clone().index_put_((NARROW,), x[:3]),
    "nonzero": lambda x: x[torch.nonzero(NARROW)[:, 0]],
    "one_hot": lambda x: torch.nn.functional.one_hot(torch.arange(4)).float() @ x,
    "language": by_language,
    "count": count,
    "sizes": sizes,
    "left_out": lambda x: x * (None if torch.compiler.is_compiling() else torch.arange(8)).abs(),
    "checked": checked,
    "asserted": asserted,
    "like": lambda x: x * int(torch.full_like(x, 3)[0, 0]),
    "empty": lambda x: torch.cat([torch.nn.functional.gelu(x[NONE]).reshape(0, 2, 4).flatten(1), x.index_put((NONE,), x[:0])]),
}


def check_concrete():
    x = torch.randn(4, 8)
    names = list(CONCRETE)
    module = Function(lambda x: [CONCRETE[name](x) for name in names])
    found, expected = shardkit.import_torch(module, x, **BOTH).run(), module(x)
    for name, a, b in zip(names, found, expected, strict=True):
        a, b = (v if isinstance(v, tuple) else (v,) for v in (a, b))
        assert all(torch.allclose(u, v, atol=1e-6) for u, v in zip(a, b, strict=True)), name


def check_constants():
    """Constants of equal elements, with numbers of other types."""
    ops = {n: getattr(torch, n) for n in ("add", "sub", "mul", "remainder", "eq", "ne", "lt", "le", "gt", "ge")} | {"sign": lambda c, _: torch.sign(c)}
    cases = [
        (name, dtype, number)
        for name in ops
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool)
        for number in (-1, 2, 0.5, True)
        if not (name == "sub" and number is True) and (dtype != torch.bool or name not in ("sub", "remainder", "sign"))
    ]

    def run(x):
        constants = {t: (torch.full((4,), 3, dtype=t), torch.tensor(1.0).to(t)) for t in (c[1] for c in cases)}
        return [(ops[name](c, number), x + ops[name](c, number)) for name, dtype, number in cases for c in constants[dtype]]

    module, x = Function(run), torch.randn(4)
    found, expected = shardkit.import_torch(module, x, locations=False).run(), module(x)
    for i, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        for a, b in zip(ours, theirs):
            assert a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-2 if a.dtype == torch.bfloat16 else 1e-5), (cases[i], a, b)


class Tables(torch.nn.Module):
    """Tensors that no checkpoint has: two of equal elements, one of another type, and one of flags."""

    def __init__(self):
        super().__init__()
        self.table = torch.randn(160, 128)
        self.register_buffer("same", self.table.clone(), persistent=False)
        self.register_buffer("narrow", torch.randn(160, 512).bfloat16(), persistent=False)
        self.register_buffer("mask", torch.rand(160, 512) > 0.5, persistent=False)

    def forward(self, x):
        return x @ self.table, torch.tanh(x) @ self.same, (x @ self.narrow.float())[0] * self.mask[:3]


def check_large_constants():
    """Large tensors are named in the IR, and the bundle has their elements once."""
    module, x = Tables(), torch.randn(4, 160)
    model = shardkit.import_torch(module, x, mesh={"data": 2}, shardings={"x": ("data",)})
    assert sorted(v.nbytes for v in model.constants.values()) == [81920, 81920, 163840] and "dense_resource" in model.text
    for a, b in zip(model.run(x), module(x), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4), (a, b)


def check_loops_of_experts():
    """Layers that visit the experts that tokens have chosen: each expert computes all tokens."""
    from transformers.models.dbrx.configuration_dbrx import DbrxFFNConfig
    from transformers.models.dbrx.modeling_dbrx import DbrxFFN
    from transformers.models.jetmoe.configuration_jetmoe import JetMoeConfig
    from transformers.models.jetmoe.modeling_jetmoe import JetMoeMoE
    from transformers.models.longcat_flash.configuration_longcat_flash import LongcatFlashConfig
    from transformers.models.longcat_flash.modeling_longcat_flash import LongcatFlashMoE
    from transformers.models.switch_transformers.configuration_switch_transformers import SwitchTransformersConfig
    from transformers.models.switch_transformers.modeling_switch_transformers import SwitchTransformersSparseMLP

    layers = {
        "dbrx": DbrxFFN(type("", (), {"ffn_config": DbrxFFNConfig(hidden_size=8, ffn_hidden_size=12, moe_num_experts=4, moe_top_k=2)})),
        "jetmoe": JetMoeMoE(JetMoeConfig(hidden_size=8, intermediate_size=12, num_local_experts=4, num_experts_per_tok=2)),
        "longcat": LongcatFlashMoE(LongcatFlashConfig(hidden_size=8, expert_ffn_hidden_size=12, n_routed_experts=3, zero_expert_num=1, moe_topk=2)),
        "switch": SwitchTransformersSparseMLP(SwitchTransformersConfig(d_model=8, d_ff=12, num_experts=4, expert_capacity=3)),
    }
    for name, layer in layers.items():
        for p in layer.parameters():
            torch.nn.init.normal_(p, std=0.3)
        x = torch.randn(2, 6, 8)
        layer.eval()
        model = shardkit.import_torch(layer, x, shardings={model_input(layer): ("data", None, "model")}, **BOTH)
        assert torch.allclose(model.run(), layer(x), atol=1e-5), name


def model_input(layer):
    return next(iter(inspect.signature(layer.forward).parameters))


def check_scaled():
    module, tokens = Scaled(), torch.tensor([[1, 15], [0, 3]])
    model = shardkit.import_torch(module, tokens, 2.5, plan={"out": ColwiseParallel(), "table": RowwiseParallel()}, **BOTH)
    assert [a.name for a in model.arguments] == ["table.weight", "tokens"]
    assert torch.allclose(model.run(tokens, 2.5), module(tokens, 2.5), atol=1e-6)
    model = shardkit.import_torch(module, tokens, kwargs={"scale": torch.tensor(2.5)}, **BOTH)
    assert [a.name for a in model.arguments] == ["table.weight", "tokens", "scale"]
    assert torch.allclose(model.run(tokens, scale=torch.tensor(3.0)), module(tokens, 3.0), atol=1e-6)


class Named(nn.Module):
    """Arguments of every kind; a buffer that checkpoints leave out, and one that they have."""

    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.rand(8), persistent=False)
        self.register_buffer("shift", torch.rand(8))

    def forward(self, a, b, *more, scale=2.0, extra=None):
        y = (a - 2 * b) * self.frequencies + self.shift
        for i, v in enumerate(more):
            y = y + (i + 3) * v
        return y * scale + (extra["u"] * 5 - extra["v"] if extra else 0)


def check_binding():
    """By position, by name, in any order; other constants or trees are refused."""
    module, (a, b, u, v) = Named(), torch.randn(4, 4, 8)
    model = shardkit.import_torch(module, a, b, kwargs={"extra": {"u": u, "v": v}}, **BOTH)
    assert [x.name for x in model.arguments] == ["shift", "a", "b", "extra.u", "extra.v"]
    with model.compile() as program:

        def check(message, *args, **kwargs):
            try:
                found = program(*args, **kwargs)
            except shardkit.ShardKitError as error:
                assert message and message in str(error), error
            else:
                assert not message and torch.allclose(found, module(*args, **kwargs), atol=1e-5)

        check("", a, b, extra={"u": u, "v": v})
        check("", b=b, a=a, extra={"v": v, "u": u})
        check("", a, extra={"v": u, "u": v}, b=u, scale=2.0)
        check("scale is 3.0, expected 2.0, with which Named.forward was imported", a, b, scale=3.0, extra={"u": u, "v": v})
        check("extra.v is missing", a, b, extra={"u": u, "w": v})
        check("extra.u is missing", a, b)
        check("more.0 is unexpected", a, b, u, extra={"u": u, "v": v})
        check("missing a required argument: 'b', expected a call of Named.forward(a, b, *more", a, extra={"u": u, "v": v})
        check("a is None, expected an array", None, b, extra={"u": u, "v": v})
        check("extra is OrderedDict('u': *, 'v': *), expected dict('u': *, 'v': *), as in the example call", a, b, extra=OrderedDict(u=u, v=v))
    model = shardkit.import_torch(module, a, b, u, v)
    assert [x.name for x in model.arguments] == ["shift", "a", "b", "more.0", "more.1"]
    assert torch.allclose(model.run(b, a, v, u), module(b, a, v, u), atol=1e-5)


def check_bfloat16():
    module, x = nn.Linear(8, 4).bfloat16(), X.bfloat16()
    found = shardkit.import_torch(module, x, **BOTH).run()
    assert found.dtype == torch.bfloat16 and torch.allclose(found, module(x), rtol=1e-2)


class Rotary(nn.Module):
    """Rotary embeddings as Llama first had them: products of complex numbers, the turns in a buffer."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(16.0), 10000 ** -torch.linspace(0, 1, 8))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns[:, None, :]).flatten(3)


COMPLEX = {
    "arithmetic": lambda x: (x * x.conj() + 1j, x @ x.T - 2, x / (x + 3), 1 / x, x**2, x == x),
    "functions": lambda x: [f(x) for f in (torch.exp, torch.log, torch.sin, torch.cosh, torch.tanh, torch.sqrt, torch.abs, torch.angle, torch.sgn)],
    "moves": lambda x: (x.T, x.flip(0), x[torch.tensor([2, 0])], torch.cat([x, x[:2]]), x.reshape(4, 16), torch.where(x.real > 0, x, 1j), x.real, x.imag),
    "sums": lambda x: (x.sum(0), x.mean(), x.cumsum(1), x.prod(0), torch.linalg.vector_norm(x)),
    "linear": lambda x: (nn.functional.linear(x, x, x[0]), torch.einsum("bi,bj->bij", x, x)),
    "made": lambda x: (torch.complex(x.real, -x.imag) * 2, torch.polar(x.abs(), x.angle())),
    "fourier": lambda x: [f(x) for f in (torch.fft.fft, torch.fft.ifft, torch.fft.irfft, torch.fft.fft2, torch.fft.ifft2, torch.fft.fftshift)],
    "fourier_of_real": lambda x: [f(x.real) for f in (torch.fft.rfft, torch.fft.rfft2, torch.fft.fft)] + [torch.fft.fft(x, n=11, dim=0, norm="ortho")],
    "windows": lambda x: torch.stft(x.real.reshape(1, 64), 16, 4, window=torch.hann_window(16), return_complex=True).abs(),
}


def check_complex():
    leaves = torch.utils._pytree.tree_leaves
    x = torch.randn(8, 8, dtype=torch.complex64)
    for name, function in COMPLEX.items():
        module = Function(function)
        found = shardkit.import_torch(module, x, shardings={"x": ("data", "model")}, **BOTH).run()
        for a, b in zip(leaves(found), leaves(module(x)), strict=True):
            scale = 1 if b.dtype == torch.bool else max(1, b.abs().max())
            assert a.dtype == b.dtype and torch.allclose(a, b, atol=2e-6 * scale), (name, a, b)
    module, x = Rotary(), torch.randn(2, 16, 4, 16)
    model = shardkit.import_torch(module, x, shardings={"x": ("data", None, "model"), "turns": (None, "model")}, **BOTH)
    assert torch.allclose(model.run(x), module(x), atol=1e-6)


class Bags(nn.Module):
    def __init__(self, **kwargs):
        super().__init__()
        self.table = nn.EmbeddingBag(10, 4, **kwargs)

    def forward(self, *args):
        return self.table(*args)


def check_bags():
    rows, line = torch.tensor([[4, 1, 4, 9, 0], [4, 4, 4, 4, 4], [2, 3, 5, 7, 8]]), torch.tensor([4, 1, 4, 9, 0, 4, 4, 2, 8])
    begins, factors = torch.tensor([0, 2, 2, 5, 7]), torch.randn(3, 5)
    for kwargs, args in [
        ({}, (rows,)), ({"mode": "mean", "padding_idx": 4}, (rows,)), ({"mode": "max", "padding_idx": 4}, (rows,)), ({"mode": "sum"}, (rows, None, factors)),
        ({"mode": "mean", "padding_idx": 4}, (line, begins)), ({"mode": "max", "padding_idx": -6}, (line, begins)),
        ({"mode": "sum", "include_last_offset": True}, (line, torch.tensor([0, 2, 2, 9]))),
    ]:  # fmt: skip
        module = Bags(**kwargs)
        found = shardkit.import_torch(module, *args, shardings={"table.weight": ("data", "model")}, **BOTH).run(*args)
        assert torch.allclose(found, module(*args), atol=1e-6), (kwargs, found, module(*args))


def check_integers():
    x, n = torch.tensor([[-3, -2, -1, 0], [1, 2, 3, 1 << 40]]), torch.tensor([[-1, 0, 41, 7], [-5, 62, 3, 2]])
    module = Function(lambda x, n: (x**3, x**n, 2 ** n.clamp(0), x.put(torch.tensor([1, -1]), torch.tensor([70, 80])), torch.angle(x)))
    found = shardkit.import_torch(module, x, n, shardings={"x": ("data", "model")}, **BOTH).run()
    for a, b in zip(found, module(x, n), strict=True):
        assert a.dtype == b.dtype and torch.equal(a, b), (a, b)


def check_windows():
    x = torch.randn(2, 4, 7, 7)
    for sizes in ((6, 5), (3, 7), 2):
        module = Function(lambda x: nn.functional.adaptive_max_pool2d(x, sizes, return_indices=True))
        found = shardkit.import_torch(module, x, shardings={"x": ("data", "model")}, **BOTH).run()
        assert all(torch.equal(a, b) for a, b in zip(found, module(x), strict=True)), sizes


class Two(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, t):
        return self.function(x, t)


def assign(x, t):
    x = x * 1
    x[:, torch.arange(6), t] = 2 * x[..., 1] + t
    return x


def check_indices():
    """Indices that say places: the batch stays cut, over devices and over microbatches."""
    rows, x = torch.arange(4), torch.randn(4, 6, 8)
    cases = [
        (lambda x, t: x[rows, t], torch.randint(-6, 6, (4,))),
        (lambda x, t: x[rows[:, None], t], torch.randint(0, 6, (4, 3))),
        (lambda x, t: x[rows[:, None].expand(4, 3), t, :2], torch.randint(0, 6, (4, 3), dtype=torch.int32)),
        (lambda x, t: x[rows[:, None], torch.arange(6), t], torch.randint(0, 8, (4, 6))),
        (lambda x, t: x.mT[:, torch.arange(8), t], torch.randint(0, 6, (8,))),
        (lambda x, t: x[rows[:, None, None, None], torch.arange(6)] + t[:, None, None, None, None], torch.randint(0, 6, (4,))),
        (lambda x, t: x[rows[None, :, None], torch.arange(6)[:, None, None]].transpose(0, 1) * t[:, None, None, None], torch.randint(0, 6, (4,))),
        (lambda x, t: x.index_put((rows, t), torch.ones(8)), torch.randint(0, 6, (4,))),
        (lambda x, t: x.index_put((rows[:, None], t), x[:, :3] * 2, accumulate=True), torch.randint(0, 6, (4, 3))),
        (lambda x, t: x.index_put((rows[None, :], torch.arange(6)[:, None]), x.transpose(0, 1) * t, accumulate=True), torch.randint(0, 6, (4, 1))),
    ]
    put = torch.ops.aten.index_put  # which takes dims without an index
    # Along a dim, and along several: a slice of what counts up.
    few, many, spread = torch.tensor([3, -1, 5]), torch.randint(-6, 6, (20,)), torch.tensor([4, 0, 2])
    cases += [
        (lambda x, t: x[:, t], few),
        (lambda x, t: x[:, t.reshape(4, 5)], many),
        (lambda x, t: x[:, [-2]] + x[:, torch.arange(1, 6, 2)] * t.sum(), few),
        (lambda x, t: x[:, t[:, None], torch.tensor([0, 4])], few),
        (lambda x, t: x[:, t, t - 1], few),
        (lambda x, t: put(x, (None, t), torch.ones(4, 20, 8) * many[:, None]), torch.randperm(20) % 6),
        (lambda x, t: put(x, (None, t), x[:, :3] * 2, accumulate=True), few),
        (lambda x, t: put(x, (None, t), torch.ones(8), accumulate=True), many),
        (lambda x, t: put(x, (None, t[:, None], spread), torch.ones(4, 3, 3), accumulate=True), few),
        (lambda x, t: put(x, (None, torch.arange(2, 6)), t.sum() + torch.ones(8)), few),
        (lambda x, t: x.index_add(2, torch.arange(1, 4), x[:, :, :3], alpha=3) + t.sum(), few),
        (lambda x, t: x.index_add(1, t % 6, x.repeat(1, 4, 1)[:, :20]), many),
        (lambda x, t: x.index_copy(1, t % 6, x[:, :3].exp()), few),
        (lambda x, t: x.reshape(4, 3, 2, 8)[rows[:, None, None], torch.arange(3)[:, None], t % 2, t + 1], few),
        (lambda x, t: x.unsqueeze(1)[rows[:, None, None, None], torch.zeros(1, dtype=torch.int64), t[:, None], spread] * 2, few),
        (lambda x, t: x.reshape(4, 3, 2, 8).index_put((rows[:, None, None], torch.arange(3)[:, None], t % 2, t + 1), x[:, :3, :3], accumulate=True), few),
        (lambda x, t: nn.functional.grid_sample(x.unsqueeze(1), x[:, :, :2].unsqueeze(1).tanh(), align_corners=False) + t.sum(), few),
        (lambda x, t: nn.functional.interpolate(x.unsqueeze(1), size=(40, 44), mode="bilinear") + t.sum(), few),
        (lambda x, t: nn.functional.interpolate(x.unsqueeze(1), size=(9, 7), mode="bicubic") + t.sum(), few),
    ]
    for i, (function, t) in enumerate(cases):
        batch = ["x", "t"] if t.shape[0] == 4 else ["x"]
        model = shardkit.import_torch(Two(function), x, t, mesh={"data": 2, "model": 2}, shardings={"x": ("data", None, "model")}, batch=batch)
        expected = function(x.clone(), t)
        for options in [], ["--pipeline=microbatches=2"]:
            worst = float((model.run(x, t, options=options) - expected).abs().max())
            assert worst < 1e-5, f"case {i} is off by {worst} with {options}"
    # What is no number stays where it goes.
    values = torch.randn(4, 20, 8)
    values[1, 3, 2], values[2, 5, 1], values[0, 0, 0] = math.inf, math.nan, -math.inf
    add = Two(lambda x, t: x.index_add(1, t % 6, values))
    found = shardkit.import_torch(add, x, many, mesh={"data": 2, "model": 2}, shardings={"x": ("data", None, "model")}).run(x, many)
    assert torch.allclose(found, add(x, many), atol=1e-5, equal_nan=True)
    t = torch.randint(0, 8, (6,))
    cut = shardkit.import_torch(Two(assign), x, t, mesh={"data": 2, "model": 2}, shardings={"x": ("data", None, "model")})
    assert torch.allclose(cut.run(x, t), assign(x, t), atol=1e-5)
    # No place says it alone: as ever.
    own = torch.tensor([3, 1, 0, 2])
    assert torch.equal(shardkit.import_torch(Two(lambda x, t: x[own, t]), x, cases[0][1]).run(x, cases[0][1]), x[own, cases[0][1]])


class Decoder(nn.Module):
    """A step with a cache: keys in a buffer, values in what a list holds, which is a buffer too; and a count that is another tensor then."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.register_buffer("keys", torch.zeros(4, 6, 8))
        self.register_buffer("values", torch.zeros(4, 6, 8))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.tensor(0.3))
        self.held = [self.values]

    def forward(self, x, place):
        self.keys.index_copy_(1, place, self.k(x))
        self.held[0][:, place] = self.v(x)
        scores = self.q(x) @ self.keys.mT * self.scale
        weights = torch.softmax(scores.masked_fill(torch.arange(6) > place, -math.inf), -1)
        self.count = self.count + 1
        return self.o(weights @ self.held[0])


def check_caches():
    """Steps of a module that keeps what came before, with the cache cut, go on from what they return; the module stays as it is."""
    module = Decoder().eval()
    own = copy.deepcopy(module)
    columns = {n: ColwiseParallel() for n in "qkv"} | {"o": RowwiseParallel()}
    cut = {"keys": ("data", None, "model"), "values": ("data", None, "model"), "x": ("data",)}
    model = shardkit.import_torch(module, torch.randn(4, 1, 8), torch.tensor([0]), plan=columns, shardings=cut, **BOTH)
    assert [(r.name, model.arguments[r.tied].name) for r in model.results[1:]] == [(n, n) for n in ("keys", "values", "count")]
    with model.compile() as program, torch.no_grad():
        for i in range(4):
            x, place = torch.randn(4, 1, 8), torch.tensor([i])
            found, new = program(x, place)
            model.update(new)
            worst = float((found - own(x, place)).abs().max())
            assert worst < 1e-6, f"step {i} is off by {worst}"
            for name, value in new.items():
                assert torch.allclose(value, getattr(own, name), atol=1e-6), (i, name)
    assert not module.keys.any() and not module.values.any() and not module.count, "the import has changed the module"


def written_in(path):
    """A module that has no lowering, in line 3 of a file."""
    scope = {"torch": torch}
    exec(compile("class M(torch.nn.Module):\n  def forward(self, x):\n    return torch.linalg.svdvals(x)", path, "exec"), scope)
    return scope["M"]()


def plan(value):
    return lambda: shardkit.import_torch(MODULE, X, plan=value, **BOTH)


class Taken(nn.Module):
    """An argument has the name of a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8))

    def forward(self, weight):
        return weight * self.weight


ERRORS = [
    (plan({"9.*": [Replicate()] * 2}), r"no parameter is called 9\.\*, expected one of: 0.weight, 0.bias"),
    (plan({"0.weight": [Shard(0)]}), r"0.weight has 1 placements, expected 2, one for each axis of the mesh"),
    (plan({"0.weight": [Partial(), Shard(0)]}), r"placement of 0.weight is .*, expected Shard or Replicate"),
    (plan({"0.weight": [Shard(5), Shard(0)]}), r"of 0.weight is of no dim, expected less than 2"),
    (plan({"7": ColwiseParallel()}), r"no module is called 7, expected one of: 0, 1, 2"),
    (plan({"1": ColwiseParallel()}), r"1 is a ReLU, expected a Linear or an Embedding for ColwiseParallel"),
    (plan({"0": PrepareModuleInput(input_layouts=(Shard(0),), desired_input_layouts=(Shard(0),))}), r"style of 0 is PrepareModuleInput"),
    (lambda: shardkit.import_torch(MODULE, X, plan={"0": ColwiseParallel()}), r"the plan has no mesh, expected mesh="),
    (lambda: shardkit.import_torch(MODULE, X, shardings={"q": ("data",)}, **BOTH), r"nothing is called q, expected one of: 0.weight"),
    (lambda: shardkit.import_torch(MODULE, X, shardings={"input": ("z",)}, **BOTH), r"names axis z, expected one of: data=2, model=2"),
    (lambda: shardkit.import_torch(MODULE, X, shardings={"input": (None,) * 3}, **BOTH), r"has 3 dims, expected at most 2"),
    (lambda: shardkit.import_torch(nn.BatchNorm1d(8), X), r"error: num_batches_tracked changes while the module runs in training mode, expected a loss, or none that changes: call module.eval"),
    (lambda: shardkit.import_torch(Function(lambda x: x.add_(1)), X), r"error: the module changes its arguments while it runs, expected none that it changes: return the new value"),
    (lambda: shardkit.import_torch(nn.Dropout(), X), r"\.py:\d+: error: random numbers have no lowering to linalg"),
    (lambda: shardkit.import_torch(Function(lambda x: x[x > 0]), X), r"test_torch\.py:\d+: error: aten\.index\.Tensor makes a tensor whose size depends on data"),
    (lambda: shardkit.import_torch(Function(lambda x: x.index_put((x > 0,), x[x > 0] * 2)), X), r"error: aten\.index\.Tensor makes a tensor whose size depends on data"),
    (lambda: shardkit.import_torch(Function(lambda x: x if x.sum() > 0 else -x), X), r"test_torch\.py:\d+: error: a branch, a number or a size depends on data, expected torch.where or torch.cond for a branch"),
    (lambda: shardkit.import_torch(Function(lambda x: x if torch.empty_like(x).copy_(x).sum() > 0 else -x), X), r"test_torch\.py:\d+: error: a branch, a number or a size depends on data"),
    (lambda: shardkit.import_torch(Function(lambda x: x[: int(x.sum())]), X), r"test_torch\.py:\d+: error: a branch, a number or a size depends on data"),
    (lambda: shardkit.import_torch(Function(lambda x: torch.zeros_like(torch.zeros(3, torch.arange(x.sum().clamp_min(1).long()).shape[0])) + 1), X), r"test_torch\.py:\d+: error: (a branch, a number or a size|aten.arange.default makes a tensor whose size) depends on data"),
    (lambda: shardkit.import_torch(Taken(), X), r"error: two arguments are called weight, expected distinct names"),
    (lambda: shardkit.import_torch(Function(lambda x: x["a.b"] - x["a"]["b"]), {"a.b": X, "a": {"b": X}}), r"error: two arguments are called x.a.b, expected"),
    (lambda: shardkit.import_torch(MODULE, X, batch="input"), r"error: batch is 'input', expected a list of strings"),
    (lambda: shardkit.import_torch(MODULE, X, mesh=[2, 2]), r"error: mesh is \[2, 2\], expected names and sizes of axes"),
    (lambda: shardkit.import_torch(MODULE, X, mesh="2x2"), r"error: mesh is '2x2', expected names and sizes of axes"),
    (lambda: shardkit.import_torch(MODULE, X, X), r"error: too many positional arguments, expected a call of"),
    (lambda: shardkit.import_torch(Function(abs), torch.float32), r"error: x is a dtype, expected a tensor, or a number, flag, string or None"),
    (lambda: shardkit.import_torch(Function(lambda x: (x, 3)), X), r"result 1 of the module is 3, expected tensors only"),
    (lambda: shardkit.import_torch(Function(abs), X.to(torch.complex128)), r"x has dtype complex128, expected one of float32"),
    (lambda: shardkit.import_torch(MODULE, X, axis="z", plan={"0": ColwiseParallel()}, **BOTH), r"the plan is on axis z, expected one of: data=2, model=2"),
    (lambda: shardkit.import_torch(MODULE, X, mesh={"data": 0}), r"axis data of the mesh has size 0, expected a positive number"),
    (lambda: shardkit.import_torch(Function(lambda x: (torch._assert(x.sum() < 1e9, "the sum is small"), x)[1]), X).run(X + 1e9), r"test_torch\.py:\d+:\d+: the sum is small"),
    (lambda: shardkit.import_torch(Function(lambda x: x[:, :3] * x if torch.compiler.is_exporting() else x), X), r"test_torch\.py:\d+: error: torch\.export: .*, expected inputs whose shapes fit on every path"),
    (lambda: shardkit.import_torch(Function(lambda x: torch.from_numpy(np.sin(x.numpy()))), X), r"test_torch\.py:\d+: error: torch\.export: .*, expected operations of torch in place of those of NumPy"),
    (lambda: shardkit.import_torch(Function(lambda x: x * float(str(x.sum()).split("(")[1].split(")")[0])), X), r"test_torch\.py:\d+: error: torch\.export: .*, expected a forward that computes by operations of torch alone"),
    (lambda: shardkit.import_torch(Svd(), X), r"test_torch\.py:\d+: error: aten\._linalg_svd has no lowering to linalg"),
    (lambda: shardkit.import_torch(Function(torch.linalg.inv), X @ X.T), r"test_torch\.py:\d+: error: aten\._linalg_check_errors has no lowering to linalg"),
    (lambda: shardkit.import_torch(written_in("/models/torch/net.py"), X), r"^/models/torch/net\.py:3: error: aten\._linalg_svd"),
]


class Layer(nn.Module):
    """Changes a part of what it makes, its cache, and, with `shared`, what the layers before have made."""

    def __init__(self, shared):
        super().__init__()
        self.up, self.down, self.shared = nn.Linear(8, 24), nn.Linear(24, 8), shared
        self.register_buffer("seen", torch.zeros(4, 8))

    def forward(self, x, offset):
        self.seen.mul_(0.5).add_(x)
        first, second = (self.up(x) + self.up.bias.sum()).split([8, 16], dim=-1)
        first.mul_(torch.tensor([2.0, 0.5] * 4))
        made = self.down(torch.cat([second.sigmoid(), first], dim=-1)) + offset
        return x.add_(made) if self.shared else x + made + self.seen


class Layers(nn.Module):
    """Two kinds of layers, eight in all."""

    def __init__(self, shared):
        super().__init__()
        self.layers = nn.ModuleList(Layer(shared) for _ in range(8))
        self.others = nn.ModuleList(nn.Linear(8, 8, bias=i == 5) for i in range(8))

    def forward(self, x):
        x, offset = x + 1, torch.arange(8.0).cos()
        for layer, other in zip(self.layers, self.others):
            x = other(layer(x, offset))
        return x.sum(-1)


def check_layers():
    """What equal layers have in common is decomposed once, and each is its own layer still."""
    run = torch.export.ExportedProgram.run_decompositions
    for shared in (False, True):
        module, calls = Layers(shared).eval(), []
        expected = copy.deepcopy(module)
        with mock.patch.object(torch.export.ExportedProgram, "run_decompositions", lambda *args: calls.append(args) or run(*args)):
            model = shardkit.import_torch(module, X, **BOTH)
        # Of the first layer with what is before it, the others, and those around the linear layer with a bias.
        assert 1 < len(calls) <= 6, len(calls)
        found, changed = model.run(X)
        with torch.no_grad():
            assert torch.allclose(found, expected(X), atol=1e-5)
        for i, layer in enumerate(expected.layers):
            assert torch.allclose(changed[f"layers.{i}.seen"], layer.seen, atol=1e-5), i


def main():
    checks = [globals()[n] for n in sys.argv[1:]] or [check_placements, check_styles, check_embedding, check_residual_ops, check_experts, check_loops_of_experts, check_concrete, check_constants, check_large_constants, check_scaled, check_binding, check_bfloat16, check_complex, check_bags, check_integers, check_windows, check_indices, check_caches, check_layers]
    failed = 0
    for check in checks:
        try:
            check()
        except Exception as error:
            failed += 1
            print(f"{check.__name__}: {type(error).__name__}: {str(error)[:600]}")
    for function, expected in ERRORS:
        if problem := samples.find_wrong_error(function, expected):
            failed += 1
            print(problem)
    total = len(checks) + len(ERRORS)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
