#!/usr/bin/env python3
"""What an imported JAX function says: names, weights, ties, ranges, lines, markers; and the command. Needs the wheels."""

import gc
import io
import os
import re
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

import shardkit  # noqa: E402
from samples import run_tests  # noqa: E402
from shardkit import cli, safetensors  # noqa: E402
from shardkit.tools import find_tool, run_tool  # noqa: E402

MESH = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices()[:4])
X, W = np.arange(32, dtype=np.float32).reshape(8, 4), np.eye(4, dtype=np.float32)


def test_names():
    def f(params, x, *, scale):
        return {"y": x @ params["w"][0] * scale, "n": (x.sum(), params["b"])}

    model = shardkit.import_jax(f, {"w": [W], "b": X[0]}, X, scale=np.float32(2))
    assert [a.name for a in model.arguments] == ["params.b", "params.w.0", "x", "scale"], model.arguments
    assert [a.is_weight for a in model.arguments] == [True, True, False, False]
    assert [r.name for r in model.results] == ["result.n.0", "result.n.1", "result.y"], model.results
    assert 'spmd.weight = "params.w.0"' in model.text and 'spmd.name = "result.y"' in model.text
    found = model.run()
    assert set(found) == {"y", "n"} and np.array_equal(found["y"], X @ W * 2) and found["n"][0] == X.sum()


def test_weights_by_name():
    model = shardkit.import_jax(lambda w, cache: (w @ cache["k"],), W, {"k": W}, weights=["w"])
    assert [(a.name, a.is_weight) for a in model.arguments] == [("w", True), ("cache.k", False)]


def test_unused_argument():
    model = shardkit.import_jax(lambda x, unused, w: x @ w, X, X, W)
    assert [a.name for a in model.arguments] == ["x", "w"]
    with model.compile() as program:
        assert np.array_equal(program(X, X, W), X @ W)  # called as the function is


def test_static():
    """Static arguments, by number and by name, are part of the program."""
    cases = [
        (jax.jit(lambda n, s, x: x * s + n, static_argnums=0), (3, np.float32(5), X), {}),
        (jax.jit(lambda x, s, n: x * s + n, static_argnums=-1), (X, np.float32(5), 3), {}),
        (jax.jit(lambda n, p, k: p["a"] * k + p["b"] * len(n), static_argnums=(0, 2)), ("abc", {"a": X, "b": np.float32(7)}, 3), {}),
        (jax.jit(lambda x, n: x * n, static_argnames="n"), (X, 3), {}),
        (jax.jit(lambda x, n=4: x * n, static_argnames="n"), (X,), {"n": 3}),
        (jax.jit(lambda x, n=4: x * n, static_argnames="n"), (X,), {}),
        (jax.jit(lambda x, *, a, z: x * a + z, static_argnames=("a",)), (X,), {"a": 3, "z": np.float32(7)}),
    ]
    for function, args, kwargs in cases:
        with shardkit.import_jax(function, *args, **kwargs).compile() as program:
            assert np.array_equal(program(*args, **kwargs), function(*args, **kwargs))


def refuses(program, text, *args, **kwargs):
    try:
        program(*args, **kwargs)
    except shardkit.ShardKitError as error:
        return text in str(error)
    return False


def test_calls():
    """A program is called as the function is, by position or by name; with other arguments than it was traced with not at all."""
    with shardkit.import_jax(lambda x, a: x - 2 * a, X, X + 1).compile() as program:
        assert np.array_equal(program(a=X, x=X + 1), X + 1 - 2 * X) and np.array_equal(program(X + 1, a=X), X + 1 - 2 * X)
    with shardkit.import_jax(lambda p: p["a"] - p["b"], {"a": X, "b": X + 1}).compile() as program:
        assert refuses(program, "p.a is missing, expected the arrays of the example call: p.a, p.b", {"b": X, "c": X})
    with shardkit.import_jax(jax.jit(lambda x, n=3: x * n, static_argnames="n"), X, 3).compile() as program:
        assert np.array_equal(program(X, 3), X * 3) and np.array_equal(program(X), X * 3) and np.array_equal(program(X, n=3), X * 3)
        assert refuses(program, "n is 4, expected 3, with which", X, 4) and refuses(program, "n is 4, expected 3", X, n=4)


