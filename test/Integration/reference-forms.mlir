// What the sharded program takes, the unsharded program of --verify takes: blocks that follow each other, ops without an upstream lowering.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 3 functions, 3 results, all equal bit by bit

spmd.mesh @mesh = <["d0"=2, "d1"=4]>

func.func @blocks(%arg0: tensor<64x24xf32>) -> tensor<64x24xf32> {
  %0 = spmd.with_sharding_constraint %arg0 <@mesh, [{"d0"}, {}]> : tensor<64x24xf32>
  cf.br ^bb1(%0 : tensor<64x24xf32>)
^bb1(%1: tensor<64x24xf32>):
  %2 = arith.addf %1, %arg0 : tensor<64x24xf32>
  cf.br ^bb2
^bb2:
  return %2 : tensor<64x24xf32>
}

func.func @gather(%table: tensor<10x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"d1"}]>}, %i: tensor<6x1xi32> {spmd.range = [0, 10], spmd.sharding = #spmd.sharding<@mesh, [{"d0"}, {}]>}) -> tensor<6x1x8xf32> {
  %r = tensor.gather %table[%i] gather_dims([0]) : (tensor<10x8xf32>, tensor<6x1xi32>) -> tensor<6x1x8xf32>
  return %r : tensor<6x1x8xf32>
}

func.func @scatter(%rows: tensor<3x1x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"d1"}]>}, %table: tensor<10x8xf32>) -> tensor<10x8xf32> {
  %i = arith.constant dense<[[7], [2], [5]]> : tensor<3x1xi32>
  %r = tensor.scatter %rows into %table[%i] scatter_dims([0]) unique : (tensor<3x1x8xf32>, tensor<10x8xf32>, tensor<3x1xi32>) -> tensor<10x8xf32>
  return %r : tensor<10x8xf32>
}
