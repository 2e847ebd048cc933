// Loops and branches yield into buffers that exist outside; the yields of one terminator happen at once.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --range=n=1:5 | FileCheck %s
// CHECK: all equal bit by bit
// RUN: shard-compile %s --emit=memref | FileCheck %s --check-prefix=PLACE

// Two values are swapped.
func.func @swap(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %a, %u = %b) -> (tensor<8xi32>, tensor<8xi32>) {
    scf.yield %u, %t : tensor<8xi32>, tensor<8xi32>
  }
  return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// A value moves on while its successor is computed from it.
func.func @fibonacci(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0:2 = scf.for %k = %c0 to %c9 step %c1 iter_args(%t = %a, %u = %b) -> (tensor<8xi32>, tensor<8xi32>) {
    %1 = arith.addi %t, %u : tensor<8xi32>
    scf.yield %1, %t : tensor<8xi32>, tensor<8xi32>
  }
  return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// An in-place update that fusion prevents.
func.func @accumulate(%a: tensor<9x8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %k = %c0 to %c9 step %c1 iter_args(%t = %b) -> tensor<8xi32> {
    %row = tensor.extract_slice %a[%k, 0] [1, 8] [1, 1] : tensor<9x8xi32> to tensor<8xi32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%row : tensor<8xi32>) outs(%t : tensor<8xi32>) {
    ^bb0(%x: i32, %o: i32):
      %s = arith.subi %x, %o : i32
      linalg.yield %s : i32
    } -> tensor<8xi32>
    scf.yield %1 : tensor<8xi32>
  }
  return %0 : tensor<8xi32>
}

// The same through views: rows shift by one, halves are swapped.
func.func @views(%a: tensor<4x2xi32>, %b: tensor<2x4xi32>) -> (tensor<4x2xi32>, tensor<2x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %a, %u = %b) -> (tensor<4x2xi32>, tensor<2x4xi32>) {
    %1 = tensor.collapse_shape %t [[0, 1]] : tensor<4x2xi32> into tensor<8xi32>
    %2 = tensor.expand_shape %1 [[0, 1]] output_shape [2, 4] : tensor<8xi32> into tensor<2x4xi32>
    %3 = tensor.collapse_shape %u [[0, 1]] : tensor<2x4xi32> into tensor<8xi32>
    %4 = tensor.expand_shape %3 [[0, 1]] output_shape [4, 2] : tensor<8xi32> into tensor<4x2xi32>
    %5 = arith.addi %4, %t : tensor<4x2xi32>
    scf.yield %5, %2 : tensor<4x2xi32>, tensor<2x4xi32>
  }
  return %0#0, %0#1 : tensor<4x2xi32>, tensor<2x4xi32>
}

// Which of the two is known when it runs.
func.func @select(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %a, %u = %b) -> (tensor<8xi32>, tensor<8xi32>) {
    %c = arith.cmpi ne, %k, %c1 : index
    %1 = arith.select %c, %u, %t : tensor<8xi32>
    %2 = arith.select %c, %t, %u : tensor<8xi32>
    scf.yield %1, %2 : tensor<8xi32>, tensor<8xi32>
  }
  return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// One value twice, one that no loop computes, and one loop in another.
func.func @nested(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %ones = arith.constant dense<1> : tensor<8xi32>
  %0:3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %a, %u = %b, %v = %b) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
    %1:2 = scf.for %l = %c0 to %k step %c1 iter_args(%p = %t, %q = %ones) -> (tensor<8xi32>, tensor<8xi32>) {
      %2 = arith.addi %p, %q : tensor<8xi32>
      scf.yield %2, %p : tensor<8xi32>, tensor<8xi32>
    }
    %3 = arith.muli %1#0, %v : tensor<8xi32>
    scf.yield %3, %3, %1#1 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
  return %0#0, %0#1, %0#2 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// An update in place stays one, through the loop inside.
