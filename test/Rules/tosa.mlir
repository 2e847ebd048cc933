// tosa: the local program of each op, and its results compared with those of the unpartitioned program.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @s = <["x"=4, "y"=2]>

// Dims of size 1 are broadcast, the shift is one number.
// CHECK-LABEL: func.func @elementwise
// CHECK-NOT: spmd.all
// CHECK: tosa.add %{{.*}}, %{{.*}} : (tensor<2x2x5xi32>, tensor<1x2x1xi32>) -> tensor<2x2x5xi32>
// CHECK: tosa.mul %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x2x5xi32>, tensor<2x1x5xi32>, tensor<1xi8>) -> tensor<2x2x5xi32>
// CHECK: tosa.clamp {{.*}} tensor<2x2x5xi32>
// CHECK: tosa.greater {{.*}} tensor<2x2x5xi1>
// CHECK: tosa.select {{.*}} tensor<2x2x5xi32>
// CHECK: tosa.cast {{.*}} tensor<2x2x5xi8>
func.func @elementwise(%a: tensor<4x6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>, spmd.range = [-99, 99]},
                       %b: tensor<1x6x1xi32> {spmd.range = [-99, 99]}, %c: tensor<4x1x5xi32> {spmd.range = [-99, 99]}) -> tensor<4x6x5xi8> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.add %a, %b : (tensor<4x6x5xi32>, tensor<1x6x1xi32>) -> tensor<4x6x5xi32>
  %1 = tosa.mul %0, %c, %shift : (tensor<4x6x5xi32>, tensor<4x1x5xi32>, tensor<1xi8>) -> tensor<4x6x5xi32>
  %2 = tosa.clamp %1 {min_val = -5000 : i32, max_val = 5000 : i32} : (tensor<4x6x5xi32>) -> tensor<4x6x5xi32>
  %3 = tosa.greater %2, %c : (tensor<4x6x5xi32>, tensor<4x1x5xi32>) -> tensor<4x6x5xi1>
  %4 = tosa.select %3, %2, %b : (tensor<4x6x5xi1>, tensor<4x6x5xi32>, tensor<1x6x1xi32>) -> tensor<4x6x5xi32>
  %5 = tosa.cast %4 : (tensor<4x6x5xi32>) -> tensor<4x6x5xi8>
  return %5 : tensor<4x6x5xi8>
}

// A splat is rematerialized, other constants are sliced.
// CHECK-LABEL: func.func @constants
// CHECK: "tosa.const"() <{values = dense<7> : tensor<2x6xi32>}>
// CHECK: "tosa.const"() <{values = dense<[
// CHECK: spmd.all_slice
func.func @constants(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-99, 99]}) -> tensor<4x6xi32> {
  %0 = "tosa.const"() {values = dense<7> : tensor<4x6xi32>} : () -> tensor<4x6xi32>
  %1 = "tosa.const"() {values = dense<[[1], [3], [5], [-7]]> : tensor<4x1xi32>} : () -> tensor<4x1xi32>
  %2 = tosa.sub %a, %0 : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  %3 = tosa.add %2, %1 : (tensor<4x6xi32>, tensor<4x1xi32>) -> tensor<4x6xi32>
  return %3 : tensor<4x6xi32>
}

// Batch, rows, columns.
// CHECK-LABEL: func.func @matmul_free
// CHECK-NOT: spmd.all
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x6xi8>, tensor<1x6x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3xi32>
func.func @matmul_free(%a: tensor<2x4x6xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-9, 9]},
                       %b: tensor<2x6x9xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-9, 9]}) -> tensor<2x4x9xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<-2> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.matmul %a, %b, %za, %zb : (tensor<2x4x6xi8>, tensor<2x6x9xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x9xi32>
  return %r : tensor<2x4x9xi32>
}

