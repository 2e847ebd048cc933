// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t

// From IR in one step, and from a bundle.
// RUN: shard-run %s --function=matmul --random-inputs=1 --verify | FileCheck %s --check-prefix=ONE
// RUN: shard-compile %s --with-reference -o %t/bundle
// RUN: shard-run %t/bundle --random-inputs=1 --verify --report=%t/report.json | FileCheck %s --check-prefix=ALL
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json

// Without --verify one function must be chosen.
// RUN: not shard-run %t/bundle --random-inputs=1 2>&1 | FileCheck %s --check-prefix=CHOOSE
// RUN: shard-run %t/bundle --function=lookup --random-inputs=3 --output-dir=%t/out --repeat=3 | FileCheck %s --check-prefix=LOOKUP

// The same inputs give the same file, whatever the number of runs.
// RUN: cp %t/out/rows.npy %t/first.npy
// RUN: shard-run %t/bundle --function=lookup --random-inputs=3 --output-dir=%t/out
// RUN: cmp %t/first.npy %t/out/rows.npy
// RUN: shard-run %t/bundle --function=lookup --random-inputs=4 --output-dir=%t/out
// RUN: not cmp %t/first.npy %t/out/rows.npy

// ONE: matmul: 4 devices, {{[0-9]+}} collective
// ONE: verify matmul y: max abs error {{.*}}, ok
// ONE: verify: 1 function, 1 result, all equal

// ALL: verify matmul y: {{.*}}, ok
// ALL: verify lookup rows: max abs error 0, max rel error 0, ok
// ALL: verify: 2 functions, 2 results, all equal

// REPORT-DAG: "kind": "all_reduce"
// REPORT-DAG: "executions": 1
// REPORT-DAG: "bytes_needed"
// REPORT-DAG: "of_tolerance"

// CHOOSE: error: the bundle has several functions, choose one with --function: matmul, lookup

// LOOKUP: lookup: 4 devices
// LOOKUP: step: min {{.*}} ms, median {{.*}} ms over 3 runs
// LOOKUP: wrote {{.*}}/out/rows.npy

spmd.mesh @pod = <["data"=2, "model"=2]>

func.func @matmul(%x: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>},
                  %w: tensor<16x12xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>})
    -> (tensor<8x12xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x12xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x12xf32>) -> tensor<8x12xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x12xf32>) outs(%init : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @lookup(%ids: tensor<8xi32> {spmd.name = "ids", spmd.range = [0, 10], spmd.sharding = #spmd.sharding<@pod, [{"data"}]>},
                  %table: tensor<10x6xf32> {spmd.weight = "table", spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>})
    -> (tensor<8x6xf32> {spmd.name = "rows"}) {
  %empty = tensor.empty() : tensor<8x6xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<8xi32>) outs(%empty : tensor<8x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<10x6xf32>
    linalg.yield %v : f32
  } -> tensor<8x6xf32>
  return %rows : tensor<8x6xf32>
}
