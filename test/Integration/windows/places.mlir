// Slices of cut dims at places that are known only when the program runs: each shard
// sends or writes what it owns, and what moves is the slice.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact

spmd.mesh @m = <["x"=4]>
spmd.mesh @g = <["x"=2, "y"=3]>

// CHECK-LABEL: func.func @picked
// CHECK-NOT: spmd.{{all_gather|exchange}}
// CHECK: spmd.halo_exchange {{.*}} dims = [0] steps = [0] offsets = [%{{.*}} : tensor<16x4xf32> -> tensor<7x4xf32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @picked(%x: tensor<62x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>},
                  %i: tensor<1xi32> {spmd.range = [0, 55]}) -> tensor<3x4xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %i[%c0] : tensor<1xi32>
  %1 = arith.index_cast %0 : i32 to index
  %2 = tensor.extract_slice %x[%1, 0] [3, 4] [3, 1] : tensor<62x4xf32> to tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// One row, two dims at such places, with gaps; the columns are taken in windows.
// CHECK-LABEL: func.func @row
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.halo_exchange {{.*}} dims = [0, 1] steps = [0, 0] offsets = [%{{.*}} : tensor<12x4x7xi32> -> tensor<1x2x7xi32>
// CHECK: return
func.func @row(%x: tensor<24x12x7xi32> {spmd.sharding = #spmd.sharding<@g, [{3, "x"}, {"y"}, {?}]>, spmd.range = [-99, 99]},
               %i: tensor<2xi32> {spmd.range = [0, 10]}) -> tensor<2x5xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.extract %i[%c0] : tensor<2xi32>
  %1 = arith.index_cast %0 : i32 to index
  %2 = tensor.extract %i[%c1] : tensor<2xi32>
  %3 = arith.index_cast %2 : i32 to index
  %4 = tensor.extract_slice %x[%1, %3, 1] [1, 2, 5] [1, 1, 1] : tensor<24x12x7xi32> to tensor<2x5xi32>
  return %4 : tensor<2x5xi32>
}

// What is written is on all devices; nothing moves where it is.
// CHECK-LABEL: func.func @written
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @written(%x: tensor<62x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                   %r: tensor<5x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [100, 200]},
                   %i: tensor<1xi32> {spmd.range = [0, 50]}) -> (tensor<62x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}) {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %i[%c0] : tensor<1xi32>
  %1 = arith.index_cast %0 : i32 to index
  %2 = tensor.insert_slice %r into %x[%1, 1] [5, 3] [2, 1] : tensor<5x3xi32> into tensor<62x4xi32>
  return %2 : tensor<62x4xi32>
}

// A part that is longer than what a shard has, and rows that a loop reads and writes.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<14x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> tensor<14x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%y = %x) -> tensor<14x4xi32> {
    %0 = tensor.extract_slice %y[%i, 0] [7, 4] [1, 1] : tensor<14x4xi32> to tensor<7x4xi32>
    %1 = arith.addi %0, %0 : tensor<7x4xi32>
    %j = arith.subi %c7, %i : index
    %2 = tensor.insert_slice %1 into %y[%j, 0] [7, 4] [1, 1] : tensor<7x4xi32> into tensor<14x4xi32>
    scf.yield %2 : tensor<14x4xi32>
  }
  return %r : tensor<14x4xi32>
}

// All of a dim, whatever computes where it begins.
// CHECK-LABEL: func.func @whole_dim
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @whole_dim(%x: tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                     %i: tensor<1xi32> {spmd.range = [0, 1]}) -> tensor<12x3xi32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %i[%c0] : tensor<1xi32>
  %1 = arith.index_cast %0 : i32 to index
  %2 = tensor.extract_slice %x[%1, 1] [12, 3] [1, 1] : tensor<12x5xi32> to tensor<12x3xi32>
  return %2 : tensor<12x3xi32>
}
