// Programs in stages: the lists of a schedule are verified, and the step that they compute is compared with the function.
// RUN: shard-opt %s --spmd-default-pipeline="pipeline='meshes=s0,s1 microbatches=3 schedule=gpipe'" -o %t.mlir
// RUN: shard-prove %s %t.mlir --rules | FileCheck %s --check-prefix=RIGHT
// RIGHT: @main: proven
// RIGHT: 3 x collective
// RIGHT: reduction
// RUN: shard-opt %s --spmd-default-pipeline="prove=true pipeline='meshes=s0,s1 microbatches=4'" -o /dev/null 2>&1 | count 0

// A transfer of the wrong microbatch, doubled, and dropped.
// RUN: sed 's/send \[\[0, 1\]\]/send [[0, 0]]/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: @main is refused at spmd.schedule: {{.*}}'v0' of microbatch 0
// RUN: sed 's/receive \[\[0, 1\]\]/receive [[0, 2]]/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: sed '/receive \[\[0, 1\]\]/p' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: sed '/send \[\[0, 1\]\]/d' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// A microbatch that runs twice, or never, and one that is freed before it is read.
// RUN: sed 's/run @stage1_backward microbatch = 2/run @stage1_backward microbatch = 1/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: sed '/run @stage1_backward microbatch = 2/d' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: sed 's/free "stage1.r0" microbatch = 2/free "stage1.r0" microbatch = 1/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: @main is refused at spmd.schedule
// Each mesh waits for what the other one sends after that.
// RUN: sed '/stage_program @s1/,$s/spmd.transfer 0 send \[\] receive \[\[0, 0\]\]/spmd.free "v0" microbatch = 0/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LIST
// What is sent arrives in another layout than the stage takes it for.
// RUN: sed 's/<@s1, \[{"data"}, {"model"}\]> : tensor<8x6xf32>/<@s1, [{"model"}, {"data"}]> : tensor<8x6xf32>/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: error: @main is refused at func.func: argument #0 has another type than what it gets
// The gradient is not added to the sum, is subtracted, or is doubled by a second use of the sum.
// RUN: sed '/stage1_backward/,/stage1_apply/s/arith.addf %out, %in :/arith.maximumf %out, %in :/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: sed '/stage1_backward/,/stage1_apply/s/arith.addf %out, %in :/arith.subf %out, %in :/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: sed '/stage1_backward/,/stage1_apply/s/arith.addf %out, %in :/arith.addf %out, %out :/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: @main is not decided at func.func: reads "v1" while it is accumulated
// Slices of another dim, and a stage without one of its ops.
// RUN: sed 's/result 0, dim = 0/result 0/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: error: @main is not decided at spmd.schedule: {{.*}}result #0 has type 'tensor<8x3xf32>', expected 'tensor<24x3xf32>'
// RUN: sed 's/math.tanh/math.exp/' %t.mlir | not shard-prove %s - 2>&1 | FileCheck %s --check-prefix=TANH
// TANH: error: @main is refused at math.exp

spmd.mesh @s0 = <["data"=2]>
spmd.mesh @s1 = <["data"=2, "model"=3], device_ids=[2, 3, 4, 5, 6, 7]>
func.func @main(%x: tensor<24x5xf32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.axis_resources = #spmd.axis_resources<["data", none]>},
                %w1: tensor<5x6xf32>, %w2: tensor<6x9xf32> {spmd.axis_resources = #spmd.axis_resources<[none, "model"]>}) -> (tensor<24x9xf32>, tensor<6x9xf32>) {
  %z1 = arith.constant dense<0.0> : tensor<24x6xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<24x5xf32>, tensor<5x6xf32>) outs(%z1 : tensor<24x6xf32>) -> tensor<24x6xf32>
  spmd.stage_boundary %h : tensor<24x6xf32>
  %a = math.tanh %h : tensor<24x6xf32>
  %z2 = arith.constant dense<0.0> : tensor<24x9xf32>
  %y = linalg.matmul ins(%a, %w2 : tensor<24x6xf32>, tensor<6x9xf32>) outs(%z2 : tensor<24x9xf32>) -> tensor<24x9xf32>
  %z3 = arith.constant dense<0.0> : tensor<6x9xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %y : tensor<24x6xf32>, tensor<24x9xf32>) outs(%z3 : tensor<6x9xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x9xf32>
  %u = arith.subf %w2, %g : tensor<6x9xf32>
  return %y, %u : tensor<24x9xf32>, tensor<6x9xf32>
}