// The reduction is sharded; zero points are those of each element.
// CHECK-LABEL: func.func @matmul_sum
// CHECK: tosa.matmul {{.*}} : (tensor<2x4x2xi8>, tensor<2x2x9xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x9xi32>
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
func.func @matmul_sum(%a: tensor<2x4x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>, spmd.range = [-9, 9]},
                      %b: tensor<2x6x9xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}, {}]>, spmd.range = [-9, 9]}) -> (tensor<2x4x9xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<-2> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.matmul %a, %b, %za, %zb : (tensor<2x4x6xi8>, tensor<2x6x9xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x9xi32>
  return %r : tensor<2x4x9xi32>
}

// CHECK-LABEL: func.func @conv_free
// CHECK-NOT: spmd.all
// CHECK: tosa.conv2d {{.*}} : (tensor<2x5x6x3xi8>, tensor<2x3x3x3xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5x4x2xi32>
func.func @conv_free(%a: tensor<4x5x6x3xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>, spmd.range = [-9, 9]},
                     %w: tensor<6x3x3x3xi8> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}, {}, {}]>, spmd.range = [-9, 9]},
                     %b: tensor<6xi32> {spmd.range = [-9, 9]}) -> tensor<4x5x4x6xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %a, %w, %b, %za, %zb {acc_type = i32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<4x5x6x3xi8>, tensor<6x3x3x3xi8>, tensor<6xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<4x5x4x6xi32>
  return %r : tensor<4x5x4x6xi32>
}

// Input channels are reduced: the bias is added once, padding adds zero.
// CHECK-LABEL: func.func @conv_sum
// CHECK: tosa.conv2d {{.*}} : (tensor<2x5x6x2xi8>, tensor<5x3x3x2xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5x4x5xi32>
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
func.func @conv_sum(%a: tensor<2x5x6x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>, spmd.range = [-9, 9]},
                    %w: tensor<5x3x3x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>, spmd.range = [-9, 9]},
                    %b: tensor<5xi32> {spmd.range = [-9, 9]}) -> (tensor<2x5x4x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {}]>}) {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %a, %w, %b, %za, %zb {acc_type = i32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x5x6x6xi8>, tensor<5x3x3x6xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5x4x5xi32>
  return %r : tensor<2x5x4x5xi32>
}

// One bias for all channels.
// CHECK-LABEL: func.func @conv_one_bias
// CHECK: tosa.conv2d {{.*}} : (tensor<2x4x4x2xi8>, tensor<3x1x1x2xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x4x3xi32>
func.func @conv_one_bias(%a: tensor<2x4x4x8xi8> {spmd.sharding = #spmd.sharding<@s, [{}, {}, {}, {"x"}]>, spmd.range = [-9, 9]},
                         %w: tensor<6x1x1x8xi8> {spmd.sharding = #spmd.sharding<@s, [{"y"}, {}, {}, {"x"}]>, spmd.range = [-9, 9]},
                         %b: tensor<1xi32> {spmd.range = [-9, 9]}) -> tensor<2x4x4x6xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.conv2d %a, %w, %b, %za, %zb {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x4x4x8xi8>, tensor<6x1x1x8xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x4x6xi32>
  return %r : tensor<2x4x4x6xi32>
}

// Output channels are channels times multipliers.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: spmd.all_gather
// CHECK: tosa.depthwise_conv2d {{.*}} : (tensor<2x5x6x2xi8>, tensor<2x3x2x1xi8>, tensor<2xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x4x2xi32>
func.func @depthwise(%a: tensor<2x5x6x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>, spmd.range = [-9, 9]},
                     %w: tensor<2x3x6x2xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}, {"x"}]>, spmd.range = [-9, 9]},
                     %b: tensor<12xi32> {spmd.range = [-9, 9]}) -> tensor<2x4x4x12xi32> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.depthwise_conv2d %a, %w, %b, %za, %zb {acc_type = i32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x5x6x6xi8>, tensor<2x3x6x2xi8>, tensor<12xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x4x12xi32>
  return %r : tensor<2x4x4x12xi32>
}

// A sharded spatial dim is read in windows, channels stay sharded.
// CHECK-LABEL: func.func @pools
// CHECK: spmd.all_gather %{{.*}} <@m, [{}, {"x"}, {}, {}]>
// CHECK: tosa.max_pool2d {{.*}} : (tensor<2x6x8x2xi8>) -> tensor<2x3x4x2xi8>
// CHECK: tosa.avg_pool2d {{.*}} : (tensor<2x3x4x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x2x3x2xi8>
func.func @pools(%a: tensor<2x6x8x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}, {"y"}]>, spmd.range = [-99, 99]}) -> (tensor<2x2x3x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"y"}]>}) {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<2x6x8x6xi8>) -> tensor<2x3x4x6xi8>
  %1 = tosa.avg_pool2d %0, %z, %z {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32} : (tensor<2x3x4x6xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x2x3x6xi8>
  return %1 : tensor<2x2x3x6xi8>
}

