// Megatron with sequence parallelism: the activations between blocks are cut along the sequence. Two blocks, each one
// gather in and one reduce-scatter out (where activations are smaller than weights).
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s

// CHECK-LABEL: func.func @block
// CHECK: = spmd.all_gather %arg0 <@m, [{}, {"model"}, {}]>
// CHECK-NOT: = spmd.
// CHECK: = spmd.reduce_scatter %{{.*}} sum <@m, [{}, {"model"}, {}]>
// CHECK-NOT: = spmd.
// CHECK: = spmd.all_gather %{{.*}} <@m, [{}, {"model"}, {}]>
// CHECK-NOT: = spmd.
// CHECK: = spmd.reduce_scatter %{{.*}} sum <@m, [{}, {"model"}, {}]>
// CHECK-NOT: = spmd.
spmd.mesh @m = <["data"=2, "model"=4]>
func.func @block(%x: tensor<4x64x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{"data"}, {"model"}, {}]>},
                 %w1: tensor<1024x4096xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"model"}]>}, %w2: tensor<4096x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{"model"}, {}]>},
                 %w3: tensor<1024x4096xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"model"}]>}, %w4: tensor<4096x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{"model"}, {}]>})
   -> (tensor<4x64x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{"data"}, {"model"}, {}]>}) {
  %c = arith.constant 0.0 : f32
  %eh = tensor.empty() : tensor<4x64x4096xf32>
  %ey = tensor.empty() : tensor<4x64x1024xf32>
  %zh = linalg.fill ins(%c : f32) outs(%eh : tensor<4x64x4096xf32>) -> tensor<4x64x4096xf32>
  %zy = linalg.fill ins(%c : f32) outs(%ey : tensor<4x64x1024xf32>) -> tensor<4x64x1024xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(b, s, o, k) -> (b, s, k)>, affine_map<(b, s, o, k) -> (k, o)>, affine_map<(b, s, o, k) -> (b, s, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w1 : tensor<4x64x1024xf32>, tensor<1024x4096xf32>) outs(%zh : tensor<4x64x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64x4096xf32>
  %g = math.tanh %h : tensor<4x64x4096xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, o, k) -> (b, s, k)>, affine_map<(b, s, o, k) -> (k, o)>, affine_map<(b, s, o, k) -> (b, s, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%g, %w2 : tensor<4x64x4096xf32>, tensor<4096x1024xf32>) outs(%zy : tensor<4x64x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64x1024xf32>
  %r = arith.addf %x, %y : tensor<4x64x1024xf32>
  %n = math.exp %r : tensor<4x64x1024xf32>
  %h2 = linalg.generic {indexing_maps = [affine_map<(b, s, o, k) -> (b, s, k)>, affine_map<(b, s, o, k) -> (k, o)>, affine_map<(b, s, o, k) -> (b, s, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%n, %w3 : tensor<4x64x1024xf32>, tensor<1024x4096xf32>) outs(%zh : tensor<4x64x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64x4096xf32>
  %y2 = linalg.generic {indexing_maps = [affine_map<(b, s, o, k) -> (b, s, k)>, affine_map<(b, s, o, k) -> (k, o)>, affine_map<(b, s, o, k) -> (b, s, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%h2, %w4 : tensor<4x64x4096xf32>, tensor<4096x1024xf32>) outs(%zy : tensor<4x64x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<4x64x1024xf32>
  %r2 = arith.addf %r, %y2 : tensor<4x64x1024xf32>
  return %r2 : tensor<4x64x1024xf32>
}
