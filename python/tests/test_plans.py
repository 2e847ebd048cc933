#!/usr/bin/env python3
"""Plans for XLA, in JAX and StableHLO: the numbers of the unsharded function, what is pinned, where constraints go, plan files, errors. Needs the wheels."""

import contextlib
import dataclasses
import functools
import io
import json
import math
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "frontends"))
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export, lax  # noqa: E402
from jax._src import compiler, xla_bridge  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

from jaxlib import _jax  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402

import bytes as hlo_bytes  # noqa: E402
import shardkit  # noqa: E402
from samples import run_tests  # noqa: E402
from shardkit.planning import cli, tags  # noqa: E402
from shardkit.planning.layouts import Layout, list_steps, parse_layouts  # noqa: E402
from shardkit.stablehlo import builder, frontend  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
RNG = np.random.default_rng(0)
PARAMS = {n: RNG.standard_normal(s).astype(np.float32) / 8 for n, s in {"up": (3, 32, 64), "down": (3, 64, 32), "head": (32, 48)}.items()}
X, TARGET = RNG.standard_normal((16, 32)).astype(np.float32), RNG.standard_normal((16, 48)).astype(np.float32)


@jax.custom_vjp
def scale(x):
    return x * 2


scale.defvjp(lambda x: (x * 2, None), lambda _, t: (t * 2,))


@jax.custom_jvp
def act(x):
    return jnp.tanh(x)


act.defjvp(lambda p, t: (jnp.tanh(p[0]), t[0] * (1 - jnp.tanh(p[0]) ** 2)))


def loss(params, x, target):
    """A scan over layers with remat, functions with rules of their own and a jitted one, then a branch and a loop."""

    @jax.checkpoint
    def layer(x, p):
        return x + jax.jit(lambda h, w: h @ w)(act(scale(x) @ p["up"]), p["down"]), None

    x, _ = lax.scan(layer, x, {n: params[n] for n in ("up", "down")})
    y = lax.cond(x[0, 0] > 100, lambda x: -(x @ params["head"]), lambda x: x @ params["head"], x)
    return jnp.square(y - target).mean()


def step(params, x, target):
    value, grads = jax.value_and_grad(loss)(params, x, target)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads), value


def power(a, x):
    """A loop without a counter, whose state is a product."""
    return lax.while_loop(lambda s: jnp.sum(s[1]) < 3, lambda s: (s[0] @ a, s[1] + 1.5), (x, jnp.zeros(2)))[0]


@functools.cache
def plan_step(**options):
    return shardkit.plan(step, PARAMS, X, TARGET, mesh=MESH, **options)


def equal(expected, found):
    for a, b in zip(jax.tree_util.tree_leaves(expected), jax.tree_util.tree_leaves(found), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5)


