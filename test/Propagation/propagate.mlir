// RUN: shard-opt %s --spmd-propagate=plan=propagation --split-input-file | FileCheck %s -enable-var-scope

spmd.mesh @pod = <["data"=2, "model"=2]>

// Forward through a contraction, a broadcast and an elementwise op; backward into the bias and the second weight.
// CHECK-LABEL: func.func @mlp
// CHECK-SAME: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {?}]>}
// CHECK-SAME: tensor<32xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model", ?}]>, spmd.user_sharding = #spmd.sharding<@pod, [{?}]>}
// CHECK-SAME: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model", ?}, {?}]>, spmd.user_sharding = #spmd.sharding<@pod, [{?}, {?}]>}
// CHECK-SAME: -> (tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data", ?}, {?}]>, spmd.user_sharding = #spmd.sharding<@pod, [{?}, {?}]>})
// CHECK: linalg.matmul {spmd.shardings = [#spmd.sharding<@pod, [{"data", ?}, {"model", ?}]>]}
// CHECK: linalg.matmul {spmd.shardings = [#spmd.sharding<@pod, [{"data", ?}, {?}]>]}
func.func @mlp(%x: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {?}]>},
               %w1: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>},
               %b1: tensor<32xf32>, %w2: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %b = linalg.broadcast ins(%b1 : tensor<32xf32>) outs(%e : tensor<8x32xf32>) dimensions = [0]
  %g = arith.addf %h, %b : tensor<8x32xf32>
  %e2 = tensor.empty() : tensor<8x16xf32>
  %f2 = linalg.fill ins(%c0 : f32) outs(%e2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%g, %w2 : tensor<8x32xf32>, tensor<32x16xf32>) outs(%f2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

spmd.mesh @pod = <["x"=2, "y"=2]>

// A closed dim is not extended; an open one is.
// CHECK-LABEL: func.func @closed
// CHECK: math.exp %{{.*}} {spmd.shardings = [#spmd.sharding<@pod, [{"x", ?}, {?}]>]}
// CHECK: math.sin %{{.*}} {spmd.shardings = [#spmd.sharding<@pod, [{"x", ?}, {?}]>]}
func.func @closed(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>})
    -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {?}]>}) {
  %0 = math.exp %a : tensor<4x4xf32>
  %1 = math.sin %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

spmd.mesh @pod = <["x"=2, "y"=2]>

// A constraint keeps its attribute, and its sharding propagates to both sides.
// CHECK-LABEL: func.func @constraint
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{"y", ?}, {?}]>
// CHECK: math.exp %{{.*}} {spmd.shardings = [#spmd.sharding<@pod, [{"y", ?}, {?}]>]}
// CHECK: spmd.with_sharding_constraint %{{.*}} <@pod, [{"y"}, {}]> {spmd.shardings = [#spmd.sharding<@pod, [{"y"}, {}]>]}
// CHECK: math.sin %{{.*}} {spmd.shardings = [#spmd.sharding<@pod, [{"y", ?}, {?}]>]}
func.func @constraint(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %a : tensor<4x4xf32>
  %1 = spmd.with_sharding_constraint %0 <@pod, [{"y"}, {}]> : tensor<4x4xf32>
  %2 = math.sin %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

spmd.mesh @pod = <["x"=2, "y"=2]>

// A user sharding on an op becomes a constraint on its result.
// CHECK-LABEL: func.func @written_on_op
// CHECK: %[[E:.*]] = math.exp
// CHECK: spmd.with_sharding_constraint %[[E]] <@pod, [{}, {"x"}]>
func.func @written_on_op(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %a {spmd.shardings = [#spmd.sharding<@pod, [{}, {"x"}]>]} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

spmd.mesh @pod = <["x"=2]>

// Reshapes regroup digits: a strided sharding if the sharded dim is merged after another one, none if it is first.
// CHECK-LABEL: func.func @reshape
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] {spmd.shardings = [#spmd.sharding<@pod, [{2, "x", ?}]>]}
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [2, 4] {spmd.shardings = [#spmd.sharding<@pod, [{?}, {"x", ?}]>]}
func.func @reshape(%a: tensor<2x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>}) -> tensor<2x4xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

spmd.mesh @pod = <["x"=4]>

// 12 heads on 8 devices do not divide: the sub-axis that does is taken.
// CHECK-LABEL: func.func @heads
// CHECK: tensor.expand_shape %{{.*}} {spmd.shardings = [#spmd.sharding<@pod, [{"x":(1)2, ?}, {"x":(2)2, ?}]>]}
func.func @heads(%a: tensor<24xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) -> tensor<2x12xf32> {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 12] : tensor<24xf32> into tensor<2x12xf32>
  return %0 : tensor<2x12xf32>
}

// -----

spmd.mesh @pod = <["x"=2]>

// Shared fills and empties do not relate their users.
// CHECK-LABEL: func.func @shared_fill
// CHECK-SAME: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {?}]>}) ->
// CHECK-NOT: linalg.fill {{.*}}spmd.shardings
func.func @shared_fill(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>},
                       %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.addf %a, %f : tensor<4x4xf32>
  %1 = arith.addf %b, %f : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
