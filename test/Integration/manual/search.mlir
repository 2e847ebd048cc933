// A search leaves the axes that are manual around an op alone, and uses the others there.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify --auto-shard | FileCheck %s
// RUN: shard-opt %s --spmd-auto-shard | FileCheck %s --check-prefix=SEARCH
// CHECK: verify: 2 functions, 2 results, all equal
// RUN: sed 's|//NO||' %s > %t.mlir
// RUN: not shard-opt %t.mlir --spmd-insert-reshards -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not shard-opt %t.mlir --spmd-propagate -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROPAGATED
// GIVEN: error: spmd.manual_computation in the input of --spmd-insert-reshards, expected --spmd-propagate before it
// PROPAGATED: error: spmd.factor_shardings has {"x"}, expected none of the axes that are manual around the op: "x"

spmd.mesh @m = <["x"=2, "y"=2]>

// Each device along x multiplies its own part of the terms.
// SEARCH: spmd.manual_computation
// SEARCH: linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{}, {"y"}, {}]>
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4x6xf32> attributes {spmd.reference = @whole} {
  %0 = spmd.manual_computation (%a, %b) in [<@m, [{}, {"x"}]>, <@m, [{"x"}, {}]>] out [<@m, [{?}, {?}]>] axes ["x"] (%l: tensor<4x4xf32>, %r: tensor<4x6xf32>) {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
    %p = linalg.matmul ins(%l, %r : tensor<4x4xf32>, tensor<4x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
    %s = spmd.all_reduce %p sum <@m, {"x"}> : tensor<4x6xf32>
    spmd.return %s : tensor<4x6xf32>
  } : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

func.func @whole(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %p : tensor<4x6xf32>
}

//NO func.func @given(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
//NO   %0 = spmd.manual_computation (%a) in [<@m, [{}, {}]>] out [<@m, [{}, {}]>] axes ["x"] (%l: tensor<4x6xf32>) {
//NO     %p = math.tanh %l {spmd.factor_shardings = #spmd.factors<@m, [{}, {"x"}]>} : tensor<4x6xf32>
//NO     spmd.return %p : tensor<4x6xf32>
//NO   } : (tensor<4x6xf32>) -> tensor<4x6xf32>
//NO   return %0 : tensor<4x6xf32>
//NO }
