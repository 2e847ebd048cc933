// Several meshes in one function are views of the same devices.
// RUN: shard-opt %s --split-input-file --spmd-propagate --verify-diagnostics | FileCheck %s --enable-var-scope
// RUN: shard-opt %s --split-input-file --spmd-propagate --spmd-propagate --verify-diagnostics | FileCheck %s --enable-var-scope

spmd.mesh @a = <["x"=2, "y"=4]>
spmd.mesh @b = <["u"=4, "v"=2]>

// A layout is expressed on the mesh of the user sharding, else on the first that has its axes.
// CHECK-LABEL: func.func @views
// CHECK-SAME: spmd.sharding = #spmd.sharding<@b, [{"u":(1)2, ?}, {"v"}]>, spmd.user_sharding = #spmd.sharding<@b, [{?}, {"v"}]>
// CHECK: arith.addf {{.*}} [#spmd.sharding<@a_common, [{"d0", ?}, {"d2", ?}]>]
func.func @views(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {?}]>},
                 %y: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@b, [{?}, {"v"}]>}) -> tensor<8x16xf32> {
  %0 = arith.addf %x, %y : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

spmd.mesh @a = <["x"=2, "y"=4]>
spmd.mesh @t = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>

// The transposed order: "p" of @t is "y" of @a.
// CHECK-LABEL: func.func @permuted
// CHECK-SAME: spmd.sharding = #spmd.sharding<@t, [{"p"}, {"q"}]>
// CHECK: math.exp {{.*}} [#spmd.sharding<@a, [{"y", ?}, {"x", ?}]>]
func.func @permuted(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@t, [{"p"}, {"q"}]>},
                    %y: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@a, [{?}, {?}]>}) -> tensor<8x16xf32> {
  %0 = math.exp %x : tensor<8x16xf32>
  %1 = arith.addf %0, %y : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

// Neither mesh can express both shardings: one that can is added.
// CHECK: spmd.mesh @a_common = <["d0"=4, "d1"=3, "d2"=4]>
spmd.mesh @a = <["a"=6, "b"=2, "c"=4]>
spmd.mesh @b = <["p"=4, "q"=2, "r"=6]>

// CHECK-LABEL: func.func @common
// CHECK: arith.addf {{.*}} [#spmd.sharding<@a_common, [{"d2", ?}, {"d0", ?}]>]
func.func @common(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@a, [{"c"}, {?}]>},
                  %y: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@b, [{?}, {"p"}]>}) -> tensor<8x8xf32> {
  %0 = arith.addf %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// Full axes of two meshes, on dims that they do not divide, are full axes of a third.
// CHECK: spmd.mesh @a_common = <["d0"=2, "d1"=3, "d2"=3, "d3"=2]>
spmd.mesh @a = <["x"=2, "y"=3, "z"=2, "w"=3]>
spmd.mesh @b = <["p"=3, "q"=2, "r"=3, "s"=2]>

// CHECK-LABEL: func.func @uneven
// CHECK-SAME: tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@b, [{}, {"s"}]>}
// CHECK: arith.addf {{.*}} [#spmd.sharding<@a_common, [{"d0", ?}, {"d3", ?}]>]
func.func @uneven(%x: tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {?}]>},
                  %y: tensor<5x7xf32> {spmd.sharding = #spmd.sharding<@b, [{}, {"s"}]>}) -> tensor<5x7xf32> {
  %0 = arith.addf %x, %y : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

spmd.mesh @a = <["x"=4]>
spmd.mesh @b = <["x"=4], device_ids=[4, 5, 6, 7]>

func.func @others(%x: tensor<8xf32> {spmd.sharding = #spmd.sharding<@a, [{"x"}]>},
                  // expected-error @below {{meshes @a and @b have different devices, expected views of the same devices}}
                  %y: tensor<8xf32> {spmd.sharding = #spmd.sharding<@b, [{"x"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
