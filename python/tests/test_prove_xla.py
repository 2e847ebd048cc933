#!/usr/bin/env python3
"""Programs of XLA: what is proven, faults in its HLO, groups and numbers of devices, errors. Needs the wheels."""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "jax"))
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"

import jax  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P

import shardkit  # noqa: E402
from models import build  # noqa: E402
from samples import fails, run_tests  # noqa: E402
from shardkit.hlo import cli, reader  # noqa: E402
from shardkit.hlo.devices import find_digits  # noqa: E402
from shardkit.hlo.proof import prove_hlo  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
AXES = {"data": 2, "model": 4}


def prove(name, style, **sizes):
    function, args = build(name, style, MESH, **sizes)
    proof = shardkit.prove_xla(function, *args)
    assert proof, (name, style, proof.message)
    return proof


def change(proof, pattern, by):
    """The proof of the program with one line changed, and the number of that line."""
    lines = proof.after.split("\n")
    number = next(i for i, line in enumerate(lines) if re.search(pattern, line))
    lines[number] = re.sub(pattern, by, lines[number])
    return prove_hlo(proof.before, "\n".join(lines), mesh=AXES), number + 1


def test_models():
    """Collectives of each kind, a loop, a sort, tables by partition-id, several results."""
    for name, style in (("scan", "megatron"), ("moe", "two"), ("decode", "two"), ("conv", "megatron")):
        prove(name, style)


def test_exchanges():
    proof = prove("gpt2_step", "fsdp", layers=1)
    assert "all-to-all(" in proof.after
    changed, _ = change(proof, r"(all-to-all\(.*replica_groups=)mesh\[[^\]]*\] \{[^}]*\}", r"\1{{0,2,4,6,1,3,5,7}}")
    assert changed.outcome != "proven"


def test_faults():
    proof = prove("mlp", "megatron")
    dropped, line = change(proof, r"all-reduce\((%[\w.-]+)\).*", r"copy(\1)")
    assert dropped.outcome == "refused" and 'partial over {"model"}' in dropped.message, dropped.message
    assert re.search(r":(\d+): error: @main is refused at add: ", dropped.message) and re.search(r"models.py:\d+:\d+: note: the line of the model", dropped.message)
    groups, line = change(proof, r"replica_groups=\{\{.*?\}\}", "replica_groups={{0,4},{1,5},{2,6},{3,7}}")
    assert groups.outcome == "refused" and f":{line}: error: @main is refused at all-reduce: " in groups.message, groups.message
    # A slice off by one.
    proof = prove("llama", "two")
    moved, line = change(proof, r"\[1:4:2\]", "[0:3:2]")
    assert moved.outcome != "proven" and re.search(r":\d+: error: @main is (?:refused|not decided) at ", moved.message), moved.message
    # A table of devices that is off by one.
    proof = prove("conv", "megatron")
    table, _ = change(proof, r"constant\(\{0, 2, 4, 6\}\)", "constant({0, 2, 4, 5})")
    assert table.outcome != "proven"


def test_orders():
    """Groups along axes of a mesh whose devices have another order, and a move between orders of the axes."""
    named = lambda *spec: NamedSharding(MESH, P(*spec))  # noqa: E731
    function, args = build("mlp", "megatron", MESH)
    proof = shardkit.prove_xla(function, args[0], np.ones((8, 16), np.float32))
    assert proof and "device_ids=(" in proof.after, proof.message
    twice = jax.jit(lambda x: x * 2, in_shardings=named("data"), out_shardings=named("model"))
    proof = shardkit.prove_xla(twice, np.ones((8, 12), np.float32))
    assert proof and "collective-permute(" in proof.after, proof.message
    changed, _ = change(proof, r"\{1,4\},\{2,1\}", "{2,4},{1,1}")
    assert changed.outcome != "proven"


def test_halos():
    """Shifts, of which the devices at the end receive zeros, and a mask of what is outside of the image."""
    named = lambda *spec: NamedSharding(MESH, P(*spec))  # noqa: E731
    difference = jax.jit(lambda x: x[1:] - x[:-1], in_shardings=named("data"), out_shardings=named())
    dims = ("NHWC", "HWIO", "NHWC")
    convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dims)  # noqa: E731
    proof = shardkit.prove_xla(difference, np.ones((8, 12), np.float32))
    assert proof and "collective-permute(" in proof.after, proof.message
    changed, _ = change(proof, r"\{4,0\},\{5,1\},\{6,2\},\{7,3\}", "{0,4},{1,5},{2,6},{3,7}")
    assert changed.outcome != "proven"
    image, kernel = np.ones((2, 8, 8, 4), np.float32), np.ones((3, 3, 4, 4), np.float32)
    proof = shardkit.prove_xla(jax.jit(convolve, in_shardings=(named(None, "data"), named())), image, kernel)
    assert proof and "select(" in proof.after, proof.message
    changed, _ = change(proof, r"s32\[\] constant\(9\)", "s32[] constant(8)")  # a wider mask is harmless: these are zeros
    assert changed.outcome != "proven"


