// A reshard inside a manual computation over an axis that is manual there.
// RUN: not shard-opt %s --spmd-propagate 2>&1 | FileCheck %s
// RUN: not shard-compile %s -o %t 2>&1 | FileCheck %s
// CHECK: manual-reshard.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: sharding [{}, {"b"}] inside a manual computation uses manual axes, expected free axes: all but "b"
spmd.mesh @mesh_a_2_b_2 = <["a"=2, "b"=2]>
func.func @main(%x: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %r = spmd.manual_computation (%x) in [<@mesh_a_2_b_2, [{"b"}, {}]>] out [<@mesh_a_2_b_2, [{"b"}, {}]>] axes ["b"] (%y: tensor<8x32xf32>) {
    %z = spmd.reshard %y <@mesh_a_2_b_2, [{}, {"b"}]> : tensor<8x32xf32>
    spmd.return %z : tensor<8x32xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  return %r : tensor<16x32xf32>
}
