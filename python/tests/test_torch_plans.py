#!/usr/bin/env python3
"""Plans of PyTorch modules: numbers of one process on 4 ranks, styles, FSDP, pins, plan files, errors. Needs the wheels and transformers."""

import functools
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "plans"))

import torch  # noqa: E402
import torch_models  # noqa: E402
import torch_plans  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.distributed.tensor import Partial, Replicate, Shard  # noqa: E402
from torch.distributed.tensor.parallel import PrepareModuleInputOutput, SequenceParallel, parallelize_module  # noqa: E402

import shardkit  # noqa: E402
from samples import find_wrong_error, run_tests  # noqa: E402
from shardkit.planning.layouts import Layout, regroup  # noqa: E402
from shardkit.torch.planning.placements import Translator  # noqa: E402
from shardkit.torch.plans import write_sharding  # noqa: E402

MODELS = ("bert", "gpt2", "gemma", "t5", "mixtral", "vit")


class Tied(nn.Module):
    """A table that is the head too, and a branch that a shard of a mean would change."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(24, 32), nn.Linear(32, 24, bias=False)
        self.up, self.norm, self.down = nn.Linear(32, 128), nn.LayerNorm(128), nn.Linear(128, 32)
        self.head.weight = self.table.weight
        self.register_buffer("scale", torch.linspace(1, 2, 32))

    def forward(self, tokens):
        x = self.table(tokens)
        return self.head(x + self.down(self.norm(torch.relu(self.up(x)))) * self.scale)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x):
        x = self.down(torch.tanh(self.up(x)))
        x += 1  # in place
        return x, {"mean": x.mean()}


def make_tied():
    torch.manual_seed(0)
    return Tied().eval(), torch.randint(0, 24, (1, 3))


def make_mlp():
    torch.manual_seed(1)
    return MLP(), torch.randn(2, 32, requires_grad=True)


@functools.cache
def plan_mlp():
    module, x = make_mlp()
    return shardkit.plan(module, x.detach(), mesh={"tp": 4}, pins={"up.weight": [Shard(0)], "down.weight": [Shard(1)]})


@functools.cache
def plan_tied():
    module, tokens = make_tied()
    pins = {"up.weight": [Shard(0)], "down.weight": (None, "tp"), "head.weight": [Shard(0)], "scale": [Shard(0)]}
    return shardkit.plan(module, tokens, mesh={"tp": 4}, pins=pins)


def equal(name, plan, way, batch=2):
    row, error = RANKS.call(torch_plans.check, torch_models.make, name, batch, plan, way)
    assert row and max(row[:2]) < torch_plans.TOLERANCE, (name, way.__name__, row, error)
    return row[2]


def refuses(text, call, *args, **kwargs):
    why = find_wrong_error(lambda: call(*args, **kwargs), text)
    assert why is None, why


def test_models():
    """By `apply`, and by the `tp_plan` of transformers."""
    for name in MODELS:
        module, inputs = torch_models.make(name)
        plan = torch_plans.make_plan(module, inputs, {"tp": 4})
        assert any(p.is_shard() for placements in plan.placements().values() for p in placements)
        found = {}
        for way in (torch_plans.run_applied, torch_plans.run_by_hf):
            found[way] = equal(name, plan, way)
        if name == "vit":
            assert "sharded channels" in found[torch_plans.run_applied]["aten.convolution.default"]


def test_heads():
    """Attention by heads, as Megatron has it: by `apply`, and by styles of transformers and of PyTorch."""
    module, inputs = torch_models.make("qwen2")
    pins = {f"model.layers.*.self_attn.{n}_proj.weight": [Shard(n == "o")] for n in "qkvo"}
    plan = torch_plans.make_plan(module, inputs, {"tp": 4}, pins=pins)
    assert {n: plan.tp_plan()[f"model.layers.*.self_attn.{n}_proj"] for n in "qo"} == {"q": "colwise", "o": "rowwise"}
    for way in (torch_plans.run_applied, torch_plans.run_by_hf, torch_plans.run_by_torch):
        equal("qwen2", plan, way)


def test_batch():
    """Two axes: the batch on one, weights on the other; a training step is planned, whose loss has arguments of its own."""
    module, inputs = torch_models.make("llama")
    loss = lambda module, ids, targets: module(input_ids=ids, labels=targets).loss  # noqa: E731
    plan = shardkit.plan(
        module, *inputs.values(), mesh={"data": 2, "tp": 2}, loss=loss, options=["batch-axes=data", "time-limit=5"],
        pins={"model.layers.*.mlp.up_proj.weight": ("tp", None)},
    )  # fmt: skip
    assert plan.inputs["ids"][0] == Shard(0) and plan.input_names == {"input_ids": "ids", "labels": "targets"}
    assert plan.placements()["model.layers.1.mlp.up_proj.weight"] == (Replicate(), Shard(0))
    equal("llama", plan, torch_plans.run_applied)


def test_fsdp():
    """Weights are sharded where they are kept and complete where they are used: the same by `apply` and by `fully_shard`."""
    module, inputs = torch_models.make("llama", 4)
    loss = lambda module, input_ids, labels: module(input_ids=input_ids, labels=labels).loss  # noqa: E731
    optimizer = torch.optim.AdamW(module.parameters())  # whose state counts too
    plan = shardkit.plan(module, *inputs.values(), mesh={"data": 4}, loss=loss, optimizer=optimizer, options=["batch-axes=data", "zero-stage=3", "time-limit=5"])
    assert plan.fsdp_plan() == {"model.layers.1": "data", "model.layers.0": "data", "": "data"}, plan.fsdp_plan()
    for way in (torch_plans.run_applied, run_fully_sharded):
        equal("llama", plan, way, 4)


def run_fully_sharded(plan, module, inputs):
    """Each rank has its part of the batch; the mean over these is the loss."""
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("data",))
    for name, axis in plan.fsdp_plan().items():
        fully_shard(module.get_submodule(name), mesh=mesh[axis])
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    output = module(**{n: v.chunk(4)[torch.distributed.get_rank()] for n, v in inputs.items()})
    output.loss.backward()
    optimizer.step()
    loss, logits = output.loss.detach(), [torch.empty_like(output.logits) for _ in range(4)]
    torch.distributed.all_reduce(loss)
    torch.distributed.all_gather(logits, output.logits.detach())
    return ([torch.cat(logits), torch.cat(logits), loss / 4], {n: p.full_tensor() for n, p in module.named_parameters()}), {}


def test_styles():
    """A style is local where code between modules works on shards: not before a norm over the sharded dim."""
    plan = plan_tied()
    found = plan.parallelize_plan()
    assert {n: type(s).__name__ for n, s in found.items()} == {"up": "ColwiseParallel", "down": "RowwiseParallel"}
    assert found["up"].output_layouts == (Replicate(),) and found["down"].input_layouts == (Replicate(),)
    assert plan.left_out()["norm.weight"] == "[Shard(0)] of a LayerNorm: no style is of one", plan.left_out()
    assert plan.tp_plan() == {"norm": "replicate", "up": "colwise_gather_output", "down": "rowwise_split_input"}
    local = plan_mlp()
    assert local.tp_plan() == {"up": "colwise", "down": "rowwise"} and local.parallelize_plan("tp")["down"].input_layouts == (Shard(-1),)
    refuses("shards no computation by x, expected one of: tp", local.parallelize_plan, "x")


def test_applied():
    """Pins, tied weights, a buffer; changes in place; structures; results as DTensors; styles of PyTorch."""
    assert plan_tied().placements()["table.weight"] == (Shard(0),) and plan_tied().placements()["scale"] == (Shard(0),)
    assert plan_tied().first_names["head.weight"] == "table.weight"
    assert RANKS.call(run_applied, plan_tied(), plan_mlp()) == (None, None)


def run_applied(plan, mlp_plan):
    module, tokens = make_tied()
    expected = module(tokens)
    applied = plan.apply(make_tied()[0])
    assert torch.allclose(expected, applied(tokens), atol=1e-5) and applied.head.weight is applied.table.weight
    sharded = plan.apply(make_tied()[0], gather=False)(tokens)
    assert torch.allclose(expected, sharded.full_tensor(), atol=1e-5)
    refuses("applied to the module already", plan.apply, applied)
    refuses("the module has no table.weight", plan.apply, MLP())
    refuses("the mesh has axes", plan.apply, make_tied()[0], mesh=init_device_mesh("cpu", (2, 2), mesh_dim_names=("tp", "x")))

    (one, x), (two, y) = make_mlp(), make_mlp()
    two = mlp_plan.apply(two)
    for module, given in ((one, x), (two, y)):
        first, second = module(given)
        (first.square().sum() + second["mean"]).backward()
    assert torch.allclose(one(x)[0], two(y)[0], atol=1e-6) and torch.allclose(one(x)[1]["mean"], two(y)[1]["mean"], atol=1e-6)
    assert torch.allclose(x.grad, y.grad, atol=1e-5) and torch.allclose(one.up.weight.grad, two.up.weight.grad.full_tensor(), atol=1e-5)
    assert two.up.weight.grad.placements == two.up.weight.placements == (Shard(0),)


def test_files():
    module, tokens = make_tied()
    with tempfile.TemporaryDirectory() as folder:
        plan_tied().save(f"{folder}/plan.json")
        again = shardkit.TorchPlan.load(f"{folder}/plan.json", module, tokens, mesh={"tp": 4})
    assert again.placements() == plan_tied().placements() and again.boundaries == plan_tied().boundaries and again.status == "loaded"


def test_texts():
    plan = plan_tied()
    assert "sharded: up.weight [Shard(0)]" in plan.report() and "eqn[" not in plan.report()
    assert "up.weight" in plan.explain("up.weight")
    module, tokens = make_tied()
    assert "up.weight" in plan.compare(shardkit.plan(module, tokens, mesh={"tp": 4}, pins={"*.weight": None}))


def test_errors():
    refuses(r"names sub-axis tp:2, expected the product of the sizes before it and its size: tp:\(1\)2", write_sharding, ["tp:2"], 1, {"tp": 4}, "w")
    assert write_sharding(["tp:(1)2", ("tp:(2)2",)], 2, {"tp": 4}, "w") == '#spmd.sharding<@mesh, [{"tp":(1)2}, {"tp":(2)2}]>'
    module, tokens = make_tied()
    refuses("has no mesh, expected mesh=", shardkit.plan, module, tokens)
    refuses("the pin of up.weight names axis 'model', expected one of the mesh: tp", shardkit.plan, module, tokens, mesh={"tp": 4}, pins={"up.weight": (None, "model")})
    refuses("the pin of up.weight has 1 placements, expected 2", shardkit.plan, module, tokens, mesh={"tp": 2, "dp": 2}, pins={"up.weight": [Shard(0)]})
    refuses("weights are complete", shardkit.plan, module, tokens, mesh={"tp": 4}, pins={"up.weight": [Partial()]})
    refuses("the pin of up.weight is 'tp', expected placements", shardkit.plan, module, tokens, mesh={"tp": 4}, pins={"up.weight": "tp"})
    pins = {"table.weight": [Shard(0)], "head.weight": [Shard(1)]}
    refuses("table.weight and head.weight are one tied parameter, pinned to", shardkit.plan, module, tokens, mesh={"tp": 4}, pins=pins)
    refuses("pins: .*expected", shardkit.plan, module, tokens, mesh={"tp": 4}, pins={"up.weight": ("tp", "tp")})
    refuses("pins: unknown argument \"upp.weight\"", shardkit.plan, module, tokens, mesh={"tp": 4}, pins={"upp.weight": None})
    refuses("expected a memory budget of at least", shardkit.plan, module, tokens, mesh={"tp": 4}, memory=1000)
    refuses("no plan was applied to the module", shardkit.TorchPlan.find_replicated, module)
    refuses("there is no process group, expected torch.distributed with 4 ranks", plan_tied().apply, module)

    for options, expected in (
        ({"memory": "16GB"}, "memory is '16GB', expected bytes"), ({"memory": 0}, "memory is 0, expected bytes"), ({"pins": ["up.weight"]}, "pins is .*, expected placements by the names"),
        ({"costs": {"alpha": [1.0, 2.0]}}, "costs has alpha = .*, expected a positive number for each axis: tp$"), ({"costs": {"flops": [1.0]}}, "expected a positive number$"),
        ({"costs": {"beta": [-1.0]}}, "expected a positive number for each axis: tp$"), ({"loss": 3}, "loss is 3, expected a function of the module and its inputs"),
    ):  # fmt: skip
        refuses(expected, shardkit.plan, module, tokens, mesh={"tp": 4}, **options)
    sparse = nn.Linear(4, 4)
    sparse.weight = nn.Parameter(torch.eye(4).to_sparse())
    refuses("weight has layout sparse_coo, expected a dense tensor", shardkit.plan, sparse, torch.randn(4, 4), mesh={"tp": 4})
    refuses("what is planned is 3, expected a function of JAX or a module of PyTorch", shardkit.plan, 3, tokens, mesh={"tp": 4})
    refuses("compared with 3, expected another plan", plan_tied().compare, 3)

    class Branch(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    refuses("depends on data, expected torch.where", shardkit.plan, Branch(), torch.randn(4), mesh={"tp": 4})


class Attention(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.norm, self.out, self.size = nn.LayerNorm(size), nn.Linear(size, size), size // 4
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        h = self.norm(x)
        q, k, v = (m(h).unflatten(-1, (-1, self.size)).transpose(1, 2) for m in (self.query, self.key, self.value))
        o = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.out(o.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(x)))


class Narrow(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.eye(32).to(torch.float8_e4m3fn))

    def forward(self, x):
        return x @ self.w.float()


def test_narrow():
    """A buffer of 8-bit floats."""
    plan = shardkit.plan(Narrow(), torch.randn(4, 32), mesh={"tp": 4}, pins={"w": [Shard(1)]})
    assert plan.placements() == {"w": (Shard(1),)}


def test_tactics():
    """Weights of attention and of an MLP by their use, and the optimizer's state."""
    made = shardkit.plan(Attention(), torch.randn(4, 8, 16), mesh={"data": 2, "model": 2}, tactics=shardkit.recipes.gpt())
    placements = made.placements()
    for name, expected in {"query": 0, "key": 0, "value": 0, "out": 1, "up": 0, "down": 1}.items():
        assert placements[f"{name}.weight"] == (Replicate(), Shard(expected)), (name, placements)
    assert made.inputs == {"x": (Shard(0), Replicate())}
    assert not made.left_out("parallelize_plan")
    assert made.tp_plan() == {"query": "colwise", "key": "colwise", "value": "colwise", "out": "rowwise", "up": "colwise", "down": "rowwise"}
    module = Attention()
    options = {"loss": lambda m, x: m(x).square().mean(), "optimizer": torch.optim.AdamW(module.parameters())}
    made = shardkit.plan(module, torch.randn(4, 8, 16), mesh={"data": 2, "model": 2}, tactics=shardkit.recipes.gpt(zero=1), search=False, **options)
    assert made.tactics.steps[2].pins["state.up.weight.exp_avg"] == "[model, data]", made.tactics.steps[2].pins


