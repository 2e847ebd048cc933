spmd.mesh @m = <["x"=4]>
func.func @main(%x: tensor<64x8192xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<8192x512xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x512xf32> {spmd.name = "y"}) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x8192xf32>, tensor<8192x512xf32>) outs(%f : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
