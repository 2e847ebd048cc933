// Transposes move axes from dim to dim, not data; contractions of transposed
// operands, named and generic.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>

func.func @plain(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x4xi32> {
  %e = tensor.empty() : tensor<6x4xi32>
  %r = linalg.transpose ins(%a : tensor<4x6xi32>) outs(%e : tensor<6x4xi32>) permutation = [1, 0]
  return %r : tensor<6x4xi32>
}

func.func @cycle(%a: tensor<4x6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>, spmd.range = [0, 1000]}) -> tensor<5x4x6xi32> {
  %e = tensor.empty() : tensor<5x4x6xi32>
  %r = linalg.transpose ins(%a : tensor<4x6x5xi32>) outs(%e : tensor<5x4x6xi32>) permutation = [2, 0, 1]
  return %r : tensor<5x4x6xi32>
}

func.func @to_fixed(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %e = tensor.empty() : tensor<12x6xi32>
  %r = linalg.transpose ins(%a : tensor<6x12xi32>) outs(%e : tensor<12x6xi32>) permutation = [1, 0]
  return %r : tensor<12x6xi32>
}

func.func @matmul_transposed_b(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
                               %b: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %zero = arith.constant dense<0> : tensor<4x6xi32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4x12xi32>, tensor<6x12xi32>) outs(%zero : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// Scores of heads: both operands with the batch in the middle.
func.func @heads(%q: tensor<4x6x3x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}, {}]>, spmd.range = [-9, 10]},
                 %k: tensor<4x6x3x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}, {}, {}]>, spmd.range = [-9, 10]}) -> tensor<4x3x6x6xi32> {
  %zero = arith.constant dense<0> : tensor<4x3x6x6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, i, h, k)>, affine_map<(b, h, i, j, k) -> (b, j, h, k)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x6x3x5xi32>, tensor<4x6x3x5xi32>) outs(%zero : tensor<4x3x6x6xi32>) {
  ^bb0(%x: i32, %y: i32, %acc: i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %p, %acc : i32
    linalg.yield %s : i32
  } -> tensor<4x3x6x6xi32>
  return %r : tensor<4x3x6x6xi32>
}

// Other structured ops, batch and vector forms.
func.func @batch_matmul(%a: tensor<2x4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-9, 10]},
                        %b: tensor<2x6x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<2x4x3xi32> {
  %one = arith.constant dense<1> : tensor<2x4x3xi32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x4x6xi32>, tensor<2x6x3xi32>) outs(%one : tensor<2x4x3xi32>) -> tensor<2x4x3xi32>
  return %r : tensor<2x4x3xi32>
}

func.func @vectors(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                   %v: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-9, 10]},
                   %w: tensor<6xi32> {spmd.range = [-9, 10]}) -> (tensor<6xi32>, tensor<i32>) {
  %z = arith.constant dense<3> : tensor<i32>
  %r = linalg.matvec ins(%a, %v : tensor<6x12xi32>, tensor<12xi32>) outs(%w : tensor<6xi32>) -> tensor<6xi32>
  %s = linalg.dot ins(%r, %w : tensor<6xi32>, tensor<6xi32>) outs(%z : tensor<i32>) -> tensor<i32>
  return %r, %s : tensor<6xi32>, tensor<i32>
}

// A convolution over a cut window dim is made whole, its channels are not.
func.func @conv(%x: tensor<2x10x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-9, 10]},
                %w: tensor<3x4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<2x8x6xi32> {
  %zero = arith.constant dense<0> : tensor<2x8x6xi32>
  %r = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x10x4xi32>, tensor<3x4x6xi32>) outs(%zero : tensor<2x8x6xi32>) -> tensor<2x8x6xi32>
  return %r : tensor<2x8x6xi32>
}

func.func @conv_window(%x: tensor<2x10x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-9, 10]},
                       %w: tensor<3x4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}, {}]>, spmd.range = [-9, 10]})
    -> (tensor<2x8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0> : tensor<2x8x6xi32>
  %r = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x10x4xi32>, tensor<3x4x6xi32>) outs(%zero : tensor<2x8x6xi32>) -> tensor<2x8x6xi32>
  return %r : tensor<2x8x6xi32>
}
