// REQUIRES: shard-compile, shard-run
// RUN: %python %S/Inputs/one_error.py shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: %python %S/Inputs/one_error.py --no=%t.bundle shard-compile %s -o %t.bundle | FileCheck %s
// RUN: %python %S/Inputs/one_error.py shard-run %s --random-inputs=1 --verify | FileCheck %s

spmd.mesh @pod = <["data"=2, "model"=4]>

// CHECK: {{^}}{{.*}}axis-used-twice.mlir:[[#@LINE+3]]:14: error: illegal sharding of argument #1: "model" overlaps "model", expected each (sub-)axis at most once
// CHECK: {{^}}{{.*}}axis-used-twice.mlir:[[#@LINE+2]]:14: note: available axes: "data"=2, "model"=4
func.func @f(%x: tensor<8x16xf32>,
             %w: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {"model"}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}
