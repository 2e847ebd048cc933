// Changes of layout that take more than one collective, or one that moves several axes at once.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @p = <["x"=2, "y"=2, "z"=2], device_ids=[5, 2, 7, 0, 3, 6, 1, 4]>

// Axes change places, then join on one dim, then part into pieces.
func.func @swap(%a: tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> (tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>}) {
  %0 = spmd.with_sharding_constraint %a <@m, [{"y"}, {"x"}]> : tensor<12x18xi32>
  %1 = arith.addi %0, %0 : tensor<12x18xi32>
  %2 = spmd.with_sharding_constraint %1 <@m, [{"y", "x"}, {}]> : tensor<12x18xi32>
  %3 = arith.muli %2, %2 : tensor<12x18xi32>
  return %3 : tensor<12x18xi32>
}

// A partial value completed and moved; a value that is gathered on one dim and cut on the other.
func.func @partial(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@p, [{"z"}, {"x", "y"}]>, spmd.range = [-9, 9]},
                   %b: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@p, [{"x", "y"}, {}]>, spmd.range = [-9, 9]}) -> (tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@p, [{"y"}, {"z", "x"}]>}) {
  %c = arith.constant dense<3> : tensor<8x8xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x8xi32>, tensor<8x8xi32>) outs(%c : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0 : tensor<8x8xi32>
}

// Through parts of axes and a gap.
func.func @digits(%a: tensor<16x6xi32> {spmd.sharding = #spmd.sharding<@p, [{"x", "y"}, {"z"}]>, spmd.range = [0, 1000]}) -> (tensor<16x6xi32> {spmd.sharding = #spmd.sharding<@p, [{"z", "y", "x"}, {}]>}) {
  %0 = spmd.with_sharding_constraint %a <@p, [{2, "z", "x"}, {"y"}]> : tensor<16x6xi32>
  %1 = arith.addi %0, %0 : tensor<16x6xi32>
  return %1 : tensor<16x6xi32>
}
