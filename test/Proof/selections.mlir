// Reductions that keep one of many: of what all blocks keep, the one is kept that is kept of all elements, if the
// selection has laws for that.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>/dev/null | FileCheck %t/local.mlir

//--- global.mlir
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
func.func @first_of_equals(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @last_of_equals(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf oge, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @after_nan(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ugt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @other_first(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @other_order(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @local_index(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}
func.func @other_tuples(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}

//--- local.mlir
spmd.mesh @m = <["x"=2]>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
// CHECK: @first_of_equals: proven
func.func @first_of_equals(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// What a block keeps may be what it begins with: the second one takes that in place of an element of the first.
// CHECK: @last_of_equals: {{refused|not decided}}
func.func @last_of_equals(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf oge, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf oge, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// After a NaN any element is taken, so that what a block keeps depends on where it begins.
// CHECK: @after_nan: {{refused|not decided}}
func.func @after_nan(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ugt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf ugt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// The selection among the blocks begins with 10.
// CHECK: @other_first: {{refused|not decided}}
func.func @other_first(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%ten, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// The selection among the blocks takes the last of equals.
// CHECK: @other_order: {{refused|not decided}}
func.func @other_order(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf oge, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// The index is that in the block.
// CHECK: @local_index: {{refused|not decided}}
func.func @local_index(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 0 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
// The indices are those of another selection.
// CHECK: @other_tuples: {{refused|not decided}}
func.func @other_tuples(%x: tensor<4x4xf32> {spmd.global_type = tensor<4x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %low = arith.constant dense<0xFF800000> : tensor<4xf32>
  %ten = arith.constant dense<10.0> : tensor<4xf32>
  %zero = arith.constant dense<0> : tensor<4xi64>
  %d = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %d, %c4 : index
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %5:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf32>) outs(%ten, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %g = arith.addi %begin, %j : index
    %k = arith.index_cast %g : index to i64
    %c = arith.cmpf olt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = tensor.expand_shape %0#0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %2 = tensor.expand_shape %5#1 [[0, 1]] output_shape [1, 4] : tensor<4xi64> into tensor<1x4xi64>
  %3 = spmd.all_gather %1 <@m, [{"x"}, {}]> : tensor<1x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_gather %2 <@m, [{"x"}, {}]> : tensor<1x4xi64> -> tensor<2x4xi64>
  %r:2 = linalg.generic {indexing_maps = [#ji, #ji, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%3, %4 : tensor<2x4xf32>, tensor<2x4xi64>) outs(%low, %zero : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %k: i64, %best: f32, %at: i64):
    %c = arith.cmpf ogt, %in, %best : f32
    %v = arith.select %c, %in, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}
