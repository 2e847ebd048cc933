// A splat takes any layout, any other constant is cut like an argument.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @dense(%a: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<4x4xi32> {
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<4x4xi32>
  %r = arith.addi %a, %c : tensor<4x4xi32>
  return %r : tensor<4x4xi32>
}

func.func @splat(%a: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [0, 1000]}) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  %c = arith.constant dense<3> : tensor<4x4xi32>
  %r = arith.muli %a, %c : tensor<4x4xi32>
  return %r, %c : tensor<4x4xi32>, tensor<4x4xi32>
}

func.func @one_constant_two_layouts(%a: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]},
                                    %b: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]})
    -> (tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<4x4xi32>
  %s = arith.constant dense<3> : tensor<4x4xi32>
  %cs = arith.muli %c, %s : tensor<4x4xi32>
  %0 = arith.addi %a, %cs : tensor<4x4xi32>
  %1 = arith.addi %b, %c : tensor<4x4xi32>
  %2 = arith.subi %1, %s : tensor<4x4xi32>
  return %0, %2, %c : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>
}

func.func @returned() -> (tensor<2x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}, tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %c = arith.constant dense<[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]> : tensor<2x6xi32>
  %s = arith.constant dense<9> : tensor<6xi32>
  return %c, %s : tensor<2x6xi32>, tensor<6xi32>
}

// A fill and a splat of a value that is computed.
func.func @computed(%a: tensor<i32> {spmd.range = [0, 1000]}) -> (tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}, tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %v = tensor.extract %a[] : tensor<i32>
  %e = tensor.empty() : tensor<8xi32>
  %f = linalg.fill ins(%v : i32) outs(%e : tensor<8xi32>) -> tensor<8xi32>
  %s = tensor.splat %v : tensor<4xi32>
  return %f, %s : tensor<8xi32>, tensor<4xi32>
}
