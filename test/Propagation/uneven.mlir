// Axes on dims that they do not divide: carried to dims that are the same factor,
// never begun, never taken in part.
// RUN: shard-opt %s --spmd-propagate=plan=propagation --split-input-file --remarks-filter=spmd 2>%t | FileCheck %s -enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: shard-opt %s --spmd-propagate=conflicts=basic --split-input-file | FileCheck %s --check-prefix=BASIC

spmd.mesh @m = <["x"=4, "y"=2]>

// Forward, backward, through a contraction and a transpose.
// REMARK: remark: [Analysis] padding | Category:spmd | Function=carried | Remark="dim 0 of argument #0 (size 5) is sharded by "x" (size 4) into chunks of 2: 37 % of the shards is padding"
// CHECK-LABEL: func.func @carried
// CHECK-SAME: %arg1: tensor<5x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {?}]>, spmd.user_sharding = #spmd.sharding<@m, [{?}, {?}]>}
// CHECK-SAME: %arg2: tensor<3x7xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>}
// CHECK-SAME: -> (tensor<7x5xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}]>, spmd.user_sharding = #spmd.sharding<@m, [{?}, {?}]>})
func.func @carried(%a: tensor<5x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<5x3xf32>, %w: tensor<3x7xf32>) -> tensor<7x5xf32> {
  %0 = arith.addf %a, %b : tensor<5x3xf32>
  %c = arith.constant dense<0.0> : tensor<5x7xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<5x3xf32>, tensor<3x7xf32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  %e = tensor.empty() : tensor<7x5xf32>
  %2 = linalg.transpose ins(%1 : tensor<5x7xf32>) outs(%e : tensor<7x5xf32>) permutation = [1, 0]
  return %2 : tensor<7x5xf32>
}

// -----

spmd.mesh @m = <["x"=4, "y"=2]>

// A dim of one element too; a dim that is joined has none of it; a slice
// about as long goes on with it.
// REMARK: Function=stopped | Remark="dim 0 of argument #0 (size 1) is sharded by "x" (size 4) into chunks of 1: 75 % of the shards is padding"
// REMARK: Function=stopped | Remark="dim 1 of argument #0 (size 7) is sharded by "y" (size 2) into chunks of 4: 12 % of the shards is padding"
// CHECK-LABEL: func.func @stopped
// CHECK: math.exp %{{.*}} {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]}
// CHECK: tensor.collapse_shape %{{.*}} {spmd.shardings = [#spmd.sharding<@m, [{?}]>]}
// CHECK: tensor.concat {{.*}}[{"x", ?}, {?}]>
// CHECK: tensor.extract_slice {{.*}}[{"x", ?}, {"y", ?}]>
func.func @stopped(%a: tensor<1x7xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<35xf32>, tensor<1x14xf32>, tensor<1x4xf32>) {
  %0 = math.exp %a : tensor<1x7xf32>
  %b = tensor.empty() : tensor<5x1x7xf32>
  %t = linalg.broadcast ins(%0 : tensor<1x7xf32>) outs(%b : tensor<5x1x7xf32>) dimensions = [0]
  %1 = tensor.collapse_shape %t [[0, 1, 2]] : tensor<5x1x7xf32> into tensor<35xf32>
  %2 = tensor.concat dim(1) %0, %0 : (tensor<1x7xf32>, tensor<1x7xf32>) -> tensor<1x14xf32>
  %3 = tensor.extract_slice %0[0, 1] [1, 4] [1, 1] : tensor<1x7xf32> to tensor<1x4xf32>
  return %1, %2, %3 : tensor<35xf32>, tensor<1x14xf32>, tensor<1x4xf32>
}

// -----

spmd.mesh @m = <["x"=4, "y"=2, "z"=2]>

// A common prefix that does not divide the dim is not taken; by cost one of the proposals wins.
// CHECK-LABEL: func.func @in_part
// CHECK: arith.addf %{{.*}} {spmd.shardings = [#spmd.sharding<@m, [{"x", "y", ?}]>]}
// BASIC-LABEL: func.func @in_part
// BASIC: arith.addf %{{.*}} {spmd.shardings = [#spmd.sharding<@m, [{?}]>]}
func.func @in_part(%a: tensor<6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}, %b: tensor<6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "z"}]>}) -> tensor<6xf32> {
  %0 = arith.addf %a, %b : tensor<6xf32>
  return %0 : tensor<6xf32>
}
