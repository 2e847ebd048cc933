// tosa ops that read sharded dims in windows: only halos move, and the results are those of
// the unpartitioned program.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones

spmd.mesh @m = <["x"=4]>
spmd.mesh @g = <["x"=2, "y"=3]>

// The padding of the op is in the window: zero here.
// CHECK-LABEL: func.func @conv2d
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [4] offsets = [-1] {{.*}} -> tensor<2x6x6x3xi8>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: tosa.conv2d {{.*}} pad = array<i64: 0, 0, 1, 1>{{.*}} : (tensor<2x6x6x3xi8>, {{.*}} -> tensor<2x4x6x5xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @conv2d(%a: tensor<2x16x6x3xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-9, 9]},
                  %w: tensor<5x3x3x3xi8> {spmd.range = [-9, 9]}, %b: tensor<5xi32> {spmd.range = [-9, 9]}) -> tensor<2x16x6x5xi32> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %a, %w, %b, %z, %z {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x16x6x3xi8>, tensor<5x3x3x3xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x16x6x5xi32>
  return %r : tensor<2x16x6x5xi32>
}

// Quantized: elements beyond the image are the zero point. Two dims, stride and
// dilation, uneven: 13 rows over 2, 8 columns over 3.
// CHECK-LABEL: func.func @conv2d_quantized
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1, 2]
// CHECK: arith.select
// CHECK: tosa.conv2d {{.*}} pad = array<i64: 0, 0, 0, 0>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @conv2d_quantized(%a: tensor<1x27x10x2xi8> {spmd.sharding = #spmd.sharding<@g, [{?}, {"x"}, {"y"}, {?}]>, spmd.range = [-9, 9]},
                            %w: tensor<3x3x2x2xi8> {spmd.range = [-9, 9]}, %b: tensor<3xi32> {spmd.range = [-9, 9]}) -> tensor<1x13x8x3xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %a, %w, %b, %za, %zw {acc_type = i32, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, 1>, dilation = array<i64: 2, 3>} : (tensor<1x27x10x2xi8>, tensor<3x3x2x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x13x8x3xi32>
  return %r : tensor<1x13x8x3xi32>
}

// CHECK-LABEL: func.func @conv3d
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1]
// CHECK: tosa.conv3d {{.*}} pad = array<i64: 0, 0, 1, 1, 0, 0>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @conv3d(%a: tensor<1x13x4x3x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}, {?}]>, spmd.range = [-9, 9]},
                  %w: tensor<3x3x3x1x2xi8> {spmd.range = [-9, 9]}, %b: tensor<3xi32> {spmd.range = [-9, 9]}) -> tensor<1x13x4x3x3xi32> {
  %za = "tosa.const"() {values = dense<-2> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv3d %a, %w, %b, %za, %zw {acc_type = i32, pad = array<i64: 1, 1, 1, 1, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>} : (tensor<1x13x4x3x2xi8>, tensor<3x3x3x1x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x13x4x3x3xi32>
  return %r : tensor<1x13x4x3x3xi32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [2]
// CHECK: tosa.depthwise_conv2d
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @depthwise(%a: tensor<2x5x15x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}, {"x"}, {?}]>, spmd.range = [-9, 9]},
                     %w: tensor<2x4x2x3xi8> {spmd.range = [-9, 9]}, %b: tensor<6xi32> {spmd.range = [-9, 9]}) -> tensor<2x4x14x6xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.depthwise_conv2d %a, %w, %b, %za, %zw {acc_type = i32, pad = array<i64: 0, 0, 0, 2>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x5x15x2xi8>, tensor<2x4x2x3xi8>, tensor<6xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x14x6xi32>
  return %r : tensor<2x4x14x6xi32>
}

// A shard of the result has a multiple of the stride, and its op a crop to the first
// index of the shard.
// CHECK-LABEL: func.func @transposed
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [2]
// CHECK: tosa.transpose_conv2d {{.*}} -> tensor<1x4x9x3xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @transposed(%a: tensor<1x8x5x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-9, 9]},
                      %w: tensor<3x3x1x2xi8> {spmd.range = [-9, 9]}, %b: tensor<3xi32> {spmd.range = [-9, 9]}) -> tensor<1x16x9x3xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.transpose_conv2d %a, %w, %b, %za, %zw {acc_type = i32, out_pad = array<i64: -1, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x8x5x2xi8>, tensor<3x3x1x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x16x9x3xi32>
  return %r : tensor<1x16x9x3xi32>
}

