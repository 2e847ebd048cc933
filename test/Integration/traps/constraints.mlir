// Constraints in the middle of a program, on ops, with axes that must stay
// free, and against each other.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @middle(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x4xi32> {
  %0 = arith.addi %a, %a : tensor<8x4xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"x", ?}]> : tensor<8x4xi32>
  %2 = arith.muli %1, %0 : tensor<8x4xi32>
  return %2 : tensor<8x4xi32>
}

func.func @row_of_them(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x4xi32> {
  %0 = spmd.with_sharding_constraint %a <@m, [{"y"}, {}]> : tensor<8x4xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"y", "x"}]> : tensor<8x4xi32>
  %2 = spmd.with_sharding_constraint %1 <@m, [{}, {}]> : tensor<8x4xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{"x", "y"}, {}]> : tensor<8x4xi32>
  return %3 : tensor<8x4xi32>
}

func.func @axis_resources(%a: tensor<8x4xi32> {spmd.axis_resources = #spmd.axis_resources<[["x", "y"], none]>, spmd.range = [0, 1000]}) -> tensor<8x4xi32> {
  %0 = arith.addi %a, %a : tensor<8x4xi32>
  %1 = spmd.with_sharding_constraint %0 axis_resources [?, "x"] : tensor<8x4xi32>
  %2 = arith.addi %1, %a : tensor<8x4xi32>
  return %2 : tensor<8x4xi32>
}

func.func @on_an_op(%a: tensor<4x8xi32> {spmd.range = [-9, 10]}, %b: tensor<8x6xi32> {spmd.range = [-9, 10]}) -> tensor<4x6xi32> {
  %zero = arith.constant dense<0> : tensor<4x6xi32>
  %0 = arith.addi %a, %a {spmd.shardings = [#spmd.sharding<@m, [{}, {"y"}]>]} : tensor<4x8xi32>
  %1 = linalg.matmul {spmd.shardings = [#spmd.sharding<@m, [{"x"}, {?}]>]} ins(%0, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%zero : tensor<4x6xi32>) -> tensor<4x6xi32>
  return %1 : tensor<4x6xi32>
}

// A constant with a sharding of its own.
func.func @on_a_constant(%a: tensor<4x8xi32> {spmd.range = [-9, 10]}) -> tensor<4x8xi32> {
  %c = arith.constant {spmd.shardings = [#spmd.sharding<@m, [{"y"}, {"x"}]>]} dense<3> : tensor<4x8xi32>
  %r = arith.muli %a, %c : tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}

func.func @replicated_axis(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}], replicated = {"x"}>, spmd.range = [0, 1000]},
                           %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<8x4xi32> {
  %r = arith.addi %a, %b : tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

func.func @conflict(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]},
                    %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]},
                    %c: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]})
    -> (tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>}) {
  %0 = arith.addi %a, %b : tensor<8x4xi32>
  %1 = arith.subi %0, %c : tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}

// One axis wanted on two loops of one contraction.
func.func @one_axis_two_loops(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                              %b: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                              %c: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-9, 10]}) -> tensor<8x6xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x4xi32>, tensor<4x6xi32>) outs(%c : tensor<8x6xi32>) -> tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

// Two-step reshards: moved and turned round, to a gap, to a sub-axis.
func.func @far(%a: tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "y"}, {3, "x"}]>}, tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{4, "y", "x"}, {}]>}) {
  return %a, %a : tensor<16x12xi32>, tensor<16x12xi32>
}

// What is never used does not change what is.
func.func @dead(%a: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}, %unused: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<8x4xi32> {
  %0 = arith.addi %a, %a : tensor<8x4xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"y"}]> : tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}
