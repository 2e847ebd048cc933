// A function is on the meshes of those that it calls too: where it names none itself, another one, or one in another order.
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--inline=false | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=inline=false | FileCheck %s --check-prefix=LOCAL
// CHECK: all equal bit by bit
spmd.mesh @m = <["x"=2, "y"=4]>
spmd.mesh @n = <["x"=4, "y"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
spmd.mesh @k = <["x"=3]>
// LOCAL-LABEL: func.func private @rows(%arg0: tensor<2x8xi32>
func.func private @rows(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x8xi32> {
  %0 = arith.muli %a, %a : tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
// Named in the body alone.
func.func private @inside(%a: tensor<3xi32>) -> tensor<3xi32> {
  %0 = spmd.with_sharding_constraint %a <@k, [{"x"}]> : tensor<3xi32>
  %1 = arith.muli %0, %0 : tensor<3xi32>
  return %1 : tensor<3xi32>
}
// LOCAL-LABEL: func.func @none(%arg0: tensor<2x8xi32>
func.func @none(%a: tensor<4x8xi32> {spmd.range = [-3, 4]}) -> tensor<4x8xi32> {
  %0 = func.call @rows(%a) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
func.func @through(%a: tensor<3xi32> {spmd.range = [-3, 4]}) -> tensor<3xi32> {
  %0 = func.call @inside(%a) : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @another(%a: tensor<4x8xi32> {spmd.range = [-3, 4], spmd.sharding = #spmd.sharding<@n, [{"y"}, {"x"}]>}) -> (tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@n, [{"x"}, {}]>}, tensor<8xi32>) {
  %0 = func.call @rows(%a) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %z = arith.constant dense<0> : tensor<8xi32>
  %1 = linalg.reduce { arith.addi } ins(%0 : tensor<4x8xi32>) outs(%z : tensor<8xi32>) dimensions = [0]
  return %0, %1 : tensor<4x8xi32>, tensor<8xi32>
}
