// Replicated values that an axis could shard, and those that no axis could shard.
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-report="format=remarks top=1" --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The layouts of values are gone in a partitioned module, unless they are kept.
// RUN: shard-opt %s --spmd-default-pipeline --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: shard-opt %s --spmd-default-pipeline --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=GONE-JSON
// RUN: shard-opt %s --spmd-default-pipeline=keep-layouts=true --spmd-report -o /dev/null 2>&1 | FileCheck %s

// CHECK: replicated, 4 of 4
// The residual of a Megatron layer: the norm and the sum could be sharded along the sequence; the input as well, but not the operand of the
// product, which uses the axis for its columns.
// CHECK-NEXT: 360 B @residual %arg0 tensor<3x4x10xf32> could be sharded by model on dim 1 {{.*}}replicated.mlir
// CHECK-NEXT: 360 B @residual {{%.*}} tensor<3x4x10xf32> could be sharded by model on dim 1 {{.*}}replicated.mlir
// CHECK-NEXT: 360 B @residual {{%.*}} tensor<3x4x10xf32> could be sharded by model on dim 1 {{.*}}replicated.mlir
// Two axes, on two dims: 7 of 8 parts are too many.
// CHECK-NEXT: 28 B @two_axes %arg0 tensor<2x4xf32> could be sharded by data on dim 0, model on dim 1
// JSON: "replicated": [
// JSON: "bytes": 480,
// JSON-NEXT: "wasted": 360,
// JSON-NEXT: "usable": [
// JSON-NEXT: {
// JSON-NEXT: "axis": "model",
// JSON-NEXT: "dim": 1
// JSON: "name": "%arg0"
// REMARK: remark: [Analysis] memory | Category:spmd | Function=residual | Bytes={{.*}}
// REMARK: remark: [Missed] replicated | Category:spmd | Function=residual | Axes="model on dim 1", Bytes=360, {{.*}}Suggestion="shard it by model on dim 1"
// REMARK-NOT: [Missed] replicated
// GONE: replicated values: not known, the layouts of values are gone; report the module before it is partitioned, or with keep-layouts
// GONE-JSON: "replicated": null
spmd.mesh @m = <["data"=2, "model"=4]>
func.func @residual(%x: tensor<6x4x10xf32> {spmd.sharding = #spmd.sharding<@m, [{"data"}, {}, {}]>}, %w: tensor<10x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"model"}]>}) -> tensor<6x4x16xf32> {
  %s = math.tanh %x : tensor<6x4x10xf32>
  %r = arith.addf %s, %x : tensor<6x4x10xf32>
  %n = math.exp %r : tensor<6x4x10xf32>
  %z = arith.constant dense<0.0> : tensor<6x4x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, t, n, k) -> (b, t, k)>, affine_map<(b, t, n, k) -> (k, n)>, affine_map<(b, t, n, k) -> (b, t, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%n, %w : tensor<6x4x10xf32>, tensor<10x16xf32>) outs(%z : tensor<6x4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<6x4x16xf32>
  return %y : tensor<6x4x16xf32>
}
func.func @two_axes(%x: tensor<2x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<4x2xf32> {spmd.sharding = #spmd.sharding<@m, [{"model"}, {"data"}]>}) {
  %e = tensor.empty() : tensor<4x2xf32>
  %0 = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
  return %0 : tensor<4x2xf32>
}
// No axis divides the dim; the op replicates it (an unknown order of its rows).
func.func @none(%x: tensor<7x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<7x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %e = tensor.empty() : tensor<7x4xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<7x4xf32>) outs(%e : tensor<7x4xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}
