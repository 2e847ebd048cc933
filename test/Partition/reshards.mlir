// RUN: shard-opt %s --spmd-default-pipeline="sink=false combine=false plan=propagation" --canonicalize | FileCheck %s -enable-var-scope

spmd.mesh @m = <["x"=2, "y"=2]>

// A partial product whose consumer needs it sharded: one reduce-scatter, no all-reduce.
// CHECK-LABEL: func.func @seq
// CHECK: %[[P:.*]] = linalg.matmul
// CHECK-NEXT: spmd.reduce_scatter %[[P]] sum <@m, [{"x"}, {}]> {id = 0 : i64} : tensor<8x16xf32> -> tensor<4x16xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @seq(%h: tensor<8x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<64x16xf32>, %r: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%h, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %c = spmd.with_sharding_constraint %y <@m, [{"x"}, {}]> : tensor<8x16xf32>
  %z = arith.addf %c, %r : tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}

// The init of a sharded contraction counts once: the other shards start from zero.
// CHECK-LABEL: func.func @init
// CHECK-SAME: %[[R:[^:]*]]: tensor<8x16xf32> {spmd.global_type = tensor<8x16xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {}]>})
// CHECK: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : tensor<8x16xf32>
// CHECK: spmd.device_coordinate @m "x"
// CHECK: spmd.device_coordinate @m "y"
// CHECK: %[[ONCE:.*]] = arith.select %{{.*}}, %[[R]], %[[ZERO]] : tensor<8x16xf32>
// CHECK: linalg.matmul {{.*}} outs(%[[ONCE]]
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x", "y"}> {id = 0 : i64}
func.func @init(%h: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>}, %w: tensor<32x16xf32>, %r: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = linalg.matmul ins(%h, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%r : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// On a gapped dim the index goes through the digits: 2 local, y, 4 local.
// CHECK-LABEL: func.func @strided
// CHECK-SAME: -> (tensor<8xi64> {{.*}}[{2, "y"}]
// CHECK: %[[Y:.*]] = spmd.device_coordinate @m "y"
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[MAJOR:.*]] = arith.divui %[[I]], %c4
// CHECK: %[[A:.*]] = arith.muli %[[MAJOR]], %c8
// CHECK: %[[B:.*]] = arith.muli %[[Y]], %c4
// CHECK: %[[AB:.*]] = arith.addi %[[A]], %[[B]]
// CHECK: %[[MINOR:.*]] = arith.remui %[[I]], %c4
// CHECK: arith.addi %[[AB]], %[[MINOR]]
func.func @strided(%a: tensor<2x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) -> tensor<16xi64> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  %e = tensor.empty() : tensor<16xi64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0 : tensor<16xf32>) outs(%e : tensor<16xi64>) {
  ^bb0(%x: f32, %o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.fptosi %x : f32 to i64
    %s = arith.addi %j, %k : i64
    linalg.yield %s : i64
  } -> tensor<16xi64>
  return %1 : tensor<16xi64>
}

// One value in three layouts: one named collective each.
// CHECK-LABEL: func.func @two
// CHECK: %[[V:.*]] = math.exp
// CHECK-NEXT: spmd.all_to_all %[[V]] <@m, [{"x"}, {}]> to <@m, [{}, {"x"}]>
// CHECK-NEXT: spmd.collective_permute %[[V]] of tensor<8x8xf32> <@m, [{"x"}, {}]> to <@m, [{"y"}, {}]>
// CHECK-NEXT: spmd.all_gather %[[V]] <@m, [{"x"}, {}]>
func.func @two(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = math.exp %a : tensor<8x8xf32>
  return %0, %0, %0 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// The reduction kind comes from the body.
// CHECK-LABEL: func.func @maxr
// CHECK: spmd.all_reduce %{{.*}} max <@m, {"y"}>
func.func @maxr(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8xf32> {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce ins(%a : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [1] (%x: f32, %acc: f32) {
    %m = arith.maximumf %x, %acc : f32
    linalg.yield %m : f32
  }
  return %r : tensor<8xf32>
}

// A weight that is sharded along the batch axis is gathered; the activations do not move.
// CHECK-LABEL: func.func @fsdp
// CHECK: spmd.all_gather %arg1 <@m, [{"x"}, {}]>
// CHECK-NOT: spmd.
// CHECK: return %{{.*}} : tensor<4x32xf32>
func.func @fsdp(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x32xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}

// A constant that is not a splat is replicated, and sliced.
// CHECK-LABEL: func.func @nonsplat
// CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// CHECK: spmd.all_slice %[[C]] <@m, [{"x"}]>
func.func @nonsplat(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = arith.addf %x, %c : tensor<4xf32>
  return %y : tensor<4xf32>
}
