// Dims that devices do not divide, in microbatches and stages: a gradient is accumulated on padded shards, values that
// stages forward are padded too. The vocabulary of a language model is such a dim. test/Frontends/Inputs/session.py runs it too.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline="microbatches=2" --random-inputs=1 --verify --compile-option=--opt-level=0 | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=2" --random-inputs=1 --verify --compile-option=--fill-padding=lowest --compile-option=--opt-level=0 | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=4" --random-inputs=2 --verify --donate --compile-option=--opt-level=0 | FileCheck %s
// CHECK: verify: 1 function, 3 results, all equal

spmd.mesh @cluster = <["s"=2, "x"=2, "y"=3]>
func.func @main(%x: tensor<8x6xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>},
                %w1: tensor<6x7xf32> {spmd.weight = "w1", spmd.sharding = #spmd.sharding<@cluster, [{}, {"y"}]>},
                %w2: tensor<7x5xf32> {spmd.weight = "w2", spmd.sharding = #spmd.sharding<@cluster, [{}, {"x"}]>})
    -> (tensor<6x7xf32> {spmd.name = "new1", spmd.tied = 1 : i64}, tensor<7x5xf32> {spmd.name = "new2", spmd.tied = 2 : i64},
        tensor<7x7xf32> {spmd.name = "squares"}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x7xf32>) -> tensor<8x7xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<8x6xf32>, tensor<6x7xf32>) outs(%f : tensor<8x7xf32>) -> tensor<8x7xf32>
  spmd.stage_boundary %h : tensor<8x7xf32>
  %e2 = tensor.empty() : tensor<8x5xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<8x7xf32>, tensor<7x5xf32>) outs(%f2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %g = math.tanh %y : tensor<8x5xf32>
  %e3 = tensor.empty() : tensor<7x5xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<7x5xf32>) -> tensor<7x5xf32>
  %gw2 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%h, %g : tensor<8x7xf32>, tensor<8x5xf32>) outs(%f3 : tensor<7x5xf32>) -> tensor<7x5xf32>
  %gh = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%g, %w2 : tensor<8x5xf32>, tensor<7x5xf32>) outs(%f : tensor<8x7xf32>) -> tensor<8x7xf32>
  %e4 = tensor.empty() : tensor<6x7xf32>
  %f4 = linalg.fill ins(%z : f32) outs(%e4 : tensor<6x7xf32>) -> tensor<6x7xf32>
  %gw1 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%x, %gh : tensor<8x6xf32>, tensor<8x7xf32>) outs(%f4 : tensor<6x7xf32>) -> tensor<6x7xf32>
  %n1 = arith.subf %w1, %gw1 : tensor<6x7xf32>
  %n2 = arith.subf %w2, %gw2 : tensor<7x5xf32>
  // A product of accumulated values: their padding is replaced after the last microbatch.
  %e5 = tensor.empty() : tensor<7x7xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<7x7xf32>) -> tensor<7x7xf32>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%gw2, %gw2 : tensor<7x5xf32>, tensor<7x5xf32>) outs(%f5 : tensor<7x7xf32>) -> tensor<7x7xf32>
  return %n1, %n2, %s : tensor<6x7xf32>, tensor<7x5xf32>, tensor<7x7xf32>
}
