// What StableHLO cannot express is one error each; where compute is linalg, the operands of the group are gathered.
// RUN: shard-opt %s --convert-spmd-to-stablehlo --split-input-file --verify-diagnostics
// RUN: shard-opt %s --convert-spmd-to-stablehlo-calls --split-input-file | FileCheck %s

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  // CHECK-LABEL: func.func @uneven
  // CHECK: "stablehlo.all_gather"(%{{.*}}) {{.*}} : (tensor<1x6xi32>) -> tensor<2x6xi32>
  // CHECK: linalg.generic
  func.func @uneven(%x: tensor<3x2xi32>) -> tensor<5x2xi32> {
    // expected-error @below {{moves shards that are not even, expected dims that devices divide, on one mesh}}
    %0 = spmd.all_gather %x <@pod, [{"x"}, {}]> : tensor<3x2xi32> -> tensor<5x2xi32>
    return %0 : tensor<5x2xi32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  // CHECK-LABEL: func.func @unsigned
  // CHECK: arith.maxui
  func.func @unsigned(%x: tensor<3xi32>) -> tensor<3xi32> {
    // expected-error @below {{combines elements in a way that StableHLO has no op for}}
    %0 = spmd.all_reduce %x umax <@pod, {"x"}> : tensor<3xi32>
    return %0 : tensor<3xi32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  // expected-error @below {{argument #0 is sharded as #spmd.sharding<@pod, [{"x"}]>: dim 0 of 5 over 2 devices, expected a dim that they divide}}
  func.func @padded(%x: tensor<3xf32> {spmd.global_type = tensor<5xf32>, spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @linalg(%x: tensor<3xf32>) -> tensor<3xf32> {
    // expected-error @below {{'linalg.exp' has no form in StableHLO, expected a program of StableHLO ops whose shards are even}}
    %0 = linalg.exp ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
