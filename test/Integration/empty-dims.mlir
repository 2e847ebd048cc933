// Dims of size 0: results have the shapes and the values of sums of nothing, cut or not.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--auto-shard | FileCheck %s
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 5 functions, 6 results, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=2]>
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
func.func @sum(%arg0: tensor<2x0x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}) -> tensor<2x1x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x1x4xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0 : tensor<2x0x4xf32>) outs(%1 : tensor<2x1x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = arith.addf %in, %out : f32
    linalg.yield %4 : f32
  } -> tensor<2x1x4xf32>
  %3 = math.exp %2 : tensor<2x1x4xf32>
  return %3 : tensor<2x1x4xf32>
}
// All of what is read is empty, and so is the result.
func.func @nothing(%a: tensor<0x4xf32>, %b: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<0x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<0x4xf32>, tensor<4x6xf32>) outs(%f : tensor<0x6xf32>) -> tensor<0x6xf32>
  %x = math.exp %p : tensor<0x6xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<0x6xf32>) outs(%e : tensor<0x6xf32>) -> tensor<0x6xf32>
  return %s : tensor<0x6xf32>
}
// A sum of no products.
func.func @products(%a: tensor<4x0xf32>, %b: tensor<0x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) -> tensor<4x6xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  %x = math.exp %p : tensor<4x6xf32>
  %y = arith.addf %x, %p : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
func.func @rows(%a: tensor<3x0xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<3x0xf32>, tensor<3xf32>) {
  %e = tensor.empty() : tensor<3x0xf32>
  %s = linalg.softmax dimension(1) ins(%a : tensor<3x0xf32>) outs(%e : tensor<3x0xf32>) -> tensor<3x0xf32>
  %m = arith.constant dense<0xFF800000> : tensor<3xf32>
  %r = linalg.reduce ins(%s : tensor<3x0xf32>) outs(%m : tensor<3xf32>) dimensions = [1] (%x: f32, %o: f32) {
  %v = arith.maximumf %x, %o : f32
    linalg.yield %v : f32
  }
  return %s, %r : tensor<3x0xf32>, tensor<3xf32>
}
// Its parts are put into nothing.
func.func @turned(%a: tensor<2x0x4xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}) -> tensor<2x0x4xcomplex<f32>> {
  %e = tensor.empty() : tensor<2x0x4xcomplex<f32>>
  %r = linalg.map { complex.exp } ins(%a : tensor<2x0x4xcomplex<f32>>) outs(%e : tensor<2x0x4xcomplex<f32>>)
  return %r : tensor<2x0x4xcomplex<f32>>
}
