// tosa ops on padded shards, with NaN and the lowest integers in the padding: results are those of the unpartitioned program.
// RUN: shard-opt %s --spmd-propagate=plan=propagation --spmd-insert-reshards --spmd-partition=fill-padding=lowest --spmd-assign-collective-ids | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--fill-padding=zero

spmd.mesh @m = <["x"=4, "y"=2]>

// CHECK-LABEL: func @reductions(
// CHECK: tosa.reduce_sum {{.*}} (tensor<2x3xi32>)
// CHECK: tosa.reduce_max {{.*}} (tensor<2x3xi32>)
// CHECK: tosa.reduce_min {{.*}} (tensor<2x3xi32>)
func.func @reductions(%a: tensor<5x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-90, -9]})
    -> (tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>) {
  %0 = tosa.reduce_sum %a {axis = 0 : i32} : (tensor<5x3xi32>) -> tensor<1x3xi32>
  %1 = tosa.reduce_max %a {axis = 0 : i32} : (tensor<5x3xi32>) -> tensor<1x3xi32>
  %2 = tosa.reduce_min %a {axis = 0 : i32} : (tensor<5x3xi32>) -> tensor<1x3xi32>
  return %0, %1, %2 : tensor<1x3xi32>, tensor<1x3xi32>, tensor<1x3xi32>
}

// CHECK-LABEL: func @logical(
// CHECK: tosa.reduce_all {{.*}} (tensor<2x3xi1>)
// CHECK: tosa.reduce_any {{.*}} (tensor<2x3xi1>)
func.func @logical(%a: tensor<5x3xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<1x3xi1>, tensor<1x3xi1>) {
  %0 = tosa.reduce_all %a {axis = 0 : i32} : (tensor<5x3xi1>) -> tensor<1x3xi1>
  %1 = tosa.reduce_any %a {axis = 0 : i32} : (tensor<5x3xi1>) -> tensor<1x3xi1>
  return %0, %1 : tensor<1x3xi1>, tensor<1x3xi1>
}

// CHECK-LABEL: func @float_max(
// CHECK: tosa.reduce_max {{.*}} (tensor<2x3xf32>)
func.func @float_max(%a: tensor<5x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<1x3xf32> {
  %0 = tosa.reduce_max %a {axis = 0 : i32} : (tensor<5x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// Zero points are masked separately.
// CHECK-LABEL: func @matmul(
// CHECK: arith.constant 3 : i8
// CHECK: tosa.matmul {{.*}} (tensor<1x3x2xi8>, tensor<1x2x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x2xi32>
func.func @matmul(%a: tensor<1x3x5xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"x"}]>, spmd.range = [-9, 9]},
                  %b: tensor<1x5x3xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<1x3x3xi32> {
  %za = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zb = "tosa.const"() <{values = dense<-2> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %a, %b, %za, %zb : (tensor<1x3x5xi8>, tensor<1x5x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x3xi32>
  return %0 : tensor<1x3x3xi32>
}

// CHECK-LABEL: func @division(
// CHECK: tosa.intdiv {{.*}} (tensor<2x3xi32>, tensor<2x3xi32>)
func.func @division(%a: tensor<5x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-90, 90]},
                    %b: tensor<5x3xi32> {spmd.range = [1, 9]}) -> tensor<5x3xi32> {
  %0 = tosa.intdiv %a, %b : (tensor<5x3xi32>, tensor<5x3xi32>) -> tensor<5x3xi32>
  return %0 : tensor<5x3xi32>
}

// CHECK-LABEL: func @gather(
// CHECK: tosa.gather {{.*}} (tensor<2x4x3xi32>, tensor<2x2xi32>)
func.func @gather(%v: tensor<2x4x3xi32> {spmd.range = [-90, 90]}, %i: tensor<2x7xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 4]}) -> tensor<2x7x3xi32> {
  %0 = tosa.gather %v, %i : (tensor<2x4x3xi32>, tensor<2x7xi32>) -> tensor<2x7x3xi32>
  return %0 : tensor<2x7x3xi32>
}

// Lanes of channels and batches are independent.
// CHECK-LABEL: func @channels(
// CHECK: tosa.max_pool2d {{.*}} (tensor<1x4x4x1xi8>)
func.func @channels(%a: tensor<1x4x4x3xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"x"}]>, spmd.range = [-90, 90]}) -> tensor<1x2x2x3xi8> {
  %0 = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x3xi8>) -> tensor<1x2x2x3xi8>
  return %0 : tensor<1x2x2x3xi8>
}
