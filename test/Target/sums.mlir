// Products are computed onto the sums that they are added to: those that a loop carries, and arguments that the
// result updates, which are in its memory already or are copied there. What something else reads as well is added.
// The same holds for slices that are inserted into an argument: caches.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=memref | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=SAME
// RUN: shard-run %s --random-inputs=1 --verify --donate | FileCheck %s --check-prefix=SAME
// RUN: shard-run %s --random-inputs=1 --verify --donate --compile-option=--fill-padding=lowest | FileCheck %s --check-prefix=SAME
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify | FileCheck %s --check-prefix=SAME
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify --donate | FileCheck %s --check-prefix=SAME
// SAME: verify: 12 functions, 20 results, all equal

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

// A cache: the new row is read with the others.
// CHECK-LABEL: sk_fn_cache
// CHECK: %[[APART:.*]] = arith.cmpi ne
// CHECK: scf.if %[[APART]]
// CHECK-NEXT: memref.copy %arg1, %arg4
// CHECK-NOT: memref.copy
func.func @cache(%cache: tensor<4x8x6xf32>, %x: tensor<4x1x6xf32>, %at: tensor<i32> {spmd.range = [0, 7]}) -> (tensor<4x8x6xf32> {spmd.tied = 0 : i64}, tensor<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %i = tensor.extract %at[] : tensor<i32>
  %p = arith.index_cast %i : i32 to index
  %new = tensor.insert_slice %x into %cache[0, %p, 0] [4, 1, 6] [1, 1, 1] : tensor<4x1x6xf32> into tensor<4x8x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.reduce ins(%new : tensor<4x8x6xf32>) outs(%z : tensor<4x6xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  }
  return %new, %s : tensor<4x8x6xf32>, tensor<4x6xf32>
}

// A loop over layers, each of which has a slice of the cache.
// CHECK-LABEL: sk_fn_layers
// CHECK: scf.if
// CHECK-NEXT: memref.copy %arg1, %arg3
// CHECK-NOT: memref.copy
func.func @layers(%cache: tensor<3x8x6xf32>, %x: tensor<1x2x6xf32>) -> (tensor<3x8x6xf32> {spmd.tied = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %new = scf.for %i = %c0 to %c3 step %c1 iter_args(%all = %cache) -> tensor<3x8x6xf32> {
    %old = tensor.extract_slice %all[%i, 4, 0] [1, 2, 6] [1, 1, 1] : tensor<3x8x6xf32> to tensor<1x2x6xf32>
    %sum = arith.addf %old, %x : tensor<1x2x6xf32>
    %next = tensor.insert_slice %sum into %all[%i, 2, 0] [1, 2, 6] [1, 1, 1] : tensor<1x2x6xf32> into tensor<3x8x6xf32>
    scf.yield %next : tensor<3x8x6xf32>
  }
  return %new : tensor<3x8x6xf32>
}

// The argument is read once more; a first insertion is a result too, and is read after the second; each takes the memory of the other.
// CHECK-LABEL: sk_fn_old
func.func @old(%cache: tensor<4x8xf32>, %x: tensor<4x2xf32>) -> (tensor<4x8xf32> {spmd.tied = 0 : i64}, tensor<4x8xf32>) {
  %new = tensor.insert_slice %x into %cache[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  %both = arith.addf %new, %cache : tensor<4x8xf32>
  return %new, %both : tensor<4x8xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: sk_fn_twice
func.func @twice(%cache: tensor<4x8xf32>, %x: tensor<4x2xf32>, %other: tensor<4x8xf32>) -> (tensor<4x8xf32> {spmd.tied = 0 : i64}, tensor<4x8xf32>, tensor<4x8xf32> {spmd.tied = 2 : i64}) {
  %before = arith.addf %cache, %other : tensor<4x8xf32>
  %one = tensor.insert_slice %x into %cache[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  %two = tensor.insert_slice %x into %one[0, 6] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  %sum = arith.addf %one, %before : tensor<4x8xf32>
  return %two, %one, %sum : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: sk_fn_swapped
func.func @swapped(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %x: tensor<4x2xf32>) -> (tensor<4x8xf32> {spmd.tied = 0 : i64}, tensor<4x8xf32> {spmd.tied = 1 : i64}) {
  %0 = tensor.insert_slice %x into %b[0, 3] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  %1 = tensor.insert_slice %x into %a[0, 5] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}
