// An op over dims that divide one dim is the op over that dim, if the loops count it in its order. Reshapes, slices and
// windows of constants that only the partitioned program has.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --rules 2>/dev/null | FileCheck %t/local.mlir

//--- global.mlir
func.func @product(%x: tensor<4x6xf32>, %w: tensor<6x12xf32>) -> tensor<4x3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x12xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x12xf32>) outs(%z : tensor<4x12xf32>) -> tensor<4x12xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 3, 4] : tensor<4x12xf32> into tensor<4x3x4xf32>
  return %1 : tensor<4x3x4xf32>
}
func.func @other_order(%x: tensor<4x6xf32>, %w: tensor<6x12xf32>) -> tensor<4x3x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x12xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x12xf32>) outs(%z : tensor<4x12xf32>) -> tensor<4x12xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 3, 4] : tensor<4x12xf32> into tensor<4x3x4xf32>
  return %1 : tensor<4x3x4xf32>
}
func.func @contraction(%x: tensor<4x12xf32>, %w: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x12xf32>, tensor<12x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @other_pairs(%x: tensor<4x12xf32>, %w: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x12xf32>, tensor<12x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @some_units(%x: tensor<4x12xf32>, %w: tensor<12x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x12xf32>, tensor<12x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
func.func @segment(%x: tensor<4x6xf32>, %w: tensor<6x20xf32>) -> tensor<4x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x20xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x20xf32>) outs(%z : tensor<4x20xf32>) -> tensor<4x20xf32>
  %1 = tensor.extract_slice %0[0, 12] [4, 8] [1, 1] : tensor<4x20xf32> to tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func @other_segment(%x: tensor<4x6xf32>, %w: tensor<6x20xf32>) -> tensor<4x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x20xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x20xf32>) outs(%z : tensor<4x20xf32>) -> tensor<4x20xf32>
  %1 = tensor.extract_slice %0[0, 12] [4, 8] [1, 1] : tensor<4x20xf32> to tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func @index(%x: tensor<12xi32>) -> tensor<3x4xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(q) -> (q)>, affine_map<(q) -> (q)>], iterator_types = ["parallel"]} ins(%x : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%in: i32, %out: i32):
    %q = linalg.index 0 : index
    %n = arith.index_cast %q : index to i32
    %sum = arith.addi %in, %n : i32
    linalg.yield %sum : i32
  } -> tensor<12xi32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  return %1 : tensor<3x4xi32>
}
func.func @other_index(%x: tensor<12xi32>) -> tensor<3x4xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(q) -> (q)>, affine_map<(q) -> (q)>], iterator_types = ["parallel"]} ins(%x : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%in: i32, %out: i32):
    %q = linalg.index 0 : index
    %n = arith.index_cast %q : index to i32
    %sum = arith.addi %in, %n : i32
    linalg.yield %sum : i32
  } -> tensor<12xi32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  return %1 : tensor<3x4xi32>
}
func.func @padded_ones(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %zero = arith.constant 2.0 : f32
  %0 = tensor.pad %one low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<8xf32>
  %1 = arith.mulf %0, %x : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @padded_too_far(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %zero = arith.constant 2.0 : f32
  %0 = tensor.pad %one low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<8xf32>
  %1 = arith.mulf %0, %x : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @beyond_segment(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>) -> tensor<4x18xf32> {
  %z = arith.constant dense<0.0> : tensor<4x32xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%z : tensor<4x32xf32>) -> tensor<4x32xf32>
  %1 = tensor.extract_slice %0[0, 0] [4, 18] [1, 1] : tensor<4x32xf32> to tensor<4x18xf32>
  return %1 : tensor<4x18xf32>
}
func.func @inside_segment(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>) -> tensor<4x16xf32> {
  %z = arith.constant dense<0.0> : tensor<4x32xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%z : tensor<4x32xf32>) -> tensor<4x32xf32>
  %1 = tensor.extract_slice %0[0, 0] [4, 16] [1, 1] : tensor<4x32xf32> to tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
func.func @beyond_mask(%w: tensor<7xi32>) -> tensor<3xi32> {
  %0 = tensor.extract_slice %w[0] [3] [3] : tensor<7xi32> to tensor<3xi32>
  return %0 : tensor<3xi32>
}
func.func @block(%x: tensor<4x24xf32>) -> tensor<4x12xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 12] : tensor<4x24xf32> into tensor<4x2x12xf32>
  %1 = tensor.extract_slice %0[0, 1, 0] [4, 1, 12] [1, 1, 1] : tensor<4x2x12xf32> to tensor<4x12xf32>
  %2 = math.tanh %1 : tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}
