// Private functions that stay functions until they are partitioned: --inline=false. What only the sharded program calls
// (a manual computation) needs no unsharded form.
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--inline=false | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=inline=false | FileCheck %s --check-prefix=KEPT
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=INLINED
// CHECK: all equal bit by bit
// KEPT-COUNT-2: call @total_spmd
// INLINED-NOT: call @total
spmd.mesh @m = <["x"=2, "y"=2]>
func.func private @total(%a: tensor<8x6xi32>) -> tensor<8x6xi32> {
  %0 = spmd.manual_computation (%a) in [<@m, [{"x"}, {?}]>] out [<@m, [{"x"}, {?}]>] axes ["x"] (%b: tensor<4x6xi32>) {
    %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<4x6xi32>
    spmd.return %1 : tensor<4x6xi32>
  } : (tensor<8x6xi32>) -> tensor<8x6xi32>
  return %0 : tensor<8x6xi32>
}
func.func private @whole_total(%a: tensor<8x6xi32>) -> tensor<8x6xi32> {
  %0 = tensor.extract_slice %a[0, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %1 = tensor.extract_slice %a[4, 0] [4, 6] [1, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  %2 = arith.addi %0, %1 : tensor<4x6xi32>
  %3 = tensor.concat dim(0) %2, %2 : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<8x6xi32>
  return %3 : tensor<8x6xi32>
}
func.func @main(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}, %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]}) -> (tensor<8x6xi32>, tensor<8x6xi32>) attributes {spmd.reference = @whole} {
  %0 = func.call @total(%a) : (tensor<8x6xi32>) -> tensor<8x6xi32>
  %1 = func.call @total(%b) : (tensor<8x6xi32>) -> tensor<8x6xi32>
  return %0, %1 : tensor<8x6xi32>, tensor<8x6xi32>
}
func.func private @whole(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}, %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]}) -> (tensor<8x6xi32>, tensor<8x6xi32>) {
  %0 = func.call @whole_total(%a) : (tensor<8x6xi32>) -> tensor<8x6xi32>
  %1 = func.call @whole_total(%b) : (tensor<8x6xi32>) -> tensor<8x6xi32>
  return %0, %1 : tensor<8x6xi32>, tensor<8x6xi32>
}
