// Device ids say where a logical rank runs, never what it computes.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=1 --verify=exact --device-map=5,4,3,2,1,0

spmd.mesh @m = <["x"=2, "y"=3], device_ids=[3, 0, 4, 1, 5, 2]>

func.func @move(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  return %a : tensor<12x6xi32>
}

func.func @contract(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                    %b: tensor<12x6xi32> {spmd.range = [-9, 10]},
                    %c: tensor<4x6xi32> {spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x12xi32>, tensor<12x6xi32>) outs(%c : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @index(%a: tensor<12xi64> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}]>}) -> tensor<12xi64> {
  %e = tensor.empty() : tensor<12xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<12xi64>) outs(%e : tensor<12xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = linalg.index 0 : index
    %c = arith.index_cast %k : index to i64
    %s = arith.addi %c, %x : i64
    linalg.yield %s : i64
  } -> tensor<12xi64>
  return %r : tensor<12xi64>
}
