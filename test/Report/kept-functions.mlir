// Collectives of private functions that calls reach count as often as a step calls them.
// RUN: shard-opt %s --spmd-default-pipeline=inline=false --spmd-report -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=inline=false --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// The times of a function are those of what it calls too.
// RUN: sed 's/<\["x"=2\]>/<["x"=2]> {alpha = [1.0], beta = [1.0e-9], flops = 1.0e9}/' %s | shard-opt --spmd-default-pipeline=inline=false --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMES
// TIMES: "cost": 1.000000256,
// TIMES-NEXT: "compute": 5.12e-07,
// TIMES: "name": "main"
// TIMES: "cost": 4.000001024,
// TIMES-NEXT: "compute": 2.496
// TIMES: "totals"
// TIMES: "cost": 4.000001024,
// CHECK: totals
// CHECK: all_reduce 4 x 1 KiB
// CHECK: function @f, called 4 times
// CHECK: all_reduce sum {x} 4 x 256 B
// CHECK: function @main
// CHECK: no collectives
// JSON: "calls": 4
// JSON: "all_reduce": 1024

spmd.mesh @m = <["x"=2]>
func.func private @unused(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
func.func private @f(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func @main(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = func.call @f(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %y) -> tensor<8x8xf32> {
    %a = func.call @f(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = arith.addf %a, %s : tensor<8x8xf32>
    scf.yield %n : tensor<8x8xf32>
  }
  return %y, %l : tensor<8x8xf32>, tensor<8x8xf32>
}
