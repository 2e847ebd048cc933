spmd.mesh @m = <["x"=2]>
func.func @f(%a: tensor<8xf32> {spmd.name = "\FF", spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %0 = math.tanh %a : tensor<8xf32> loc("caf\E9")
  return %0 : tensor<8xf32>
}
