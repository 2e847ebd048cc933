// A dim smaller than its axes: a device has at most one element of it, the last
// ones have none. They take part in everything all the same.
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=zero | FileCheck %s
// CHECK: 5 functions, {{[0-9]+}} results, all equal bit by bit

spmd.mesh @m = <["x"=6, "y"=1]>
spmd.mesh @permuted = <["x"=3, "y"=2], device_ids=[5, 0, 3, 1, 4, 2]>

func.func @reductions(%a: tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, -9]}) -> (tensor<3xi32>, tensor<3xi32>, tensor<4xi32>) {
  %zero = arith.constant dense<0> : tensor<3xi32>
  %low = arith.constant dense<-2147483648> : tensor<3xi32>
  %rows = arith.constant dense<0> : tensor<4xi32>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<4x3xi32>) outs(%zero : tensor<3xi32>) dimensions = [0]
  %1 = linalg.reduce { arith.maxsi } ins(%a : tensor<4x3xi32>) outs(%low : tensor<3xi32>) dimensions = [0]
  %2 = linalg.reduce { arith.xori } ins(%a : tensor<4x3xi32>) outs(%rows : tensor<4xi32>) dimensions = [1]
  return %0, %1, %2 : tensor<3xi32>, tensor<3xi32>, tensor<4xi32>
}

// A dim of one element: one device has it.
func.func @one_element(%a: tensor<1x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, 50]}, %b: tensor<5x1xi32> {spmd.range = [-50, 50]})
    -> (tensor<1x1xi32>, tensor<5xi32>, tensor<5xi32>) {
  %e = arith.constant dense<3> : tensor<1x1xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<1x5xi32>, tensor<5x1xi32>) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %1 = tensor.collapse_shape %a [[0, 1]] : tensor<1x5xi32> into tensor<5xi32>
  %zero = arith.constant dense<0> : tensor<5xi32>
  %2 = linalg.reduce { arith.addi } ins(%a : tensor<1x5xi32>) outs(%zero : tensor<5xi32>) dimensions = [0]
  return %0, %1, %2 : tensor<1x1xi32>, tensor<5xi32>, tensor<5xi32>
}

// Two axes on two elements, on devices in another order.
func.func @two_axes(%a: tensor<2x8xi32> {spmd.sharding = #spmd.sharding<@permuted, [{"x", "y"}, {}]>, spmd.range = [-50, 50]})
    -> (tensor<2x8xi32> {spmd.sharding = #spmd.sharding<@permuted, [{"y"}, {"x"}]>}, tensor<8x2xi32> {spmd.sharding = #spmd.sharding<@permuted, [{}, {"y", "x"}]>}) {
  %e = tensor.empty() : tensor<8x2xi32>
  %0 = arith.addi %a, %a : tensor<2x8xi32>
  %1 = linalg.transpose ins(%0 : tensor<2x8xi32>) outs(%e : tensor<8x2xi32>) permutation = [1, 0]
  return %0, %1 : tensor<2x8xi32>, tensor<8x2xi32>
}

// Concatenated, sliced and padded along another dim; along the dim itself it is
// gathered.
func.func @slices(%a: tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, 50]}) -> (tensor<4x6xi32>, tensor<4x2xi32>, tensor<8x3xi32>, tensor<4x5xi32>) {
  %c = arith.constant 7 : i32
  %0 = tensor.concat dim(1) %a, %a : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x6xi32>
  %1 = tensor.extract_slice %a[0, 1] [4, 2] [1, 1] : tensor<4x3xi32> to tensor<4x2xi32>
  %2 = tensor.concat dim(0) %a, %a : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<8x3xi32>
  %3 = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<4x3xi32> to tensor<4x5xi32>
  return %0, %1, %2, %3 : tensor<4x6xi32>, tensor<4x2xi32>, tensor<8x3xi32>, tensor<4x5xi32>
}

// One element of a tensor, read by all.
func.func @element(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [1, 9]}) -> (i32, tensor<2xi32>) {
  %i = arith.constant 1 : index
  %0 = tensor.extract %a[%i] : tensor<2xi32>
  %s = tensor.splat %0 : tensor<2xi32>
  %1 = arith.divui %s, %a : tensor<2xi32>
  return %0, %1 : i32, tensor<2xi32>
}
