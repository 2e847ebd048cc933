// Only ops without a sharded form are lowered, and their annotations are kept.
// RUN: shard-opt %s --split-input-file --spmd-decompose=split-broadcasts=true | FileCheck %s

spmd.mesh @m = <["x"=2]>

// CHECK-LABEL: func.func @padded
// CHECK: linalg.pooling_nhwc_sum
// CHECK: spmd.with_sharding_constraint {{.*}} <@m, [{}, {"x"}, {}, {}]>
func.func @padded(%a: tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, acc_type = f32,
    spmd.shardings = [#spmd.sharding<@m, [{}, {"x"}, {}, {}]>]} : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x2xf32>
  return %r : tensor<1x8x8x2xf32>
}

// CHECK-LABEL: func.func @unpadded
// CHECK: tosa.avg_pool2d
func.func @unpadded(%a: tensor<1x8x8x2xf32>) -> tensor<1x6x6x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = f32}
    : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x2xf32>
  return %r : tensor<1x6x6x2xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK: tosa.avg_pool2d
func.func @dynamic(%a: tensor<?x8x8x2xf32>) -> tensor<?x8x8x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, acc_type = f32}
    : (tensor<?x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8x8x2xf32>
  return %r : tensor<?x8x8x2xf32>
}

// CHECK-LABEL: func.func @written
// CHECK: tosa.avg_pool2d
func.func @written(%a: tensor<4x8x8x2xf32>) -> tensor<4x8x8x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, acc_type = f32,
    spmd.sharding_rule = #spmd.rule<([n, h, w, c], [u], [v]) -> ([n, h, w, c]) {n=4, h=8, w=8, c=2, u=1, v=1}, replicated = {h, w, u, v}>} : (tensor<4x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8x8x2xf32>
  return %r : tensor<4x8x8x2xf32>
}

// Readers of one broadcast get one each, so that the layout of the first does not become that of the second; an annotated one
// stays one value.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4x8xf32>
// CHECK: %[[FIRST:.*]] = linalg.broadcast ins(%[[A]]
// CHECK: arith.addf %[[B]], %[[FIRST]]
// CHECK: %[[SECOND:.*]] = linalg.broadcast ins(%[[A]]
// CHECK: arith.mulf %{{.*}}, %[[SECOND]]
// CHECK: %[[KEPT:.*]] = linalg.broadcast ins(%[[A]]
// CHECK-SAME: spmd.shardings
// CHECK: arith.addf %{{.*}}, %[[KEPT]]
// CHECK: arith.mulf %{{.*}}, %[[KEPT]]
func.func @broadcast(%a: tensor<4xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.broadcast ins(%a : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %1 = arith.addf %b, %0 : tensor<4x8xf32>
  %2 = arith.mulf %1, %0 : tensor<4x8xf32>
  %3 = linalg.broadcast ins(%a : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1] {spmd.shardings = [#spmd.sharding<@m, [{}, {"x"}]>]}
  %4 = arith.addf %2, %3 : tensor<4x8xf32>
  %5 = arith.mulf %4, %3 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// One device: no sharding.
// CHECK-LABEL: func.func @no_mesh
// CHECK: tosa.avg_pool2d
func.func @no_mesh(%a: tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, acc_type = f32}
    : (tensor<1x8x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x2xf32>
  return %r : tensor<1x8x8x2xf32>
}
