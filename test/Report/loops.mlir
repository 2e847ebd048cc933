// A collective in a loop counts as often as the loop runs: constant bounds, else 100 times.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation --spmd-report="format=json plan=propagation" -o /dev/null 2>&1 | FileCheck %s

// CHECK: "kind": "all_reduce"
// CHECK: "bytes": 16,
// CHECK: "count": 12,
// CHECK: "kind": "all_reduce"
// CHECK: "bytes": 16,
// CHECK: "count": 100,
// CHECK: "bytes_by_kind": {
// CHECK-NEXT: "all_reduce": 1792
spmd.mesh @m = <["x"=2]>
func.func @known(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %z) -> tensor<4xf32> {
    %1 = scf.for %j = %c0 to %c7 step %c2 iter_args(%w = %v) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<8x4xf32>
      %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%e : tensor<8x4xf32>) dimensions = [0]
      %p = arith.mulf %a, %b : tensor<8x4xf32>
      %r = linalg.reduce { arith.addf } ins(%p : tensor<8x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
      scf.yield %r : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func @unknown(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%w = %z) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<8x4xf32>
    %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%e : tensor<8x4xf32>) dimensions = [0]
    %p = arith.mulf %a, %b : tensor<8x4xf32>
    %r = linalg.reduce { arith.addf } ins(%p : tensor<8x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
    scf.yield %r : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
