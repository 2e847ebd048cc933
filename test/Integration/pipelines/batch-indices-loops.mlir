// Ops that read their index in the batch: other ops with indices, and in loops.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline="microbatches=2" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s
// CHECK: verify: 1 function, 3 results, all equal
spmd.mesh @pod = <["stage"=2, "data"=2]>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<8x6xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %h = math.tanh %x : tensor<8x6xf32>
  spmd.stage_boundary %h : tensor<8x6xf32>
  %g = tensor.generate {
    ^bb0(%i: index, %j: index):
      %k = arith.index_cast %i : index to i64
      %f = arith.sitofp %k : i64 to f32
      tensor.yield %f : f32
  } : tensor<8x6xf32>
  %y = arith.addf %h, %g : tensor<8x6xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %y) -> tensor<8x6xf32> {
    %e = tensor.empty() : tensor<8x6xf32>
    %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
    ^bb0(%p: f32, %o: f32):
      %i = linalg.index 0 : index
      %s = arith.addi %i, %t : index
      %k = arith.index_cast %s : index to i64
      %f = arith.sitofp %k : i64 to f32
      %q = arith.addf %p, %f : f32
      linalg.yield %q : f32
    } -> tensor<8x6xf32>
    scf.yield %b : tensor<8x6xf32>
  }
  // A loop that begins with a part of the batch and hands on what is made of nothing.
  %two = arith.constant dense<2.0> : tensor<8x6xf32>
  %w:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %y, %b = %y) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
    scf.yield %two, %a : tensor<8x6xf32>, tensor<8x6xf32>
  }
  %v = arith.addf %w#1, %h : tensor<8x6xf32>
  return %y, %z, %v : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}
