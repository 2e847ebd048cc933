// Moves as XLA writes them: shards that change devices as a whole, and windows that are joined of what neighbours have.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>&1 | FileCheck %t/local.mlir

//--- global.mlir
func.func @turned(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = math.exp %x : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
func.func @turned_wrongly(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = math.exp %x : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
func.func @turned_copies(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = math.exp %x : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
func.func @difference(%x: tensor<8x12xf32>) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %b = tensor.extract_slice %x[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %0 = arith.subf %a, %b : tensor<7x12xf32>
  return %0 : tensor<7x12xf32>
}
func.func @other_side(%x: tensor<8x12xf32>) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %b = tensor.extract_slice %x[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %0 = arith.subf %a, %b : tensor<7x12xf32>
  return %0 : tensor<7x12xf32>
}
func.func @other_columns(%x: tensor<8x12xf32>) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %b = tensor.extract_slice %x[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  %0 = arith.subf %a, %b : tensor<7x12xf32>
  return %0 : tensor<7x12xf32>
}
func.func @as_reshaped(%x: tensor<1x16x2xf32>) -> tensor<1x8x4xf32> {
  %0 = tensor.collapse_shape %x [[0, 1, 2]] : tensor<1x16x2xf32> into tensor<32xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [1, 8, 4] : tensor<32xf32> into tensor<1x8x4xf32>
  return %1 : tensor<1x8x4xf32>
}
func.func @as_reshaped_wrongly(%x: tensor<1x16x2xf32>) -> tensor<1x8x4xf32> {
  %0 = tensor.collapse_shape %x [[0, 1, 2]] : tensor<1x16x2xf32> into tensor<32xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [1, 8, 4] : tensor<32xf32> into tensor<1x8x4xf32>
  return %1 : tensor<1x8x4xf32>
}
func.func @one_element(%x: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %0 = math.exp %x : tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
func.func @two_elements(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %0 = math.exp %x : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
func.func @constant(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = arith.constant dense<1.0> : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}

//--- local.mlir
spmd.mesh @m = <["x"=2, "y"=4]>
// Device (x, y1, y2) receives from (y1, y2, x): rows of x and the major half of y become rows of y.
// CHECK-DAG: @turned: proven
func.func @turned(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %c2 = arith.constant 2 : index
  %y = spmd.device_coordinate @m "y" : index
  %half = arith.divui %y, %c2 : index
  %row = arith.muli %half, %c2 : index
  %0 = tensor.extract_slice %x[%row, 0] [2, 12] [1, 1] : tensor<4x12xf32> to tensor<2x12xf32>
  %1 = spmd.collective_permute %0 of tensor<16x12xf32> <@m, [{"x", "y"}, {}]> to <@m, [{"y", "x"}, {}]> : tensor<2x12xf32> -> tensor<2x12xf32>
  %2 = math.exp %1 : tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}
// CHECK-DAG: error: @turned_wrongly is refused at spmd.collective_permute: gives another value than the one that math.exp needs
// CHECK-DAG: note: math.exp: result #0 holds [4 y:(2)2 + 2 x + i0, i1], expected [2 y + i0, i1]
func.func @turned_wrongly(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %c2 = arith.constant 2 : index
  %y = spmd.device_coordinate @m "y" : index
  %half = arith.divui %y, %c2 : index
  %row = arith.muli %half, %c2 : index
  %0 = tensor.extract_slice %x[%row, 0] [2, 12] [1, 1] : tensor<4x12xf32> to tensor<2x12xf32>
  %1 = spmd.collective_permute %0 of tensor<16x12xf32> <@m, [{"x", "y"}, {}]> to <@m, [{"y":(2)2, "x", "y":(1)2}, {}]> : tensor<2x12xf32> -> tensor<2x12xf32>
  %2 = math.exp %1 : tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}
// A move of shards that several devices have, which are not equal here.
// CHECK-DAG: error: @turned_copies is refused at spmd.collective_permute: moves elements along {"x", "y":(1)2}, but dim 0 of the operand is
func.func @turned_copies(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %c2 = arith.constant 2 : index
  %y = spmd.device_coordinate @m "y" : index
  %half = arith.divui %y, %c2 : index
  %row = arith.muli %half, %c2 : index
  %0 = tensor.extract_slice %x[%row, 0] [2, 12] [1, 1] : tensor<4x12xf32> to tensor<2x12xf32>
  %1 = spmd.collective_permute %0 of tensor<4x12xf32> <@m, [{"x"}, {}]> to <@m, [{"y":(1)2}, {}]> : tensor<2x12xf32> -> tensor<2x12xf32>
  %2 = math.exp %1 : tensor<2x12xf32>
  return %2 : tensor<2x12xf32>
}
// CHECK-DAG: @difference: proven
func.func @difference(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [3, 12] [1, 1] : tensor<4x12xf32> to tensor<3x12xf32>
  %b = tensor.extract_slice %x[0, 0] [1, 12] [1, 1] : tensor<4x12xf32> to tensor<1x12xf32>
  %h = spmd.halo_exchange %b of tensor<2x12xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [1] offsets = [1] : tensor<1x12xf32> -> tensor<1x12xf32>
  %c = tensor.concat dim(0) %a, %h : (tensor<3x12xf32>, tensor<1x12xf32>) -> tensor<4x12xf32>
  %0 = arith.subf %c, %x : tensor<4x12xf32>
  %1 = spmd.all_gather %0 <@m, [{"x"}, {}]> : tensor<4x12xf32> -> tensor<8x12xf32>
  %2 = tensor.extract_slice %1[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  return %2 : tensor<7x12xf32>
}
// The row of the neighbour before.
// CHECK-DAG: @other_side: {{refused|not decided}}
// CHECK-DAG: note: all results are right with offsets = array<i64: 1>
func.func @other_side(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [3, 12] [1, 1] : tensor<4x12xf32> to tensor<3x12xf32>
  %b = tensor.extract_slice %x[0, 0] [1, 12] [1, 1] : tensor<4x12xf32> to tensor<1x12xf32>
  %h = spmd.halo_exchange %b of tensor<2x12xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [1] offsets = [-1] : tensor<1x12xf32> -> tensor<1x12xf32>
  %c = tensor.concat dim(0) %a, %h : (tensor<3x12xf32>, tensor<1x12xf32>) -> tensor<4x12xf32>
  %0 = arith.subf %c, %x : tensor<4x12xf32>
  %1 = spmd.all_gather %0 <@m, [{"x"}, {}]> : tensor<4x12xf32> -> tensor<8x12xf32>
  %2 = tensor.extract_slice %1[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  return %2 : tensor<7x12xf32>
}
// The columns of the joined row are turned.
// CHECK-DAG: @other_columns: {{refused|not decided}}
// CHECK-DAG: note: all results are right with operands #0 and #1 exchanged
func.func @other_columns(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<7x12xf32> {
  %a = tensor.extract_slice %x[1, 0] [3, 12] [1, 1] : tensor<4x12xf32> to tensor<3x12xf32>
  %b = tensor.extract_slice %x[0, 0] [1, 12] [1, 1] : tensor<4x12xf32> to tensor<1x12xf32>
  %l = tensor.extract_slice %b[0, 0] [1, 6] [1, 1] : tensor<1x12xf32> to tensor<1x6xf32>
  %r = tensor.extract_slice %b[0, 6] [1, 6] [1, 1] : tensor<1x12xf32> to tensor<1x6xf32>
  %t = tensor.concat dim(1) %r, %l : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x12xf32>
  %h = spmd.halo_exchange %t of tensor<2x12xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [1] offsets = [1] : tensor<1x12xf32> -> tensor<1x12xf32>
  %c = tensor.concat dim(0) %a, %h : (tensor<3x12xf32>, tensor<1x12xf32>) -> tensor<4x12xf32>
  %0 = arith.subf %c, %x : tensor<4x12xf32>
  %1 = spmd.all_gather %0 <@m, [{"x"}, {}]> : tensor<4x12xf32> -> tensor<8x12xf32>
  %2 = tensor.extract_slice %1[0, 0] [7, 12] [1, 1] : tensor<8x12xf32> to tensor<7x12xf32>
  return %2 : tensor<7x12xf32>
}
// The elements that a device has are those of the reshape in the same order, which is moved without a reshape.
spmd.mesh @r = <["a"=2, "b"=2, "c"=2]>
// CHECK-DAG: @as_reshaped: proven
func.func @as_reshaped(%x: tensor<1x2x2xf32> {spmd.global_type = tensor<1x16x2xf32>, spmd.sharding = #spmd.sharding<@r, [{}, {"c", "a", 2, "b"}, {}]>}) -> (tensor<1x2x4xf32> {spmd.sharding = #spmd.sharding<@r, [{}, {"c", "b"}, {}]>}) {
  %0 = spmd.exchange %x of tensor<1x4x4xf32> <@r, [{}, {"a"}, {"b"}]> to <@r, [{}, {"b"}, {}]> : tensor<1x2x2xf32> -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}
// The halves of the other axis.
// CHECK-DAG: @as_reshaped_wrongly: {{refused|not decided}}
func.func @as_reshaped_wrongly(%x: tensor<1x2x2xf32> {spmd.global_type = tensor<1x16x2xf32>, spmd.sharding = #spmd.sharding<@r, [{}, {"c", "a", 2, "b"}, {}]>}) -> (tensor<1x2x4xf32> {spmd.sharding = #spmd.sharding<@r, [{}, {"c", "b"}, {}]>}) {
  %0 = spmd.exchange %x of tensor<1x4x4xf32> <@r, [{}, {"b"}, {"a"}]> to <@r, [{}, {"a"}, {}]> : tensor<1x2x2xf32> -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}
// Where the column is inside of its dim, c is 0, so the row is too.
// CHECK-DAG: @one_element: proven
func.func @one_element(%x: tensor<1x1xf32> {spmd.sharding = #spmd.sharding<@r, [{"c"}, {}]>}) -> (tensor<1x1xf32> {spmd.sharding = #spmd.sharding<@r, [{}, {"a", "c"}]>}) {
  %0 = math.exp %x : tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
// Nothing says that c is 0 here: device 1 has padding.
// CHECK-DAG: error: @two_elements is refused at math.exp: result #0 holds [c, i1], expected [0, i1]
func.func @two_elements(%x: tensor<1x2xf32> {spmd.sharding = #spmd.sharding<@r, [{"c"}, {}]>}) -> (tensor<1x2xf32> {spmd.sharding = #spmd.sharding<@r, [{}, {}]>}) {
  %0 = math.exp %x : tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
// Equal elements have no shape that they could be moved in.
// CHECK-DAG: error: @constant is refused at spmd.all_reduce: reduces a constant that all devices have
func.func @constant(%x: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = arith.constant dense<1.0> : tensor<8x12xf32>
  %1 = spmd.all_reduce %0 sum <@r, {"a"}> : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
