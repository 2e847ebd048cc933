// A small batch and a weight on one axis: an activation moves, not the weight.
spmd.mesh @m = <["x"=8]>
func.func @main(%p: tensor<8x4096xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<4096x14336xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x14336xf32>) {
  %z3 = arith.constant dense<0.0> : tensor<8x14336xf32>
  %r = linalg.matmul  ins(%p, %w : tensor<8x4096xf32>, tensor<4096x14336xf32>) outs(%z3 : tensor<8x14336xf32>) -> tensor<8x14336xf32>
  return %r : tensor<8x14336xf32>
}
