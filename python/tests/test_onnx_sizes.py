#!/usr/bin/env python3
"""ONNX graphs with named dims whose sizes each call brings along: one program, at sizes below the number of devices too, beside ONNX
Runtime. Needs the wheels."""

import dataclasses
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import shardkit
from samples import run_tests
from shardkit.cli import main
from shardkit.tools import find_tool, run_tool

RNG = np.random.default_rng(0)
WIDTH, HEADS, WORDS, POSITIONS = 32, 4, 50, 64
node, value = helper.make_node, helper.make_tensor_value_info


def normal(*shape):
    return (RNG.standard_normal(shape) * 0.3).astype(np.float32)


def write(nodes, inputs, outputs, constants):
    initializers = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    path = Path(tempfile.mkdtemp(), "model.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def shard_by(model, axes):
    """On a mesh of 2 x 2, by the axes of each dim of arguments."""
    rules = [{"argument": name, "axis_resources": list(dims)} for name, dims in axes.items()]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
        json.dump({"version": 1, "meshes": [{"name": "mesh", "axes": [["data", 2], ["model", 2]]}], "rules": rules}, plan)
        plan.flush()
        text = run_tool([find_tool("shard-opt"), "-", f"--spmd-apply-plan=file={plan.name}", "--mlir-print-debuginfo"], model.text)
    return dataclasses.replace(model, text=text)


def compare(path, program, *inputs, tolerance=3e-6):
    session = onnxruntime.InferenceSession(str(path))
    expected = session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs)))
    for found, wanted in zip(program(*inputs), expected, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, atol=tolerance * max(1, np.abs(wanted).max(initial=0)), rtol=0, err_msg=str([i.shape for i in inputs]))


def check_error(call, pattern):
    try:
        call()
    except shardkit.ShardKitError as error:
        assert re.search(pattern, str(error)), error
    else:
        raise AssertionError(f"no error, expected {pattern}")


