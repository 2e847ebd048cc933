// Stages that run their layers in a loop which carries the activation.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline="pipeline='meshes=s0,s1 microbatches=4' plan=propagation" | FileCheck %s
// RUN: shard-run %s --pipeline="meshes=s0,s1 microbatches=4" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS

// CHECK-LABEL: func.func @stage0_forward(
// CHECK: scf.for {{.*}} -> (tensor<2x4xf32>)
// CHECK: spmd.all_gather
// CHECK-LABEL: func.func @stage1_forward(
// CHECK: scf.for {{.*}} -> (tensor<1x8xf32>)
// NUMBERS: verify: 1 function, 1 result, all equal
spmd.mesh @s0 = <["model"=2]>
spmd.mesh @s1 = <["data"=2], device_ids=[2, 3]>
func.func @main(%x: tensor<8x8xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>},
                %w: tensor<6x8x8xf32> {spmd.weight = "w"}) -> (tensor<8x8xf32> {spmd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %first = spmd.with_sharding_constraint %x axis_resources [none, "model"] : tensor<8x8xf32>
  %h = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %first) -> tensor<8x8xf32> {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<6x8x8xf32> to tensor<8x8xf32>
    %m = linalg.matmul ins(%a, %wi : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = math.tanh %m : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  spmd.stage_boundary %h : tensor<8x8xf32>
  %second = spmd.with_sharding_constraint %h axis_resources ["data"] : tensor<8x8xf32>
  %y = scf.for %i = %c3 to %c6 step %c1 iter_args(%a = %second) -> tensor<8x8xf32> {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<6x8x8xf32> to tensor<8x8xf32>
    %m = linalg.matmul ins(%a, %wi : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
    %t = math.tanh %m : tensor<8x8xf32>
    scf.yield %t : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}