func.func @other_block(%x: tensor<4x24xf32>) -> tensor<4x12xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 12] : tensor<4x24xf32> into tensor<4x2x12xf32>
  %1 = tensor.extract_slice %0[0, 1, 0] [4, 1, 12] [1, 1, 1] : tensor<4x2x12xf32> to tensor<4x12xf32>
  %2 = math.tanh %1 : tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}

//--- local.mlir
spmd.mesh @m = <["x"=3]>
spmd.mesh @p = <["x"=2]>
#split = affine_map<(i, h, e, k) -> (i, k)>
#weight = affine_map<(i, h, e, k) -> (k, h, e)>
#swapped = affine_map<(i, h, e, k) -> (k, e, h)>
#heads = affine_map<(i, h, e, k) -> (i, h, e)>
#row = affine_map<(i, j, h, e) -> (i, h, e)>
#column = affine_map<(i, j, h, e) -> (h, e, j)>
#crossed = affine_map<(i, j, h, e) -> (e, h, j)>
#result = affine_map<(i, j, h, e) -> (i, j)>
#i = affine_map<(i) -> (i)>
#he = affine_map<(h, e) -> (h, e)>
// CHECK: @product: proven
// CHECK: x loops that divide one loop
func.func @product(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<6x1x4xf32> {spmd.global_type = tensor<6x3x4xf32>, spmd.segment = #spmd.segment<tensor<6x12xf32>, dim = 1, offset = 0, unit = 4, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) -> (tensor<4x1x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x1x4xf32>
  %0 = linalg.generic {indexing_maps = [#split, #weight, #heads], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x1x4xf32>) outs(%z : tensor<4x1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x1x4xf32>
  return %0 : tensor<4x1x4xf32>
}
// Columns 3 e + h of a weight whose dims are not those of the result.
// CHECK: @other_order: {{refused|not decided}}
func.func @other_order(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<6x4x3xf32> {spmd.global_type = tensor<6x4x3xf32>, spmd.segment = #spmd.segment<tensor<6x12xf32>, dim = 1, offset = 0, unit = 3, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) -> (tensor<4x3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#split, #swapped, #heads], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x4x3xf32>) outs(%z : tensor<4x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x3x4xf32>
  return %0 : tensor<4x3x4xf32>
}
// CHECK: @contraction: proven
// CHECK: x loops that divide one loop
func.func @contraction(%x: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.global_type = tensor<4x12xf32>}, %w: tensor<1x4x6xf32> {spmd.global_type = tensor<3x4x6xf32>, spmd.segment = #spmd.segment<tensor<12x6xf32>, dim = 0, offset = 0, unit = 4, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 1, 4] : tensor<4x4xf32> into tensor<4x1x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%r, %w : tensor<4x1x4xf32>, tensor<1x4x6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
// Row 4 h + e by 3 e + h.
// CHECK: @other_pairs: {{refused|not decided}}
func.func @other_pairs(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<4x3x6xf32> {spmd.global_type = tensor<4x3x6xf32>, spmd.segment = #spmd.segment<tensor<12x6xf32>, dim = 0, offset = 0, unit = 3, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 3, 4] : tensor<4x12xf32> into tensor<4x3x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #crossed, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%r, %w : tensor<4x3x4xf32>, tensor<4x3x6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// The first two units alone.
// CHECK: @some_units: {{refused|not decided}}
func.func @some_units(%x: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<3x4x6xf32> {spmd.global_type = tensor<3x4x6xf32>, spmd.segment = #spmd.segment<tensor<12x6xf32>, dim = 0, offset = 0, unit = 4, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 3, 4] : tensor<4x12xf32> into tensor<4x3x4xf32>
  %a2 = tensor.extract_slice %r[0, 0, 0] [4, 2, 4] [1, 1, 1] : tensor<4x3x4xf32> to tensor<4x2x4xf32>
  %w2 = tensor.extract_slice %w[0, 0, 0] [2, 4, 6] [1, 1, 1] : tensor<3x4x6xf32> to tensor<2x4x6xf32>
  %0 = linalg.generic {indexing_maps = [#row, #column, #result], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a2, %w2 : tensor<4x2x4xf32>, tensor<2x4x6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// CHECK: @segment: proven
// CHECK: x loops that divide one loop
func.func @segment(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {}]>}, %w: tensor<6x1x4xf32> {spmd.global_type = tensor<6x2x4xf32>, spmd.sharding = #spmd.sharding<@p, [{}, {"x"}, {}]>, spmd.segment = #spmd.segment<tensor<6x20xf32>, dim = 1, offset = 12, unit = 4, argument = 1>}) -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {"x"}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x1x4xf32>
  %0 = linalg.generic {indexing_maps = [#split, #weight, #heads], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x1x4xf32>) outs(%z : tensor<4x1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x1x4xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x1x4xf32> into tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
// Columns [8, 16) for those from 12 on.
// CHECK: @other_segment: {{refused|not decided}}
func.func @other_segment(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {}]>}, %w: tensor<6x1x4xf32> {spmd.global_type = tensor<6x2x4xf32>, spmd.sharding = #spmd.sharding<@p, [{}, {"x"}, {}]>, spmd.segment = #spmd.segment<tensor<6x20xf32>, dim = 1, offset = 8, unit = 4, argument = 1>}) -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {"x"}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x1x4xf32>
  %0 = linalg.generic {indexing_maps = [#split, #weight, #heads], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x1x4xf32>) outs(%z : tensor<4x1x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x1x4xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x1x4xf32> into tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
// CHECK: @index: proven
// CHECK: x loops that divide one loop
func.func @index(%x: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<3x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %e = tensor.empty() : tensor<3x4xi32>
  %r = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  %0 = linalg.generic {indexing_maps = [#he, #he], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<3x4xi32>) outs(%e : tensor<3x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %h = linalg.index 0 : index
    %l = linalg.index 1 : index
    %c4 = arith.constant 4 : index
    %hs = arith.muli %h, %c4 : index
    %q = arith.addi %hs, %l : index
    %n = arith.index_cast %q : index to i32
    %sum = arith.addi %in, %n : i32
    linalg.yield %sum : i32
  } -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}
// 3 h + e is not 4 h + e.
// CHECK: @other_index: {{refused|not decided}}
func.func @other_index(%x: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<3x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %e = tensor.empty() : tensor<3x4xi32>
  %r = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xi32> into tensor<3x4xi32>
  %0 = linalg.generic {indexing_maps = [#he, #he], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<3x4xi32>) outs(%e : tensor<3x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %h = linalg.index 0 : index
    %l = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %hs = arith.muli %h, %c3 : index
    %q = arith.addi %hs, %l : index
    %n = arith.index_cast %q : index to i32
    %sum = arith.addi %in, %n : i32
    linalg.yield %sum : i32
  } -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}
// CHECK: @padded_ones: proven
// CHECK: x constant with zeros around it
func.func @padded_ones(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@p, [{"x"}]>, spmd.global_type = tensor<8xf32>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@p, [{"x"}]>}) {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %two = arith.constant 2.0 : f32
  %first = arith.constant 1 : index
  %end = arith.constant 7 : index
  %c4 = arith.constant 4 : index
  %d = spmd.device_coordinate @p "x" : index
  %begin = arith.muli %d, %c4 : index
  %e = tensor.empty() : tensor<4xf32>
  %0 = spmd.halo_exchange %one of tensor<6xf32> <@p, [{"x"}]> to <@p, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<3xf32> -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %j = linalg.index 0 : index
    %g = arith.addi %begin, %j : index
    %from = arith.cmpi sge, %g, %first : index
    %to = arith.cmpi slt, %g, %end : index
    %inside = arith.andi %from, %to : i1
    %s = arith.select %inside, %in, %two : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = arith.mulf %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// The zero at index 0 is no element.
// CHECK: @padded_too_far: {{refused|not decided}}
func.func @padded_too_far(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@p, [{"x"}]>, spmd.global_type = tensor<8xf32>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@p, [{"x"}]>}) {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %two = arith.constant 2.0 : f32
  %first = arith.constant 0 : index
  %end = arith.constant 7 : index
  %c4 = arith.constant 4 : index
  %d = spmd.device_coordinate @p "x" : index
  %begin = arith.muli %d, %c4 : index
  %e = tensor.empty() : tensor<4xf32>
  %0 = spmd.halo_exchange %one of tensor<6xf32> <@p, [{"x"}]> to <@p, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<3xf32> -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %j = linalg.index 0 : index
    %g = arith.addi %begin, %j : index
    %from = arith.cmpi sge, %g, %first : index
    %to = arith.cmpi slt, %g, %end : index
    %inside = arith.andi %from, %to : i1
    %s = arith.select %inside, %in, %two : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = arith.mulf %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
// Columns 16 and 17 of the last device are padding of the segment.
// CHECK: @beyond_segment: {{refused|not decided}}
func.func @beyond_segment(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<6x6xf32> {spmd.global_type = tensor<6x16xf32>, spmd.segment = #spmd.segment<tensor<6x32xf32>, dim = 1, offset = 0, unit = 1, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// CHECK: @inside_segment: proven
func.func @inside_segment(%x: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<6x6xf32> {spmd.global_type = tensor<6x16xf32>, spmd.segment = #spmd.segment<tensor<6x32xf32>, dim = 1, offset = 0, unit = 1, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// The mask is shifted by one, so that element 6 of the second device is a zero.
// CHECK: @beyond_mask: {{refused|not decided}}
func.func @beyond_mask(%w: tensor<4xi32> {spmd.global_type = tensor<7xi32>, spmd.sharding = #spmd.sharding<@p, [{"x"}]>}) -> (tensor<2xi32> {spmd.global_type = tensor<3xi32>, spmd.sharding = #spmd.sharding<@p, [{"x"}]>}) {
  %true = arith.constant dense<true> : tensor<7xi1>
  %mask = spmd.halo_exchange %true of tensor<7xi1> <@p, [{}]> to <@p, [{"x"}]> dims = [0] steps = [4] offsets = [1] : tensor<7xi1> -> tensor<4xi1>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %0 = arith.select %mask, %w, %zero : tensor<4xi1>, tensor<4xi32>
  %1 = spmd.halo_exchange %0 of tensor<4xi32> <@p, [{}]> to <@p, [{"x"}]> dims = [0] steps = [2] offsets = [0] : tensor<4xi32> -> tensor<4xi32>
  %2 = tensor.extract_slice %1[0] [2] [3] : tensor<4xi32> to tensor<2xi32>
  return %2 : tensor<2xi32>
}
// CHECK: @block: proven
func.func @block(%x: tensor<4x24xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {"x"}]>}) {
  %0 = tensor.extract_slice %x[0, 12] [4, 12] [1, 1] : tensor<4x24xf32> to tensor<4x12xf32>
  %1 = spmd.all_slice %0 <@p, [{}, {"x"}]> : tensor<4x12xf32> -> tensor<4x6xf32>
  %2 = math.tanh %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
// CHECK: @other_block: {{refused|not decided}}
func.func @other_block(%x: tensor<4x24xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@p, [{}, {"x"}]>}) {
  %0 = tensor.extract_slice %x[0, 11] [4, 12] [1, 1] : tensor<4x24xf32> to tensor<4x12xf32>
  %1 = spmd.all_slice %0 <@p, [{}, {"x"}]> : tensor<4x12xf32> -> tensor<4x6xf32>
  %2 = math.tanh %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}
