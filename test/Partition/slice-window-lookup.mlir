// A slice of one element: a window along one sharded dim, at an index that the run knows, and a look-up along the other.
// The shards have one element, so that the slice takes all of them; only the owner's is the result.
// RUN: shard-opt %s --spmd-partition | FileCheck %s

module attributes {spmd.phase = "resharded"} {
  spmd.mesh @m = <["x"=2, "y"=2]>
  // CHECK-LABEL: func.func @element(
  // CHECK: %[[WINDOW:.+]] = spmd.halo_exchange %{{.+}} dims = [1] steps = [0] offsets = [%{{.+}}]
  // CHECK: %[[OWNED:.+]] = arith.cmpi ult
  // CHECK: %[[ELEMENT:.+]] = tensor.extract %[[WINDOW]]
  // CHECK: arith.select %[[OWNED]], %[[ELEMENT]]
  // CHECK: spmd.all_reduce {{.*}} sum <@m, {"x"}>
  func.func @element(%t: tensor<2x2xi64> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %i: index) -> (tensor<i64> {spmd.sharding = #spmd.sharding<@m, []>}) {
    %r = tensor.extract_slice %t[1, %i] [1, 1] [1, 1] {spmd.factor_shardings = #spmd.factors<@m, [{"x"}, {"y"}]>, spmd.shardings = [#spmd.sharding<@m, [], unreduced = {"x"}>]} : tensor<2x2xi64> to tensor<i64>
    %s = spmd.reshard %r <@m, []> : tensor<i64>
    return %s : tensor<i64>
  }
}
