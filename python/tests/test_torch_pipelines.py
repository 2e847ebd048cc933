#!/usr/bin/env python3
"""Modules of PyTorch in pipeline stages and microbatches, sharded in each stage, against PyTorch's own: results, losses, steps. Needs the
wheels.

test_torch_pipelines.py [NAME...]
"""

import copy
import importlib.util
import re
import sys
import warnings

import samples
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
from torch.utils._pytree import tree_leaves

import shardkit

warnings.simplefilter("ignore")
torch.manual_seed(5)
MESH = {"stage": 2, "data": 2, "model": 2}
TOKENS, LABELS = torch.randint(0, 24, (8, 8)), torch.randint(0, 24, (8, 8))
LABELS[:5, 4:] = -100  # fewer count in some microbatches than in others
X, Y = torch.randn(8, 6, 16), torch.randn(8, 6, 16)


class Block(nn.Module):
    def __init__(self, dropped):
        super().__init__()
        self.first, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.second, self.up, self.down, self.drop = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16), nn.Dropout(dropped)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.first(x)).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + self.drop(self.out(y))
        return x + self.drop(self.down(F.gelu(self.up(self.second(x)))))


class Transformer(nn.Module):
    """What crosses is a tensor, or a tuple of them; the last weight may be the first one."""

    def __init__(self, blocks=2, cuts=True, dropped=0.0, tied=False):
        super().__init__()
        self.cuts, self.table, self.places = cuts, nn.Embedding(24, 16), nn.Parameter(torch.randn(8, 16) * 0.1)
        self.blocks = nn.ModuleList(Block(dropped) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 24, bias=False)
        if tied:
            self.head.weight = self.table.weight

    def forward(self, tokens):
        x = self.table(tokens) + self.places
        for i, block in enumerate(self.blocks):
            if i and self.cuts:
                x, tokens = shardkit.stage_boundary((x, tokens))
            x = block(x)
        return self.head(self.norm(x)) * (tokens >= 0).unsqueeze(-1)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.last = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 16)

    def forward(self, x):
        x = shardkit.stage_boundary(self.down(torch.tanh(self.up(x))))
        return self.last(torch.tanh(x))


def entropy(module, tokens, labels):
    logits = module(tokens)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten()), logits


def squares(module, x, y):
    return F.mse_loss(module(x), y)


def clipped(parameters):
    def clip(optimizer, args, kwargs):
        torch.nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 0.2)

    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    optimizer.register_step_pre_hook(clip)
    return optimizer


