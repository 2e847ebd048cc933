// Shardings on the mesh that is split into stages apply to the mesh of each stage: sub-axes, priorities, axes
// that a value is replicated on.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-build-stages | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=2" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// CHECK-LABEL: func.func @stage0(
// CHECK-SAME: #spmd.sharding<@pod_0, [{"data":(1)2}, {?}p1]>
// CHECK-SAME: #spmd.sharding<@pod_0, [{}, {"model"}]>
// CHECK: spmd.with_sharding_constraint %{{.*}} <@pod_0, [{?}, {?}], replicated = {"data":(2)2}>
// CHECK: spmd.with_sharding_constraint %{{.*}} <@pod_0, [{"data", ?}, {}], replicated = {"model"}>
// CHECK-LABEL: func.func @stage1(
// CHECK-SAME: #spmd.sharding<@pod_1, [{"model"}, {"data"}]>
// CHECK-SAME: -> ({{.*}}#spmd.sharding<@pod_1, [{?}, {"data":(2)2}]>
// NUMBERS: 2 stages, 2 microbatches
// NUMBERS: verify: 1 function, 1 result, all equal

// A search finds meshes with these axes that such shardings fit.
// RUN: sed 's/stage_boundary/& candidate/' %s | shard-opt --spmd-build-stages="stages=auto microbatches=2" | FileCheck %s --check-prefix=AUTO
// AUTO: spmd.mesh @pod_0 = <["data"=8, "model"=1]>
// AUTO: #spmd.sharding<@pod_0, [{"data":(1)2}, {?}p1]>
spmd.mesh @pod = <["stage"=2, "data"=4, "model"=2]>
func.func @main(%x: tensor<16x6xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>,
                                      spmd.sharding = #spmd.sharding<@pod, [{"data":(1)2}, {?}p1]>},
                %a: tensor<6x10xf32> {spmd.weight = "a", spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
                %b: tensor<10x8xf32> {spmd.weight = "b"},
                %c: tensor<8x12xf32> {spmd.weight = "c", spmd.sharding = #spmd.sharding<@pod, [{"model"}, {"data"}]>})
    -> (tensor<16x12xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@pod, [{?}, {"data":(2)2}]>}) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x10xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x10xf32>) -> tensor<16x10xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<16x6xf32>, tensor<6x10xf32>) outs(%f0 : tensor<16x10xf32>) -> tensor<16x10xf32>
  %1 = spmd.with_sharding_constraint %0 <@pod, [{?}, {?}], replicated = {"data":(2)2}> : tensor<16x10xf32>
  %2 = math.tanh %1 : tensor<16x10xf32>
  %e1 = tensor.empty() : tensor<16x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %3 = linalg.matmul ins(%2, %b : tensor<16x10xf32>, tensor<10x8xf32>) outs(%f1 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %4 = spmd.with_sharding_constraint %3 <@pod, [{"data", ?}, {}], replicated = {"model"}> : tensor<16x8xf32>
  %5 = math.tanh %4 : tensor<16x8xf32>
  spmd.stage_boundary %5 : tensor<16x8xf32>
  %e2 = tensor.empty() : tensor<16x12xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x12xf32>) -> tensor<16x12xf32>
  %6 = linalg.matmul ins(%5, %c : tensor<16x8xf32>, tensor<8x12xf32>) outs(%f2 : tensor<16x12xf32>) -> tensor<16x12xf32>
  %7 = math.exp %6 : tensor<16x12xf32>
  return %7 : tensor<16x12xf32>
}
