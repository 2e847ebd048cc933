// More wrong programs, as in unsound.mlir: values that only the partitioned program has, and orders of devices.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>/dev/null | FileCheck %s --implicit-check-not=": proven"
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %s --implicit-check-not=": proven"

//--- global.mlir
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
func.func @computed_row(%a: tensor<9xf32>) -> tensor<9x9xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<9xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c = arith.constant 7 : index
    %k = arith.remui %i, %c : index
    %v = tensor.extract %a[%k] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<9xf32>
  %f = tensor.empty() : tensor<9x9xf32>
  %r = linalg.generic {indexing_maps = [#col, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<9xf32>) outs(%f : tensor<9x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}
func.func @digit(%a: tensor<12xf32>) -> tensor<12xi32> {
  %0 = tensor.generate {
  ^bb0(%i: index):
    %c3 = arith.constant 3 : index
    %r = arith.remui %i, %c3 : index
    %n = arith.index_cast %r : index to i32
    tensor.yield %n : i32
  } : tensor<12xi32>
  return %0 : tensor<12xi32>
}
func.func @order(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @sum_in_another_order(%a: tensor<8xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}
func.func @inserted(%s: tensor<3x2xf32>, %w: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = tensor.insert_slice %s into %w[2, 0] [3, 2] [1, 1] : tensor<3x2xf32> into tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
func.func @by_device(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @no_iterations(%a: tensor<4x0xf32>, %z: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x0xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}
func.func @scattered(%rows: tensor<3x4xf32>, %table: tensor<8x4xf32>, %at: tensor<3x1xi64>) -> tensor<8x4xf32> {
  %0 = tensor.scatter %rows into %table[%at] scatter_dims([0]) unique : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @one_row(%a: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func @widened_maximum(%a: tensor<8xf16>) -> tensor<f32> {
  %z = arith.constant dense<0xFC00> : tensor<f16>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8xf16>) outs(%z : tensor<f16>) dimensions = [0]
  %1 = arith.extf %0 : tensor<f16> to tensor<f32>
  return %1 : tensor<f32>
}
func.func @asserted(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c5 = arith.constant 5 : index
  %is = arith.cmpi ult, %n, %c5 : index
  cf.assert %is, "less than 5"
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @asserted_in_loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %is = arith.cmpi ult, %n, %c1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> tensor<4xf32> {
    cf.assert %is, "no iteration"
    %1 = math.exp %b : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

//--- local.mlir
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
spmd.mesh @m = <["x"=2]>
spmd.mesh @n = <["x"=4]>
spmd.mesh @rotated = <["x"=4], device_ids=[1, 2, 3, 0]>
// A number that a loop computes stands for another one where the value is read at another loop: rows for columns.
// CHECK: @computed_row:
func.func @computed_row(%a: tensor<9xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<9x9xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %e = tensor.empty() : tensor<9xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<9xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c = arith.constant 7 : index
    %k = arith.remui %i, %c : index
    %v = tensor.extract %a[%k] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<9xf32>
  %f = tensor.empty() : tensor<9x9xf32>
  %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<9xf32>) outs(%f : tensor<9x9xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}
// The digit of an index is not that of the index less 2 x.
// CHECK: @digit:
func.func @digit(%a: tensor<6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c4 = arith.constant 4 : index
  %begin = arith.muli %x, %c4 : index
  %0 = tensor.generate {
  ^bb0(%i: index):
    %c3 = arith.constant 3 : index
    %at = arith.addi %begin, %i : index
    %r = arith.remui %at, %c3 : index
    %n = arith.index_cast %r : index to i32
    tensor.yield %n : i32
  } : tensor<6xi32>
  return %0 : tensor<6xi32>
}
// Device 1 has the shard of device 0.
// CHECK: @order:
func.func @order(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@n, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@rotated, [{"x"}]>}) {
  return %a : tensor<2xf32>
}
// A gather in the order of another mesh.
// CHECK: @sum_in_another_order:
func.func @sum_in_another_order(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@n, [{"x"}]>}) -> (tensor<f32> {spmd.sharding = #spmd.sharding<@rotated, []>}) {
  %g = spmd.all_gather %a <@rotated, [{"x"}]> : tensor<2xf32> -> tensor<8xf32>
  %s = tensor.extract_slice %g[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%s : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}
// The mask is one row too high.
// CHECK: @inserted:
func.func @inserted(%s: tensor<3x2xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<8x1xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<8x1xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %p = tensor.extract_slice %w[2, 0] [3, 1] [1, 1] : tensor<8x1xf32> to tensor<3x1xf32>
  %mine = spmd.all_slice %s <@m, [{}, {"x"}]> : tensor<3x2xf32> -> tensor<3x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%mine : tensor<3x1xf32>) outs(%p : tensor<3x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c2 = arith.constant 2 : index
    %b = arith.cmpi slt, %i, %c2 : index
    %v = arith.select %b, %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<3x1xf32>
  %0 = tensor.insert_slice %q into %w[2, 0] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
// What one device computes is not what all have.
// CHECK: @by_device:
func.func @by_device(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, %b: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %c0 = arith.constant 0 : index
  %is = arith.cmpi eq, %x, %c0 : index
  %0 = arith.select %is, %b, %a : tensor<4xf32>
  %1 = arith.addf %a, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// Another first value.
// CHECK: @no_iterations:
func.func @no_iterations(%a: tensor<4x0xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %z: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}, %y: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x0xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}
// Rows of the other device are written, too: the mask of the owner is absent.
// CHECK: @scattered:
func.func @scattered(%rows: tensor<3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %table: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %at: tensor<3x1xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%rows : tensor<3x4xf32>) outs(%table : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %k = linalg.index 2 : index
    %c0 = arith.constant 0 : index
    %e = tensor.extract %at[%k, %c0] : tensor<3x1xi64>
    %n = arith.index_cast %e : i64 to index
    %c4 = arith.constant 4 : index
    %r = arith.remui %n, %c4 : index
    %i = linalg.index 0 : index
    %is = arith.cmpi eq, %i, %r : index
    %v = arith.select %is, %in, %out : f32
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// The other device has none of the row.
// CHECK: @one_row:
func.func @one_row(%a: tensor<1x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
// A maximum over the devices that is reduced as a sum.
// CHECK: @widened_maximum:
func.func @widened_maximum(%a: tensor<4xf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<f32> {spmd.sharding = #spmd.sharding<@m, []>}) {
  %z = arith.constant dense<0xFC00> : tensor<f16>
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<4xf16>) outs(%z : tensor<f16>) dimensions = [0]
  %1 = arith.extf %0 : tensor<f16> to tensor<f32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<f32>
  return %2 : tensor<f32>
}
// An assertion of another number may fail where the unsharded program runs.
// CHECK: @asserted: not decided (assertion)
func.func @asserted(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  %is = arith.cmpi ult, %n, %c4 : index
  cf.assert %is, "less than 5"
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// Before the loop it fails where the loop has no iteration.
// CHECK: @asserted_in_loop: not decided (assertion)
func.func @asserted_in_loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %is = arith.cmpi ult, %n, %c1 : index
  cf.assert %is, "no iteration"
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> tensor<4xf32> {
    %1 = math.exp %b : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
