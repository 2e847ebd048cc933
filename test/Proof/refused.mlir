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
func.func @other_operand(%a: tensor<8x12xf32>, %b: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %0 = math.exp %a : tensor<8x12xf32>
  %1 = math.tanh %b : tensor<8x12xf32>
  %2 = arith.addf %0, %1 : tensor<8x12xf32>
  %3 = arith.mulf %2, %1 : tensor<8x12xf32>
  return %3 : tensor<8x12xf32>
}
func.func @reduced_constant(%a: tensor<8xf32>) -> tensor<8xf32> {
  %c = arith.constant dense<3.0> : tensor<8xf32>
  %0 = arith.divf %a, %c : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @doublings(%a: tensor<16xi64>) -> tensor<16xi64> {
  %c = arith.constant dense<1099511627775> : tensor<16xi64>
  %0 = arith.muli %a, %c : tensor<16xi64>
  return %0 : tensor<16xi64>
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
// CHECK: error: @added_by_all is refused at spmd.device_coordinate: gives another value than the one that arith.select needs
// CHECK: note: all results are right with axis = "x"
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
// The sum reads the wrong one of two equal shapes.
// CHECK: error: @other_operand is not decided at arith.addf
// CHECK: note: all results are right with this value as operand #0
func.func @other_operand(%a: tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<2x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = math.exp %a : tensor<2x12xf32>
  %1 = math.tanh %b : tensor<2x12xf32>
  %2 = arith.addf %a, %1 : tensor<2x12xf32>
  %3 = arith.mulf %2, %1 : tensor<2x12xf32>
  return %3 : tensor<2x12xf32>
}
// CHECK: error: @reduced_constant is refused at spmd.all_reduce: reduces a constant that all devices have
func.func @reduced_constant(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %c = arith.constant dense<3.0> : tensor<2xf32>
  %0 = spmd.all_reduce %c sum <@m, {"y"}> : tensor<2xf32>
  %1 = arith.divf %a, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
// What only the partitioned program has, written as a tree, has 2 to the power of 40 terms.
// CHECK: error: @doublings is not decided at
func.func @doublings(%arg: tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %1 = arith.addi %arg, %arg : tensor<4xi64>
  %2 = arith.addi %1, %1 : tensor<4xi64>
  %3 = arith.addi %2, %2 : tensor<4xi64>
  %4 = arith.addi %3, %3 : tensor<4xi64>
  %5 = arith.addi %4, %4 : tensor<4xi64>
  %6 = arith.addi %5, %5 : tensor<4xi64>
  %7 = arith.addi %6, %6 : tensor<4xi64>
  %8 = arith.addi %7, %7 : tensor<4xi64>
  %9 = arith.addi %8, %8 : tensor<4xi64>
  %10 = arith.addi %9, %9 : tensor<4xi64>
  %11 = arith.addi %10, %10 : tensor<4xi64>
  %12 = arith.addi %11, %11 : tensor<4xi64>
  %13 = arith.addi %12, %12 : tensor<4xi64>
  %14 = arith.addi %13, %13 : tensor<4xi64>
  %15 = arith.addi %14, %14 : tensor<4xi64>
  %16 = arith.addi %15, %15 : tensor<4xi64>
  %17 = arith.addi %16, %16 : tensor<4xi64>
  %18 = arith.addi %17, %17 : tensor<4xi64>
  %19 = arith.addi %18, %18 : tensor<4xi64>
  %20 = arith.addi %19, %19 : tensor<4xi64>
  %21 = arith.addi %20, %20 : tensor<4xi64>
  %22 = arith.addi %21, %21 : tensor<4xi64>
  %23 = arith.addi %22, %22 : tensor<4xi64>
  %24 = arith.addi %23, %23 : tensor<4xi64>
  %25 = arith.addi %24, %24 : tensor<4xi64>
  %26 = arith.addi %25, %25 : tensor<4xi64>
  %27 = arith.addi %26, %26 : tensor<4xi64>
  %28 = arith.addi %27, %27 : tensor<4xi64>
  %29 = arith.addi %28, %28 : tensor<4xi64>
  %30 = arith.addi %29, %29 : tensor<4xi64>
  %31 = arith.addi %30, %30 : tensor<4xi64>
  %32 = arith.addi %31, %31 : tensor<4xi64>
  %33 = arith.addi %32, %32 : tensor<4xi64>
  %34 = arith.addi %33, %33 : tensor<4xi64>
  %35 = arith.addi %34, %34 : tensor<4xi64>
  %36 = arith.addi %35, %35 : tensor<4xi64>
  %37 = arith.addi %36, %36 : tensor<4xi64>
  %38 = arith.addi %37, %37 : tensor<4xi64>
  %39 = arith.addi %38, %38 : tensor<4xi64>
  %40 = arith.addi %39, %39 : tensor<4xi64>
  return %40 : tensor<4xi64>
}

//--- signature.mlir
spmd.mesh @m = <["x"=4, "y"=2]>
// SIGNATURE: error: argument #0 is 'tensor<8x16xf32>', expected 'tensor<2x16xf32>', the shard of 'tensor<8x16xf32>' by its sharding
func.func @other_axis(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = math.exp %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
