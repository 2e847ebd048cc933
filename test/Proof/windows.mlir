// Each device sums over its part of a window. No operand says which of the two loops of the sum is sharded.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %t/local.mlir

//--- global.mlir
#in = affine_map<(b, k, i) -> (b, k + i)>
#window = affine_map<(b, k, i) -> (k)>
#out = affine_map<(b, k, i) -> (b, i)>
func.func @halves(%x: tensor<4x8xi32>) -> tensor<4x3xi32> {
  %window = tensor.empty() : tensor<6xi32>
  %zero = arith.constant dense<0> : tensor<4x3xi32>
  %0 = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %window : tensor<4x8xi32>, tensor<6xi32>) outs(%zero : tensor<4x3xi32>) {
  ^bb0(%in: i32, %none: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  } -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}
func.func @overlapping(%x: tensor<4x8xi32>) -> tensor<4x3xi32> {
  %window = tensor.empty() : tensor<6xi32>
  %zero = arith.constant dense<0> : tensor<4x3xi32>
  %0 = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x, %window : tensor<4x8xi32>, tensor<6xi32>) outs(%zero : tensor<4x3xi32>) {
  ^bb0(%in: i32, %none: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  } -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}

//--- local.mlir
spmd.mesh @m = <["x"=2]>
#in = affine_map<(b, k, i) -> (b, k + i)>
#window = affine_map<(b, k, i) -> (k)>
#out = affine_map<(b, k, i) -> (b, i)>
// CHECK: @halves: proven
func.func @halves(%x: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<4x3xi32> {
  %window = tensor.empty() : tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<4x3xi32>
  %part = spmd.halo_exchange %x of tensor<4x8xi32> <@m, [{}, {"x"}]> to <@m, [{}, {"x"}]> dims = [1] steps = [3] offsets = [0] : tensor<4x4xi32> -> tensor<4x5xi32>
  %0 = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%part, %window : tensor<4x5xi32>, tensor<3xi32>) outs(%zero : tensor<4x3xi32>) {
  ^bb0(%in: i32, %none: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  } -> tensor<4x3xi32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4x3xi32>
  return %1 : tensor<4x3xi32>
}
// The second device begins one element too early: element 2 of the window counts twice.
// CHECK: @overlapping: not decided
func.func @overlapping(%x: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<4x3xi32> {
  %window = tensor.empty() : tensor<3xi32>
  %zero = arith.constant dense<0> : tensor<4x3xi32>
  %part = spmd.halo_exchange %x of tensor<4x8xi32> <@m, [{}, {"x"}]> to <@m, [{}, {"x"}]> dims = [1] steps = [2] offsets = [0] : tensor<4x4xi32> -> tensor<4x5xi32>
  %0 = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "reduction", "parallel"]} ins(%part, %window : tensor<4x5xi32>, tensor<3xi32>) outs(%zero : tensor<4x3xi32>) {
  ^bb0(%in: i32, %none: i32, %out: i32):
    %sum = arith.addi %out, %in : i32
    linalg.yield %sum : i32
  } -> tensor<4x3xi32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<4x3xi32>
  return %1 : tensor<4x3xi32>
}
