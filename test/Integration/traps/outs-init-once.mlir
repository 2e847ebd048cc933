// What a contraction starts from counts once, also where every device along the
// contracted dim holds it.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @replicated_init(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
                           %b: tensor<8x6xi32> {spmd.range = [-9, 10]},
                           %init: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-99, 100]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%init : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @sharded_init(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-9, 10]},
                        %b: tensor<8x6xi32> {spmd.range = [-9, 10]},
                        %init: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 100]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%init : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// A fill with something that is no neutral element.
func.func @filled_init(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-9, 10]},
                       %b: tensor<8x6xi32> {spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %c7 = arith.constant 7 : i32
  %e = tensor.empty() : tensor<4x6xi32>
  %f = linalg.fill ins(%c7 : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%f : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// One partial sum is the init of the next contraction.
func.func @chained(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
                   %b: tensor<8x6xi32> {spmd.range = [-9, 10]},
                   %c: tensor<6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %init = arith.constant dense<5> : tensor<4x6xi32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%init : tensor<4x6xi32>) -> tensor<4x6xi32>
  %q = linalg.matmul ins(%p, %c : tensor<4x6xi32>, tensor<6x6xi32>) outs(%p : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %q : tensor<4x6xi32>
}

// A non-splat constant as init, and a product as the combiner.
func.func @product_from_constant(%a: tensor<3x8xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>, spmd.range = [1, 4]}) -> tensor<3xi64> {
  %init = arith.constant dense<[2, 3, 5]> : tensor<3xi64>
  %r = linalg.reduce { arith.muli } ins(%a : tensor<3x8xi64>) outs(%init : tensor<3xi64>) dimensions = [1]
  return %r : tensor<3xi64>
}

// A difference: the combiner is acc - x.
func.func @difference(%a: tensor<3x8xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
                      %init: tensor<3xi64> {spmd.range = [-99, 100]}) -> tensor<3xi64> {
  %r = linalg.reduce ins(%a : tensor<3x8xi64>) outs(%init : tensor<3xi64>) dimensions = [1]
      (%x: i64, %acc: i64) {
    %s = arith.subi %acc, %x : i64
    linalg.yield %s : i64
  }
  return %r : tensor<3xi64>
}

// x - acc is not associative: the dim is made whole.
func.func @alternating(%a: tensor<3x8xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
                       %init: tensor<3xi64> {spmd.range = [-99, 100]}) -> tensor<3xi64> {
  %r = linalg.reduce ins(%a : tensor<3x8xi64>) outs(%init : tensor<3xi64>) dimensions = [1]
      (%x: i64, %acc: i64) {
    %s = arith.subi %x, %acc : i64
    linalg.yield %s : i64
  }
  return %r : tensor<3xi64>
}

// What stands for the init elsewhere must not turn a sum of negative zeros positive.
func.func @negative_zeros(%a: tensor<12x5xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1]}) -> tensor<5xi32> {
  %f = arith.sitofp %a : tensor<12x5xi8> to tensor<12x5xf32>
  %n = arith.negf %f : tensor<12x5xf32>
  %init = arith.constant dense<-0.0> : tensor<5xf32>
  %r = linalg.reduce { arith.addf } ins(%n : tensor<12x5xf32>) outs(%init : tensor<5xf32>) dimensions = [0]
  %bits = arith.bitcast %r : tensor<5xf32> to tensor<5xi32>
  return %bits : tensor<5xi32>
}
