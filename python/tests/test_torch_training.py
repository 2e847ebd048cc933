#!/usr/bin/env python3
"""Training steps in PyTorch, on one device and sharded on four, against PyTorch's own: loss, parameters, buffers, what the optimizer
keeps; random numbers; errors. Needs the wheels.

test_torch_training.py [NAME...]
"""

import copy
import re
import sys
import warnings

import numpy as np
import samples
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
from torch.utils._pytree import tree_leaves

import shardkit

warnings.simplefilter("ignore")
torch.manual_seed(3)
MESH = {"data": 2, "model": 2}
X, Y = torch.randn(4, 6, 8), torch.randn(4, 6, 8)
TOKENS = torch.randint(0, 16, (4, 6))


def squares(module, x, y):
    return F.mse_loss(module(x), y)


class Tied(nn.Module):
    """A weight of two names, one that is not trained, and one that nothing reads; the loss comes first."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(16, 8), nn.Linear(8, 16, bias=False)
        self.out.weight = self.table.weight
        self.frozen = nn.Parameter(torch.randn(8), requires_grad=False)
        self.unused = nn.Parameter(torch.randn(3))

    def forward(self, x, y):
        logits = self.out(self.table(x) * self.frozen)
        return F.cross_entropy(logits.flatten(0, 1), y.flatten()), {"logits": logits}


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind(8, 8, batch_first=True)

    def forward(self, x):
        return self.layers(x)[0]


class Past(nn.Module):
    """A weight that is read by another way than by its name."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.held = [self.first.weight]

    def __deepcopy__(self, memo):
        other = Past()
        other.load_state_dict(self.state_dict())
        return other

    def forward(self, x):
        return torch.tanh(self.first(x)) @ self.held[0]


