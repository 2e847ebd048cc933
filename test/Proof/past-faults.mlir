// Faults that the partitioner had once (test/Integration/traps has the programs), and faults that other tools published,
// each rebuilt in a partitioned program. Each is found, at the op that has it or at the first one that reads it.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>&1 | FileCheck %t/local.mlir

//--- global.mlir
func.func @init_of_all(%a: tensor<8x6xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x6xf32>) outs(%c : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @axis_order(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = math.exp %a : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
func.func @zero_padding_of_max(%a: tensor<5x6xf32>) -> tensor<6xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<5x6xf32>) outs(%low : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @local_index(%a: tensor<8xi32>) -> tensor<8xi32> {
  %e = tensor.empty() : tensor<8xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%v: i32, %out: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.addi %v, %j : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}
func.func @mask_too_wide(%a: tensor<5x6xi32>) -> tensor<6xi32> {
  %z = arith.constant dense<0> : tensor<6xi32>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<5x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  return %0 : tensor<6xi32>
}
func.func @other_combiner(%a: tensor<8x6xf32>) -> tensor<6xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x6xf32>) outs(%low : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @carried_partial(%x: tensor<8x6xf32>, %w: tensor<6x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<8x6xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<8x6xf32> {
    %1 = linalg.matmul ins(%h, %w : tensor<8x6xf32>, tensor<6x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = math.tanh %1 : tensor<8x6xf32>
    scf.yield %2 : tensor<8x6xf32>
  }
  return %0 : tensor<8x6xf32>
}
func.func @halo_of_the_other_side(%a: tensor<9xf32>) -> tensor<8xf32> {
  %l = tensor.extract_slice %a[0] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %r = tensor.extract_slice %a[1] [8] [1] : tensor<9xf32> to tensor<8xf32>
  %0 = arith.subf %r, %l : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @base_of_a_table(%table: tensor<8x6xf32>, %ids: tensor<5xi32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<8x6xf32>
    linalg.yield %v : f32
  } -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}
func.func @joined_by_device(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
func.func @counted_twice(%a: tensor<8x6xf32>, %b: tensor<6x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x6xf32>, tensor<6x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @slice_of_each_shard(%a: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.extract_slice %a[2, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @strided_slice(%a: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %0 = tensor.extract_slice %a[0, 0] [4, 6] [2, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @no_mask(%a: tensor<5x6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<5x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @bias_of_all(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = arith.addf %0, %b : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func @square_of_a_part(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = arith.mulf %0, %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
func.func @mean_of_a_shard(%a: tensor<8x6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %n = arith.constant dense<8.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = arith.divf %0, %n : tensor<6xf32>
  return %1 : tensor<6xf32>
}
func.func @gradient_of_one_group(%x: tensor<8x6xf32>, %dy: tensor<8x4xf32>) -> tensor<6x4xf32> {
  %z = arith.constant dense<0.0> : tensor<6x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<8x6xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
func.func @scattered_along_another_dim(%x: tensor<8x6xf32>, %w: tensor<6x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func @kept_by_no_device(%a: tensor<8x6xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x6xf32>) outs(%c : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
// The prover took row 0 for row 1, as the one index of a dim of one element.
func.func @another_row(%x: tensor<4x8xf64>) -> tensor<1x8xf64> {
  %0 = tensor.extract_slice %x[1, 0] [1, 8] [1, 1] : tensor<4x8xf64> to tensor<1x8xf64>
  return %0 : tensor<1x8xf64>
}

//--- local.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
// The partitioner's own.
// CHECK: @init_of_all is refused at linalg.reduce: combines a complete value with one that is partial over {"x"}
func.func @init_of_all(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %c: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%c : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// CHECK: @axis_order is refused at spmd.all_gather: result #0 holds
func.func @axis_order(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}) -> tensor<8x6xf32> {
  %0 = math.exp %a : tensor<2x6xf32>
  %1 = spmd.all_gather %0 <@m, [{"y", "x"}, {}]> : tensor<2x6xf32> -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
// CHECK: @zero_padding_of_max is refused at linalg.generic: padding of loop 0 (3 x + i0 beyond 5) is part of the result
func.func @zero_padding_of_max(%a: tensor<3x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %x = spmd.device_coordinate @m "x" : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %first = arith.muli %x, %c3 : index
  %z = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<3x6xf32>) outs(%low : tensor<6xf32>) {
  ^bb0(%v: f32, %out: f32):
    %i = linalg.index 0 : index
    %at = arith.addi %i, %first : index
    %in = arith.cmpi slt, %at, %c5 : index
    %k = arith.select %in, %v, %z : f32
    %m = arith.maximumf %out, %k : f32
    linalg.yield %m : f32
  } -> tensor<6xf32>
  %1 = spmd.all_reduce %0 max <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// CHECK: @local_index is not decided at linalg.generic
func.func @local_index(%a: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%v: i32, %out: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.addi %v, %j : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// CHECK: @mask_too_wide is refused at arith.constant: gives another value than the one that linalg.generic needs
// CHECK: note: all results are right with value = 5 : index
func.func @mask_too_wide(%a: tensor<3x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xi32> {
  %low = arith.constant dense<0> : tensor<6xi32>
  %x = spmd.device_coordinate @m "x" : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %first = arith.muli %x, %c3 : index
  %z = arith.constant 0 : i32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<3x6xi32>) outs(%low : tensor<6xi32>) {
  ^bb0(%v: i32, %out: i32):
    %i = linalg.index 0 : index
    %at = arith.addi %i, %first : index
    %in = arith.cmpi slt, %at, %c6 : index
    %k = arith.select %in, %v, %z : i32
    %s = arith.addi %out, %k : i32
    linalg.yield %s : i32
  } -> tensor<6xi32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xi32>
  return %1 : tensor<6xi32>
}
// CHECK: @other_combiner is refused at spmd.all_reduce: reduces (sum) over {"x"}, but the operand is partial (max) over {"x"}
func.func @other_combiner(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<4x6xf32>) outs(%low : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// CHECK: @carried_partial is refused at math.tanh: math.tanh of a value that is partial (sum) over {"x"}
func.func @carried_partial(%x: tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<3x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<8x6xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<8x3xf32> {
    %1 = linalg.matmul ins(%h, %w : tensor<8x3xf32>, tensor<3x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = math.tanh %1 : tensor<8x6xf32>
    %3 = spmd.all_slice %2 <@m, [{}, {"x"}]> : tensor<8x6xf32> -> tensor<8x3xf32>
    scf.yield %3 : tensor<8x3xf32>
  }
  return %0 : tensor<8x3xf32>
}
// CHECK: @halo_of_the_other_side is refused at spmd.halo_exchange: gives another value than the one that tensor.extract_slice needs
// CHECK: note: tensor.extract_slice: result #0 holds [4 x + i0 - 1], expected [4 x + i0]
func.func @halo_of_the_other_side(%a: tensor<5xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %w = spmd.halo_exchange %a of tensor<9xf32> <@m, [{"x"}]> to <@m, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<5xf32> -> tensor<5xf32>
  %l = tensor.extract_slice %w[0] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %r = tensor.extract_slice %w[1] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %0 = arith.subf %r, %l : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: @base_of_a_table is not decided at spmd.device_coordinate: gives another value than the one that linalg.generic needs
// CHECK: note: linalg.generic: reads a sharded value at computed indices
func.func @base_of_a_table(%table: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %ids: tensor<5xi32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %y = spmd.device_coordinate @m "y" : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %global = arith.index_cast %id : i32 to index
    %first = arith.muli %y, %c4 : index
    %row = arith.subi %global, %first : index
    %has = arith.cmpi ult, %row, %c4 : index
    %at = arith.select %has, %row, %c0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<4x6xf32>
    %kept = arith.select %has, %v, %none : f32
    linalg.yield %kept : f32
  } -> tensor<5x6xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}
// CHECK: @joined_by_device is refused at spmd.all_gather: result #0 holds
func.func @joined_by_device(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %1 = spmd.all_gather %0 <@m, [{"x"}, {}]> : tensor<4x6xf32> -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
// CHECK: @counted_twice is refused at spmd.all_reduce: reduces (sum) over {"y"}, but the operand is complete
func.func @counted_twice(%a: tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x3xf32>, tensor<3x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8x4xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"y"}> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// Of other tools: a slice is taken of each shard, by the local size.
// CHECK: @slice_of_each_shard is refused at tensor.extract_slice: result #0 holds
func.func @slice_of_each_shard(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = tensor.extract_slice %a[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// CHECK: @strided_slice is not decided at tensor.extract_slice: result #0 holds another value
// CHECK: note: all results are right with static_strides = array<i64: 2, 1>
func.func @strided_slice(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = tensor.extract_slice %a[0, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// CHECK: @no_mask is refused at linalg.reduce: padding of loop 0 (3 x + i0 beyond 5) is part of the result
func.func @no_mask(%a: tensor<3x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<3x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// A bias before the sum over devices.
// CHECK: @bias_of_all is refused at arith.addf: combines a complete value with one that is partial over {"x"}
func.func @bias_of_all(%x: tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x3xf32>, tensor<3x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = arith.addf %0, %b : tensor<8x4xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// CHECK: @square_of_a_part is refused at arith.mulf: arith.mulf of a value that is partial (sum) over {"x"}
func.func @square_of_a_part(%x: tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x3xf32>, tensor<3x4xf32>) outs(%z : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = arith.mulf %0, %0 : tensor<8x4xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// The mean divides by the elements of a shard.
// CHECK: @mean_of_a_shard is not decided at arith.constant: result #0 holds another value
// CHECK: note: all results are right if all its elements are 8.000000e+00 : f32
func.func @mean_of_a_shard(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %n = arith.constant dense<4.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  %2 = arith.divf %1, %n : tensor<6xf32>
  return %2 : tensor<6xf32>
}
// The gradient is summed over one of the two axes of the batch.
// CHECK: @gradient_of_one_group is refused at spmd.all_reduce: result #0 is partial (sum) over {"y"}, expected the complete value
func.func @gradient_of_one_group(%x: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}, %dy: tensor<2x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}) -> tensor<6x4xf32> {
  %z = arith.constant dense<0.0> : tensor<6x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dy : tensor<2x6xf32>, tensor<2x4xf32>) outs(%z : tensor<6x4xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x4xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}
// CHECK: @scattered_along_another_dim is not decided at spmd.all_gather: moves shards of dim 0 along {"y"}, along which they are equal
// CHECK: note: all results are right with sharding = #spmd.sharding<@m, [{"x"}, {}]>
func.func @scattered_along_another_dim(%x: tensor<8x3xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<3x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x3xf32>, tensor<3x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = spmd.reduce_scatter %0 sum <@m, [{"x"}, {}]> : tensor<8x8xf32> -> tensor<4x8xf32>
  %2 = spmd.all_gather %1 <@m, [{"y"}, {}]> : tensor<4x8xf32> -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// No device has the coordinate 2.
// CHECK: @kept_by_no_device is not decided at arith.constant: gives another value than the one that arith.select needs
func.func @kept_by_no_device(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %c: tensor<6xf32>) -> tensor<6xf32> {
  %x = spmd.device_coordinate @m "x" : index
  %c2 = arith.constant 2 : index
  %is = arith.cmpi eq, %x, %c2 : index
  %none = arith.constant dense<-0.0> : tensor<6xf32>
  %once = arith.select %is, %c, %none : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%once : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// CHECK: @another_row is not decided at tensor.extract_slice: result #0 holds another value of the unsharded program
func.func @another_row(%x: tensor<4x8xf64>) -> tensor<1x8xf64> {
  %0 = tensor.extract_slice %x[0, 0] [1, 8] [1, 1] : tensor<4x8xf64> to tensor<1x8xf64>
  return %0 : tensor<1x8xf64>
}