def test_groups():
    def expand(text):
        line = reader.expand_groups(f"  %a = f32[] all-reduce(%b), replica_groups={text}, to_apply=%c", "f")
        return [list(map(int, g.split(","))) for g in re.search(r"=\{\{(.*?)\}\}", line)[1].split("},{")]

    assert expand("{{0,2},{1,3}}") == [[0, 2], [1, 3]]
    assert expand("[2,4]<=[8]") == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert expand("[4,2]<=[2,4]T(1,0)") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert expand("mesh['a'=2,'b'=4] {'a'}") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert expand("mesh['a'=2,'b'=4] {'b','a'}") == [[0, 4, 1, 5, 2, 6, 3, 7]]
    assert expand("mesh['a'=8] {'a':(2)2}") == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert expand("mesh['a'=1,'b'=4,'c'=2], device_ids=([2,4]T(1,0)) {'b'}") == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert expand("mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}") == [[0, 1], [2, 3]]
    for text in ("mesh['a'=2,'b'=4], device_ids=([3,3]) {'a'}", "mesh['a'=8] {'b'}", "mesh['a'=8] {'a':(3)2}", "[2,4]<=[9]", "all"):
        fails(lambda: reader.expand_groups(f"replica_groups={text}", "f"), "f:1: error: replica_groups=", "expected lists of devices")


def test_digits():
    """Digits give back each table, and there are none where a number is another."""
    rng = np.random.default_rng(0)
    for shape in ((8,), (2, 4), (4, 6), (2, 3, 5)):
        index = np.indices(shape)
        for _ in range(20):
            factors = rng.integers(-3, 9, len(shape))
            table = 5 + sum(f * (i // 2 % 2 * 3 + i % 2 if n % 4 == 0 else i) for f, i, n in zip(factors, index, shape))
            digits = find_digits(table)
            found = table.flat[0] + sum(index[a] // low % size * factor for a, low, size, factor in digits)
            assert np.array_equal(found + 0 * index[0], table), (shape, factors)
        if len(shape) > 1:
            wrong = sum(index) + 0
            wrong.flat[-1] += 1
            assert find_digits(wrong) is None


def test_command():
    proof = prove("mlp", "two")
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before.txt"), Path(folder, "after.txt")
        before.write_text(proof.before)
        after.write_text(proof.after)

        def run(*arguments):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = cli.main(list(map(str, arguments)))
            return status, out.getvalue(), err.getvalue()

        certificate = Path(folder, "certificate.json")
        status, out, err = run(before, after, "--rules", "--certificate", certificate)
        assert status == 0 and not err and "proven" in out and "1 x collective" in out, (out, err)
        assert '"outcome": "proven"' in certificate.read_text()
        after.write_text(proof.after.replace("maximum(", "minimum("))
        status, out, err = run(before, after)
        assert status == 1 and "proven" not in out and f"{after}:" in err and "minimum" in err, (out, err)
        for text, part in (
            ("hello", f"{after}: error: not a module of HLO"),
            (proof.after.replace(" maximum(", " maximal("), "error: expects opcode"),
            (proof.after.replace("use_global_device_ids=true, ", ""), "stablehlo.all_reduce is over replicas"),
            (proof.after.replace("num_partitions=8", "num_partitions=4"), "the module is for 8 partitions, expected 4"),
            (proof.before, "error: argument #1 is 'tensor<32x16xf32>', expected 'tensor<8x16xf32>'"),
            (proof.after.replace("{{0,1,2,3},{4,5,6,7}}", "{{0,1,2},{4,5,6}}"), f"{after}:41: error: replica id #3 not seen in replica groups"),
        ):
            after.write_text(text)
            status, out, err = run(before, after)
            assert status == 2 and part in err and not out, (part, err)
        assert run(folder)[0] == 2 and run(Path(folder, "none"))[0] == 2 and run(before, after, "--mesh", "data=3")[0] == 2
    fails(lambda: shardkit.prove_xla(lambda x: x + 1, np.ones(3)), "XLA did no SPMD partitioning")


if __name__ == "__main__":
    run_tests(globals())
