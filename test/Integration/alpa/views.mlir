// Propagation through views on a 1 x 4 mesh: cuts are carried over digit by digit,
// and nothing moves.
// RUN: split-file %s %t
// RUN: shard-opt %t/views.mlir --spmd-default-pipeline | FileCheck %s -enable-var-scope
// RUN: shard-opt %t/views.mlir --spmd-default-pipeline --spmd-report="format=json output=%t/report.json" -o /dev/null
// RUN: %python -c "import json; assert not json.load(open(r'%t/report.json'))['collectives']"
// RUN: shard-run %t/views.mlir --random-inputs=1 --verify=exact

// 18 columns on 4 devices, 5 each and 3 for the last: no part of a merged dim.
// RUN: shard-opt %t/uneven.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=UNEVEN
// RUN: shard-run %t/uneven.mlir --random-inputs=1 --verify=exact --compile-option=--fill-padding=lowest
// UNEVEN: %[[A:.*]] = spmd.all_gather %{{.*}} <@pod, [{}, {"model"}]> {{.*}} : tensor<8x5xf32> -> tensor<8x18xf32>
// UNEVEN: tensor.collapse_shape %[[A]]

//--- views.mlir
spmd.mesh @pod = <["dummy"=1, "model"=4]>

// CHECK-LABEL: func.func @collapse(
// CHECK-SAME: tensor<2x18xf32>
// CHECK-SAME: -> (tensor<36xf32> {{.*}}[{"model"}]>
// CHECK-NOT: spmd.
// CHECK: tensor.collapse_shape {{.*}} : tensor<2x18xf32> into tensor<36xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @collapse(%a: tensor<8x18xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) -> tensor<144xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x18xf32> into tensor<144xf32>
  return %0 : tensor<144xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK-SAME: tensor<36xf32>
// CHECK-SAME: -> (tensor<2x18xf32> {{.*}}[{"model"}, {}]>
// CHECK-NOT: spmd.
// CHECK: tensor.expand_shape {{.*}} : tensor<36xf32> into tensor<2x18xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @expand(%a: tensor<144xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}]>}) -> tensor<8x18xf32> {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [8, 18] : tensor<144xf32> into tensor<8x18xf32>
  return %0 : tensor<8x18xf32>
}

// The axis is longer than the major dim: its two halves go to a dim each.
// CHECK-LABEL: func.func @expand_across(
// CHECK-SAME: tensor<36xf32>
// CHECK-SAME: -> (tensor<1x36xf32> {{.*}}[{"model":(1)2}, {"model":(2)2}]>
// CHECK-NOT: spmd.
// CHECK: tensor.expand_shape {{.*}} : tensor<36xf32> into tensor<1x36xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @expand_across(%a: tensor<144xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}]>}) -> tensor<2x72xf32> {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 72] : tensor<144xf32> into tensor<2x72xf32>
  return %0 : tensor<2x72xf32>
}

// And back, from what is given behind the view.
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: tensor<36xf32> {{.*}}[{"model"}]>
// CHECK-SAME: -> (tensor<2x18xf32> {{.*}}[{"model"}, {}]>
// CHECK-NOT: spmd.
// CHECK: return
func.func @backward(%a: tensor<144xf32>) -> (tensor<8x18xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [8, 18] : tensor<144xf32> into tensor<8x18xf32>
  return %0 : tensor<8x18xf32>
}

//--- uneven.mlir
spmd.mesh @pod = <["dummy"=1, "model"=4]>
func.func @uneven(%a: tensor<8x18xf32> {spmd.axis_resources = #spmd.axis_resources<[none, "model"]>}) -> tensor<144xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x18xf32> into tensor<144xf32>
  return %0 : tensor<144xf32>
}
