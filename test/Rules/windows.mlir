// Convolutions and pooling: batch, features, groups and input channels are sharded,
// windows stay unsharded. Exact on small integers.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @s = <["x"=4, "y"=2]>

// Batch and output features: no data moves.
// CHECK-LABEL: func.func @conv_batch_features
// CHECK-NOT: spmd.all
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x7x9x5xi32>, tensor<3x2x5x2xi32>) outs(%{{.*}} : tensor<2x3x4x2xi32>)
// CHECK-NOT: spmd.all
func.func @conv_batch_features(%a: tensor<4x7x9x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>, spmd.range = [-9, 9]},
                               %w: tensor<3x2x5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<4x3x4x6xi32> {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x3x4x6xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<4x3x4x6xi32>) -> tensor<4x3x4x6xi32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%a, %w : tensor<4x7x9x5xi32>, tensor<3x2x5x6xi32>) outs(%f : tensor<4x3x4x6xi32>) -> tensor<4x3x4x6xi32>
  return %r : tensor<4x3x4x6xi32>
}

// Input channels: a partial sum, and an init that is added once.
// CHECK-LABEL: func.func @conv_channels
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x5x5x2xi32>, tensor<2x2x2x5xi32>)
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
func.func @conv_channels(%a: tensor<4x5x5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>, spmd.range = [-9, 9]},
                         %w: tensor<2x2x6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}, {}]>, spmd.range = [-9, 9]},
                         %i: tensor<4x4x4x5xi32> {spmd.range = [-9, 9]}) -> (tensor<4x4x4x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {}]>}) {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<4x5x5x6xi32>, tensor<2x2x6x5xi32>) outs(%i : tensor<4x4x4x5xi32>) -> tensor<4x4x4x5xi32>
  return %r : tensor<4x4x4x5xi32>
}

// A sharded spatial dim is read in windows: 4 rows over 3 devices, 2 each.
// CHECK-LABEL: func.func @conv_spatial
// CHECK: spmd.halo_exchange {{.*}} dims = [2] steps = [2] offsets = [0] {{.*}} : tensor<2x3x2x6xi32> -> tensor<2x3x4x6xi32>
// CHECK: linalg.conv_2d_nchw_fchw {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3x4x6xi32>
func.func @conv_spatial(%a: tensor<2x3x6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}, {}]>, spmd.range = [-9, 9]},
                        %w: tensor<4x3x3x3xi32> {spmd.range = [-9, 9]}) -> tensor<2x4x4x4xi32> {
  %e = arith.constant dense<0> : tensor<2x4x4x4xi32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<2x3x6x6xi32>, tensor<4x3x3x3xi32>) outs(%e : tensor<2x4x4x4xi32>) -> tensor<2x4x4x4xi32>
  return %r : tensor<2x4x4x4xi32>
}

// Channels and multipliers of a depthwise convolution, on sub-axes.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: spmd.all_gather
// CHECK: linalg.depthwise_conv_2d_nhwc_hwcm {{.*}} : tensor<3x5x5x2xi32>, tensor<2x2x2x2xi32>
func.func @depthwise(%a: tensor<3x5x5x4xi32> {spmd.sharding = #spmd.sharding<@s, [{}, {}, {}, {"x":(2)2}]>, spmd.range = [-9, 9]},
                     %w: tensor<2x2x4x4xi32> {spmd.sharding = #spmd.sharding<@s, [{}, {}, {"x":(2)2}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<3x4x4x4x4xi32> {
  %e = arith.constant dense<0> : tensor<3x4x4x4x4xi32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<3x5x5x4xi32>, tensor<2x2x4x4xi32>) outs(%e : tensor<3x4x4x4x4xi32>) -> tensor<3x4x4x4x4xi32>
  return %r : tensor<3x4x4x4x4xi32>
}

// CHECK-LABEL: func.func @grouped
// CHECK-NOT: spmd.all_gather
// CHECK: linalg.conv_2d_ngchw_fgchw {{.*}} : tensor<2x1x2x5x5xi32>, tensor<2x1x2x2x2xi32>
func.func @grouped(%a: tensor<2x3x2x5x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}, {}, {}, {}]>, spmd.range = [-9, 9]},
                   %w: tensor<4x3x2x2x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}, {}, {}]>, spmd.range = [-9, 9]}) -> tensor<2x3x4x4x4xi32> {
  %e = arith.constant dense<0> : tensor<2x3x4x4x4xi32>
  %r = linalg.conv_2d_ngchw_fgchw {strides = dense<1> : tensor<2xi64>} ins(%a, %w : tensor<2x3x2x5x5xi32>, tensor<4x3x2x2x2xi32>) outs(%e : tensor<2x3x4x4x4xi32>) -> tensor<2x3x4x4x4xi32>
  return %r : tensor<2x3x4x4x4xi32>
}

