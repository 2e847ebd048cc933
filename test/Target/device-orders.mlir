// RUN: shard-compile %s -o %t --opt-level=0 && FileCheck %s --input-file=%t/manifest.json
// RUN: sed 's/to <@turned/to <@odd/' %s > %t.odd.mlir
// RUN: shard-compile %t.odd.mlir -o %t.odd --opt-level=0 && FileCheck %s --check-prefix=ODD --input-file=%t.odd/manifest.json
// REQUIRES: shard-compile

// A collective between meshes of other device orders, as a user may write it. Ranks are those of the
// source: axis "v" of @turned is axis "x" of @pod.
// CHECK: "kind": "exchange"
// CHECK: "axes": [
// CHECK-NEXT: "x"
// CHECK-NEXT: ]
// CHECK: "group": [
// CHECK-NEXT: [
// CHECK-NEXT: 2,
// CHECK-NEXT: 2
// CHECK-NEXT: ]
// CHECK-NEXT: ]
// No order of axes: the ranks of @pod of those of @odd.
// ODD: "destination_order": [
// ODD-NEXT: 1,
// ODD-NEXT: 0,
// ODD-NEXT: 2,
// ODD-NEXT: 3
module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2, "y"=2]>
  spmd.mesh @turned = <["u"=2, "v"=2], device_ids=[0, 2, 1, 3]>
  spmd.mesh @odd = <["u"=2, "v"=2], device_ids=[1, 0, 2, 3]>
  func.func @main(%arg0: tensor<4x8xi32> {spmd.global_type = tensor<8x8xi32>, spmd.range = [0, 1000], spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>}) -> (tensor<8x4xi32> {spmd.global_type = tensor<8x8xi32>, spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>}) {
    %0 = spmd.exchange %arg0 of tensor<8x8xi32> <@pod, [{"x"}, {}]> to <@turned, [{}, {"v"}]> {id = 0 : i64} : tensor<4x8xi32> -> tensor<8x4xi32>
    return %0 : tensor<8x4xi32>
  }
}
