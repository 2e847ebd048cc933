// What a loop hands to its next trip has the layout of what it started with, whatever the body computes in.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

// The body transposes: rows and columns change places on every trip; an odd number of them.
func.func @transposed(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]}) -> tensor<8x8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> tensor<8x8xi32> {
    %e = tensor.empty() : tensor<8x8xi32>
    %t = linalg.transpose ins(%v : tensor<8x8xi32>) outs(%e : tensor<8x8xi32>) permutation = [1, 0]
    %n = arith.index_cast %i : index to i32
    %f = linalg.fill ins(%n : i32) outs(%e : tensor<8x8xi32>) -> tensor<8x8xi32>
    %s = arith.subi %t, %f : tensor<8x8xi32>
    scf.yield %s : tensor<8x8xi32>
  }
  return %0 : tensor<8x8xi32>
}

// Two values change places; one starts partial, one is pinned inside.
func.func @swapped(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]},
                   %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
                   %d: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 9]}) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  %z = arith.constant dense<0> : tensor<4x4xi32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x4xi32>) outs(%z : tensor<4x4xi32>) -> tensor<4x4xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %p, %w = %d) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
    %s = arith.addi %v, %w : tensor<4x4xi32>
    %k = spmd.with_sharding_constraint %s <@m, [{}, {"x", "y"}]> : tensor<4x4xi32>
    scf.yield %w, %k : tensor<4x4xi32>, tensor<4x4xi32>
  }
  return %0#0, %0#1 : tensor<4x4xi32>, tensor<4x4xi32>
}
