// With `spmd.reshard_per_use` an op makes a copy of its own; ops after it share the new copy.
//
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards | FileCheck %s --check-prefixes=CHECK,RESHARDS -enable-var-scope
// RUN: shard-opt %s --spmd-default-pipeline="overlap=false" | FileCheck %s --check-prefixes=CHECK,FINAL -enable-var-scope
// RUN: sed s/spmd.reshard_per_use/t.reshard_per_use/ %s | shard-opt --allow-unregistered-dialect --spmd-default-pipeline | FileCheck %s --check-prefix=SHARED
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY
// RUN: shard-opt %s --spmd-propagate --spmd-export-plan="file=%t.json content=all" -o /dev/null
// RUN: shard-opt %s --spmd-strip --spmd-apply-plan=file=%t.json --spmd-default-pipeline="overlap=false" | FileCheck %s --check-prefixes=CHECK,FINAL -enable-var-scope
// RUN: sed "s/i64: 1>/i64: 1, 7>/" %s | not shard-opt --spmd-propagate --spmd-insert-reshards 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: sed "s/\"reshard_per_use\": \[1\]/\"reshard_per_use\": [4]/" %t.json > %t.four.json && not shard-opt %s --spmd-strip --spmd-apply-plan=file=%t.four.json 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: sed "s/\"reshard_per_use\": \[1\]/\"reshard_per_use\": [1, 1]/" %t.json > %t.twice.json && not shard-opt %s --spmd-strip --spmd-apply-plan=file=%t.twice.json 2>&1 | FileCheck %s --check-prefix=TWICE

// SHARED-LABEL: func.func @main
// SHARED-COUNT-1: spmd.all_gather
// SHARED-NOT: spmd.all_gather
// VERIFY: verify: 1 function, 1 result, all equal
// NUMBER: error: spmd.reshard_per_use has operand 7, expected those of the op, 0 to 2
// FOUR: error: rule {{[0-9]+}}: "reshard_per_use" has operand 4, expected those of linalg.matmul, 0 to 2
// TWICE: error: rule {{[0-9]+}}: "reshard_per_use" is {{.*}}, expected a list of numbers of operands from 0 on, ascending

spmd.mesh @m = <["x"=4]>

// CHECK-LABEL: func.func @main
// RESHARDS: %[[ONE:.*]] = spmd.reshard %[[W:.*]] <@m, [{}, {}]>
// FINAL: %[[ONE:.*]] = spmd.all_gather %[[W:.*]] <@m, [{"x"}, {}]> {id = 0 : i64}
// CHECK: %[[H:.*]] = linalg.matmul {{.*}}ins(%{{.*}}, %[[ONE]] :
// RESHARDS: %[[TWO:.*]] = spmd.reshard %[[W]] <@m, [{}, {}]>
// FINAL: %[[TWO:.*]] = spmd.all_gather %[[W]] <@m, [{"x"}, {}]> {id = 1 : i64}
// CHECK: linalg.matmul {{.*}}ins(%[[H]], %[[TWO]] :
// CHECK-NOT: spmd.reshard
// CHECK-NOT: spmd.all_gather
// CHECK: linalg.matmul {{.*}}ins(%{{.*}}, %[[TWO]] :
func.func @main(%w: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %a: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<16x8xf32>, tensor<8x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = linalg.matmul {spmd.reshard_per_use = array<i64: 1>} ins(%0, %w : tensor<16x8xf32>, tensor<8x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<16x8xf32>, tensor<8x8xf32>) outs(%f : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}
