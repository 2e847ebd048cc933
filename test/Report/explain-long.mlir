// The explanation of all values has the first eight steps of each path; that of a selected value has all steps.
// RUN: shard-opt %s --spmd-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: shard-opt %s --spmd-explain=value=%10 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: shard-opt %s --spmd-explain=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-explain=format=remarks -o /dev/null --remarks-filter=spmd 2>&1 | FileCheck %s --check-prefix=REMARK

// ALL: %10 : tensor<8xf32>
// ALL-NEXT: dim 0 has "x"
// ALL-NEXT: from dim 0 of %9 through math.tanh
// ALL: from dim 0 of %2 through math.tanh
// ALL-NEXT: and 3 more steps
// ALL-NEXT: given on argument %arg0
// ONE: from dim 0 of %9 through math.tanh
// ONE: from dim 0 of %arg0 through math.tanh
// ONE-NEXT: given on argument %arg0
// JSON: "name": "%10"
// JSON: "length": 11,
// JSON-NEXT: "given": "argument %arg0"
// REMARK: %10: dim 0 has "x", through 11 ops, as given on argument %arg0
spmd.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = math.tanh %a : tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  %2 = math.tanh %1 : tensor<8xf32>
  %3 = math.tanh %2 : tensor<8xf32>
  %4 = math.tanh %3 : tensor<8xf32>
  %5 = math.tanh %4 : tensor<8xf32>
  %6 = math.tanh %5 : tensor<8xf32>
  %7 = math.tanh %6 : tensor<8xf32>
  %8 = math.tanh %7 : tensor<8xf32>
  %9 = math.tanh %8 : tensor<8xf32>
  %10 = math.tanh %9 : tensor<8xf32>
  return %10 : tensor<8xf32>
}
