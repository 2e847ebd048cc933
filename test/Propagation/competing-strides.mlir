// RUN: shard-opt %s --spmd-propagate | FileCheck %s

// Two strided shardings of one dim conflict, neither can be extended: propagation terminates.
// CHECK: func.func @competing
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @competing(%a: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {2, "x"}]>}) -> (tensor<9x13xf32>, tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y", ?}, {"x"}]>}, tensor<4x12xf32>) {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x12xf32>
  %t = linalg.transpose ins(%a : tensor<12x4xf32>) outs(%e : tensor<4x12xf32>) permutation = [1, 0]
  %3 = math.exp %t : tensor<4x12xf32>
  %4 = spmd.with_sharding_constraint %3 <@m, [{?}, {"x", "y", ?}]> : tensor<4x12xf32>
  %p = tensor.pad %3 low[2, 1] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %cst : f32
  } : tensor<4x12xf32> to tensor<9x13xf32>
  return %p, %3, %t : tensor<9x13xf32>, tensor<4x12xf32>, tensor<4x12xf32>
}