class Graph:
    """Nodes and constants of a model. Each node has one result."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def add(self, op, *inputs, **attributes):
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        name = attributes.pop("name", f"n{len(self.nodes)}")
        self.nodes.append(node(op, names, [name], name=name, **attributes))
        return name

    def constant(self, array, name=None):
        name = name or f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array, np.int64) if isinstance(array, (int, list)) else array
        return name

    def size(self, x, d):
        """As exporters ask for it."""
        return self.add("Unsqueeze", self.add("Gather", self.add("Shape", x), d, axis=0), [0])

    def linear(self, x, name, *shape):
        self.constant(normal(*shape), f"{name}.w"), self.constant(normal(shape[1]), f"{name}.b")
        return self.add("Add", self.add("MatMul", x, f"{name}.w"), f"{name}.b")

    def norm(self, x):
        return self.add("LayerNormalization", x, np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32), axis=-1)


def write_encoder(layers=1):
    """A sentence encoder as exporters write it: shapes of Shape, Gather and Concat, a mask that is expanded, and a mean over tokens."""
    g = Graph()
    b, s = g.size("input_ids", 0), g.size("input_ids", 1)
    positions = g.add("Slice", g.constant(np.arange(POSITIONS)[None], "position_ids"), [0], s, [1], [1])
    x = g.norm(g.add("Add", g.add("Gather", g.constant(normal(WORDS, WIDTH), "words"), "input_ids"), g.add("Gather", g.constant(normal(POSITIONS, WIDTH), "positions"), positions)))
    wanted = g.add("Concat", b, [1], s, s, axis=0)
    ones = g.add("ConstantOfShape", [4], value=numpy_helper.from_array(np.int64([1])))
    wanted = g.add("Where", g.add("Equal", wanted, g.add("Mul", ones, -1)), ones, wanted)
    mask = g.add("Cast", g.add("Expand", g.add("Unsqueeze", "attention_mask", [1, 2]), wanted), to=1)
    mask = g.add("Mul", g.add("Sub", np.float32(1), mask), np.float32(-1e9))
    for k in range(layers):
        parts = []
        for n in "qkv":
            part = g.linear(x, f"{k}.{n}", WIDTH, WIDTH)
            shape = g.add("Concat", g.size(part, 0), [-1] if n == "k" else g.size(part, 1), [HEADS], [WIDTH // HEADS], axis=0)
            parts.append(g.add("Transpose", g.add("Reshape", part, shape), perm=[0, 2, 3, 1] if n == "k" else [0, 2, 1, 3]))
        scores = g.add("Add", g.add("Div", g.add("MatMul", parts[0], parts[1]), np.float32((WIDTH / HEADS) ** 0.5)), mask)
        y = g.add("Transpose", g.add("MatMul", g.add("Softmax", scores, axis=-1), parts[2]), perm=[0, 2, 1, 3])
        y = g.add("Reshape", y, g.add("Concat", g.size(y, 0), g.size(y, 1), [WIDTH], axis=0))
        x = g.norm(g.add("Add", g.linear(y, f"{k}.o", WIDTH, WIDTH), x))
        h = g.linear(x, f"{k}.up", WIDTH, 2 * WIDTH)
        h = g.add("Mul", h, g.add("Add", g.add("Erf", g.add("Div", h, np.float32(2**0.5))), np.float32(1)))
        x = g.norm(g.add("Add", g.linear(h, f"{k}.down", 2 * WIDTH, WIDTH), x))
    tokens = g.add("Cast", g.add("Expand", g.add("Unsqueeze", "attention_mask", [-1]), g.add("Shape", x)), to=1)
    total = g.add("ReduceSum", g.add("Mul", x, tokens), [1], keepdims=0)
    g.add("Div", total, g.add("Clip", g.add("ReduceSum", tokens, [1], keepdims=0), np.float32(1e-9)), name="pooled")
    g.add("Gather", x, 0, axis=1, name="first")
    g.add("Identity", x, name="hidden")
    inputs = [value(n, TensorProto.INT64, ["batch", "sequence"]) for n in ("input_ids", "attention_mask")]
    outputs = [value("hidden", 1, ["batch", "sequence", WIDTH]), value("pooled", 1, ["batch", WIDTH]), value("first", 1, ["batch", WIDTH])]
    return write(g.nodes, inputs, outputs, g.constants)


BOUNDS = {"batch": (1, 16), "sequence": (1, POSITIONS)}


def test_encoder() -> None:
    path = write_encoder()
    model = shardkit.import_onnx(path, bounds=BOUNDS)
    assert [a.shape for a in model.arguments if not a.is_weight] == [(-1, -1)] * 2
    weights = {f"0.{n}.w": (None, "model") for n in ("q", "k", "v", "up")} | {"0.o.w": ("model", None), "0.down.w": ("model", None)}
    for tokens in (("data", None), (None, "data")):
        sharded = shard_by(model, weights | {"input_ids": tokens, "attention_mask": tokens})
        with sharded.compile() as program:
            for b, s in ((1, 1), (1, 5), (3, 2), (7, 33), (16, 64)):
                mask = np.ones((b, s), np.int64)
                mask[:, s // 2 + 1 :] = 0
                compare(path, program, RNG.integers(0, WORDS, (b, s)), mask)
            check_error(lambda: program(np.ones((2, 3), np.int64), np.ones((2, 4), np.int64)), "dim 1 of argument 'attention_mask' is 4, expected 3, as dim 1 of argument 'input_ids'")
            check_error(lambda: program(*[np.ones((17, 3), np.int64)] * 2), "size 'batch' is 17, expected one from 1 to 16")


def test_ops() -> None:
    """What reads and makes sizes."""
    g = Graph()
    s = g.size("x", 1)
    scalar = g.add("Squeeze", s, [0])
    counted = g.add("Range", 0, scalar, 1)
    g.add("Mul", g.add("Cast", counted, to=1), g.add("Cast", scalar, to=1), name="numbers")  # sizes as data
    g.add("Reshape", "x", g.add("Concat", [-1], [6], axis=0), name="rows")
    g.add("Flatten", "x", axis=1, name="flat")
    g.add("Reshape", "x", [0, 0, 3, 2], name="split")
    g.add("Concat", "x", "past", "x", axis=1, name="joined")
    g.add("Slice", "joined", s, g.add("Add", s, g.size("past", 1)), [1], name="middle")
    g.add("Slice", "x", [-1], [1 << 62], [1], name="last")
    g.add("Gather", "x", -1, axis=1, name="end")
    g.add("Expand", g.constant(normal(1, 1, 6)), g.add("Shape", "x"), name="spread")
    g.add("LessOrEqual", g.add("Unsqueeze", counted, [0]), g.add("Unsqueeze", counted, [1]), name="causal")
    g.add("Shape", "past", name="shape")
    known = {"rows": ["r", 6], "flat": ["b", "f"], "split": ["b", "s", 3, 2], "joined": ["b", "t", 6], "middle": ["b", "p", 6], "last": ["b", 1, 6], "end": ["b", 6], "spread": ["b", "s", 6], "numbers": ["s"]}
    outputs = [value(n, 1, dims) for n, dims in known.items()] + [value("causal", TensorProto.BOOL, ["s", "s"]), value("shape", TensorProto.INT64, [3])]
    path = write(g.nodes, [value("x", 1, ["b", "s", 6]), value("past", 1, ["b", "p", 6])], outputs, g.constants)
    model = shardkit.import_onnx(path, bounds={"b": (1, 8), "s": (1, 16), "p": (0, 16)})
    with shard_by(model, {"x": ("data", None, None), "past": (None, "model", None)}).compile() as program:
        for b, s, p in ((2, 4, 2), (1, 1, 0), (3, 5, 7), (8, 16, 16)):
            compare(path, program, normal(b, s, 6), normal(b, p, 6))


def test_sizes_of_sizes() -> None:
    """As published decoders have them: a mask as long as the cache and what is new; no dim is the length of the cache alone."""
    g = Graph()
    g.add("Concat", "past", "x", axis=2, name="keys")
    g.add("Mul", g.add("Unsqueeze", "mask", [1, 3]), "keys", name="masked")
    length = g.add("Squeeze", g.add("Sub", g.size("mask", 1), g.size("x", 2)), [0])
    g.add("Range", 0, length, 1, name="positions")
    g.add("Slice", "keys", [1], [1 << 62], [2], name="rest")
    shapes = {"x": ["b", 4, "s", 6], "past": ["b", 4, "past_length + 1", 6], "mask": ["b", "past_length + s + 1"]}
    outputs = [value(n, 1, ["b", 4, "t", 6]) for n in ("masked", "rest")] + [value("positions", TensorProto.INT64, ["p"])]
    path = write(g.nodes, [value(n, 1, dims) for n, dims in shapes.items()], outputs, g.constants)
    model = shardkit.import_onnx(path, bounds={"b": (1, 8), "s": (1, 4), "past_length": (0, 16)})
    with shard_by(model, {"x": ("data", "model"), "past": ("data", "model"), "mask": ("data",)}).compile() as program:
        for b, s, p in ((2, 1, 2), (1, 4, 0), (7, 3, 16)):
            compare(path, program, normal(b, 4, s, 6), normal(b, 4, p + 1, 6), normal(b, p + s + 1))
        check_error(lambda: program(normal(2, 4, 1, 6), normal(2, 4, 3, 6), normal(2, 5)), r"dim 1 of argument 'mask' is 5, expected 4 \(s \+ past_length \+ 1\)")
    path = write([node("Neg", ["x"], ["y"])], [value("x", 1, ["b", "2*b + 1"])], [value("y", 1, ["b", "t"])], {})
    assert [a.shape for a in shardkit.import_onnx(path, sizes={"b": 3}).arguments] == [(3, 7)]


def import_nodes(nodes, outputs, constants=None, bounds=None, inputs=(("x", ["b", "s"]),)):
    path = write(nodes, [value(n, 1, dims) for n, dims in inputs], [value(n, 1, dims) for n, dims in outputs], constants or {})
    return lambda: shardkit.import_onnx(path, bounds={"b": (1, 8), "s": (1, 8)} if bounds is None else bounds)


def test_errors() -> None:
    plain = ([node("Neg", ["x"], ["y"])], [("y", ["b", "s"])])
    for bounds, expected in [
        ({"b": (1, 8)}, r"input x has the unknown size s in dim 1, expected a number: --size s=8.*or a bound: --bound s=1:64"),
        ({"c": (1, 8)}, "bounds has 'c', expected a symbolic dim of an input: b, s"),
        ({"b": (8, 1), "s": (1, 8)}, r"bounds has b = \(8, 1\), expected the least and the largest size, such as {'batch': \(1, 64\)}"),
        ({"b": 8}, "bounds has b = 8, expected the least"),
        ([8], r"bounds is \[8\], expected"),
    ]:
        check_error(import_nodes(*plain, bounds=bounds), expected)
    shape = node("Shape", ["x"], ["shape"])
    for nodes, constants, expected in [
        ([node("Add", ["x", "x2"], ["y"], name="sum")], {}, 'node Add "sum" combines dims of sizes s and t, expected equal sizes, or 1: dims of one size have one name'),
        ([node("Reshape", ["x", "to"], ["y"], name="r")], {"to": np.int64([4, -1])}, r'node Reshape "r" reshapes \[b, s\] to \[4, -1\], expected a size for -1 that follows'),
        ([node("NonZero", ["x"], ["i"], name="where"), node("Cast", ["i"], ["y"], to=1)], {}, 'node NonZero "where" makes a tensor whose size depends on data'),
        ([shape, node("Slice", ["x", "four", "nine"], ["y"], name="part")], {"four": np.int64([4]), "nine": np.int64([9])}, 'node Slice "part" takes elements up to 4 of b, expected bounds of b'),
    ]:
        inputs = (("x", ["b", "s"]), ("x2", ["b", "t"]))
        check_error(import_nodes(nodes, [("y", ["u", "v"])], constants, {"b": (1, 8), "s": (1, 8), "t": (1, 8)}, inputs), expected)


def test_command_line() -> None:
    path, directory = write_encoder(), tempfile.mkdtemp()
    assert main(["onnx", str(path), "-o", directory, "--size", "batch=2", "--bound", "sequence=1:64"]) == 0
    text = Path(directory, "model.mlir").read_text()
    assert "tensor<2x?xi64>" in text and "sequence = [1, 64]" in text
    for given in ("batch", "batch=4", "batch=4:1"):
        assert main(["onnx", str(path), "-o", directory, "--bound", given]) == 1, given


if __name__ == "__main__":
    run_tests(globals())
