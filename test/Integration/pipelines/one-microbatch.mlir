// One microbatch has the full batch: sums over it may be used with it, an op may need all of it,
// and the stage that computes statistics returns them.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline="meshes=s0,s1 microbatches=1" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s
// CHECK: 2 stages, 1 microbatch
// CHECK: verify: 1 function, 4 results, all equal

// With two it is an error.
// RUN: not shard-opt %s --spmd-default-pipeline="pipeline='meshes=s0,s1 microbatches=2'" 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: linalg.generic needs the result of linalg.reduce of all microbatches while it computes on the slice of one

// Batch normalisation in a training step: gradients are sums as ever, and updates run in
// the stage of their weight.
// RUN: %python %S/gen_mlp_step.py --boundaries 2 --normalize --activation tanh --loss -o %t.mlir
// RUN: shard-opt %t.mlir --spmd-default-pipeline="pipeline='meshes=s0,s1 microbatches=1'" | %python %S/signatures.py | FileCheck %s --check-prefix=STEP
// RUN: shard-run %t.mlir --pipeline="meshes=s0,s1 microbatches=1" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// STEP: @stage0_apply: 6x8 8 8x10 10 6x8 8 8x10 10 -> 6x8 8 8x10 10
// STEP: @stage1_apply: 10x12 12 12x14 14 scalar 10x12 12 12x14 14 -> scalar 10x12 12 12x14 14
// STEP-NEXT: no collectives
// STEP-NEXT: transfer layer1: 0 -> 1 64x10
// STEP-NEXT: transfer d.layer1: 1 -> 0 64x10
// STEP-NEXT: end of signatures
// NUMBERS: verify: 1 function, 9 results, all equal

// In a batch of one sample nothing is summed: all that follows is the last stage's.
// RUN: %python %S/gen_mlp_step.py --batch 1 --boundaries 2 --inference -o %t.one.mlir
// RUN: shard-run %t.one.mlir --pipeline="meshes=s0,s1 microbatches=1" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=SAMPLE
// SAMPLE: verify: 1 function, 1 result, all equal
// RUN: %python %S/gen_mlp_step.py --batch 1 --boundaries 2 -o %t.step.mlir
// RUN: not shard-opt %t.step.mlir --spmd-default-pipeline="pipeline='meshes=s0,s1 microbatches=1'" 2>&1 | FileCheck %s --check-prefix=UPDATED
// UPDATED: error: {{.*}}result #0 of @main updates argument #0, which stage 0 has, and is computed for each microbatch on stage 1, expected one stage for both
spmd.mesh @s0 = <["data"=2]>
spmd.mesh @s1 = <["data"=2], device_ids=[2, 3]>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<8x4xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>,
                                     spmd.axis_resources = #spmd.axis_resources<["data"]>},
                %mean: tensor<4xf32> {spmd.name = "mean"}, %largest: tensor<4xf32> {spmd.name = "largest"}) ->
    (tensor<4xf32> {spmd.name = "new.mean", spmd.tied = 1 : i64}, tensor<8x4xf32> {spmd.name = "y"},
     tensor<4xf32> {spmd.name = "new.largest", spmd.tied = 2 : i64}, tensor<8x4xf32> {spmd.name = "sums"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %r = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce ins(%x : tensor<8x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %s = arith.addf %a, %b : f32
                         linalg.yield %s : f32 }
  %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
      ins(%sum, %mean : tensor<4xf32>, tensor<4xf32>) outs(%r : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.constant 0.125 : f32
      %d = arith.mulf %a, %c : f32
      %s = arith.addf %d, %b : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x4xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %t = math.tanh %d : f32
      linalg.yield %t : f32
  } -> tensor<8x4xf32>
  spmd.stage_boundary %h : tensor<8x4xf32>
  // The largest of the batch, of the argument and so far.
  %most = linalg.reduce ins(%h : tensor<8x4xf32>) outs(%largest : tensor<4xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %s = arith.maximumf %a, %b : f32
                         linalg.yield %s : f32 }
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %most : tensor<8x4xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %t = math.exp %d : f32
      linalg.yield %t : f32
  } -> tensor<8x4xf32>
  // Sums from the start of the batch: the row before each.
  %shifted = tensor.extract_slice %y[0, 0] [7, 4] [1, 1] : tensor<8x4xf32> to tensor<7x4xf32>
  %padded = tensor.pad %shifted low[1, 0] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<7x4xf32> to tensor<8x4xf32>
  %sums = arith.addf %y, %padded : tensor<8x4xf32>
  return %new, %y, %most, %sums : tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>
}
