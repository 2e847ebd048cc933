// A column of a cut matrix, from a place that is known at run time down to its end: the device that has the column sends
// it, and all take a part of it whose size is known at run time too. Elimination is made of such columns.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --spmd-partition | FileCheck %s
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @column
// CHECK: %[[SENT:.*]] = spmd.halo_exchange %{{.*}} dims = [1] steps = [0] offsets = [%[[I:.*]]] : tensor<6x3xi32> -> tensor<6x1xi32>
// CHECK: tensor.extract_slice %[[SENT]][%[[I]], 0] [%{{.*}}, 1] [1, 1] : tensor<6x1xi32> to tensor<?xi32>
func.func @column(%a: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}, %at: tensor<i32> {spmd.range = [0, 5]}) -> tensor<6xi32> {
  %zeros = arith.constant dense<0> : tensor<6xi32>
  %place = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %place : i32 to index
  %n = affine.min affine_map<()[s0] -> (6 - s0, 6)>()[%i]
  %column = tensor.extract_slice %a[%i, %i] [%n, 1] [1, 1] : tensor<6x5xi32> to tensor<?xi32>
  %placed = tensor.insert_slice %column into %zeros[%i] [%n] [1] : tensor<?xi32> into tensor<6xi32>
  return %placed : tensor<6xi32>
}
