// Windows in functions that name several meshes: whole axes of the common mesh, written
// on a mesh that has them whole.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest

spmd.mesh @a = <["x"=2, "y"=4]>
spmd.mesh @b = <["u"=4, "v"=2]>
spmd.mesh @six = <["x"=2, "y"=3]>
spmd.mesh @seven = <["u"=3, "v"=2]>

// "u" of the one mesh, "v" of the other view: 13 rows, 11 columns, both uneven.
// CHECK-LABEL: func.func @stencil
// CHECK: spmd.halo_exchange {{.*}} <@b, [{"u"}, {}]> to <@b, [{"u"}, {}]> dims = [0]
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: return
func.func @stencil(%x: tensor<13x11xi32> {spmd.sharding = #spmd.sharding<@b, [{"u"}, {"v"}]>, spmd.range = [-99, 99]},
                   %w: tensor<3xi32> {spmd.sharding = #spmd.sharding<@a, [{}]>, spmd.range = [-9, 9]}) -> tensor<11x11xi32> {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<11x11xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<11x11xi32>) -> tensor<11x11xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<13x11xi32>, tensor<3xi32>) outs(%f : tensor<11x11xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %m = arith.muli %p, %q : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<11x11xi32>
  return %r : tensor<11x11xi32>
}

// Dims cut by axes of either mesh, which neither has: the mesh of both is added.
// CHECK-LABEL: func.func @both
// CHECK: spmd.halo_exchange {{.*}}@a_common
// CHECK: return
func.func @both(%x: tensor<8x9xi32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                %y: tensor<8x9xi32> {spmd.sharding = #spmd.sharding<@b, [{?}, {"v"}]>, spmd.range = [-99, 99]}) -> (tensor<7x8xi32>, tensor<8x9xi32>) {
  %0 = arith.addi %x, %y : tensor<8x9xi32>
  %1 = tensor.extract_slice %0[1, 1] [7, 8] [1, 1] : tensor<8x9xi32> to tensor<7x8xi32>
  return %1, %0 : tensor<7x8xi32>, tensor<8x9xi32>
}

// 2 x 3 beside 3 x 2: an axis of the one is no axis of a common mesh, yet a whole one.
// CHECK-LABEL: func.func @parts
// CHECK: spmd.exchange
// CHECK: spmd.halo_exchange
func.func @parts(%x: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@six, [{"x"}, {"y"}]>, spmd.range = [-99, 99]},
                 %y: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@seven, [{"u"}, {"v"}]>, spmd.range = [-99, 99]}) -> tensor<10x5xi32> {
  %0 = arith.addi %x, %y : tensor<12x6xi32>
  %1 = tensor.extract_slice %0[1, 1] [10, 5] [1, 1] : tensor<12x6xi32> to tensor<10x5xi32>
  return %1 : tensor<10x5xi32>
}
