#!/usr/bin/env python3
"""What users are told by the importers: one located sentence for each thing that is wrong. Needs the wheels."""

import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P
from onnx import TensorProto, helper  # noqa: E402

import shardkit  # noqa: E402

MESH = jax.make_mesh((2,), ("data",), axis_types=(AxisType.Auto,), devices=jax.devices()[:2])
X = np.ones((8, 4), np.float32)
TWO = "func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> } func.func @g() { return }"
AXIS = """
sdy.mesh @m = <["x"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"z"}]>}) -> tensor<8xf32> { return %x : tensor<8xf32> }"""
SIZE = """
func.func @f(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32>
  %1 = stablehlo.set_dimension_size %0, %n, dim = 0 : (tensor<?xf32>, tensor<i32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}"""
GSPMD = 'func.func @f(%x: tensor<8xf32> {mhlo.sharding = "{maximal device=0}"}) -> tensor<8xf32> { return %x : tensor<8xf32> }'
GSPMD_CALL = """
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "unspecified=1", mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
DYNAMIC = "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"


def onnx_file(node, dims=(8, 4), out=(8, 4)):
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)]
    )
    path = Path(tempfile.mkdtemp(), "model.onnx")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path


CASES = {
    "element type": (
        lambda: shardkit.import_stablehlo("func.func @f(%x: tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>> { return %x : tensor<8xcomplex<f64>> }"),
        r"argument \w+ has element type complex<f64>, expected one of f32",
    ),
    "op": (lambda: shardkit.import_jax(jnp.arcsin, X.astype(np.complex64)), r"error: chlo\.asin\w* has no lowering to linalg, expected ops that have one"),
    "inner op": (
        lambda: shardkit.import_jax(lambda x: jnp.abs(jnp.arctanh(x + 1j)), X),
        r"test_errors\.py:\d+:\d+: error: chlo\.\w+ has no lowering to linalg, expected ops that have one",
    ),
    "complex scatter": (
        lambda: shardkit.import_jax(lambda x: x.at[jnp.array([0, 0])].multiply(x[:2]), X.astype(np.complex64)),
        r"test_errors\.py:\d+:\d+: error: stablehlo.scatter of tensor<8x4xcomplex<f32>> by another op has no lowering, expected one that sets or adds",
    ),
    "callback": (
        lambda: shardkit.import_jax(lambda x: jax.pure_callback(np.sin, x, x), X),
        r"error: stablehlo\.custom_call @\w+ has no lowering to linalg",
    ),
    "line": (lambda: shardkit.import_jax(jnp.linalg.inv, np.eye(4, dtype=np.float32)), r"test_errors\.py:\d+:\d+: error: stablehlo\.custom_call"),
    "weights": (lambda: shardkit.import_jax(lambda x: x, X, weights=["w"]), r"no parameter is called w, expected one of: x"),
    "two functions": (lambda: shardkit.import_stablehlo(TWO), r"module has 2 public functions, expected --function, one of: f, g"),
    "no function": (lambda: shardkit.import_stablehlo(TWO, function="h"), r"module has no public function h, expected one of: f, g"),
    "axis": (lambda: shardkit.import_stablehlo(AXIS), r'unknown axis name: "z"'),
    "named file": (lambda: shardkit.import_stablehlo(Path(__file__)), r"test_errors\.py:1:1: error: "),
    "directory": (
        lambda: shardkit.import_jax(lambda x: x, X).save(Path(__file__, "x")), r"error: .*: Not a directory, expected a directory that can be written"),
    "half": (lambda: shardkit.run(lambda x: x, X) is None or shardkit.compile(lambda x: x, X)(X.astype(np.float16)), r"x has dtype float16, expected float32"),
    "exported": (  # portable bytecode, of a size that is not known
        lambda: shardkit.import_stablehlo(
            jax.export.export(jax.jit(jnp.tanh))(jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 8"), np.float32)).mlir_module_serialized
        ),
        r"argument \w+ has type tensor<\?x8xf32>, expected a static shape",
    ),
    "text": (lambda: shardkit.import_stablehlo("func.func @f( {"), r"^-:1:\d+: error: "),
    "file": (lambda: shardkit.import_stablehlo(Path("/nowhere.mlir")), r"error: /nowhere.mlir: No such file"),
    "gspmd": (lambda: shardkit.import_stablehlo(GSPMD), r"sharding \{maximal device=0\} is none that has a layout, expected replicated, or devices"),
    "dynamic": (lambda: shardkit.import_stablehlo(DYNAMIC), r"argument \w+ has type tensor<\?xf32>, expected a static shape"),
    "size from data": (lambda: shardkit.import_stablehlo(SIZE), r":3:\d+: error: stablehlo\.set_dimension_size makes tensor<\?xf32>, whose size depends on data"),
    "open dims": (
        lambda: shardkit.import_stablehlo(GSPMD_CALL), r"error: custom call @Sharding has unspecified=1, expected unspecified_dims=\[\.\.\.\] or an empty string"),
    "no onnx file": (lambda: shardkit.import_onnx("/nowhere.onnx"), r"error: /nowhere.onnx: no such file"),
    "no onnx": (lambda: shardkit.import_onnx(__file__), r"cannot be read as an ONNX model"),
    "onnx size": (
        lambda: shardkit.import_onnx(onnx_file(helper.make_node("Relu", ["x"], ["y"]), ("n", 4), ("n", 4))),
        r"input x has the unknown size n in dim 0, expected a number",
    ),
    "onnx node": (
        lambda: shardkit.import_onnx(onnx_file(helper.make_node("NoSuchThing", ["x"], ["y"], domain="com.microsoft"))),
        r'error: .*model\.onnx: node NoSuchThing "\w+" has no lowering to linalg',
    ),
    "onnx random": (
        lambda: shardkit.import_onnx(onnx_file(helper.make_node("RandomNormalLike", ["x"], ["y"]))),
        r"error: random numbers have no lowering to linalg, expected ops that have one: take them as an input",
    ),
    "onnx specs": (
        lambda: shardkit.import_onnx(onnx_file(helper.make_node("DistributedRelu", ["x"], ["y"], domain="com.microsoft", name="n"))),
        r"node n \(DistributedRelu\) has no output_shard_specs, expected 1, one for each output",
    ),
    "branch": (lambda: shardkit.import_jax(lambda x: x if x.sum() > 0 else -x, X), r"test_errors\.py:\d+: error: a branch depends on data, expected jnp\.where"),
    "mask": (lambda: shardkit.import_jax(lambda x: x[x > 0], X), r"test_errors\.py:\d+: error: a size depends on data, expected jnp\.where, or a size="),
    "number": (lambda: shardkit.import_jax(lambda x: x * int(x[0, 0]), X), r"test_errors\.py:\d+: error: a number or a size depends on data, expected functions of JAX"),
    "shape": (lambda: shardkit.import_jax(lambda x, n: x.reshape(n, -1), X, 2), r"test_errors\.py:\d+: error: a size depends on data, expected a static argument"),
    "names": (lambda: shardkit.import_jax(lambda x: x, X, weights="x"), r"error: weights is 'x', expected a list of strings"),
    "batch": (lambda: shardkit.import_jax(lambda x: x, X, batch="x"), r"error: batch is 'x', expected a list of strings"),
    "options": (lambda: shardkit.import_jax(lambda x: x, X).compile(options="--remarks"), r"error: options is '--remarks', expected a list of strings"),
    "keyword": (lambda: shardkit.import_jax(lambda x, /, **more: x - more["x"], X, x=X), r"error: two arguments are called x, expected distinct names"),
    "donated": (
        lambda: shardkit.import_jax(jax.jit(lambda x: x.sum(), donate_argnums=0), jax.device_put(X, NamedSharding(MESH, P("data")))),
        r"x is donated and no result has its type tensor<8x4xf32>: its buffer is not reused",
    ),
}


def main():
    failed = 0
    for name, (function, expected) in CASES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message="Some donated buffers")
            try:
                function()
                told = "nothing"
            except (shardkit.ShardKitError, UserWarning) as error:
                told = str(error)
        if not re.search(expected, told):
            print(f"{name}: {told[:500]}\n    expected {expected}")
            failed += 1
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