def refuses(text, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except shardkit.ShardKitError as error:
        assert text in str(error).partition("\n")[0], error
    else:
        raise AssertionError(f"no error, expected: {text}")


def test_step():
    """All constraints, those that are needed, and none: one result."""
    plan = plan_step()
    args = jax.device_put((PARAMS, X, TARGET), plan.in_shardings)
    expected = step(PARAMS, X, TARGET)
    for constraints in (plan.constraints, plan.layouts):
        found = dataclasses.replace(plan, constraints=constraints).jit(step)(*args)
        equal(expected, found)
        assert jax.tree_util.tree_all(jax.tree_util.tree_map(lambda v, s: v.sharding.is_equivalent_to(s, v.ndim), found, plan.out_shardings))
    equal(expected, jax.jit(plan.constrain(step))(*args))
    assert 0 < len(plan.constraints) < len(plan.layouts)


def test_bodies():
    """Layouts are found inside of loops, branches, remat and calls, and of what loops carry."""
    paths = {re.sub(r"\d+", "", site) for site in plan_step().layouts}
    for expected in (".jaxpr..jaxpr./out", ".jaxpr..jaxpr..jaxpr./out", ".branches../out", ".jaxpr/arg", ".jaxpr/result"):
        assert expected in paths, (expected, paths)


def test_while():
    a = RNG.standard_normal((32, 32)).astype(np.float32) / 6
    plan = shardkit.plan(power, a, X, mesh=MESH, pins={"a": P(None, "model")})
    equal(power(a, X), plan.jit(power)(*jax.device_put((a, X), plan.in_shardings)))
    assert any("body_jaxpr" in s for s in plan.layouts)


def test_pins():
    """Pins, shardings of arguments and constraints of the function are kept."""
    x = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(MESH, P("data", None)))

    def apply(params, x):
        h = lax.with_sharding_constraint(x @ params["up"][0], NamedSharding(MESH, P(None, "data")))
        return h @ params["down"][0]

    plan = shardkit.plan(apply, PARAMS, x, pins={"params.up": P(None, "model"), "params.*": None})
    assert plan.in_shardings[0]["up"].spec == P(None, "model", None) and plan.in_shardings[0]["down"].spec == P(None, None, None)
    assert plan.in_shardings[1].spec == P("data", None)
    text = plan.jit(apply).lower(PARAMS, X).as_text()
    assert '[{}, {"data"}]' in text, text
    refuses("the pin of x names axis 'modle', expected one of the mesh: data, model", shardkit.plan, apply, PARAMS, X, mesh=MESH, pins={"x": P("modle")})
    refuses("unknown argument \"params.ups\"", shardkit.plan, apply, PARAMS, X, mesh=MESH, pins={"params.ups": P("data")})
    refuses('pins: axis resources of argument "x"', shardkit.plan, apply, PARAMS, x, pins={"x": P(None, "data")})


def test_jit():
    """Static and donated arguments stay so; numbers that the mesh does not divide stay unsharded."""

    @functools.partial(jax.jit, static_argnames="n", donate_argnums=1)
    def apply(w, x, n):
        return x @ w * n, x[:3] + n

    w = jnp.ones((32, 32))
    plan = shardkit.plan(apply, w, X, 3, mesh=MESH)
    compiled = plan.jit(apply)
    expected = X @ np.asarray(w) * 3, X[:3] + 3
    given = jax.device_put((w, jnp.asarray(X)), plan.in_shardings)
    equal(expected, compiled(*given, 3))
    assert given[1].is_deleted()


