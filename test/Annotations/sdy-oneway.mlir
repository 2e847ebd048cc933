// Features with another form in Shardy: read or written, but not back byte by byte.
// RUN: split-file %s %t
// RUN: shard-opt %t/in.mlir --allow-unregistered-dialect --spmd-import-sdy | FileCheck %t/in.mlir
// RUN: shard-opt %t/out.mlir --allow-unregistered-dialect --spmd-export-sdy | FileCheck %t/out.mlir
// RUN: shard-opt %t/out.mlir > %t/before
// RUN: shard-opt %t/out.mlir --allow-unregistered-dialect --spmd-export-sdy --spmd-import-sdy > %t/after
// RUN: diff %t/before %t/after

//--- in.mlir
// Meshes that are inlined in shardings get a name; equal ones share it.
// CHECK: spmd.mesh @mesh_0 = <["x"=2]>
// CHECK: spmd.mesh @mesh = <["x"=2, "y"=2]>
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"=2]>, sym_name = "mesh"}> : () -> ()
// CHECK-LABEL: @inlined
// CHECK-SAME: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh_0, [{"x"}]>}, %{{.*}}: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh_0, [{?}]>}
func.func @inlined(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>},
                   %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{?}]>}) {
  // A barrier that lets all pass is none. Priority 0 is the default.
  // CHECK-NOT: barrier
  %0 = "sdy.propagation_barrier"(%a) <{allowed_direction = 3 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@mesh_0, [{"x"}]>
  %1 = "sdy.sharding_constraint"(%0) <{sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}p0]>}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}
// Collectives of global values are moves.
// CHECK-LABEL: @moves
func.func @moves(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x8xf32> {
  // CHECK: spmd.reshard %{{.*}} <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %0 = "sdy.all_reduce"(%a) <{out_sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, reduction_axes = #sdy<axis_ref_list{"y"}>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: spmd.reshard %{{.*}} <@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = "sdy.all_gather"(%0) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

//--- out.mlir
// Link costs of a mesh, and other attributes of spmd, come back.
// CHECK: "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "pod"}> {shardkit.costs = {alpha = [5.000000e-01], beta = [2.500000e-01], memory = 1024 : i64}}
spmd.mesh @pod = <["x"=2]> {alpha = [5.0e-1], beta = [2.5e-1], memory = 1024 : i64}
// CHECK-LABEL: @names
// CHECK-SAME: tensor<8xf32> {sdy.sharding = #sdy.sharding<@pod, [{"x"}]>, spmd.name = "v"}
func.func @names(%v: tensor<8xf32> {spmd.name = "v", spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) {
  // CHECK: group_id = 7 : i64
  spmd.sharding_group %v "7" : tensor<8xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>
  %0 = math.tanh %v {spmd.sharding_rule = #spmd.rule<([i]) -> ([i]) {i=8}>} : tensor<8xf32>
  return
}
