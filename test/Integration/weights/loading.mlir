// Arguments that loading functions make of stored tensors: on every mesh what the
// ranks load is what upstream's lowering of the whole function makes.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: sed 's/"x"=2/"x"=1/' %s > %t/1.mlir && shard-run %t/1.mlir --random-inputs=1 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: sed 's/"x"=2/"x"=3/' %s > %t/3.mlir && shard-run %t/3.mlir --random-inputs=3 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: sed 's/"x"=2/"x"=4/' %s > %t/4.mlir && shard-run %t/4.mlir --random-inputs=4 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: sed 's/"x"=2/"x"=8/' %s > %t/8.mlir && shard-run %t/8.mlir --random-inputs=8 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// Compiled where ranks could read their own bytes, and read by the root.
// RUN: shard-run %t/3.mlir --random-inputs=3 --verify=exact --compile-option=--opt-level=1 --compile-option=--load-pieces=false | FileCheck %s
// RUN: shard-run %t/4.mlir --random-inputs=4 --verify=exact --compile-option=--opt-level=1 --compile-option=--load-pieces=false --load=root-scatter | FileCheck %s
// RUN: shard-run %t/8.mlir --random-inputs=8 --verify=exact --compile-option=--opt-level=1 --load=root-scatter | FileCheck %s
// RUN: shard-run %t/4.mlir --random-inputs=5 --verify=exact --compile-option=--opt-level=1 --compile-option=--inline=false | FileCheck %s
// CHECK: verify: 17 functions, {{.*}} all equal bit by bit

spmd.mesh @m = <["x"=2]>
spmd.mesh @n = <["a"=2, "b"=3]>