def test_trees():
    """Containers of another kind, empty ones too, and numbers that the argument does not hold."""
    with shardkit.import_jax(lambda x, m, n: (x * 2 if m is None else x) * n, X, None, 3).compile() as program:
        assert np.array_equal(program(X, None, True), X * 2)
        assert refuses(program, "m is PyTreeDef({}), expected PyTreeDef(None), as in the example call", X, {}, 3)
        assert refuses(program, "n is 2.5, expected a number that int32 holds", X, None, 2.5)
        assert refuses(program, f"n is {2**40}, expected a number that int32 holds", X, None, 2**40)
        assert refuses(program, "x is a object, expected an array of float32", object(), None, 3)
    with shardkit.import_jax(lambda d: d["0"] * 2, {"0": X}).compile() as program:
        assert refuses(program, "d is PyTreeDef([*]), expected PyTreeDef({'0': *})", [X])


def test_nnx():
    """Functions of nnx.jit: modules are arguments, and what changes is returned."""
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self):
            self.linear, self.norm = nnx.Linear(4, 8, rngs=nnx.Rngs(0)), nnx.BatchNorm(8, rngs=nnx.Rngs(1))

        def __call__(self, x):
            return self.norm(self.linear(x))

    net = Net()
    net.eval()
    scaled = nnx.jit(lambda net, x, n: net(x) * n, static_argnums=2)
    model = shardkit.import_jax(scaled, net, X, 3)
    assert "net.linear.kernel.value" in [a.name for a in model.arguments] and np.allclose(model.run(net, X, 3), scaled(net, X, 3), atol=1e-4)
    net.train()
    try:
        shardkit.import_jax(nnx.jit(lambda net, x: net(x)), net, X)
    except shardkit.ShardKitError as error:
        assert "the function changes norm.mean.value of an argument, expected one that returns what it changes" in str(error), error
    else:
        raise AssertionError("a change is lost")
    step = lambda net, x: (net(x), nnx.state(net))  # noqa: E731
    model = shardkit.import_jax(nnx.jit(step), net, X)
    _, state = model.run()
    step(net, X)
    assert np.allclose(state["norm"]["mean"][...], net.norm.mean[...], atol=1e-5)
    sharding = NamedSharding(MESH, P("data"))
    assert "spmd.sharding" in shardkit.import_jax(nnx.jit(lambda x: x * 2, in_shardings=sharding), X).text


def test_abstract_mesh():
    """A mesh of more devices than JAX has here."""
    mesh = jax.sharding.AbstractMesh((4, 16), ("data", "model"))

    def array(shape, *axes):
        return jax.ShapeDtypeStruct(shape, np.float32, sharding=NamedSharding(mesh, P(*axes)))

    model = shardkit.import_jax(lambda w, x: x @ w, array((4, 32), None, "model"), array((8, 4), "data"))
    w = np.arange(128, dtype=np.float32).reshape(4, 32)
    assert '["data"=4, "model"=16]' in model.text and np.array_equal(model.run(w, X), X @ w)


def test_programs_close():
    model = shardkit.import_jax(lambda x: x + 1, X)
    assert len(repr(model)) < 300 and "x: float32[8, 4]" in repr(model)
    program = model.compile()
    directory = program.directory
    assert directory.exists()
    program.close()
    assert not directory.exists() and refuses(program, "the program is closed", X)
    program = model.compile()
    directory = program.directory
    del program
    gc.collect()
    assert not directory.exists()


def test_shapes_only():
    model = shardkit.import_jax(lambda x: x + 1, jax.ShapeDtypeStruct((8, 4), np.float32))
    assert not model.values and np.array_equal(model.run(X), X + 1)