class Own(torch.optim.Optimizer):
    """An optimizer of a user: signs of an average of gradients."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                average = self.state[p].setdefault("average", torch.zeros_like(p))
                p.sub_(group["lr"] * (average * 0.9 + p.grad * 0.1).sign())
                average.mul_(0.99).add_(p.grad, alpha=0.01)


class Counts(Own):
    def step(self, closure=None):
        super().step()
        for s in self.state.values():
            s["count"] = s.get("count", 0) + 1


def mlp():
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))


def images():
    first = [nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=4), nn.GroupNorm(4, 16), nn.SiLU(), nn.ConvTranspose2d(16, 4, 2, stride=2)]
    return nn.Sequential(*first, *second, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 10))


def halves(module, x, y):
    with torch.autocast("cpu", torch.bfloat16):
        found = module(x)
    return F.mse_loss(found.float(), y)


def after_a_step(kind, **options):
    def make(parameters):
        parameters = list(parameters)
        optimizer = kind(parameters, **options)
        for p in parameters:
            p.grad = torch.full_like(p, 0.25)
        optimizer.step()
        optimizer.zero_grad()
        return optimizer

    return make


def with_groups(parameters):
    first, *rest = parameters
    return torch.optim.AdamW([{"params": [first], "lr": torch.tensor(0.01)}, {"params": rest, "lr": 0.1, "weight_decay": 0.0}], eps=1e-3)


OTHER = mlp()
KEPT = OTHER[0].weight.detach()[:4]
SGD = lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)  # noqa: E731
PLAN = {"0": ColwiseParallel(), "2": RowwiseParallel()}
BATCH = {"x": ("data",), "y": ("data",)}
OPTIMIZERS = {
    "sgd": SGD,
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "plain": lambda p: torch.optim.SGD(p, lr=0.1, maximize=True),
    "dampened": after_a_step(torch.optim.SGD, lr=0.1, momentum=0.9, dampening=0.5),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, eps=1e-3),
    "adamw": after_a_step(torch.optim.AdamW, lr=0.01, fused=True),
    "groups": with_groups,
    "muon": lambda p: torch.optim.Muon([q for q in p if q.dim() == 2], lr=0.01),
    "own": lambda p: Own(p, 0.01),
    **{k.lower(): lambda p, k=k: getattr(torch.optim, k)(p, lr=0.01) for k in ("Adagrad", "RMSprop", "Adadelta", "Adamax", "RAdam", "NAdam", "Rprop", "ASGD")},
}
class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.scale = nn.Linear(8, 8), nn.Parameter(torch.randn(6, 5, 2))

    def forward(self, x):
        y = torch.fft.rfft2(self.first(x), norm="ortho") * torch.view_as_complex(self.scale)
        return torch.fft.irfft2(y, s=(6, 8), norm="forward") + torch.fft.ifft(x, norm="backward").imag


class Sampled(nn.Module):
    """At places that the model says; resized, and picked along dims."""

    def __init__(self):
        super().__init__()
        self.conv, self.grid = nn.Conv2d(3, 4, 1), nn.Linear(3, 2)

    def forward(self, x):
        y = F.grid_sample(self.conv(x), self.grid(x.permute(0, 2, 3, 1)).tanh(), align_corners=False, padding_mode="border")
        y = F.interpolate(y, size=(9, 20), mode="bilinear")
        return F.interpolate(y[:, :, torch.tensor([8, 0, 3, 5, 1])], size=(5, 6), mode="bicubic")[:, [3, -3, 1, 0]]


class Normed(nn.Module):
    """Lengths and directions, and one number for each channel, which PyTorch keeps as strides say."""

    def __init__(self):
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(8, 6, 3), dim=2)
        self.pool = nn.AdaptiveAvgPool1d(1)

    def forward(self, x):
        return torch.as_strided(self.pool(self.conv(x).tanh()), (4, 6), (6, 1)) * 2


CASES = {
    "gradients": (mlp, (X, Y), squares, None, {"plan": PLAN, "shardings": BATCH}),
    "tied": (Tied, (TOKENS, TOKENS.flip(1)), None, lambda p: SGD([q for q in p if q.requires_grad]), {"shardings": {"x": ("data",), "table.weight": ("model",)}}),
    "images": (images, (torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))), lambda m, x, y: F.cross_entropy(m(x), y, label_smoothing=0.1), SGD, {"shardings": BATCH}),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (X, Y), squares, SGD, {"plan": {"linear1": ColwiseParallel(), "linear2": RowwiseParallel()}, "shardings": BATCH}),
    "decoder": (lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (X, Y), lambda m, x, y: (m(x, y) * X).pow(3).mean(), SGD, {"shardings": BATCH}),
    "lstm": (lambda: Recurrent(nn.LSTM), (X, Y), squares, SGD, {"shardings": BATCH}),
    "gru": (lambda: Recurrent(nn.GRU), (X, Y), squares, SGD, {"shardings": BATCH}),
    "bf16": (lambda: mlp().bfloat16(), (X.bfloat16(), Y.bfloat16()), squares, SGD, {"plan": PLAN}),
    "autocast": (mlp, (X, Y), halves, SGD, {"plan": PLAN, "shardings": BATCH}),
    "checkpoint": (mlp, (X, Y), lambda m, x, y: F.mse_loss(torch.utils.checkpoint.checkpoint(m, x, use_reentrant=False), y), SGD, {"plan": PLAN, "shardings": BATCH}),
    "past": (lambda: Past(), (X, Y), squares, SGD, {"plan": {"first": ColwiseParallel()}, "shardings": BATCH}),
    "fourier": (Spectral, (torch.randn(4, 6, 8), torch.randn(4, 6, 8)), squares, SGD, {"shardings": BATCH}),
    "weight_norm": (lambda: Normed(), (torch.randn(4, 8, 9), torch.randn(4, 6)), squares, SGD, {"shardings": BATCH}),
    "sampled": (Sampled, (torch.randn(4, 3, 5, 6), torch.randn(4, 4, 5, 6)), squares, SGD, {"shardings": BATCH}),
    "penalty": (mlp, (X, Y), lambda m, x, y: squares(m, x, y) + 0.1 * sum(p.abs().sum() for p in m.parameters()), SGD, {"plan": PLAN}),
    **{name: (mlp, (X, Y), squares, optimizer, {"plan": PLAN, "shardings": BATCH}) for name, optimizer in OPTIMIZERS.items()},
}


def train(module, optimizer, loss, inputs, steps):
    """PyTorch's own: the last loss, and by name what the steps have changed, or the gradients."""
    for _ in range(steps):
        for p in module.parameters():
            p.grad = None
        value = tree_leaves(loss(module, *inputs) if loss else module(*inputs))[0]
        value.backward()
        if optimizer:
            optimizer.step()
    parameters = dict(module.named_parameters())
    if optimizer is None:
        return value.detach(), {n: torch.zeros_like(p) if p.grad is None else p.grad for n, p in parameters.items()}
    names = {p: n for n, p in parameters.items()}
    state = {f"state.{names[p]}.{k}": v for p, kept in optimizer.state.items() for k, v in kept.items()}
    return value.detach(), parameters | dict(module.named_buffers()) | state


