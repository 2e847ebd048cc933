// Shard functions are compared with the loading functions of the unsharded program.
// RUN: split-file %s %t
// RUN: shard-opt %t/global.mlir --spmd-default-pipeline -o %t/made.mlir
// RUN: shard-prove %t/global.mlir %t/made.mlir --certificate=%t/made.json | FileCheck %t/global.mlir
// RUN: not shard-prove %t/global.mlir %t/made.mlir --check=%t/made.json 2>/dev/null | FileCheck %t/global.mlir --check-prefix=AGAIN
// RUN: sed '/func private @grouped_shard/,/return/s/mulf/addf/' %t/made.mlir > %t/added.mlir
// RUN: not shard-prove %t/global.mlir %t/added.mlir 2>/dev/null | FileCheck %t/global.mlir --check-prefix=ADDED
// RUN: not shard-prove %t/global.mlir %t/wrong.mlir 2>/dev/null | FileCheck %t/wrong.mlir
// RUN: not shard-prove %t/global.mlir %t/other.mlir 2>&1 | FileCheck %t/other.mlir

//--- global.mlir
spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> tensor<20x6xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// CHECK: @combine_shard_{{.*}}: proven
// CHECK: @rows: proven
// AGAIN: @combine_shard_{{.*}}: checked
// AGAIN: @rows: checked
func.func @rows(%w: tensor<20x6xf32> {spmd.weight = ["q", "k"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<20x6xf32> {
  %0 = math.tanh %w : tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// Not proven again for another argument of the same layout.
// CHECK-NOT: shard
// CHECK: @again: proven
func.func @again(%w: tensor<20x6xf32> {spmd.weight = ["q", "k"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<20x6xf32> {
  return %w : tensor<20x6xf32>
}
// The loader copies rows of both tensors, and a function of these computes the shard.
// CHECK: @scaled_shard_{{.*}}: proven
// CHECK: @scales: proven
func.func private @scaled(%w: tensor<8x6xf16>, %s: tensor<8xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<8x6xf16>, tensor<8xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%q: f16, %c: f32, %o: f32):
    %f = arith.extf %q : f16 to f32
    %p = arith.mulf %f, %c : f32
    linalg.yield %p : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
func.func @scales(%w: tensor<8x6xf32> {spmd.weight = ["w", "s"], spmd.load = @scaled, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  return %w : tensor<8x6xf32>
}
// Scales of 4 rows each, for shards of 6: the copies of the scales are not one box, so they are a table.
// CHECK: @grouped_shard_{{.*}}: proven
// CHECK: @groups: proven
// ADDED: @grouped_shard_{{.*}}: refused
func.func private @grouped(%w: tensor<12xf32>, %s: tensor<3xf32>) -> tensor<12xf32> {
  %g = tensor.expand_shape %w [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g, %s : tensor<3x4xf32>, tensor<3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%q: f32, %c: f32, %o: f32):
    %p = arith.mulf %q, %c : f32
    linalg.yield %p : f32
  } -> tensor<3x4xf32>
  %r = tensor.collapse_shape %0 [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  return %r : tensor<12xf32>
}
func.func @groups(%w: tensor<12xf32> {spmd.weight = ["g", "t"], spmd.load = @grouped, spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<12xf32> {
  return %w : tensor<12xf32>
}

//--- wrong.mlir
spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> tensor<20x6xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// Rows 9 and on.
// CHECK: @other_rows: {{refused|not decided}}
func.func private @other_rows(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> tensor<10x6xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  %x = spmd.device_coordinate @m "x" : index
  %c9 = arith.constant 9 : index
  %begin = arith.muli %x, %c9 : index
  %1 = tensor.extract_slice %0[%begin, 0] [10, 6] [1, 1] : tensor<20x6xf32> to tensor<10x6xf32>
  return %1 : tensor<10x6xf32>
}
// CHECK: @rows: proven
func.func @rows(%w: tensor<10x6xf32> {spmd.global_type = tensor<20x6xf32>, spmd.weight = ["q", "k"], spmd.load = @combine, spmd.shard_function = @other_rows, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<10x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = math.tanh %w : tensor<10x6xf32>
  return %0 : tensor<10x6xf32>
}
// The rows of the first device for both; the sharding of the function's own result is not what counts.
// CHECK: @first_rows: {{refused|not decided}}
func.func private @first_rows(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> (tensor<10x6xf32> {spmd.global_type = tensor<10x6xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  %1 = tensor.extract_slice %0[0, 0] [10, 6] [1, 1] : tensor<20x6xf32> to tensor<10x6xf32>
  return %1 : tensor<10x6xf32>
}
func.func @again(%w: tensor<10x6xf32> {spmd.global_type = tensor<20x6xf32>, spmd.weight = ["q", "k"], spmd.load = @combine, spmd.shard_function = @first_rows, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<10x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  return %w : tensor<10x6xf32>
}
func.func private @scaled(%w: tensor<8x6xf16>, %s: tensor<8xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<8x6xf16>, tensor<8xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%q: f16, %c: f32, %o: f32):
    %f = arith.extf %q : f16 to f32
    %p = arith.mulf %f, %c : f32
    linalg.yield %p : f32
  } -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// The sum of what the product should be of.
// CHECK: @sum_of_copies: {{refused|not decided}}
func.func private @sum_of_copies(%s: tensor<4x1xf32>, %w: tensor<4x1x6xf16>) -> tensor<4x6xf32> attributes {spmd.elementwise} {
  %e = tensor.empty() : tensor<4x1x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %w : tensor<4x1xf32>, tensor<4x1x6xf16>) outs(%e : tensor<4x1x6xf32>) {
  ^bb0(%c: f32, %q: f16, %o: f32):
    %f = arith.extf %q : f16 to f32
    %p = arith.addf %f, %c : f32
    linalg.yield %p : f32
  } -> tensor<4x1x6xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x1x6xf32> into tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
func.func @scales(%w: tensor<4x6xf32> {spmd.global_type = tensor<8x6xf32>, spmd.load = @scaled, spmd.shard_function = @sum_of_copies, spmd.weight = ["w", "s"], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  return %w : tensor<4x6xf32>
}

//--- other.mlir
spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> tensor<20x6xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
func.func private @shard(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>) -> tensor<20x6xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<8x6xf32>, tensor<12x6xf32>) -> tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
// CHECK: error: argument #0 is made by @shard, but the unsharded function has no loading function for it, or loads other tensors
func.func @rows(%w: tensor<20x6xf32> {spmd.weight = ["k", "q"], spmd.shard_function = @shard, spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<20x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = math.tanh %w : tensor<20x6xf32>
  return %0 : tensor<20x6xf32>
}
