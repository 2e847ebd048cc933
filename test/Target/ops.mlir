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


// From f64 to bf16 at once: by f32, rounded to the nearest, the second number would become 0x3F80. And what LLVM has no test for.
func.func @narrow(%x: tensor<6xf64>) -> tensor<6xbf16> attributes {spmd.reference = @narrow_reference} {
  %0 = arith.constant dense<[1.00390625, 1.0039062500000002, -1.0039062500000002, 1.0e300, 0x7FF8000000000000, -1.0e-320]> : tensor<6xf64>
  %zero = arith.constant dense<0.0> : tensor<6xf64>
  %big = arith.constant dense<1.0e308> : tensor<6xf64>
  %same = arith.cmpf olt, %x, %big : tensor<6xf64>
  %1 = arith.select %same, %0, %zero : tensor<6xi1>, tensor<6xf64>
  %2 = arith.truncf %1 : tensor<6xf64> to tensor<6xbf16>
  return %2 : tensor<6xbf16>
}
func.func private @narrow_reference(%x: tensor<6xf64>) -> tensor<6xbf16> {
  %0 = arith.constant dense<[0x3F80, 0x3F81, 0xBF81, 0x7F80, 0x7FC0, 0x8000]> : tensor<6xbf16>
  return %0 : tensor<6xbf16>
}

func.func @tests(%x: tensor<5xf32>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xf32>) attributes {spmd.reference = @tests_reference} {
  %0 = arith.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x00800000]> : tensor<5xf32>
  %one = arith.constant dense<1.0> : tensor<5xf32>
  %two = arith.constant dense<2.0> : tensor<5xf32>
  %size = math.absf %x : tensor<5xf32>
  %same = arith.cmpf olt, %size, %two : tensor<5xf32>
  %1 = arith.select %same, %0, %x : tensor<5xi1>, tensor<5xf32>
  %2 = math.isinf %1 : tensor<5xf32>
  %3 = math.isnormal %1 : tensor<5xf32>
  // max(min(., 2), 1), as in the description of upstream.
  %4 = math.clampf %1 to [%two, %one] : tensor<5xf32>
  return %2, %3, %4 : tensor<5xi1>, tensor<5xi1>, tensor<5xf32>
}
func.func private @tests_reference(%x: tensor<5xf32>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xf32>) {
  %0 = arith.constant dense<[true, true, false, false, false]> : tensor<5xi1>
  %1 = arith.constant dense<[false, false, false, false, true]> : tensor<5xi1>
  %2 = arith.constant dense<[2.0, 1.0, 0x7FC00000, 1.0, 1.0]> : tensor<5xf32>
  return %0, %1, %2 : tensor<5xi1>, tensor<5xi1>, tensor<5xf32>
}

// Powers of two of integers: subnormals, zero and infinity too.
func.func @powers() -> tensor<12xf32> {
  %n = arith.constant dense<[-300, -150, -149, -148, -127, -126, -125, 0, 1, 127, 128, 300]> : tensor<12xi32>
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%n : tensor<12xi32>) outs(%e : tensor<12xf32>) {
  ^bb0(%i: i32, %o: f32):
    %f = arith.sitofp %i : i32 to f32
    %p = math.powf %two, %f : f32
    linalg.yield %p : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
