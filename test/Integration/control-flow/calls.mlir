// Calls in the bodies of loops and branches: private callees are copied per signature, a public one keeps its own.
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-opt %s --spmd-propagate -o %t.mlir && shard-run %t.mlir --random-inputs=1 --verify=exact | FileCheck %s
// RUN: FileCheck %s --check-prefix=COPY < %t.mlir
// CHECK: all equal bit by bit
// COPY: scf.for
// COPY: func.call @step_spmd0
// COPY: func.call @keep(
// COPY: func.call @step_spmd0
// COPY: scf.forall
// COPY: func.call @row_spmd0
spmd.mesh @m = <["x"=2, "y"=2]>
func.func private @step(%a: tensor<8x6xi32>) -> tensor<8x6xi32> {
  %0 = arith.muli %a, %a : tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
func.func @keep(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-3, 3]}) -> tensor<8x6xi32> {
  %0 = arith.addi %a, %a : tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
func.func @main(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}, %c: i1) -> tensor<8x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> tensor<8x6xi32> {
    %1 = func.call @step(%v) : (tensor<8x6xi32>) -> tensor<8x6xi32>
    %2 = scf.if %c -> tensor<8x6xi32> {
      %3 = func.call @keep(%1) : (tensor<8x6xi32>) -> tensor<8x6xi32>
      scf.yield %3 : tensor<8x6xi32>
    } else {
      %4 = func.call @step(%1) : (tensor<8x6xi32>) -> tensor<8x6xi32>
      scf.yield %4 : tensor<8x6xi32>
    }
    scf.yield %2 : tensor<8x6xi32>
  }
  %r = scf.forall (%i) in (8) shared_outs(%o = %0) -> (tensor<8x6xi32>) {
    %s = tensor.extract_slice %0[%i, 0] [1, 6] [1, 1] : tensor<8x6xi32> to tensor<1x6xi32>
    %t = func.call @row(%s) : (tensor<1x6xi32>) -> tensor<1x6xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 6] [1, 1] : tensor<1x6xi32> into tensor<8x6xi32>
    }
  }
  return %r : tensor<8x6xi32>
}
func.func private @row(%a: tensor<1x6xi32>) -> tensor<1x6xi32> {
  %0 = arith.addi %a, %a : tensor<1x6xi32>
  return %0 : tensor<1x6xi32>
}
