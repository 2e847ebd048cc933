// The arena of a function of sizes that only the run knows: a closed form of these for each buffer, and those that it follows.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=llvm | FileCheck %s --implicit-check-not=malloc --implicit-check-not=free
// RUN: rm -rf %t && shard-compile %s -o %t --with-reference
// RUN: shard-run %t --size=b=3 --size=s=70 --random-inputs=1 --verify
// RUN: shard-run %t --size=b=70 --size=s=3 --random-inputs=1 --verify
// RUN: shard-run %t --size=b=1 --size=s=1 --random-inputs=1 --verify
// RUN: %python -c "import json; f = json.load(open('%t/manifest.json'))['functions'][0]; print(f['arena_bytes'], f['arena'])" | FileCheck %s --check-prefix=MANIFEST

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

// Buffers of b rows and of s x s elements share bytes: which of them is larger only the run knows, and shards are padded.
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @two(%x: tensor<?x16xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, %y: tensor<?x8xf32> {spmd.symbols = ["s", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x16xf32>
  %s = tensor.dim %y, %c0 : tensor<?x8xf32>
  %eb = tensor.empty(%b) : tensor<?x16xf32>
  %es = tensor.empty(%s, %s) : tensor<?x?xf32>
  %ey = tensor.empty(%s) : tensor<?x8xf32>
  %ib = linalg.fill ins(%zero : f32) outs(%eb : tensor<?x16xf32>) -> tensor<?x16xf32>
  %is = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %iy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%ib : tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%y, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%is : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.matmul ins(%0, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%ib : tensor<?x16xf32>) -> tensor<?x16xf32>
  %3 = linalg.matmul ins(%1, %y : tensor<?x?xf32>, tensor<?x8xf32>) outs(%iy : tensor<?x8xf32>) -> tensor<?x8xf32>
  %4 = linalg.matmul ins(%1, %3 : tensor<?x?xf32>, tensor<?x8xf32>) outs(%iy : tensor<?x8xf32>) -> tensor<?x8xf32>
  %5 = linalg.matmul ins(%2, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%ib : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %5, %4 : tensor<?x16xf32>, tensor<?x8xf32>
}