def test_dropped():
    """What JAX cannot express is left out, with a warning and in the report."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = shardkit.plan(lambda x: jnp.sin(x), X[:6], mesh=MESH, pins={"x": P("model")})
    assert plan.in_shardings[0].spec == P(None, None)
    dropped = "dim 0 of x has size 6, which axis model of 4 devices does not divide"
    assert any(dropped in str(w.message) for w in caught) and f"dropped: {dropped}" in plan.report(), (caught, plan.dropped)
    equal(jnp.sin(X[:6]), plan.jit(lambda x: jnp.sin(x))(X[:6]))


def test_strided():
    """What a reshape makes strided has neither a sharding of JAX nor one of Shardy."""
    x = RNG.standard_normal((4, 3, 16)).astype(np.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan = shardkit.plan(flatten, x, mesh=MESH, pins={"x": P("data", None, "model")})
        written = shardkit.plan_stablehlo(jax.jit(flatten).lower(x).as_text(), mesh=dict(MESH.shape), pins={"arg0": ["data", None, "model"]})
    assert plan.dropped == written.dropped == ("dim 1 of result is sharded in strides, {3, model}",), (plan.dropped, written.dropped)
    assert len(caught) == 2 and all(plan.dropped[0] in str(w.message) for w in caught), caught
    assert plan.out_shardings.spec == P("data", None) and '[{"data"}, {}]' in written.serialize().decode()
    equal(flatten(x), plan.jit(flatten)(x))


def flatten(x):
    return jnp.sin(x.reshape(4, 48))


def test_no_arguments():
    plan = shardkit.plan(lambda: jnp.arange(16.0), mesh=MESH)
    assert plan.in_shardings == () and plan.out_shardings.spec is not None
    equal(jnp.arange(16.0), plan.jit(lambda: jnp.arange(16.0))())


def test_random():
    """JAX gives keys a mesh without axes."""

    def apply(x, key):
        return jnp.tanh(x @ PARAMS["head"]) + jax.random.normal(key, (len(x), 48)), None

    key = jax.random.key(0)
    plan = shardkit.plan(apply, X, key, mesh=MESH)
    assert plan.out_shardings[0].spec != P(None, None) and plan.out_shardings[1] is None and plan.in_shardings[1].spec == P()
    equal(apply(X, key), plan.jit(apply)(*jax.device_put((X, key), plan.in_shardings)))


LAYERS = 6


def deep(params, moments, x, scale=1.0):
    """Layers that are written out, the last of which has more, with momentum; and a table that is read before and after them."""

    def loss(params):
        h = x @ params["table"]
        for p in params["layers"]:
            h = jnp.where(h > -5, h + jnp.tanh(h @ p["up"]) @ p["down"] * p["gain"], h)
        return jnp.square(jax.nn.relu(h) @ params["table"].T - x).mean() * scale

    value, gradients = jax.value_and_grad(loss)(params)
    moments = jax.tree_util.tree_map(lambda m, g: 0.5 * m + g, moments, gradients)
    return jax.tree_util.tree_map(lambda p, m: p - 0.1 * m, params, moments), moments, value


def make_deep():
    layers = [{n: RNG.standard_normal(s).astype(np.float32) / 4 for n, s in {"up": (16, 64), "down": (64, 16), "gain": (16,)}.items()} for _ in range(LAYERS)]
    params = {"layers": layers, "table": RNG.standard_normal((32, 16)).astype(np.float32) / 4}
    return params, jax.tree_util.tree_map(lambda p: p / 2, params), X


def test_repeats():
    """Layers that are written out are planned as loops, forward, backward and update; each has the layout of all, and the numbers are those
    of the function."""
    step, args = jax.jit(deep, static_argnames="scale", donate_argnums=(0, 1)), make_deep()
    options = {"mesh": MESH, "pins": {"x": P("data", None), "params.layers.*.up": P(None, "model")}, "scale": 2.0, "memory": 60e3, "repeats": 4}
    plan = shardkit.plan(step, *args, **options)
    counts = [line for line in plan.report().split("\n") if line.startswith("planned as one: ")]
    assert [re.search("([0-9]+) times", c)[1] for c in counts] == [str(LAYERS)] * 4, counts
    assert all(p == plan.in_shardings[0]["layers"][0] for p in plan.in_shardings[0]["layers"])
    assert plan.in_shardings[0]["layers"][3]["up"].spec == P(None, "model") == plan.out_shardings[0]["layers"][3]["up"].spec
    assert plan.in_shardings[2].spec == P("data", None), plan.in_shardings
    known = {s.partition("/")[0].partition(".")[0] for s in plan.layouts}
    single = shardkit.plan(step, *args, **options | {"repeats": None}, minimize=None)
    assert known == {s.partition("/")[0].partition(".")[0] for s in single.layouts}
    assert "planned as one" not in single.report()
    equal(deep(*args, scale=2.0), plan.jit(step)(*jax.device_put(args, plan.in_shardings), scale=2.0))
    assert "params.layers.0-5.down" in plan.explain("params.layers.4.down")
    with tempfile.TemporaryDirectory() as folder:
        plan.save(f"{folder}/plan.json")
        again = shardkit.Plan.load(f"{folder}/plan.json", step, *args, mesh=MESH, scale=2.0, repeats=4)
    assert again.in_shardings == plan.in_shardings and again.layouts == plan.layouts
    # Layers that are pinned to different layouts are planned one by one.
    apart = shardkit.plan(step, *args, minimize=None, **options | {"pins": {"params.layers.4.down": P("data", None), "params.layers.5.down": None}})
    specs = [p["down"].spec for p in apart.in_shardings[0]["layers"]]
    assert specs[4] == P("data", None) and specs[5] == P(None, None) and "planned as one" not in apart.report()
    refuses("repeats is 2, expected a number of repetitions, at least 3, or None", shardkit.plan, step, *args, mesh=MESH, repeats=2)


def test_manual():
    """What a `shard_map` of the function computes is per device: it is left as it is, and values around it are constrained."""

    def local(x, w):
        return lax.psum(x @ w, "model")

    mapped = jax.shard_map(local, mesh=MESH, in_specs=(P("data", "model"), P("model", None)), out_specs=P("data", None))

    def apply(w, x, head):
        return jnp.tanh(mapped(jnp.sin(x), w)) @ head

    args = PARAMS["up"][0], X, RNG.standard_normal((64, 48)).astype(np.float32)
    plan = shardkit.plan(apply, *args, mesh=MESH, pins={"head": P(None, "model")})
    equal(apply(*args), plan.jit(apply)(*jax.device_put(args, plan.in_shardings)))
    assert plan.in_shardings[2].spec == P(None, "model") and plan.in_shardings[0].spec == P("model", None), plan.in_shardings


def test_keywords():
    """Arguments by keyword are planned, and `jit` has their shardings; static and donated ones stay so."""

    @functools.partial(jax.jit, static_argnames="n", donate_argnames="old")
    def apply(x, *, w, old, n):
        return x @ w * n, old + n

    def give():
        return X, {"w": PARAMS["head"], "old": jnp.ones((16, 48)), "n": 3}

    (x, keywords), (_, others) = give(), give()
    plan = shardkit.plan(apply, x, **keywords, mesh=MESH, pins={"w": P(None, "model"), "old": P("data", None)})
    assert plan.kwarg_shardings["w"].spec == P(None, "model") and list(plan.kwarg_shardings) == ["old", "w"]
    placed = keywords | {n: jax.device_put(keywords[n], s) for n, s in plan.kwarg_shardings.items()}
    expected = X @ PARAMS["head"] * 3, np.full((16, 48), 4.0)
    compiled = plan.jit(apply)
    assert '%arg1: tensor<16x48xf32> {jax.buffer_donor' in (text := compiled.lower(x, **placed).as_text()) or "aliasing_output" in text, text
    equal(expected, compiled(x, **placed))
    assert placed["old"].is_deleted()
    equal(expected, jax.jit(plan.constrain(apply), static_argnames="n")(x, **others))
    refuses("the call lacks the keyword old, expected those that were planned: old, w", compiled, x, w=keywords["w"], n=3)


def test_files():
    plan = plan_step()
    with tempfile.TemporaryDirectory() as folder:
        plan.save(f"{folder}/plan.json")
        assert '"version": 1' in Path(folder, "plan.json").read_text()
        again = shardkit.Plan.load(f"{folder}/plan.json", step, PARAMS, X, TARGET, mesh=MESH)
    assert again.in_shardings == plan.in_shardings and again.out_shardings == plan.out_shardings
    assert again.layouts == plan.layouts, {s: (plan.layouts.get(s), again.layouts.get(s)) for s in plan.layouts if plan.layouts[s] != again.layouts.get(s)}


def test_texts():
    plan = plan_step()
    assert "params.up" in plan.report() and "search of @main: optimal" in plan.report() and "eqn[" not in plan.report()
    assert "params.up" in plan.explain("params.up")
    totals = json.loads(plan.report("json"))["totals"]
    assert f"step: predicted {totals['cost']:.3e} s (collectives {totals['cost']:.3e} s, without compute" in plan.report(measured=1.0)
    rated = shardkit.plan(step, PARAMS, X, TARGET, mesh=MESH, costs={"flops": 1e9, "bandwidth": 1e9, "overlap": 0.5}, minimize=None)
    totals = json.loads(rated.report("json"))["totals"]
    predicted = totals["cost"] - totals["hidden"] + totals["compute"]
    assert totals["compute"] > 0 and 0 < totals["hidden"] < totals["cost"] and rated.report(measured=2 * predicted).endswith(": 0.50 of it\n"), totals
    refuses("costs has overlap = 2, expected a fraction from 0 to 1", shardkit.plan, step, PARAMS, X, TARGET, mesh=MESH, costs={"overlap": 2})
    refuses("measured is -1.0 for a report in text, expected seconds of a step", plan.report, measured=-1.0)
    other = shardkit.plan(step, PARAMS, X, TARGET, mesh=MESH, pins={"params.*": None}, minimize=0)
    assert "params.up" in plan.compare(other)


def test_search_that_ends_early_is_not_kept_on_disk():
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, SHARDKIT_CACHE=folder):
        early = shardkit.plan(step, PARAMS, X, TARGET, mesh=MESH, options=["time-limit=1e-6"], minimize=None)
        assert early.status == "gap" and "gap at the time limit" in early.report() and not _list_kept_searches(folder)
        again = shardkit.plan(step, PARAMS, X, TARGET, mesh=MESH, options=["time-limit=59"], minimize=None)
        assert again.status == "optimal" and len(_list_kept_searches(folder)) > 0


def _list_kept_searches(folder):
    return [path for path in Path(folder).glob("*.text") if "spmd.solver" in path.read_text()]


def test_errors():
    refuses("expected mesh=", shardkit.plan, step, PARAMS, X, TARGET)
    other = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,)), P("x")))
    refuses("shardings of the function are over a mesh of {'x': 8}", shardkit.plan, step, PARAMS, other, TARGET, mesh=MESH)
    refuses("expected a mesh of JAX", shardkit.plan, step, PARAMS, X, TARGET, mesh={"data": 2})
    explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    refuses("axis data of the mesh has type Explicit", shardkit.plan, step, PARAMS, X, TARGET, mesh=explicit)
    refuses("expected a memory budget of at least", shardkit.plan, step, PARAMS, X, TARGET, mesh=MESH, memory=1000)
    refuses("the function returns no array, expected at least one result", shardkit.plan, lambda x: None, X, mesh=MESH)
    refuses('axis "data" is used twice, expected each axis once', shardkit.plan, jnp.sin, X, mesh=MESH, pins={"x": P("data", "data")})
    refuses("a size depends on data", shardkit.plan, lambda x: x[x > 0], X, mesh=MESH)
    refuses("a branch depends on data", shardkit.plan, lambda x: x if x[0, 0] > 0 else -x, X, mesh=MESH)
    refuses("expected the function and the types that were planned", plan_step().jit(step), PARAMS, X[:8], TARGET[:8])


def strip(text):
    """The module without Shardy's annotations."""
    module = frontend.parse(text)
    with module.context:
        for op in builder.walk(module.operation):
            if op.name == "sdy.sharding_constraint":
                op.results[0].replace_all_uses_with(op.operands[0])
            if "sdy.sharding" in op.attributes:
                del op.attributes["sdy.sharding"]
            for key in ("arg_attrs", "res_attrs") if op.name == "func.func" else ():
                if key in op.attributes:
                    kept = [{a.name: a.attr for a in ir.DictAttr(d) if not a.name.startswith("sdy.")} for d in op.attributes[key]]
                    op.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(k) for k in kept])
        for op in builder.walk(module.operation):
            if op.name in ("sdy.sharding_constraint", "sdy.mesh"):
                op.erase()
    return str(module)


