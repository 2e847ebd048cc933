// Axes of size one cut nothing, wherever they stand.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["a"=1, "x"=2, "b"=1, "y"=2]>
spmd.mesh @one = <["x"=1]>

func.func @spelled(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"a", "x"}, {"b"}]>, spmd.range = [0, 1000]},
                   %b: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %r = arith.subi %a, %b : tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @reduced(%a: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"b"}, {"a"}]>, spmd.range = [0, 1000]},
                   %init: tensor<5xi32> {spmd.range = [0, 1000]}) -> tensor<5xi32> {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<5x7xi32>) outs(%init : tensor<5xi32>) dimensions = [1]
  return %r : tensor<5xi32>
}

func.func @mixed(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"a"}, {"b", "y", "x"}]>, spmd.range = [-9, 10]},
                 %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"b"}]>, spmd.range = [-9, 10]},
                 %c: tensor<4x6xi32> {spmd.range = [-9, 10]})
    -> (tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "a"}, {"b"}]>}) {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// A mesh of one device: the program itself.
func.func @one_device(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@one, [{"x"}, {}]>, spmd.range = [-9, 10]},
                      %b: tensor<8x6xi32> {spmd.range = [-9, 10]},
                      %c: tensor<4x6xi32> {spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}
