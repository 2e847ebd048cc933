// Values that only the partitioned program has, several orders of devices, digits of indices, conditions.
// RUN: shard-opt %s --spmd-default-pipeline -o %t.mlir
// RUN: shard-prove %s %t.mlir | FileCheck %s

spmd.mesh @m = <["x"=2, "y"=2]>
spmd.mesh @turned = <["u"=2, "v"=2], device_ids=[0, 2, 1, 3]>
spmd.mesh @rotated = <["all"=4], device_ids=[1, 2, 3, 0]>

// An insertion along a sharded dim is a slice, a selection, and an insertion.
// CHECK-DAG: @inserted: proven
func.func @inserted(%s: tensor<3x1xf32>, %w: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %at: tensor<i32>) -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %n = tensor.extract %at[] : tensor<i32>
  %o = arith.index_cast %n : i32 to index
  %0 = tensor.insert_slice %s into %w[%o, 4] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// The rows that a device owns are those whose digits are its coordinates.
// CHECK-DAG: @scattered: proven
func.func @scattered(%rows: tensor<3x1x4xf32>, %table: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{4, "x"}, {"y"}]>}, %at: tensor<3x1xi64>) -> tensor<8x4xf32> {
  %0 = tensor.scatter %rows into %table[%at] scatter_dims([0]) unique : (tensor<3x1x4xf32>, tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// CHECK-DAG: @digits: proven
func.func @digits(%a: tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{6, "y"}]>}) {
  %e = tensor.empty() : tensor<12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<12xf32>) outs(%e : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c3 = arith.constant 3 : index
    %d = arith.divui %i, %c3 : index
    %r = arith.remui %i, %c3 : index
    %s = arith.addi %d, %r : index
    %n = arith.index_cast %s : index to i32
    %f = arith.sitofp %n : i32 to f32
    %p = arith.mulf %in, %f : f32
    linalg.yield %p : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// The coordinates on @turned are those on @m, swapped; the rank on @rotated is another number.
// CHECK-DAG: @orders: proven
func.func @orders(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@turned, [{"v"}, {}]>},
                  %c: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@rotated, [{"all"}, {}]>})
    -> (tensor<8x6xf32>, tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@rotated, [{"all"}, {}]>}) {
  %0 = arith.addf %a, %b : tensor<8x6xf32>
  %1 = arith.mulf %0, %c : tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}
// CHECK-DAG: @soft: proven
func.func @soft(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// CHECK-DAG: @all_of: proven
func.func @all_of(%a: tensor<4x6xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xi1> {
  %t = arith.constant dense<true> : tensor<6xi1>
  %0 = linalg.reduce { arith.andi } ins(%a : tensor<4x6xi1>) outs(%t : tensor<6xi1>) dimensions = [0]
  return %0 : tensor<6xi1>
}
// CHECK-DAG: @nothing: proven
func.func @nothing(%a: tensor<4x0xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<0x6xf32>, %z: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
