// More transposed operands than shared memory has squares for: the others are read as they lie.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 2 functions, 2 results, all equal

// KERNELS: gpu.func @transpose_0(
// KERNELS-COUNT-11: memref<32x33xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}{{[,)]}}
// KERNELS-NOT: memref<32x33xf32, #gpu.address_space<workgroup>> {
// KERNELS: gpu.func @transpose_1(
// KERNELS-COUNT-5: memref<32x33xf64, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}{{[,)]}}
// KERNELS-NOT: memref<32x33xf64, #gpu.address_space<workgroup>> {
// KERNELS: func.func
func.func @singles(%x0: tensor<70x45xf32>, %x1: tensor<70x45xf32>, %x2: tensor<70x45xf32>, %x3: tensor<70x45xf32>, %x4: tensor<70x45xf32>, %x5: tensor<70x45xf32>, %x6: tensor<70x45xf32>, %x7: tensor<70x45xf32>, %x8: tensor<70x45xf32>, %x9: tensor<70x45xf32>, %x10: tensor<70x45xf32>, %x11: tensor<70x45xf32>) -> tensor<45x70xf32> {
  %e = tensor.empty() : tensor<45x70xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel", "parallel"]} ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11 : tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>, tensor<70x45xf32>) outs(%e : tensor<45x70xf32>) {
  ^bb0(%p0: f32, %p1: f32, %p2: f32, %p3: f32, %p4: f32, %p5: f32, %p6: f32, %p7: f32, %p8: f32, %p9: f32, %p10: f32, %p11: f32, %o: f32):
    %s1 = arith.subf %p0, %p1 : f32
    %s2 = arith.addf %s1, %p2 : f32
    %s3 = arith.subf %s2, %p3 : f32
    %s4 = arith.addf %s3, %p4 : f32
    %s5 = arith.subf %s4, %p5 : f32
    %s6 = arith.addf %s5, %p6 : f32
    %s7 = arith.subf %s6, %p7 : f32
    %s8 = arith.addf %s7, %p8 : f32
    %s9 = arith.subf %s8, %p9 : f32
    %s10 = arith.addf %s9, %p10 : f32
    %s11 = arith.subf %s10, %p11 : f32
    linalg.yield %s11 : f32 } -> tensor<45x70xf32>
  return %r : tensor<45x70xf32>
}
func.func @doubles(%x0: tensor<70x45xf64>, %x1: tensor<70x45xf64>, %x2: tensor<70x45xf64>, %x3: tensor<70x45xf64>, %x4: tensor<70x45xf64>, %x5: tensor<70x45xf64>) -> tensor<45x70xf64> {
  %e = tensor.empty() : tensor<45x70xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(j,i)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel", "parallel"]} ins(%x0, %x1, %x2, %x3, %x4, %x5 : tensor<70x45xf64>, tensor<70x45xf64>, tensor<70x45xf64>, tensor<70x45xf64>, tensor<70x45xf64>, tensor<70x45xf64>) outs(%e : tensor<45x70xf64>) {
  ^bb0(%p0: f64, %p1: f64, %p2: f64, %p3: f64, %p4: f64, %p5: f64, %o: f64):
    %s1 = arith.subf %p0, %p1 : f64
    %s2 = arith.addf %s1, %p2 : f64
    %s3 = arith.subf %s2, %p3 : f64
    %s4 = arith.addf %s3, %p4 : f64
    %s5 = arith.subf %s4, %p5 : f64
    linalg.yield %s5 : f64 } -> tensor<45x70xf64>
  return %r : tensor<45x70xf64>
}
