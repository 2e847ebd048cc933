// The network of docs/guides/Tutorial.md.
spmd.mesh @pod = <["data"=2, "model"=2]>

func.func @mlp(
    %x: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
    %w1: tensor<16x32xf32> {spmd.weight = "w1", spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
    %b1: tensor<32xf32> {spmd.weight = "b1"},
    %w2: tensor<32x12xf32> {spmd.weight = "w2"}) -> (tensor<8x12xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %b = linalg.broadcast ins(%b1 : tensor<32xf32>) outs(%e1 : tensor<8x32xf32>) dimensions = [0]
  %s = arith.addf %h, %b : tensor<8x32xf32>
  %g = math.tanh %s : tensor<8x32xf32>
  %e2 = tensor.empty() : tensor<8x12xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x12xf32>) -> tensor<8x12xf32>
  %y = linalg.matmul ins(%g, %w2 : tensor<8x32xf32>, tensor<32x12xf32>) outs(%f2 : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
