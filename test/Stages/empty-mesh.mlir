// A scalar on a mesh without axes, as JAX writes it, does not make a second mesh: of a pipeline, of a search for the shape
// of the mesh, of axis resources, and in reports.
// RUN: shard-opt %s --spmd-default-pipeline="pipeline='microbatches=2 num-stages=1'" | FileCheck %s --check-prefix=STAGES
// RUN: shard-opt %s --spmd-resolve-axis-resources --spmd-auto-shard=mesh-shapes=all | FileCheck %s --check-prefix=SHAPES
// RUN: shard-opt %s --spmd-default-pipeline --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-run %s --random-inputs=3 --verify | FileCheck %s --check-prefix=EQUAL
// STAGES: spmd.schedule @main
// SHAPES: spmd.mesh_shapes
// REPORT-NOT: @empty_mesh
// REPORT: mesh @mesh: data=2 model=2
// REPORT-NOT: @empty_mesh
// EQUAL: verify: 1 function, 2 results, all equal
spmd.mesh @empty_mesh = <[]>
spmd.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<8x6xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none]>, spmd.microbatch = #spmd.microbatch<dim = 0>},
                %w: tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>},
                %step: tensor<i32> {spmd.sharding = #spmd.sharding<@empty_mesh, []>}) -> (tensor<8x4xf32>, tensor<i32>) {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x4xf32>) outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
  %one = arith.constant dense<1> : tensor<i32>
  %next = arith.addi %step, %one : tensor<i32>
  return %y, %next : tensor<8x4xf32>, tensor<i32>
}
