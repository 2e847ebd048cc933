// Ops that read cut dims in windows: only halos move, results are exact.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--plan=propagation --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--plan=propagation --compile-option=--fill-padding=ones

spmd.mesh @m = <["x"=4]>
spmd.mesh @g = <["x"=2, "y"=3]>

// A padded image: one row of each neighbour, once, although the image is padded
// and then convolved.
// CHECK-LABEL: func.func @convolution
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [8] offsets = [-1] {{.*}} : tensor<2x8x8x3xi32> -> tensor<2x10x8x3xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: linalg.conv_2d_nhwc_hwcf ins({{.*}} : tensor<2x10x10x3xi32>, tensor<3x3x3x5xi32>)
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @convolution(%x: tensor<2x32x8x3xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-9, 9]},
                       %k: tensor<3x3x3x5xi32> {spmd.range = [-9, 9]}) -> tensor<2x32x8x5xi32> {
  %c = arith.constant 0 : i32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %c : i32
  } : tensor<2x32x8x3xi32> to tensor<2x34x10x3xi32>
  %e = tensor.empty() : tensor<2x32x8x5xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<2x32x8x5xi32>) -> tensor<2x32x8x5xi32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %k : tensor<2x34x10x3xi32>, tensor<3x3x3x5xi32>) outs(%f : tensor<2x32x8x5xi32>) -> tensor<2x32x8x5xi32>
  return %r : tensor<2x32x8x5xi32>
}

// Both spatial dims, stride and dilation, uneven: 13 = ceil((33 - 9) / 2) + 1 rows
// over 2, 9 columns over 3; the padding is no zero.
// CHECK-LABEL: func.func @strided
// CHECK: spmd.halo_exchange {{.*}} dims = [1, 2]
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @strided(%x: tensor<1x31x12x2xi32> {spmd.sharding = #spmd.sharding<@g, [{?}, {"x"}, {"y"}, {?}]>, spmd.range = [-9, 9]},
                   %k: tensor<5x4x2x3xi32> {spmd.range = [-9, 9]}) -> tensor<1x13x9x3xi32> {
  %c = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %p = tensor.pad %x low[0, 2, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %c7 : i32
  } : tensor<1x31x12x2xi32> to tensor<1x33x12x2xi32>
  %e = tensor.empty() : tensor<1x13x9x3xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<1x13x9x3xi32>) -> tensor<1x13x9x3xi32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
    ins(%p, %k : tensor<1x33x12x2xi32>, tensor<5x4x2x3xi32>) outs(%f : tensor<1x13x9x3xi32>) -> tensor<1x13x9x3xi32>
  return %r : tensor<1x13x9x3xi32>
}

// Two windows of one value: the larger one moves.
// CHECK-LABEL: func.func @same_halo_once
// CHECK-COUNT-1: spmd.halo_exchange {{.*}} steps = [4] offsets = [0] {{.*}} -> tensor<8x4xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @same_halo_once(%x: tensor<20x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> (tensor<16x4xi32>, tensor<16x4xi32>) {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16x4xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<16x4xi32>) -> tensor<16x4xi32>
  %k = tensor.empty() : tensor<5xi32>
  %l = tensor.empty() : tensor<3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %k : tensor<20x4xi32>, tensor<5xi32>) outs(%f : tensor<16x4xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %s = arith.addi %acc, %a : i32
    linalg.yield %s : i32
  } -> tensor<16x4xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2 + 1, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %l : tensor<20x4xi32>, tensor<3xi32>) outs(%f : tensor<16x4xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %s = arith.addi %acc, %a : i32
    linalg.yield %s : i32
  } -> tensor<16x4xi32>
  return %r, %q : tensor<16x4xi32>, tensor<16x4xi32>
}

// The gradient of the kernel: the sum runs over the dim that is cut.
// CHECK-LABEL: func.func @kernel_gradient
// CHECK: spmd.halo_exchange
// CHECK: linalg.generic
// CHECK: spmd.all_reduce {{.*}} sum <@m, {"x"}> {{.*}} : tensor<3x2x5xi32>
// CHECK: return
func.func @kernel_gradient(%x: tensor<18x2xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>, spmd.range = [-99, 99]},
                           %g: tensor<16x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<3x2x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %c = arith.constant 0 : i32
  %y = spmd.with_sharding_constraint %x <@m, [{"x"}, {}]> : tensor<18x2xi32>
  %e = tensor.empty() : tensor<3x2x5xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<3x2x5xi32>) -> tensor<3x2x5xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3 + d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%y, %g : tensor<18x2xi32>, tensor<16x5xi32>) outs(%f : tensor<3x2x5xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %m = arith.muli %a, %b : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<3x2x5xi32>
  return %r : tensor<3x2x5xi32>
}

