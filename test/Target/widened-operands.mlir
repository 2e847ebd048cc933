// Weights of 4 bits in words of eight, with a scale for each 16 inputs: no full weight is in memory. One row widens them
// in registers, many rows in tiles.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=tensor -o - | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY
// One row has the same bits on any number of devices.
// RUN: sed 's/"x"=2/"x"=7/' %s > %t.mlir
// RUN: shard-run %s --function=row --random-inputs=1 --output-dir=%t.2
// RUN: shard-run %t.mlir --function=row --random-inputs=1 --output-dir=%t.7
// RUN: cmp %t.2/y.npy %t.7/y.npy

spmd.mesh @m = <["x"=2]>

// The scale is widened by itself, and multiplies the sum of the terms that have it in common. The outer loops are over
// runs of results and over scales.
// CHECK-LABEL: func.func @program_0
// CHECK-NOT: tensor<64x1024xf32>
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]
// CHECK: arith.shrui
// CHECK: arith.uitofp
// CHECK-NOT: spmd_rt.contract
func.func @row(%x: tensor<1x64xf32> {spmd.name = "x"}, %words: tensor<8x2048xi32> {spmd.weight = "words", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
               %scales: tensor<4x2048xf16> {spmd.weight = "scales"}) -> (tensor<1x2048xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %w = func.call @widen(%words, %scales) : (tensor<8x2048xi32>, tensor<4x2048xf16>) -> tensor<64x2048xf32>
  %e = tensor.empty() : tensor<1x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x64xf32>, tensor<64x2048xf32>) outs(%f : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  return %y : tensor<1x2048xf32>
}

// Words of a device that has 4096 of the results: eight tiles of 512 of them, which are multiplied one by one.
// CHECK-LABEL: func.func @program_1
// CHECK-NOT: tensor<512x4096xf32>
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = tensor.collapse_shape {{.*}} into tensor<512x512xf32>
// CHECK: spmd_rt.contract {{.*}} ins(%{{.*}}, %[[TILE]] :
// CHECK: tensor.insert_slice
func.func @rows(%x: tensor<6x512xf32> {spmd.name = "x"}, %words: tensor<64x8192xi32> {spmd.weight = "words2", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %scales: tensor<32x8192xf16> {spmd.weight = "scales2"}) -> (tensor<6x8192xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %w = func.call @widen2(%words, %scales) : (tensor<64x8192xi32>, tensor<32x8192xf16>) -> tensor<512x8192xf32>
  %e = tensor.empty() : tensor<6x8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8192xf32>) -> tensor<6x8192xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x512xf32>, tensor<512x8192xf32>) outs(%f : tensor<6x8192xf32>) -> tensor<6x8192xf32>
  return %y : tensor<6x8192xf32>
}

// A stored weight of 16 bits is read by one row as it is, and sums are rounded once.
// CHECK-LABEL: func.func @program_2
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK-NOT: spmd_rt.contract
func.func @half(%x: tensor<1x96xbf16> {spmd.name = "x"}, %w: tensor<160x96xbf16> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<1x160xbf16> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x160xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x160xbf16>) -> tensor<1x160xbf16>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<1x96xbf16>, tensor<160x96xbf16>) outs(%f : tensor<1x160xbf16>) -> tensor<1x160xbf16>
  return %y : tensor<1x160xbf16>
}

// A batch that is tiled: the other operand has slices of it too.
// CHECK-LABEL: func.func @program_3
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = linalg.generic
// CHECK: %[[OTHER:.*]] = tensor.extract_slice {{.*}} : tensor<8x16x512xf32> to tensor<4x16x512xf32>
// CHECK: spmd_rt.contract {{.*}} ins(%[[OTHER]], %[[TILE]] :
func.func @batches(%x: tensor<16x16x512xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}, %u: tensor<16x512xf32>, %v: tensor<512x128xf32>) -> (tensor<16x16x128xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x512x128xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (b, k)>, affine_map<(b, k, n) -> (k, n)>, affine_map<(b, k, n) -> (b, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%u, %v : tensor<16x512xf32>, tensor<512x128xf32>) outs(%e : tensor<16x512x128xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    linalg.yield %product : f32
  } -> tensor<16x512x128xf32>
  %e2 = tensor.empty() : tensor<16x16x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<16x16x512xf32>, tensor<16x512x128xf32>) outs(%f : tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
  return %y : tensor<16x16x128xf32>
}

func.func private @widen(%words: tensor<8x2048xi32>, %scales: tensor<4x2048xf16>) -> tensor<64x2048xf32> {
  %split = tensor.expand_shape %words [[0, 1], [2]] output_shape [4, 2, 2048] : tensor<8x2048xi32> into tensor<4x2x2048xi32>
  %e = tensor.empty() : tensor<4x2x8x2048xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(g, i, j, n) -> (g, i, n)>, affine_map<(g, i, j, n) -> (g, n)>, affine_map<(g, i, j, n) -> (g, i, j, n)>],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split, %scales : tensor<4x2x2048xi32>, tensor<4x2048xf16>) outs(%e : tensor<4x2x8x2048xf32>) {
  ^bb0(%word: i32, %scale: f16, %out: f32):
    %four = arith.constant 4 : i32
    %mask = arith.constant 15 : i32
    %j = linalg.index 2 : index
    %position = arith.index_cast %j : index to i32
    %shift = arith.muli %position, %four : i32
    %moved = arith.shrui %word, %shift : i32
    %number = arith.andi %moved, %mask : i32
    %float = arith.uitofp %number : i32 to f32
    %factor = arith.extf %scale : f16 to f32
    %product = arith.mulf %float, %factor : f32
    linalg.yield %product : f32
  } -> tensor<4x2x8x2048xf32>
  %joined = tensor.collapse_shape %wide [[0, 1, 2], [3]] : tensor<4x2x8x2048xf32> into tensor<64x2048xf32>
  return %joined : tensor<64x2048xf32>
}

func.func private @widen2(%words: tensor<64x8192xi32>, %scales: tensor<32x8192xf16>) -> tensor<512x8192xf32> {
  %split = tensor.expand_shape %words [[0, 1], [2]] output_shape [32, 2, 8192] : tensor<64x8192xi32> into tensor<32x2x8192xi32>
  %e = tensor.empty() : tensor<32x2x8x8192xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(g, i, j, n) -> (g, i, n)>, affine_map<(g, i, j, n) -> (g, n)>, affine_map<(g, i, j, n) -> (g, i, j, n)>],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%split, %scales : tensor<32x2x8192xi32>, tensor<32x8192xf16>) outs(%e : tensor<32x2x8x8192xf32>) {
  ^bb0(%word: i32, %scale: f16, %out: f32):
    %four = arith.constant 4 : i32
    %mask = arith.constant 15 : i32
    %j = linalg.index 2 : index
    %position = arith.index_cast %j : index to i32
    %shift = arith.muli %position, %four : i32
    %moved = arith.shrui %word, %shift : i32
    %number = arith.andi %moved, %mask : i32
    %float = arith.uitofp %number : i32 to f32
    %factor = arith.extf %scale : f16 to f32
    %product = arith.mulf %float, %factor : f32
    linalg.yield %product : f32
  } -> tensor<32x2x8x8192xf32>
  %joined = tensor.collapse_shape %wide [[0, 1, 2], [3]] : tensor<32x2x8x8192xf32> into tensor<512x8192xf32>
  return %joined : tensor<512x8192xf32>
}

// VERIFY: verify: 4 functions, 4 results, all equal
