// Specs of ONNX Runtime, a device mesh per tensor, become shardings on meshes of the
// module, and back.
// RUN: shard-opt %s --spmd-import-ort --split-input-file | FileCheck %s
// RUN: shard-opt %s --spmd-import-ort --split-input-file --spmd-export-ort | FileCheck %s --check-prefix=BACK

// A mesh is added if there is none; repeated devices are strides.
// CHECK: spmd.mesh @ort = <["x"=2]>
// CHECK-LABEL: @added
// CHECK-SAME: %{{.*}}: tensor<2x8xf32> {spmd.sharding = #spmd.sharding<@ort, [{}, {2, "x"}]>}
// CHECK-SAME: -> (tensor<16xf32> {spmd.sharding = #spmd.sharding<@ort, [{4, "x"}]>})
// CHECK: spmd.with_sharding_constraint %{{.*}} <@ort, [{}, {"x"}]>
// CHECK: spmd.shardings = [#spmd.sharding<@ort, [{}, {}]>]
// BACK-LABEL: @added
// BACK-SAME: tensor<2x8xf32> {spmd.sharding = #spmd.ort<"RS[0]", shape = [4], elements = [0, 1, 0, 1]>}
// BACK-SAME: tensor<16xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [8], elements = [0, 1, 0, 1, 0, 1, 0, 1]>}
// BACK: spmd.with_sharding_constraint %{{.*}} ort <"RS[0]", shape = [2], elements = [0, 1]>
// BACK: spmd.shardings = [#spmd.ort<"RR", shape = [2], elements = [0, 1]>]
func.func @added(%x: tensor<2x8xf32> {spmd.sharding = #spmd.ort<"RS[0]", shape = [4], elements = [0, 1, 0, 1]>})
    -> (tensor<16xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [8], elements = [0, 1, 0, 1, 0, 1, 0, 1]>}) {
  %c = spmd.with_sharding_constraint %x ort <"RS[0]", shape = [4], elements = [0, 0, 1, 1]> : tensor<2x8xf32>
  %n = arith.negf %c {spmd.shardings = [#spmd.ort<"RR", shape = [2], elements = [0, 1]>]} : tensor<2x8xf32>
  %r = tensor.collapse_shape %n [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// Two axes; an existing mesh with the devices is used, with its axes.
// CHECK-NOT: spmd.mesh @ort
// CHECK-LABEL: @taken
// CHECK-SAME: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"a"}, {"b"}]>}
// CHECK-SAME: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"b"}, {"a"}]>}
// CHECK-SAME: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"b", "a"}]>}
// BACK-LABEL: @taken
// BACK-SAME: #spmd.ort<"S[0]S[1]", shape = [2, 2], elements = [0, 1, 2, 3]>
// BACK-SAME: #spmd.ort<"S[0]S[1]", shape = [2, 2], elements = [0, 2, 1, 3]>
// BACK-SAME: #spmd.ort<"S[0]", shape = [4], elements = [0, 2, 1, 3]>
spmd.mesh @pod = <["a"=2, "b"=2]>
func.func @taken(%x: tensor<4x8xf32> {spmd.sharding = #spmd.ort<"S[0]S[1]", shape = [2, 2], elements = [0, 1, 2, 3]>},
                 %y: tensor<4x8xf32> {spmd.sharding = #spmd.ort<"S[1]S[0]", shape = [2, 2], elements = [0, 1, 2, 3]>},
                 %z: tensor<8xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [4], elements = [0, 2, 1, 3]>}) {
  return
}

// -----

// An order that digits of the sorted devices cannot express gets another mesh.
// CHECK-DAG: spmd.mesh @ort = <["x"=3], device_ids=[2, 0, 1]>
// CHECK-LABEL: @order
// CHECK-SAME: tensor<6xf32> {spmd.sharding = #spmd.sharding<@ort, [{"x"}]>}
// BACK-LABEL: @order
// BACK-SAME: #spmd.ort<"S[0]", shape = [3], elements = [2, 0, 1]>
func.func @order(%x: tensor<6xf32> {spmd.sharding = #spmd.ort<"S[0]", shape = [3], elements = [2, 0, 1]>}) {
  return
}
