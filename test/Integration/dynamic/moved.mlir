// Values whose sizes are forgotten for a while, with layouts around them that differ: nothing moves
// while sizes are not known, what is asked for is made of the value before or after.
// REQUIRES: shard-run
// RUN: shard-run %s --random-inputs=1 --verify --compile-option=--opt-level=1
// RUN: shard-run %s --random-inputs=1 --verify --compile-option=--opt-level=1 --compile-option=--inline=false

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @wanted(%a: tensor<2x3xi8>, %c: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = arith.sitofp %a : tensor<2x3xi8> to tensor<2x3xf32>
  %0 = tensor.cast %s : tensor<2x3xf32> to tensor<?x3xf32>
  %1 = arith.mulf %0, %0 : tensor<?x3xf32>
  %2 = tensor.cast %1 : tensor<?x3xf32> to tensor<2x3xf32>
  %4 = spmd.with_sharding_constraint %2 <@m, [{"x"}, {}]> : tensor<2x3xf32>
  %5 = spmd.with_sharding_constraint %c <@m, [{"y"}, {}]> : tensor<2x3xf32>
  %6 = arith.divf %5, %s : tensor<2x3xf32>
  return %6, %2, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

func.func @casts(%a: tensor<16x4x1xi16> {spmd.range = [-3, 4], spmd.sharding = #spmd.sharding<@m, [{}, {2, "x", ?}p1, {}]>}) -> tensor<16x4x1xi16> {
  %0 = tensor.cast %a : tensor<16x4x1xi16> to tensor<?x4x1xi16>
  %1 = tensor.cast %0 : tensor<?x4x1xi16> to tensor<16x4x1xi16>
  %2 = spmd.with_sharding_constraint %1 <@m, [{}, {"x"}, {}]> : tensor<16x4x1xi16>
  return %2 : tensor<16x4x1xi16>
}

func.func @between(%a: tensor<8x4x6xi32> {spmd.range = [-3, 4], spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>}) -> (tensor<8x4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}, {}]>}) {
  %0 = tensor.cast %a : tensor<8x4x6xi32> to tensor<?x4x?xi32>
  %1 = arith.muli %0, %0 : tensor<?x4x?xi32>
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %0, %c0 : tensor<?x4x?xi32>
  %d2 = tensor.dim %0, %c2 : tensor<?x4x?xi32>
  %empty = tensor.empty(%d0, %d2) : tensor<?x4x?xi32>
  %2 = linalg.add ins(%0, %1 : tensor<?x4x?xi32>, tensor<?x4x?xi32>) outs(%empty : tensor<?x4x?xi32>) -> tensor<?x4x?xi32>
  %3 = tensor.cast %2 : tensor<?x4x?xi32> to tensor<8x4x6xi32>
  return %3 : tensor<8x4x6xi32>
}

func.func private @helper(%a: tensor<6x1x6xi32>) -> tensor<6x1x6xi32> {
  %0 = spmd.manual_computation (%a) in [<@m, [{"x"}, {?}, {?}]>] out [<@m, [{"x"}, {?}, {?}]>] axes ["x"] (%l: tensor<3x1x6xi32>) {
    spmd.return %l : tensor<3x1x6xi32>
  } : (tensor<6x1x6xi32>) -> tensor<6x1x6xi32>
  %1 = tensor.cast %a : tensor<6x1x6xi32> to tensor<6x1x?xi32>
  %2 = arith.muli %1, %1 : tensor<6x1x?xi32>
  %3 = tensor.cast %2 : tensor<6x1x?xi32> to tensor<6x1x6xi32>
  %4 = arith.subi %0, %3 : tensor<6x1x6xi32>
  return %4 : tensor<6x1x6xi32>
}

func.func @calls(%a: tensor<6x1x6xi32> {spmd.range = [-3, 4]}) -> tensor<6x1x6xi32> attributes {spmd.reference = @plain} {
  %0 = func.call @helper(%a) : (tensor<6x1x6xi32>) -> tensor<6x1x6xi32>
  %1 = spmd.with_sharding_constraint %a <@m, [{}, {}, {"x"}]> : tensor<6x1x6xi32>
  %2 = func.call @helper(%1) : (tensor<6x1x6xi32>) -> tensor<6x1x6xi32>
  %3 = arith.addi %0, %2 : tensor<6x1x6xi32>
  return %3 : tensor<6x1x6xi32>
}

func.func private @plain(%a: tensor<6x1x6xi32> {spmd.range = [-3, 4]}) -> tensor<6x1x6xi32> {
  %0 = arith.muli %a, %a : tensor<6x1x6xi32>
  %1 = arith.subi %a, %0 : tensor<6x1x6xi32>
  %2 = arith.addi %1, %1 : tensor<6x1x6xi32>
  return %2 : tensor<6x1x6xi32>
}
