// A rescale per channel with sharded multipliers and equal shifts, which stay a constant
// (and the other way round): upstream takes one constant of the two for no values at all.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1

spmd.mesh @m = <["z"=2]>

func.func @multipliers(%a: tensor<2x5x4xi32> {spmd.range = [-3, 4], spmd.sharding = #spmd.sharding<@m, [{}, {}, {"z"}]>}) -> tensor<2x5x4xi32> {
  %multiplier = "tosa.const"() {values = dense<[1106968810, 1433259437, 2064228294, 1864941865]> : tensor<4xi32>} : () -> tensor<4xi32>
  %shift = "tosa.const"() {values = dense<30> : tensor<4xi8>} : () -> tensor<4xi8>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = tosa.rescale %a, %multiplier, %shift, %zero, %zero {scale32 = true, rounding_mode = DOUBLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<2x5x4xi32>, tensor<4xi32>, tensor<4xi8>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x5x4xi32>
  return %0 : tensor<2x5x4xi32>
}

func.func @shifts(%a: tensor<2x5x4xi32> {spmd.range = [-3000, 4000], spmd.sharding = #spmd.sharding<@m, [{}, {}, {"z"}]>}) -> tensor<2x5x4xi32> {
  %multiplier = "tosa.const"() {values = dense<1433259437> : tensor<4xi32>} : () -> tensor<4xi32>
  %shift = "tosa.const"() {values = dense<[30, 32, 35, 31]> : tensor<4xi8>} : () -> tensor<4xi8>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = tosa.rescale %a, %multiplier, %shift, %zero, %zero {scale32 = true, rounding_mode = DOUBLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<2x5x4xi32>, tensor<4xi32>, tensor<4xi8>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x5x4xi32>
  return %0 : tensor<2x5x4xi32>
}
