// Axes of 2 and 3 that a reshape regroups as 3 and 2, by the digits that a view of the
// devices has; dims that have no common factors; a digit that fits in part.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-opt %s --spmd-propagate | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=LOCAL

spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK: spmd.mesh @m_common = <["d0"=6]>
spmd.mesh @six = <["z"=6]>

// CHECK-LABEL: @axes
// CHECK: tensor.expand_shape {{.*}} {spmd.shardings = [#spmd.sharding<@m_common, [{"d0":(1)3, ?}, {"d0":(3)2, ?}]>]}
// LOCAL-LABEL: @axes
// LOCAL-NOT: spmd.{{all|coll|exch}}
func.func @axes(%x: tensor<12xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}) -> tensor<3x4xi32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  return %r : tensor<3x4xi32>
}

// Across two dims of the operand.
// LOCAL-LABEL: @across
// LOCAL-NOT: spmd.{{all|coll|exch}}
func.func @across(%x: tensor<2x6xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<3x4xi32> {
  %s = arith.constant dense<[3, 4]> : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<2x6xi32>, tensor<2xindex>) -> tensor<3x4xi32>
  return %r : tensor<3x4xi32>
}

// 6x4 and 4x6 have no common factors.
// CHECK-LABEL: @no_common_factors
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape {{.*}} [{"x", ?}, {?}]
// LOCAL-LABEL: @no_common_factors
// LOCAL-NOT: spmd.{{all|coll|exch}}
// LOCAL: tensor<2x6xi32>
func.func @no_common_factors(%x: tensor<6x4xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xi32> {
  %s = arith.constant dense<[4, 6]> : tensor<2xindex>
  %r = tensor.reshape %x(%s) : (tensor<6x4xi32>, tensor<2xindex>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// Backward: what is asked of the result says how the operand is cut.
// CHECK-LABEL: @backward
// CHECK-SAME: tensor<2x4xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}]>
// LOCAL-LABEL: @backward
// LOCAL-NOT: spmd.{{all|coll|exch}}
func.func @backward(%x: tensor<2x4xi32> {spmd.range = [0, 100]}) -> (tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}]>}) {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<2x4xi32> into tensor<8xi32>
  return %r : tensor<8xi32>
}

// Six on 4x3: the pair that fits is kept, threes are gathered.
// CHECK-LABEL: @in_part
// CHECK: tensor.expand_shape {{.*}} [{"z":(1)2, ?}, {?}]
// LOCAL-LABEL: @in_part
// LOCAL: spmd.all_gather
// LOCAL-NOT: spmd.all_gather
// LOCAL: tensor<2x3xi32>
func.func @in_part(%x: tensor<12xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@six, [{"z"}]>}) -> tensor<4x3xi32> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [4, 3] : tensor<12xi32> into tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// Asked to be cut all the same: fewer bytes than a gather of what does not fit.
// LOCAL-LABEL: @asked
// LOCAL-NOT: spmd.all_gather
// LOCAL: spmd.exchange
func.func @asked(%x: tensor<12xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@six, [{"z"}]>})
    -> (tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@six, [{"z":(1)2}, {"z":(2)3}]>}) {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [4, 3] : tensor<12xi32> into tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}

// What a gap leaves is filled once another axis comes to stand there.
// CHECK-LABEL: @gap_is_filled
// CHECK: tensor.collapse_shape {{.*}} [{"x", 2, "y", ?}]
func.func @gap_is_filled(%x: tensor<4x6xi32> {spmd.range = [0, 100], spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>}, %y: tensor<4x6xi32> {spmd.range = [0, 9], spmd.sharding = #spmd.sharding<@m, [{"x"}p1, {?}]>})
    -> tensor<24xi32> {
  %a = arith.addi %x, %y : tensor<4x6xi32>
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xi32> into tensor<24xi32>
  return %r : tensor<24xi32>
}

// A size that is not known, on a dim of its own.
// CHECK-LABEL: @unknown_size
// CHECK: tensor.expand_shape {{.*}} [{?}, {"y", ?}, {?}]
func.func private @unknown_size(%x: tensor<?x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}, %s: tensor<3xindex>) -> tensor<?x3x4xi32> {
  %r = tensor.reshape %x(%s) : (tensor<?x12xi32>, tensor<3xindex>) -> tensor<?x3x4xi32>
  return %r : tensor<?x3x4xi32>
}
