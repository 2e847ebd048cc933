// A search prices collectives one by one, so that the default plan may take less time as it runs: then it stands, with
// both times, and is explained by propagation. A function without user shardings keeps the searched plan.
// RUN: shard-opt %s --spmd-auto-shard | FileCheck %s
// RUN: shard-opt %s --spmd-report=auto-shard -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-opt %s --spmd-explain=auto-shard -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK: func.func @main
// CHECK-SAME: spmd.solver = {kept = "default plan", kept_seconds = 1.0025{{[0-9]*}}E-5 : f64, {{.*}}searched_seconds = {{.*}}status = "gap"}
// REPORT: search of @main: gap
// REPORT-NEXT: kept: default plan, 1.002560e-05 s as it runs; the searched plan 3.005120e-05 s
// REPORT: search of @free: optimal
// REPORT-NOT: kept:
// EXPLAIN: @main
// EXPLAIN: given on argument %arg0
// EXPLAIN-NOT: chosen by search
// EXPLAIN: @free
// EXPLAIN: chosen by search
func.func @main(%p: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = spmd.with_sharding_constraint %r <@m, [{}, {}]> : tensor<8x16xf32>
  %b = spmd.with_sharding_constraint %a <@m, [{}, {"x"}]> : tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}
// CHECK: func.func @free
// CHECK-NOT: kept =
func.func @free(%p: tensor<8x32xf32>, %w: tensor<32x16xf32>) -> (tensor<8x16xf32> {spmd.name = "r"}) attributes {spmd.mesh = @m} {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>

  return %r : tensor<8x16xf32>
}
