// RUN: shard-opt %s --spmd-resolve-axis-resources=mesh=pod | FileCheck %s -enable-var-scope

spmd.mesh @pod = <["data"=2, "x"=2, "y"=2]>
spmd.mesh @other = <["data"=4]>

// String, none, list and `?`; missing entries are closed and unsharded.
// CHECK-LABEL: func.func @forms
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}, {"x", "y"}, {?}]>
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{}, {}]>
// CHECK-SAME: -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"y"}]>})
// CHECK: spmd.with_sharding_constraint %{{.*}} <@pod, [{"data"}, {?}]>
func.func @forms(%a: tensor<8x4x16x6xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none, ["x", "y"], ?]>},
                 %b: tensor<4x4xf32> {spmd.axis_resources = #spmd.axis_resources<["x"]>},
                 %c: tensor<4x4xf32> {spmd.axis_resources = #spmd.axis_resources<replicated>},
                 %d: tensor<4x4xf32>)
    -> (tensor<4x4xf32> {spmd.axis_resources = #spmd.axis_resources<[?, "y"]>}) {
  %0 = spmd.with_sharding_constraint %b axis_resources ["data", ?] : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Axes that do not divide a dim.
// CHECK-LABEL: func.func @uneven
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{"x", "y"}, {"data"}]>
func.func @uneven(%a: tensor<3x1xf32> {spmd.axis_resources = #spmd.axis_resources<[["x", "y"], "data"]>}) {
  return
}
