// A value that is partial over one axis and replicated over another is summed over the first only.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>

// CHECK-LABEL: func.func @sum
// CHECK: spmd.all_reduce {{.*}} sum <@m, {"x"}>
// CHECK-NOT: spmd.all_reduce
func.func @sum(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}], replicated = {"y"}>, spmd.range = [-9, 9]},
               %b: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}], replicated = {"y"}>, spmd.range = [-9, 9]}) -> (tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %c = arith.constant dense<5> : tensor<6x10xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<6x8xi32>, tensor<8x10xi32>) outs(%c : tensor<6x10xi32>) -> tensor<6x10xi32>
  return %0 : tensor<6x10xi32>
}

// Partial over both axes: both count, and the replicas of the first product do not.
// CHECK-LABEL: func.func @both
func.func @both(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 9]},
                %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 9]},
                %d: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-9, 9]}) -> (tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %0 = linalg.matmul ins(%a, %b : tensor<6x12xi32>, tensor<12x4xi32>) outs(%d : tensor<6x4xi32>) -> tensor<6x4xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"x"}]> : tensor<6x4xi32>
  %z = arith.constant dense<1> : tensor<6xi32>
  %2 = linalg.reduce ins(%1 : tensor<6x4xi32>) outs(%z : tensor<6xi32>) dimensions = [1] (%p: i32, %q: i32) {
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  return %2 : tensor<6xi32>
}
