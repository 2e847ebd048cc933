#!/usr/bin/env python3
"""Tactics: what they find by use, numbers of their plans, the report after each, pins that contradict them. Needs the wheels."""

import contextlib
import io
import os
import tempfile
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType  # noqa: E402
from jax.sharding import PartitionSpec as P

import shardkit  # noqa: E402
from samples import run_tests  # noqa: E402
from shardkit import Tactics, recipes  # noqa: E402
from shardkit.planning import cli  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
BATCH, LENGTH, DIM, HEADS, GROUPS, VOCAB = 4, 8, 16, 8, 4, 32
RNG = np.random.default_rng(0)


def array(*shape):
    return RNG.standard_normal(shape).astype(np.float32) / 8


LAYER = {"norm": array(DIM), "q": array(DIM, 32), "kv": array(2, DIM, 16), "o": array(32, DIM), "up": array(DIM, 64), "gate": array(DIM, 64),
         "down": array(64, DIM)}  # fmt: skip
PARAMS = {"table": array(VOCAB, DIM), "layers": [LAYER] * 2, "head": array(DIM, VOCAB)}
TOKENS = RNG.integers(0, VOCAB, (BATCH, LENGTH)).astype(np.int32)


def split(x, heads):
    return x.reshape(BATCH, LENGTH, heads, 4).swapaxes(1, 2)


def layer(x, p):
    """Grouped attention, then a gated MLP."""
    h = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["norm"]
    q, k, v = split(h @ p["q"], HEADS), split(h @ p["kv"][0], GROUPS), split(h @ p["kv"][1], GROUPS)
    q = q.reshape(BATCH, GROUPS, HEADS // GROUPS, LENGTH, 4)
    o = jnp.einsum("bgrqk,bgkd->bgrqd", jax.nn.softmax(jnp.einsum("bgrqd,bgkd->bgrqk", q, k)), v)
    x = x + o.reshape(BATCH, HEADS, LENGTH, 4).swapaxes(1, 2).reshape(BATCH, LENGTH, 32) @ p["o"]
    return x + (jax.nn.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]


def loss(params, tokens):
    x = params["table"][tokens]
    if isinstance(params["layers"], list):
        for p in params["layers"]:
            x = layer(x, p)
    else:
        x, _ = jax.lax.scan(lambda x, p: (layer(x, p), None), x, params["layers"])
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ params["head"]), tokens[..., None], -1).mean()


@jax.jit
def train(params, moments, tokens):
    """With momentum."""
    value, grads = jax.value_and_grad(loss)(params, tokens)
    moments = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, moments, grads)
    return jax.tree_util.tree_map(lambda p, m: p - 0.1 * m, params, moments), moments, value


MOMENTS = jax.tree_util.tree_map(np.zeros_like, PARAMS)


def plan(tactics, function=train, args=(PARAMS, MOMENTS, TOKENS), mesh=MESH, **options):
    return shardkit.plan(function, *args, mesh=mesh, tactics=tactics, minimize=options.pop("minimize", None), **options)


