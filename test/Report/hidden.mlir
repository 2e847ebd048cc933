// What a report has of collectives that pass while devices compute: the gather of %w, of 13.288 us, during the first product.
// RUN: shard-opt %s --spmd-report="plan=propagation" -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-report="format=json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-report="format=html plan=propagation output=%t.html" -o /dev/null && FileCheck %s --check-prefix=PAGE --input-file=%t.html
// The search says it too.
// RUN: shard-opt %s --spmd-auto-shard --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEARCH
// Where nothing overlaps no collective is started early.
// RUN: sed 's/overlap = 0.5/overlap = 0.0/' %s | shard-opt - --spmd-default-pipeline="plan=propagation" | FileCheck %s --check-prefix=NONE --implicit-check-not=spmd.start
// CHECK: totals
// CHECK-NEXT: predicted time 13.29 us
// CHECK-NEXT: of it hidden by compute 6.644 us
// CHECK-NEXT: predicted compute 262.1 us
// JSON: "compute": {{.*}}
// JSON: "hidden": 6.644{{.*}}e-06
// JSON: "totals"
// JSON: "hidden": 6.644{{.*}}e-06
// PAGE: of it hidden by compute
// SEARCH: search of @main: optimal, objective {{.*}}, of it collectives {{.*}} s and 6.644000e-06 s hidden by compute
// NONE: spmd.all_gather
spmd.mesh @m = <["x"=4]> {alpha = [1.0e-6], beta = [1.0e-9], flops = 1.0e9, spmd.overlap = 0.5}
func.func @main(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %v: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
