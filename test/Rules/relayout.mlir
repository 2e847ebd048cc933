// linalg ops that are not structured. Integer data moves exactly; softmax is
// compared within rounding.
// RUN: shard-run %s --random-inputs=1 --verify

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @s = <["x"=4, "y"=2]>

// The normalized dim is gathered, rows stay sharded.
func.func @softmax_last(%a: tensor<6x4x9xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}, {}]>}) -> tensor<6x4x9xf32> {
  %e = tensor.empty() : tensor<6x4x9xf32>
  %r = linalg.softmax dimension(2) ins(%a : tensor<6x4x9xf32>) outs(%e : tensor<6x4x9xf32>) -> tensor<6x4x9xf32>
  return %r : tensor<6x4x9xf32>
}

func.func @softmax_sharded_dim(%a: tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %e = tensor.empty() : tensor<6x12xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<6x12xf32>) outs(%e : tensor<6x12xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

// Columns are normalized; the destination is an argument with another
// layout, whose elements are not read.
func.func @softmax_first(%a: tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
                         %b: tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x12xf32> {
  %r = linalg.softmax dimension(0) ins(%a : tensor<6x12xf32>) outs(%b : tensor<6x12xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

// Tiles stay unsharded, outer dims are sharded: the axis of 3 and the sub-axis.
func.func @pack(%a: tensor<12x20xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]}) -> tensor<3x10x4x2xi32> {
  %e = tensor.empty() : tensor<3x10x4x2xi32>
  %r = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<12x20xi32> -> tensor<3x10x4x2xi32>
  return %r : tensor<3x10x4x2xi32>
}

// Outer dims are permuted, and a dim has no tile.
func.func @pack_permuted(%a: tensor<12x5x16xi32> {spmd.sharding = #spmd.sharding<@s, [{}, {}, {"x":(2)2}]>, spmd.range = [0, 1000]}) -> (tensor<8x12x5x2xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(2)2, "y"}, {"x":(1)2}, {}, {}]>}) {
  %e = tensor.empty() : tensor<8x12x5x2xi32>
  %r = linalg.pack %a outer_dims_perm = [2, 0, 1] inner_dims_pos = [2] inner_tiles = [2] into %e : tensor<12x5x16xi32> -> tensor<8x12x5x2xi32>
  return %r : tensor<8x12x5x2xi32>
}

// A tile that does not divide: the dim stays unsharded, the other is sharded.
func.func @pack_padded(%a: tensor<12x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 1000]}) -> (tensor<12x2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}, {}]>}) {
  %p = arith.constant -5 : i32
  %e = tensor.empty() : tensor<12x2x4xi32>
  %r = linalg.pack %a padding_value(%p : i32) inner_dims_pos = [1] inner_tiles = [4] into %e : tensor<12x7xi32> -> tensor<12x2x4xi32>
  return %r : tensor<12x2x4xi32>
}

// The operand is sharded within a tile.
func.func @pack_in_tile(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {2, "y"}]>, spmd.range = [0, 1000]}) -> (tensor<6x2x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}) {
  %e = tensor.empty() : tensor<6x2x6xi32>
  %r = linalg.pack %a inner_dims_pos = [1] inner_tiles = [6] into %e : tensor<6x12xi32> -> tensor<6x2x6xi32>
  return %r : tensor<6x2x6xi32>
}

func.func @unpack(%a: tensor<10x3x4x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}, {}]>, spmd.range = [0, 1000]}) -> tensor<12x20xi32> {
  %e = tensor.empty() : tensor<12x20xi32>
  %r = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<10x3x4x2xi32> -> tensor<12x20xi32>
  return %r : tensor<12x20xi32>
}

// The last tile is not full.
func.func @unpack_padded(%a: tensor<12x2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<12x7xi32> {
  %e = tensor.empty() : tensor<12x7xi32>
  %r = linalg.unpack %a inner_dims_pos = [1] inner_tiles = [4] into %e : tensor<12x2x4xi32> -> tensor<12x7xi32>
  return %r : tensor<12x7xi32>
}

// The body of a named op is not printed: its indices cannot be made global.
func.func @random() -> (tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %low = arith.constant -3.0 : f64
  %high = arith.constant 5.0 : f64
  %seed = arith.constant 17 : i32
  %e = tensor.empty() : tensor<6x12xf32>
  %0 = linalg.fill_rng_2d ins(%low, %high, %seed : f64, f64, i32) outs(%e : tensor<6x12xf32>) -> tensor<6x12xf32>
  return %0 : tensor<6x12xf32>
}

// Like a slice except for the order of outer dims: upstream's short cut reads
// beyond the operand.
func.func @unpack_one_tile(%a: tensor<1x1x5xi32> {spmd.range = [0, 1000]}) -> tensor<5x1xi32> {
  %e = tensor.empty() : tensor<5x1xi32>
  %r = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [5] into %e : tensor<1x1x5xi32> -> tensor<5x1xi32>
  return %r : tensor<5x1xi32>
}
