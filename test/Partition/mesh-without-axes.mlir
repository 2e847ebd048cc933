// A mesh without axes does not specify devices: it is a view of the mesh of the function, in any device order.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=SAME
// REQUIRES: shard-compile, shard-run
// SAME: 1 function, 1 result, all equal

spmd.mesh @none = <[]>
spmd.mesh @m = <["x"=4]>
// CHECK-LABEL: @main
// CHECK-SAME: %{{.*}}: tensor<f32> {{{.*}}spmd.sharding = #spmd.sharding<@{{none|m}}, []>}
// CHECK-SAME: %{{.*}}: tensor<2x4xf32>
func.func @main(%s: tensor<f32> {spmd.sharding = #spmd.sharding<@none, []>},
                %a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %b: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@none, [{}, {}]>}) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<8x4xf32>) dimensions = [0, 1]
  // CHECK: spmd.all_slice %{{.*}} <@m, [{"x"}, {}]> {{.*}}: tensor<8x4xf32> -> tensor<2x4xf32>
  %0 = arith.mulf %a, %f : tensor<8x4xf32>
  %1 = arith.addf %0, %b : tensor<8x4xf32>
  // CHECK: spmd.all_gather %{{.*}} <@m, [{"x"}, {}]>
  %2 = spmd.with_sharding_constraint %1 <@none, [{}, {}]> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
