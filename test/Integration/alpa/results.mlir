// Results given, arguments not: each result is handed out in its own layout.
// RUN: shard-opt %s --spmd-resolve-axis-resources=mesh=pod --spmd-default-pipeline | FileCheck %s -enable-var-scope
// RUN: shard-run %s --random-inputs=1 --verify

spmd.mesh @pod = <["data"=2, "model"=2]>

// CHECK-LABEL: func.func @outs
// CHECK-SAME: -> (tensor<3x4xf32> {{[^)]*}}[{"data"}, {}]>
// CHECK-SAME: tensor<6x4xf32> {{[^)]*}}[{}, {}]>
// CHECK-SAME: tensor<6x2xf32> {{[^)]*}}[{}, {"model"}]>
// CHECK-SAME: tensor<3x2xf32> {{[^)]*}}[{"data"}, {"model"}]>
func.func @outs(%a: tensor<6x4xf32>)
    -> (tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none]>},
        tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<replicated>},
        tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<[none, "model"]>},
        tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data", "model"]>}) {
  %one = arith.constant dense<1.0> : tensor<6x4xf32>
  %two = arith.constant dense<2.0> : tensor<6x4xf32>
  %0 = arith.mulf %a, %a : tensor<6x4xf32>
  %1 = arith.addf %a, %one : tensor<6x4xf32>
  %2 = arith.mulf %a, %two : tensor<6x4xf32>
  %3 = arith.divf %a, %two : tensor<6x4xf32>
  return %0, %1, %2, %3 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}
