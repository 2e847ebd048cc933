// REQUIRES: shard-compile, shard-run
// RUN: %python %S/Inputs/one_error.py shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: %python %S/Inputs/one_error.py --no=%t.bundle shard-compile %s -o %t.bundle | FileCheck %s
// RUN: %python %S/Inputs/one_error.py shard-run %s --random-inputs=1 --verify | FileCheck %s

spmd.mesh @pod = <["data"=2, "model"=4]>

func.func @f(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: {{^}}{{.*}}unknown-axis.mlir:[[#@LINE+2]]:8: error: 'spmd.with_sharding_constraint' op unknown axis "modle", expected one of "data", "model"
  // CHECK: {{^}}{{.*}}unknown-axis.mlir:[[#@LINE+1]]:8: note: available axes: "data"=2, "model"=4
  %0 = spmd.with_sharding_constraint %x <@pod, [{"modle"}, {}]> : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
