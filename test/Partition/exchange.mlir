// RUN: shard-opt %s --spmd-default-pipeline="sink=false combine=false" --canonicalize | FileCheck %s -enable-var-scope
// RUN: shard-compile %s -o %t --opt-level=0 && FileCheck %s --check-prefix=MANIFEST --input-file=%t/manifest.json
// RUN: shard-run %s --random-inputs=1 --verify=exact
// REQUIRES: shard-compile, shard-run

// Digits that do not divide each other: no gather, one exchange of the missing elements.
spmd.mesh @m = <["x"=2, "y"=3]>

// Halves to thirds of the rows.
// CHECK-LABEL: func.func @thirds
// CHECK-NEXT: %[[R:.*]] = spmd.exchange %arg0 of tensor<6x4xi32> <@m, [{"x"}, {}]> to <@m, [{"y"}, {}]> {id = 0 : i64} : tensor<3x4xi32> -> tensor<2x4xi32>
// CHECK-NEXT: return %[[R]]
// MANIFEST: "kind": "exchange"
// MANIFEST: "segments": [
func.func @thirds(%a: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  return %a : tensor<6x4xi32>
}

// Axes that do not move are removed from the exchange.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT: spmd.exchange %arg0 of tensor<6x4xi32> <@k, [{"x"}, {}]> to <@k, [{"y"}, {}]>
// CHECK-NEXT: return
spmd.mesh @k = <["x"=2, "y"=3, "z"=2]>
func.func @stays(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@k, [{"x"}, {"z"}]>, spmd.range = [0, 1000]})
    -> (tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@k, [{"y"}, {"z"}]>}) {
  return %a : tensor<6x8xi32>
}

// A free slice comes first.
// CHECK-LABEL: func.func @slice_first
// CHECK-NEXT: %[[S:.*]] = spmd.all_slice %arg0 <@k, [{}, {"z"}]> {id = 0 : i64} : tensor<3x8xi32> -> tensor<3x4xi32>
// CHECK-NEXT: spmd.exchange %[[S]] of tensor<6x4xi32> <@k, [{"x"}, {}]> to <@k, [{"y"}, {}]>
// CHECK-NEXT: return
func.func @slice_first(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@k, [{"x"}, {}]>, spmd.range = [0, 1000]})
    -> (tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@k, [{"y"}, {"z"}]>}) {
  return %a : tensor<6x8xi32>
}

// Halves and thirds of one axis do not nest in the ranks.
// CHECK-LABEL: func.func @sub_axes
// CHECK-NEXT: spmd.collective_permute %arg0 of tensor<12xi32> <@s, [{"x":(1)2}]> to <@s, [{"x":(3)2}]>
// CHECK-NEXT: spmd.exchange %arg0 of tensor<12xi32> <@s, [{"x":(1)2}]> to <@s, [{"x":(1)3}]>
// CHECK-NEXT: return
spmd.mesh @s = <["x"=6]>
func.func @sub_axes(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(1)2}]>, spmd.range = [0, 1000]})
    -> (tensor<12xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(3)2}]>}, tensor<12xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(1)3}]>}) {
  return %a, %a : tensor<12xi32>, tensor<12xi32>
}
