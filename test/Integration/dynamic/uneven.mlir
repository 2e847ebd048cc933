// A dim that its axis does not divide beside one whose size is not known: what masks the padding takes its sizes from the value.
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --spmd-partition=fill-padding=lowest | FileCheck %s
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK: tensor.cast {{.*}} tensor<3x?xi32>
// CHECK: tensor.empty({{.*}}) : tensor<3x?xi32>
func.func @f(%a: tensor<5x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range=[-9,9]}) -> (tensor<5x4xi32>, tensor<4xi32>) {
  %b = tensor.cast %a : tensor<5x4xi32> to tensor<5x?xi32>
  %t = arith.addi %b, %b : tensor<5x?xi32>
  %zs = arith.constant dense<7> : tensor<4xi32>
  %k = tensor.cast %t : tensor<5x?xi32> to tensor<5x4xi32>
  %r = linalg.reduce { arith.maxsi } ins(%k : tensor<5x4xi32>) outs(%zs : tensor<4xi32>) dimensions = [0]
  return %k, %r : tensor<5x4xi32>, tensor<4xi32>
}
