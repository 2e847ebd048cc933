// Shardy's annotations, in the generic form that jaxlib prints, become those of spmd, and back byte by byte.
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-import-sdy | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --mlir-print-op-generic > %t.before
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-import-sdy --spmd-export-sdy --mlir-print-op-generic > %t.after
// RUN: diff %t.before %t.after
// The output of jaxlib 0.10.2 for a function with shard_map, scan, donation and calls.
// RUN: shard-opt %S/Inputs/jax.mlir --allow-unregistered-dialect --mlir-print-op-generic > %t.before
// RUN: shard-opt %S/Inputs/jax.mlir --allow-unregistered-dialect --spmd-import-sdy --spmd-export-sdy --mlir-print-op-generic > %t.after
// RUN: diff %t.before %t.after
// RUN: shard-opt %S/Inputs/jax.mlir --allow-unregistered-dialect --spmd-import-sdy | FileCheck %s --check-prefix=JAX
// JAX: spmd.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh =
// JAX: spmd.manual_computation (%{{.*}}) in [<@mesh, [{"data"}, {"model"}]>] out [<@mesh, [{"data"}, {}]>] axes ["data", "model"]
// JAX-NOT: sdy

// Attributes of others stay, meshes may have no axes, or one device.
// CHECK: spmd.mesh @m = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = []}}
// CHECK: spmd.mesh @order = <["z"=4], device_ids=[0, 2, 1, 3]>
// CHECK: spmd.mesh @empty = <[]>
// CHECK: spmd.mesh @maximal = <[], device_ids=[3]>
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = "m"}> {stablehlo.mesh = {axes = []}} : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<["z"=4], device_ids=[0, 2, 1, 3]>, sym_name = "order"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty"}> : () -> ()
"sdy.mesh"() <{mesh = #sdy.mesh<[], device_ids=[3]>, sym_name = "maximal"}> : () -> ()

// Sub-axes, open dims, priorities, replicated and unreduced axes; other attributes stay.
// CHECK-LABEL: @shardings
// CHECK-SAME: %{{.*}}: tensor<8x8xf32> {other.x = 1 : i64, spmd.sharding = #spmd.sharding<@m, [{"x", "y":(1)2, ?}, {?}p2], replicated = {"y":(2)2}>}
// CHECK-SAME: %{{.*}}: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}], unreduced = {"y"}>}
// CHECK-SAME: %{{.*}}: tensor<f32> {spmd.sharding = #spmd.sharding<@empty, []>}
// CHECK-SAME: %{{.*}}: tensor<4xf32>)
// CHECK-SAME: -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {}]>})
func.func @shardings(%a: tensor<8x8xf32> {other.x = 1 : i64, sdy.sharding = #sdy.sharding<@m, [{"x", "y":(1)2, ?}, {?}p2], replicated={"y":(2)2}>},
                     %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}], unreduced={"y"}>},
                     %c: tensor<f32> {sdy.sharding = #sdy.sharding<@empty, []>},
                     %d: tensor<4xf32>)
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {}]>}) {
  // CHECK: "stablehlo.add"(%{{.*}}, %{{.*}}) {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {?}]>]}
  %0 = "stablehlo.add"(%a, %b) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {?}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: "two.results"(%{{.*}}) {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>, #spmd.sharding<@m, [{"x":(1)2}, {"y"}]>]}
  %1:2 = "two.results"(%0) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>, <@m, [{"x":(1)2}, {"y"}]>]>} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@m, [{}, {"y", ?}]> : tensor<8x8xf32>
  %2 = "sdy.sharding_constraint"(%1#0) <{sharding = #sdy.sharding<@m, [{}, {"y", ?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.reshard %{{.*}} <@m, [{"y"}, {}]> {note = "kept"} : tensor<8x8xf32>
  %3 = "sdy.reshard"(%2) <{sharding = #sdy.sharding<@m, [{"y"}, {}]>}> {note = "kept"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = none
  %4 = "sdy.propagation_barrier"(%3) <{allowed_direction = 0 : i32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = forward
  %5 = "sdy.propagation_barrier"(%4) <{allowed_direction = 1 : i32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = backward
  %6 = "sdy.propagation_barrier"(%5) <{allowed_direction = 2 : i32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.sharding_group %{{.*}} "21" : tensor<8x8xf32>
  "sdy.sharding_group"(%6) <{group_id = 21 : i64}> : (tensor<8x8xf32>) -> ()
  return %6 : tensor<8x8xf32>
}

// CHECK-LABEL: @manual
func.func @manual(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: spmd.manual_computation (%{{.*}}) in [<@m, [{"x", ?}, {}]>] out [<@m, [{"x"}, {?}]>] axes ["x"] (%{{.*}}: tensor<4x8xf32>) {
  // CHECK: spmd.manual_computation (%{{.*}}) in [<@m, [{}, {"y"}]>] out [<@m, [{}, {"y"}]>] axes ["y"]
  // CHECK: spmd.return %{{.*}} : tensor<4x2xf32>
  %0 = "sdy.manual_computation"(%a) <{in_shardings = #sdy.sharding_per_value<[<@m, [{"x", ?}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@m, [{"x"}, {?}]>]>}> ({
  ^bb0(%b: tensor<4x8xf32>):
    %1 = "sdy.manual_computation"(%b) <{in_shardings = #sdy.sharding_per_value<[<@m, [{}, {"y"}]>]>, manual_axes = #sdy<manual_axes{"y"}>, out_shardings = #sdy.sharding_per_value<[<@m, [{}, {"y"}]>]>}> ({
    ^bb0(%c: tensor<4x2xf32>):
      "sdy.return"(%c) : (tensor<4x2xf32>) -> ()
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "sdy.return"(%1) : (tensor<4x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Factors are one letter, written without separator if a dim has several.
// CHECK-LABEL: @rules
func.func @rules(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: spmd.sharding_rule = #spmd.rule<([i, k], [k, j]) -> ([i, j]) {i=8, j=8, k=8}, reduction(sum) = {k}, ordered = {j}, replicated = {i}>
  %0 = "stablehlo.custom_call"(%a, %b) <{call_target_name = "foo"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k} need_replication={i} permutation={j}, custom>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.sharding_rule = #spmd.rule<([(i j), k]) -> ([i, j, k]) {i=2, j=4, k=8}>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "bar"}> {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, j, k]) {i=2, j=4, k=8}, custom>} : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}
