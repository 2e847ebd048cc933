// Collectives become ops of upstream's dialect shard, and back.
// RUN: shard-opt %s --convert-spmd-to-shard --spmd-strip | mlir-opt | FileCheck %s
// RUN: shard-opt %s --convert-spmd-to-shard --spmd-import-shard | FileCheck %s --check-prefix=BACK

module attributes {spmd.phase = "final"} {
spmd.mesh @pod = <["x"=2, "y"=4]>

// The sub-axis of @slice splits axis "y".
// CHECK: shard.grid @grid(shape = 2x2x2)
// BACK: spmd.mesh @grid = <["d0"=2, "d1"=2, "d2"=2]>

// CHECK-LABEL: func.func @gather(
// BACK-LABEL: func.func @gather(
func.func @gather(%x: tensor<2x3xf32>) -> tensor<8x3xf32> {
  // CHECK: %[[ROW:.*]] = tensor.expand_shape %{{.*}} : tensor<6xf32> into tensor<1x6xf32>
  // CHECK: shard.all_gather %[[ROW]] on @grid grid_axes = [1, 2] gather_axis = 0 : tensor<1x6xf32> -> tensor<4x6xf32>
  // BACK: spmd.all_gather %{{.*}} <@grid, [{"d1", "d2"}, {}]> : tensor<1x6xf32> -> tensor<4x6xf32>
  %0 = spmd.all_gather %x <@pod, [{"y"}, {}]> : tensor<2x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @slice(
// BACK-LABEL: func.func @slice(
func.func @slice(%x: tensor<4x3xi32>) -> tensor<2x3xi32> {
  // CHECK: shard.all_slice %{{.*}} on @grid grid_axes = [1] slice_axis = 0 : tensor<2x6xi32> -> tensor<1x6xi32>
  // BACK: spmd.all_slice %{{.*}} <@grid, [{"d1"}, {}]> : tensor<2x6xi32> -> tensor<1x6xi32>
  %0 = spmd.all_slice %x <@pod, [{"y":(1)2}, {}]> : tensor<4x3xi32> -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sums(
// BACK-LABEL: func.func @sums(
func.func @sums(%x: tensor<8x3xf32>) -> tensor<4x3xf32> {
  // CHECK: shard.all_reduce %{{.*}} on @grid grid_axes = [0] reduction = max : tensor<8x3xf32> -> tensor<8x3xf32>
  // BACK: spmd.all_reduce %{{.*}} max <@grid, {"d0"}> : tensor<8x3xf32>
  %0 = spmd.all_reduce %x max <@pod, {"x"}> : tensor<8x3xf32>
  // CHECK: shard.reduce_scatter %{{.*}} on @grid grid_axes = [0] scatter_axis = 0 : tensor<2x12xf32> -> tensor<1x12xf32>
  // BACK: spmd.reduce_scatter %{{.*}} sum <@grid, [{"d0"}, {}]> : tensor<2x12xf32> -> tensor<1x12xf32>
  %1 = spmd.reduce_scatter %0 sum <@pod, [{"x"}, {}]> : tensor<8x3xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @transposed(
// BACK-LABEL: func.func @transposed(
func.func @transposed(%x: tensor<2x4xi8>) -> tensor<4x2xi8> {
  // CHECK: shard.all_to_all %{{.*}} on @grid grid_axes = [0] split_axis = 1 concat_axis = 0 : tensor<1x2x4xi8> -> tensor<2x1x4xi8>
  // BACK: spmd.all_to_all %{{.*}} <@grid, [{"d0"}, {}, {}]> to <@grid, [{}, {"d0"}, {}]> : tensor<1x2x4xi8> -> tensor<2x1x4xi8>
  %0 = spmd.all_to_all %x <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x4xi8> -> tensor<4x2xi8>
  return %0 : tensor<4x2xi8>
}

// Uneven shards: every device reads what it needs of the operands of its group.
// CHECK-LABEL: func.func @uneven(
// BACK-LABEL: func.func @uneven(
func.func @uneven(%x: tensor<3x2xi32>) -> tensor<5x2xi32> {
  // CHECK: shard.process_linear_index on @grid
  // CHECK: linalg.generic
  // CHECK: tensor.extract
  // BACK: spmd.all_gather %{{.*}} <@grid, [{"d0"}, {}]> : tensor<1x6xi32> -> tensor<2x6xi32>
  // BACK: spmd.device_coordinate @grid "d0"
  %0 = spmd.all_gather %x <@pod, [{"x"}, {}]> : tensor<3x2xi32> -> tensor<5x2xi32>
  return %0 : tensor<5x2xi32>
}
}