// Lanes beyond the image hold the least value there is.
// CHECK-LABEL: func.func @pooling
// CHECK: spmd.halo_exchange
// CHECK: arith.select
// CHECK: linalg.pooling_nhwc_max
func.func @pooling(%x: tensor<1x16x6x2xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>}) -> tensor<1x8x3x2xf32> {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 0, 1, 0] {
  ^bb0(%a: index, %b: index, %d: index, %e: index):
    tensor.yield %least : f32
  } : tensor<1x16x6x2xf32> to tensor<1x17x7x2xf32>
  %e = tensor.empty() : tensor<1x8x3x2xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<1x8x3x2xf32>) -> tensor<1x8x3x2xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%p, %k : tensor<1x17x7x2xf32>, tensor<3x3xf32>) outs(%f : tensor<1x8x3x2xf32>) -> tensor<1x8x3x2xf32>
  return %r : tensor<1x8x3x2xf32>
}

// A window as large as the dim is a reduction over it.
// CHECK-LABEL: func.func @global_pooling
// CHECK: linalg.pooling_nhwc_sum
// CHECK: spmd.all_reduce
func.func @global_pooling(%x: tensor<2x16x6x3xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-99, 99]}) -> tensor<2x1x1x3xi32> {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x1x1x3xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<2x1x1x3xi32>) -> tensor<2x1x1x3xi32>
  %k = tensor.empty() : tensor<16x6xi32>
  %r = linalg.pooling_nhwc_sum ins(%x, %k : tensor<2x16x6x3xi32>, tensor<16x6xi32>) outs(%f : tensor<2x1x1x3xi32>) -> tensor<2x1x1x3xi32>
  return %r : tensor<2x1x1x3xi32>
}

// 15 positions over 4 devices: the lane beyond the sum reads an element of other lanes, an infinity here, and is left out.
// CHECK-LABEL: func.func @uneven_kernel_gradient
// CHECK: spmd.halo_exchange {{.*}} -> tensor<6x2xf32>
// CHECK-NOT: spmd.{{all_gather|exchange}}
// CHECK: spmd.all_reduce {{.*}} sum <@m, {"x"}> {{.*}} : tensor<3x2x5xf32>
// CHECK: return
func.func @uneven_kernel_gradient(%x: tensor<17x2xi32> {spmd.range = [1, 9]},
                                  %g: tensor<15x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [1, 9]}) -> (tensor<3x2x5xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %c = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %w = arith.sitofp %g : tensor<15x5xi32> to tensor<15x5xf32>
  %e0 = tensor.empty() : tensor<17x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<17x2xi32>) outs(%e0 : tensor<17x2xf32>) {
  ^bb0(%a: i32, %out: f32):
    %i = linalg.index 0 : index
    %c15 = arith.constant 15 : index
    %at = arith.cmpi eq, %i, %c15 : index
    %b = arith.sitofp %a : i32 to f32
    %s = arith.select %at, %inf, %b : f32
    linalg.yield %s : f32
  } -> tensor<17x2xf32>
  %e = tensor.empty() : tensor<3x2x5xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x2x5xf32>) -> tensor<3x2x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3 + d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%y, %w : tensor<17x2xf32>, tensor<15x5xf32>) outs(%f : tensor<3x2x5xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x2x5xf32>
  return %r : tensor<3x2x5xf32>
}

// The gradient of a kernel with stride 2: 13 positions, every second of which is not zero.
// CHECK-LABEL: func.func @dilated_kernel_gradient
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.all_reduce {{.*}} sum <@m, {"x"}> {{.*}} : tensor<3x2x5xi32>
// CHECK: return
func.func @dilated_kernel_gradient(%x: tensor<15x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-99, 99]},
                                   %g: tensor<7x5xi32> {spmd.range = [-99, 99]}) -> (tensor<3x2x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %c = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<13x5xi32>
  %d = tensor.insert_slice %g into %z[0, 0] [7, 5] [2, 1] : tensor<7x5xi32> into tensor<13x5xi32>
  %w = spmd.with_sharding_constraint %d <@m, [{"x"}, {}]> : tensor<13x5xi32>
  %e = tensor.empty() : tensor<3x2x5xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<3x2x5xi32>) -> tensor<3x2x5xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3 + d0, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<15x2xi32>, tensor<13x5xi32>) outs(%f : tensor<3x2x5xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %m = arith.muli %a, %b : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<3x2x5xi32>
  return %r : tensor<3x2x5xi32>
}

// The largest of an image whose rows the axis does not divide.
// CHECK-LABEL: func.func @uneven_global_pooling
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.all_reduce {{.*}} max
// CHECK: return
func.func @uneven_global_pooling(%x: tensor<2x15x6x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}, {}]>}) -> tensor<2x1x1x3xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x1x1x3xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<2x1x1x3xf32>) -> tensor<2x1x1x3xf32>
  %k = tensor.empty() : tensor<15x6xf32>
  %r = linalg.pooling_nhwc_max ins(%x, %k : tensor<2x15x6x3xf32>, tensor<15x6xf32>) outs(%f : tensor<2x1x1x3xf32>) -> tensor<2x1x1x3xf32>
  return %r : tensor<2x1x1x3xf32>
}

