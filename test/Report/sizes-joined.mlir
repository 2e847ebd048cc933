// A product of sizes is sharded, which the upper bounds do not divide: no call has these, so the report is at sizes that it can have.
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s
// CHECK: all_slice
// CHECK: function @f, with b = 3, s = 3
// CHECK: result0 tensor<?xf32> tensor<3xf32>
// CHECK: with b = 3, s = 3, of
spmd.mesh @m = <["x"=3]>
func.func @f(%x: tensor<?x?xf32> {spmd.symbols = ["b", "s"], spmd.sharding = #spmd.sharding<@m, [{}, {}]>})
    -> (tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) attributes {spmd.bounds = {b = [1, 4], s = [1, 4]}} {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}
