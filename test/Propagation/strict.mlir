// RUN: not shard-opt %s --spmd-propagate --spmd-forbid-implicit-reshard --split-input-file 2>&1 | FileCheck %s --check-prefix=IMPLICIT
// RUN: not shard-opt %s --spmd-propagate --spmd-require-complete --split-input-file 2>&1 | FileCheck %s

// CHECK-NOT: error:
// CHECK: strict.mlir:[[#@LINE+5]]:{{.*}}error: argument #1 of @product ('tensor<8x6xf32>') has no sharding, and propagation found none, expected an annotation ({} on each dim to replicate it)
// CHECK-NOT: error:
spmd.mesh @m = <["x"=2]>

func.func @product(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

spmd.mesh @m = <["x"=2]>

// A partial sum without a constraint to complete it, and two conflicting layouts.
func.func @implicit(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                    %w: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                    %b: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                    %c: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4x6xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  // IMPLICIT-NOT: error:
  // IMPLICIT: :[[#@LINE+1]]:8: error: implicit reshard of 'tensor<4x6xf32>' from [{}, {"x"}] to [{"x"}, {}] (all_to_all, 96 bytes), expected an explicit one: spmd.with_sharding_constraint <@m, [{"x"}, {}]> on the operand
  %1 = arith.addf %b, %c : tensor<4x6xf32>
  // IMPLICIT: :[[#@LINE+2]]:3: error: implicit reshard of 'tensor<4x6xf32>' from [{}, {}], unreduced = {"x"} to [{}, {}] (all_reduce, 96 bytes), expected an explicit one: spmd.with_sharding_constraint <@m, [{}, {}]> on the operand
  // IMPLICIT-NOT: error:
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

spmd.mesh @m = <["x"=2]>

// Written out, both pass.
func.func @written(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                   %w: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %b: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                   %c: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<4x6xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = spmd.with_sharding_constraint %0 <@m, [{}, {}]> : tensor<4x6xf32>
  %b2 = spmd.with_sharding_constraint %b <@m, [{"x"}, {}]> : tensor<4x6xf32>
  %1 = arith.addf %b2, %c : tensor<4x6xf32>
  return %p, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}
