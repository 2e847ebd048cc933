// RUN: shard-opt %s --spmd-hoist-collectives --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-hoist-collectives=memory-budget=400 --split-input-file | FileCheck %s --check-prefix=TIGHT
// RUN: shard-opt %s --spmd-hoist-collectives=memory-budget=100 --split-input-file --remarks-filter=spmd 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not shard-opt %s --spmd-hoist-collectives=memory-budget=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: memory-budget=-1, expected a number of bytes, 0 for the mesh's memory

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2]>

// What does not change in a loop is gathered before it, if it fits. Most is live at %h: two arguments, %e, %r, %1 and %h of
// 64 bytes each, and 128 of the gather.
// REMARK: memory-budget {{.*}}"512 bytes are live at once, the budget is 100"
// CHECK-LABEL: func.func @invariant
// CHECK: spmd.all_gather
// CHECK-NEXT: tensor.expand_shape
// CHECK-NEXT: scf.for
// CHECK-NOT: spmd.
// CHECK: return
// TIGHT-LABEL: func.func @invariant
// TIGHT-NOT: spmd.
// TIGHT: scf.for
// TIGHT: spmd.all_gather
// TIGHT: scf.yield
func.func @invariant(%a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = math.exp %b : tensor<16xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %b) -> tensor<16xf32> {
    %1 = arith.negf %s : tensor<16xf32>
    %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<16xf32> -> tensor<32xf32>
    %v = tensor.expand_shape %0 [[0, 1]] output_shape [2, 16] : tensor<32xf32> into tensor<2x16xf32>
    %h = tensor.extract_slice %v[1, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
    %2 = arith.addf %1, %h : tensor<16xf32>
    scf.yield %2 : tensor<16xf32>
  }
  return %r, %e : tensor<16xf32>, tensor<16xf32>
}

// What insert-reshards put before a loop goes back into it where it does not fit, and no further than helps.
// TIGHT-LABEL: func.func @back
// TIGHT-NOT: spmd.
// TIGHT: scf.for
// TIGHT: tensor.extract_slice
// TIGHT-NEXT: spmd.all_gather
// TIGHT-NEXT: scf.for
func.func @back(%a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<64xf32>) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<16xf32> -> tensor<32xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %b) -> tensor<16xf32> {
    %n = math.exp %c : tensor<64xf32>
    %m = math.sin %n : tensor<64xf32>
    %l = arith.mulf %n, %m : tensor<64xf32>
    %k = tensor.extract_slice %l[0] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %k) -> tensor<16xf32> {
      %h = tensor.extract_slice %0[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
      %2 = arith.addf %u, %h : tensor<16xf32>
      scf.yield %2 : tensor<16xf32>
    }
    scf.yield %t : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}
}

// -----

module attributes {spmd.phase = "partitioned"} {
// The mesh's memory is the budget.
spmd.mesh @m = <["x"=2]> {memory = 400 : i64}

// Not into a loop that a device may run more often than another.
// CHECK-LABEL: func.func @uneven_trips
// CHECK: spmd.all_gather
// CHECK: scf.for
func.func @uneven_trips(%a: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = spmd.device_coordinate @m "x" : index
  %e = math.exp %b : tensor<16xf32>
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<16xf32> -> tensor<32xf32>
  %f = math.sin %e : tensor<16xf32>
  %g = math.cos %f : tensor<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b) -> tensor<16xf32> {
    %h = tensor.extract_slice %0[16] [16] [1] : tensor<32xf32> to tensor<16xf32>
    %2 = arith.addf %s, %h : tensor<16xf32>
    scf.yield %2 : tensor<16xf32>
  }
  %w = arith.addf %g, %f : tensor<16xf32>
  return %r, %w : tensor<16xf32>, tensor<16xf32>
}

// Nor out of a branch in a loop, nor what changes in it.
// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK: spmd.all_reduce
// CHECK: scf.if
// CHECK: spmd.all_reduce
// CHECK: scf.yield
func.func @stays(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %b) -> tensor<8xf32> {
    %1 = spmd.all_reduce %s sum <@m, {"x"}> : tensor<8xf32>
    %2 = scf.if %c -> tensor<8xf32> {
      %3 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
      scf.yield %3 : tensor<8xf32>
    } else {
      scf.yield %1 : tensor<8xf32>
    }
    %4 = arith.addf %1, %2 : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
}
