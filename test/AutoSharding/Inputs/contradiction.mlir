spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
func.func @main(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>})
    -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = arith.negf %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
