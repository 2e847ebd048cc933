// Slices that drop dims and step over elements, read and written, as computed: what they are views of has other strides than the dims that are left.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: all equal bit by bit

// A stride on dims of one element has no effect.
func.func @dropped(%x: tensor<2x8x5xf32>) -> tensor<4xf32> {
  %0 = tensor.extract_slice %x[0, 1, 0] [1, 4, 1] [2, 2, 2] : tensor<2x8x5xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @dropped_first(%x: tensor<2x8x5xf32>) -> tensor<4x3xf32> {
  %0 = tensor.extract_slice %x[1, 0, 0] [1, 4, 3] [1, 2, 2] : tensor<2x8x5xf32> to tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

func.func @dropped_middle(%x: tensor<4x8x5xf32>) -> tensor<2x3xf32> {
  %0 = tensor.extract_slice %x[1, 6, 0] [2, 1, 3] [2, 1, 2] : tensor<4x8x5xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

func.func @dropped_last(%x: tensor<4x8x5xf32>) -> tensor<2x3xf32> {
  %0 = tensor.extract_slice %x[0, 1, 4] [2, 3, 1] [3, 3, 1] : tensor<4x8x5xf32> to tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Of several dims of one element some are dropped, some left.
func.func @some_dropped(%x: tensor<1x8x5x1xf32>) -> tensor<5x2x1xf32> {
  %0 = tensor.extract_slice %x[0, 1, 1, 0] [1, 5, 2, 1] [1, 1, 3, 1] : tensor<1x8x5x1xf32> to tensor<5x2x1xf32>
  return %0 : tensor<5x2x1xf32>
}

func.func @some_dropped_written(%x: tensor<5x1x3x8xf32>, %y: tensor<3x1x3xf32>) -> tensor<5x1x3x8xf32> {
  %0 = tensor.insert_slice %y into %x[0, 0, 0, 2] [3, 1, 3, 1] [2, 1, 1, 3] : tensor<3x1x3xf32> into tensor<5x1x3x8xf32>
  return %0 : tensor<5x1x3x8xf32>
}

func.func @one_element(%x: tensor<5x8xf32>, %y: tensor<3x3xf32>) -> (tensor<1xf32>, tensor<3x3xf32>) {
  %0 = tensor.extract_slice %x[4, 7] [1, 1] [2, 3] : tensor<5x8xf32> to tensor<1xf32>
  %1 = tensor.insert_slice %0 into %y[1, 2] [1, 1] [3, 2] : tensor<1xf32> into tensor<3x3xf32>
  return %0, %1 : tensor<1xf32>, tensor<3x3xf32>
}

// The stride of a dim that is left equals the distance of one that is dropped.
func.func @ambiguous(%x: tensor<2x4x2xf32>) -> tensor<2xf32> {
  %0 = tensor.extract_slice %x[1, 0, 1] [1, 2, 1] [1, 2, 1] : tensor<2x4x2xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Used by an op, and twice.
func.func @used(%x: tensor<2x8x5xf32>) -> tensor<4x2xf32> {
  %0 = tensor.extract_slice %x[0, 1, 0] [1, 4, 2] [2, 2, 3] : tensor<2x8x5xf32> to tensor<4x2xf32>
  %1 = tensor.extract_slice %x[1, 0, 1] [1, 4, 2] [1, 2, 2] : tensor<2x8x5xf32> to tensor<4x2xf32>
  %2 = arith.addf %0, %1 : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

func.func @inserted(%x: tensor<2x8x5xf32>, %y: tensor<4xf32>, %z: tensor<2x3xf32>) -> tensor<2x8x5xf32> {
  %0 = tensor.insert_slice %y into %x[0, 1, 0] [1, 4, 1] [2, 2, 2] : tensor<4xf32> into tensor<2x8x5xf32>
  %1 = tensor.insert_slice %z into %0[0, 6, 0] [2, 1, 3] [1, 5, 2] : tensor<2x3xf32> into tensor<2x8x5xf32>
  return %1 : tensor<2x8x5xf32>
}