def make_long(name, batch):
    """With a sequence that devices divide."""
    module, _ = torch_models.make(name, batch)
    torch.manual_seed(1)
    return module, {n: torch.randint(3, 96, (batch, 8)) for n in ("input_ids", "labels")}


def make_block(*_):
    torch.manual_seed(2)
    return Attention(64), torch.randn(2, 8, 64)


def run_block(plan):
    (one, x), (two, _) = make_block(), make_block()
    parallelize_module(two, init_device_mesh("cpu", (4,)), plan.parallelize_plan())
    expected, found = one(x), two(x)
    expected.square().sum().backward()
    found.square().sum().backward()
    assert torch.allclose(expected, found, atol=1e-5)
    for (name, a), b in zip(one.named_parameters(), two.parameters()):
        gradient = b.grad.full_tensor() if hasattr(b.grad, "full_tensor") else b.grad
        assert torch.allclose(a.grad, gradient, rtol=1e-4, atol=1e-4), name


def test_sequence():
    """Values between modules that are sharded along the sequence: norms run on shards, weights gather and scatter them, or the module around
    them does; what is left out is listed."""
    tactics = shardkit.Tactics().megatron("tp").sp("tp")
    module, inputs = make_long("qwen2", 2)
    plan = shardkit.plan(module, inputs["input_ids"], mesh={"tp": 4}, tactics=tactics, search=False)
    styles = plan.parallelize_plan()
    layer = {n.removeprefix("model.layers.*."): s for n, s in styles.items()}
    assert isinstance(layer["input_layernorm"], SequenceParallel) and isinstance(styles["model.norm"], SequenceParallel), styles
    assert layer["self_attn"].input_kwarg_layouts == {"hidden_states": Shard(1)} and layer["mlp"].desired_input_layouts == (Replicate(),), styles
    assert layer["self_attn.o_proj"].output_layouts == (Shard(1),) and styles["model.layers.0"].desired_input_layouts == (Shard(1),), styles
    assert plan.tp_plan()["model.layers.*.self_attn.o_proj"] == "rowwise"
    named = plan.tp_plan(values=True)
    assert named["model.layers.*"] == "0:prepare_0_all_1 of 2" and named["model.layers.*.self_attn.o_proj"] == "rowwise_last_1", named
    for way in (torch_plans.run_by_torch, torch_plans.run_by_hf_with_values):
        row, error = RANKS.call(torch_plans.check, make_long, "qwen2", 2, plan, way)
        assert row and max(row[:2]) < torch_plans.TOLERANCE, (way, row, error)

    module, x = make_block()
    plan = shardkit.plan(module, x, mesh={"tp": 4}, tactics=tactics, search=False)
    styles = plan.parallelize_plan()
    assert isinstance(styles[""], PrepareModuleInputOutput) and isinstance(styles["norm"], SequenceParallel), styles
    assert styles["query"].input_layouts == (Shard(1),) and not plan.left_out(), plan.left_out()
    assert RANKS.call(run_block, plan) == (None, None)

    uneven = shardkit.plan(module, x[:, :6], mesh={"tp": 4}, tactics=shardkit.Tactics().megatron("tp"), pins={"x": [Shard(1)]}, search=False)
    assert not any(isinstance(s, SequenceParallel) for s in uneven.parallelize_plan().values())
    assert "4 devices do not divide dim 1 of [2, 6, 64]" in uneven.left_out()["norm"], uneven.left_out()