def find_problem(name):
    build, inputs, loss, make, options = CASES[name]
    module = build()
    steps = 3 if make else 1
    for where in ({}, {"mesh": MESH, **options}):
        own, before = copy.deepcopy(module), {n: v.clone() for n, v in module.state_dict().items()}
        optimizer = make(module.parameters()) if make else None
        other = make(own.parameters()) if make else None
        own.load_state_dict(module.state_dict())
        before = {n: v.clone() for n, v in module.state_dict().items()}
        model = shardkit.import_torch(module, *inputs, loss=loss or (None if make else lambda m, *a: m(*a)), optimizer=optimizer, **where)
        if any(not torch.equal(v, before[n]) for n, v in module.state_dict().items()):
            return "the import has changed the module"
        with model.compile() as program:
            for _ in range(steps):
                result, new = program(*inputs)
                if make:
                    model.update(new)
        expected, changed = train(own, other, loss, inputs, steps)
        wrong = [n for n in new if n not in changed] + [n for n, v in changed.items() if n not in new and not torch.equal(v.detach(), torch.as_tensor(before.get(n, v)))]
        if wrong:
            return f"{where}: {wrong[0]} should not have changed, or should have"
        short = name in ("bf16", "autocast", "muon")
        for n, found, value in [("loss", tree_leaves(result)[0], expected)] + [(n, new[n], changed[n]) for n in new]:
            found, value = found.double(), value.detach().double()
            if found.shape != value.shape or not torch.allclose(found, value, rtol=3e-2 if short else 1e-4, atol=(3e-2 if short else 3e-5) * float(value.abs().max())):
                return f"{where}: {n} is off by {float((found - value).abs().max())} of {float(value.abs().max())}"
    return None


