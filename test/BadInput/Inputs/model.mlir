// One input and one weight on two devices.
spmd.mesh @pod = <["x"=2]>
func.func @f(%x: tensor<2x4xf32> {spmd.name = "x"},
             %w: tensor<4x6xf32> {spmd.weight = "layer.w", spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>})
    -> (tensor<2x6xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6xf32>) -> tensor<2x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x6xf32>) outs(%init : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
