// Ops whose lowering was wrong or missing once, against upstream's.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: all equal bit by bit

// Rounding to a narrower type and back is no identity.
func.func @round(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = arith.truncf %x : tensor<4x8xf32> to tensor<4x8xf16>
  %1 = arith.extf %0 : tensor<4x8xf16> to tensor<4x8xf32>
  %2 = arith.truncf %x : tensor<4x8xf32> to tensor<4x8xbf16>
  %3 = arith.extf %2 : tensor<4x8xbf16> to tensor<4x8xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Tiles of several elements, with padding and in another order.
func.func @pack(%x: tensor<8x12xf32>, %y: tensor<7x12xf32>, %o: tensor<2x3x4x4xf32>) -> (tensor<2x3x4x4xf32>, tensor<3x2x4x4xf32>) {
  %pad = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x2x4x4xf32>
  %0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %o : tensor<8x12xf32> -> tensor<2x3x4x4xf32>
  %1 = linalg.pack %y padding_value(%pad : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 4] into %e : tensor<7x12xf32> -> tensor<3x2x4x4xf32>
  return %0, %1 : tensor<2x3x4x4xf32>, tensor<3x2x4x4xf32>
}

func.func @unpack(%x: tensor<2x3x4x4xf32>) -> (tensor<8x12xf32>, tensor<7x12xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %f = tensor.empty() : tensor<7x12xf32>
  %0 = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<2x3x4x4xf32> -> tensor<8x12xf32>
  %1 = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %f : tensor<2x3x4x4xf32> -> tensor<7x12xf32>
  return %0, %1 : tensor<8x12xf32>, tensor<7x12xf32>
}
