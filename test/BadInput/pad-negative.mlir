// Negative padding: one error at the op, before a folder drops it.
// RUN: not shard-opt %s --spmd-propagate 2>&1 | FileCheck %s
// RUN: not shard-opt %s --spmd-default-pipeline 2>&1 | FileCheck %s

// CHECK: pad-negative.mlir:10:13: error: dim 0 is padded by -1, expected 0 or more: tensor.extract_slice removes elements
// CHECK-NOT: error
func.func @main(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %less = arith.constant -1 : index
  %padded = tensor.pad %a low[1, 0] high[%less, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x3xf32> to tensor<?x3xf32>
  %shifted = tensor.cast %padded : tensor<?x3xf32> to tensor<4x3xf32>
  return %shifted : tensor<4x3xf32>
}
