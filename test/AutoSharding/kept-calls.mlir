// Where calls connect functions, plans are compared for all of them together, and the default plan takes no part as long
// as users shard nothing in one of them: a callee is not replaced alone. The kept plan computes the same numbers.
// RUN: shard-opt %s --spmd-auto-shard --spmd-report -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify --auto-shard --compile-option=--inline=false | FileCheck %s --check-prefix=SAME
// CHECK: search of @main: gap
// CHECK-NEXT: kept: strategies by cost, [[BOTH:.*]]; the searched plan
// CHECK: search of @callee{{.*}}: gap
// CHECK-NEXT: kept: strategies by cost, [[BOTH]]; the searched plan
// CHECK: search of @other: gap
// CHECK-NEXT: kept: strategies by cost, [[BOTH]]; the searched plan
// RUN: not shard-opt %s --spmd-report=auto-shard='compare-plans=maybe' -o /dev/null 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: {{.*}}compare-plans
// SAME: verify: 2 functions, 2 results, all equal
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%p: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = spmd.with_sharding_constraint %r <@m, [{}, {}]> : tensor<8x16xf32>
  %b = spmd.with_sharding_constraint %a <@m, [{}, {"x"}]> : tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}
func.func private @callee(%p: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = linalg.matmul ins(%r, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%r : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
func.func @other(%p: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) attributes {spmd.mesh = @m} {
  %r = call @callee(%p, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = call @callee(%r, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
