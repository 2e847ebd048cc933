// A user sharding on an op is, after propagation turned it into a constraint, safe
// from upstream passes that drop attributes or merge ops.
// RUN: shard-opt %s --spmd-propagate=plan=propagation --canonicalize --cse --linalg-generalize-named-ops -o %t.mlir
// RUN: FileCheck %s -enable-var-scope < %t.mlir
// RUN: shard-opt %t.mlir --spmd-propagate=plan=propagation --spmd-insert-reshards --spmd-partition | FileCheck %s --check-prefix=LOCAL
// RUN: shard-run %t.mlir --random-inputs=1 --verify

spmd.mesh @m = <["x"=2, "y"=3]>

// CHECK-LABEL: func.func @generalized
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1
// CHECK: spmd.with_sharding_constraint %[[P]] <@m, [{"x"}, {"y"}]>
// LOCAL-LABEL: func.func @generalized
// LOCAL-SAME: -> (tensor<6x4xf32>
// LOCAL: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<6x6xf32>, tensor<6x4xf32>)
func.func @generalized(%a: tensor<12x6xf32>, %b: tensor<6x12xf32>) -> tensor<12x12xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x12xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<12x12xf32>) -> tensor<12x12xf32>
  %0 = linalg.matmul {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {"y"}]>]} ins(%a, %b : tensor<12x6xf32>, tensor<6x12xf32>) outs(%f : tensor<12x12xf32>) -> tensor<12x12xf32>
  return %0 : tensor<12x12xf32>
}

// Equal ops become one, its two layouts stay.
// CHECK-LABEL: func.func @merged
// CHECK: %[[E:.*]] = math.exp
// CHECK-NOT: math.exp
// CHECK-DAG: spmd.with_sharding_constraint %[[E]] <@m, [{"x"}, {}]>
// CHECK-DAG: spmd.with_sharding_constraint %[[E]] <@m, [{}, {"y"}]>
// LOCAL-LABEL: func.func @merged
// LOCAL-SAME: -> (tensor<6x12xf32> {{.*}}tensor<12x4xf32>
func.func @merged(%a: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>) {
  %0 = math.exp %a {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>]} : tensor<12x12xf32>
  %1 = math.exp %a {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} : tensor<12x12xf32>
  return %0, %1 : tensor<12x12xf32>, tensor<12x12xf32>
}

// The same for constants, which are free in any layout.
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = arith.constant dense<2
// CHECK-NOT: arith.constant dense
// CHECK-DAG: spmd.with_sharding_constraint %[[C]] <@m, [{"x"}, {}]>
// CHECK-DAG: spmd.with_sharding_constraint %[[C]] <@m, [{}, {"y"}]>
// LOCAL-LABEL: func.func @constants
// LOCAL-SAME: %arg0: tensor<6x12xf32> {{.*}}%arg1: tensor<12x4xf32>
// LOCAL-NOT: spmd.all
// LOCAL: return
func.func @constants(%a: tensor<12x12xf32>, %b: tensor<12x12xf32>) -> (tensor<12x12xf32>, tensor<12x12xf32>) {
  %0 = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {}]>]} dense<2.0> : tensor<12x12xf32>
  %1 = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} dense<2.0> : tensor<12x12xf32>
  %2 = arith.addf %0, %a : tensor<12x12xf32>
  %3 = arith.mulf %1, %b : tensor<12x12xf32>
  return %2, %3 : tensor<12x12xf32>, tensor<12x12xf32>
}
