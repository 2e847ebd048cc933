// One product says how it is computed, one has a copy made anew.
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x32xf32>, %w: tensor<32x48xf32>, %v: tensor<48x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %0 = linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{}, {"y"}, {"x"}]>} ins(%a, %w : tensor<64x32xf32>, tensor<32x48xf32>) outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<64x16xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %1 = linalg.matmul ins(%0, %v : tensor<64x48xf32>, tensor<48x16xf32>) outs(%f2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %2 = linalg.matmul {spmd.reshard_per_use = array<i64: 0>} ins(%0, %v : tensor<64x48xf32>, tensor<48x16xf32>) outs(%f2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %1, %2 : tensor<64x16xf32>, tensor<64x16xf32>
}
