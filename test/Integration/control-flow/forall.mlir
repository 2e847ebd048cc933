// Bodies that run in parallel, and a region for its own sake: what they compute is cut as it would be outside.
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation --remarks-filter=spmd 2>%t.remarks | FileCheck %s --check-prefix=LOCAL -enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: shard-opt %s --spmd-propagate -o %t.once && shard-opt %t.once --spmd-propagate -o %t.twice && diff %t.once %t.twice
// CHECK: all equal bit by bit

// Every row is one iteration's, so rows stay whole; columns may be cut.
// REMARK: remark: [Missed] replicated | {{.*}}Function=rows | Reason="an iteration writes only a slice of them", Remark="dims 0 of shared output #0 of scf.forall stay unsharded"
// LOCAL-LABEL: func.func @rows
// LOCAL: spmd.all_gather {{.*}} : tensor<4x4xi32> -> tensor<8x4xi32>
// LOCAL: scf.forall {{.*}} -> (tensor<8x4xi32>)
// LOCAL-NOT: spmd.
// LOCAL: tensor.parallel_insert_slice {{.*}}[1, 4] [1, 1] : tensor<4xi32> into tensor<8x4xi32>
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @rows(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                %b: tensor<8x12xi32> {spmd.range = [-9, 10]}) -> tensor<8x12xi32> {
  %0 = scf.forall (%i) in (8) shared_outs(%o = %b) -> (tensor<8x12xi32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 12] [1, 1] : tensor<8x12xi32> to tensor<12xi32>
    %u = tensor.extract_slice %o[%i, 0] [1, 12] [1, 1] : tensor<8x12xi32> to tensor<12xi32>
    %t = arith.subi %s, %u : tensor<12xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<8x12xi32>
    }
  }
  return %0 : tensor<8x12xi32>
}

// Two outputs, written along other dims; what is asked of the second is given
// behind the loop. Another loop within, and a sum over a cut dim in its body.
// REMARK: Function=nested {{.*}}dims 0 of shared output #0 of scf.forall stay unsharded
// REMARK: Function=nested {{.*}}dims 1 of shared output #1 of scf.forall stay unsharded
// LOCAL-LABEL: func.func @nested
// LOCAL: scf.forall
// LOCAL: scf.for
// LOCAL: spmd.all_reduce {{.*}} sum <@m, {"y"}>
// LOCAL: tensor.parallel_insert_slice {{.*}} into tensor<8x4xi32>
func.func @nested(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]},
                  %v: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-9, 10]})
    -> (tensor<8x12xi32>, tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant dense<0> : tensor<i32>
  %b = arith.constant dense<3> : tensor<8x12xi32>
  %e = tensor.empty() : tensor<6x8xi32>
  %0:2 = scf.forall (%i) in (8) shared_outs(%o = %b, %p = %e) -> (tensor<8x12xi32>, tensor<6x8xi32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 12] [1, 1] : tensor<8x12xi32> to tensor<12xi32>
    %t = scf.for %k = %c0 to %c2 step %c1 iter_args(%u = %s) -> (tensor<12xi32>) {
      %w = arith.addi %u, %u : tensor<12xi32>
      scf.yield %w : tensor<12xi32>
    }
    %r = linalg.reduce { arith.addi } ins(%t : tensor<12xi32>) outs(%z : tensor<i32>) dimensions = [0]
    %f = tensor.empty() : tensor<6xi32>
    %q = linalg.broadcast ins(%r : tensor<i32>) outs(%f : tensor<6xi32>) dimensions = [0]
    %y = arith.muli %q, %v : tensor<6xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<8x12xi32>
      tensor.parallel_insert_slice %y into %p[0, %i] [6, 1] [1, 1] : tensor<6xi32> into tensor<6x8xi32>
    }
  }
  return %0#0, %0#1 : tensor<8x12xi32>, tensor<6x8xi32>
}

// Tiles: both dims are written in part.
// REMARK: Function=tiles {{.*}}dims 0, 1 of shared output #0 of scf.forall stay unsharded
// LOCAL-LABEL: func.func @tiles
// LOCAL: scf.forall {{.*}} -> (tensor<8x12xi32>)
func.func @tiles(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]})
    -> (tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>}) {
  %b = tensor.empty() : tensor<8x12xi32>
  %0 = scf.forall (%i, %j) = (0, 0) to (8, 12) step (4, 4) shared_outs(%o = %b) -> (tensor<8x12xi32>) {
    %s = tensor.extract_slice %a[%i, %j] [4, 4] [1, 1] : tensor<8x12xi32> to tensor<4x4xi32>
    %t = arith.muli %s, %s : tensor<4x4xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [4, 4] [1, 1] : tensor<4x4xi32> into tensor<8x12xi32>
    }
  }
  return %0 : tensor<8x12xi32>
}

// A loop that combines scalars; the tensors it captures are cut.
// LOCAL-LABEL: func.func @captured
// LOCAL: scf.parallel
// LOCAL: arith.muli {{.*}} : tensor<4x4xi32>
// LOCAL: tensor.extract {{.*}} : tensor<8x12xi32>
func.func @captured(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 7 : i32
  %0 = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%z) -> i32 {
    %p = arith.muli %a, %a : tensor<8x12xi32>
    %v = tensor.extract %p[%i, %c1] : tensor<8x12xi32>
    scf.reduce(%v : i32) {
    ^bb0(%l: i32, %r: i32):
      %s = arith.addi %l, %r : i32
      scf.reduce.return %s : i32
    }
  }
  return %0 : i32
}

// LOCAL-LABEL: func.func @region
// LOCAL-NOT: spmd.all
// LOCAL: scf.execute_region -> tensor<4x4xi32> no_inline
// LOCAL: arith.muli {{.*}} : tensor<4x4xi32>
// LOCAL-NOT: spmd.all
// LOCAL: return
func.func @region(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<8x12xi32> {
  %0 = scf.execute_region -> tensor<8x12xi32> no_inline {
    %p = arith.muli %a, %a : tensor<8x12xi32>
    scf.yield %p : tensor<8x12xi32>
  }
  return %0 : tensor<8x12xi32>
}
