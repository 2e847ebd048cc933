// Conversions to bf16 have vector code. LLVM has none for a selection of bf16, nor for conversions of integers to it; and
// what comes from 8-bit floats is exact and needs no rounding.
// REQUIRES: shard-compile
// RUN: shard-compile %s --emit=llvm --opt-level=0 | FileCheck %s
spmd.mesh @m = <["x"=1]>

// CHECK-LABEL: llvm.func internal @program_0
// CHECK-NOT: llvm.fptrunc
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.bitcast %{{.*}} : i16 to bf16
func.func @exact(%x: tensor<64xi8> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<64xbf16> {
  %f = arith.bitcast %x : tensor<64xi8> to tensor<64xf8E4M3FN>
  %0 = arith.extf %f : tensor<64xf8E4M3FN> to tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// CHECK-LABEL: llvm.func internal @program_1
// CHECK-NOT: llvm.fptrunc
// CHECK: %[[NAN:.*]] = llvm.fcmp "une" %[[X:.*]], %[[X]] : f32
// CHECK: llvm.select %[[NAN]], %{{.*}}, %{{.*}} : i1, i32
// CHECK: llvm.select %[[NAN]], %{{.*}}, %{{.*}} : i1, i32
// CHECK-NOT: llvm.select
// CHECK: %[[HALF:.*]] = llvm.trunc %{{.*}} : i32 to i16
// CHECK-NEXT: llvm.bitcast %[[HALF]] : i16 to bf16
func.func @rounded(%x: tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<64xbf16> {
  %0 = arith.truncf %x : tensor<64xf32> to tensor<64xbf16>
  return %0 : tensor<64xbf16>
}

// CHECK-LABEL: llvm.func internal @program_2
// CHECK: llvm.sitofp %{{.*}} : i8 to f32
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.bitcast %{{.*}} : i16 to bf16
func.func @integers(%x: tensor<64xi8> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<64xbf16> {
  %0 = arith.sitofp %x : tensor<64xi8> to tensor<64xbf16>
  return %0 : tensor<64xbf16>
}
