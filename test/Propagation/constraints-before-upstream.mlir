// Upstream passes before any of ours: shardings of arguments, results and annotation ops survive by themselves, those
// of ops after --spmd-shardings-to-constraints.
// RUN: shard-opt %s --spmd-shardings-to-constraints --canonicalize --cse --linalg-generalize-named-ops --spmd-propagate -o %t.mlir
// RUN: FileCheck %s -enable-var-scope < %t.mlir
// RUN: shard-opt %s --spmd-shardings-to-constraints -o %t.pinned && shard-opt %t.pinned --spmd-shardings-to-constraints -o %t.again && diff %t.pinned %t.again
// RUN: shard-opt %t.mlir --spmd-insert-reshards --spmd-partition | FileCheck %s --check-prefix=LOCAL
// RUN: shard-run %t.mlir --random-inputs=1 --verify
// RUN: shard-opt %s --canonicalize --cse --spmd-propagate | FileCheck %s --check-prefix=ALONE
// RUN: not shard-opt %t.mlir --spmd-shardings-to-constraints 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: module is in phase "propagated", expected at most "annotated" for --spmd-shardings-to-constraints

spmd.mesh @m = <["x"=2, "y"=3]>

// One constant, one empty tensor, needed in two layouts each: cloned per layout.
// CHECK-LABEL: func.func @creations
// CHECK-DAG: spmd.with_sharding_constraint %{{.*}} <@m, [{"x"}, {}]>
// CHECK-DAG: spmd.with_sharding_constraint %{{.*}} <@m, [{}, {"y"}]>
// LOCAL-LABEL: func.func @creations
// LOCAL-SAME: %arg0: tensor<6x12xf32>
// LOCAL-SAME: %arg1: tensor<12x4xf32>
// LOCAL-DAG: arith.constant dense<2.000000e+00> : tensor<6x12xf32>
// LOCAL-DAG: arith.constant dense<2.000000e+00> : tensor<12x4xf32>
// LOCAL-DAG: tensor.empty() : tensor<6x12xf32>
// LOCAL-DAG: tensor.empty() : tensor<12x4xf32>
// LOCAL-NOT: spmd.all
// LOCAL: return
func.func @creations(%a: tensor<12x12xf32>, %b: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>) {
  %0 = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>]} dense<2.0> : tensor<12x12xf32>
  %1 = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} dense<2.0> : tensor<12x12xf32>
  %2 = tensor.empty() {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>]} : tensor<12x12xf32>
  %3 = tensor.empty() {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} : tensor<12x12xf32>
  %4 = linalg.add ins(%0, %a : tensor<12x12xf32>, tensor<12x12xf32>) outs(%2 : tensor<12x12xf32>) -> tensor<12x12xf32>
  %5 = linalg.mul ins(%1, %b : tensor<12x12xf32>, tensor<12x12xf32>) outs(%3 : tensor<12x12xf32>) -> tensor<12x12xf32>
  return %4, %5 : tensor<12x12xf32>, tensor<12x12xf32>
}

// Named ops are generalized, equal ops become one.
// CHECK-LABEL: func.func @ops
// CHECK: %[[S:.*]] = linalg.generic
// CHECK-DAG: spmd.with_sharding_constraint %[[S]] <@m, [{"x"}, {}]>
// CHECK-DAG: spmd.with_sharding_constraint %[[S]] <@m, [{}, {"y"}]>
func.func @ops(%a: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>) {
  %e = tensor.empty() : tensor<12x12xf32>
  %0 = linalg.exp {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>]} ins(%a : tensor<12x12xf32>) outs(%e : tensor<12x12xf32>) -> tensor<12x12xf32>
  %1 = linalg.exp {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} ins(%a : tensor<12x12xf32>) outs(%e : tensor<12x12xf32>) -> tensor<12x12xf32>
  return %0, %1 : tensor<12x12xf32>, tensor<12x12xf32>
}

// None of these needs the pass. The dead constraint stays; so do two equal ones, a barrier and the group.
// ALONE-LABEL: func.func @annotations
// ALONE-SAME: %arg0: tensor<12x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}
// ALONE: spmd.with_sharding_constraint %arg0 <@m, [{}, {}]>
// ALONE: spmd.with_sharding_constraint {{.*}} <@m, [{"x"}, {"y"}]>
// ALONE: spmd.with_sharding_constraint {{.*}} <@m, [{"x"}, {"y"}]>
// ALONE: spmd.propagation_barrier {{.*}} allow = none
// ALONE: spmd.sharding_group {{.*}} "g"
// ALONE: spmd.sharding_group {{.*}} "g"
func.func @annotations(%a: tensor<12x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<12x12xf32>)
    -> (tensor<12x12xf32>, tensor<12x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %dead = spmd.with_sharding_constraint %a <@m, [{}, {}]> : tensor<12x12xf32>
  %0 = math.exp %a : tensor<12x12xf32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {"y"}]> : tensor<12x12xf32>
  %2 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {"y"}]> : tensor<12x12xf32>
  %3 = spmd.propagation_barrier %2 allow = none : tensor<12x12xf32>
  %4 = math.tanh %3 : tensor<12x12xf32>
  spmd.sharding_group %4 "g" : tensor<12x12xf32>
  spmd.sharding_group %b "g" : tensor<12x12xf32>
  %5 = arith.addf %1, %4 : tensor<12x12xf32>
  return %5, %4 : tensor<12x12xf32>, tensor<12x12xf32>
}
