// All temporaries are in one arena, which the caller brings: they share its bytes when they do not live at the same time.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=llvm | FileCheck %s --implicit-check-not=malloc --implicit-check-not=free
// RUN: shard-run %s --size=b=5 --random-inputs=1 --verify
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

// Of sizes that only the run knows: a closed form of these for each buffer, and those that it follows.
// CHECK-LABEL: llvm.func internal @program_3
// CHECK-SAME: spmd_rt.arena_bytes = 128 : i64
// RUN: shard-run %t --function=sized --size=b=3 --random-inputs=1
// RUN: shard-run %t --function=sized --size=b=70 --random-inputs=1
// RUN: %python -c "import json; [f] = [f for f in json.load(open('%t/manifest.json'))['functions'] if f['name'] == 'sized']; print(f['arena_bytes'], f['arena'])" | FileCheck %s --check-prefix=SIZED
// SIZED: 128 [{'bytes': ['*', 'b', 64], 'after': []}, {'bytes': ['*', 'b', 64], 'after': [0]}]
func.func @sized(%x: tensor<?x16xf32> {spmd.symbols = ["b", ""]}, %w: tensor<16x16xf32>) -> tensor<?x16xf32> attributes {spmd.bounds = {b = [1, 1000]}} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%b) : tensor<?x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%init : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %2 : tensor<?x16xf32>
}
