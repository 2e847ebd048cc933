// Values with dims of unknown size move as any others: such a dim has as many elements as both layouts have shards, each representing several that stay together.
// RUN: shard-opt %s --split-input-file --spmd-propagate --spmd-insert-reshards --spmd-partition | FileCheck %s -enable-var-scope

// Sharded features, unsharded batch: no check.
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @features
// CHECK-NOT: cf.assert
// CHECK: spmd.all_gather %{{.*}} <@m, [{}, {"x"}]> : tensor<?x8xf32> -> tensor<?x16xf32>
func.func @features(%a: tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = math.sin %a : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// A Megatron MLP on a batch of any size.
// CHECK-LABEL: func.func @mlp
// CHECK-NOT: cf.assert
// CHECK: linalg.matmul {{.*}} -> tensor<?x32xf32>
// CHECK: %[[P:.*]] = linalg.matmul {{.*}} -> tensor<?x16xf32>
// CHECK: spmd.all_reduce %[[P]] sum <@m, {"x"}> : tensor<?x16xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @mlp(%a: tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %v: tensor<16x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<64x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%d) : tensor<?x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h = linalg.matmul ins(%a, %v : tensor<?x16xf32>, tensor<16x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %g = math.tanh %h : tensor<?x64xf32>
  %e2 = tensor.empty(%d) : tensor<?x16xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul ins(%g, %w : tensor<?x64xf32>, tensor<64x16xf32>) outs(%f2 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// Between two static dims, and onto one of them.
// CHECK-LABEL: func.func @heads
// CHECK: spmd.all_to_all %{{.*}} <@m, [{}, {"x"}, {}]> to <@m, [{}, {}, {"x"}]> : tensor<?x4x6xf32> -> tensor<?x8x3xf32>
func.func @heads(%a: tensor<?x8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) -> (tensor<?x8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"x"}]>}) {
  return %a : tensor<?x8x6xf32>
}
// CHECK-LABEL: func.func @scattered
// CHECK: spmd.reduce_scatter %{{.*}} sum <@m, [{}, {"x"}]> : tensor<?x16xf32> -> tensor<?x8xf32>
func.func @scattered(%a: tensor<?x512xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<512x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %y = linalg.matmul ins(%a, %w : tensor<?x512xf32>, tensor<512x16xf32>) outs(%i : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// The dim itself is sharded: the gathered size is the sum of all shards.
// CHECK-LABEL: func.func @gathered
// CHECK-NOT: cf.assert
// CHECK: spmd.all_gather %{{.*}} <@m, [{"x"}, {}]> : tensor<?x4xf32> -> tensor<?x4xf32>
func.func @gathered(%a: tensor<?x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = math.sin %a : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A slice of an unsharded dim is taken after a check that all shards have one size.
// CHECK-LABEL: func.func @slice
// CHECK: %[[D:.*]] = tensor.dim %[[V:.*]], %{{.*}} : tensor<?x4xf32>
// CHECK: %[[R:.*]] = arith.remui %[[D]], %{{.*}} : index
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[R]]
// CHECK: cf.assert %[[EVEN]], "size of dim 0 of tensor<?x8xf32> is not a multiple of 2, as its sharding {\22x\22} requires"
// CHECK: spmd.all_to_all %{{.*}} <@m, [{}, {"x"}]> to <@m, [{"x"}, {}]> : tensor<?x4xf32> -> tensor<?x8xf32>
func.func @slice(%a: tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  return %a : tensor<?x8xf32>
}

// A dim that is sharded equally on both sides stays sharded.
// CHECK-LABEL: func.func @other_dim
// CHECK-NOT: cf.assert
// CHECK: spmd.all_gather %{{.*}} <@m, [{}, {"y"}]> : tensor<?x4xf32> -> tensor<?x8xf32>
func.func @other_dim(%a: tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  return %a : tensor<?x8xf32>
}

// -----

// A body that reads its index needs the begin of the shard, which is not known: it computes on replicated values.
spmd.mesh @m = <["x"=2]>
// CHECK-LABEL: func.func @index
// CHECK: spmd.all_gather %{{.*}} : tensor<?xindex> -> tensor<?xindex>
// CHECK: linalg.index
func.func @index(%a: tensor<?xindex> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<?xindex> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<?xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<?xindex>
  return %0 : tensor<?xindex>
}
// CHECK-LABEL: func.func @reverse
// CHECK: spmd.all_gather
// CHECK: tosa.reverse
func.func @reverse(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<?xf32> {
  %0 = tosa.reverse %a {axis = 0 : i32} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
