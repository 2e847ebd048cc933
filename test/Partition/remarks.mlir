// RUN: shard-opt %s --spmd-default-pipeline --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s

spmd.mesh @pod = <["x"=2]>

// CHECK-DAG: warning: 1 ops without a sharding rule are replicated; list them with --remarks-filter=spmd
// CHECK-DAG: remark: [Missed] no-rule | Category:spmd | Function=main | Bytes=1152, Reason="it does not implement ShardingRuleOpInterface", Remark="linalg.winograd_filter_transform has no sharding rule and is replicated", Suggestion="implement the interface, or write spmd.sharding_rule on it"
// CHECK-DAG: remark: [Analysis] default-cost | Category:spmd | Function=main | Remark="mesh @pod has no link costs: alpha = 1.0E-05 s, beta = 1.0E-10 s/byte on every axis"
// CHECK-DAG: remark: [Passed] reshard | Category:spmd | Function=main | Axes=x, Bytes=288, Reason="the layouts differ", Remark="linalg.winograd_filter_transform needs [{}, {}, {}, {}], an argument gives [{"x"}, {}, {}, {}]: all_gather"
// CHECK-DAG: remark: [Missed] dropped-constraint
// A dead constraint causes no move, nor does one that only dead ones read.
// CHECK-NOT: all_to_all
// CHECK-DAG: warning: 2 constraints are dropped; list them with --remarks-filter=spmd
func.func @main(%a: tensor<2x3x3x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}, {}, {}]>}) -> tensor<6x6x4x2xf32> {
  %e = tensor.empty() : tensor<6x6x4x2xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x4xf32>) outs(%e : tensor<6x6x4x2xf32>) -> tensor<6x6x4x2xf32>
  %1 = spmd.with_sharding_constraint %a <@pod, [{}, {}, {}, {"x"}]> : tensor<2x3x3x4xf32>
  %2 = spmd.with_sharding_constraint %1 <@pod, [{"x"}, {}, {}, {}]> : tensor<2x3x3x4xf32>
  return %0 : tensor<6x6x4x2xf32>
}
