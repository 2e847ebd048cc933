spmd.mesh @pod = <["x"=2]>
func.func private @unused(%0: tensor<8xf32>) -> tensor<8xf32> {
  %1 = arith.addf %0, %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @f(%0: tensor<8xf32>) -> tensor<8xf32> {
  %1 = spmd.all_reduce %0 sum <@pod, {"x"}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
