// Ops of another dialect whose rules permit padding compute on padded shards.
// REQUIRES: shard-test-opt
// RUN: shard-test-opt %s --spmd-default-pipeline --remarks-filter=spmd 2>&1 | FileCheck %s
// CHECK-NOT: remark: {{.*}} unpadded

spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @f
// CHECK-NOT: all_gather
// CHECK: %[[KEPT:.*]] = "padded.keep"(%arg0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: "padded.turned"(%[[KEPT]]) : (tensor<4x2xf32>) -> tensor<2x4xf32>
func.func @f(%a: tensor<7x5xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %0 = "padded.keep"(%a) : (tensor<7x5xf32>) -> tensor<7x5xf32>
  %1 = "padded.turned"(%0) : (tensor<7x5xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}
