// {"x", "y"} and {"y", "x"} hold different elements on the same devices.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>

func.func @swap(%a: tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>}) {
  return %a : tensor<12x5xi32>
}

func.func @add(%a: tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]},
               %b: tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<12x5xi32> {
  %r = arith.addi %a, %b : tensor<12x5xi32>
  return %r : tensor<12x5xi32>
}

func.func @contract(%a: tensor<5x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>, spmd.range = [-9, 10]},
                    %b: tensor<12x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [-9, 10]}) -> tensor<5x7xi32> {
  %c0 = arith.constant dense<0> : tensor<5x7xi32>
  %r = linalg.matmul ins(%a, %b : tensor<5x12xi32>, tensor<12x7xi32>) outs(%c0 : tensor<5x7xi32>) -> tensor<5x7xi32>
  return %r : tensor<5x7xi32>
}

// Moved to another dim, and turned round on the way.
func.func @across(%a: tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>}) {
  return %a : tensor<12x18xi32>
}

func.func @exchange_dims(%a: tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]})
    -> (tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  return %a : tensor<12x18xi32>
}