def test_numbers():
    """A Python number, and an array that JAX narrows."""
    model = shardkit.import_jax(lambda x, s, n: x * s + n, X.astype(np.float64), 0.5, 3)
    assert [a.dtype for a in model.arguments] == ["float32", "float32", "int32"]
    assert np.array_equal(model.run(), X * 0.5 + 3) and np.array_equal(model.run(X, 0.25, 1), X * 0.25 + 1)


def test_donated():
    """By path where JAX left the choice, else by type."""
    data = NamedSharding(MESH, P("data"))
    put = lambda v: jax.device_put(v, data)  # noqa: E731
    step = jax.jit(lambda a, b, x: ({"v": b["v"] + x, "w": a["w"] * 2}, x), donate_argnums=(0, 1))
    text = shardkit.import_jax(step, {"w": put(X)}, {"v": put(X)}, X).text
    assert re.search(r'spmd\.name = "result\.0\.v", spmd\.tied = 1', text) and re.search(r'"result\.0\.w", spmd\.tied = 0', text), text


def test_shardings():
    def f(x, w):
        h = jax.lax.with_sharding_constraint(x @ w, NamedSharding(MESH, P("data", P.UNCONSTRAINED)))
        return h * 2

    jitted = jax.jit(f, in_shardings=(NamedSharding(MESH, P(("data", "model"))), None), out_shardings=NamedSharding(MESH, P(None, "model")))
    text = shardkit.import_jax(jitted, X, W).text
    assert 'spmd.mesh @mesh = <["data"=2, "model"=2]>' in text
    assert '<@mesh, [{"data", "model"}, {}]>, spmd.' not in text.split("->")[1]
    assert 'spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data", "model"}, {}]>' in text, text
    assert 'spmd.with_sharding_constraint %' in text and '<@mesh, [{"data"}, {?}]>' in text
    assert 'spmd.name = "result", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>' in text


def test_ranges():
    text = shardkit.import_jax(lambda t, i, n: t[i] * n, X, np.int32([1, 2]), np.int32(7)).text
    assert 'spmd.name = "i", spmd.range = [0, 8]' in text and 'spmd.name = "n"}' in text, text


def test_lines():
    text = shardkit.import_jax(lambda x: jnp.tanh(x), X).text
    assert re.search(r'test_import\.py":\d+:\d+', text)
    assert "loc(" not in shardkit.import_jax(lambda x: jnp.tanh(x), X, locations=False).text


def test_stage_boundary():
    def f(w, x):
        def loss(w):
            h, n = shardkit.stage_boundary((jnp.tanh(x @ w[0]), jnp.arange(8)))
            return (jnp.tanh(h @ w[1]).sum(1) * n).sum()

        return jax.value_and_grad(loss)(w)

    assert np.isfinite(jax.jit(f)([W, W], X)[0])  # JAX runs it too
    text = shardkit.import_jax(f, [W, W], X, locations=False).text
    found = [line.strip() for line in text.split("\n") if "stage_boundary" in line]
    assert len(found) == 2, found
    assert re.fullmatch(r"spmd\.stage_boundary %\S+, %\S+ : tensor<8x4xf32>, tensor<8xi32>", found[0]), found
    assert re.fullmatch(r"spmd\.stage_boundary backward %\S+ : tensor<8x4xf32>", found[1]), found


def test_batch():
    text = shardkit.import_jax(lambda w, x, n: (x[0] @ w * n, x[1]), W, (X, X), np.float32(2), batch=["x"], locations=False).text
    assert text.count("spmd.microbatch = #spmd.microbatch<dim = 0>") == 2, text
    assert re.search(r"spmd\.microbatch = #spmd\.microbatch<dim = 0>, spmd\.weight = \"x\.0\"", text), text
    for names, expected in ((["y"], "no parameter is called y, expected one of: w, x, n"), (["n"], "n is a scalar, expected batch")):
        try:
            shardkit.import_jax(lambda w, x, n: x[0] @ w * n + x[1], W, (X, X), np.float32(2), batch=names)
        except shardkit.ShardKitError as error:
            assert expected in str(error), error
        else:
            raise AssertionError("expected an error")


