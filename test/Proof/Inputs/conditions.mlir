//--- global.mlir
func.func @inner_window(%a: tensor<6xi32>) -> tensor<6xi32> {
  %c0 = arith.constant 0 : i32
  %p = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %c0 : i32
  } : tensor<6xi32> to tensor<7xi32>
  %r = tensor.extract_slice %p[0] [6] [1] : tensor<7xi32> to tensor<6xi32>
  return %r : tensor<6xi32>
}
func.func @other_row(%at: tensor<2xi32>, %w: tensor<6x4xi32>, %s: tensor<i32>) -> tensor<6x4xi32> {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %at[%c0] : tensor<2xi32>
  %o = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %s into %w[%o, 0] [1, 1] [1, 1] : tensor<i32> into tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}
func.func @two_rows(%at: tensor<2xi32>, %w: tensor<6x4xi32>, %s: tensor<2x1xi32>) -> tensor<6x4xi32> {
  %c0 = arith.constant 0 : index
  %e = tensor.extract %at[%c0] : tensor<2xi32>
  %o = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %s into %w[%o, 0] [2, 1] [1, 1] : tensor<2x1xi32> into tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}
func.func @short(%past: tensor<7xi32>, %new: tensor<1xi32>) -> tensor<8xi32> {
  %r = tensor.concat dim(0) %past, %new : (tensor<7xi32>, tensor<1xi32>) -> tensor<8xi32>
  return %r : tensor<8xi32>
}
func.func @mask_of_index(%a: tensor<3xi8>, %at: tensor<1x2x1xi32>) -> tensor<1x2xi8> {
  %r = tensor.gather %a[%at] gather_dims([0]) : (tensor<3xi8>, tensor<1x2x1xi32>) -> tensor<1x2xi8>
  return %r : tensor<1x2xi8>
}
func.func @difference(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.subf %a, %b : tensor<8xf32>
  return %r : tensor<8xf32>
}
//--- local.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
// The second device has a zero where the first one has an element.
// CHECK-LABEL: @inner_window:
func.func @inner_window(%a: tensor<3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %w = spmd.halo_exchange %a of tensor<3xi32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [0] offsets = [-1] : tensor<3xi32> -> tensor<3xi32>
  return %w : tensor<3xi32>
}
// The part that is selected is of one row, and is written to another.
// CHECK-LABEL: @other_row:
func.func @other_row(%at: tensor<2xi32>, %w: tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %s: tensor<i32>) -> (tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.extract %at[%c0] : tensor<2xi32>
  %o = arith.index_cast %e : i32 to index
  %f = tensor.extract %at[%c1] : tensor<2xi32>
  %p = arith.index_cast %f : i32 to index
  %x = spmd.device_coordinate @m "x" : index
  %begin = arith.muli %x, %c2 : index
  %part = tensor.extract_slice %w[%p, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<1x2xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<i32>) outs(%part : tensor<1x2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 1 : index
    %k = arith.addi %begin, %j : index
    %is = arith.cmpi slt, %k, %c1 : index
    %v = arith.select %is, %in, %out : i32
    linalg.yield %v : i32
  } -> tensor<1x2xi32>
  %r = tensor.insert_slice %0 into %w[%o, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<6x2xi32>
  return %r : tensor<6x2xi32>
}
// Both rows that are written have what the first one of them had on the other side.
// CHECK-LABEL: @two_rows:
func.func @two_rows(%at: tensor<2xi32>, %w: tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %s: tensor<2x1xi32>) -> (tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.extract %at[%c0] : tensor<2xi32>
  %o = arith.index_cast %e : i32 to index
  %x = spmd.device_coordinate @m "x" : index
  %begin = arith.muli %x, %c2 : index
  %part = tensor.extract_slice %w[%o, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<2xi32>
  %empty = tensor.empty() : tensor<2x2xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s, %part : tensor<2x1xi32>, tensor<2xi32>) outs(%empty : tensor<2x2xi32>) {
  ^bb0(%in: i32, %old: i32, %out: i32):
    %j = linalg.index 1 : index
    %k = arith.addi %begin, %j : index
    %is = arith.cmpi slt, %k, %c1 : index
    %v = arith.select %is, %in, %old : i32
    linalg.yield %v : i32
  } -> tensor<2x2xi32>
  %r = tensor.insert_slice %0 into %w[%o, 0] [2, 2] [1, 1] : tensor<2x2xi32> into tensor<6x2xi32>
  return %r : tensor<6x2xi32>
}
// The last element of the first value is left out.
// CHECK-LABEL: @short:
func.func @short(%past: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %new: tensor<1xi32>) -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %x = spmd.device_coordinate @m "x" : index
  %begin = arith.muli %x, %c4 : index
  %w = spmd.halo_exchange %new of tensor<1xi32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [4] offsets = [-7] : tensor<1xi32> -> tensor<4xi32>
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%past, %w : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %i = linalg.index 0 : index
    %k = arith.addi %begin, %i : index
    %is = arith.cmpi slt, %k, %c6 : index
    %v = arith.select %is, %a, %b : i32
    linalg.yield %v : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// Padding leads to an element that does not exist.
// CHECK-LABEL: @mask_of_index:
func.func @mask_of_index(%a: tensor<3xi8>, %at: tensor<1x2x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) -> (tensor<1x2xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i32
  %x = spmd.device_coordinate @m "x" : index
  %n = arith.subi %c1, %x : index
  %e = tensor.empty() : tensor<1x2x1xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%at : tensor<1x2x1xi32>) outs(%e : tensor<1x2x1xi32>) {
  ^bb0(%in: i32, %out: i32):
    %i = linalg.index 0 : index
    %is = arith.cmpi slt, %i, %n : index
    %v = arith.select %is, %in, %c7 : i32
    linalg.yield %v : i32
  } -> tensor<1x2x1xi32>
  %r = tensor.gather %a[%0] gather_dims([0]) : (tensor<3xi8>, tensor<1x2x1xi32>) -> tensor<1x2xi8>
  return %r : tensor<1x2xi8>
}
// Subtraction does not commute.
// CHECK-LABEL: @difference:
func.func @difference(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %r = arith.subf %b, %a : tensor<4xf32>
  return %r : tensor<4xf32>
}
