// The arena of a function of sizes that only the run knows: a closed form of these for each buffer, and those that it follows.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=llvm | FileCheck %s --implicit-check-not=malloc --implicit-check-not=free
// RUN: rm -rf %t && shard-compile %s -o %t --with-reference
// RUN: shard-run %t --size=b=3 --random-inputs=1 --verify
// RUN: shard-run %t --size=b=70 --random-inputs=1 --verify
// RUN: %python -c "import json; [f] = json.load(open('%t/manifest.json'))['functions']; print(f['arena_bytes'], f['arena'])" | FileCheck %s --check-prefix=MANIFEST

// CHECK-LABEL: llvm.func internal @program_0
// CHECK-SAME: spmd_rt.arena_bytes = 128 : i64
// MANIFEST: 128 [{'bytes': ['*', 'b', 64], 'after': []}, {'bytes': ['*', 'b', 64], 'after': [0]}]
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
