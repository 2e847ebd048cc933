// A call in a loop and in a branch of a function with ops of affine, which MLIR's inliner leaves where it is.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--inline=false
// RUN: shard-opt %s --spmd-inline-calls | FileCheck %s
spmd.mesh @m = <["x"=2]>

// CHECK-NOT: call
// CHECK-NOT: @row
func.func private @row(%a: tensor<6x4xi32>, %at: index) -> tensor<4xi32> {
  %least = affine.max affine_map<()[s0] -> (s0, 0)>()[%at]
  %place = affine.min affine_map<()[s0] -> (s0, 5)>()[%least]
  %row = tensor.extract_slice %a[%place, 0] [1, 4] [1, 1] : tensor<6x4xi32> to tensor<4xi32>
  return %row : tensor<4xi32>
}

// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: affine.min
// CHECK: scf.if
// CHECK: affine.min
func.func @rows(%a: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]}, %n: tensor<i32> {spmd.range = [-2, 9]}) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0> : tensor<4xi32>
  %m = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %m : i32 to index
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%before = %zeros) -> tensor<4xi32> {
    %at = arith.addi %i, %k : index
    %row = func.call @row(%a, %at) : (tensor<6x4xi32>, index) -> tensor<4xi32>
    %more = arith.addi %before, %row : tensor<4xi32>
    scf.yield %more : tensor<4xi32>
  }
  %isFew = arith.cmpi slt, %k, %c3 : index
  %last = scf.if %isFew -> tensor<4xi32> {
    %row = func.call @row(%a, %k) : (tensor<6x4xi32>, index) -> tensor<4xi32>
    scf.yield %row : tensor<4xi32>
  } else {
    scf.yield %sum : tensor<4xi32>
  }
  %all = arith.addi %sum, %last : tensor<4xi32>
  return %all : tensor<4xi32>
}
