// Wrong partitioned programs that rules of the proof would take for right ones if they left out a condition.
// None is proven. Each comment says what the devices compute.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>/dev/null | FileCheck %s --implicit-check-not=": proven"
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %s --implicit-check-not=": proven"

//--- global.mlir
#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#ij = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#two = affine_map<(i, k) -> (i)>
func.func @uniform_padding(%x: tensor<4xf32>, %v: tensor<10xf32>) -> tensor<4x10xf32> {
  %e = tensor.empty() : tensor<4x10xf32>
  %0 = linalg.generic {indexing_maps = [#row, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
func.func @one_element(%x: tensor<1xf32>, %w: tensor<1xf32>) -> tensor<1xf32> {
  return %x : tensor<1xf32>
}
func.func @one_row(%x: tensor<1x8xf32>) -> tensor<8xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @column(%x: tensor<4xf32>, %z: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %0 = linalg.generic {indexing_maps = [#i, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%z : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x3xf32>
  %1 = tensor.extract_slice %0[0, 0] [4, 1] [1, 1] : tensor<4x3xf32> to tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}
func.func @halves(%a: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, #none], iterator_types = ["reduction"]} ins(%e : tensor<2xf32>) outs(%a : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %n = linalg.index 0 : index
    %c = arith.index_cast %n : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %out, %f : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @partial_slice(%a: tensor<4x6xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}
func.func @complete_and_partial(%a: tensor<4x6xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %1 = arith.addf %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @partial_index(%a: tensor<4x6xi32>) -> tensor<4xi32> {
  %z = arith.constant dense<0> : tensor<4xi32>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<4x6xi32>) outs(%z : tensor<4xi32>) dimensions = [1]
  %e = tensor.empty() : tensor<4xi32>
  %1 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%0 : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %one = arith.constant 1 : index
    %n = arith.index_cast %in : i32 to index
    %m = arith.addi %n, %one : index
    %c = arith.index_cast %m : index to i32
    linalg.yield %c : i32
  } -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
func.func @selected_by_unowned(%t: tensor<8xf32>, %e: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %t[%in] : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.cmpf ogt, %v, %zero : f32
    %s = arith.select %c, %one, %zero : f32
    %r = arith.addf %s, %v : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @two_owners(%t: tensor<8xf32>, %u: tensor<8xf32>, %e: tensor<4xindex>, %f: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%e, %f : tensor<4xindex>, tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %other: index, %out: f32):
    %v = tensor.extract %t[%in] : tensor<8xf32>
    %w = tensor.extract %u[%other] : tensor<8xf32>
    %r = arith.mulf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @masked_by_data(%t: tensor<8xf32>, %e: tensor<4xindex>, %f: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %t[%in] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @masked_index(%t: tensor<8xf32>, %e: tensor<4xindex>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %t[%in] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @read_twice(%t: tensor<8xf32>, %e: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %t[%in] : tensor<8xf32>
    %r = arith.addf %v, %v : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @no_device(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @clamped_sum(%a: tensor<4x6xf32>, %b: tensor<6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %i = arith.constant dense<0.0> : tensor<6xf32>
  %e = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#two, affine_map<(i, k) -> (k)>, #two], iterator_types = ["parallel", "reduction"]} ins(%0, %e : tensor<6xf32>, tensor<3xf32>) outs(%i : tensor<6xf32>) {
  ^bb0(%in: f32, %l: f32, %out: f32):
    %five = arith.constant 5.0 : f32
    %s = arith.addf %out, %in : f32
    %c = arith.cmpf ogt, %out, %five : f32
    %r = arith.select %c, %out, %s : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
func.func @crossed_sums(%a: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#i, #i, #none, #none], iterator_types = ["reduction"]} ins(%a, %b : tensor<6xf32>, tensor<6xf32>) outs(%z, %z : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32):
    %r = arith.addf %q, %x : f32
    %s = arith.addf %p, %y : f32
    linalg.yield %r, %s : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
func.func @padding_of_sum(%a: tensor<4x5xf32>) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<5xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x5xf32>) outs(%z : tensor<5xf32>) dimensions = [0]
  %one = arith.constant dense<1.0> : tensor<f32>
  %1 = linalg.reduce { arith.mulf } ins(%0 : tensor<5xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.broadcast ins(%1 : tensor<f32>) outs(%e : tensor<4xf32>) dimensions = [0]
  return %2 : tensor<4xf32>
}
func.func @short_constant(%t: tensor<f32>, %e: tensor<4xindex>) -> tensor<4xf32> {
  %b = tensor.empty() : tensor<8xf32>
  %u = linalg.broadcast ins(%t : tensor<f32>) outs(%b : tensor<8xf32>) dimensions = [0]
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %u[%in] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @beyond_window(%v: tensor<8xf32>, %s: index) -> tensor<4xf32> {
  %0 = tensor.extract_slice %v[%s] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @negative_index(%t: tensor<300xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%e : tensor<1xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = arith.constant 200 : i8
    %m = arith.index_castui %c : i8 to index
    %k = arith.constant 56 : index
    %s = arith.subi %m, %k : index
    %v = tensor.extract %t[%s] : tensor<300xf32>
    linalg.yield %v : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @row_of_one(%w: tensor<1x4xf32>, %i: tensor<2xindex>) -> tensor<4xf32> {
  %n = arith.constant 0 : index
  %at = tensor.extract %i[%n] : tensor<2xindex>
  %0 = tensor.extract_slice %w[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @shard_of_one(%w: tensor<4xf32>) -> tensor<1xf32> {
  %0 = tensor.extract_slice %w[2] [1] [1] : tensor<4xf32> to tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @sliced_one(%w: tensor<1xf32>) -> tensor<1xf32> {
  return %w : tensor<1xf32>
}
func.func @inserted(%a: tensor<4xf32>, %n: tensor<index>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %at = tensor.extract %n[] : tensor<index>
  %0 = tensor.extract_slice %a[0] [%at] [1] : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %0 into %w[0] [%at] [1] : tensor<?xf32> into tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @other_order(%a: tensor<4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]} ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %d = arith.mulf %out, %two : f32
    %s = arith.addf %d, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

//--- local.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#ij = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#two = affine_map<(i, k) -> (i)>

// Lane 0 is the padding of the window, 0.
// CHECK: @uniform_padding: {{refused|not decided}}
func.func @uniform_padding(%x: tensor<4xf32>, %v: tensor<10xf32>) -> tensor<4x10xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %v low[1] high[0] {
  ^bb0(%n: index):
    tensor.yield %zero : f32
  } : tensor<10xf32> to tensor<11xf32>
  %s = tensor.extract_slice %p[0] [10] [1] : tensor<11xf32> to tensor<10xf32>
  %e = tensor.empty() : tensor<4x10xf32>
  %0 = linalg.generic {indexing_maps = [#row, #column, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4xf32>, tensor<10xf32>) outs(%e : tensor<4x10xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %j = linalg.index 1 : index
    %one = arith.constant 1 : index
    %c = arith.cmpi sge, %j, %one : index
    %r = arith.select %c, %in, %other : f32
    linalg.yield %r : f32
  } -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
// The second device has the padding of %w.
// CHECK: @one_element: {{refused|not decided}}
func.func @one_element(%x: tensor<1xf32>, %w: tensor<1xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<1xf32> {
  %i = spmd.device_coordinate @m "x" : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%x, %w : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %c = arith.cmpi slt, %i, %one : index
    %r = arith.select %c, %in, %other : f32
    linalg.yield %r : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// The row is on one of the devices.
// CHECK: @one_row: {{refused|not decided}}
func.func @one_row(%x: tensor<1x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}
// Column 1 is that of %z.
// CHECK: @column: {{refused|not decided}}
func.func @column(%x: tensor<4xf32>, %z: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %0 = linalg.generic {indexing_maps = [#i, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%z : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x3xf32>
  %1 = tensor.extract_slice %0[0, 1] [4, 1] [1, 1] : tensor<4x3xf32> to tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}
// Each index counts twice.
// CHECK: @halves: {{refused|not decided}}
func.func @halves(%a: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, #none], iterator_types = ["reduction"]} ins(%e : tensor<4xf32>) outs(%a : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %n = linalg.index 0 : index
    %two = arith.constant 2 : index
    %h = arith.divui %n, %two : index
    %c = arith.index_cast %h : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %out, %f : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
// Sums of different elements.
// CHECK: @partial_slice: {{refused|not decided}}
func.func @partial_slice(%a: tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x3xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %i = spmd.device_coordinate @m "x" : index
  %two = arith.constant 2 : index
  %o = arith.muli %i, %two : index
  %1 = tensor.extract_slice %0[%o] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<2xf32>
  return %2 : tensor<2xf32>
}
// The complete value is added by each device.
// CHECK: @complete_and_partial: {{refused|not decided}}
func.func @complete_and_partial(%a: tensor<4x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x3xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  %2 = arith.addf %1, %0 : tensor<4xf32>
  %3 = spmd.all_reduce %2 sum <@m, {"x"}> : tensor<4xf32>
  return %3 : tensor<4xf32>
}
// Each device adds one to its part.
// CHECK: @partial_index: {{refused|not decided}}
func.func @partial_index(%a: tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<4xi32> {
  %z = arith.constant dense<0> : tensor<4xi32>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<4x3xi32>) outs(%z : tensor<4xi32>) dimensions = [1]
  %e = tensor.empty() : tensor<4xi32>
  %1 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%0 : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %one = arith.constant 1 : index
    %n = arith.index_cast %in : i32 to index
    %m = arith.addi %n, %one : index
    %c = arith.index_cast %m : index to i32
    linalg.yield %c : i32
  } -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
// The element that decides is on one device alone.
// CHECK: @selected_by_unowned: {{refused|not decided}}
func.func @selected_by_unowned(%t: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %e: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %i = spmd.device_coordinate @m "x" : index
  %four = arith.constant 4 : index
  %begin = arith.muli %i, %four : index
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %none = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %local = arith.subi %in, %begin : index
    %owns = arith.cmpi ult, %local, %four : index
    %at = arith.select %owns, %local, %none : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %c = arith.cmpf ogt, %v, %zero : f32
    %s = arith.select %c, %one, %zero : f32
    %m = arith.select %owns, %v, %zero : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// No device has both elements if their indices are in different shards.
// CHECK: @two_owners: {{refused|not decided}}
func.func @two_owners(%t: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %u: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %e: tensor<4xindex>, %f: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %i = spmd.device_coordinate @m "x" : index
  %four = arith.constant 4 : index
  %begin = arith.muli %i, %four : index
  %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%e, %f : tensor<4xindex>, tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %other: index, %out: f32):
    %none = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = arith.subi %in, %begin : index
    %ownsA = arith.cmpi ult, %a, %four : index
    %b = arith.subi %other, %begin : index
    %ownsB = arith.cmpi ult, %b, %four : index
    %owns = arith.andi %ownsA, %ownsB : i1
    %atA = arith.select %ownsA, %a, %none : index
    %atB = arith.select %ownsB, %b, %none : index
    %v = tensor.extract %t[%atA] : tensor<4xf32>
    %w = tensor.extract %u[%atB] : tensor<4xf32>
    %p = arith.mulf %v, %w : f32
    %r = arith.select %owns, %p, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// %f is no index of the read: it may be negative.
// CHECK: @masked_by_data: {{refused|not decided}}
func.func @masked_by_data(%t: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %e: tensor<4xindex>, %f: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %i = spmd.device_coordinate @m "x" : index
  %four = arith.constant 4 : index
  %begin = arith.muli %i, %four : index
  %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%e, %f : tensor<4xindex>, tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %other: index, %out: f32):
    %none = arith.constant 0 : index
    %eight = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %local = arith.subi %in, %begin : index
    %mine = arith.cmpi ult, %local, %four : index
    %bound = arith.cmpi ult, %other, %eight : index
    %owns = arith.andi %mine, %bound : i1
    %at = arith.select %mine, %local, %none : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %r = arith.select %owns, %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// The owner reads element 0 where %c is false.
// CHECK: @masked_index: {{refused|not decided}}
func.func @masked_index(%t: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %e: tensor<4xindex>, %c: tensor<4xi1>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %i = spmd.device_coordinate @m "x" : index
  %four = arith.constant 4 : index
  %begin = arith.muli %i, %four : index
  %0 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%e, %c : tensor<4xindex>, tensor<4xi1>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %flag: i1, %out: f32):
    %none = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %local = arith.subi %in, %begin : index
    %owns = arith.cmpi ult, %local, %four : index
    %both = arith.andi %owns, %flag : i1
    %at = arith.select %both, %local, %none : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %r = arith.select %owns, %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// One of the two reads is not masked.
// CHECK: @read_twice: {{refused|not decided}}
func.func @read_twice(%t: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %e: tensor<4xindex>) -> tensor<4xf32> {
  %z = tensor.empty() : tensor<4xf32>
  %i = spmd.device_coordinate @m "x" : index
  %four = arith.constant 4 : index
  %begin = arith.muli %i, %four : index
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %none = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %local = arith.subi %in, %begin : index
    %owns = arith.cmpi ult, %local, %four : index
    %at = arith.select %owns, %local, %none : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %m = arith.select %owns, %v, %zero : f32
    %r = arith.addf %v, %m : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// No device has both coordinates.
// CHECK: @no_device: {{refused|not decided}}
func.func @no_device(%a: tensor<4xf32>) -> tensor<4xf32> {
  %i = spmd.device_coordinate @m "x" : index
  %n = arith.constant 0 : index
  %k = arith.constant 1 : index
  %first = arith.cmpi eq, %i, %n : index
  %second = arith.cmpi eq, %i, %k : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = arith.select %first, %a, %z : tensor<4xf32>
  %1 = arith.select %second, %0, %z : tensor<4xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// Each device compares its part of the sum with 5.
// CHECK: @clamped_sum: {{refused|not decided}}
func.func @clamped_sum(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %i = arith.constant dense<0.0> : tensor<6xf32>
  %e = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#two, affine_map<(i, k) -> (k)>, #two], iterator_types = ["parallel", "reduction"]} ins(%0, %e : tensor<6xf32>, tensor<3xf32>) outs(%i : tensor<6xf32>) {
  ^bb0(%in: f32, %l: f32, %out: f32):
    %five = arith.constant 5.0 : f32
    %s = arith.addf %out, %in : f32
    %c = arith.cmpf ogt, %out, %five : f32
    %r = arith.select %c, %out, %s : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<6xf32>
  return %2 : tensor<6xf32>
}
// The outputs change places three times on each device, and six times in all.
// CHECK: @crossed_sums: {{refused|not decided}}
func.func @crossed_sums(%a: tensor<3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<f32>, tensor<f32>) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#i, #i, #none, #none], iterator_types = ["reduction"]} ins(%a, %b : tensor<3xf32>, tensor<3xf32>) outs(%z, %z : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %p: f32, %q: f32):
    %r = arith.addf %q, %x : f32
    %s = arith.addf %p, %y : f32
    linalg.yield %r, %s : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %1 = spmd.all_reduce %0#0 sum <@m, {"x"}> : tensor<f32>
  %2 = spmd.all_reduce %0#1 sum <@m, {"x"}> : tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}
// Padding was 1 before the sum, and is 2 after it.
// CHECK: @padding_of_sum: {{refused|not decided}}
func.func @padding_of_sum(%a: tensor<2x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<4xf32> {
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x3xf32>) outs(%z : tensor<3xf32>) dimensions = [0]
  %i = spmd.device_coordinate @m "y" : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %begin = arith.muli %i, %three : index
  %ez = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%0 : tensor<3xf32>) outs(%ez : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %j = linalg.index 0 : index
    %g = arith.addi %j, %begin : index
    %c = arith.cmpi slt, %g, %five : index
    %r = arith.select %c, %in, %one : f32
    linalg.yield %r : f32
  } -> tensor<3xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<3xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %3 = linalg.reduce { arith.mulf } ins(%2 : tensor<3xf32>) outs(%one : tensor<f32>) dimensions = [0]
  %4 = spmd.all_reduce %3 prod <@m, {"y"}> : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %5 = linalg.broadcast ins(%4 : tensor<f32>) outs(%e : tensor<4xf32>) dimensions = [0]
  return %5 : tensor<4xf32>
}
// A device has four of eight equal elements, and reads at any index below eight.
// CHECK: @short_constant: {{refused|not decided}}
func.func @short_constant(%t: tensor<f32>, %e: tensor<4xindex>) -> tensor<4xf32> {
  %b = tensor.empty() : tensor<4xf32>
  %u = linalg.broadcast ins(%t : tensor<f32>) outs(%b : tensor<4xf32>) dimensions = [0]
  %z = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%e : tensor<4xindex>) outs(%z : tensor<4xf32>) {
  ^bb0(%in: index, %out: f32):
    %v = tensor.extract %u[%in] : tensor<4xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The slice may begin at 3 and reach beyond the window of four.
// CHECK: @beyond_window: {{refused|not decided}}
func.func @beyond_window(%v: tensor<8xf32>, %s: index) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %i = spmd.device_coordinate @m "x" : index
  %two = arith.constant 2 : index
  %begin = arith.muli %i, %two : index
  %0 = tensor.extract_slice %v[%begin] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %1 = tensor.extract_slice %0[%s] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
// 200 of 8 bits is an index of 200, not of -56.
// CHECK: @negative_index: {{refused|not decided}}
func.func @negative_index(%t: tensor<300xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %0 = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%e : tensor<1xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = arith.constant 56 : i8
    %m = arith.index_castui %c : i8 to index
    %k = arith.constant 168 : index
    %s = arith.subi %k, %m : index
    %v = tensor.extract %t[%s] : tensor<300xf32>
    linalg.yield %v : f32
  } -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// Index 1 may be beyond the only row.
// CHECK: @row_of_one: {{refused|not decided}}
func.func @row_of_one(%w: tensor<1x4xf32>, %i: tensor<2xindex>) -> tensor<4xf32> {
  %n = arith.constant 1 : index
  %at = tensor.extract %i[%n] : tensor<2xindex>
  %0 = tensor.extract_slice %w[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
// The devices that have the element along y are not those along x.
// CHECK: @shard_of_one: {{refused|not decided}}
func.func @shard_of_one(%w: tensor<4xf32>) -> (tensor<1xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %0 = tensor.extract_slice %w[2] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %1 = spmd.all_slice %0 <@m, [{"y"}]> : tensor<1xf32> -> tensor<1xf32>
  return %1 : tensor<1xf32>
}
// Only the first device along y has the element.
// CHECK: @sliced_one: {{refused|not decided}}
func.func @sliced_one(%w: tensor<1xf32>) -> tensor<1xf32> {
  %0 = spmd.all_slice %w <@m, [{"y"}]> : tensor<1xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
// All of %a is inserted, not the first %n elements.
// CHECK: @inserted: {{refused|not decided}}
func.func @inserted(%a: tensor<4xf32>, %n: tensor<index>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %at = tensor.extract %n[] : tensor<index>
  %0 = tensor.extract_slice %a[0] [%at] [1] : tensor<4xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %0 into %a[0] [%at] [1] : tensor<?xf32> into tensor<4xf32>
  return %1 : tensor<4xf32>
}
// The elements are in another order, on which the sum depends.
// CHECK: @other_order: {{refused|not decided}}
func.func @other_order(%a: tensor<4xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %e = tensor.empty() : tensor<2x2xf32>
  %n = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %t = linalg.transpose ins(%n : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %f = tensor.collapse_shape %t [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]} ins(%f : tensor<4xf32>) outs(%z : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %d = arith.mulf %out, %two : f32
    %s = arith.addf %d, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
