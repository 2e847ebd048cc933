// RUN: shard-opt %s --spmd-pipeline-default --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s

spmd.mesh @pod = <["x"=2]>

// CHECK-DAG: warning: 1 ops without a sharding rule are replicated; list them with --remarks-filter=spmd
// CHECK-DAG: remark: [Missed] no-rule | Category:spmd | Function=main | Remark="tensor.gather has no sharding rule and is replicated; implement ShardingRuleOpInterface for it"
// CHECK-DAG: remark: [Analysis] default-cost | Category:spmd | Function=main | Remark="mesh @pod has no link costs: alpha = 1.0E-05 s, beta = 1.0E-10 s/byte on every axis"
// CHECK-DAG: remark: [Passed] reshard | Category:spmd | Function=main | Axes=x, Bytes=64, Reason="the layouts differ", Remark="tensor.gather needs [{}, {}], an argument gives [{"x"}, {}]: all_gather"
// CHECK-DAG: remark: [Missed] dropped-constraint
// A dead constraint moves nothing.
// CHECK-NOT: all_to_all
// CHECK-DAG: warning: 1 constraints without a use are dropped; list them with --remarks-filter=spmd
func.func @main(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>}, %i: tensor<2x1xindex>) -> tensor<2x4xf32> {
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<2x1xindex>) -> tensor<2x4xf32>
  %1 = spmd.with_sharding_constraint %a <@pod, [{}, {"x"}]> : tensor<4x4xf32>
  return %0 : tensor<2x4xf32>
}
