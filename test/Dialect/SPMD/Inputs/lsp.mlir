spmd.mesh @pod = <["data"=2, "model"=4]>
func.func @main(%x: tensor<6x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}, %w: tensor<16x8xf32>) -> tensor<6x8xf32> {
  %e = tensor.empty() : tensor<6x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<6x16xf32>, tensor<16x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %1 = math.tanh %0 : tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}