// The kinds of reduction of pooling are in the bodies; their loops are windows.
// CHECK-LABEL: func.func @pool_max
// CHECK-NOT: spmd.all
// CHECK: linalg.pooling_nhwc_max {{.*}} : tensor<2x6x8x2xi32>
func.func @pool_max(%a: tensor<4x6x8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {"y"}]>, spmd.range = [-999, 999]}) -> tensor<4x3x4x6xi32> {
  %k = tensor.empty() : tensor<2x2xi32>
  %e = arith.constant dense<-2147483648> : tensor<4x3x4x6xi32>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%a, %k : tensor<4x6x8x6xi32>, tensor<2x2xi32>) outs(%e : tensor<4x3x4x6xi32>) -> tensor<4x3x4x6xi32>
  return %r : tensor<4x3x4x6xi32>
}

func.func @pool_min(%a: tensor<4x6x8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}, {"y"}]>, spmd.range = [-999, 999]}) -> tensor<4x3x4x6xi32> {
  %k = tensor.empty() : tensor<2x2xi32>
  %e = arith.constant dense<2147483647> : tensor<4x3x4x6xi32>
  %r = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>} ins(%a, %k : tensor<4x6x8x6xi32>, tensor<2x2xi32>) outs(%e : tensor<4x3x4x6xi32>) -> tensor<4x3x4x6xi32>
  return %r : tensor<4x3x4x6xi32>
}

// The tensor of the window is a sharded argument: gathered. The init is added once
// although channels are sharded.
func.func @pool_sum(%a: tensor<4x6x7x8xi32> {spmd.sharding = #spmd.sharding<@s, [{"y"}, {}, {}, {"x"}]>, spmd.range = [-99, 99]},
                    %k: tensor<2x2xi32> {spmd.sharding = #spmd.sharding<@s, [{"y"}, {}]>, spmd.range = [0, 3]},
                    %i: tensor<4x3x3x8xi32> {spmd.range = [-99, 99]}) -> (tensor<4x3x3x8xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(1)2}, {}, {}, {"y", "x":(2)2}]>}) {
  %r = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>} ins(%a, %k : tensor<4x6x7x8xi32>, tensor<2x2xi32>) outs(%i : tensor<4x3x3x8xi32>) -> tensor<4x3x3x8xi32>
  return %r : tensor<4x3x3x8xi32>
}

func.func @conv_1d(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-9, 9]},
                   %w: tensor<3xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [-9, 9]}) -> tensor<10xi32> {
  %0 = tensor.extract_slice %a[3, 0] [1, 12] [1, 1] : tensor<6x12xi32> to tensor<12xi32>
  %e = arith.constant dense<0> : tensor<10xi32>
  %r = linalg.conv_1d ins(%0, %w : tensor<12xi32>, tensor<3xi32>) outs(%e : tensor<10xi32>) -> tensor<10xi32>
  return %r : tensor<10xi32>
}

// The stack of two sharded values, as front ends write it: a body with branches, which reads each at the loops of the other
// dims. No data moves. So is a concatenation with a part that is shifted along an unsharded dim, also of uneven shards.
// CHECK-LABEL: func.func @stack
// CHECK-NOT: spmd.{{all|halo|exchange}}
// CHECK: return
func.func @stack(%a: tensor<7x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]},
                 %b: tensor<7x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]})
    -> (tensor<2x7x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>}, tensor<5x7x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>}) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<2x7x6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<2x7x6xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %first = arith.cmpi ult, %i, %c1 : index
    %x = scf.if %first -> i32 {
      %l = tensor.extract %a[%j, %k] : tensor<7x6xi32>
      scf.yield %l : i32
    } else {
      %l = tensor.extract %b[%j, %k] : tensor<7x6xi32>
      scf.yield %l : i32
    }
    linalg.yield %x : i32
  } -> tensor<2x7x6xi32>
  %f = tensor.empty() : tensor<5x7x6xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%f : tensor<5x7x6xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %zero = arith.constant 0 : index
    %same = arith.addi %j, %zero : index
    %first = arith.cmpi ult, %i, %c1 : index
    %x = scf.if %first -> i32 {
      %l = tensor.extract %r[%i, %same, %k] : tensor<2x7x6xi32>
      scf.yield %l : i32
    } else {
      %l = tensor.extract %r[%c1, %j, %k] : tensor<2x7x6xi32>
      scf.yield %l : i32
    }
    linalg.yield %x : i32
  } -> tensor<5x7x6xi32>
  return %r, %s : tensor<2x7x6xi32>, tensor<5x7x6xi32>
}
