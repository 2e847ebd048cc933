// Sorts within the samples are split along the batch: rows, and columns that are sharded, of which 3 are kept, with 7 columns
// on 2 devices. One over the batch reads all of it.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline="microbatches=4" --random-inputs=3 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: sed 's/\[{"data"}, {}\]/[{}, {"data"}]/' %s > %t.columns.mlir
// RUN: shard-run %t.columns.mlir --pipeline="microbatches=2 schedule=inference" --random-inputs=5 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: sed 's/%a, %n dim = 1/%a, %a dim = 0/' %s > %t.batch.mlir
// RUN: not shard-opt %t.batch.mlir --spmd-build-stages="microbatches=4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BATCH
// CHECK: verify: 1 function, 3 results, all equal bit by bit
// BATCH: error: spmd.sort needs the result of arith.muli of all microbatches at once
spmd.mesh @pod = <["stage"=2, "data"=2]>
func.func @main(%x: tensor<16x7xi32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.range = [-9, 10],
                                      spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %w: tensor<16x7xi32> {spmd.name = "w", spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.range = [-5, 6]})
    -> (tensor<16x7xi32> {spmd.name = "sorted"}, tensor<16x3xi32> {spmd.name = "values"}, tensor<16x3xi32> {spmd.name = "places"}) {
  %a = arith.muli %x, %w : tensor<16x7xi32>
  spmd.stage_boundary %a : tensor<16x7xi32>
  %e = tensor.empty() : tensor<16x7xi32>
  %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<16x7xi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i32
      linalg.yield %j : i32
  } -> tensor<16x7xi32>
  %r:2 = spmd.sort %a, %n dim = 1 {
  ^bb0(%p: i32, %q: i32, %s: i32, %t: i32):
    %before = arith.cmpi sgt, %p, %q : i32
    spmd.yield %before
  } : (tensor<16x7xi32>, tensor<16x7xi32>) -> (tensor<16x7xi32>, tensor<16x7xi32>)
  %v = tensor.extract_slice %r#0[0, 0] [16, 3] [1, 1] : tensor<16x7xi32> to tensor<16x3xi32>
  %k = tensor.extract_slice %r#1[0, 0] [16, 3] [1, 1] : tensor<16x7xi32> to tensor<16x3xi32>
  %all = arith.subi %r#0, %a : tensor<16x7xi32>
  return %all, %v, %k : tensor<16x7xi32>, tensor<16x3xi32>, tensor<16x3xi32>
}
