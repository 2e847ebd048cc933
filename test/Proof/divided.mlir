// Values that ops compute which are divided in another way, reads of windows at indices that each lane computes, and
// values of manual computations that only the partitioned program has. Each with programs in which the condition of the
// rule fails.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --rules 2>/dev/null | FileCheck %t/local.mlir

//--- global.mlir
#id = affine_map<(i) -> (i)>
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @fused(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = arith.addf %a, %b : tensor<4x6xf32>
  %1 = arith.maximumf %0, %z : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
func.func @other_number(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = arith.addf %a, %b : tensor<4x6xf32>
  %1 = arith.maximumf %0, %z : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
func.func @other_order(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = arith.subf %a, %b : tensor<4x6xf32>
  %1 = arith.maximumf %0, %z : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
func.func @window(%w: tensor<24xf32>, %s: tensor<6xf32>) -> tensor<24xf32> {
  %0 = tensor.insert_slice %s into %w[1] [6] [4] : tensor<6xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @short_window(%w: tensor<24xf32>, %s: tensor<6xf32>) -> tensor<24xf32> {
  %0 = tensor.insert_slice %s into %w[1] [6] [4] : tensor<6xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @other_window(%w: tensor<24xf32>, %s: tensor<6xf32>) -> tensor<24xf32> {
  %0 = tensor.insert_slice %s into %w[1] [6] [4] : tensor<6xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @zeros_around(%w: tensor<24xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<24xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c2 = arith.constant 2 : index
    %k = arith.divui %i, %c2 : index
    %v = tensor.extract %w[%k] : tensor<24xf32>
    linalg.yield %v : f32
  } -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @of_region(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%a) in [<@m, [{"x"}]>] out [<@m, [{"x"}]>] axes ["x"] (%l: tensor<4xf32>) {
    %n = arith.negf %l : tensor<4xf32>
    %s = arith.addf %n, %n : tensor<4xf32>
    spmd.return %s : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @narrowed(%a: tensor<8x4xf32>) -> tensor<4xf16> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  %1 = arith.truncf %0 : tensor<4xf32> to tensor<4xf16>
  return %1 : tensor<4xf16>
}

//--- local.mlir
#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i, j)>
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK: @fused: proven
// CHECK: x ops that are divided in another way
func.func @fused(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<2x6xf32>
  %0 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<2x6xf32>, tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %s = arith.addf %p, %q : f32
    %r = arith.maximumf %s, %z : f32
    linalg.yield %r : f32
  } -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// CHECK: @other_number: {{refused|not decided}}
func.func @other_number(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<2x6xf32>
  %0 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<2x6xf32>, tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %z = arith.constant 1.0 : f32
    %s = arith.addf %p, %q : f32
    %r = arith.maximumf %s, %z : f32
    linalg.yield %r : f32
  } -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// CHECK: @other_order: {{refused|not decided}}
func.func @other_order(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<2x6xf32>
  %0 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<2x6xf32>, tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %s = arith.subf %q, %p : f32
    %r = arith.maximumf %s, %z : f32
    linalg.yield %r : f32
  } -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}
// Rows 1, 5, ..., 21 are those of %s: each device has windows of 4 of them, of which it reads 3.
// CHECK: @window: proven
func.func @window(%w: tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %s: tensor<6xf32>) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c12 = arith.constant 12 : index
  %c3 = arith.constant 3 : index
  %begin = arith.muli %x, %c12 : index
  %first = arith.muli %x, %c3 : index
  %t = spmd.halo_exchange %s of tensor<6xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [3] offsets = [0] : tensor<6xf32> -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%w : tensor<12xf32>) {
  ^bb0(%o: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c22 = arith.constant 22 : index
    %i = linalg.index 0 : index
    %g = arith.addi %begin, %i : index
    %above = arith.cmpi sge, %g, %c1 : index
    %below = arith.cmpi slt, %g, %c22 : index
    %between = arith.andi %above, %below : i1
    %from = arith.subi %g, %c1 : index
    %inside = arith.select %between, %from, %c0 : index
    %rest = arith.remui %inside, %c4 : index
    %hits = arith.cmpi eq, %rest, %c0 : index
    %here = arith.andi %between, %hits : i1
    %k = arith.divui %inside, %c4 : index
    %own = arith.subi %k, %first : index
    %at = arith.select %here, %own, %c0 : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %r = arith.select %here, %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// The third element is beyond the window.
// CHECK: @short_window: {{refused|not decided}}
func.func @short_window(%w: tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %s: tensor<6xf32>) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c12 = arith.constant 12 : index
  %c3 = arith.constant 3 : index
  %begin = arith.muli %x, %c12 : index
  %first = arith.muli %x, %c3 : index
  %t = spmd.halo_exchange %s of tensor<6xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [3] offsets = [0] : tensor<6xf32> -> tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%w : tensor<12xf32>) {
  ^bb0(%o: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c22 = arith.constant 22 : index
    %i = linalg.index 0 : index
    %g = arith.addi %begin, %i : index
    %above = arith.cmpi sge, %g, %c1 : index
    %below = arith.cmpi slt, %g, %c22 : index
    %between = arith.andi %above, %below : i1
    %from = arith.subi %g, %c1 : index
    %inside = arith.select %between, %from, %c0 : index
    %rest = arith.remui %inside, %c4 : index
    %hits = arith.cmpi eq, %rest, %c0 : index
    %here = arith.andi %between, %hits : i1
    %k = arith.divui %inside, %c4 : index
    %own = arith.subi %k, %first : index
    %at = arith.select %here, %own, %c0 : index
    %v = tensor.extract %t[%at] : tensor<2xf32>
    %r = arith.select %here, %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// The window begins one element later than the index says.
// CHECK: @other_window: {{refused|not decided}}
func.func @other_window(%w: tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %s: tensor<6xf32>) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c12 = arith.constant 12 : index
  %c3 = arith.constant 3 : index
  %begin = arith.muli %x, %c12 : index
  %first = arith.muli %x, %c3 : index
  %t = spmd.halo_exchange %s of tensor<6xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [3] offsets = [1] : tensor<6xf32> -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%w : tensor<12xf32>) {
  ^bb0(%o: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c22 = arith.constant 22 : index
    %i = linalg.index 0 : index
    %g = arith.addi %begin, %i : index
    %above = arith.cmpi sge, %g, %c1 : index
    %below = arith.cmpi slt, %g, %c22 : index
    %between = arith.andi %above, %below : i1
    %from = arith.subi %g, %c1 : index
    %inside = arith.select %between, %from, %c0 : index
    %rest = arith.remui %inside, %c4 : index
    %hits = arith.cmpi eq, %rest, %c0 : index
    %here = arith.andi %between, %hits : i1
    %k = arith.divui %inside, %c4 : index
    %own = arith.subi %k, %first : index
    %at = arith.select %here, %own, %c0 : index
    %v = tensor.extract %t[%at] : tensor<4xf32>
    %r = arith.select %here, %v, %o : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// Elements 6 and on are zeros around the slice, and not what is next to it.
// CHECK: @zeros_around: {{refused|not decided}}
func.func @zeros_around(%w: tensor<24xf32>) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c12 = arith.constant 12 : index
  %c6 = arith.constant 6 : index
  %begin = arith.muli %x, %c12 : index
  %first = arith.muli %x, %c6 : index
  %part = tensor.extract_slice %w[0] [7] [1] : tensor<24xf32> to tensor<7xf32>
  %t = spmd.halo_exchange %part of tensor<7xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [6] offsets = [0] : tensor<7xf32> -> tensor<6xf32>
  %e = tensor.empty() : tensor<12xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<12xf32>) {
  ^bb0(%o: f32):
    %c2 = arith.constant 2 : index
    %i = linalg.index 0 : index
    %g = arith.addi %begin, %i : index
    %k = arith.divui %g, %c2 : index
    %at = arith.subi %k, %first : index
    %v = tensor.extract %t[%at] : tensor<6xf32>
    linalg.yield %v : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// What the region negates is another value on each device along x: there is no maximum of them.
// CHECK: @of_region: {{refused|not decided}}
func.func @of_region(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %n = arith.negf %in : f32
    %s = arith.addf %n, %n : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %0 = spmd.all_reduce %t max <@m, {"x"}> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Each device rounds its part of the sum.
// CHECK: @narrowed: proven
// CHECK: 1 x partial sum in a narrower type
spmd.mesh @n = <["x"=2]>
func.func @narrowed(%a: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@n, [{"x"}, {}]>}) -> tensor<4xf16> {
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  %1 = arith.truncf %0 : tensor<4xf32> to tensor<4xf16>
  %2 = spmd.all_reduce %1 sum <@n, {"x"}> : tensor<4xf16>
  return %2 : tensor<4xf16>
}