// Each reduction by its own kind.
// CHECK-LABEL: func.func @reductions
// CHECK-DAG: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} max <@m, {"y"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} min <@m, {"x"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} prod <@m, {"y"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} and <@m, {"y"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} or <@m, {"x"}>
func.func @reductions(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]})
    -> (tensor<4x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, tensor<4x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
        tensor<1x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}, tensor<4x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
        tensor<4x1xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, tensor<1x6xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %five = "tosa.const"() {values = dense<5> : tensor<4x6xi32>} : () -> tensor<4x6xi32>
  %0 = tosa.reduce_sum %a {axis = 1 : i32} : (tensor<4x6xi32>) -> tensor<4x1xi32>
  %1 = tosa.reduce_max %a {axis = 1 : i32} : (tensor<4x6xi32>) -> tensor<4x1xi32>
  %2 = tosa.reduce_min %a {axis = 0 : i32} : (tensor<4x6xi32>) -> tensor<1x6xi32>
  %3 = tosa.reduce_product %a {axis = 1 : i32} : (tensor<4x6xi32>) -> tensor<4x1xi32>
  %less = tosa.greater %five, %a : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
  %4 = tosa.reduce_all %less {axis = 1 : i32} : (tensor<4x6xi1>) -> tensor<4x1xi1>
  %5 = tosa.reduce_any %less {axis = 0 : i32} : (tensor<4x6xi1>) -> tensor<1x6xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<4x1xi32>, tensor<4x1xi32>, tensor<1x6xi32>, tensor<4x1xi32>, tensor<4x1xi1>, tensor<1x6xi1>
}

// NaN is dropped or propagated.
// CHECK-LABEL: func.func @reduce_nan
// CHECK-DAG: spmd.all_reduce %{{.*}} maxnum <@m, {"y"}>
// CHECK-DAG: spmd.all_reduce %{{.*}} min <@m, {"y"}>
func.func @reduce_nan(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>})
    -> (tensor<4x1xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, tensor<4x1xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = tosa.reduce_max %a {axis = 1 : i32, nan_mode = IGNORE} : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %1 = tosa.reduce_min %a {axis = 1 : i32} : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xf32>
}