// Uneven, a kernel shorter than the stride, the result padded before; and stride 1. A shard of dim 1 reads itself alone.
// CHECK-LABEL: func.func @transposed_uneven
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [2]
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @transposed_uneven(%a: tensor<1x11x7x2xi8> {spmd.sharding = #spmd.sharding<@g, [{?}, {"x"}, {"y"}, {?}]>, spmd.range = [-9, 9]},
                             %w: tensor<3x2x3x2xi8> {spmd.range = [-9, 9]}, %b: tensor<3xi32> {spmd.range = [-9, 9]}) -> tensor<1x35x8x3xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.transpose_conv2d %a, %w, %b, %za, %zw {acc_type = i32, out_pad = array<i64: 1, 2, -1, 0>, stride = array<i64: 3, 1>} : (tensor<1x11x7x2xi8>, tensor<3x2x3x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x35x8x3xi32>
  return %r : tensor<1x35x8x3xi32>
}

// Lanes beyond the image have the lowest value.
// CHECK-LABEL: func.func @max_pool
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1]
// CHECK: arith.select
// CHECK: tosa.max_pool2d {{.*}} pad = array<i64: 0, 0, 1, 0>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @max_pool(%a: tensor<1x26x7x2xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>}) -> tensor<1x13x4x2xf32> {
  %r = tosa.max_pool2d %a {kernel = array<i64: 3, 2>, stride = array<i64: 2, 2>, pad = array<i64: 1, 0, 1, 0>} : (tensor<1x26x7x2xf32>) -> tensor<1x13x4x2xf32>
  return %r : tensor<1x13x4x2xf32>
}

// An average without padding is an average of the elements in the window ...
// CHECK-LABEL: func.func @avg_pool
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1]
// CHECK: tosa.avg_pool2d
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @avg_pool(%a: tensor<1x16x7x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-99, 99]}) -> tensor<1x14x6x2xi8> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32} : (tensor<1x16x7x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x14x6x2xi8>
  return %r : tensor<1x14x6x2xi8>
}

// ... with padding it counts them, depending on the index.
// CHECK-LABEL: func.func @avg_pool_padded
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [1]
// CHECK: linalg.pooling_nhwc_sum
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @avg_pool_padded(%a: tensor<1x16x7x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-99, 99]}) -> tensor<1x16x7x2xi8> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.avg_pool2d %a, %z, %z {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, acc_type = i32} : (tensor<1x16x7x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x16x7x2xi8>
  return %r : tensor<1x16x7x2xi8>
}

// Padded by something else than the zero point, then convolved with padding: one
// exchange, both paddings.
// CHECK-LABEL: func.func @padded_conv
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK-COUNT-1: spmd.halo_exchange
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @padded_conv(%a: tensor<1x14x5x2xi8> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}, {?}, {?}]>, spmd.range = [-9, 9]},
                       %w: tensor<3x3x1x2xi8> {spmd.range = [-9, 9]}, %b: tensor<3xi32> {spmd.range = [-9, 9]}) -> tensor<1x17x5x3xi32> {
  %za = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %p = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %v = "tosa.const"() {values = dense<7> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.pad %a, %p, %v : (tensor<1x14x5x2xi8>, !tosa.shape<8>, tensor<1xi8>) -> tensor<1x17x5x2xi8>
  %r = tosa.conv2d %0, %w, %b, %za, %za {acc_type = i32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x17x5x2xi8>, tensor<3x3x1x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x17x5x3xi32>
  return %r : tensor<1x17x5x3xi32>
}

// The value of the padding is an argument.
// CHECK-LABEL: func.func @pad
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: spmd.halo_exchange {{.*}} dims = [0] steps = [4] offsets = [-3]
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @pad(%a: tensor<13x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
               %v: tensor<1xi32> {spmd.range = [100, 200]}) -> tensor<16x6xi32> {
  %p = tosa.const_shape {values = dense<[3, 0, 1, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %r = tosa.pad %a, %p, %v : (tensor<13x5xi32>, !tosa.shape<4>, tensor<1xi32>) -> tensor<16x6xi32>
  return %r : tensor<16x6xi32>
}

// Unequal slices along a sharded dim; equal ones are its digits.
// CHECK-LABEL: func.func @concat
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK-COUNT-3: spmd.halo_exchange
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @concat(%a: tensor<9x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                  %b: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> (tensor<24x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}) {
  %r = tosa.concat %a, %b, %a {axis = 0 : i32} : (tensor<9x4xi32>, tensor<6x4xi32>, tensor<9x4xi32>) -> tensor<24x4xi32>
  return %r : tensor<24x4xi32>
}

// CHECK-LABEL: func.func @concat_equal
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: tosa.concat {{.*}} -> tensor<4x4xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @concat_equal(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                        %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> (tensor<16x4xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}, {?}]>}) {
  %r = tosa.concat %a, %b {axis = 0 : i32} : (tensor<8x4xi32>, tensor<8x4xi32>) -> tensor<16x4xi32>
  return %r : tensor<16x4xi32>
}