def compile_xla(text):
    """XLA's program of a module with shardings, for all devices."""
    options = compiler.get_compile_options(num_replicas=1, num_partitions=8, device_assignment=np.arange(8).reshape(1, 8))
    options.executable_build_options.use_spmd_partitioning = options.executable_build_options.use_shardy_partitioner = True
    with mlir.make_ir_context():
        return compiler.backend_compile_and_load(xla_bridge.get_backend("cpu"), ir.Module.parse(text), _jax.DeviceList(tuple(jax.devices())), options, [])


def test_stablehlo():
    """The module has shardings and is else the same, in the form that it came in; XLA computes the same with it."""
    lowered = jax.jit(step, donate_argnums=0).lower(PARAMS, X, TARGET)
    text = lowered.as_text()
    plan = shardkit.plan_stablehlo(text, mesh={"data": 2, "model": 4}, pins={"arg3": ["data", None]})
    planned = plan.serialize().decode()
    assert 0 < len(plan.constraints) < len(plan.layouts) and planned.count("sdy.sharding") > len(plan.constraints)
    assert '%arg3: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}' in planned, planned[:2000]
    assert strip(planned) == strip(text)
    inputs = jax.tree_util.tree_leaves((PARAMS, X, TARGET))
    layouts = [layout.dims for layout in parse_layouts(planned.split("@main(")[1].split("->")[0])]
    given = [jax.device_put(v, NamedSharding(MESH, P(*[d or None for d in dims]))) for v, dims in zip(inputs, layouts, strict=True)]
    results = compile_xla(planned).execute_sharded(given).disassemble_into_single_device_arrays()
    np.testing.assert_allclose(np.asarray(results[-1][0]), step(PARAMS, X, TARGET)[1], rtol=1e-5)

    module = lowered.compiler_ir("stablehlo")
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    for source in (bytecode.getvalue(), export.export(jax.jit(step))(PARAMS, X, TARGET).mlir_module_serialized):
        again = shardkit.plan_stablehlo(source, mesh={"data": 2, "model": 4}, pins={"x": ["data", None]}, minimize=0).serialize()
        assert again[:4] == source[:4] and "sdy.mesh" in str(frontend.parse(again)), again[:100]