// Constant shapes are local: here the joined dims stay sharded by both axes.
// CHECK-LABEL: func.func @reshape
// CHECK: tosa.const_shape {values = dense<[1, 10]>
// CHECK: tosa.reshape {{.*}} : (tensor<1x2x5xi32>, !tosa.shape<2>) -> tensor<1x10xi32>
func.func @reshape(%a: tensor<6x2x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}, {}]>, spmd.range = [-99, 99]}) -> tensor<6x10xi32> {
  %s = tosa.const_shape {values = dense<[6, 10]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %a, %s : (tensor<6x2x5xi32>, !tosa.shape<2>) -> tensor<6x10xi32>
  return %r : tensor<6x10xi32>
}

// 4x6 to 12x2 is [a][b c] to [a b][c].
// CHECK-LABEL: func.func @reshape_both
// CHECK: tosa.reshape {{.*}} : (tensor<2x2xi32>, !tosa.shape<2>) -> tensor<2x2xi32>
func.func @reshape_both(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<12x2xi32> {
  %s = tosa.const_shape {values = dense<[12, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %a, %s : (tensor<4x6xi32>, !tosa.shape<2>) -> tensor<12x2xi32>
  return %r : tensor<12x2xi32>
}

// Unchanged dims stay sharded.
// CHECK-LABEL: func.func @slice_pad_tile
// CHECK: tosa.slice {{.*}} : (tensor<3x9xi32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<3x4xi32>
// CHECK: tosa.pad {{.*}} : (tensor<3x4xi32>, !tosa.shape<4>, tensor<1xi32>) -> tensor<3x7xi32>
// CHECK: tosa.tile {{.*}} : (tensor<3x7xi32>, !tosa.shape<2>) -> tensor<3x14xi32>
func.func @slice_pad_tile(%a: tensor<6x9xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<6x14xi32> {
  %start = tosa.const_shape {values = dense<[0, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[6, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.slice %a, %start, %size : (tensor<6x9xi32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<6x4xi32>
  %padding = tosa.const_shape {values = dense<[0, 0, 1, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %value = "tosa.const"() {values = dense<77> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = tosa.pad %0, %padding, %value : (tensor<6x4xi32>, !tosa.shape<4>, tensor<1xi32>) -> tensor<6x7xi32>
  %times = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.tile %1, %times : (tensor<6x7xi32>, !tosa.shape<2>) -> tensor<6x14xi32>
  return %2 : tensor<6x14xi32>
}

// Joined and reversed dims are read in windows, the dim of argmax is unsharded.
// CHECK-LABEL: func.func @ordered
// CHECK-DAG: spmd.halo_exchange %{{.*}} steps = [3] offsets = [0] {{.*}} -> tensor<3x3xi32>
// CHECK-DAG: spmd.halo_exchange %{{.*}} steps = [3] offsets = [-6] {{.*}} -> tensor<3x3xi32>
// CHECK: arith.select
// CHECK: tosa.reverse %{{.*}} {axis = 1 : i32} : (tensor<3x3xi32>) -> tensor<3x3xi32>
// CHECK: tosa.transpose %{{.*}} {perms = array<i32: 1, 0>} : (tensor<3x3xi32>) -> tensor<3x3xi32>
// CHECK: spmd.all_gather
// CHECK: tosa.argmax %{{.*}} {axis = 0 : i32} : (tensor<9x3xi32>) -> tensor<3xi32>
func.func @ordered(%a: tensor<6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]},
                   %b: tensor<6x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<9x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %0 = tosa.concat %a, %b {axis = 1 : i32} : (tensor<6x6xi32>, tensor<6x3xi32>) -> tensor<6x9xi32>
  %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<6x9xi32>) -> tensor<6x9xi32>
  %2 = tosa.transpose %1 {perms = array<i32: 1, 0>} : (tensor<6x9xi32>) -> tensor<9x6xi32>
  %3 = tosa.argmax %2 {axis = 0 : i32} : (tensor<9x6xi32>) -> tensor<6xi32>
  return %2, %3 : tensor<9x6xi32>, tensor<6xi32>
}

// Full rows are gathered; batch, indices and columns are parallel.
// CHECK-LABEL: func.func @gather
// CHECK-NOT: spmd.all
// CHECK: tosa.gather {{.*}} : (tensor<1x5x2xi32>, tensor<1x4xi32>) -> tensor<1x4x2xi32>
func.func @gather(%a: tensor<2x5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-99, 99]},
                  %i: tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 5]}) -> tensor<2x4x6xi32> {
  %r = tosa.gather %a, %i : (tensor<2x5x6xi32>, tensor<2x4xi32>) -> tensor<2x4x6xi32>
  return %r : tensor<2x4x6xi32>
}

// Sharded addressed rows: each device looks up its rows, then a sum.
// CHECK-LABEL: func.func @gather_sharded_rows
// CHECK-NOT: spmd.all_gather
// CHECK: tensor.extract %{{.*}} : tensor<1x20x6xi32>
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
// CHECK: return
func.func @gather_sharded_rows(%a: tensor<2x60x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>, spmd.range = [-99, 99]},
                      %i: tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 60]}) -> tensor<2x4x6xi32> {
  %r = tosa.gather %a, %i : (tensor<2x60x6xi32>, tensor<2x4xi32>) -> tensor<2x4x6xi32>
  return %r : tensor<2x4x6xi32>
}

// Rows that are written: batch, channels and the addressed dim.
// CHECK-LABEL: func.func @scatter(
// CHECK-NOT: spmd.all_{{gather|reduce|to_all}}
// CHECK: tosa.scatter {{.*}} : (tensor<1x5x2xi32>, tensor<1x4xi32>, tensor<1x4x2xi32>) -> tensor<1x5x2xi32>
// CHECK-LABEL: func.func @scatter_sharded_rows
// CHECK-NOT: spmd.all
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x20x6xi32>)
// CHECK: arith.select
// CHECK-NOT: spmd.all
// CHECK: return
func.func @scatter(%a: tensor<2x5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-99, 99]},
                   %b: tensor<2x4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<2x5x6xi32> {
  %i = "tosa.const"() {values = dense<[[3, 0, 4, 1], [2, 1, 4, 0]]> : tensor<2x4xi32>} : () -> tensor<2x4xi32>
  %j = spmd.with_sharding_constraint %i <@m, [{"x"}, {}]> : tensor<2x4xi32>
  %r = tosa.scatter %a, %j, %b : (tensor<2x5x6xi32>, tensor<2x4xi32>, tensor<2x4x6xi32>) -> tensor<2x5x6xi32>
  return %r : tensor<2x5x6xi32>
}
func.func @scatter_sharded_rows(%a: tensor<2x60x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>, spmd.range = [-99, 99]},
                       %i: tensor<2x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 60]},
                       %b: tensor<2x1x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-99, 99]}) -> tensor<2x60x6xi32> {
  %r = tosa.scatter %a, %i, %b : (tensor<2x60x6xi32>, tensor<2x1xi32>, tensor<2x1x6xi32>) -> tensor<2x60x6xi32>
  return %r : tensor<2x60x6xi32>
}

