// A value that its users want in different layouts, or twice in one op.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @gram(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<8x8xi32> {
  %c0 = arith.constant dense<0> : tensor<8x8xi32>
  %r = linalg.matmul ins(%a, %a : tensor<8x8xi32>, tensor<8x8xi32>) outs(%c0 : tensor<8x8xi32>) -> tensor<8x8xi32>
  return %r : tensor<8x8xi32>
}

func.func @plus_transpose(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x8xi32> {
  %e = tensor.empty() : tensor<8x8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<8x8xi32>, tensor<8x8xi32>) outs(%e : tensor<8x8xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %two = arith.addi %x, %x : i32
    %s = arith.addi %two, %y : i32
    linalg.yield %s : i32
  } -> tensor<8x8xi32>
  return %r : tensor<8x8xi32>
}

func.func @diagonal(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8x8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

func.func @three_users(%a: tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]})
    -> (tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
        tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>},
        tensor<8x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = arith.addi %a, %a : tensor<8x8xi32>
  return %0, %0, %0 : tensor<8x8xi32>, tensor<8x8xi32>, tensor<8x8xi32>
}

// A partial sum that is wanted both complete and cut.
func.func @partial_two_ways(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
                            %b: tensor<8x4xi32> {spmd.range = [-9, 10]})
    -> (tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
        tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
        tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %c0 = arith.constant dense<0> : tensor<4x4xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x4xi32>) outs(%c0 : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %r, %r, %r : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>
}

// An argument is returned as it is, and elsewhere in another layout.
func.func @pass_through(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<8x4xi32>, tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  return %a, %a : tensor<8x4xi32>, tensor<8x4xi32>
}
