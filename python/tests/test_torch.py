#!/usr/bin/env python3
"""Plans, placements and errors of the import from PyTorch. Needs the wheels."""

import re
import sys

import numpy as np
import shardkit
import torch
from torch import nn
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel

MODULE = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
X = torch.randn(4, 8)
BOTH = {"mesh": {"data": 2, "model": 2}, "locations": False}


class Svd(nn.Module):
    def forward(self, x):
        return torch.linalg.svd(x)[1]


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


def plan(value):
    return lambda: shardkit.import_torch(MODULE, X, plan=value, **BOTH)


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
    (lambda: shardkit.import_torch(Svd(), X), r"test_torch\.py:\d+: error: aten\._linalg_svd has no lowering to linalg"),
]


def main():
    checks = [check_placements, check_styles, check_embedding]
    failed = 0
    for check in checks:
        try:
            check()
        except Exception as error:
            failed += 1
            print(f"{check.__name__}: {type(error).__name__}: {str(error)[:600]}")
    for function, expected in ERRORS:
        try:
            function()
            told = "nothing"
        except shardkit.ShardKitError as error:
            told = str(error)
        if not re.search(expected, told):
            failed += 1
            print(f"{told[:500]}\n    expected {expected}")
    total = len(checks) + len(ERRORS)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
