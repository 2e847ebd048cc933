// Rows of bf16 that are f32 in between are read and written 16 bytes at once.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify --rtol=2e-2 | FileCheck %s
// CHECK: verify: 3 functions, 3 results, all equal
// KERNELS: gpu.func @rows_0(
// KERNELS: vector.load {{.*}} : memref<13x776xbf16>, vector<8xbf16>
// KERNELS: vector.store {{.*}} : memref<13x776xbf16>, vector<8xbf16>
// Rows that 8 does not divide.
// KERNELS: gpu.func @rows_1(
// KERNELS: vector.load {{.*}} : memref<13x332xbf16>, vector<4xbf16>
// The result is f32.
// KERNELS: gpu.func @rows_2(
// KERNELS: vector.load {{.*}} : memref<3x1544xbf16>, vector<4xbf16>
// KERNELS: vector.store {{.*}} : memref<3x1544xf32>, vector<4xf32>
func.func @whole(%x: tensor<13x776xbf16>) -> tensor<13x776xbf16> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<13xf32>
  %z = linalg.fill ins(%least : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %w = arith.extf %x : tensor<13x776xbf16> to tensor<13x776xf32>
  %s = linalg.reduce { arith.maximumf } ins(%w : tensor<13x776xf32>) outs(%z : tensor<13xf32>) dimensions = [1]
  %f = tensor.empty() : tensor<13x776xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(a)>, affine_map<(a,b)->(a,b)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<13x776xf32>, tensor<13xf32>) outs(%f : tensor<13x776xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %d = arith.subf %p, %q : f32
    %y = math.exp %d : f32
    %t = arith.truncf %y : f32 to bf16
    linalg.yield %t : bf16 } -> tensor<13x776xbf16>
  return %r : tensor<13x776xbf16>
}
func.func @fours(%x: tensor<13x332xbf16>) -> tensor<13x332xbf16> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<13xf32>
  %z = linalg.fill ins(%least : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %w = arith.extf %x : tensor<13x332xbf16> to tensor<13x332xf32>
  %s = linalg.reduce { arith.maximumf } ins(%w : tensor<13x332xf32>) outs(%z : tensor<13xf32>) dimensions = [1]
  %f = tensor.empty() : tensor<13x332xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(a)>, affine_map<(a,b)->(a,b)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<13x332xf32>, tensor<13xf32>) outs(%f : tensor<13x332xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %d = arith.subf %p, %q : f32
    %y = math.exp %d : f32
    %t = arith.truncf %y : f32 to bf16
    linalg.yield %t : bf16 } -> tensor<13x332xbf16>
  return %r : tensor<13x332xbf16>
}
func.func @to_f32(%x: tensor<3x1544xbf16>) -> tensor<3x1544xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<3xf32>
  %z = linalg.fill ins(%least : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %w = arith.extf %x : tensor<3x1544xbf16> to tensor<3x1544xf32>
  %s = linalg.reduce { arith.maximumf } ins(%w : tensor<3x1544xf32>) outs(%z : tensor<3xf32>) dimensions = [1]
  %f = tensor.empty() : tensor<3x1544xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(a)>, affine_map<(a,b)->(a,b)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<3x1544xf32>, tensor<3xf32>) outs(%f : tensor<3x1544xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32 } -> tensor<3x1544xf32>
  return %r : tensor<3x1544xf32>
}
