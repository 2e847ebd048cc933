spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
// Two products of one chain, the result whole on every device.
func.func @main(%x: tensor<128x1024xf32> {spmd.name = "x"}, %w0: tensor<1024x1024xf32> {spmd.weight = "w0"}, %w1: tensor<1024x1024xf32> {spmd.weight = "w1"})
    -> (tensor<128x1024xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x1024xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x1024xf32>) -> tensor<128x1024xf32>
  %h = linalg.matmul ins(%x, %w0 : tensor<128x1024xf32>, tensor<1024x1024xf32>) outs(%fill : tensor<128x1024xf32>) -> tensor<128x1024xf32> loc("h")
  %r = math.absf %h : tensor<128x1024xf32> loc("r")
  %y = linalg.matmul ins(%r, %w1 : tensor<128x1024xf32>, tensor<1024x1024xf32>) outs(%fill : tensor<128x1024xf32>) -> tensor<128x1024xf32> loc("y")
  return %y : tensor<128x1024xf32>
}
