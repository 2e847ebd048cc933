// Ops that read their index in the batch compute it from the index of the microbatch, in both directions of all schedules:
// forward fragments count, backward fragments receive the count. Also with dims that are merged with the batch, after it or
// before it.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-build-stages="microbatches=4" | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=4" --random-inputs=3 --repeat=2 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// RUN: shard-run %s --pipeline="microbatches=2 schedule=gpipe" --random-inputs=5 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// RUN: sed 's/"stage"=2, "data"=2/"data"=4/' %s > %t.mlir
// RUN: shard-run %t.mlir --pipeline="meshes=pod virtual-stages=2 microbatches=2 schedule=interleaved-1f1b" --random-inputs=7 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// CHECK-LABEL: func.func @stage0(
// CHECK: spmd.fragment forward
// CHECK: %[[ONE:.*]] = arith.constant dense<1> : tensor<i64>
// CHECK: %[[COUNT:.*]] = spmd.stage_output %[[ONE]] "microbatch0" accumulated sum : tensor<i64>
// CHECK: %[[NUMBER:.*]] = arith.subi %[[COUNT]], %[[ONE]] : tensor<i64>
// CHECK: tensor.extract %[[NUMBER]][]
// CHECK: spmd.fragment backward
// CHECK: tensor.extract %[[NUMBER]][]
// CHECK-LABEL: func.func @stage1(
// CHECK: spmd.stage_output {{.*}} "microbatch1" accumulated sum : tensor<i64>
// NUMBERS: verify: 1 function, 3 results, all equal
spmd.mesh @pod = <["stage"=2, "data"=2]>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<2x16x3xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 1>,
                                        spmd.sharding = #spmd.sharding<@pod, [{}, {"data"}, {}]>},
                %w: tensor<3xf32> {spmd.weight = "w"})
    -> (tensor<2x16x3xf32> {spmd.name = "y"}, tensor<3xf32> {spmd.name = "grad.w"}, tensor<16xi64> {spmd.name = "places"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16x3xf32>
  // The batch alone.
  %a = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2) -> (d2)>, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %w : tensor<2x16x3xf32>, tensor<3xf32>) outs(%e : tensor<2x16x3xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i64
      %f = arith.sitofp %j : i64 to f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %m, %f : f32
      %t = math.tanh %s : f32
      linalg.yield %t : f32
  } -> tensor<2x16x3xf32>
  spmd.stage_boundary %a : tensor<2x16x3xf32>
  // Merged with what stands before it.
  %merged = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x16x3xf32> into tensor<32x3xf32>
  %em = tensor.empty() : tensor<32x3xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%merged : tensor<32x3xf32>) outs(%em : tensor<32x3xf32>) {
    ^bb0(%p: f32, %o: f32):
      %i = linalg.index 0 : index
      %d = linalg.index 1 : index
      %three = arith.constant 3 : index
      %n = arith.muli %i, %three : index
      %k = arith.addi %n, %d : index
      %j = arith.index_cast %k : index to i64
      %f = arith.sitofp %j : i64 to f32
      %s = arith.mulf %p, %f : f32
      linalg.yield %s : f32
  } -> tensor<32x3xf32>
  %y = tensor.expand_shape %b [[0, 1], [2]] output_shape [2, 16, 3] : tensor<32x3xf32> into tensor<2x16x3xf32>
  %ep = tensor.empty() : tensor<16xi64>
  %column = tensor.extract_slice %x[0, 0, 0] [1, 16, 1] [1, 1, 1] : tensor<2x16x3xf32> to tensor<16xf32>
  %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%column : tensor<16xf32>) outs(%ep : tensor<16xi64>) {
    ^bb0(%p: f32, %o: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      linalg.yield %j : i64
  } -> tensor<16xi64>
  // The way back: a factor for each sample, and the sum.
  %dy = arith.mulf %y, %y : tensor<2x16x3xf32>
  spmd.stage_boundary backward %dy : tensor<2x16x3xf32>
  %eg = tensor.empty() : tensor<3xf32>
  %fg = linalg.fill ins(%zero : f32) outs(%eg : tensor<3xf32>) -> tensor<3xf32>
  %g = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%dy : tensor<2x16x3xf32>) outs(%fg : tensor<3xf32>) {
    ^bb0(%p: f32, %o: f32):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i64
      %f = arith.sitofp %j : i64 to f32
      %s = arith.mulf %p, %f : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<3xf32>
  return %y, %g, %places : tensor<2x16x3xf32>, tensor<3xf32>, tensor<16xi64>
}
