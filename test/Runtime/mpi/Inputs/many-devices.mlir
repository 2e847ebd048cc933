spmd.mesh @m = <["x"=512]>
func.func @main(%x: tensor<512x8xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<512x8xf32> {spmd.name = "y"}) {
  %y = math.exp %x : tensor<512x8xf32>
  return %y : tensor<512x8xf32>
}