def test_stablehlo():
    """Text, bytecode, and a file with either say the same; weights by name."""
    lowered = jax.jit(lambda x, w: x @ w).lower(jax.device_put(X, NamedSharding(MESH, P("data"))), W)
    operation = lowered.compiler_ir("stablehlo").operation
    bytecode = io.BytesIO()
    operation.write_bytecode(bytecode)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model.mlirbc")
        path.write_bytes(bytecode.getvalue())
        texts = set()
        for source in (operation.get_asm(enable_debug_info=True), bytecode.getvalue(), path):
            model = shardkit.import_stablehlo(source, weights=["w"], locations=False)
            assert np.array_equal(model.run(X, W)[0], X @ W)
            texts.add(model.text)
        plain = shardkit.import_stablehlo(str(operation))  # without locations arguments have no names
        assert [a.name for a in plain.arguments] == ["arg0", "arg1"]
    (text,) = texts
    assert 'spmd.weight = "w"' in text and '#spmd.sharding<@mesh, [{"data"}, {}]>' in text


GSPMD = """
func.func @main(%x: tensor<8x4xf32> {{mhlo.sharding = "{x}"}}, %w: tensor<4x4xf32> {{mhlo.sharding = "{w}"}}) -> tensor<8x4xf32> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {{backend_config = "unspecified_dims=[1]", mhlo.sharding = "{x}"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}}"""


def test_gspmd():
    """Lists of devices, and their closed form; a dim about which nothing is said is open."""
    short = GSPMD.format(x="{devices=[2,1,4]<=[8] last_tile_dim_replicate}", w="{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}")
    long = GSPMD.format(x="{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", w="{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}")
    for text, axes in ((short, '{"d1"}'), (long, '{"d1", "d2"}')):
        model = shardkit.import_stablehlo(text, locations=False)
        assert f'#spmd.sharding<@mesh, [{{}}, {axes}]>' in model.text, model.text
        assert 'spmd.with_sharding_constraint %2 <@mesh, [{"d0"}, {?}]>' in model.text, model.text
        assert np.array_equal(model.run(X, 2 * W)[0], 2 * X)


LOCAL = """
func.func @main(%x: tensor<8x4xf32> {{mhlo.sharding = "{{devices=[2,2]<=[4]}}"}}) -> tensor<8x4xf32> {{
  %0 = stablehlo.custom_call @Sharding(%x) {{{open} mhlo.sharding = "{cut}"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {{{open} mhlo.sharding = "{manual}"}} : (tensor<8x4xf32>) -> tensor<4x{n}xf32>
  %2 = call @body(%1) : (tensor<4x{n}xf32>) -> tensor<4x{n}xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {{{open} mhlo.sharding = "{manual}"}} : (tensor<4x{n}xf32>) -> tensor<4x{n}xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {{{open} mhlo.sharding = "{cut}"}} : (tensor<4x{n}xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}}
func.func private @body(%x: tensor<4x{n}xf32>) -> tensor<4x{n}xf32> {{
  %0 = "stablehlo.all_reduce"(%x) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }}) : (tensor<4x{n}xf32>) -> tensor<4x{n}xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {{{open} mhlo.sharding = "{inside}"}} : (tensor<4x{n}xf32>) -> tensor<4x{n}xf32>
  return %1 : tensor<4x{n}xf32>
}}"""


def test_gspmd_local():
    """Regions in local view, over all devices and over some."""
    some = "{devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}"
    whole = LOCAL.format(open="", cut="{devices=[2,2]<=[4]}", manual="{manual}", n=2, inside="{replicated}")
    partly = LOCAL.format(
        open='backend_config = "unspecified_dims=[1]",', cut="{devices=[2,1,2]<=[4] last_tile_dim_replicate}", manual=some, n=4, inside=some
    )
    for text, axes in ((whole, '["d0", "d1"]'), (partly, '["d0"]')):
        model = shardkit.import_stablehlo(text, locations=False)
        assert f"axes {axes}" in model.text, model.text
        assert np.array_equal(model.run(X)[0], np.tile(X[:4] + X[4:], (2, 1)))


