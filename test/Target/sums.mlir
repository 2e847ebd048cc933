// Products are computed onto the sums that they are added to: those that a loop carries, and arguments that the
// result updates, which are in its memory already or are copied there. What something else reads as well is added.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=memref | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=SAME
// RUN: shard-run %s --random-inputs=1 --verify --donate | FileCheck %s --check-prefix=SAME
// RUN: shard-run %s --random-inputs=1 --verify --donate --compile-option=--fill-padding=lowest | FileCheck %s --check-prefix=SAME
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify | FileCheck %s --check-prefix=SAME
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify --donate | FileCheck %s --check-prefix=SAME
// SAME: verify: 7 functions, 10 results, all equal

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: sk_fn_argument
// CHECK: %[[APART:.*]] = arith.cmpi ne
// CHECK: scf.if %[[APART]]
// CHECK-NEXT: memref.copy %arg1, %arg4
// CHECK: spmd_rt.contract {{.*}} ins(%arg2, %arg3 {{.*}}) outs(%arg4 : memref<64x48xf32>){{$}}
// CHECK-NOT: linalg
func.func @argument(%sum: tensor<64x48xf32>, %x: tensor<32x64xf32>, %g: tensor<32x48xf32>) -> (tensor<64x48xf32> {spmd.tied = 0 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %g : tensor<32x64xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x48xf32>) outs(%sum : tensor<64x48xf32>) {
  ^bb0(%i: f32, %o: f32):
    %r = arith.addf %o, %i : f32
    linalg.yield %r : f32
  } -> tensor<64x48xf32>
  return %s : tensor<64x48xf32>
}

// A sum is rounded once, and may be written as its transpose is.
// CHECK-LABEL: sk_fn_turned
// CHECK: spmd_rt.contract {{.*}} outs(%arg4 : memref<48x64xbf16>){{$}}
// CHECK-NOT: linalg
func.func @turned(%sum: tensor<48x64xbf16>, %x: tensor<32x64xbf16>, %g: tensor<32x48xbf16>) -> (tensor<48x64xbf16> {spmd.tied = 0 : i64}) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x48xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<64x48xbf16>) -> tensor<64x48xbf16>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %g : tensor<32x64xbf16>, tensor<32x48xbf16>) outs(%z : tensor<64x48xbf16>) -> tensor<64x48xbf16>
  %et = tensor.empty() : tensor<48x64xbf16>
  %t = linalg.transpose ins(%p : tensor<64x48xbf16>) outs(%et : tensor<48x64xbf16>) permutation = [1, 0]
  %s = arith.addf %t, %sum : tensor<48x64xbf16>
  return %s : tensor<48x64xbf16>
}

// CHECK-LABEL: sk_fn_loop
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: spmd_rt.contract {{.*}} outs(%{{.*}} : memref<64x48xf32>){{$}}
// CHECK-NOT: linalg
// CHECK: }
func.func @loop(%x: tensor<4x32x64xf32>, %g: tensor<4x32x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<64x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %z) -> tensor<64x48xf32> {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<32x64xf32>
    %gi = tensor.extract_slice %g[%i, 0, 0] [1, 32, 48] [1, 1, 1] : tensor<4x32x48xf32> to tensor<32x48xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%xi, %gi : tensor<32x64xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) -> tensor<64x48xf32>
    %n = arith.addf %acc, %p : tensor<64x48xf32>
    scf.yield %n : tensor<64x48xf32>
  }
  return %s : tensor<64x48xf32>
}

// The product reads the sum; the product is a result too; the sum goes elsewhere.
// CHECK-LABEL: sk_fn_reads
// CHECK: spmd_rt.contract {{.*}} overwrite
// CHECK: linalg.generic
func.func @reads(%sum: tensor<48x48xf32>, %g: tensor<48x48xf32>) -> (tensor<48x48xf32> {spmd.tied = 0 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x48xf32>) -> tensor<48x48xf32>
  %p = linalg.matmul ins(%sum, %g : tensor<48x48xf32>, tensor<48x48xf32>) outs(%z : tensor<48x48xf32>) -> tensor<48x48xf32>
  %s = arith.addf %sum, %p : tensor<48x48xf32>
  return %s : tensor<48x48xf32>
}
// CHECK-LABEL: sk_fn_both
// CHECK: spmd_rt.contract {{.*}} overwrite
// CHECK: linalg.generic
func.func @both(%sum: tensor<48x48xf32>, %x: tensor<48x48xf32>, %g: tensor<48x48xf32>) -> (tensor<48x48xf32> {spmd.tied = 0 : i64}, tensor<48x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x48xf32>) -> tensor<48x48xf32>
  %p = linalg.matmul ins(%x, %g : tensor<48x48xf32>, tensor<48x48xf32>) outs(%z : tensor<48x48xf32>) -> tensor<48x48xf32>
  %s = arith.addf %sum, %p : tensor<48x48xf32>
  return %s, %p : tensor<48x48xf32>, tensor<48x48xf32>
}
// CHECK-LABEL: sk_fn_elsewhere
// CHECK: spmd_rt.contract {{.*}} overwrite
// CHECK: linalg.generic
func.func @elsewhere(%sum: tensor<48x48xf32>, %x: tensor<48x48xf32>, %g: tensor<48x48xf32>) -> (tensor<48x48xf32>, tensor<48x48xf32> {spmd.tied = 0 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x48xf32>) -> tensor<48x48xf32>
  %p = linalg.matmul ins(%x, %g : tensor<48x48xf32>, tensor<48x48xf32>) outs(%z : tensor<48x48xf32>) -> tensor<48x48xf32>
  %s = arith.addf %sum, %p : tensor<48x48xf32>
  %d = arith.addf %s, %s : tensor<48x48xf32>
  return %s, %d : tensor<48x48xf32>, tensor<48x48xf32>
}
// Cut unevenly, the padding filled: the one along a dim of the sum, the other along the dim that is summed, which is
// completed before it is added.
spmd.mesh @m = <["x"=3]>
func.func @uneven(%sum: tensor<50x48xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %other: tensor<50x48xf32>, %x: tensor<32x50xf32>,
                  %y: tensor<32x50xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %g: tensor<32x48xf32>)
    -> (tensor<50x48xf32> {spmd.tied = 0 : i64, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, tensor<50x48xf32> {spmd.tied = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<50x48xf32>) -> tensor<50x48xf32>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %g : tensor<32x50xf32>, tensor<32x48xf32>) outs(%z : tensor<50x48xf32>) -> tensor<50x48xf32>
  %s = arith.addf %p, %sum : tensor<50x48xf32>
  %q = linalg.contract indexing_maps = [#a, #b, #c] ins(%y, %g : tensor<32x50xf32>, tensor<32x48xf32>) outs(%z : tensor<50x48xf32>) -> tensor<50x48xf32>
  %t = arith.addf %q, %other : tensor<50x48xf32>
  return %s, %t : tensor<50x48xf32>, tensor<50x48xf32>
}
