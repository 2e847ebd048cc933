// Propagation through each family of ops, in both directions.
// RUN: shard-opt %s --spmd-propagate=plan=propagation --split-input-file | FileCheck %s

// To the result of a softmax and back from it; never along the normalized dim.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: %arg1: tensor<6x12xf32> {{[^%]*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}]>
// CHECK: linalg.softmax {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
func.func @softmax(%a: tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<6x12xf32>)
    -> (tensor<6x12xf32>, tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %e = tensor.empty() : tensor<6x12xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<6x12xf32>) outs(%e : tensor<6x12xf32>) -> tensor<6x12xf32>
  %1 = linalg.softmax dimension(0) ins(%b : tensor<6x12xf32>) outs(%e : tensor<6x12xf32>) -> tensor<6x12xf32>
  return %0, %1 : tensor<6x12xf32>, tensor<6x12xf32>
}

// -----

// Pack: the outer factor of a tiled dim. Unpack: the inverse.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @pack
// CHECK-SAME: %arg1: tensor<3x8x2xf32> {{[^%]*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}, {?}]>
// CHECK: linalg.pack {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"y", ?}, {"x", ?}, {?}]>]
func.func @pack(%a: tensor<16x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<3x8x2xf32>)
    -> (tensor<3x8x2xf32>, tensor<16x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<3x8x2xf32>
  %0 = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<16x3xf32> -> tensor<3x8x2xf32>
  %f = tensor.empty() : tensor<16x3xf32>
  %1 = linalg.unpack %b outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [2] into %f : tensor<3x8x2xf32> -> tensor<16x3xf32>
  return %0, %1 : tensor<3x8x2xf32>, tensor<16x3xf32>
}

// -----

// Batch dims of the indices and dims of the slice; the gathered dim stops.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @gather
// CHECK-SAME: %arg0: tensor<10x6xf32> {{[^%]*}}[{"x"}, {"y", ?}]
// CHECK-SAME: %arg1: tensor<4x8x1xindex> {{[^%]*}}[{?}, {"x", ?}, {?}]
// CHECK: tensor.gather {{.*}}[#spmd.sharding<@m, [{?}, {"x", ?}, {"y", ?}]>]
// CHECK: tensor.gather {{.*}}[#spmd.sharding<@m, [{?}, {"x", ?}, {?}, {"y", ?}]>]
func.func @gather(%a: tensor<10x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}, %i: tensor<4x8x1xindex>)
    -> (tensor<4x8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>}, tensor<4x8x1x6xf32>) {
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<10x6xf32>, tensor<4x8x1xindex>) -> tensor<4x8x6xf32>
  %1 = tensor.gather %a[%i] gather_dims([0]) : (tensor<10x6xf32>, tensor<4x8x1xindex>) -> tensor<4x8x1x6xf32>
  return %0, %1 : tensor<4x8x6xf32>, tensor<4x8x1x6xf32>
}

// -----

// Dims of the slice and addressed dims, not the rows.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: %arg0: tensor<4x6xf32> {{[^%]*}}[{?}, {"y", ?}]
// CHECK-SAME: %arg1: tensor<10x6xf32> {{[^%]*}}[{"x"}, {"y"}]
// CHECK-SAME: %arg2: tensor<4x1xindex> {{[^%]*}}[{?}, {?}]
// CHECK: tensor.scatter {{.*}}[#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]
func.func @scatter(%s: tensor<4x6xf32>, %d: tensor<10x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %i: tensor<4x1xindex>) -> tensor<10x6xf32> {
  %0 = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<4x6xf32>, tensor<10x6xf32>, tensor<4x1xindex>) -> tensor<10x6xf32>
  return %0 : tensor<10x6xf32>
}

// -----

// A generated tensor and tensors captured at the same index, and from the end.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @generate
// CHECK-SAME: %arg0: tensor<6x4xf32> {{[^%]*}}[{"y", ?}, {"x", ?}]
// CHECK-SAME: %arg1: tensor<4x6xf32> {{[^%]*}}[{"x", ?}, {"y", ?}]
func.func @generate(%a: tensor<6x4xf32>, %b: tensor<4x6xf32>) -> (tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %c3 = arith.constant 3 : index
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %1 = tensor.extract %a[%i, %j] : tensor<6x4xf32>
    %k = arith.subi %c3, %j : index
    %2 = tensor.extract %b[%k, %i] : tensor<4x6xf32>
    %3 = arith.addf %1, %2 : f32
    tensor.yield %3 : f32
  } : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// 24 is [a b c], 4x6 is [a b][c]: the first axis propagates, the second has no counterpart.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @reshape
// CHECK-SAME: %arg1: tensor<24xf32> {{[^%]*}}[{4, "y"{{.*}}}]
// CHECK: tensor.reshape {{.*}}[#spmd.sharding<@m, [{"x", ?}, {?}]>]
// CHECK: tensor.reshape
// CHECK: tensor.bitcast {{.*}}[#spmd.sharding<@m, [{"x", ?}]>]
func.func @reshape(%a: tensor<24xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<24xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}, tensor<24xui32>) {
  %shape = arith.constant dense<[4, 6]> : tensor<2xindex>
  %0 = tensor.reshape %a(%shape) : (tensor<24xi32>, tensor<2xindex>) -> tensor<4x6xi32>
  %1 = tensor.reshape %b(%shape) : (tensor<24xf32>, tensor<2xindex>) -> tensor<4x6xf32>
  %2 = tensor.bitcast %a : tensor<24xi32> to tensor<24xui32>
  return %0, %1, %2 : tensor<4x6xi32>, tensor<4x6xf32>, tensor<24xui32>
}

// -----

// Any op with the trait Elementwise; scalar operands are ignored.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @elementwise
// CHECK: arith.select {{.*}}[#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]
// CHECK: math.sincos {{.*}}[#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>, #spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]
func.func @elementwise(%a: tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}, %b: tensor<6x12xf32>, %c: i1)
    -> (tensor<6x12xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>}) {
  %0 = arith.select %c, %a, %b : tensor<6x12xf32>
  %1, %2 = math.sincos %0 : tensor<6x12xf32>
  return %2 : tensor<6x12xf32>
}

// -----

// A dynamic dim is unsharded, also if another tensor of the op gives its size.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @dynamic
// CHECK: arith.addf {{.*}}[#spmd.sharding<@m, [{?}, {"y", ?}]>]
func.func @dynamic(%a: tensor<?x6xf32>, %b: tensor<?x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>}) -> tensor<?x6xf32> {
  %0 = arith.addf %a, %b : tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
