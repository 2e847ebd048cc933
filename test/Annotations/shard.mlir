// Annotations of upstream's dialect shard become constraints, and back byte by byte.
// RUN: shard-opt %s --spmd-import-shard | FileCheck %s
// RUN: shard-opt %s > %t.before
// RUN: shard-opt %s --spmd-import-shard --spmd-export-shard > %t.after
// RUN: diff %t.before %t.after
// RUN: shard-opt %s --mlir-print-op-generic > %t.before
// RUN: shard-opt %s --spmd-import-shard --spmd-export-shard --mlir-print-op-generic > %t.after
// RUN: diff %t.before %t.after

// CHECK: spmd.mesh @grid = <["d0"=2, "d1"=4]>
shard.grid @grid(shape = 2x4)
// Names of axes are kept in an attribute.
// CHECK: spmd.mesh @named = <["data"=4, "model"=2]>
shard.grid @named(shape = 4x2) {shardkit.axes = ["data", "model"]}

// CHECK-LABEL: @annotations
func.func @annotations(%a: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  // Equal shardings are one op. Dims at the end that are not listed are unsharded.
  // CHECK: %[[A:.*]] = spmd.with_sharding_constraint %arg0 <@grid, [{"d0"}, {}]> : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %arg1 <@grid, [{"d0"}]> : tensor<16xf32>
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8x16xf32>
  %1 = shard.shard %b to %s : tensor<16xf32>
  // What is about the users of a value, and its halos, stay.
  // CHECK: spmd.with_sharding_constraint %[[A]] <@grid, [{}, {"d1", "d0"}]> {shardkit.annotate_for_users}
  %s1 = shard.sharding @grid split_axes = [[], [1, 0]] : !shard.sharding
  %2 = shard.shard %0 to %s1 annotate_for_users : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@named, [{"model"}, {}]> {shardkit.annotate_for_users, shardkit.halo_sizes = array<i64: 1, 2>}
  %3 = math.tanh %2 : tensor<8x16xf32>
  %s2 = shard.sharding @named split_axes = [[1]] halo_sizes = [1, 2] : !shard.sharding
  %4 = shard.shard %3 to %s2 annotate_for_users : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@named, [{}, {}]> : tensor<8x16xf32>
  %s3 = shard.sharding @named split_axes = [[]] : !shard.sharding
  %5 = shard.shard %4 to %s3 : tensor<8x16xf32>
  return %5 : tensor<8x16xf32>
}
