// Text and bytecode are equivalent.
// RUN: shard-opt %s --emit-bytecode -o %t.bc
// RUN: shard-opt %t.bc | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null

// CHECK: spmd.mesh @pod = <["data"=2, "model"=4], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]> {memory = 1024 : i64}
spmd.mesh @pod = <["data"=2, "model"=4], device_ids=[1, 0, 2, 3, 4, 5, 6, 7]> {memory = 1024}

// CHECK-LABEL: func.func @f
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{2, "data"}, {"model":(1)2, ?}p1], replicated = {"model":(2)2}>
// CHECK-SAME: spmd.axis_resources = #spmd.axis_resources<["data", none]>
func.func @f(%0: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "data"}, {"model":(1)2, ?}p1], replicated = {"model":(2)2}>},
             %1: tensor<8x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none]>}) -> tensor<8x4xf32> {
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@pod, [{"data"}, {?}]>
  %2 = spmd.with_sharding_constraint %0 <@pod, [{"data"}, {?}]> : tensor<8x16xf32>
  // CHECK: spmd.manual_computation
  %3 = spmd.manual_computation (%2) in [<@pod, [{"data"}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>) {
    spmd.return %a : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: spmd.all_reduce %{{.*}} maxnum <@pod, {"model"}> {id = 7 : i64}
  %4 = spmd.all_reduce %1 maxnum <@pod, {"model"}> {id = 7} : tensor<8x4xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = backward
  %5 = spmd.propagation_barrier %4 allow = backward : tensor<8x4xf32>
  // CHECK: spmd.sharding_rule = #spmd.rule<([i, j], [i, j]) -> ([i, j]) {i=8, j=4}, ordered = {j}>
  %6 = linalg.exp {spmd.sharding_rule = #spmd.rule<([i, j], [i, j]) -> ([i, j]) {i=8, j=4}, ordered = {j}>} ins(%5 : tensor<8x4xf32>) outs(%1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %6 : tensor<8x4xf32>
}