def refuses(text, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except shardkit.ShardKitError as error:
        assert text in str(error).partition("\n")[0], error
    else:
        raise AssertionError(f"no error, expected: {text}")


def equal(expected, found):
    for a, b in zip(jax.tree_util.tree_leaves(expected), jax.tree_util.tree_leaves(found), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


def test_training_step():
    """Pins by use; numbers of the unsharded step, completed by search and by propagation."""
    for is_searched in (True, False):
        made = plan(Tactics().dp("data").megatron("model").zero(1), search=is_searched, minimize=50)
        (data, megatron, zero) = made.tactics.steps
        assert data.pins == {"tokens": "[data, ?]"} and data.needs == ("data=2 divides 4 (batch of tokens)",)
        assert megatron.pins == {
            "params.layers.*.q": "[?, model]", "params.layers.*.kv": "[?, ?, model]", "params.layers.*.o": "[model, ?]",
            "params.layers.*.up": "[?, model]", "params.layers.*.gate": "[?, model]", "params.layers.*.down": "[model, ?]",
            "params.table": "[model, ?]", "params.head": "[?, model]",
        }, megatron.pins  # fmt: skip
        assert f"model=4 divides {GROUPS} (shared dim of params.layers.*.q, params.layers.*.kv, params.layers.*.o)" in megatron.needs
        assert zero.pins["moments.layers.*.down"] == "[model, data]" and zero.pins["params.layers.*.down"] == "[model, ?] not by data"
        assert zero.pins["moments.layers.*.norm"] == "[data]" and zero.pins["params.layers.*.norm"] == "[?] not by data"
        assert made.in_shardings[0]["head"].spec == P(None, "model") and made.in_shardings[1]["head"].spec == P("data", "model")
        equal(train(PARAMS, MOMENTS, TOKENS), made.jit(train)(*jax.device_put((PARAMS, MOMENTS, TOKENS), made.in_shardings)))


def test_zero():
    """Stage 2 pins gradients, stage 3 weights. A step without state has none of stage 1."""
    two = plan(Tactics().dp("data").zero(2), search=False).tactics
    assert two.steps[1].pins["the gradient that updates moments.head"] == "[?, data]"
    assert {**two.figures[-1].collectives}["reduce_scatter"] >= 14 > two.figures[1].collectives.get("reduce_scatter", 0)
    three = plan(Tactics().dp("data").zero(3), search=False)
    assert three.in_shardings[0]["layers"][0]["up"].spec == P(None, "data")
    peaks = [f.peak for f in three.tactics.figures]
    assert peaks[0] > peaks[1] > peaks[2], peaks
    refuses("no argument is the state of an optimizer", plan, Tactics().dp("data").zero(1), loss, (PARAMS, TOKENS))


def test_scan():
    """In the body of a loop; values between pairs of contractions are sharded along the sequence."""
    params = PARAMS | {"layers": jax.tree_util.tree_map(lambda *a: np.stack(a), *PARAMS["layers"])}
    made = plan(recipes.llama(sequence=True), loss, (params, TOKENS), minimize=50)
    assert made.tactics.steps[1].pins["params.layers.down"] == "[?, model, ?]"
    assert made.tactics.steps[2].pins == {
        "tokens": "[data, model]", "the sum of params.layers.down": "[?, model, ?]", "the sum of params.layers.o": "[?, model, ?]",
    }  # fmt: skip
    equal(loss(params, TOKENS), made.jit(loss)(*jax.device_put((params, TOKENS), made.in_shardings)))


def moe(params, x):
    gates = jax.nn.softmax(x @ params["router"])
    h = jax.nn.gelu(jnp.einsum("bsd,edf->bsef", x, params["up"]))
    h = jnp.einsum("ebsf,efg->ebsg", h.transpose(2, 0, 1, 3), params["middle"])
    return jnp.einsum("bse,ebsf,efd->bsd", gates, h, params["down"])


def test_experts():
    params = {"router": array(DIM, 8), "up": array(8, DIM, 32), "middle": array(8, 32, 32), "down": array(8, 32, DIM)}
    x = array(BATCH, LENGTH, DIM)
    made = plan(recipes.moe(), moe, (params, x))
    assert made.tactics.steps[1].pins["params.middle"] == "[model, ?, ?]" and made.in_shardings[0]["middle"].spec[0] == "model"
    assert "params.router" not in made.tactics.steps[1].pins
    equal(moe(params, x), made.jit(moe)(*jax.device_put((params, x), made.in_shardings)))
    refuses("no contraction of a weight has a batch dim of its own", plan, recipes.moe(), loss, (PARAMS, TOKENS))


def convolve(params, images):
    for w in params["blocks"]:
        images = jax.nn.relu(jax.lax.conv_general_dilated(images, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return images.mean((1, 2)) @ params["head"]


def test_convolution():
    """Neighbors in pairs; kernels are not sharded."""
    params = {"blocks": [array(3, 3, 4, 8), array(3, 3, 8, 8), array(3, 3, 8, 8)], "head": array(8, 12)}
    made = plan(recipes.convolution(model="model", zero=3), convolve, (params, array(4, 6, 6, 4)))
    pins = made.tactics.steps[1].pins
    assert pins["params.blocks.0"] == "[?, ?, ?, model]" and pins["params.blocks.1"] == "[?, ?, model, ?]", pins
    assert pins["params.blocks.2"] == "[?, ?, ?, model]" and pins["params.head"] == "[model, ?]", pins


def test_plain_arguments():
    """Arguments that no container marks as weights."""
    w1, w2, x = array(16, 32), array(32, 12), array(8, 16)
    mlp = lambda w1, w2, x: jnp.tanh(x @ w1) @ w2  # noqa: E731
    made = plan(Tactics().dp("data").megatron("model"), mlp, (w1, w2, x))
    assert [s.spec for s in made.in_shardings] == [P(None, "model"), P("model", None), P("data", None)]
    made = plan(Tactics().megatron("model").dp("data", inputs=["x"]), mlp, (w1, w2, x))
    assert [s.spec for s in made.in_shardings] == [P(None, "model"), P("model", None), P("data", None)]


def test_report():
    made = plan(Tactics().dp("data").megatron("model"), search=False)
    begun = shardkit.Plan().dp("data").megatron("model")
    bound = begun.bind(train, PARAMS, MOMENTS, TOKENS, mesh=MESH, search=False)
    assert str(begun) == 'Plan().dp("data").megatron("model")' and bound.in_shardings == made.in_shardings
    none, data, megatron = made.tactics.figures
    assert none.received == 0 and not none.collectives and data.received > 0 and none.peak > data.peak > megatron.peak
    lines = made.report().splitlines()
    start = lines.index("tactics, completed by propagation")
    assert lines[start + 3].split()[:2] == ['dp("data")', "1"] and " all_reduce" in lines[start + 3] and "(+" in lines[start + 3]
    assert "  pins      params.layers.*.o [model, ?]" in lines
    assert shardkit.plan(train, PARAMS, MOMENTS, TOKENS, mesh=MESH, minimize=None).tactics is None


def test_errors():
    refuses("""megatron("modle") names axis 'modle', expected one of the mesh: data, model""", plan, Tactics().dp("data").megatron("modle"))
    refuses("""dp("data") and megatron("data") share axis data, expected another axis: model""", plan, Tactics().dp("data").megatron("data"))
    refuses("zero(3) shards by an axis of dp, expected dp(axis) before it", plan, Tactics().zero(3))
    refuses("zero(4), expected stage 1", Tactics().zero, 4)
    pins = {"params.layers.*.up": P(None, None)}
    message = """megatron("model") shards dim 1 of params.layers.0.up by model, which pins= has otherwise: [-, -], expected no such pin, or skip=['params.layers.0.up']"""
    refuses(message, plan, Tactics().megatron("model"), pins=pins)
    skipped = plan(Tactics().megatron("model", skip=["params.layers.*.up", "params.layers.*.gate", "params.layers.*.down"]), pins=pins, search=False)
    assert "params.layers.*.up" not in skipped.tactics.steps[0].pins and skipped.in_shardings[0]["layers"][0]["up"].spec == P(None, None)
    wide = jax.make_mesh((1, 8), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    reason = "axis model of 8 devices does not divide 4 (shared dim of params.layers.*.q, params.layers.*.kv, params.layers.*.o), expected one of: 1, 2, 4"
    refuses(f"""megatron("model"): {reason}""", plan, recipes.llama(), mesh=wide)
    assert plan(Tactics().megatron("model"), mesh=wide, search=False).tactics.steps[0].left_out["params.layers.*.q"] == reason
    refuses("no argument is called so, expected some of: params.head", plan, Tactics().dp("data", inputs=["tokenz"]))
    refuses("inputs is 'tokens', expected names or patterns in a list", Tactics().dp, "data", inputs="tokens")
    refuses("tactics is 'dp', expected such as", plan, "dp")
    refuses("search=False with memory= or options=", plan, Tactics().dp("data"), search=False, memory=1e6)
    refuses("no input has a sequence dim", plan, Tactics().sp("model"), lambda w, x: x @ w, (array(16, 16), array(4, 16)))


def test_command():
    """Tactics of a StableHLO module."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "module.mlir")
        path.write_text(jax.jit(lambda w1, w2, x: jnp.tanh(x @ w1) @ w2).lower(array(16, 32), array(32, 12), array(8, 16)).as_text())
        arguments = [str(path), "-o", str(path), "--mesh", "data=2,model=4"]
        assert cli.main([*arguments, "--tactic", "dp=data", "--tactic", "megatron=model"]) == 0
        assert '%arg1: tensor<32x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}' in path.read_text()
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            assert cli.main([*arguments, "--tactic", "tp=model"]) == 1
        assert "--tactic=tp=model, expected dp=AXIS, megatron=AXIS, sp=AXIS, ep=AXIS or zero=STAGE" in errors.getvalue()


if __name__ == "__main__":
    run_tests(globals())
