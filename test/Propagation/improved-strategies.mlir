// An improvement of the plan keeps the strategy that the user gives an op.

// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify

spmd.mesh @line = <["x"=4]> {alpha = [1.0e-9], beta = [1.0e-9]}

// CHECK-LABEL: func.func @given
// CHECK: spmd.all_gather %{{.*}} tensor<16x64xf32>
func.func @given(%p: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>},
                 %w: tensor<16x64xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>}) -> tensor<4x64xf32> {
  %z = arith.constant dense<0.0> : tensor<4x64xf32>
  %r = linalg.matmul {spmd.factor_shardings = #spmd.factors<@line, [{"x"}, {}, {}]>}
      ins(%p, %w : tensor<4x16xf32>, tensor<16x64xf32>) outs(%z : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}
