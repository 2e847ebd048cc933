// A reshape of an axis after a local factor: a strided sharding, or none if it is forbidden.
// RUN: shard-opt %s --spmd-propagate=plan=propagation | FileCheck %s --check-prefixes=CHECK,ALLOW
// RUN: shard-opt %s --spmd-propagate="strided-shardings=forbid-at-boundary plan=propagation" | FileCheck %s --check-prefixes=CHECK,BOUNDARY
// RUN: shard-opt %s --spmd-propagate="strided-shardings=forbid plan=propagation" | FileCheck %s --check-prefixes=CHECK,FORBID
// RUN: shard-opt %s --spmd-default-pipeline="strided-shardings=forbid-at-boundary plan=propagation" | FileCheck %s --check-prefix=LOCAL
// RUN: shard-opt %s --spmd-explain="strided-shardings=forbid value=inner plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: shard-opt %s --spmd-explain="strided-shardings=forbid-at-boundary value=result0 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY-BOUNDARY
// RUN: not shard-opt %s --spmd-propagate=strided-shardings=never 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not shard-opt %s --spmd-explain=strided-shardings=never 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not shard-compile %s --strided-shardings=never -o %t 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--strided-shardings=forbid-at-boundary
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--strided-shardings=forbid

// UNKNOWN: error: unknown strided-shardings=never, expected allow, forbid-at-boundary or forbid
// COMPILE: error: --strided-shardings is 'never', expected allow, forbid-at-boundary or forbid

spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @joined
// ALLOW-SAME: spmd.sharding = #spmd.sharding<@m, [{2, "x", ?}]>
// BOUNDARY-SAME: -> (tensor<8xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{?}]>
// FORBID-SAME: -> (tensor<8xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{?}]>
// ALLOW: arith.muli {{.*}}[{2, "x", ?}]
// BOUNDARY: arith.muli {{.*}}[{2, "x", ?}]
// FORBID: arith.muli {{.*}}[{?}]
// WHY: @joined
// WHY: dim 0 lacks "x": the sharding would be strided, and strided-shardings=forbid
// WHY-BOUNDARY: dim 0 lacks "x": the sharding would be strided, and strided-shardings=forbid-at-boundary
// LOCAL-LABEL: func.func @joined
// LOCAL-SAME: -> (tensor<8xi32>
// LOCAL: arith.muli {{.*}} : tensor<4xi32>
// LOCAL: spmd.all_gather
// LOCAL: return
func.func @joined(%a: tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]}) -> (tensor<8xi32> {spmd.name = "result0"}) {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xi32> into tensor<8xi32> loc("inner")
  %1 = arith.muli %0, %0 : tensor<8xi32>
  return %1 : tensor<8xi32>
}

// Backward.
// CHECK-LABEL: func.func @split
// ALLOW-SAME: spmd.sharding = #spmd.sharding<@m, [{2, "x", ?}]>
// BOUNDARY-SAME: %arg0: tensor<8xi32> {spmd.range = [-9, 10], spmd.sharding = #spmd.sharding<@m, [{?}]>}
// FORBID-SAME: %arg0: tensor<8xi32> {spmd.range = [-9, 10], spmd.sharding = #spmd.sharding<@m, [{?}]>}
func.func @split(%a: tensor<8xi32> {spmd.range = [-9, 10]}) -> (tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 4] : tensor<8xi32> into tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// Entries before the first stride pass: {"y", 2, "x"} ends after "y".
// CHECK-LABEL: func.func @prefix
// ALLOW: tensor.collapse_shape {{.*}}[{"y", 2, "x", ?}]
// BOUNDARY: tensor.collapse_shape {{.*}}[{"y", 2, "x", ?}]
// FORBID: tensor.collapse_shape {{.*}}[{"y", ?}]
func.func @prefix(%a: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-9, 10]}) -> tensor<16xi32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x4xi32> into tensor<16xi32>
  %1 = arith.muli %0, %0 : tensor<16xi32>
  return %1 : tensor<16xi32>
}

// A strided sharding of the user propagates through ops that keep the dim.
// CHECK-LABEL: func.func @written
// ALLOW: arith.addi {{.*}}[{2, "x", ?}]
// FORBID: arith.addi {{.*}}[{2, "x", ?}]
// CHECK: tensor.expand_shape {{.*}}[{?}, {"x", ?}]
func.func @written(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}]>, spmd.range = [-9, 10]}) -> tensor<2x4xi32> {
  %0 = arith.addi %a, %a : tensor<8xi32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 4] : tensor<8xi32> into tensor<2x4xi32>
  return %1 : tensor<2x4xi32>
}
