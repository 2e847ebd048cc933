// Sums over arguments that microbatches need complete, such as the number of samples or a mean that is subtracted from each:
// they are computed from the unsplit arguments, which the stages that need them have as well.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-build-stages="microbatches=4" | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=4" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// As a weight, such as a leaf of a container in JAX, the mask has two types under one name.
// RUN: sed 's/spmd.name = "mask"/spmd.weight = "mask"/' %s > %t.mlir
// RUN: shard-run %t.mlir --pipeline="microbatches=2 schedule=gpipe" --random-inputs=5 --verify --compile-option=--opt-level=1 | FileCheck %s --check-prefix=NUMBERS
// CHECK: func.func @stage0(%{{.*}}: tensor<4x6xf32> {spmd.name = "x", spmd.sharding = {{.*}}, spmd.slot = #spmd.slot<argument 0, dim = 0>}, {{.*}}%{{.*}}: tensor<16x6xf32> {spmd.name = "x.batch", spmd.slot = #spmd.slot<argument 0>}
// CHECK: func.func @stage1(%{{.*}}: tensor<4xi32> {spmd.name = "mask", {{.*}}spmd.slot = #spmd.slot<argument 1, dim = 0>}, {{.*}}%{{.*}}: tensor<16xi32> {spmd.name = "mask.batch", {{.*}}spmd.slot = #spmd.slot<argument 1>}
// Sums that are used once per step are accumulated as usual.
// CHECK: spmd.stage_output %{{.*}} accumulated sum : tensor<f32>
// CHECK: spmd.schedule @main {{.*}} : (tensor<16x6xf32>, tensor<16xi32>, tensor<6x10xf32>, tensor<10x3xf32>) ->
// NUMBERS: verify: 1 function, 3 results, all equal
spmd.mesh @pod = <["stage"=2, "data"=2]>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>
#scalar = affine_map<() -> ()>
func.func @main(%x: tensor<16x6xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>,
                                      spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %mask: tensor<16xi32> {spmd.name = "mask", spmd.range = [0, 2], spmd.microbatch = #spmd.microbatch<dim = 0>},
                %a: tensor<6x10xf32> {spmd.weight = "a"}, %b: tensor<10x3xf32> {spmd.weight = "b"})
    -> (tensor<f32> {spmd.name = "loss"}, tensor<10x3xf32> {spmd.name = "grad.b"}, tensor<6x10xf32> {spmd.name = "grad.a"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  // Less the mean of the batch.
  %e6 = tensor.empty() : tensor<6xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<6xf32>) -> tensor<6xf32>
  %total = linalg.reduce { arith.addf } ins(%x : tensor<16x6xf32>) outs(%z6 : tensor<6xf32>) dimensions = [0]
  %ex = tensor.empty() : tensor<16x6xf32>
  %mean = linalg.broadcast ins(%total : tensor<6xf32>) outs(%ex : tensor<16x6xf32>) dimensions = [0]
  %centered = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<16x6xf32>, tensor<16x6xf32>) outs(%ex : tensor<16x6xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %sixteenth = arith.constant 0.0625 : f32
      %m = arith.mulf %q, %sixteenth : f32
      %d = arith.subf %p, %m : f32
      linalg.yield %d : f32
  } -> tensor<16x6xf32>
  %eh = tensor.empty() : tensor<16x10xf32>
  %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<16x10xf32>) -> tensor<16x10xf32>
  %h = linalg.matmul ins(%centered, %a : tensor<16x6xf32>, tensor<6x10xf32>) outs(%fh : tensor<16x10xf32>) -> tensor<16x10xf32>
  spmd.stage_boundary %h : tensor<16x10xf32>
  %ey = tensor.empty() : tensor<16x3xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<16x3xf32>) -> tensor<16x3xf32>
  %y = linalg.matmul ins(%h, %b : tensor<16x10xf32>, tensor<10x3xf32>) outs(%fy : tensor<16x3xf32>) -> tensor<16x3xf32>
  // The mean square of the samples that count.
  %ec = tensor.empty() : tensor<i32>
  %fc = linalg.fill ins(%none : i32) outs(%ec : tensor<i32>) -> tensor<i32>
  %count = linalg.reduce { arith.addi } ins(%mask : tensor<16xi32>) outs(%fc : tensor<i32>) dimensions = [0]
  %el = tensor.empty() : tensor<f32>
  %inverse = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%count : tensor<i32>) outs(%el : tensor<f32>) {
    ^bb0(%p: i32, %o: f32):
      %one = arith.constant 1.0 : f32
      %f = arith.sitofp %p : i32 to f32
      %i = arith.divf %one, %f : f32
      linalg.yield %i : f32
  } -> tensor<f32>
  %fl = linalg.fill ins(%zero : f32) outs(%el : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #row, #none], iterator_types = ["reduction", "reduction"]}
      ins(%y, %mask : tensor<16x3xf32>, tensor<16xi32>) outs(%fl : tensor<f32>) {
    ^bb0(%p: f32, %q: i32, %o: f32):
      %f = arith.sitofp %q : i32 to f32
      %s = arith.mulf %p, %p : f32
      %t = arith.mulf %s, %f : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
  } -> tensor<f32>
  %loss = arith.mulf %sum, %inverse : tensor<f32>
  %dy = linalg.generic {indexing_maps = [#id, #row, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %mask, %inverse : tensor<16x3xf32>, tensor<16xi32>, tensor<f32>) outs(%ey : tensor<16x3xf32>) {
    ^bb0(%p: f32, %q: i32, %r: f32, %o: f32):
      %two = arith.constant 2.0 : f32
      %f = arith.sitofp %q : i32 to f32
      %s = arith.mulf %p, %f : f32
      %t = arith.mulf %s, %r : f32
      %u = arith.mulf %t, %two : f32
      linalg.yield %u : f32
  } -> tensor<16x3xf32>
  %eb = tensor.empty() : tensor<10x3xf32>
  %fb = linalg.fill ins(%zero : f32) outs(%eb : tensor<10x3xf32>) -> tensor<10x3xf32>
  %db = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %dy : tensor<16x10xf32>, tensor<16x3xf32>) outs(%fb : tensor<10x3xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<10x3xf32>
  %dh = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %b : tensor<16x3xf32>, tensor<10x3xf32>) outs(%fh : tensor<16x10xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<16x10xf32>
  spmd.stage_boundary backward %dh : tensor<16x10xf32>
  %ea = tensor.empty() : tensor<6x10xf32>
  %fa = linalg.fill ins(%zero : f32) outs(%ea : tensor<6x10xf32>) -> tensor<6x10xf32>
  %da = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%centered, %dh : tensor<16x6xf32>, tensor<16x10xf32>) outs(%fa : tensor<6x10xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
  } -> tensor<6x10xf32>
  return %loss, %db, %da : tensor<f32>, tensor<10x3xf32>, tensor<6x10xf32>
}