// PLACE-LABEL: symbols = ["sk_fn_update"]
// PLACE: scf.for
// PLACE-NOT: {{alloc|copy}}
// PLACE: scf.for
// PLACE-NOT: {{alloc|copy}}
// PLACE: memref.store
// PLACE-NOT: {{alloc|copy|linalg}}
// PLACE: return
func.func @update(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4x8xi32>
  %start = linalg.add ins(%a, %a : tensor<4x8xi32>, tensor<4x8xi32>) outs(%e : tensor<4x8xi32>) -> tensor<4x8xi32>
  %0 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %start) -> tensor<4x8xi32> {
    %1 = scf.for %l = %c0 to %c4 step %c1 iter_args(%u = %t) -> tensor<4x8xi32> {
      %2 = tensor.extract %u[%l, %k] : tensor<4x8xi32>
      %3 = tensor.insert %2 into %u[%k, %l] : tensor<4x8xi32>
      scf.yield %3 : tensor<4x8xi32>
    }
    scf.yield %1 : tensor<4x8xi32>
  }
  return %0 : tensor<4x8xi32>
}

// A while loop that carries the tested values; they are swapped in both regions.
func.func @while(%a: tensor<8xi32>, %b: tensor<8xi32>, %n: tensor<i32> {spmd.name = "n"}) -> (tensor<8xi32>, tensor<8xi32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = tensor.extract %n[] : tensor<i32>
  %0:3 = scf.while (%t = %a, %u = %b, %i = %start) : (tensor<8xi32>, tensor<8xi32>, i32) -> (tensor<8xi32>, tensor<8xi32>, i32) {
    %c = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%c) %u, %t, %i : tensor<8xi32>, tensor<8xi32>, i32
  } do {
  ^bb0(%t: tensor<8xi32>, %u: tensor<8xi32>, %i: i32):
    %1 = arith.subi %t, %u : tensor<8xi32>
    %2 = arith.subi %i, %one : i32
    scf.yield %1, %t, %2 : tensor<8xi32>, tensor<8xi32>, i32
  }
  return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// A loop that passes other values than its iteration arguments.
func.func @while_other(%a: tensor<8xi32>, %b: tensor<4xi32>, %n: tensor<i32> {spmd.name = "n"}) -> (tensor<4xi32>, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = tensor.extract %n[] : tensor<i32>
  %0:2 = scf.while (%t = %a, %i = %start) : (tensor<8xi32>, i32) -> (tensor<4xi32>, i32) {
    %c = arith.cmpi sgt, %i, %zero : i32
    %1 = tensor.extract_slice %t[2] [4] [1] : tensor<8xi32> to tensor<4xi32>
    scf.condition(%c) %1, %i : tensor<4xi32>, i32
  } do {
  ^bb0(%h: tensor<4xi32>, %i: i32):
    %1 = arith.addi %h, %b : tensor<4xi32>
    %2 = tensor.concat dim(0) %1, %h : (tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32>
    %3 = arith.subi %i, %one : i32
    scf.yield %2, %3 : tensor<8xi32>, i32
  }
  return %0#0, %0#1 : tensor<4xi32>, i32
}

// Branches: a computed value or an argument, as a result and inside a loop.
func.func @branches(%a: tensor<8xi32>, %b: tensor<8xi32>, %n: tensor<i32> {spmd.name = "n"}) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2 : i32
  %m = tensor.extract %n[] : tensor<i32>
  %c = arith.cmpi sgt, %m, %two : i32
  %0 = scf.if %c -> (tensor<8xi32>) {
    %1 = arith.muli %a, %b : tensor<8xi32>
    scf.yield %1 : tensor<8xi32>
  } else {
    scf.yield %b : tensor<8xi32>
  }
  %2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %0) -> tensor<8xi32> {
    %3 = scf.index_switch %k -> tensor<8xi32>
    case 1 {
      %4 = arith.addi %t, %a : tensor<8xi32>
      scf.yield %4 : tensor<8xi32>
    }
    case 3 {
      scf.yield %a : tensor<8xi32>
    }
    default {
      scf.yield %t : tensor<8xi32>
    }
    %5 = arith.subi %3, %t : tensor<8xi32>
    scf.yield %5 : tensor<8xi32>
  }
  return %0, %2 : tensor<8xi32>, tensor<8xi32>
}

// Its tensors are updated in place, iteration by iteration.
func.func @forall(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> (tensor<4x8xi32>, tensor<4x8xi32>) {
  %0 = scf.forall (%i) in (4) shared_outs(%o = %b) -> tensor<4x8xi32> {
    %row = tensor.extract_slice %a[%i, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<1x8xi32>
    %old = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<1x8xi32>
    %new = arith.muli %row, %old : tensor<1x8xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %new into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xi32> into tensor<4x8xi32>
    }
  }
  %1 = arith.addi %0, %b : tensor<4x8xi32>
  return %0, %1 : tensor<4x8xi32>, tensor<4x8xi32>
}
