// Annotated with upstream's dialect shard: two shardings, all others follow.
shard.grid @grid(shape = 2x2)

func.func @mlp(%x: tensor<8x16xf32>, %w1: tensor<16x32xf32>, %w2: tensor<32x12xf32>) -> tensor<8x12xf32> {
  %batch = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %columns = shard.sharding @grid split_axes = [[], [1]] : !shard.sharding
  %xs = shard.shard %x to %batch annotate_for_users : tensor<8x16xf32>
  %w1s = shard.shard %w1 to %columns annotate_for_users : tensor<16x32xf32>
  %zero1 = arith.constant dense<0.0> : tensor<8x32xf32>
  %h = linalg.matmul ins(%xs, %w1s : tensor<8x16xf32>, tensor<16x32xf32>) outs(%zero1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %relu = arith.maximumf %h, %zero1 : tensor<8x32xf32>
  %zero2 = arith.constant dense<0.0> : tensor<8x12xf32>
  %y = linalg.matmul ins(%relu, %w2 : tensor<8x32xf32>, tensor<32x12xf32>) outs(%zero2 : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}
