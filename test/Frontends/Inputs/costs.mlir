spmd.mesh @pod = <["x"=2, "one"=1, "y"=2]>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
