// Weights on model and then data in one dim, the batch on data: FSDP and tensor parallelism.
spmd.mesh @m = <["data"=4, "model"=2]>
func.func @main(%x: tensor<4096x512xf32> {spmd.sharding = #spmd.sharding<@m, [{"data"}, {}]>}, %w1: tensor<512x2048xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"model", "data"}]>}, %w2: tensor<2048x512xf32> {spmd.sharding = #spmd.sharding<@m, [{"model", "data"}, {}]>}) -> tensor<4096x512xf32> {
  %z = arith.constant dense<0.0> : tensor<4096x2048xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<4096x512xf32>, tensor<512x2048xf32>) outs(%z : tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %g = math.tanh %h : tensor<4096x2048xf32>
  %z2 = arith.constant dense<0.0> : tensor<4096x512xf32>
  %y = linalg.matmul ins(%g, %w2 : tensor<4096x2048xf32>, tensor<2048x512xf32>) outs(%z2 : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %y : tensor<4096x512xf32>
}
