// Inputs, state and named arguments are those of public functions: batch-axes and zero-stage do not apply to callees.
// RUN: shard-opt %s --spmd-default-pipeline="inline=false auto-shard='batch-axes=data zero-stage=1'" 2>&1 | FileCheck %s
// An argument of another public function may be named; one that no function has is an error.
// RUN: shard-opt %s --spmd-auto-shard="batch-axes=data batch-arguments=x" -o /dev/null
// RUN: not shard-opt %s --spmd-auto-shard="batch-axes=data batch-arguments=flag" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown argument "flag" in batch-arguments, expected a name such as
// CHECK: warning: zero-stage=1 found no optimizer state in @main
// CHECK: warning: zero-stage=1 found no optimizer state in @other
spmd.mesh @m = <["data"=2]>
func.func @main(%x: tensor<8x4xf32> {spmd.name = "x"}) -> tensor<8x4xf32> {
  %m = arith.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  // CHECK: func.func @main({{.*}}spmd.sharding = #spmd.sharding<@m, [{"data"}, {}]>
  %0 = call @mask(%m) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = math.tanh %x : tensor<8x4xf32>
  %s = tensor.extract_slice %0[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %e = tensor.empty() : tensor<8x4xf32>
  %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<8x4xf32>) dimensions = [0, 1]
  %2 = arith.addf %1, %b : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
func.func @other(%y: tensor<8x4xf32> {spmd.name = "y"}) -> tensor<8x4xf32> {
  %0 = math.exp %y : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// Its only dim has an odd size: as an input it could not be sharded.
func.func private @mask(%flag: tensor<3xf32> {spmd.name = "flag"}) -> tensor<3xf32> {
  %0 = arith.addf %flag, %flag : tensor<3xf32>
  return %0 : tensor<3xf32>
}
