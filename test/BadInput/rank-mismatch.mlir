// REQUIRES: shard-compile, shard-run
// RUN: %python %S/Inputs/one_error.py shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: %python %S/Inputs/one_error.py --no=%t.bundle shard-compile %s -o %t.bundle | FileCheck %s
// RUN: %python %S/Inputs/one_error.py shard-run %s --random-inputs=1 --verify | FileCheck %s

spmd.mesh @pod = <["data"=2, "model"=4]>

// CHECK: {{^}}{{.*}}rank-mismatch.mlir:[[#@LINE+1]]:14: error: sharding of argument #0 has 1 dimensions, expected 2, the rank of 'tensor<8x16xf32>'
func.func @f(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