// A table is replicated, although it has the size of the operand.
// CHECK-LABEL: func.func @table
// CHECK: spmd.all_gather
// CHECK: tosa.table %{{.*}}, %{{.*}} : (tensor<128xi8>, tensor<256xi8>) -> tensor<128xi8>
func.func @table(%a: tensor<256xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-99, 99]},
                 %t: tensor<256xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-99, 99]}) -> tensor<256xi8> {
  %r = tosa.table %a, %t : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>
  return %r : tensor<256xi8>
}

// Multipliers per channel are sharded like the channels.
// CHECK-LABEL: func.func @rescale
// CHECK: tosa.rescale {{.*}} : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<2x2xi8>
func.func @rescale(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<4x6xi8> {
  %m = "tosa.const"() {values = dense<[1073741824, 1173741824, 1273741824, 1373741824, 1473741824, 1573741824]> : tensor<6xi32>} : () -> tensor<6xi32>
  %s = "tosa.const"() {values = dense<[30, 31, 32, 30, 31, 32]> : tensor<6xi8>} : () -> tensor<6xi8>
  %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %zo = "tosa.const"() {values = dense<4> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %a, %m, %s, %zi, %zo {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<4x6xi32>, tensor<6xi32>, tensor<6xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x6xi8>
  return %r : tensor<4x6xi8>
}

// One multiplier per shard would be a non-constant of one element, which upstream lowers
// differently: gathered.
// CHECK-LABEL: func.func @rescale_one_each
// CHECK: tosa.rescale {{.*}} -> tensor<3x2xi8>
func.func @rescale_one_each(%a: tensor<3x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-99, 99]}) -> tensor<3x2xi8> {
  %m = "tosa.const"() {values = dense<[1979972165, 1744586487]> : tensor<2xi32>} : () -> tensor<2xi32>
  %s = "tosa.const"() {values = dense<31> : tensor<2xi8>} : () -> tensor<2xi8>
  %zi = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %zo = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %a, %m, %s, %zi, %zo {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<3x2xi32>, tensor<2xi32>, tensor<2xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<3x2xi8>
  return %r : tensor<3x2xi8>
}

// Reversed and sliced dims are read in windows.
// CHECK-LABEL: func.func @windows
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [-2] offsets = [4]
// CHECK: tosa.reverse {{.*}} -> tensor<3x2xi32>
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [2] offsets = [1]
// CHECK: tosa.slice {{.*}} -> tensor<3x2xi32>
func.func @windows(%a: tensor<6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> (tensor<6x6xi32>, tensor<6x5xi32>) {
  %0 = tosa.reverse %a {axis = 1 : i32} : (tensor<6x6xi32>) -> tensor<6x6xi32>
  %start = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[6, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %1 = tosa.slice %0, %start, %size : (tensor<6x6xi32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<6x5xi32>
  return %0, %1 : tensor<6x6xi32>, tensor<6x5xi32>
}
