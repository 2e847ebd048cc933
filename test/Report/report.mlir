// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation --spmd-report="format=json plan=propagation" -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation --spmd-report="format=text output=%t plan=propagation" -o /dev/null && FileCheck %s --check-prefix=TEXT < %t
// RUN: not shard-opt %s --spmd-default-pipeline=plan=propagation --spmd-report="format=xml plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: unknown format=xml, expected text, json, remarks or html

// alpha = beta = 1: the cost of an all-reduce is 1 + 2 (n - 1) / n * B.
spmd.mesh @pod = <["x"=2, "y"=4], device_ids=[0,4,1,5,2,6,3,7]> {alpha = [1.0, 1.0], beta = [1.0, 1.0]}

// CHECK: "device_ids": [
// CHECK: "name": "x"
// CHECK: "global_type": "tensor<8x16xf32>"
// CHECK: "sharding": "<@pod, [{\"x\"}, {\"y\"}]>"
// CHECK: "local_type": "tensor<4x4xf32>"
// CHECK: "kind": "all_reduce"
// CHECK-NEXT: "axes": [
// CHECK-NEXT: "y"
// CHECK: "reduction": "sum"
// CHECK-NEXT: "bytes": 16
// CHECK-NEXT: "received": 96
// CHECK-NEXT: "count": 1
// CHECK-NEXT: "cost": 25.0
// CHECK-NEXT: "loc": "{{.*}}report.mlir:[[#]]:[[#]]"
// CHECK: "bytes_by_axis": {
// CHECK-NEXT: "y": 16
// CHECK: "launches": 1

// Totals come first.
// TEXT: mesh @pod: x=2 y=4
// TEXT-NEXT: totals
// TEXT-NEXT: predicted time 25 s
// TEXT-NEXT: launches 1
// TEXT-NEXT: all_reduce 1 x 16 B
// TEXT-NEXT: on {y} 16 B
// TEXT-NEXT: peak of @main {{.*}} B
// TEXT-NEXT: function @main
// TEXT: collectives, 16 B
// TEXT-NEXT: all_reduce sum {y} 1 x 16 B 25 s {{.*}}report.mlir:{{[0-9:]+}} #0
func.func @main(%a: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"x"}, {"y"}]>}) -> tensor<8xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.reduce ins(%a : tensor<8x16xf32>) outs(%f : tensor<8xf32>) dimensions = [1] (%x: f32, %acc: f32) {
    %s = arith.addf %x, %acc : f32
    linalg.yield %s : f32
  }
  return %r : tensor<8xf32>
}
