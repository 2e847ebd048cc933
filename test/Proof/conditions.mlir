// Selections: what holds where one side is taken; windows of what each device has; dims of one element.
// RUN: shard-opt %s --spmd-default-pipeline -o %t.mlir
// RUN: shard-prove %s %t.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: split-file %S/Inputs/conditions.mlir %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>/dev/null | FileCheck %t/local.mlir --implicit-check-not=": proven"

spmd.mesh @m = <["x"=2, "y"=2]>

// Each device makes the window of the padded value of what it has of the value without padding.
// RIGHT-DAG: @padded_maximum: proven
func.func @padded_maximum(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8xi32> {
  %low = arith.constant -1000 : i32
  %init = arith.constant dense<-2000> : tensor<8xi32>
  %p = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %low : i32
  } : tensor<8x6xi32> to tensor<8x8xi32>
  %r = linalg.reduce { arith.maxsi } ins(%p : tensor<8x8xi32>) outs(%init : tensor<8xi32>) dimensions = [1]
  return %r : tensor<8xi32>
}
// A part of a row at a computed index is selected, and written back: the row of the other side is this one.
// RIGHT-DAG: @written: proven
func.func @written(%at: tensor<1xi32> {spmd.range = [0, 6]}, %w: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %s: tensor<i32>) -> tensor<6x4xi32> {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %at[%c0] : tensor<1xi32>
  %o = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %s into %w[%o, 0] [1, 1] [1, 1] : tensor<i32> into tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}
// A dim of one element, of which one device has nothing: the indices of its padding are masked.
// RIGHT-DAG: @picked: proven
func.func @picked(%a: tensor<3xi8>, %at: tensor<1x2x1xi32> {spmd.range = [0, 3], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) -> tensor<1x2xi8> {
  %r = tensor.gather %a[%at] gather_dims([0]) : (tensor<3xi8>, tensor<1x2x1xi32>) -> tensor<1x2xi8>
  return %r : tensor<1x2xi8>
}
// The first ones of all are among the first ones of each block.
// RIGHT-DAG: @best: proven
func.func @best(%a: tensor<16xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi sgt, %x, %y : i32
    spmd.yield %before
  } : (tensor<16xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// Padding that depends on its index, of a tensor that is sharded along another dim.
// RIGHT-DAG: @padded: proven
func.func @padded(%a: tensor<4x6xindex> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<6x6xindex> {
  %r = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    tensor.yield %s : index
  } : tensor<4x6xindex> to tensor<6x6xindex>
  return %r : tensor<6x6xindex>
}
// RIGHT-DAG: @wide: proven
func.func @wide(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xi32>, tensor<8xi32>) {
  %low, %high = arith.mulsi_extended %a, %a : tensor<8xi32>
  return %low, %high : tensor<8xi32>, tensor<8xi32>
}
// RIGHT-DAG: @swapped: proven
func.func @swapped(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %c = arith.constant dense<2.0> : tensor<8x4xf32>
  %r = arith.addf %c, %a : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