// Rows of q, k and v behind each other; the borders are those of no rank.
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<12x6xf32>, %v: tensor<12x6xf32>) -> tensor<32x6xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<8x6xf32>, tensor<12x6xf32>, tensor<12x6xf32>) -> tensor<32x6xf32>
  return %0 : tensor<32x6xf32>
}
func.func @rows(%w: tensor<32x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<32x6xf32> {
  return %w : tensor<32x6xf32>
}
func.func @columns(%w: tensor<32x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<32x6xf32> {
  return %w : tensor<32x6xf32>
}
func.func @everywhere(%w: tensor<32x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> tensor<32x6xf32> {
  return %w : tensor<32x6xf32>
}
// Two axes, both dims uneven.
func.func @both_dims(%w: tensor<32x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@n, [{"b"}, {"a"}]>}) -> tensor<32x6xf32> {
  return %w : tensor<32x6xf32>
}

// Heads of grouped queries: two of q, one of k, one of v, and so on.
func.func private @by_head(%q: tensor<48x5xi32>, %k: tensor<24x5xi32>, %v: tensor<24x5xi32>) -> tensor<96x5xi32> {
  %q3 = tensor.expand_shape %q [[0, 1], [2]] output_shape [24, 2, 5] : tensor<48x5xi32> into tensor<24x2x5xi32>
  %k3 = tensor.expand_shape %k [[0, 1], [2]] output_shape [24, 1, 5] : tensor<24x5xi32> into tensor<24x1x5xi32>
  %v3 = tensor.expand_shape %v [[0, 1], [2]] output_shape [24, 1, 5] : tensor<24x5xi32> into tensor<24x1x5xi32>
  %0 = tensor.concat dim(1) %q3, %k3, %v3 : (tensor<24x2x5xi32>, tensor<24x1x5xi32>, tensor<24x1x5xi32>) -> tensor<24x4x5xi32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<24x4x5xi32> into tensor<96x5xi32>
  return %1 : tensor<96x5xi32>
}
func.func @heads(%w: tensor<96x5xi32> {spmd.weight = ["h.q", "h.k", "h.v"], spmd.load = @by_head, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<96x5xi32> {
  return %w : tensor<96x5xi32>
}

// Gate and up, row by row.
func.func private @interleave(%gate: tensor<24x5xf32>, %up: tensor<24x5xf32>) -> tensor<48x5xf32> {
  %e = tensor.empty() : tensor<48x5xf32>
  %0 = tensor.insert_slice %gate into %e[0, 0] [24, 5] [2, 1] : tensor<24x5xf32> into tensor<48x5xf32>
  %1 = tensor.insert_slice %up into %0[1, 0] [24, 5] [2, 1] : tensor<24x5xf32> into tensor<48x5xf32>
  return %1 : tensor<48x5xf32>
}
func.func @gate_up(%w: tensor<48x5xf32> {spmd.weight = ["gate", "up"], spmd.load = @interleave, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<48x5xf32> {
  return %w : tensor<48x5xf32>
}

// Rows of the stored tensor are columns here; in blocks.
func.func private @transpose(%w: tensor<24x10xf32>) -> tensor<10x24xf32> {
  %e = tensor.empty() : tensor<10x24xf32>
  %0 = linalg.transpose ins(%w : tensor<24x10xf32>) outs(%e : tensor<10x24xf32>) permutation = [1, 0]
  return %0 : tensor<10x24xf32>
}
func.func @transposed(%w: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @transpose, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<10x24xf32> {
  return %w : tensor<10x24xf32>
}
func.func @transposed_uneven(%w: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @transpose, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<10x24xf32> {
  return %w : tensor<10x24xf32>
}
func.func @block_cyclic(%w: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @transpose, spmd.sharding = #spmd.sharding<@n, [{}, {2, "b", "a"}]>}) -> tensor<10x24xf32> {
  return %w : tensor<10x24xf32>
}

// A vocabulary padded with rows of a value; uneven on most meshes.
func.func private @pad_rows(%w: tensor<21x4xf32>) -> tensor<26x4xf32> {
  %c = arith.constant -7.0 : f32
  %0 = tensor.pad %w low[0, 0] high[5, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<21x4xf32> to tensor<26x4xf32>
  return %0 : tensor<26x4xf32>
}
func.func @vocabulary(%w: tensor<26x4xf32> {spmd.weight = "embed", spmd.load = @pad_rows, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<26x4xf32> {
  return %w : tensor<26x4xf32>
}

// Cast while loading, by a function that calls another one.
func.func private @cast(%w: tensor<24x10xf32>) -> tensor<24x10xbf16> {
  %0 = arith.truncf %w : tensor<24x10xf32> to tensor<24x10xbf16>
  return %0 : tensor<24x10xbf16>
}
func.func private @cast_and_turn(%w: tensor<24x10xf32>) -> tensor<10x24xbf16> {
  %0 = func.call @cast(%w) : (tensor<24x10xf32>) -> tensor<24x10xbf16>
  %e = tensor.empty() : tensor<10x24xbf16>
  %1 = linalg.transpose ins(%0 : tensor<24x10xbf16>) outs(%e : tensor<10x24xbf16>) permutation = [1, 0]
  return %1 : tensor<10x24xbf16>
}
func.func @halves(%w: tensor<10x24xbf16> {spmd.weight = "t", spmd.load = @cast_and_turn, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<10x24xbf16> {
  return %w : tensor<10x24xbf16>
}

// Four-bit numbers, eight to a word, and a scale for 16 of them.
func.func private @dequantise(%w: tensor<48x6xi32> {spmd.range = [-2147483648, 2147483647]}, %s: tensor<24x6xf16>) -> tensor<384x6xf32> {
  %e = tensor.empty() : tensor<48x8x6xi32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<48x6xi32>) outs(%e : tensor<48x8x6xi32>) {
  ^bb0(%word: i32, %o: i32):
    %b = linalg.index 1 : index
    %bi = arith.index_cast %b : index to i32
    %c4 = arith.constant 4 : i32
    %shift = arith.muli %bi, %c4 : i32
    %c15 = arith.constant 15 : i32
    %sh = arith.shrui %word, %shift : i32
    %nib = arith.andi %sh, %c15 : i32
    linalg.yield %nib : i32
  } -> tensor<48x8x6xi32>
  %groups = tensor.collapse_shape %n [[0, 1], [2]] : tensor<48x8x6xi32> into tensor<384x6xi32>
  %g = tensor.expand_shape %groups [[0, 1], [2]] output_shape [24, 16, 6] : tensor<384x6xi32> into tensor<24x16x6xi32>
  %ef = tensor.empty() : tensor<24x16x6xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %s : tensor<24x16x6xi32>, tensor<24x6xf16>) outs(%ef : tensor<24x16x6xf32>) {
  ^bb0(%q: i32, %scale: f16, %o: f32):
    %f = arith.sitofp %q : i32 to f32
    %sf = arith.extf %scale : f16 to f32
    %v = arith.mulf %f, %sf : f32
    linalg.yield %v : f32
  } -> tensor<24x16x6xf32>
  %dense = tensor.collapse_shape %d [[0, 1], [2]] : tensor<24x16x6xf32> into tensor<384x6xf32>
  return %dense : tensor<384x6xf32>
}
func.func @over_k(%w: tensor<384x6xf32> {spmd.weight = ["w.q", "w.s"], spmd.load = @dequantise, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<384x6xf32> {
  return %w : tensor<384x6xf32>
}
func.func @over_n(%w: tensor<384x6xf32> {spmd.weight = ["w.q", "w.s"], spmd.load = @dequantise, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<384x6xf32> {
  return %w : tensor<384x6xf32>
}

// One stored tensor for two arguments, the second centred: a sum over all rows,
// which no device could have alone.
func.func private @first(%w: tensor<24x10xf32>) -> tensor<9x10xf32> {
  %0 = tensor.extract_slice %w[0, 0] [9, 10] [1, 1] : tensor<24x10xf32> to tensor<9x10xf32>
  return %0 : tensor<9x10xf32>
}
func.func private @rest(%w: tensor<24x10xf32>) -> tensor<15x10xf32> {
  %0 = tensor.extract_slice %w[9, 0] [15, 10] [1, 1] : tensor<24x10xf32> to tensor<15x10xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %s = linalg.reduce ins(%0 : tensor<15x10xf32>) outs(%z : tensor<10xf32>) dimensions = [0] (%a: f32, %b: f32) {
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  }
  %e2 = tensor.empty() : tensor<15x10xf32>
  %r = linalg.broadcast ins(%s : tensor<10xf32>) outs(%e2 : tensor<15x10xf32>) dimensions = [0]
  %d = arith.subf %0, %r : tensor<15x10xf32>
  return %d : tensor<15x10xf32>
}
func.func @parts(%a: tensor<9x10xf32> {spmd.weight = "t", spmd.name = "a", spmd.load = @first, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                 %b: tensor<15x10xf32> {spmd.weight = "t", spmd.name = "b", spmd.load = @rest, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<9x10xf32>, tensor<15x10xf32>) {
  return %a, %b : tensor<9x10xf32>, tensor<15x10xf32>
}

// No sharding on the weight: the axes of the program come to it. And a function that
// the program calls as well.
func.func @inferred(%x: tensor<10x24xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                    %w: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @transpose},
                    %y: tensor<24x10xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<10x24xf32> {
  %0 = arith.addf %x, %w : tensor<10x24xf32>
  %1 = func.call @transpose(%y) : (tensor<24x10xf32>) -> tensor<10x24xf32>
  %2 = arith.addf %0, %1 : tensor<10x24xf32>
  return %2 : tensor<10x24xf32>
}

// Heads stored once and repeated for two queries each.
func.func private @repeat(%k: tensor<24x3x4xi32>) -> tensor<48x12xi32> {
  %e = tensor.empty() : tensor<24x2x3x4xi32>
  %0 = linalg.broadcast ins(%k : tensor<24x3x4xi32>) outs(%e : tensor<24x2x3x4xi32>) dimensions = [1]
  %1 = tensor.collapse_shape %0 [[0, 1], [2, 3]] : tensor<24x2x3x4xi32> into tensor<48x12xi32>
  return %1 : tensor<48x12xi32>
}
func.func @repeated(%w: tensor<48x12xi32> {spmd.weight = "k", spmd.load = @repeat, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<48x12xi32> {
  return %w : tensor<48x12xi32>
}
// A product while loading: the dim that is summed is cut by no one.
func.func private @absorb(%a: tensor<24x16xi32>, %b: tensor<16x10xi32>) -> tensor<24x10xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<24x10xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<24x10xi32>) -> tensor<24x10xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<24x16xi32>, tensor<16x10xi32>) outs(%f : tensor<24x10xi32>) -> tensor<24x10xi32>
  return %0 : tensor<24x10xi32>
}
func.func @product(%w: tensor<24x10xi32> {spmd.weight = ["p.a", "p.b"], spmd.load = @absorb, spmd.sharding = #spmd.sharding<@n, [{"a"}, {"b"}]>},
                   %v: tensor<24x10xi32> {spmd.weight = ["p.a", "p.b"], spmd.name = "v", spmd.load = @absorb, spmd.sharding = #spmd.sharding<@n, [{}, {}]>}) -> (tensor<24x10xi32>, tensor<24x10xi32>) {
  return %w, %v : tensor<24x10xi32>, tensor<24x10xi32>
}
