"""The package without any framework: run, files, and what users are told. Prints what the test looks for."""

import io
import os
import sys
import tempfile
from contextlib import redirect_stderr

import numpy as np
import shardkit
from shardkit import cli, safetensors

TEXT = """
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%w: tensor<4x6xf32> {spmd.weight = "params.w", spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
                %x: tensor<8x4xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %k: tensor<2xi32> {spmd.name = "k"})
    -> (tensor<8x6xf32> {spmd.name = "y"}, tensor<2xi32> {spmd.name = "same"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %y, %k : tensor<8x6xf32>, tensor<2xi32>
}
"""

ARGUMENTS = [
    shardkit.Argument("params.w", (4, 6), "float32", True),
    shardkit.Argument("x", (8, 4), "float32", False),
    shardkit.Argument("k", (2,), "uint32", False),
]
RESULTS = [shardkit.Result("y", "float32"), shardkit.Result("same", "uint32")]

rng = np.random.default_rng(0)
w, x = rng.integers(-4, 4, (4, 6)).astype(np.float32), rng.integers(-4, 4, (8, 4)).astype(np.float32)
k = np.array([0, 2**32 - 1], np.uint32)
model = shardkit.Model(TEXT, ARGUMENTS, RESULTS, {"params.w": w, "x": x, "k": k})


def told(function, *args):
    try:
        function(*args)
    except shardkit.ShardKitError as error:
        return str(error)
    return "nothing"


with model.compile() as program:
    bundle = program.directory
    y, same = program(w, x, k)
    assert np.array_equal(y, x @ w) and y.dtype == np.float32
    assert np.array_equal(same, k) and same.dtype == np.uint32
    y, _ = program(w + 1, x, k)
    assert np.array_equal(y, x @ (w + 1))
    y, _ = program()  # the example arguments
    assert np.array_equal(y, x @ w)
    print("dtype:", told(program, w, x.astype(np.float64), k))
    print("shape:", told(program, w, x[:4], k))
    print("count:", told(program, w, x))
assert not bundle.exists()

with tempfile.TemporaryDirectory() as directory:
    model.save(directory)
    print("files:", *sorted(os.listdir(directory)))
    assert np.array_equal(safetensors.read(f"{directory}/weights.safetensors")["params.w"], w)
    print("bad file:", told(safetensors.read, f"{directory}/model.mlir").replace(directory, "DIR"))

print("compile:", told(shardkit.Model(TEXT.replace('{"y"}]', '{"z"}]'), ARGUMENTS, RESULTS).compile))

home = os.environ.pop("SHARDKIT_HOME")
os.environ["SHARDKIT_HOME"] = "/nowhere"
print("tools:", told(model.compile))
os.environ["SHARDKIT_HOME"] = home

# As where no wheel is installed.
for name in ("jax", "jaxlib", "onnx", "torch"):
    sys.modules[name] = None
print("jax:", told(shardkit.run, lambda v: v, x))
print("stablehlo:", told(shardkit.import_stablehlo, "module {}"))
print("onnx:", told(shardkit.import_onnx, "model.onnx"))
print("torch:", told(shardkit.import_torch, None))
error = io.StringIO()
with redirect_stderr(error):
    status = cli.main(["jax", "model.py:f", "-o", "out"])
print("command:", status, error.getvalue(), end="")
