spmd.mesh @m = <["x"=4]>
func.func @main(%w: tensor<8x6xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  return %w : tensor<8x6xf32>
}
