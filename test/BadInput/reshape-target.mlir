// A layout that no regrouping of the axes of the operand reaches: an error if no data may move
// implicitly, with the bytes and what could be written; and specs that were not imported.
// RUN: not shard-opt %s --spmd-propagate 2>&1 | FileCheck %s --check-prefix=IMPORT
// IMPORT: reshape-target.mlir:10:{{[0-9]+}}: error: spec of ONNX Runtime, expected a sharding; run --spmd-import-ort first
// RUN: not shard-opt %s --spmd-import-ort --spmd-propagate --spmd-forbid-implicit-reshard 2>&1 | FileCheck %s
// CHECK: reshape-target.mlir:13:{{[0-9]+}}: error: implicit reshard of 'tensor<8xf32>' from [{2, "x"}] to [{"x"}] (all_to_all, {{[0-9]+}} bytes), expected an explicit one
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=MOVES
// MOVES: spmd.all_to_all

func.func @main(%x: tensor<2x4xf32> {spmd.sharding = #spmd.ort<"RS[0]", shape = [2], elements = [0, 1]>})
    -> (tensor<8xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [2], elements = [0, 1]>}) {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}
