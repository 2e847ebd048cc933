// `spmd.sharding_rule` on an op replaces its builtin rule.
// RUN: shard-opt %s --spmd-propagate | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=LOCAL
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>

// k must not be sharded: the rows of the second operand are gathered.
// CHECK-LABEL: func.func @restricted
// CHECK: linalg.matmul
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// LOCAL-LABEL: func.func @restricted
// LOCAL: spmd.all_gather
// LOCAL: linalg.matmul
// LOCAL-NOT: spmd.sharding_rule
// LOCAL-NOT: spmd.all_reduce
func.func @restricted(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
                      %b: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 9]}) -> tensor<4x5xi32> {
  %e = arith.constant dense<0> : tensor<4x5xi32>
  %r = linalg.matmul {spmd.sharding_rule = #spmd.rule<([i, k], [k, j], [i, j]) -> ([i, j]) {i=4, j=5, k=6}, replicated = {k}>}
    ins(%a, %b : tensor<4x6xi32>, tensor<6x5xi32>) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}

// The same rule as the builtin one: k is reduced, the init is added once.
// LOCAL-LABEL: func.func @same
// LOCAL: spmd.all_reduce
func.func @same(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]},
                %b: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 9]},
                %i: tensor<4x5xi32> {spmd.range = [-9, 9]}) -> (tensor<4x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %r = linalg.matmul {spmd.sharding_rule = #spmd.rule<([i, k], [k, j], [i, j]) -> ([i, j]) {i=4, j=5, k=6}, reduction(sum) = {k}>}
    ins(%a, %b : tensor<4x6xi32>, tensor<6x5xi32>) outs(%i : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}

// k is in no set, and no result has it: it is replicated, as
// is a reduction that the result has.
// LOCAL-LABEL: func.func @forgotten
// LOCAL: linalg.matmul {{.*}}tensor<4x6xi32>, tensor<6x5xi32>
func.func @forgotten(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]},
                     %b: tensor<6x5xi32> {spmd.range = [-9, 9]}) -> tensor<4x5xi32> {
  %e = arith.constant dense<0> : tensor<4x5xi32>
  %r = linalg.matmul {spmd.sharding_rule = #spmd.rule<([i, k], [k, j], [i, j]) -> ([i, j]) {i=4, j=5, k=6}, reduction(sum) = {i}>}
    ins(%a, %b : tensor<4x6xi32>, tensor<6x5xi32>) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}

// Other numbers for the loops: indices are rebased too, and a captured
// tensor is sharded only where the body reads it at a loop's index.
// LOCAL-LABEL: func.func @indices
// LOCAL: linalg.generic {{.*}}
func.func @indices(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]},
                   %c: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [-9, 9]},
                   %d: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-9, 9]}) -> tensor<4x6xi32> {
  %e = tensor.empty() : tensor<4x6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"],
      spmd.sharding_rule = #spmd.rule<([a, b], [a, b], [b], [a]) -> ([a, b]) {b=6, a=4}>}
    ins(%a : tensor<4x6xi32>) outs(%e : tensor<4x6xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = tensor.extract %c[%j] : tensor<6xi32>
    %c3 = arith.constant 3 : index
    %k = arith.subi %c3, %i : index
    %1 = tensor.extract %d[%k] : tensor<4xi32>
    %2 = arith.muli %i, %j : index
    %3 = arith.index_cast %2 : index to i32
    %4 = arith.addi %0, %3 : i32
    %5 = arith.subi %4, %1 : i32
    %6 = arith.muli %5, %x : i32
    linalg.yield %6 : i32
  } -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

// A dim of two factors, of which one is ordered.
// CHECK-LABEL: func.func @joined
// CHECK: tensor.collapse_shape
// CHECK-SAME: spmd.shardings = [#spmd.sharding<@m, [{"x", ?}]>]
func.func @joined(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<24xi32> {
  %r = tensor.collapse_shape %a [[0, 1]] {spmd.sharding_rule = #spmd.rule<([i, j]) -> ([(i j)]) {i=4, j=6}, ordered = {j}>} : tensor<4x6xi32> into tensor<24xi32>
  return %r : tensor<24xi32>
}
