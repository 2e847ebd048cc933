// RUN: shard-opt %s --split-input-file --spmd-auto-shard --spmd-insert-reshards | FileCheck %s -enable-var-scope
// RUN: shard-opt %s --split-input-file --spmd-auto-shard --spmd-auto-shard | FileCheck %s --check-prefix=TWICE

// Only x has a user sharding: the product is computed on its shards, without communication.
spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
// CHECK-LABEL: func.func @follows
// CHECK-SAME: %{{.*}}: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>}
// CHECK-SAME: spmd.solver = {lower_bound = 0.000000e+00 : f64, objective = 0.000000e+00 : f64, status = "optimal"}
// CHECK-NOT: spmd.reshard
// CHECK: linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{"m"}, {}, {}]>, spmd.shardings = [#spmd.sharding<@m, [{"m"}, {}]>]}
// Choices of an earlier search are not constraints: the second run has the same result.
// TWICE: linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{"m"}, {}, {}]>
func.func @follows(%x: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>}, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// Two constraints that contradict each other are both kept: one all-to-all between them.
spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
// CHECK-LABEL: func.func @chain
// CHECK: arith.negf {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"m"}, {}]>]
// CHECK-NEXT: spmd.reshard {{.*}} <@m, [{}, {"m"}]>
// CHECK-NEXT: math.absf
// CHECK-NOT: spmd.reshard
func.func @chain(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = arith.negf %x : tensor<64x64xf32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"m"}, {}]> : tensor<64x64xf32>
  %2 = spmd.with_sharding_constraint %1 <@m, [{}, {"m"}]> : tensor<64x64xf32>
  %3 = math.absf %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----

// A constraint that agrees with the cheapest layout leaves no op; a dead one neither.
spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
// CHECK-LABEL: func.func @agrees
// CHECK-NOT: spmd.reshard
// CHECK-NOT: spmd.with_sharding_constraint
// CHECK: return
func.func @agrees(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = arith.negf %x : tensor<64x64xf32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"m"}, {}]> : tensor<64x64xf32>
  %dead = spmd.with_sharding_constraint %x <@m, [{}, {"m"}]> : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

// A weight and its update are tied: both have the layout that the product needs.
spmd.mesh @m = <["m"=4]> {alpha = [1.0], beta = [1.0]}
// CHECK-LABEL: func.func @tied
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<64x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>, spmd.user_sharding =
// CHECK-SAME: -> (tensor<64x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>, spmd.tied = 0 : i64, spmd.user_sharding =
// CHECK-NOT: spmd.reshard
func.func @tied(%w: tensor<64x8xf32>, %g: tensor<64x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"m"}, {}]>})
    -> (tensor<64x8xf32> {spmd.tied = 0 : i64}) {
  %0 = arith.subf %w, %g : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}