class Random(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.out = nn.Parameter(torch.ones(64, 64)), nn.Linear(64, 64)

    def forward(self, x):
        kept = F.dropout(self.weight, 0.25)
        drawn = [torch.randn(64, 64), torch.rand(64, 64), torch.randint(3, 9, (64, 64)), torch.rand(64, 64).bernoulli_(0.1), torch.empty(64, 64).normal_(5, 2), torch.empty(64, 64).exponential_(2.0)]
        attended = F.scaled_dot_product_attention(x[None], x[None], self.out(x)[None], dropout_p=0.5)
        return (kept * drawn[0]).sum() + attended.sum(), kept, *drawn, attended


def check_random():
    """Of the right size and spread; zero gradients where dropped; equal on one device and on four; others in the next step."""
    module, x = Random(), torch.randn(32, 64)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    found = []
    for where in ({}, {"mesh": MESH, "shardings": {"weight": ("data", "model"), "x": ("data",)}}):
        model = shardkit.import_torch(module, x, optimizer=optimizer, **where)
        result, new = model.run(x)
        assert int(new["random.seed"]) == 1
        model.update(new | {"weight": module.weight.detach(), "out.weight": module.out.weight.detach(), "out.bias": module.out.bias.detach()})
        again, _ = model.run(x)
        assert all(not torch.equal(a, b) for a, b in zip(result, again)), "the same numbers in two steps"
        found.append([*result, *new.values()])
    worst = max(float((a.double() - b.double()).abs().max() / b.double().abs().max()) for a, b in zip(*found, strict=True))
    assert worst < 1e-5, f"one device and four differ by {worst}"
    loss, kept, normal, uniform, integers, coins, other, waits, attended = found[0][:9]
    weight = found[0][9 + list(new).index("weight")]
    assert torch.equal(kept == 0, weight == 1) and {round(float(v), 4) for v in kept.unique()} == {0.0, 1.3333}
    spread = [(kept, 1.0, 1 / 3**0.5), (normal, 0, 1), (uniform, 0.5, 12**-0.5), (integers.float(), 5.5, (35 / 12) ** 0.5), (coins, 0.1, 0.3), (other, 5, 2), (waits, 0.5, 0.5)]
    for values, mean, deviation in spread:
        assert abs(float(values.mean()) - mean) < 5 * deviation / 64 and abs(float(values.std()) / deviation - 1) < 0.1, (mean, deviation)
    assert set(integers.unique().tolist()) == set(range(3, 9))


def check_lines():
    """What an op of the backward pass moves has the line of the forward op."""
    model = shardkit.import_torch(mlp(), X, Y, loss=squares, mesh=MESH, shardings=BATCH)
    line = squares.__code__.co_firstlineno + 1
    assert f'test_torch_training.py":{line}:' in model.text, "no line of the loss"
    assert "/torch/nn/" not in model.text and "shardkit/torch" not in model.text, "lines that are not the user's"


def check_shardings():
    """What the optimizer keeps is cut as its parameter is, or as it is asked for."""
    make = lambda p: torch.optim.AdamW(p, lr=0.01)  # noqa: E731
    module = mlp()
    placed = {"mesh": MESH, "plan": {**PLAN, "state.2.weight.exp_avg*": [Shard(0), Shard(1)], "state.0.bias.*": [Replicate(), Replicate()]}}
    text = shardkit.import_torch(module, X, Y, loss=squares, optimizer=make(module.parameters()), **placed).text
    found = {n: s for s, n in re.findall(r'spmd\.sharding = #spmd\.sharding<@mesh, (\[[^>]*\])>, spmd\.weight = "([^"]+)"', text)}
    assert found["state.0.weight.exp_avg"] == found["0.weight"] == '[{"model"}, {}]', found
    assert found["state.2.weight.exp_avg_sq"] == '[{"data"}, {"model"}]' and found["state.0.bias.exp_avg"] == "[{}]", found


def asserted(module, x, y):
    torch._assert((x < 100).all(), "inputs are small")
    return squares(module, x, y)


ERRORS = [
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=asserted).run(X * 1e6, Y), r"test_torch_training\.py:\d+:\d+: inputs are small$"),
    (lambda: shardkit.import_torch(mlp(), X, loss=lambda m, x: m(x)), r"^error: the first result, of which gradients are taken, is a tensor of \(4, 6, 8\) torch.float32, expected a loss: one float$"),
    (lambda: shardkit.import_torch(mlp(), X, loss=lambda m, x: x.sum()), r"^error: the loss depends on no parameter that is trained, expected one that has a gradient$"),
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=squares, optimizer=SGD(mlp().parameters())), r"^error: the optimizer has a parameter of \(16, 8\) that the module has not, expected one over module.parameters\(\)$"),
    (lambda: with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1)), r"^error: a first step with dampening differs from later ones, expected an optimizer that has made one$"),
    (lambda: with_optimizer(torch.optim.Adafactor), r"^error: Adafactor does not reveal its state before its first step \(.*\), expected one that has made a step$"),
    (lambda: with_optimizer(torch.optim.LBFGS), r"^error: LBFGS does not reveal its state"),
    (lambda: with_optimizer(lambda p: Counts(p, lr=0.1)), r"^error: Counts changes count of 0.weight, the number \d+, expected what it changes to be tensors$"),
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=lambda m, x, y: squares(m, x, y) + OTHER[0].weight.sum()), r"^nothing"),
    (lambda: shardkit.import_torch(OTHER, X, Y, loss=lambda m, x, y: squares(m, x, y) + OTHER[2].bias.sum()), r"^nothing"),
    (lambda: shardkit.import_torch(OTHER, X, Y, loss=lambda m, x, y: squares(m, x, y) + KEPT.sum()), r"^error: 0.weight is read past the module that has it"),
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=squares, optimizer=1), r"^error: the optimizer is 1, expected one of torch.optim$"),
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=squares).update({"w": X}), r"^error: no weight is called w, expected one of: 0.weight, 0.bias, 2.weight, 2.bias$"),
    (lambda: shardkit.import_torch(mlp(), X, Y, loss=squares).update({"0.bias": X}), r"^error: 0.bias has shape \(4, 6, 8\), expected \(16,\)$"),
    (lambda: shardkit.import_torch(nn.Dropout(), X), r"random numbers"),
]  # fmt: skip


def with_optimizer(make):
    module = mlp()
    return shardkit.import_torch(module, X, Y, loss=squares, optimizer=make(module.parameters()))


def main():
    def find(name):
        if name in CASES:
            return find_problem(name)
        if name in CHECKS:
            try:
                return CHECKS[name]()
            except AssertionError as error:
                return f"{error}"
        return samples.find_wrong_error(*ERRORS[int(name)])

    return samples.run_cases([*CASES, *CHECKS, *map(str, range(len(ERRORS)))], find)


CHECKS = {f.__name__: f for f in (check_random, check_lines, check_shardings)}

if __name__ == "__main__":
    sys.exit(main())
