// Units of a segment stay whole, also where every weight must be sharded: 4 heads of 8 on 8 devices.
// RUN: shard-opt %s --spmd-auto-shard=allow-replicated-weights=false | FileCheck %s

spmd.mesh @mesh = <["model"=8]>

// CHECK: func.func @bias
// CHECK-SAME: offset = 0, unit = 8, argument = 1>, spmd.sharding = #spmd.sharding<@mesh, [{}]>
// CHECK-SAME: offset = 32, unit = 8, argument = 1>, spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>
func.func @bias(%x: tensor<4x32xf32>, %q: tensor<32xf32> {spmd.segment = #spmd.segment<tensor<96xf32>, dim = 0, offset = 0, unit = 8, argument = 1>, spmd.weight = "qkv.bias"},
                %k: tensor<64xf32> {spmd.segment = #spmd.segment<tensor<96xf32>, dim = 0, offset = 32, unit = 8, argument = 1>, spmd.weight = "qkv.bias"})
    -> (tensor<4x32xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<4x32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x, %q : tensor<4x32xf32>, tensor<32xf32>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<4x32xf32>
  %n = arith.negf %k : tensor<64xf32>
  return %s, %n : tensor<4x32xf32>, tensor<64xf32>
}
