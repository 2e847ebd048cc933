// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify

// A reshard that does not depend on the loop stands outside, also for a branch inside it.
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @invariant
// CHECK: spmd.reshard %arg1 <@m, [{}, {}]>
// CHECK: scf.for
// CHECK-NOT: spmd.reshard
// CHECK: return
func.func @invariant(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<8x16xf32> {
    %first = arith.cmpi eq, %i, %c0 : index
    %t = scf.if %first -> tensor<8x16xf32> {
      %h = linalg.matmul ins(%a, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
      scf.yield %h : tensor<8x16xf32>
    } else {
      %h = arith.addf %a, %x : tensor<8x16xf32>
      scf.yield %h : tensor<8x16xf32>
    }
    scf.yield %t : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}