def test_real_size():
    """Modules on the meta device, of the sizes that they run with: small ones of the same structure have the numbers that styles are tried with."""
    tactics = shardkit.Tactics().megatron("tp").sp("tp")
    with torch.device("meta"):
        real, x = Attention(1024), torch.empty(2, 64, 1024)
        kind, config, sizes = torch_models.CONFIGS["llama"]
        llama = kind(config(**sizes | {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 3, "head_dim": 256})).eval()
        tokens = torch.empty(2, 64, dtype=torch.int64)
    (block, own), (small, inputs) = make_block(), make_long("llama", 2)
    by_name = {"input_ids": inputs["input_ids"]}
    cases = ((real, (x,), {}, block, (own,), {}, {"tp": 4}), (llama, (), {"input_ids": tokens}, small, (), by_name, {"tp": 2}))
    for module, args, kwargs, example, example_args, example_kwargs, axes in cases:
        options = {"mesh": axes, "tactics": tactics, "search": False}
        plan = shardkit.plan(module, *args, trial=(example, *example_args, example_kwargs), **kwargs, **options)
        alike = shardkit.plan(example, *example_args, **example_kwargs, **options)
        # The head alone, of few words, is planned otherwise.
        for found, expected in ((plan.parallelize_plan(), alike.parallelize_plan()), (plan.tp_plan(), alike.tp_plan())):
            found, expected = ({n: str(s) for n, s in styles.items() if n != "lm_head"} for styles in (found, expected))
            assert found == expected and found, (found, expected)
        assert set(alike.placements()) <= set(plan.placements())
    untried = shardkit.plan(real, x, mesh={"tp": 4}, tactics=tactics, search=False)
    assert untried.placements()["up.weight"] == (Shard(0),) and untried.fsdp_plan() == {}
    refuses(r"styles are tried by running the module, which is on the meta device, expected trial=\(MODULE, \*INPUTS\)", untried.tp_plan)
    planned = functools.partial(shardkit.plan, real, x, mesh={"tp": 4})
    refuses(r"trial is Attention, expected a module and its inputs: \(MODULE, \*INPUTS\)", planned, trial=block)
    refuses("the module of trial has no down, key, norm, out, ..., expected all modules of the planned one", planned, trial=(nn.Linear(2, 2), x))
    refuses("the module of trial is on the meta device, expected one with numbers", planned, trial=(real, x))


def test_regroup():
    by = lambda *dims: Layout(tuple(dims))  # noqa: E731
    assert regroup(by(("d",), ("t",)), (10, 32), (2, 5, 32)) == by(("d",), (), ("t",))
    assert regroup(by(("d",), (), ("t",)), (2, 5, 32), (10, 4, 8)) == by(("d",), ("t",), ())
    assert regroup(by((), ("t",)), (2, 5), (10,)) is None
    assert regroup(by(("2", "t"), ()), (16, 4), (2, 8, 4)) == by((), ("t",), ())


def test_strided():
    """What is sharded in strides has no placement."""
    translator = Translator({"d": 2, "t": 4})
    assert translator.translate("x", Layout((("d",), ("3", "t"))), (4, 48)) == (Shard(0), Replicate())
    assert translator.dropped == ["dim 1 of x is sharded in strides, {3, t}"]


if __name__ == "__main__":
    RANKS = torch_plans.Ranks(4)  # before anything is differentiated
    run_tests(globals())
