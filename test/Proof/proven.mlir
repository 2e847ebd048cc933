// What the default pipeline makes of these programs is proven to be what they compute.
// RUN: shard-opt %s --spmd-default-pipeline -o %t.mlir
// RUN: shard-prove %s %t.mlir | FileCheck %s

spmd.mesh @m = <["x"=4, "y"=2]>

// CHECK: @contraction: proven
func.func @contraction(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<16x12xf32>) -> tensor<8x12xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%init : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}

// Chunks of 2, 2, 1 and 0 rows: both operands are masked.
// CHECK: @padding: proven
func.func @padding(%a: tensor<3x5xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<5x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK: @maximum: proven
func.func @maximum(%a: tensor<5x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %init: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<5x6xf32>) outs(%init : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}

// CHECK: @heads: proven
func.func @heads(%q: tensor<6x48xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>}) -> tensor<6x12x4xf32> {
  %0 = tensor.expand_shape %q [[0], [1, 2]] output_shape [6, 12, 4] : tensor<6x48xf32> into tensor<6x12x4xf32>
  return %0 : tensor<6x12x4xf32>
}

// CHECK: @halo: proven
func.func @halo(%image: tensor<1x32x8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}, {}]>}, %kernel: tensor<3x3x3x5xf32>) -> tensor<1x32x8x5xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x32x8x3xf32> to tensor<1x34x10x3xf32>
  %empty = tensor.empty() : tensor<1x32x8x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32x8x5xf32>) -> tensor<1x32x8x5xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%padded, %kernel : tensor<1x34x10x3xf32>, tensor<3x3x3x5xf32>) outs(%init : tensor<1x32x8x5xf32>) -> tensor<1x32x8x5xf32>
  return %0 : tensor<1x32x8x5xf32>
}

// The accumulator is partial in the loop.
// CHECK: @accumulated: proven
func.func @accumulated(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %dh: tensor<8x10xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x10xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x10xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = tensor.empty() : tensor<6x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x6xf32>) outs(%t : tensor<6x8xf32>) permutation = [1, 0]
  %dw = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> tensor<6x10xf32> {
    %g = linalg.matmul ins(%xt, %dh : tensor<6x8xf32>, tensor<8x10xf32>) outs(%sum : tensor<6x10xf32>) -> tensor<6x10xf32>
    scf.yield %g : tensor<6x10xf32>
  }
  return %dw : tensor<6x10xf32>
}

// CHECK: @index: proven
func.func @index(%a: tensor<24xi64> {spmd.sharding = #spmd.sharding<@m, [{3, "y"}]>}) -> tensor<24xi64> {
  %e = tensor.empty() : tensor<24xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<24xi64>) outs(%e : tensor<24xi64>) {
  ^bb0(%in: i64, %out: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %sum = arith.addi %in, %j : i64
    linalg.yield %sum : i64
  } -> tensor<24xi64>
  return %0 : tensor<24xi64>
}