def test_bytes():
    """What XLA moves, as compiled from the planned module, is what the plan moves."""

    def descend(up, down, x, target):
        def loss(weights):
            return jnp.square(jnp.tanh(x @ weights[0]) @ weights[1] - target).mean()

        value, gradients = jax.value_and_grad(loss)((up, down))
        return [w - 0.1 * g for w, g in zip((up, down), gradients)], value

    text = jax.jit(descend, donate_argnums=(0, 1)).lower(PARAMS["up"][0], PARAMS["down"][0], X, X + 1).as_text()
    pins = {"arg0": [None, "model"], "arg1": ["model", None], "arg2": ["data", None], "arg3": ["data", None]}
    plan = shardkit.plan_stablehlo(text, mesh={"data": 2, "model": 4}, pins=pins)
    assert count_bytes(plan) == (5636, 5636)


def test_moved_indices():
    """Rows and indices that are gathered for a scatter: the op reshapes the indices before they are moved."""

    def update(table, tokens, rows):
        return table.at[tokens[:, None]].add(rows, mode="promise_in_bounds")

    args = jnp.ones((256, 32)), jnp.arange(16) % 8, jnp.ones((16, 1, 32))
    pins = {"arg0": ["model", None], "arg1": ["data"], "arg2": ["data", None, None]}
    costs = {"alpha": [1e-9, 1e-9], "beta": [1e-10, 1e-10]}
    plan = shardkit.plan_stablehlo(jax.jit(update, donate_argnums=0).lower(*args).as_text(), mesh=dict(MESH.shape), pins=pins, costs=costs)
    received, expected = count_bytes(plan)
    assert received == expected > 0, (received, expected)


