// A local program without collectives parses in any tool; collectives that are left are an error.
// RUN: shard-opt %s --split-input-file --spmd-strip --verify-diagnostics | mlir-opt --split-input-file | FileCheck %s

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  // CHECK: func.func @add(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: spmd
  func.func @add(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>, spmd.global_type = tensor<8xf32>})
      -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) {
    %0 = arith.addf %x, %x {spmd.shardings = [#spmd.sharding<@pod, [{"x"}]>]} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @left(%x: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @below {{spmd.all_gather is an op of a local program that cannot be removed, expected none: run --convert-spmd-to-calls or another conversion of collectives before}}
    %0 = spmd.all_gather %x <@pod, [{"x"}]> : tensor<4xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
