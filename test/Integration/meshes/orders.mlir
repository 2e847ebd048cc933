// Meshes that list the devices reversed, rotated and in no order. Arguments and results stay where these meshes have them,
// and the function computes in the order of the first mesh.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: rm -rf %t && shard-compile %s -o %t --opt-level=0 --plan=propagation --with-reference
// RUN: shard-run %t --random-inputs=3 --verify=exact | FileCheck %s --check-prefix=VERIFY
// RUN: shard-run %t --random-inputs=4 --verify=exact --donate | FileCheck %s --check-prefix=VERIFY
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/manifest.json
// RUN: %python %shardkit_src/scripts/check-manifests %t
// RUN: sed 's/> {spmd.name = "w",/> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [4, 4]>,/' %s > %t.segments.mlir
// RUN: not shard-opt %t.segments.mlir --spmd-default-pipeline 2>&1 | FileCheck %s --check-prefix=SEGMENTS
// RUN: not shard-opt %s "--spmd-default-pipeline=inline=false" 2>&1 | FileCheck %s --check-prefix=CALLED
// VERIFY: verify: 8 functions, {{.*}} all equal bit by bit
// SEGMENTS: error: mesh @reversed lists the devices in another order than mesh @m, expected one order for an argument with spmd.segment
// CALLED: error: mesh @reversed of public function @called lists the devices in another order than mesh @m, expected one order in a function that is called, or --inline

spmd.mesh @m = <["x"=2, "y"=2]>
spmd.mesh @reversed = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
spmd.mesh @rotated = <["all"=4], device_ids=[1, 2, 3, 0]>
spmd.mesh @none = <["u"=2, "v"=2], device_ids=[2, 0, 1, 3]>

// CHECK-LABEL: func.func @mixed
// CHECK-SAME: tensor<4x6xi32> {{.*}}spmd.sharding = #spmd.sharding<@reversed, [{"x"}, {}]>
// CHECK-SAME: attributes {spmd.rank_mesh = @m}
// CHECK-DAG: spmd.collective_permute %arg1 of tensor<8x6xi32> <@reversed, [{"x"}, {}]> to <@m, [{"x"}, {}]>
// CHECK-DAG: spmd.collective_permute %arg2 of tensor<8x6xi32> <@rotated, [{"all"}, {}]> to <@m, [{"x", "y"}, {}]>
// CHECK: spmd.collective_permute {{.*}} of tensor<8x6xi32> <@m, [{"x"}, {"y"}]> to <@none, [{"u"}, {"v"}]>
// MANIFEST: "order": [
// MANIFEST-NEXT: 3,
// MANIFEST-NEXT: 2,
// MANIFEST: "source_order": [
// MANIFEST: "destination_order": [
func.func @mixed(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]},
                 %w: tensor<8x6xi32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@reversed, [{"x"}, {}]>, spmd.range = [0, 1000]},
                 %r: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@rotated, [{"all"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@none, [{"u"}, {"v"}]>}, tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %0 = arith.muli %x, %w : tensor<8x6xi32>
  %1 = spmd.with_sharding_constraint %0 <@rotated, [{}, {}]> : tensor<8x6xi32>
  %2 = arith.addi %1, %r : tensor<8x6xi32>
  %3 = arith.subi %2, %w : tensor<8x6xi32>
  return %2, %3 : tensor<8x6xi32>, tensor<8x6xi32>
}

// Uneven dims; a result that updates its argument there.
func.func @uneven(%x: tensor<7x5xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"x"}, {"y"}]>, spmd.range = [0, 1000]},
                  %y: tensor<7x5xi32> {spmd.sharding = #spmd.sharding<@rotated, [{"all"}, {}]>, spmd.range = [0, 1000]},
                  %z: tensor<7x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]})
    -> (tensor<7x5xi32> {spmd.tied = 1 : i64, spmd.sharding = #spmd.sharding<@rotated, [{"all"}, {}]>}, tensor<7xi32> {spmd.sharding = #spmd.sharding<@none, [{"v", "u"}]>}) {
  %0 = arith.muli %x, %y : tensor<7x5xi32>
  %1 = arith.addi %0, %z : tensor<7x5xi32>
  %c = arith.constant dense<0> : tensor<7xi32>
  %s = linalg.reduce { arith.addi } ins(%1 : tensor<7x5xi32>) outs(%c : tensor<7xi32>) dimensions = [1]
  return %1, %s : tensor<7x5xi32>, tensor<7xi32>
}

// Replicated values need no move, and a mesh with one order alone none either.
// CHECK-LABEL: func.func @same
// CHECK-NOT: collective_permute
// CHECK: return
func.func @same(%x: tensor<8xi32> {spmd.sharding = #spmd.sharding<@rotated, [{}]>, spmd.range = [0, 9]},
                %y: tensor<8xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"y"}]>, spmd.range = [0, 9]}) -> (tensor<8xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"y"}]>}) {
  %0 = arith.addi %x, %y : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// Indices of elements are those of the shards, whatever devices have them.
func.func @indices(%x: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 9]},
                   %y: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"y"}, {"x"}]>, spmd.range = [0, 9]})
    -> (tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"y"}, {"x"}]>}) {
  %e = tensor.empty() : tensor<8x4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x4xi32>, tensor<8x4xi32>) outs(%e : tensor<8x4xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %a = arith.muli %p, %i32 : i32
    %b = arith.muli %q, %j32 : i32
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}

// A result without a sharding has the order of the argument that it updates, and an argument that of the weight that
// other functions share. Axes that propagation adds are those of the common order, on devices of the other one.
// CHECK-LABEL: func.func @open
// CHECK-SAME: spmd.sharding = #spmd.sharding<@rotated_common, [{"x"}, {"y"}]>, spmd.weight = "shared"
// CHECK-SAME: spmd.sharding = #spmd.sharding<@rotated_common, [{"x"}, {"y"}]>, spmd.tied = 0 : i64
func.func @open(%w: tensor<4x6xi32> {spmd.weight = "shared", spmd.sharding = #spmd.sharding<@rotated, [{?}, {?}]>, spmd.range = [0, 1000]},
                %x: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> (tensor<4x6xi32> {spmd.tied = 0 : i64}) {
  %0 = arith.subi %w, %x : tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}
// CHECK-LABEL: func.func @shares
// CHECK-SAME: spmd.sharding = #spmd.sharding<@rotated_common, [{"x"}, {"y"}]>, spmd.weight = "shared"
func.func @shares(%w: tensor<4x6xi32> {spmd.weight = "shared", spmd.range = [0, 1000]},
                  %x: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %0 = arith.muli %w, %x : tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// A function that is called is inlined: callers pass values in the common order.
func.func @called(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"x"}, {}]>, spmd.range = [0, 1000]},
                  %y: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]})
    -> (tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@reversed, [{"x"}, {}]>}) {
  %0 = arith.muli %x, %y : tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
func.func @calls(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> (tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = call @called(%x, %x) : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi32>
  %1 = arith.addi %0, %x : tensor<8x6xi32>
  return %1 : tensor<8x6xi32>
}