def count_bytes(plan):
    """What the plan has a device receive, and what XLA's program of its module does."""
    report = json.loads(plan.report(format="json"))
    sizes = {name: size for mesh in report["meshes"] for name, size in mesh["axes"]}
    expected = sum(c["received"] / math.prod(sizes[a] for a in c["axes"]) * c["count"] for c in report["collectives"])
    (program,) = compile_xla(plan.serialize().decode()).hlo_modules()
    received, *_ = hlo_bytes.read_hlo(program.to_string(), 8)
    return received, expected


def test_searched_bytes():
    """The same without pins: values that are moved for one reader, for several, for updates of a table, and in a loop over layers."""
    models = hlo_bytes.load("default_models", Path(__file__).resolve().parents[2] / "benchmarks" / "defaults" / "models.py")
    for mesh, step, args in (
        ({"data": 8}, *models.dlrm_step()),
        ({"data": 8}, *models.layer_scan_step(layers=2, batch=8, length=16, dim=64, heads=2)),
    ):
        plan = shardkit.plan_stablehlo(jax.jit(step, donate_argnums=0).lower(*args).as_text(), mesh=mesh, options=["forbid-collectives=reduce_scatter"])
        received, expected = count_bytes(plan)
        assert received == expected > 0 and 0 < len(plan.constraints) < len(plan.layouts) / 4, (received, expected, len(plan.constraints), len(plan.layouts))


