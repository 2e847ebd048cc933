spmd.mesh @m = <["m"=4]>
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x7xf32> {spmd.weight = "w"}) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x5xf32>, tensor<5x7xf32>) outs(%fill : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %y : tensor<3x7xf32>
}
