// As StableHLO is lowered: a constant that is spread is one op for all stages, made in each that reads it; a sum over updates starts from zeros that were spread.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline=microbatches=4 --random-inputs=3 --verify | FileCheck %s
// CHECK: verify: 1 function, 2 results, all equal

#none = affine_map<(d0, d1) -> ()>
#id = affine_map<(d0, d1) -> (d0, d1)>
#at = affine_map<(d0, d1, d2) -> (d2)>
#update = affine_map<(d0, d1, d2) -> (d2, d1)>
#table = affine_map<(d0, d1, d2) -> (d0, d1)>

spmd.mesh @pod = <["stage"=3, "data"=2]>
func.func @main(%table: tensor<10x6xf32> {spmd.weight = "table"}, %x: tensor<8x6xf32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %tokens: tensor<8xi32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.range = [0, 10]}) -> (tensor<8x6xf32>, tensor<10x6xf32>) {
  %two = arith.constant dense<2.0> : tensor<f32>
  %nothing = arith.constant dense<0.0> : tensor<f32>
  %neutral = arith.constant -0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %t = tensor.empty() : tensor<10x6xf32>
  %twos = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]} ins(%two : tensor<f32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x6xf32>
  %zeros = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]} ins(%nothing : tensor<f32>) outs(%t : tensor<10x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<10x6xf32>
  %0 = arith.mulf %x, %twos : tensor<8x6xf32>
  spmd.stage_boundary %0 : tensor<8x6xf32>
  %1 = math.exp %0 : tensor<8x6xf32>
  spmd.stage_boundary %1 : tensor<8x6xf32>
  %2 = arith.divf %1, %twos : tensor<8x6xf32>
  %sums = linalg.generic {indexing_maps = [#at, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%tokens, %2 : tensor<8xi32>, tensor<8x6xf32>) outs(%zeros : tensor<10x6xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %neutral : f32
    %sum = arith.addf %old, %given : f32
    linalg.yield %sum : f32
  } -> tensor<10x6xf32>
  %new = arith.addf %table, %sums : tensor<10x6xf32>
  return %2, %new : tensor<8x6xf32>, tensor<10x6xf32>
}
