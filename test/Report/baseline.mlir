// A report against an earlier one: figures, layouts, collectives. And a limit on copies.
// RUN: split-file %s %t
// RUN: shard-opt %t/a.mlir --spmd-report="format=json output=%t/a.json plan=propagation" -o /dev/null
// RUN: shard-opt %t/b.mlir --spmd-report="baseline=%t/a.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %t/b.mlir --spmd-report="format=json baseline=%t/a.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %t/b.mlir --spmd-report="format=remarks baseline=%t/a.json plan=propagation" --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: shard-opt %t/b.mlir --spmd-report="format=html baseline=%t/a.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: shard-opt %t/a.mlir --spmd-report="baseline=%t/a.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: shard-opt %t/c.mlir --spmd-report="baseline=%t/a.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// A report of a bundle serves as well.
// RUN: shard-compile %t/a.mlir -o %t/bundle
// RUN: shard-opt %t/a.mlir --spmd-report="baseline=%t/bundle/report.json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAME
//
// RUN: %python %S/../BadInput/Inputs/one_error.py shard-opt %t/b.mlir --spmd-report="baseline=%t/none.json plan=propagation" | FileCheck %s --check-prefix=MISSING
// RUN: %python %S/../BadInput/Inputs/one_error.py shard-opt %t/b.mlir --spmd-report="baseline=%t/plan.json plan=propagation" | FileCheck %s --check-prefix=PLAN
// RUN: %python %S/../BadInput/Inputs/one_error.py shard-opt %t/b.mlir --spmd-report="baseline=%t/cut.json plan=propagation" | FileCheck %s --check-prefix=CUT
// RUN: %python %S/../BadInput/Inputs/one_error.py shard-opt %t/b.mlir --spmd-report="baseline=%t/list.json plan=propagation" | FileCheck %s --check-prefix=LIST
// RUN: %python %S/../BadInput/Inputs/one_error.py shard-opt %t/b.mlir --spmd-report="baseline=%t/text.json plan=propagation" | FileCheck %s --check-prefix=TEXT
//
// RUN: not shard-opt %t/c.mlir --spmd-report="max-replicated=10 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: shard-opt %t/c.mlir --spmd-report="max-replicated=37 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FINE
// RUN: not shard-opt %t/c.mlir --spmd-report="max-replicated=-1 plan=propagation" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not shard-opt %t/c.mlir --spmd-default-pipeline=plan=propagation --spmd-report="max-replicated=1 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GONE

// CHECK: against {{.*}}a.json
// CHECK-NEXT: predicted time 10.01 us -> 10.01 us same
// CHECK-NEXT: launches 1 -> 1 same
// CHECK-NEXT: peak of @mlp 704 B -> 832 B +18.2 %
// CHECK-NEXT: all_gather - -> 256 B new
// CHECK-NEXT: on {model} 128 B -> 256 B +100.0 %
// CHECK-NEXT: all_reduce 128 B -> - gone
// CHECK-NEXT: layouts of arguments and results, 2 changed
// CHECK-NEXT: @mlp arg2 <@pod, [{"model"}, {}]> -> <@pod, [{}, {"model"}]>
// CHECK-NEXT: @mlp result0 <@pod, [{}, {}]> -> <@pod, [{}, {"model"}]>
// CHECK-NEXT: collectives, 1 gone, 1 new
// CHECK-NEXT: - @mlp all_reduce sum {model} 1 x 128 B {{.*}}a.mlir:10:3
// CHECK-NEXT: + @mlp all_gather {model} 1 x 256 B {{.*}}b.mlir:9:8
// JSON: "comparison": {
// JSON-NEXT: "file": "{{.*}}a.json"
// JSON: "what": "peak of @mlp",
// JSON-NEXT: "unit": "B",
// JSON-NEXT: "before": 704.0,
// JSON-NEXT: "now": 832.0
// JSON: "value": "arg2",
// JSON-NEXT: "before": "<@pod, [{\"model\"}, {}]>",
// JSON-NEXT: "now": "<@pod, [{}, {\"model\"}]>"
// JSON: "gone": [
// JSON: "collective": "all_reduce sum {model}",
// JSON: "added": [
// JSON: "collective": "all_gather {model}",
// REMARK: comparison {{.*}}peak of @mlp against {{.*}}a.json: +18.2 %
// PAGE: Against {{.*}}a.json
// PAGE: <td>peak of @mlp</td>
// SAME: against
// SAME-NEXT: predicted time {{.*}} same
// SAME-NEXT: launches {{.*}} same
// SAME-NEXT: peak of @mlp {{.*}} same
// SAME: results, 0 changed
// SAME: collectives, 0 gone, 0 new
// The program in another file is the same.
// OTHER: results, 1 changed
// OTHER: collectives, 0 gone, 1 new
// OTHER-NEXT: + @mlp all_slice {model} 1 x 0 B {{.*}}c.mlir:9:8
// MISSING: error: cannot read {{.*}}none.json: {{[Nn]}}o such file
// PLAN: plan.json:1:1: error: "functions" is missing, expected a list
// CUT: cut.json:2:1: error: malformed JSON
// LIST: list.json:1:1: error: report is a list, expected an object
// TEXT: text.json:1:29: error: "functions" is "all", expected a list
// COPIES: totals
// COPIES: c.mlir:3:16: error: 36.4 % of the arguments of @mlp, 256 of 704 bytes of a device, are replicas that axes could shard, expected at most 10.0 %
// COPIES: c.mlir:3:16: note: %arg2 of tensor<16x8xf32> could be sharded by model on dim 0, 256 bytes less
// FINE: totals
// FINE-NOT: error:
// NEGATIVE: error: max-replicated=-1.000000e+00, expected a percentage from 0 on
// GONE: error: max-replicated of a module whose layouts are gone, expected one that is not partitioned yet, or was with keep-layouts

//--- a.mlir
spmd.mesh @pod = <["model"=2]>
func.func @mlp(%x: tensor<4x4xf32>, %w: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
               %v: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %g = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x16xf32>, tensor<16x8xf32>) outs(%g : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
//--- b.mlir
spmd.mesh @pod = <["model"=2]>
func.func @mlp(%x: tensor<4x4xf32>, %w: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
               %v: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>}) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %g = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x16xf32>, tensor<16x8xf32>) outs(%g : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
//--- c.mlir
spmd.mesh @pod = <["model"=2]>
func.func @mlp(%x: tensor<4x4xf32>, %w: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
               %v: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %g = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = linalg.matmul ins(%h, %v : tensor<4x16xf32>, tensor<16x8xf32>) outs(%g : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
//--- plan.json
{"version": 1}
//--- cut.json
{"version": 1, "functions": [
//--- list.json
[1]
//--- text.json
{"version": 1, "functions": "all"}
