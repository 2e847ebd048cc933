// Reductions that the user writes, merged and left out of loops, give what they give one by one.
// RUN: shard-opt %s --spmd-default-pipeline=overlap=false | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify=exact
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--merge-reductions=false
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--min-hidden-fraction=0

spmd.mesh @pod = <["data"=2, "model"=4]>

// CHECK-LABEL: func.func @added
// CHECK: scf.for
// CHECK-NOT: spmd.all_reduce
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-COUNT-1: spmd.all_reduce
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @added(%x: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>, spmd.range = [-50, 50]}, %y: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>, spmd.range = [-50, 50]}) -> tensor<4x16xi32>
    attributes {spmd.reference = @added_whole} {
  %0 = spmd.manual_computation (%x, %y) in [<@pod, [{"data"}, {}]>, <@pod, [{"data"}, {}]>] out [<@pod, [{}, {}]>] axes ["data"] (%a: tensor<4x16xi32>, %b: tensor<4x16xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %f = arith.constant dense<7> : tensor<4x16xi32>
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %f) -> tensor<4x16xi32> {
      %k = arith.index_cast %i : index to i32
      %t = tensor.splat %k : tensor<4x16xi32>
      %u = arith.muli %a, %t : tensor<4x16xi32>
      %1 = spmd.all_reduce %u sum <@pod, {"data"}> : tensor<4x16xi32>
      %2 = spmd.all_reduce %b sum <@pod, {"data"}> : tensor<4x16xi32>
      %3 = arith.subi %1, %2 : tensor<4x16xi32>
      %4 = arith.addi %s, %3 : tensor<4x16xi32>
      scf.yield %4 : tensor<4x16xi32>
    }
    spmd.return %r : tensor<4x16xi32>
  } : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<4x16xi32>
  return %0 : tensor<4x16xi32>
}
func.func private @added_whole(%x: tensor<8x16xi32>, %y: tensor<8x16xi32>) -> tensor<4x16xi32> {
  %six = arith.constant dense<6> : tensor<4x16xi32>
  %four = arith.constant dense<4> : tensor<4x16xi32>
  %f = arith.constant dense<7> : tensor<4x16xi32>
  %xu = tensor.extract_slice %x[0, 0] [4, 16] [1, 1] : tensor<8x16xi32> to tensor<4x16xi32>
  %xl = tensor.extract_slice %x[4, 0] [4, 16] [1, 1] : tensor<8x16xi32> to tensor<4x16xi32>
  %yu = tensor.extract_slice %y[0, 0] [4, 16] [1, 1] : tensor<8x16xi32> to tensor<4x16xi32>
  %yl = tensor.extract_slice %y[4, 0] [4, 16] [1, 1] : tensor<8x16xi32> to tensor<4x16xi32>
  %xs = arith.addi %xu, %xl : tensor<4x16xi32>
  %ys = arith.addi %yu, %yl : tensor<4x16xi32>
  %1 = arith.muli %xs, %six : tensor<4x16xi32>
  %2 = arith.muli %ys, %four : tensor<4x16xi32>
  %3 = arith.subi %1, %2 : tensor<4x16xi32>
  %4 = arith.addi %3, %f : tensor<4x16xi32>
  return %4 : tensor<4x16xi32>
}
