// Partitioned programs with one fault each: the op that breaks what it computes with is named, with its line.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>&1 | FileCheck %s
// RUN: not shard-prove %t/global.mlir %t/signature.mlir 2>&1 | FileCheck %s --check-prefix=SIGNATURE

//--- global.mlir
func.func @reduced(%a: tensor<8x16xf32>, %b: tensor<16x12xf32>, %c: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%c : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
func.func @added_by_all(%a: tensor<8x16xf32>, %b: tensor<16x12xf32>, %c: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%c : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
func.func @dropped(%a: tensor<8x16xf32>, %b: tensor<16x12xf32>) -> tensor<8x12xf32> {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
func.func @doubled(%a: tensor<8x16xf32>, %b: tensor<16x12xf32>) -> tensor<8x12xf32> {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
func.func @other_axis(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = math.exp %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @other_shard(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = math.exp %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @padding(%a: tensor<5x6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<5x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @division(%a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<5xi32> {
  %0 = arith.divsi %a, %b : tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @unknown(%a: tensor<8x3x3x5xf32>) -> tensor<6x6x5x8xf32> {
  %e = tensor.empty() : tensor<6x6x5x8xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<8x3x3x5xf32>) outs(%e : tensor<6x6x5x8xf32>) -> tensor<6x6x5x8xf32>
  return %0 : tensor<6x6x5x8xf32>
}

//--- local.mlir
spmd.mesh @m = <["x"=4, "y"=2]>
// CHECK: local.mlir:5:8: error: @reduced is refused at linalg.matmul: combines a complete value with one that is partial over {"x"}
// CHECK: note: an operand holds this value
func.func @reduced(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %c: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x12xf32>) outs(%c : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8x12xf32>
  %2 = math.tanh %1 : tensor<8x12xf32>
  return %2 : tensor<8x12xf32>
}
// The init is kept by the devices of the wrong axis.
// CHECK: error: @added_by_all is refused at arith.select: gives another value than the one that linalg.matmul needs
func.func @added_by_all(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %c: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %i = spmd.device_coordinate @m "y" : index
  %zero = arith.constant 0 : index
  %first = arith.cmpi eq, %i, %zero : index
  %none = arith.constant dense<-0.0> : tensor<8x12xf32>
  %once = arith.select %first, %c, %none : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x12xf32>) outs(%once : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// CHECK: error: @dropped is refused at math.tanh: math.tanh of a value that is partial (sum) over {"x"}
func.func @dropped(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x12xf32> {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
// CHECK: error: @doubled is refused at spmd.all_reduce: reduces (sum) over {"x"}, but the operand is complete
func.func @doubled(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x12xf32> {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8x12xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<8x12xf32>
  return %2 : tensor<8x12xf32>
}
// CHECK: error: @other_axis is not decided at spmd.all_gather: moves shards of dim 0 along {"y"}, along which they are equal
func.func @other_axis(%a: tensor<2x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %0 = math.exp %a : tensor<2x16xf32>
  %1 = spmd.all_gather %0 <@m, [{"y"}, {}]> : tensor<2x16xf32> -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
// CHECK: error: @other_shard is refused at tensor.extract_slice: result #0 holds [i0, i1], expected [4 y + i0, i1]: element [0, 0] of rank 1 is [0, 0], expected [4, 0]
func.func @other_shard(%a: tensor<8x16xf32>) -> (tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %0 = tensor.extract_slice %a[0, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
  %1 = math.exp %0 : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
// CHECK: error: @padding is refused at linalg.reduce: padding of loop 0 (2 x + i0 beyond 5) is part of the result
func.func @padding(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<6xf32>
  return %1 : tensor<6xf32>
}
// The divisor may be 0 in padding.
// CHECK: error: @division is not decided at arith.divsi: arith.divsi of the content of padding (loop 0: 2 x + i0 beyond 5)
func.func @division(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %0 = arith.divsi %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
}
// CHECK: error: @unknown is not decided at linalg.winograd_filter_transform: linalg.winograd_filter_transform on shards is not modelled
func.func @unknown(%a: tensor<2x3x3x5xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>}) -> (tensor<6x6x5x2xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"x"}]>}) {
  %e = tensor.empty() : tensor<6x6x5x2xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%e : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %0 : tensor<6x6x5x2xf32>
}

//--- signature.mlir
spmd.mesh @m = <["x"=4, "y"=2]>
// SIGNATURE: error: argument #0 is 'tensor<8x16xf32>', expected 'tensor<2x16xf32>', the shard of 'tensor<8x16xf32>' by its sharding
func.func @other_axis(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = math.exp %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
