// Manual computations on one of several views, over partial sums, and with branches that all devices take alike.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--min-hidden-fraction=0

spmd.mesh @a = <["x"=2, "y"=4]>
spmd.mesh @b = <["u"=4, "v"=2]>
spmd.mesh @t = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>

// Manual over an axis of one view; operands come on two others; the product inside is cut by what is free.
func.func @views(%x: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@b, [{"u"}, {}]>, spmd.range = [-50, 50]},
                 %w: tensor<16x24xi32> {spmd.sharding = #spmd.sharding<@t, [{}, {"p"}]>, spmd.range = [-50, 50]}) -> (tensor<8x24xi32> {spmd.sharding = #spmd.sharding<@t, [{"p"}, {"q"}]>})
    attributes {spmd.reference = @views_whole} {
  %0 = spmd.manual_computation (%x, %w) in [<@a, [{"x"}, {?}]>, <@a, [{}, {?}]>] out [<@a, [{"x"}, {?}]>] axes ["x"] (%a: tensor<4x16xi32>, %b: tensor<16x24xi32>) {
    %c = arith.constant dense<1> : tensor<4x24xi32>
    %1 = linalg.matmul ins(%a, %b : tensor<4x16xi32>, tensor<16x24xi32>) outs(%c : tensor<4x24xi32>) -> tensor<4x24xi32>
    %i = spmd.device_coordinate @a "x" : index
    %n = arith.index_cast %i : index to i32
    %e = tensor.empty() : tensor<4x24xi32>
    %f = linalg.fill ins(%n : i32) outs(%e : tensor<4x24xi32>) -> tensor<4x24xi32>
    %2 = arith.subi %1, %f : tensor<4x24xi32>
    %3 = spmd.all_reduce %2 min <@a, {"x"}> : tensor<4x24xi32>
    %4 = arith.subi %2, %3 : tensor<4x24xi32>
    spmd.return %4 : tensor<4x24xi32>
  } : (tensor<8x16xi32>, tensor<16x24xi32>) -> tensor<8x24xi32>
  return %0 : tensor<8x24xi32>
}
func.func private @views_whole(%x: tensor<8x16xi32>, %w: tensor<16x24xi32>) -> tensor<8x24xi32> {
  %c = arith.constant dense<1> : tensor<8x24xi32>
  %1 = linalg.matmul ins(%x, %w : tensor<8x16xi32>, tensor<16x24xi32>) outs(%c : tensor<8x24xi32>) -> tensor<8x24xi32>
  %u = tensor.extract_slice %1[0, 0] [4, 24] [1, 1] : tensor<8x24xi32> to tensor<4x24xi32>
  %l0 = tensor.extract_slice %1[4, 0] [4, 24] [1, 1] : tensor<8x24xi32> to tensor<4x24xi32>
  %one = arith.constant dense<1> : tensor<4x24xi32>
  %l = arith.subi %l0, %one : tensor<4x24xi32>
  %m = arith.minsi %u, %l : tensor<4x24xi32>
  %p = arith.subi %u, %m : tensor<4x24xi32>
  %q = arith.subi %l, %m : tensor<4x24xi32>
  %n = tensor.concat dim(0) %p, %q : (tensor<4x24xi32>, tensor<4x24xi32>) -> tensor<8x24xi32>
  return %n : tensor<8x24xi32>
}

// A partial sum inside over a free axis, and a branch whose condition is the same everywhere.
func.func @branch(%x: tensor<6x16xi32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {"y"}]>, spmd.range = [-9, 9]},
                  %w: tensor<16x5xi32> {spmd.sharding = #spmd.sharding<@a, [{"y"}, {}]>, spmd.range = [-9, 9]}, %k: tensor<i1>) -> tensor<6x5xi32>
    attributes {spmd.reference = @branch_whole} {
  %0 = spmd.manual_computation (%x, %w, %k) in [<@a, [{"x"}, {?}]>, <@a, [{?}, {?}]>, <@a, []>] out [<@a, [{"x"}, {?}]>] axes ["x"] (%a: tensor<3x16xi32>, %b: tensor<16x5xi32>, %d: tensor<i1>) {
    %z = arith.constant dense<2> : tensor<3x5xi32>
    %1 = linalg.matmul ins(%a, %b : tensor<3x16xi32>, tensor<16x5xi32>) outs(%z : tensor<3x5xi32>) -> tensor<3x5xi32>
    %2 = linalg.matmul ins(%a, %b : tensor<3x16xi32>, tensor<16x5xi32>) outs(%z : tensor<3x5xi32>) -> tensor<3x5xi32>
    %3 = arith.addi %1, %2 : tensor<3x5xi32>
    %c = tensor.extract %d[] : tensor<i1>
    %4 = scf.if %c -> tensor<3x5xi32> {
      %5 = spmd.all_reduce %3 sum <@a, {"x"}> : tensor<3x5xi32>
      scf.yield %5 : tensor<3x5xi32>
    } else {
      %6 = spmd.collective_permute %3 of tensor<6x5xi32> <@a, [{"x"}, {}]> to <@a, [{"x"}, {}]> : tensor<3x5xi32> -> tensor<3x5xi32>
      %7 = arith.addi %6, %6 : tensor<3x5xi32>
      scf.yield %7 : tensor<3x5xi32>
    }
    spmd.return %4 : tensor<3x5xi32>
  } : (tensor<6x16xi32>, tensor<16x5xi32>, tensor<i1>) -> tensor<6x5xi32>
  return %0 : tensor<6x5xi32>
}
func.func private @branch_whole(%x: tensor<6x16xi32>, %w: tensor<16x5xi32>, %k: tensor<i1>) -> tensor<6x5xi32> {
  %z = arith.constant dense<2> : tensor<6x5xi32>
  %1 = linalg.matmul ins(%x, %w : tensor<6x16xi32>, tensor<16x5xi32>) outs(%z : tensor<6x5xi32>) -> tensor<6x5xi32>
  %3 = arith.addi %1, %1 : tensor<6x5xi32>
  %c = tensor.extract %k[] : tensor<i1>
  %4 = scf.if %c -> tensor<6x5xi32> {
    %u = tensor.extract_slice %3[0, 0] [3, 5] [1, 1] : tensor<6x5xi32> to tensor<3x5xi32>
    %l = tensor.extract_slice %3[3, 0] [3, 5] [1, 1] : tensor<6x5xi32> to tensor<3x5xi32>
    %s = arith.addi %u, %l : tensor<3x5xi32>
    %n = tensor.concat dim(0) %s, %s : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<6x5xi32>
    scf.yield %n : tensor<6x5xi32>
  } else {
    %7 = arith.addi %3, %3 : tensor<6x5xi32>
    scf.yield %7 : tensor<6x5xi32>
  }
  return %4 : tensor<6x5xi32>
}

// Manual over an axis of the view whose devices stand in another order.
func.func @order(%x: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {"y"}]>, spmd.range = [-50, 50]},
                 %y: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@b, [{"v"}, {"u"}]>, spmd.range = [-50, 50]}) -> tensor<8xi32>
    attributes {spmd.reference = @order_whole} {
  %0 = spmd.manual_computation (%x, %y) in [<@t, [{"p"}, {?}]>, <@t, [{"p"}, {?}]>] out [<@t, [{"p"}]>] axes ["p"] (%a: tensor<2x12xi32>, %b: tensor<2x12xi32>) {
    %z = arith.constant dense<7> : tensor<2xi32>
    %1 = arith.muli %a, %b : tensor<2x12xi32>
    %2 = linalg.reduce ins(%1 : tensor<2x12xi32>) outs(%z : tensor<2xi32>) dimensions = [1] (%p: i32, %q: i32) {
      %s = arith.addi %p, %q : i32
      linalg.yield %s : i32
    }
    spmd.return %2 : tensor<2xi32>
  } : (tensor<8x12xi32>, tensor<8x12xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func private @order_whole(%x: tensor<8x12xi32>, %y: tensor<8x12xi32>) -> tensor<8xi32> {
  %z = arith.constant dense<7> : tensor<8xi32>
  %1 = arith.muli %x, %y : tensor<8x12xi32>
  %2 = linalg.reduce ins(%1 : tensor<8x12xi32>) outs(%z : tensor<8xi32>) dimensions = [1] (%p: i32, %q: i32) {
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  return %2 : tensor<8xi32>
}

// The border names a mesh that lacks the free axis of the operand: it is left there.
spmd.mesh @c = <["x"=3, "y"=2]>
spmd.mesh @d = <["x"=2, "k"=1, "z"=3]>
func.func @border(%x: tensor<3x16xi32> {spmd.sharding = #spmd.sharding<@c, [{"x"}, {"y"}]>, spmd.range = [-50, 50]}) -> tensor<3x16xi32>
    attributes {spmd.reference = @border_whole} {
  %0 = spmd.manual_computation (%x) in [<@d, [{"k"}, {?}]>] out [<@d, [{"k"}, {?}]>] axes ["k"] (%a: tensor<3x16xi32>) {
    %1 = spmd.all_reduce %a sum <@d, {"k"}> : tensor<3x16xi32>
    %2 = arith.addi %1, %a : tensor<3x16xi32>
    spmd.return %2 : tensor<3x16xi32>
  } : (tensor<3x16xi32>) -> tensor<3x16xi32>
  return %0 : tensor<3x16xi32>
}
func.func private @border_whole(%x: tensor<3x16xi32> {spmd.range = [-50, 50]}) -> tensor<3x16xi32> {
  %0 = arith.addi %x, %x : tensor<3x16xi32>
  return %0 : tensor<3x16xi32>
}

// A move between two views is started while something else is computed.
func.func @moved(%x: tensor<12x16xi32> {spmd.sharding = #spmd.sharding<@c, [{"x"}, {}]>, spmd.range = [-50, 50]},
                 %y: tensor<12x16xi32> {spmd.sharding = #spmd.sharding<@d, [{"z"}, {}]>, spmd.range = [-50, 50]}) -> (tensor<12x16xi32> {spmd.sharding = #spmd.sharding<@d, [{"z"}, {}]>}) {
  %0 = spmd.with_sharding_constraint %x <@d, [{"z"}, {}]> : tensor<12x16xi32>
  %1 = arith.muli %y, %y : tensor<12x16xi32>
  %2 = arith.addi %0, %1 : tensor<12x16xi32>
  return %2 : tensor<12x16xi32>
}