// The gradient of an image under a convolution with stride 2: rows of the source move, not the zeros between them.
// CHECK-LABEL: func.func @dilated
// CHECK: spmd.halo_exchange %arg0 {{.*}} dims = [1] steps = [4] offsets = [-1] {{.*}} : tensor<1x4x5x2xi32> -> tensor<1x6x5x2xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: tensor.insert_slice {{.*}}[0, 0, 1, 0] [1, 6, 5, 2] [1, 2, 2, 1] : tensor<1x6x5x2xi32> into tensor<1x11x12x2xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @dilated(%g: tensor<1x16x5x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}, {}]>, spmd.range = [-9, 9]},
                   %k: tensor<4x3x2x3xi32> {spmd.range = [-9, 9]}) -> tensor<1x32x10x3xi32> {
  %c = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<1x35x12x2xi32>
  %p = tensor.insert_slice %g into %z[0, 2, 1, 0] [1, 16, 5, 2] [1, 2, 2, 1] : tensor<1x16x5x2xi32> into tensor<1x35x12x2xi32>
  %e = tensor.empty() : tensor<1x32x10x3xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<1x32x10x3xi32>) -> tensor<1x32x10x3xi32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %k : tensor<1x35x12x2xi32>, tensor<4x3x2x3xi32>) outs(%f : tensor<1x32x10x3xi32>) -> tensor<1x32x10x3xi32>
  return %r : tensor<1x32x10x3xi32>
}

// Two dims, uneven, with strides that divide the rows of a device and not the columns of one; a padding in between.
// CHECK-LABEL: func.func @dilated_and_padded
// CHECK-NOT: spmd.all_gather
// CHECK: return
func.func @dilated_and_padded(%g: tensor<7x9xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}) -> (tensor<21x24xi32>, tensor<21x24xi32>) {
  %c = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %e0 = tensor.empty() : tensor<21x28xi32>
  %z = linalg.fill ins(%c : i32) outs(%e0 : tensor<21x28xi32>) -> tensor<21x28xi32>
  %p = tensor.insert_slice %g into %z[1, 0] [7, 9] [3, 3] : tensor<7x9xi32> into tensor<21x28xi32>
  %q = tensor.pad %p low[1, 0] high[2, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %c5 : i32
  } : tensor<21x28xi32> to tensor<24x28xi32>
  %k = tensor.empty() : tensor<4x5xi32>
  %e = tensor.empty() : tensor<21x24xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<21x24xi32>) -> tensor<21x24xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%q, %k : tensor<24x28xi32>, tensor<4x5xi32>) outs(%f : tensor<21x24xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ij = arith.addi %i, %j : index
    %w = arith.index_cast %ij : index to i32
    %m = arith.muli %a, %w : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<21x24xi32>
  %s = tensor.extract_slice %p[0, 2] [21, 24] [1, 1] : tensor<21x28xi32> to tensor<21x24xi32>
  return %r, %s : tensor<21x24xi32>, tensor<21x24xi32>
}

// The same where the strides divide the chunks of both dims: the padding is inserted too.
// CHECK-LABEL: func.func @dilated_twice
// CHECK: spmd.halo_exchange %arg0
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: tensor.insert_slice {{.*}} into tensor<15x12xi32>
// CHECK: return
func.func @dilated_twice(%g: tensor<7x9xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<24x24xi32> {
  %c = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<24x28xi32>
  %p = tensor.insert_slice %g into %z[1, 3] [7, 9] [3, 2] : tensor<7x9xi32> into tensor<24x28xi32>
  %q = tensor.pad %p low[1, 0] high[2, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %c : i32
  } : tensor<24x28xi32> to tensor<27x28xi32>
  %k = tensor.empty() : tensor<4x5xi32>
  %e = tensor.empty() : tensor<24x24xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<24x24xi32>) -> tensor<24x24xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%q, %k : tensor<27x28xi32>, tensor<4x5xi32>) outs(%f : tensor<24x24xi32>) {
  ^bb0(%a: i32, %b: i32, %acc: i32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %c7 = arith.constant 7 : index
    %i7 = arith.muli %i, %c7 : index
    %ij = arith.addi %i7, %j : index
    %w = arith.index_cast %ij : index to i32
    %m = arith.muli %a, %w : i32
    %s = arith.addi %acc, %m : i32
    linalg.yield %s : i32
  } -> tensor<24x24xi32>
  return %r : tensor<24x24xi32>
}
