#!/usr/bin/env python3
"""ONNX files against ONNX Runtime: weights in external files, functions of the model, specs. Needs the wheels."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import shardkit
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(1)
node = helper.make_node


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(nodes, inputs, outputs, constants, functions=()):
    """A file whose larger initialisers are in a file beside it."""
    initializers = [numpy_helper.from_array(v, n) for n, v in constants.items()]
    opsets = [helper.make_opsetid(*o) for o in (("", 18), ("own", 1), ("com.microsoft", 1))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9)
    path = Path(tempfile.mkdtemp(), "model.onnx")
    onnx.save_model(model, path, save_as_external_data=True, location="weights.bin", size_threshold=64)
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


def main():
    tests = {n: f for n, f in globals().items() if n.startswith("test_")}
    failed = 0
    for name, test in tests.items():
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
