// Rules that are written on ops, and cuts that leave a rest: a factor that the op's own
// rule has too is padded as that is; any other stays whole.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones

spmd.mesh @m = <["x"=2, "y"=3]>

// Rows and the sum are cut unevenly, the loops have other numbers.
// CHECK-LABEL: func.func @product
// CHECK-NOT: spmd.all_gather
// CHECK: linalg.matmul ins({{.*}} : tensor<3x3xi32>, tensor<3x4xi32>)
// CHECK: spmd.all_reduce {{.*}} sum <@m, {"y"}>
func.func @product(%a: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [1, 9]},
                   %b: tensor<7x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [1, 9]},
                   %i: tensor<5x4xi32> {spmd.range = [-9, 9]}) -> (tensor<5x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %r = linalg.matmul {spmd.sharding_rule = #spmd.rule<([r, s], [s, c], [r, c]) -> ([r, c]) {s=7, c=4, r=5}, reduction(sum) = {s}>}
    ins(%a, %b : tensor<5x7xi32>, tensor<7x4xi32>) outs(%i : tensor<5x4xi32>) -> tensor<5x4xi32>
  return %r : tensor<5x4xi32>
}

// Padding must not be seen by a maximum; the guarded loop is the second of the op.
// CHECK-LABEL: func.func @maximum
// CHECK: arith.select
// CHECK: spmd.all_reduce {{.*}} max <@m, {"y"}>
func.func @maximum(%a: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, -9]},
                   %i: tensor<5xi32> {spmd.range = [-200, -100]}) -> (tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"],
      spmd.sharding_rule = #spmd.rule<([p, q], [p]) -> ([p]) {q=7, p=5}, reduction(max) = {q}>}
    ins(%a : tensor<5x7xi32>) outs(%i : tensor<5xi32>) {
  ^bb0(%x: i32, %o: i32):
    %s = arith.maxsi %o, %x : i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  return %r : tensor<5xi32>
}

// A division: padding of the divisor is replaced.
// CHECK-LABEL: func.func @quotient
// CHECK-NOT: spmd.all_gather
// CHECK: arith.divsi {{.*}} : tensor<3x3xi32>
func.func @quotient(%a: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]},
                    %b: tensor<5x7xi32> {spmd.range = [1, 9]}) -> tensor<5x7xi32> {
  %r = arith.divsi %a, %b {spmd.sharding_rule = #spmd.rule<([p, q], [p, q]) -> ([p, q]) {p=5, q=7}>} : tensor<5x7xi32>
  return %r : tensor<5x7xi32>
}
