// Rows of unknown number and length become one loop nest, and contractions read slices of unknown strides in place.
// REQUIRES: shard-compile
// RUN: shard-compile %s --emit=memref | FileCheck %s

// CHECK-LABEL: symbols = ["sk_fn_softmax"]
// CHECK-NOT: linalg
// CHECK: scf.for
// CHECK: memref.alloc() {{.*}} : memref<1xf32>
// CHECK: linalg.generic
// CHECK: arith.maxnumf
// CHECK: memref.alloc({{.*}}) {{.*}} : memref<1x?xf32>
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: return
func.func @softmax(%x: tensor<?x?xf32> {spmd.symbols = ["b", "s"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: symbols = ["sk_fn_slice"]
// CHECK-NOT: {{alloc|linalg.generic}}
// CHECK: %[[SLICE:.*]] = memref.subview {{.*}} to memref<?x?x16xf32, strided<[?, 16, 1]
// CHECK-NOT: {{alloc|linalg.generic}}
// CHECK: spmd_rt.contract {{.*}} ins(%[[SLICE]],
// CHECK: return
func.func @slice(%x: tensor<?x?x16xf32> {spmd.symbols = ["b", "s", ""]}, %w: tensor<16x8xf32>, %y: tensor<?x?xf32> {spmd.symbols = ["b", "t"]}) -> tensor<?x?x8xf32> attributes {spmd.bounds = {s = [8, 64], t = [1, 8]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x16xf32>
  %t = tensor.dim %y, %c1 : tensor<?x?xf32>
  %s = tensor.extract_slice %x[0, 0, 0] [%b, %t, 16] [1, 1, 1] : tensor<?x?x16xf32> to tensor<?x?x16xf32>
  %e = tensor.empty(%b, %t) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>, affine_map<(b, s, n, k) -> (b, s, n)>] ins(%s, %w : tensor<?x?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}