def test_large_constants():
    """Arrays that functions close over are in one file of the bundle, once, and each device has its shard."""
    numbers = np.random.default_rng(0)
    table = numbers.standard_normal((160, 128)).astype(np.float32)
    same, mask = table.copy(), numbers.random((160, 512)) < 0.5
    half = jnp.asarray(numbers.standard_normal((160, 256)), jnp.bfloat16)
    phase = (numbers.standard_normal((160, 64)) + 1j * numbers.standard_normal((160, 64))).astype(np.complex64)
    zeros, count = np.zeros((160, 128), np.float32), numbers.integers(0, 2**32, (1026, 1024)).astype(np.uint32)

    def f(x, sharded=True):
        pin = (lambda v, *spec: jax.lax.with_sharding_constraint(v, NamedSharding(MESH, P(*spec)))) if sharded else lambda v, *spec: v
        rows = jax.lax.scan(lambda s, _: (s + jnp.tanh(x @ pin(table, None, "model")), None), zeros[:4], None, length=2)[0]
        return rows, x @ same, jnp.where(mask, x[0, 0], 1.0), jnp.asarray(half).astype(jnp.float32)[:3], (pin(phase, "data") * 2).real, (jnp.asarray(count) >> 3)[1000:]

    x = numbers.standard_normal((4, 160)).astype(np.float32)
    want = f(x, sharded=False)
    model = shardkit.import_jax(f, x)
    assert len(model.text) < 20000 and len(model.constants) == 5, (len(model.text), model.constants.keys())

    def check(found):
        for a, b in zip(found, want, strict=True):
            assert np.allclose(a, b, rtol=1e-5, atol=1e-5), (a, b)

    with model.compile() as program, tempfile.TemporaryDirectory() as directory:
        check(program(x))
        held = [v for v in program.session["main"].arguments if v.kind == "constant"]
        assert len(held) == 5 and {v.shape: v.bytes_per_device for v in held}[160, 128] == table.nbytes // 2, held
        assert (program.directory / "bundle" / "constants.safetensors").stat().st_size < sum(v.nbytes for v in held) + 8192
        # A saved module has them.
        path = model.save(directory) / "model.mlir"
        run_tool([find_tool("shard-compile"), str(path), "-o", f"{directory}/bundle", "--opt-level=1"])
        with shardkit.Session(f"{directory}/bundle") as session:
            check([a.numpy().view(np.uint32) if a.dtype == np.int32 else a for a in session["main"](x)])
            read = session.load_counters["bytes_read"]
            session.add(program.directory / "bundle", "again")  # has the same constants
            check([a.numpy().view(np.uint32) if a.dtype == np.int32 else a for a in session["again"](x)])
            assert session.load_counters["bytes_read"] == read == sum(v.nbytes for v in held), session.load_counters
    with shardkit.compile({"one": lambda x: x @ table, "two": lambda x: jnp.cos(x) @ same}, {"one": (x,), "two": (x,)}) as programs:
        assert np.allclose(programs["one"](x), x @ table, atol=1e-4) and np.allclose(programs["two"](x), np.cos(x) @ table, atol=1e-4)


def test_command():
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model.py")
        path.write_text(
            "import numpy as np\ndef apply(params, x):\n    return x @ params['w']\n"
            "def example_args():\n    return {'w': np.eye(4, dtype=np.float32)}, np.ones((8, 4), np.float32)\n"
        )
        assert cli.main(["jax", f"{path}:apply", "-o", f"{directory}/out"]) == 0
        assert set(os.listdir(f"{directory}/out")) == {"model.mlir", "weights.safetensors", "inputs.safetensors"}
        assert np.array_equal(safetensors.read(f"{directory}/out/weights.safetensors")["params.w"], W)
        assert cli.main(["jax", str(path), "--batch", "x", "-o", f"{directory}/out"]) == 0
        assert "spmd.microbatch = #spmd.microbatch<dim = 0>" in Path(directory, "out", "model.mlir").read_text()
        assert cli.main(["jax", f"{path}:nothing", "-o", f"{directory}/out"]) == 1


if __name__ == "__main__":
    run_tests(globals())
