spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = math.tanh %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
