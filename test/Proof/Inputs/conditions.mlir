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
func.func @too_few(%a: tensor<16xi32>) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<16xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @strided_blocks(%a: tensor<16xi32>) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<16xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @other_order(%a: tensor<16xi32>) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<16xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @last_of_first(%a: tensor<16xi32>) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<16xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @own_and_partial(%a: tensor<8x6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<8x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.constant 3.0 : f32
    %m = arith.mulf %in, %c : f32
    %t = arith.addf %in, %m : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
func.func @other_high(%a: tensor<8xi32>) -> tensor<8xi32> {
  %low, %high = arith.mulsi_extended %a, %a : tensor<8xi32>
  return %high : tensor<8xi32>
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
// The two first ones may be in one block.
// CHECK-LABEL: @too_few:
func.func @too_few(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<2xi32> {
  %b = spmd.sort %a dim = 0 {
  ^bb0(%xb: i32, %yb: i32):
    %before = arith.cmpi sgt, %xb, %yb : i32
    spmd.yield %before
  } : (tensor<8xi32>) -> tensor<1xi32>
  %g = spmd.all_gather %b <@m, [{"x"}]> : tensor<1xi32> -> tensor<2xi32>
  %r = spmd.sort %g dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// What is equal has another order: the blocks are not those of the dim.
// CHECK-LABEL: @strided_blocks:
func.func @strided_blocks(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}]>}) -> tensor<2xi32> {
  %b = spmd.sort %a dim = 0 {
  ^bb0(%xb: i32, %yb: i32):
    %before = arith.cmpi sgt, %xb, %yb : i32
    spmd.yield %before
  } : (tensor<8xi32>) -> tensor<2xi32>
  %g = spmd.all_gather %b <@m, [{"x"}]> : tensor<2xi32> -> tensor<4xi32>
  %r = spmd.sort %g dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<4xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// The candidates are the last ones.
// CHECK-LABEL: @other_order:
func.func @other_order(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<2xi32> {
  %b = spmd.sort %a dim = 0 {
  ^bb0(%xb: i32, %yb: i32):
    %before = arith.cmpi slt, %xb, %yb : i32
    spmd.yield %before
  } : (tensor<8xi32>) -> tensor<2xi32>
  %g = spmd.all_gather %b <@m, [{"x"}]> : tensor<2xi32> -> tensor<4xi32>
  %r = spmd.sort %g dim = 0 {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<4xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// The last ones of the first ones.
// CHECK-LABEL: @last_of_first:
func.func @last_of_first(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<2xi32> {
  %b = spmd.sort %a dim = 0 {
  ^bb0(%xb: i32, %yb: i32):
    %before = arith.cmpi sgt, %xb, %yb : i32
    spmd.yield %before
  } : (tensor<8xi32>) -> tensor<2xi32>
  %g = spmd.all_gather %b <@m, [{"x"}]> : tensor<2xi32> -> tensor<4xi32>
  %r = spmd.sort %g dim = 0 last {
  ^bb0(%xr: i32, %yr: i32):
    %before = arith.cmpi sgt, %xr, %yr : i32
    spmd.yield %before
  } : (tensor<4xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// A sum of which each device has a part is added to three times the whole on all devices.
// CHECK-LABEL: @own_and_partial:
func.func @own_and_partial(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %c = arith.constant dense<3.0> : tensor<6xf32>
  %part = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %s = spmd.all_reduce %part sum <@m, {"x"}> : tensor<6xf32>
  %m = arith.mulf %s, %c : tensor<6xf32>
  %t = arith.addf %part, %m : tensor<6xf32>
  %r = spmd.all_reduce %t sum <@m, {"x"}> : tensor<6xf32>
  return %r : tensor<6xf32>
}
// The other half of a product.
// CHECK-LABEL: @other_high:
func.func @other_high(%a: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xi32>) {
  %low, %high = arith.mulsi_extended %a, %a : tensor<4xi32>
  %g = spmd.all_gather %low <@m, [{"x"}]> : tensor<4xi32> -> tensor<8xi32>
  return %g : tensor<8xi32>
}
