// Private helpers: each call is sharded as its operands are.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func private @square_plus(%a: tensor<8x6xi32>, %b: tensor<6xi32>) -> tensor<8x6xi32> {
  %e = tensor.empty() : tensor<8x6xi32>
  %bb = linalg.broadcast ins(%b : tensor<6xi32>) outs(%e : tensor<8x6xi32>) dimensions = [0]
  %s = arith.muli %a, %a : tensor<8x6xi32>
  %r = arith.addi %s, %bb : tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

func.func private @twice(%a: tensor<8x6xi32>, %b: tensor<6xi32>) -> tensor<8x6xi32> {
  %0 = func.call @square_plus(%a, %b) : (tensor<8x6xi32>, tensor<6xi32>) -> tensor<8x6xi32>
  %1 = func.call @square_plus(%0, %b) : (tensor<8x6xi32>, tensor<6xi32>) -> tensor<8x6xi32>
  return %1 : tensor<8x6xi32>
}

func.func @rows(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [-9, 10]},
                %b: tensor<6xi32> {spmd.range = [-9, 10]}) -> tensor<8x6xi32> {
  %0 = func.call @twice(%a, %b) : (tensor<8x6xi32>, tensor<6xi32>) -> tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}

func.func @columns(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
                   %b: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-9, 10]}) -> tensor<8x6xi32> {
  %0 = func.call @twice(%a, %b) : (tensor<8x6xi32>, tensor<6xi32>) -> tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
