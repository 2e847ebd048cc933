// Large constants become arguments with their elements and a name by these; equal ones are one, and callers pass them on.
// RUN: shard-opt %s --spmd-outline-constants=max-constant-bytes=15 | FileCheck %s
// RUN: shard-opt %s --spmd-outline-constants=max-constant-bytes=15 | shard-opt --spmd-outline-constants=max-constant-bytes=15 | FileCheck %s
// RUN: shard-opt %s --spmd-outline-constants=max-constant-bytes=-1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: spmd.constant

spmd.mesh @m = <["x"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32> {spmd.constant = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>, spmd.weight = "constant:[[$NAME:[0-9a-f]+]]"},
// CHECK-SAME: %[[B:.*]]: tensor<2x2xi32> {spmd.constant = dense_resource<r> : tensor<2x2xi32>, spmd.weight = "constant:{{[0-9a-f]+}}"})
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xi32>, tensor<2xi32>) {
  // CHECK: %[[C:.*]] = spmd.with_sharding_constraint %[[A]] <@m, [{"x"}]>
  %a = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{"x"}]>]} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: call @callee(%[[X]], %[[A]], %[[B]]) : (tensor<4xf32>, tensor<4xf32>, tensor<2x2xi32>)
  %0:2 = call @callee(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xi32>)
  // CHECK: arith.addf %{{.*}}, %[[C]]
  %1 = arith.addf %0#0, %a : tensor<4xf32>
  // Small ones and splats stay.
  // CHECK: arith.constant dense<[3, 4]> : tensor<2xi32>
  // CHECK: arith.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: arith.constant dense<2.500000e-01> : tensor<4xf32>
  %small = arith.constant dense<[3, 4]> : tensor<2xi32>
  %splat = arith.constant dense<1.0> : tensor<4xf32>
  %equal = arith.constant dense_resource<equal> : tensor<4xf32>
  %2 = arith.mulf %1, %splat : tensor<4xf32>
  %3 = arith.mulf %2, %equal : tensor<4xf32>
  return %3, %0#1, %small : tensor<4xf32>, tensor<2x2xi32>, tensor<2xi32>
}

// A private function has no elements.
// CHECK-LABEL: func.func private @callee
// CHECK-SAME: (%{{.*}}: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<2x2xi32>)
func.func private @callee(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xi32>) {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = arith.constant dense_resource<r> : tensor<2x2xi32>
  // CHECK: arith.addf %{{.*}}, %[[A]]
  %0 = arith.addf %x, %a : tensor<4xf32>
  return %0, %b : tensor<4xf32>, tensor<2x2xi32>
}

// The name is the same in another function; a manual computation takes it as an operand that its axes do not shard.
// CHECK-LABEL: func.func @other
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[A:.*]]: tensor<4xf32> {spmd.constant = dense<[1.0{{.*}}]> : tensor<4xf32>, spmd.weight = "constant:[[$NAME]]"},
// CHECK-SAME: %[[C:.*]]: tensor<4xf32> {spmd.constant = dense<[5.0
func.func @other(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: spmd.manual_computation (%[[X]], %[[C]], %[[A]]) in [<@m, [{"x"}]>, <@m, [{?}]>, <@m, [{?}]>] out [<@m, [{"x"}]>] axes ["x"] (%[[LOCAL:.*]]: tensor<4xf32>, %[[INSIDE:.*]]: tensor<4xf32>, %[[OTHER:.*]]: tensor<4xf32>)
  %0 = spmd.manual_computation (%x) in [<@m, [{"x"}]>] out [<@m, [{"x"}]>] axes ["x"] (%local: tensor<4xf32>) {
    %c = arith.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
    // CHECK-NEXT: arith.addf %[[LOCAL]], %[[INSIDE]]
    %1 = arith.addf %local, %c : tensor<4xf32>
    // CHECK: scf.if
    %true = arith.constant true
    %2 = scf.if %true -> tensor<4xf32> {
      // CHECK-NEXT: arith.mulf %{{.*}}, %[[OTHER]]
      %same = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %3 = arith.mulf %1, %same : tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    } else {
      scf.yield %1 : tensor<4xf32>
    }
    spmd.return %2 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %0 : tensor<4xf32>, tensor<8xf32>
}

// A loading function is no part of the program.
// CHECK-LABEL: func.func private @load
// CHECK-NEXT: arith.constant dense<[1
func.func private @load(%w: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = arith.addf %w, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @loads(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @load}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      r: "0x0400000001000000020000000300000004000000",
      equal: "0x040000000000803E0000803E0000803E0000803E"
    }
  }
#-}
