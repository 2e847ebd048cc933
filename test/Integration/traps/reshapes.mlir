// Reshapes carry the digits of a dim: a minor cut becomes a gap, an axis spans
// two dims as sub-axes, and what does not divide is gathered.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=4]>

func.func @collapse_minor_cut(%a: tensor<3x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]}) -> tensor<24xi32> {
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<3x8xi32> into tensor<24xi32>
  return %r : tensor<24xi32>
}

func.func @collapse_both_cut(%a: tensor<4x8x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>, spmd.range = [0, 1000]}) -> tensor<32x5xi32> {
  %r = tensor.collapse_shape %a [[0, 1], [2]] : tensor<4x8x5xi32> into tensor<32x5xi32>
  return %r : tensor<32x5xi32>
}

func.func @expand_major_cut(%a: tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %r = tensor.expand_shape %a [[0, 1]] output_shape [4, 6] : tensor<24xi32> into tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// y = 4 over 2 x 12: two sub-axes.
func.func @expand_across(%a: tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 1000]}) -> tensor<2x12xi32> {
  %r = tensor.expand_shape %a [[0, 1]] output_shape [2, 12] : tensor<24xi32> into tensor<2x12xi32>
  return %r : tensor<2x12xi32>
}

// x = 2 does not divide 3.
func.func @expand_indivisible(%a: tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]}) -> tensor<3x8xi32> {
  %r = tensor.expand_shape %a [[0, 1]] output_shape [3, 8] : tensor<24xi32> into tensor<3x8xi32>
  return %r : tensor<3x8xi32>
}

func.func @gap_back(%a: tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{3, "y"}]>, spmd.range = [0, 1000]}) -> tensor<3x8xi32> {
  %r = tensor.expand_shape %a [[0, 1]] output_shape [3, 8] : tensor<24xi32> into tensor<3x8xi32>
  return %r : tensor<3x8xi32>
}

func.func @gap_to_block(%a: tensor<3x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [0, 1000]})
    -> (tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}]>}) {
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<3x8xi32> into tensor<24xi32>
  return %r : tensor<24xi32>
}

// Heads: split, compute on the pieces, join.
func.func @heads(%a: tensor<6x16xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<6x16xi32> {
  %e = tensor.empty() : tensor<8x6x2xi32>
  %e2 = tensor.empty() : tensor<6x8x2xi32>
  %h = tensor.expand_shape %a [[0], [1, 2]] output_shape [6, 8, 2] : tensor<6x16xi32> into tensor<6x8x2xi32>
  %t = linalg.transpose ins(%h : tensor<6x8x2xi32>) outs(%e : tensor<8x6x2xi32>) permutation = [1, 0, 2]
  %q = arith.muli %t, %t : tensor<8x6x2xi32>
  %u = linalg.transpose ins(%q : tensor<8x6x2xi32>) outs(%e2 : tensor<6x8x2xi32>) permutation = [1, 0, 2]
  %r = tensor.collapse_shape %u [[0], [1, 2]] : tensor<6x8x2xi32> into tensor<6x16xi32>
  return %r : tensor<6x16xi32>
}

// Regrouping through a reshape pair.
func.func @regroup(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]}) -> tensor<8x3xi32> {
  %f = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xi32> into tensor<24xi32>
  %r = tensor.expand_shape %f [[0, 1]] output_shape [8, 3] : tensor<24xi32> into tensor<8x3xi32>
  return %r : tensor<8x3xi32>
}

func.func @ones(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]}) -> tensor<1x8x1x4x1xi32> {
  %r = tensor.expand_shape %a [[0, 1, 2], [3, 4]] output_shape [1, 8, 1, 4, 1] : tensor<8x4xi32> into tensor<1x8x1x4x1xi32>
  return %r : tensor<1x8x1x4x1xi32>
}

// To rank 0 and from it.
func.func @scalar(%a: tensor<1x1xi32> {spmd.range = [0, 1000]}, %b: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 9]}) -> (tensor<i32>, tensor<i32>, tensor<1x1x1xi32>) {
  %s = tensor.collapse_shape %a [] : tensor<1x1xi32> into tensor<i32>
  %sum = linalg.reduce { arith.addi } ins(%b : tensor<8xi32>) outs(%s : tensor<i32>) dimensions = [0]
  %r = tensor.expand_shape %sum [] output_shape [1, 1, 1] : tensor<i32> into tensor<1x1x1xi32>
  return %s, %sum, %r : tensor<i32>, tensor<i32>, tensor<1x1x1xi32>
}
