// A loop that adds a product to what it carries, row by row where the CPU target tiles it: the row is read before it is
// written, in one buffer or in two.
// RUN: shard-run %s --random-inputs=1 --verify=exact

func.func @acc(%x: tensor<8x6xi32>, %w: tensor<6x10xi32>, %b: tensor<8x10xi32>) -> tensor<8x10xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %b) -> (tensor<8x10xi32>) {
    %p = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
    %1 = arith.addi %a, %p : tensor<8x10xi32>
    scf.yield %1 : tensor<8x10xi32>
  }
  return %r : tensor<8x10xi32>
}
