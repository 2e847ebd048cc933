// Weights of 8-bit floats are arguments of programs: a byte for each element, which is what is stored.
// RUN: shard-opt %s --spmd-byte-arguments | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY

spmd.mesh @m = <["x"=2]>

// An argument with a loading function gets its bytes; so does another one of that function.
// CHECK-LABEL: func.func private @transpose(%arg0: tensor<12x8xf8E4M3FN>) -> tensor<8x12xi8>
// CHECK: %[[FLOATS:.*]] = linalg.transpose
// CHECK: %[[BYTES:.*]] = arith.bitcast %[[FLOATS]] : tensor<8x12xf8E4M3FN> to tensor<8x12xi8>
// CHECK: return %[[BYTES]]
func.func private @transpose(%w: tensor<12x8xf8E4M3FN>) -> tensor<8x12xf8E4M3FN> {
  %e = tensor.empty() : tensor<8x12xf8E4M3FN>
  %0 = linalg.transpose ins(%w : tensor<12x8xf8E4M3FN>) outs(%e : tensor<8x12xf8E4M3FN>) permutation = [1, 0]
  return %0 : tensor<8x12xf8E4M3FN>
}

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg1: tensor<12x8xi8> {spmd.load = @bytes,
// CHECK-SAME: %arg2: tensor<8x12xi8> {spmd.load = @transpose,
// CHECK-SAME: %arg3: tensor<8x12xi8> {spmd.load = @transpose,
// CHECK: %[[A:.*]] = arith.bitcast %arg1 : tensor<12x8xi8> to tensor<12x8xf8E4M3FN>
// CHECK: arith.extf %[[A]]
func.func @main(%x: tensor<4x12xf32> {spmd.name = "x"},
                %a: tensor<12x8xf8E4M3FN> {spmd.weight = "a", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %b: tensor<8x12xf8E4M3FN> {spmd.weight = "b", spmd.load = @transpose},
                %c: tensor<8x12xf8E4M3FN> {spmd.weight = "c", spmd.load = @transpose}) -> (tensor<4x12xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %a32 = arith.extf %a : tensor<12x8xf8E4M3FN> to tensor<12x8xf32>
  %b32 = arith.extf %b : tensor<8x12xf8E4M3FN> to tensor<8x12xf32>
  %c32 = arith.extf %c : tensor<8x12xf8E4M3FN> to tensor<8x12xf32>
  %w = arith.addf %b32, %c32 : tensor<8x12xf32>
  %e1 = tensor.empty() : tensor<4x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = linalg.matmul ins(%x, %a32 : tensor<4x12xf32>, tensor<12x8xf32>) outs(%f1 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<4x12xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x12xf32>) -> tensor<4x12xf32>
  %y = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x12xf32>) outs(%f2 : tensor<4x12xf32>) -> tensor<4x12xf32>
  return %y : tensor<4x12xf32>
}

// CHECK: func.func private @bytes(%arg0: tensor<12x8xf8E4M3FN>) -> tensor<12x8xi8>
// VERIFY: verify: 1 function, 1 result, all equal
