// Convolutions whose result has one element along a dim, and whose operand is longer than the window
// that is read there: the loop is the window's, not the operand's.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1 --compile-option=--fill-padding=lowest

spmd.mesh @m = <["x"=5]>

// Uneven input channels make the convolution one with a body.
func.func @conv(%a: tensor<6x2x1x3x4xi8> {spmd.range = [-3, 4]}, %k: tensor<2x1x2x4x1xi8> {spmd.range = [-3, 4], spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"x"}, {}]>}) -> tensor<6x1x1x1x1xi32> {
  %zero = arith.constant -5 : i32
  %init = arith.constant dense<-1> : tensor<6x1x1x1x1xi32>
  %0 = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%a, %k, %zero, %zero : tensor<6x2x1x3x4xi8>, tensor<2x1x2x4x1xi8>, i32, i32) outs(%init : tensor<6x1x1x1x1xi32>) -> tensor<6x1x1x1x1xi32>
  return %0 : tensor<6x1x1x1x1xi32>
}

// Written with a body; a kernel of one element leaves the loop over the result.
func.func @written(%a: tensor<3x9xi32> {spmd.range = [-3, 4]}, %k: tensor<2xi32> {spmd.range = [-3, 4]}, %one: tensor<1xi32> {spmd.range = [-3, 4]}) -> (tensor<3x1xi32>, tensor<3x4xi32>) {
  %c0 = arith.constant dense<0> : tensor<3x1xi32>
  %c1 = arith.constant dense<0> : tensor<3x4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %k : tensor<3x9xi32>, tensor<2xi32>) outs(%c0 : tensor<3x1xi32>) {
  ^bb0(%x: i32, %y: i32, %out: i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %p, %out : i32
    linalg.yield %s : i32
  } -> tensor<3x1xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %one : tensor<3x9xi32>, tensor<1xi32>) outs(%c1 : tensor<3x4xi32>) {
  ^bb0(%x: i32, %y: i32, %out: i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %p, %out : i32
    linalg.yield %s : i32
  } -> tensor<3x4xi32>
  return %0, %1 : tensor<3x1xi32>, tensor<3x4xi32>
}
