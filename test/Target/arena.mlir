// All temporaries are in one arena, which the caller brings: they share its bytes when they do not live at the same time.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=llvm | FileCheck %s --implicit-check-not=malloc --implicit-check-not=free
// RUN: shard-run %s --random-inputs=1 --verify
// RUN: rm -rf %t && shard-compile %s -o %t && FileCheck %s --check-prefix=MANIFEST < %t/manifest.json

// Of four intermediate products of 16 KiB two live at a time; the last product is written to its result.
// CHECK-LABEL: llvm.func internal @program_0
// CHECK-SAME: spmd_rt.arena_bytes = 32768 : i64
// MANIFEST-LABEL: "name": "chain"
// MANIFEST: "arena_bytes": 32768
func.func @chain(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// One that lives until the end keeps its bytes: through a view, and past shorter ones.
// CHECK-LABEL: llvm.func internal @program_1
// CHECK-SAME: spmd_rt.arena_bytes = 49152 : i64
// MANIFEST-LABEL: "name": "long"
// MANIFEST: "arena_bytes": 49152
func.func @long(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<64x64xf32> into tensor<4096xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %last = tensor.expand_shape %flat [[0, 1]] output_shape [64, 64] : tensor<4096xf32> into tensor<64x64xf32>
  %4 = linalg.matmul ins(%3, %last : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// Nothing between arguments and results: no arena.
// CHECK-LABEL: llvm.func internal @program_2
// CHECK-SAME: spmd_rt.arena_bytes = 0 : i64
// MANIFEST-LABEL: "name": "none"
// MANIFEST: "arena_bytes": 0
func.func @none(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = math.tanh %x : tensor<64x64xf32>
  %1 = arith.mulf %0, %x : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
