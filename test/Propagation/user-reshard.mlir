// A reshard that the user writes constrains its result, and what is computed from it follows.
// RUN: shard-opt %s --spmd-propagate | FileCheck %s
// RUN: shard-opt %s --spmd-auto-shard | FileCheck %s --check-prefix=SEARCH
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=EQUAL
// EQUAL: verify: 2 functions, 2 results, all equal bit by bit
spmd.mesh @mesh_a_2_b_2_c_4 = <["a"=2, "b"=2, "c"=4]>
// CHECK-LABEL: func.func @reshard
// SEARCH-LABEL: func.func @reshard
func.func @reshard(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  // CHECK: spmd.reshard %arg0 <@mesh_a_2_b_2_c_4, [{}, {"b"}]>{{.*}} : tensor<16x32xf32>
  // SEARCH: spmd.reshard %arg0 <@mesh_a_2_b_2_c_4, [{}, {"b"}]>
  %z = spmd.reshard %x <@mesh_a_2_b_2_c_4, [{}, {"b"}]> : tensor<16x32xf32>
  // CHECK: math.sin {{.*}}spmd.shardings = [#spmd.sharding<@mesh_a_2_b_2_c_4, [{?}, {"b", ?}]>]
  %w = math.sin %z : tensor<16x32xf32>
  return %w : tensor<16x32xf32>
}
// Two reshards of one value: each has its own layout.
// CHECK-LABEL: func.func @two
func.func @two(%x: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh_a_2_b_2_c_4, [{"a"}, {}]>}) -> tensor<16x32xf32> {
  %y = spmd.reshard %x <@mesh_a_2_b_2_c_4, [{"c"}, {}]> : tensor<16x32xf32>
  %z = spmd.reshard %y <@mesh_a_2_b_2_c_4, [{}, {"c"}]> : tensor<16x32xf32>
  // CHECK: math.sin {{.*}}spmd.shardings = [#spmd.sharding<@mesh_a_2_b_2_c_4, [{?}, {"c", ?}]>]
  %w = math.sin %z : tensor<16x32xf32>
  return %w : tensor<16x32xf32>
}
