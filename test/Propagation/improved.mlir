// The default plan: after propagation, layouts change where that is predicted to take less time.

// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s --check-prefix=PROPAGATED
// RUN: shard-opt %s --spmd-default-pipeline=conflicts=basic -o %t.basic.mlir
// RUN: shard-opt %s --spmd-default-pipeline="conflicts=basic plan=propagation" | diff %t.basic.mlir -
// RUN: shard-run %s --random-inputs=1 --verify

// A second run changes nothing.
// RUN: shard-opt %s --spmd-propagate -o %t.once.mlir
// RUN: shard-opt %t.once.mlir --spmd-propagate -o %t.twice.mlir && diff %t.once.mlir %t.twice.mlir
// RUN: shard-opt %t.once.mlir --spmd-propagate=plan=propagation -o %t.back.mlir
// RUN: shard-opt %s --spmd-propagate=plan=propagation -o %t.propagated.mlir && diff %t.back.mlir %t.propagated.mlir

// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-opt %s --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-explain=value=hidden -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: shard-opt %s --spmd-explain="value=hidden format=json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUE

// RUN: not shard-opt %s --spmd-default-pipeline="plan=propagation auto-shard" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not shard-compile %s --plan=propagation --auto-shard -o %t.bundle 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not shard-opt %s --spmd-propagate=plan=best 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// BOTH: error: {{.*}}plan=propagation, but {{.*}}auto-shard chooses the plan by search, expected one of them
// UNKNOWN: unknown plan=best, expected improved or propagation

spmd.mesh @line = <["x"=4]> {alpha = [1.0e-9], beta = [1.0e-9]}
spmd.mesh @grid = <["data"=2, "model"=2]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0e-9, 1.0e-9]}

// A small batch travels instead of the large weight.
// CHECK-LABEL: func.func @small_batch
// CHECK-NOT: all_gather
// CHECK: spmd.all_to_all %{{.*}} : tensor<1x16xf32>
// CHECK-NOT: all_gather
// PROPAGATED-LABEL: func.func @small_batch
// PROPAGATED: spmd.all_gather %{{.*}} tensor<16x64xf32>
func.func @small_batch(%p: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>},
                       %w: tensor<16x64xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>}) -> tensor<4x64xf32> {
  %z = arith.constant dense<0.0> : tensor<4x64xf32>
  %r = linalg.matmul ins(%p, %w : tensor<4x16xf32>, tensor<16x64xf32>) outs(%z : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// One reshard for three results.
// CHECK-LABEL: func.func @results
// CHECK-COUNT-1: spmd.all_to_all
// CHECK-NOT: spmd.all_to_all
// PROPAGATED-LABEL: func.func @results
// PROPAGATED-COUNT-3: spmd.all_to_all
func.func @results(%p: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>})
    -> (tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@line, [{}, {"x"}]>},
        tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@line, [{}, {"x"}]>},
        tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@line, [{}, {"x"}]>}) {
  %k = arith.constant dense<0.5> : tensor<16x16xf32>
  %0 = math.sin %p : tensor<16x16xf32>
  %1 = arith.mulf %0, %k : tensor<16x16xf32>
  %2 = arith.addf %0, %k : tensor<16x16xf32>
  %3 = arith.subf %0, %k : tensor<16x16xf32>
  return %1, %2, %3 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// Tensor parallelism and FSDP in one dim: weights are gathered over "data", and products are summed over "model".
// CHECK-LABEL: func.func @in_one_dim
// CHECK: spmd.all_gather %{{.*}} <@grid, [{}, {"data"}]>
// CHECK: spmd.all_gather %{{.*}} <@grid, [{"data"}, {}]>
// CHECK: spmd.reduce_scatter %{{.*}} sum <@grid, [{}, {"model"}]>
// REPORT: plan of @in_one_dim: improved after propagation, from {{.*}} s to {{.*}} s
// JSON: "improvements": [
// JSON: "name": "in_one_dim",
// JSON-NEXT: "propagated": {{.*}},
// JSON-NEXT: "improved":
// EXPLAIN: (hidden) : tensor<64x16xf32>  [{"data"}, {"model"}]
// EXPLAIN-NEXT: propagation gave [{}, {"model", "data"}]: reshards at its ops would take 1.025000e-06 s, now they take 1.290000e-07 s
// VALUE: "improvement": {
// VALUE-NEXT: "propagated": "[{{.*}}]",
// VALUE-NEXT: "before": {{.*}},
// VALUE-NEXT: "now":
func.func @in_one_dim(%x: tensor<64x8xf32> {spmd.sharding = #spmd.sharding<@grid, [{"data"}, {}]>},
                      %w1: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@grid, [{}, {"model", "data"}]>},
                      %w2: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@grid, [{"model", "data"}, {}]>})
    -> tensor<64x8xf32> {
  %z = arith.constant dense<0.0> : tensor<64x16xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<64x8xf32>, tensor<8x16xf32>) outs(%z : tensor<64x16xf32>) -> tensor<64x16xf32> loc("hidden")
  %g = math.tanh %h : tensor<64x16xf32>
  %z2 = arith.constant dense<0.0> : tensor<64x8xf32>
  %y = linalg.matmul ins(%g, %w2 : tensor<64x16xf32>, tensor<16x8xf32>) outs(%z2 : tensor<64x8xf32>) -> tensor<64x8xf32>
  return %y : tensor<64x8xf32>
}

// A concatenation of replicated values is computed in the layout of the result.
// CHECK-LABEL: func.func @concatenation
// CHECK-NOT: spmd.{{(all_gather|all_to_all|all_reduce|reduce_scatter|collective|exchange)}}
func.func @concatenation(%p: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@line, [{}, {}]>})
    -> (tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>}) {
  %0 = math.sin %p : tensor<8x16xf32>
  %1 = math.cos %p : tensor<8x16xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// A constraint that only constraints read costs nothing: a reduce-scatter, no all-reduce.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: all_reduce
// CHECK: spmd.reduce_scatter
// CHECK-NOT: all_reduce
func.func @chain(%p: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@line, [{}, {"x"}]>},
                 %w: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %z = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = spmd.with_sharding_constraint %r <@line, [{}, {}]> : tensor<8x16xf32>
  %b = spmd.with_sharding_constraint %a <@line, [{}, {"x"}]> : tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}

// Two readers of a constraint that nothing else reads, on dims that the axis does not divide.
// CHECK-LABEL: func.func @chains
// CHECK: return
func.func @chains(%p: tensor<10x7xf32> {spmd.sharding = #spmd.sharding<@line, [{"x"}, {}]>}) -> (tensor<10x7xf32>, tensor<10x7xf32>) {
  %0 = math.sin %p : tensor<10x7xf32>
  %1 = spmd.with_sharding_constraint %0 <@line, [{}, {}]> : tensor<10x7xf32>
  %2 = spmd.with_sharding_constraint %1 <@line, [{}, {"x"}]> : tensor<10x7xf32>
  %3 = spmd.with_sharding_constraint %1 <@line, [{"x"}, {}]> : tensor<10x7xf32>
  %4 = math.cos %2 : tensor<10x7xf32>
  %5 = math.absf %3 : tensor<10x7xf32>
  return %4, %5 : tensor<10x7xf32>, tensor<10x7xf32>
}
