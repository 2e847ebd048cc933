// linalg.index counts in the global value: on every shard it starts where the
// shard starts, on a block-cyclic dim it jumps, and both orders of two axes
// differ.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=4]>
#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#jonly = affine_map<(i, j) -> (j)>

func.func @iota_block(%a: tensor<16xi64> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<16xi64> {
  %e = tensor.empty() : tensor<16xi64>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<16xi64>) outs(%e : tensor<16xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = linalg.index 0 : index
    %c = arith.index_cast %k : index to i64
    %s = arith.addi %c, %x : i64
    linalg.yield %s : i64
  } -> tensor<16xi64>
  return %r : tensor<16xi64>
}

func.func @iota_gapped(%a: tensor<24xi64> {spmd.sharding = #spmd.sharding<@m, [{3, "x"}]>}) -> tensor<24xi64> {
  %e = tensor.empty() : tensor<24xi64>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<24xi64>) outs(%e : tensor<24xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = linalg.index 0 : index
    %c = arith.index_cast %k : index to i64
    %s = arith.addi %c, %x : i64
    linalg.yield %s : i64
  } -> tensor<24xi64>
  return %r : tensor<24xi64>
}

func.func @iota_two_gaps(%a: tensor<48xi64> {spmd.sharding = #spmd.sharding<@m, [{2, "x", 3, "y"}]>}) -> tensor<48xi64> {
  %e = tensor.empty() : tensor<48xi64>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<48xi64>) outs(%e : tensor<48xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = linalg.index 0 : index
    %c = arith.index_cast %k : index to i64
    %s = arith.addi %c, %x : i64
    linalg.yield %s : i64
  } -> tensor<48xi64>
  return %r : tensor<48xi64>
}

func.func @iota_sub_axes(%a: tensor<16x12xi64> {spmd.sharding = #spmd.sharding<@m, [{2, "y":(2)2}, {"y":(1)2, 3, "x"}]>}) -> tensor<16x12xi64> {
  %c100 = arith.constant 100 : i64
  %e = tensor.empty() : tensor<16x12xi64>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x12xi64>) outs(%e : tensor<16x12xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = linalg.index 0 : index
    %l = linalg.index 1 : index
    %c = arith.index_cast %k : index to i64
    %d = arith.index_cast %l : index to i64
    %m = arith.muli %c, %c100 : i64
    %n = arith.addi %m, %d : i64
    %s = arith.addi %n, %x : i64
    linalg.yield %s : i64
  } -> tensor<16x12xi64>
  return %r : tensor<16x12xi64>
}

// The index of a loop that is reduced: sum of k * a[i, k].
func.func @reduced_index(%a: tensor<5x16xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {2, "y"}]>, spmd.range = [-9, 10]}) -> tensor<5xi64> {
  %c0 = arith.constant 0 : i64
  %e = tensor.empty() : tensor<5xi64>
  %f = linalg.fill ins(%c0 : i64) outs(%e : tensor<5xi64>) -> tensor<5xi64>
  %r = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<5x16xi64>) outs(%f : tensor<5xi64>) {
  ^bb0(%x: i64, %acc: i64):
    %k = linalg.index 1 : index
    %c = arith.index_cast %k : index to i64
    %p = arith.muli %c, %x : i64
    %s = arith.addi %acc, %p : i64
    linalg.yield %s : i64
  } -> tensor<5xi64>
  return %r : tensor<5xi64>
}

// A causal mask: both indices against each other.
func.func @causal_mask(%a: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [1, 100]}) -> tensor<8x16xi32> {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x16xi32>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x16xi32>) outs(%e : tensor<8x16xi32>) {
  ^bb0(%x: i32, %o: i32):
    %k = linalg.index 0 : index
    %l = linalg.index 1 : index
    %c = arith.cmpi ule, %l, %k : index
    %s = arith.select %c, %x, %c0 : i32
    linalg.yield %s : i32
  } -> tensor<8x16xi32>
  return %r : tensor<8x16xi32>
}

// Nothing but the result says how the loops are cut.
func.func @iota_from_nothing() -> (tensor<16x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>}) {
  %c100 = arith.constant 100 : i32
  %e = tensor.empty() : tensor<16x6xi32>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x6xi32>) {
  ^bb0(%o: i32):
    %k = linalg.index 0 : index
    %l = linalg.index 1 : index
    %c = arith.index_cast %k : index to i32
    %d = arith.index_cast %l : index to i32
    %m = arith.muli %c, %c100 : i32
    %s = arith.addi %m, %d : i32
    linalg.yield %s : i32
  } -> tensor<16x6xi32>
  return %r : tensor<16x6xi32>
}
