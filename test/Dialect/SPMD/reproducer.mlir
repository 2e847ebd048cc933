// Reproducers of MLIR hold our pipelines with all their options, lists among them: they run again with the same output.
// RUN: shard-opt %s --spmd-default-pipeline='auto-shard={batch-axes=x zero-stage=1 batch-arguments=x} hint=b=6 combine-bytes=4096' --mlir-generate-reproducer=%t.reproducer -o %t.direct
// The reproducer of a run without a failure has the module after it.
// RUN: sed -n '/^{-#/,$p' %t.reproducer > %t.pipeline
// RUN: cat %s %t.pipeline > %t.again
// RUN: shard-opt %t.again --run-reproducer -o %t.out
// RUN: diff %t.direct %t.out
// RUN: FileCheck %s < %t.out
// One of a failure fails in the same way.
// RUN: not shard-opt %s --spmd-default-pipeline=auto-shard=batch-axes=z --mlir-pass-pipeline-crash-reproducer=%t.crash 2> %t.first
// RUN: not shard-opt %t.crash --run-reproducer 2> %t.second
// RUN: FileCheck %s --check-prefix=ERROR < %t.first
// RUN: FileCheck %s --check-prefix=ERROR < %t.second
// ERROR: error: no mesh of function @main has the batch-axes z

spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK: func.func @main(
// CHECK-SAME: spmd.hint = 6 : i64{{.*}} with_options = "batch-arguments={x} batch-axes={x} zero-stage=1"
func.func @main(%x: tensor<?x16xf32> {spmd.name = "x", spmd.symbols = ["b", ""]}, %w: tensor<16x24xf32> {spmd.weight = "w"},
                %v: tensor<24x16xf32> {spmd.weight = "v"}) -> tensor<?x16xf32> attributes {spmd.bounds = {b = [1, 64]}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%b) : tensor<?x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %h = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x24xf32>) outs(%f : tensor<?x24xf32>) -> tensor<?x24xf32>
  %e1 = tensor.empty(%b) : tensor<?x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul ins(%h, %v : tensor<?x24xf32>, tensor<24x16xf32>) outs(%f1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