def test_command():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "apply.mlir")
        path.write_text(jax.jit(lambda x, w: jnp.tanh(x @ w) @ w.T).lower(X, PARAMS["head"]).as_text())
        command = [str(path), "-o", f"{folder}/out.mlir", "--memory=1e6", "--pin=arg0=data,", "--options=batch-axes=data batch-arguments=arg0"]
        costs = Path(folder, "costs.json")
        mesh = {"name": "mesh", "axes": [["data", 2], ["model", 4]], "alpha": [1e-5, 1e-5], "beta": [1e-9, 1e-9], "flops": 1e9, "bandwidth": 1e9, "overlap": 0.5}
        costs.write_text(json.dumps({"version": 1, "meshes": [mesh]}))
        with contextlib.redirect_stdout(io.StringIO()) as report:
            assert cli.main([*command, "--mesh=data=2,model=4", "--report", f"--costs={costs}"]) == 0
        assert "peak of @main" in report.getvalue() and "predicted compute" in report.getvalue()
        assert '[{"data"' in Path(folder, "out.mlir").read_text()
        for more, expected in (([], "has no sdy.mesh"), (["--mesh=data"], "expected names and sizes"), (["--mesh=x=8"], "names axis 'data'"),
                               (["--mesh=data=4,model=2", f"--costs={costs}"], "is of the mesh data=2,model=4, expected one of data=4,model=2"),
                               (["--mesh=data=2", f"--costs={folder}/none.json"], "No such file"),
                               (["--mesh=data=2,model=4", "--options=batch-axis=data"], "options has 'batch-axis', expected allow-recompute, allow-replicated-weights, batch-arguments, batch-axes, ")):  # fmt: skip
            with contextlib.redirect_stderr(io.StringIO()) as errors:
                assert cli.main([*command, *more]) == 1
            assert expected in errors.getvalue() and errors.getvalue().startswith(f"{path}: error: "), errors.getvalue()
        assert cli.main([f"{folder}/none.mlir", "-o", f"{folder}/out.mlir"]) == 1


def test_layouts():
    assert parse_layouts('#spmd.sharding<@m, [{"a", "b"}, {?}, {"c":(1)2, ?}], unreduced = {"d"}>') == (Layout((("a", "b"), (), ("c:(1)2",)), True),)
    assert parse_layouts('[<@m, [{"a"}p1, {}]>, <@m, []>]') == (Layout((("a",), ())), Layout(()))
    steps = [[step.dims for step in list_steps(Layout(a), Layout(b))] for a, b in (
        (((), ("x", "y")), ((), ())),  # one gather
        (((), ("x", "y")), (("x",), ())),  # an all-to-all, then a gather
        ((("x", "y"), ()), (("y",), ())),  # the axis that is gathered becomes the minor one
        ((("x", "y"), ()), ((), ("x", "y"))),  # all move
    )]  # fmt: skip
    assert steps == [[], [(("x",), ("y",))], [(("y", "x"), ())], []], steps
    assert tags.read('loc(callsite("jit(f)/eqn[2]/eqn[2.jaxpr.1]/sin"("f.py":1:2) at "eqn[7]/jit"))') == "2.jaxpr.1"


if __name__ == "__main__":
    run_tests(globals())
