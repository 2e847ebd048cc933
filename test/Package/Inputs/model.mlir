spmd.mesh @pod = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
