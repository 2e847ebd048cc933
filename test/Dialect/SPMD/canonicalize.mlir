// RUN: shard-opt %s --canonicalize --cse --loop-invariant-code-motion --canonicalize | FileCheck %s

spmd.mesh @pod = <["data"=2, "model"=4]>

// A constraint survives, equal to another, dead, or on a constant.
// CHECK-LABEL: func.func @constraints_survive
func.func @constraints_survive(%0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4xf32>) {
  // CHECK: %[[C:.*]] = arith.constant
  // CHECK: %[[A:.*]] = spmd.with_sharding_constraint %arg0 <@pod, [{"data"}, {}]>
  %1 = spmd.with_sharding_constraint %0 <@pod, [{"data"}, {}]> : tensor<8x16xf32>
  // CHECK: %[[B:.*]] = spmd.with_sharding_constraint %arg0 <@pod, [{"data"}, {}]>
  %2 = spmd.with_sharding_constraint %0 <@pod, [{"data"}, {}]> : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %arg0 <@pod, [{}, {"model"}]>
  %3 = spmd.with_sharding_constraint %0 <@pod, [{}, {"model"}]> : tensor<8x16xf32>
  // CHECK: %[[D:.*]] = spmd.with_sharding_constraint %[[C]] axis_resources ["model"]
  %cst = arith.constant dense<1.0> : tensor<4xf32>
  %4 = spmd.with_sharding_constraint %cst axis_resources ["model"] : tensor<4xf32>
  // CHECK: return %[[A]], %[[B]], %[[D]]
  return %1, %2, %4 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<4xf32>
}

// So do groups, boundaries and transfers, which have no result.
// CHECK-LABEL: func.func @effects_survive
func.func @effects_survive(%0: tensor<8x16xf32>) {
  // CHECK: spmd.sharding_group %arg0 "g"
  spmd.sharding_group %0 "g" : tensor<8x16xf32>
  // CHECK: spmd.stage_boundary %arg0
  spmd.stage_boundary %0 : tensor<8x16xf32>
  // CHECK: spmd.send %arg0
  spmd.send %0 of tensor<8x16xf32> <@pod, [{}, {}]> to <@pod, [{}, {}]> channel = 0 : tensor<8x16xf32>
  // A receive without a use still completes its send.
  // CHECK: spmd.recv
  %1 = spmd.recv of tensor<8x16xf32> <@pod, [{}, {}]> to <@pod, [{}, {}]> channel = 0 : tensor<8x16xf32>
  return
}

// Equal collectives are merged, dead ones erased: on every device alike.
// CHECK-LABEL: func.func @collectives
func.func @collectives(%0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[A:.*]] = spmd.all_reduce
  %1 = spmd.all_reduce %0 sum <@pod, {"model"}> : tensor<8x4xf32>
  // CHECK-NOT: spmd.all_reduce
  %2 = spmd.all_reduce %0 sum <@pod, {"model"}> : tensor<8x4xf32>
  // CHECK-NOT: spmd.all_gather
  %3 = spmd.all_gather %0 <@pod, [{}, {"model"}]> : tensor<8x4xf32> -> tensor<8x16xf32>
  // CHECK: return %[[A]], %[[A]]
  return %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
}

// A collective in a loop stays there: the loop may have no iterations.
// CHECK-LABEL: func.func @not_hoisted
func.func @not_hoisted(%0: tensor<8x4xf32>, %n: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %0) -> tensor<8x4xf32> {
    // CHECK-NEXT: spmd.all_reduce
    %2 = spmd.all_reduce %0 sum <@pod, {"model"}> : tensor<8x4xf32>
    %3 = arith.addf %acc, %2 : tensor<8x4xf32>
    scf.yield %3 : tensor<8x4xf32>
  }
  return %1 : tensor<8x4xf32>
}
