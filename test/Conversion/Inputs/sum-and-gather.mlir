spmd.mesh @pod = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"y"}]>},
                %b: tensor<8x5xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y"}, {}]>},
                %c: tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>})
    -> (tensor<4x5xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>},
        tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x5xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%zero : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = math.exp %c : tensor<4x3xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<4x3xf32>
}
