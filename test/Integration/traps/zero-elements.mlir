// Tensors without elements, cut along another dim or along the empty one.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @empty_rows(%a: tensor<0x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<0x8xi32> {
  %r = arith.addi %a, %a : tensor<0x8xi32>
  return %r : tensor<0x8xi32>
}

func.func @empty_dim_cut(%a: tensor<0x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>})
    -> (tensor<0x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %r = arith.addi %a, %a : tensor<0x8xi32>
  return %r : tensor<0x8xi32>
}

// A contraction over nothing is its init.
func.func @empty_contraction(%a: tensor<4x0xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                             %b: tensor<0x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
                             %c: tensor<4x6xi32> {spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x0xi32>, tensor<0x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @empty_contraction_cut(%a: tensor<4x0xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                                 %b: tensor<0x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
                                 %c: tensor<4x6xi32> {spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x0xi32>, tensor<0x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @empty_reduction(%a: tensor<4x0xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<4xf32> {
  %ninf = arith.constant dense<0xFF800000> : tensor<4xf32>
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<4x0xf32>) outs(%ninf : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
