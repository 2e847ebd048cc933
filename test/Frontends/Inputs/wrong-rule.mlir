// A rule that calls the dim of a softmax parallel.
#wrong = #spmd.rule<([i, j], [i, j]) -> ([i, j]) {i=8, j=32}>
spmd.mesh @pod = <["data"=2, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %w: tensor<16x32xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
                %v: tensor<32x12xf32> {spmd.name = "v"}) -> (tensor<8x12xf32> {spmd.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %s = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%zero : tensor<8x32xf32>) -> tensor<8x32xf32> loc("scores")
  %e = tensor.empty() : tensor<8x32xf32>
  %p = linalg.softmax {spmd.sharding_rule = #wrong} dimension(1) ins(%s : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32> loc("weights")
  %zero2 = arith.constant dense<0.0> : tensor<8x12xf32>
  %y = linalg.matmul ins(%p, %v : tensor<8x32xf32>, tensor<32x12xf32>) outs(%zero2 : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
