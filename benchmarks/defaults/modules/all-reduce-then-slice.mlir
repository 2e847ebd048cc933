// A product that is constrained to be replicated, then sharded: reduce-scatter, or an all-gather of less.
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%p: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32>) {
  %z9 = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul  ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z9 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = spmd.with_sharding_constraint %r <@m, [{}, {}]> : tensor<8x16xf32>
  %b = spmd.with_sharding_constraint %a <@m, [{}, {"x"}]> : tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}