SGD = lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)  # noqa: E731
PLAN = {"blocks.*.up": ColwiseParallel(), "blocks.*.down": RowwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
TEXT = {"batch": ["tokens", "labels"], "shardings": {"tokens": ("data",), "labels": ("data",)}}
class Experts(nn.Module):
    """A model of Hugging Face whose tokens choose experts, which devices share."""

    def __init__(self, name, **options):
        super().__init__()
        import transformers

        config = getattr(transformers, f"{name}Config")(
            hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=24, max_position_embeddings=16,
            use_cache=False, pad_token_id=0, bos_token_id=1, eos_token_id=2, **options
        )  # fmt: skip
        self.model = getattr(transformers, f"{name}ForCausalLM")(config)
        for parameter in self.parameters():
            if parameter.dim() == 3:
                nn.init.normal_(parameter, std=0.3)

    def forward(self, tokens):
        return self.model(tokens).logits


def spread(options):
    """With the experts of two layers over the devices of an axis."""
    names = [f"model.model.layers.{layer}.mlp.experts.{weight}" for layer in (0, 1) for weight in ("gate_up_proj", "down_proj")]
    return {**options, "shardings": {**options["shardings"], **{n: ("model", None, None) for n in names}}}


VALUES = {"batch": ["x", "y"], "shardings": {"x": ("data",)}}
CASES = {
    "inference": (Layers, (X,), None, None, {"batch": ["x"], "shardings": {"x": ("data",)}}, ["microbatches=4"]),
    "steps": (Transformer, (TOKENS, LABELS), entropy, SGD, TEXT, ["microbatches=4", "microbatches=2 schedule=gpipe"]),
    "adam": (Layers, (X, Y), squares, lambda p: torch.optim.AdamW(p, lr=0.01), VALUES, ["microbatches=4 schedule=1f1b-overlap"]),
    "gradients": (Layers, (X, Y), squares, None, VALUES, ["microbatches=2"]),
    "tied": (lambda: Transformer(tied=True), (TOKENS, LABELS), entropy, SGD, TEXT, ["microbatches=4"]),
    "clipped": (Transformer, (TOKENS, LABELS), entropy, clipped, TEXT, ["microbatches=4"]),
    "interleaved": (lambda: Transformer(blocks=4), (TOKENS, LABELS), entropy, SGD, TEXT, ["microbatches=4 virtual-stages=2 schedule=interleaved-1f1b"]),
    "found": (lambda: Transformer(cuts=False), (TOKENS, LABELS), entropy, SGD, TEXT, ["microbatches=4 stages=uniform num-stages=2", "microbatches=2 stages=auto"]),
    "experts": (lambda: Experts("Mixtral", num_local_experts=4), (TOKENS, LABELS), entropy, SGD, spread(TEXT), ["microbatches=4"]),
    "biased_experts": (lambda: Experts("GptOss", head_dim=8, num_local_experts=4, num_experts_per_tok=2, sliding_window=4), (TOKENS, LABELS), entropy, SGD, spread(TEXT), ["microbatches=2 stages=uniform num-stages=2"]),
    "accumulated": (lambda: Transformer(cuts=False), (TOKENS, LABELS), entropy, SGD, TEXT, ["microbatches=4"]),
}  # fmt: skip


def known(plan, module):
    names = [n for n, _ in module.named_modules()]
    return {p: s for p, s in plan.items() if any(re.fullmatch(p.replace(".", r"\.").replace("*", "[^.]*"), n) for n in names)}


def train(module, optimizer, loss, inputs):
    result = loss(module, *inputs)
    tree_leaves(result)[0].backward()
    gradients = {n: p.grad for n, p in module.named_parameters()}
    if optimizer is None:
        return result, gradients
    optimizer.step()
    return result, dict(module.named_parameters())


def compare(found, expected, what):
    for name, value in expected.items():
        worst = float((found[name].double() - value.detach().double()).abs().max())
        assert worst <= 1e-5 * max(1.0, float(value.abs().max())), f"{what}: {name} is off by {worst}"


def check(name):
    build, inputs, loss, make, options, pipelines = CASES[name]
    module = build()
    own = copy.deepcopy(module)
    optimizer = make(module.parameters()) if make else None
    model = shardkit.import_torch(module, *inputs, loss=loss, optimizer=optimizer, mesh=MESH, plan=known(PLAN, module), **options)
    if loss is None:
        expected, changed = own(*inputs), {}
    else:
        expected, changed = train(own, make(own.parameters()) if make else None, loss, inputs)
    for pipeline in pipelines:
        with model.compile([f"--pipeline={pipeline}"]) as program:
            for _ in range(2):  # the second begins with the same weights
                found = program(*inputs)
        result, new = found if loss else (found, {})
        compare(dict(enumerate(tree_leaves(result))), dict(enumerate(tree_leaves(expected))), pipeline)
        compare(new, changed, pipeline)


def check_dropped():
    """The same elements are dropped, whatever the stages and microbatches."""
    found = []
    for cuts, pipelines in (False, [[], ["--pipeline=microbatches=2 stages=uniform num-stages=2"]]), (True, [["--pipeline=microbatches=4 schedule=gpipe"], ["--pipeline=microbatches=4"]]):
        torch.manual_seed(7)
        module = Transformer(cuts=cuts, dropped=0.3)
        model = shardkit.import_torch(module, TOKENS, LABELS, loss=entropy, optimizer=SGD(module.parameters()), mesh=MESH, **TEXT)
        for pipeline in pipelines:
            (loss, logits), new = model.run(TOKENS, LABELS, options=pipeline)
            found.append((pipeline, {"loss": loss, "logits": logits, **new}))
    for pipeline, values in found[1:]:
        compare(values, found[0][1], pipeline)
    assert int(found[0][1]["random.seed"]) == 1


def with_boundary(module, x):
    return shardkit.stage_boundary(module(x)).sum(-1)


ERRORS = [
    (lambda: shardkit.import_torch(Layers(), X, batch=["z"]), r"^error: no input is called z, expected one of: x$"),
    (lambda: shardkit.import_torch(Layers(), X, torch.tensor(2.0), loss=with_boundary_of_a_scalar, batch=["y"]), r"^error: y is a scalar, expected batch to name tensors that count examples along dim 0$"),
    (lambda: shardkit.import_torch(nn.Linear(16, 16), X, loss=with_boundary), r"^error: the first result, of which gradients are taken, is a tensor"),
    (lambda: shardkit.import_torch(Layers(), X, mesh={"stage": 2}, batch=["x"]).compile([]), r"spmd.stage_boundary in the input of --spmd-propagate, expected --spmd-build-stages before it"),
    (lambda: shardkit.import_torch(Layers(), X, mesh={"stage": 2}).compile(["--pipeline=microbatches=2"]), r"no argument of @main carries spmd.microbatch, expected one at each argument that 2 microbatches split"),
    (lambda: shardkit.import_torch(Layers(), X, mesh={"stage": 3}, batch=["x"]).compile(["--pipeline=microbatches=2"]), r"the first axis of the cluster has 3 indices, which 2 stages do not divide"),
    (lambda: shardkit.import_torch(Layers(), X, mesh={"stage": 2}, batch=["x"]).compile(["--pipeline=microbatches=3"]), r"has size 8, which 3 microbatches do not divide, expected one of 1, 2, 4, 8"),
    (lambda: shardkit.import_torch(Layers(), X, mesh={"stage": 2, "data": 2}, shardings={"x": ("stage",)}, batch=["x"]).compile(["--pipeline=microbatches=2"]), r"unknown axis \"stage\", expected one of \"data\""),
]  # fmt: skip


def with_boundary_of_a_scalar(module, x, y):
    return module(x).sum() * y


def main():
    def find(name):
        try:
            if name in CASES:
                return check(name)
            if name == "dropped":
                return check_dropped()
        except AssertionError as error:
            return str(error)
        return samples.find_wrong_error(*ERRORS[int(name)])

    cases = [n for n in CASES if "experts" not in n or importlib.util.find_spec("transformers")]
    return samples.run_cases([*cases, "dropped", *map(str, range(len(ERRORS)))], find)


if __name__ == "__main__":
    sys.exit(main())
