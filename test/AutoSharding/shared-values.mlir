// Functions that share weights and state are searched together: one problem, one objective, one layout of each weight.
// RUN: split-file %s %t
// RUN: shard-opt %t/model.mlir --spmd-auto-shard="batch-axes=data allow-replicated-weights=false" -o %t/found.mlir
// RUN: FileCheck %s < %t/found.mlir
// RUN: shard-opt %t/found.mlir --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-opt %t/found.mlir --spmd-explain=value=up -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// The objective is that of both: the sum of the predicted times, that of @decode counted as often as it is called.
// RUN: shard-opt %t/model.mlir --spmd-auto-shard="batch-axes=data allow-replicated-weights=false" --spmd-report="format=json output=%t/report.json" -o /dev/null
// RUN: %python %t/check.py %t/report.json
// A budget holds for each function, with the weights of the other; what does not fit names both, and their annotations.
// RUN: not shard-opt %t/model.mlir --spmd-auto-shard=memory-budget=300 -o /dev/null 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not shard-opt %t/own.mlir --spmd-auto-shard=memory-budget=815 -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: shard-opt %t/own.mlir --spmd-auto-shard=memory-budget=816 -o /dev/null
// RUN: not shard-opt %t/differ.mlir --spmd-auto-shard="forbid-collectives=all_gather,all_to_all,collective_permute,exchange,all_reduce,reduce_scatter" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONSTRAINTS

// CHECK: func.func @prefill({{.*}}%arg1: tensor<6x16xf32> {spmd.sharding = [[UP:#spmd.sharding<@m, [^>]*>]]{{.*}}%arg2: tensor<16x6xf32> {spmd.sharding = [[DOWN:#spmd.sharding<@m, [^>]*>]]
// CHECK-SAME: -> (tensor<8x6xf32> {spmd.name = "cache", spmd.sharding = [[CACHE:#spmd.sharding<@m, [^>]*>]]
// CHECK-SAME: functions = [@prefill, @decode]{{.*}}objective = [[OBJECTIVE:[0-9.e-]*]]
// CHECK: func.func @decode({{.*}}%arg1: tensor<6x16xf32> {spmd.sharding = [[UP]]{{.*}}%arg2: tensor<16x6xf32> {spmd.sharding = [[DOWN]]
// CHECK-SAME: %arg3: tensor<8x6xf32> {spmd.name = "cache", spmd.sharding = [[CACHE]]
// CHECK-SAME: objective = [[OBJECTIVE]]
// REPORT: search of @prefill, @decode: optimal
// REPORT-NOT: search of
// EXPLAIN: @prefill
// EXPLAIN: chosen by search
// EXPLAIN: of @decode
// EXPLAIN: @decode
// EXPLAIN: chosen by search
// BUDGET: error: functions @prefill, @decode do not fit into 300 bytes per device, expected a memory budget of at least
// The peak of @f: its result, w, u and v of @g.
// OWN: error: functions @f, @g do not fit into 815 bytes per device, expected a memory budget of at least 816
// OWN-COUNT-2: note: holds 256 bytes of 'tensor<64xf32>'
// CONSTRAINTS: error: no layouts of functions @f, @g satisfy the constraints
// CONSTRAINTS: note: result y of @f is constrained to [{}]

//--- model.mlir
spmd.mesh @m = <["data"=2, "model"=2]> {alpha = [1.0e-6, 1.0e-6], beta = [1.0e-9, 1.0e-9]}
func.func @prefill(%x: tensor<8x6xf32> {spmd.name = "x"}, %up: tensor<6x16xf32> {spmd.weight = "up"}, %down: tensor<16x6xf32> {spmd.weight = "down"})
    -> (tensor<8x6xf32> {spmd.name = "cache"}) {
  %e1 = arith.constant dense<0.0> : tensor<8x16xf32>
  %h = linalg.matmul ins(%x, %up : tensor<8x6xf32>, tensor<6x16xf32>) outs(%e1 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %e2 = arith.constant dense<0.0> : tensor<8x6xf32>
  %y = linalg.matmul ins(%h, %down : tensor<8x16xf32>, tensor<16x6xf32>) outs(%e2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
func.func @decode(%x: tensor<2x6xf32> {spmd.name = "x"}, %up: tensor<6x16xf32> {spmd.weight = "up"}, %down: tensor<16x6xf32> {spmd.weight = "down"},
                  %cache: tensor<8x6xf32> {spmd.name = "cache"})
    -> (tensor<2x6xf32> {spmd.name = "y"}, tensor<8x6xf32> {spmd.tied = 3 : i64}) attributes {spmd.calls = 3 : i64} {
  %e1 = arith.constant dense<0.0> : tensor<2x16xf32>
  %h = linalg.matmul ins(%x, %up : tensor<2x6xf32>, tensor<6x16xf32>) outs(%e1 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %e2 = arith.constant dense<0.0> : tensor<2x6xf32>
  %y = linalg.matmul ins(%h, %down : tensor<2x16xf32>, tensor<16x6xf32>) outs(%e2 : tensor<2x6xf32>) -> tensor<2x6xf32>
  %next = math.tanh %cache : tensor<8x6xf32>
  return %y, %next : tensor<2x6xf32>, tensor<8x6xf32>
}

//--- own.mlir
spmd.mesh @m = <["x"=2]>
func.func @f(%w: tensor<12xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{}]>},
             %u: tensor<64xf32> {spmd.weight = "u", spmd.sharding = #spmd.sharding<@m, [{}]>}) -> (tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %0 = math.tanh %u : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func @g(%w: tensor<12xf32> {spmd.weight = "w"}, %v: tensor<64xf32> {spmd.weight = "v", spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<12xf32> {
  %0 = math.tanh %w : tensor<12xf32>
  return %0 : tensor<12xf32>
}

//--- differ.mlir
spmd.mesh @m = <["x"=2]>
func.func @f(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  return %w : tensor<8xf32>
}
func.func @g(%w: tensor<8xf32> {spmd.weight = "w"}) -> tensor<8xf32> {
  return %w : tensor<8xf32>
}

//--- check.py
import json
import sys

report = json.load(open(sys.argv[1]))
seconds = {}
for each in report["collectives"]:
    seconds[each["function"]] = seconds.get(each["function"], 0) + each["cost"]
expected = seconds.get("prefill", 0) + 3 * seconds.get("decode", 0)
found = report["solver"]["objective"]
assert seconds["prefill"] > 0 and seconds["decode"] > 0, seconds
assert abs(found - expected) < 1e-12, (found, seconds)
