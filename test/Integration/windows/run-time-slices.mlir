// Slices at an index that only the run knows: the owners send them, and the source stays sharded.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline="plan=propagation trip-count=2" | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--plan=propagation --compile-option=--trip-count=2 --compile-option=--fill-padding=lowest

// A part of the layers is read, so the stack is not gathered.
spmd.mesh @m = <["x"=4]> {alpha = [1.0e-9]}
spmd.mesh @g = <["x"=4, "y"=2]> {alpha = [1.0e-9, 1.0e-9]}

// CHECK-LABEL: func.func @scan
// CHECK-NOT: all_gather
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} {
// CHECK-NEXT: spmd.halo_exchange %{{.*}} dims = [0] steps = [0] offsets = [%[[I]]]{{.*}} : tensor<4x6x6xi32> -> tensor<1x6x6xi32>
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @scan(%w: tensor<16x6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-2, 3]},
                %h: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-2, 3]}) -> tensor<8x6xi32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 15 : index
  %r = scf.for %i = %c1 to %n step %c3 iter_args(%a = %h) -> tensor<8x6xi32> {
    %s = tensor.extract_slice %w[%i, 0, 0] [1, 6, 6] [1, 1, 1] : tensor<16x6x6xi32> to tensor<6x6xi32>
    %z = arith.constant dense<0> : tensor<8x6xi32>
    %p = linalg.matmul ins(%a, %s : tensor<8x6xi32>, tensor<6x6xi32>) outs(%z : tensor<8x6xi32>) -> tensor<8x6xi32>
    scf.yield %p : tensor<8x6xi32>
  }
  return %r : tensor<8x6xi32>
}

// The gradient of layer i is written by its owner.
// CHECK-LABEL: func.func @gradients
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @gradients(%dw: tensor<8x6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-2, 3]},
                     %g: tensor<6x4xi32> {spmd.range = [-2, 3]}) -> (tensor<8x6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = arith.constant 8 : index
  %r:2 = scf.for %i = %c0 to %n step %c2 iter_args(%d = %dw, %a = %g) -> (tensor<8x6x4xi32>, tensor<6x4xi32>) {
    %b = arith.addi %a, %g : tensor<6x4xi32>
    %s = tensor.insert_slice %b into %d[%i, 0, 0] [1, 6, 4] [1, 1, 1] : tensor<6x4xi32> into tensor<8x6x4xi32>
    scf.yield %s, %b : tensor<8x6x4xi32>, tensor<6x4xi32>
  }
  return %r#0 : tensor<8x6x4xi32>
}

// Two rows of an uneven dim, which two devices may have; the other dim stays sharded.
// CHECK-LABEL: func.func @two_rows
// CHECK: spmd.halo_exchange %{{.*}} of tensor<67x3x8xi32> {{.*}} dims = [0] steps = [0] {{.*}} : tensor<17x3x8xi32> -> tensor<2x3x8xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @two_rows(%w: tensor<67x6x8xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}, {}]>, spmd.range = [-2, 3]},
                    %k: i32 {spmd.range = [57, 64]}) -> (tensor<2x6x8xi32> {spmd.sharding = #spmd.sharding<@g, [{}, {"y"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<2x6x8xi32>
  %c1 = arith.constant 1 : i32
  %n = arith.constant 66 : i32
  %r:2 = scf.while (%i = %k, %a = %zero) : (i32, tensor<2x6x8xi32>) -> (i32, tensor<2x6x8xi32>) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %a : i32, tensor<2x6x8xi32>
  } do {
  ^body(%i: i32, %a: tensor<2x6x8xi32>):
    %at = arith.index_cast %i : i32 to index
    %s = tensor.extract_slice %w[%at, 0, 0] [2, 6, 8] [1, 1, 1] : tensor<67x6x8xi32> to tensor<2x6x8xi32>
    %p = arith.addi %a, %a : tensor<2x6x8xi32>
    %q = arith.addi %p, %s : tensor<2x6x8xi32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %q : i32, tensor<2x6x8xi32>
  }
  return %r#1 : tensor<2x6x8xi32>
}

// Two indices, one from data, and a stride.
// CHECK-LABEL: func.func @two_dims
// CHECK: spmd.halo_exchange %{{.*}} dims = [0, 1] steps = [0, 0] offsets = [%{{.*}}, %{{.*}}]{{.*}} : tensor<2x2x5xi32> -> tensor<3x1x5xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @two_dims(%w: tensor<8x4x5xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}, {}]>, spmd.range = [-2, 3]},
                    %k: tensor<4xi32> {spmd.range = [0, 4]}) -> tensor<2x5xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %z = arith.constant dense<0> : tensor<2x5xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> tensor<2x5xi32> {
    %e = tensor.extract %k[%i] : tensor<4xi32>
    %j = arith.index_cast %e : i32 to index
    %s = tensor.extract_slice %w[%i, %j, 0] [2, 1, 5] [2, 1, 1] : tensor<8x4x5xi32> to tensor<2x5xi32>
    %d = arith.addi %a, %a : tensor<2x5xi32>
    %p = arith.addi %d, %s : tensor<2x5xi32>
    scf.yield %p : tensor<2x5xi32>
  }
  return %r : tensor<2x5xi32>
}

// Blocks of a strided sharding.
// CHECK-LABEL: func.func @strided
// CHECK: spmd.halo_exchange %{{.*}} <@m, [{2, "x"}, {}]> to <@m, [{2, "x"}, {}]> dims = [0] steps = [0]
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @strided(%w: tensor<16x3xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}, {}]>, spmd.range = [-9, 9]}, %k: tensor<i32> {spmd.range = [0, 14]}) -> tensor<3x3xi32> {
  %e = tensor.extract %k[] : tensor<i32>
  %i = arith.index_cast %e : i32 to index
  %s = tensor.extract_slice %w[%i, 0] [3, 3] [1, 1] : tensor<16x3xi32> to tensor<3x3xi32>
  return %s : tensor<3x3xi32>
}
