#!/usr/bin/env python3
"""ONNX files against ONNX Runtime: weights in external files, functions of the model, specs. Needs the wheels."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import shardkit
from samples import run_tests

RNG = np.random.default_rng(1)
node = helper.make_node


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(nodes, inputs, outputs, constants, functions=(), version=18):
    """A file whose larger initialisers are in a file beside it."""
    initializers = [numpy_helper.from_array(v, n) for n, v in constants.items()]
    opsets = [helper.make_opsetid(*o) for o in (("", version), ("own", 1), ("com.microsoft", 1))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=10 if version > 18 else 9)
    path = Path(tempfile.mkdtemp(), "model.onnx")
    onnx.save_model(model, path, save_as_external_data=True, location="weights.bin", size_threshold=256)
    return path


def compare(path, *inputs):
    session = onnxruntime.InferenceSession(str(path))
    expected = session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs)))
    model = shardkit.import_onnx(path)
    for a, b in zip(model.run(*inputs), expected, strict=True):
        assert a.dtype == b.dtype and np.allclose(a, b, rtol=0, atol=2e-6 * max(1, np.abs(b).max())), (a, b)
    return model


def test_external_and_functions():
    swish = helper.make_function(
        "own", "Swish", ["x", "b"], ["y"],
        [node("Add", ["x", "b"], ["s"]), node("Sigmoid", ["s"], ["g"]), node("Mul", ["s", "g"], ["y"])], [helper.make_opsetid("", 18)],
    )  # fmt: skip
    path = write(
        [
            node("MatMul", ["x", "up"], ["a"]), node("Swish", ["a", "bias"], ["b"], domain="own"), node("MatMul", ["b", "down"], ["c"]),
            node("LayerNormalization", ["c", "gain", "shift"], ["d"], axis=-1), node("Add", ["d", "x"], ["y"]),
        ],
        [value("x", [4, 8, 16])], [value("y", [4, 8, 16])],
        {"up": normal(16, 64), "bias": normal(64), "down": normal(64, 16), "gain": normal(16), "shift": normal(16)}, [swish],
    )  # fmt: skip
    assert path.with_name("weights.bin").stat().st_size >= 4 * 2 * 16 * 64
    model = compare(path, normal(4, 8, 16))
    assert [a.name for a in model.arguments if a.is_weight] == ["up", "bias", "down", "gain", "shift"]


def test_lookups():
    path = write(
        [
            node("Gather", ["table", "ids"], ["x"]), node("ReduceMean", ["x", "dims"], ["y"], keepdims=0),
            node("TopK", ["y", "k"], ["values", "places"], axis=-1), node("CumSum", ["y", "dim"], ["sums"]),
        ],
        [value("ids", [4, 8], TensorProto.INT64)],
        [value("y", [4, 60]), value("values", [4, 3]), value("places", [4, 3], TensorProto.INT64), value("sums", [4, 60])],
        {"table": normal(20, 60), "dims": np.int64([1]), "k": np.int64([3]), "dim": np.int64(1)},
    )  # fmt: skip
    compare(path, RNG.integers(0, 20, (4, 8)))


def test_convolution():
    path = write(
        [
            node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["c"], ["r"]),
            node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", ["m"], ["f"]),
            node("Gemm", ["f", "g"], ["y"], transB=1),
        ],
        [value("x", [2, 3, 8, 8])], [value("y", [2, 5])], {"w": normal(6, 3, 3, 3), "b": normal(6), "g": normal(5, 24)},
    )  # fmt: skip
    compare(path, normal(2, 3, 8, 8))


def test_decoder():
    """Ops that ONNX makes of others (RMSNormalization, RotaryEmbedding, Attention with a cache), and shapes that the graph computes."""
    angles = np.arange(6)[:, None] * 0.3 ** np.arange(4)
    path = write(
        [
            node("RMSNormalization", ["x", "gain"], ["n"], axis=-1),
            *(node("MatMul", ["n", f"w{c}"], [c]) for c in "qkv"),
            *(node("RotaryEmbedding", [c, "cos", "sin", "places"], [f"{c}_r"], num_heads=h) for c, h in (("q", 4), ("k", 2))),
            node("Shape", ["past"], ["shape"]), node("Gather", ["shape", "heads"], ["h"]), node("Concat", ["batch", "rows", "h", "eight"], ["four"], axis=0),
            *(node("Reshape", [f"{c}", "four"], [f"{c}_s"]) for c in ("k_r", "v")),
            *(node("Transpose", [f"{c}_s"], [f"{c}_t"], perm=[0, 2, 1, 3]) for c in ("k_r", "v")),
            node("Reshape", ["q_r", "queries"], ["q_s"]), node("Transpose", ["q_s"], ["q_t"], perm=[0, 2, 1, 3]),
            node("Attention", ["q_t", "k_r_t", "v_t", "", "past", "values"], ["a", "keys_out", "values_out"], is_causal=1),
            node("Transpose", ["a"], ["a_t"], perm=[0, 2, 1, 3]), node("Reshape", ["a_t", "joined"], ["b"]),
            node("Add", ["b", "x"], ["y"]),
        ],
        [value("x", [2, 3, 32]), value("past", [2, 2, 3, 8]), value("values", [2, 2, 3, 8])],
        [value("y", [2, 3, 32]), value("keys_out", [2, 2, 6, 8]), value("values_out", [2, 2, 6, 8])],
        {
            "gain": normal(32), "wq": normal(32, 32), "wk": normal(32, 16), "wv": normal(32, 16), "cos": np.float32(np.cos(angles)),
            "sin": np.float32(np.sin(angles)), "places": np.int64([[3, 4, 5]] * 2), "heads": np.int64([1]), "batch": np.int64([2]),
            "rows": np.int64([-1]), "eight": np.int64([8]), "queries": np.int64([2, 3, 4, 8]), "joined": np.int64([0, 0, -1]),
        },
        version=24,
    )  # fmt: skip
    compare(path, normal(2, 3, 32), normal(2, 2, 3, 8), normal(2, 2, 3, 8))


def test_rewritten():
    """Nodes that torch-mlir lowers in one form only, or wrongly."""
    path = write(
        [
            node("DequantizeLinear", ["q", "scale", "zero"], ["d"], axis=1), node("LpNormalization", ["d"], ["l"], axis=-1),
            node("Slice", ["l", "starts", "ends", "axes", "steps"], ["s"]), node("MatMul", ["s", "vector"], ["m"]),
            node("ReduceMin", ["m"], ["least"], keepdims=0),
        ],
        [value("q", [2, 3, 5], TensorProto.UINT8), value("zero", [3], TensorProto.UINT8)],
        [value("d", [2, 3, 5]), value("l", [2, 3, 5]), value("s", [2, 2, 5]), value("m", [2, 2]), value("least", [])],
        {
            "scale": np.float32([0.5, 2, 3]), "starts": np.int64([3]), "ends": np.int64([-9]), "axes": np.int64([1]),
            "steps": np.int64([-2]), "vector": normal(5),
        },
        version=21,
    )  # fmt: skip
    q = RNG.integers(0, 256, (2, 3, 5)).astype(np.uint8)
    compare(path, q, np.uint8([250, 3, 128]))


def test_slices():
    """Backwards and forwards, from and to places within the dim and beyond it on both sides."""
    cases = [
        (start, end, step) for start in (-30, -7, -2, 0, 3, 7, 30) for end in (-30, -7, -3, 0, 2, 7, 30) for step in (-3, -1, 1, 2)
        if len(range(7)[start:end:step]) > 0
    ]  # fmt: skip
    x = normal(7, 5)
    for i in range(0, len(cases), 12):
        part = cases[i : i + 12]
        nodes = [node("Slice", ["x", f"s{k}", f"e{k}", "axis", f"t{k}"], [f"y{k}"]) for k in range(len(part))]
        constants = {f"{name}{k}": np.int64([v]) for k, case in enumerate(part) for name, v in zip("set", case)}
        outputs = [value(f"y{k}", [len(range(7)[s:e:t]), 5]) for k, (s, e, t) in enumerate(part)]
        compare(write(nodes, [value("x", [7, 5])], outputs, constants | {"axis": np.int64([0])}), x)


def test_pads():
    """Below zero, which takes places away, on either side or on both; of named axes too."""
    x, all_pads = normal(4, 5, 3), [(0, 1, 0, 0, -1, 0), (1, -1, 0, 0, 0, -1), (-1, -2, 0, -1, 3, 0), (2, 1, 0, -4, 0, 1)]
    nodes = [node("Pad", ["x", f"p{k}", "fill"], [f"y{k}"]) for k in range(len(all_pads))] + [node("Pad", ["x", "some", "fill", "axes"], ["y"])]
    constants = {f"p{k}": np.int64(pads) for k, pads in enumerate(all_pads)}
    constants |= {"fill": np.float32(2.5), "some": np.int64([-1, 1, 2, -2]), "axes": np.int64([-1, 0])}
    outputs = [value(f"y{k}", [n + p[i] + p[i + 3] for i, n in enumerate(x.shape)]) for k, p in enumerate(all_pads)]
    compare(write(nodes, [value("x", x.shape)], [*outputs, value("y", [3, 5, 4])], constants), x)


def test_specs():
    specs = {
        "input_shard_specs": ["RR", "RS[0]"], "output_shard_specs": ["RS[0]"], "input_device_mesh_shapes": ["[4]"] * 2,
        "output_device_mesh_shapes": ["[4]"], "input_device_mesh_elements": ["[0,1,2,3]"] * 2, "output_device_mesh_elements": ["[0,1,2,3]"],
    }  # fmt: skip
    w, x = normal(16, 64), normal(8, 16)
    path = write([node("DistributedMatMul", ["x", "w"], ["y"], domain="com.microsoft", **specs)], [value("x", [8, 16])], [value("y", [8, 64])], {"w": w})
    model = shardkit.import_onnx(path)
    assert model.text.count('<@ort, [{}, {"x"}]>') == 2, model.text
    assert np.allclose(model.run(x)[0], x @ w, atol=1e-5)


if __name__ == "__main__":
    run_tests(globals())
