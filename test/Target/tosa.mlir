// tosa goes through upstream's passes to linalg: on both sides of a comparison, with what is in its branches and loops.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 4 functions, 7 results, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=3]>
func.func @convolution(%a: tensor<2x5x6x6xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {"y"}]>, spmd.range = [-9, 10]}, %w: tensor<5x3x3x6xi8> {spmd.range = [-9, 10]}, %b: tensor<5xi32> {spmd.range = [-9, 10]}) -> (tensor<2x5x4x5xi32>, tensor<2x1x4x5xi32>) {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.conv2d %a, %w, %b, %za, %zb {acc_type = i32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<2x5x6x6xi8>, tensor<5x3x3x6xi8>, tensor<5xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5x4x5xi32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<2x5x4x5xi32>) -> tensor<2x1x4x5xi32>
  return %0, %1 : tensor<2x5x4x5xi32>, tensor<2x1x4x5xi32>
}
func.func @control(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<4x6xf32>, %c: tensor<i1>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>) {
  %0 = tosa.cond_if %c (%x = %a, %y = %b) : tensor<i1> (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>):
    %s = tosa.maximum %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    tosa.yield %s : tensor<4x6xf32>
  } else {
  ^bb0(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>):
    %s = tosa.minimum %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    tosa.yield %s : tensor<4x6xf32>
  }
  %n = "tosa.const"() {values = dense<3> : tensor<i32>} : () -> tensor<i32>
  %zero = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
  %1:2 = tosa.while_loop (%v = %a, %k = %n) : (tensor<4x6xf32>, tensor<i32>) -> (tensor<4x6xf32>, tensor<i32>) {
    %more = tosa.greater %k, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%v: tensor<4x6xf32>, %k: tensor<i32>):
    %s = tosa.sub %b, %v : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %l = tosa.sub %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %s, %l : tensor<4x6xf32>, tensor<i32>
  }
  %2 = tosa.transpose %0 {perms = array<i32: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %0, %1#0, %2 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>
}

// Neither type is the wider one.
func.func @halves(%a: tensor<8xf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf16> {
  %0 = tosa.cast %a : (tensor<8xf16>) -> tensor<8xbf16>
  %1 = tosa.cast %0 : (tensor<8xbf16>) -> tensor<8xf16>
  return %1 : tensor<8xf16>
}

// A kernel of one element, with padding and zero points.
func.func @depthwise(%a: tensor<2x4x6x4xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>, spmd.range = [-3, 4]}, %w: tensor<1x1x4x1xi8> {spmd.range = [-3, 4]}, %b: tensor<4xi32> {spmd.range = [-3, 4]}) -> tensor<2x5x6x4xi32> {
  %za = "tosa.const"() {values = dense<1> : tensor<1xi8>} : () -> tensor<1xi8>
  %zb = "tosa.const"() {values = dense<-2> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.depthwise_conv2d %a, %w, %b, %za, %zb {acc_type = i32, dilation = array<i64: 2, 1>, pad = array<i64: 0, 1, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x6x4xi8>, tensor<1x1x4x1xi8>, tensor<4xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x5x6x4xi32>
  return %0 : tensor<2x5x6x4xi32>
}
