// Free axes go into a manual computation and out of it; manual ones are not used inside.
// RUN: shard-opt %s --spmd-propagate | FileCheck %s --enable-var-scope
// RUN: shard-opt %s --spmd-propagate -o %t.once
// RUN: shard-opt %t.once --spmd-propagate -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: shard-opt %t.once --spmd-insert-reshards --spmd-partition | FileCheck %s --check-prefix=LOCAL --enable-var-scope

spmd.mesh @pod = <["data"=2, "model"=4]>

// CHECK-LABEL: func.func @in
// CHECK: spmd.manual_computation (%arg0) in [<@pod, [{"data"}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"]
// CHECK: math.exp {{.*}} [#spmd.sharding<@pod, [{?}, {"model", ?}], replicated = {"data"}>]
// CHECK: spmd.operand_shardings = [#spmd.sharding<@pod, [{"data"}, {"model", ?}]>], spmd.shardings = [#spmd.sharding<@pod, [{"data"}, {"model", ?}]>]
// LOCAL-LABEL: func.func @in
// LOCAL-NEXT: %[[E:.*]] = math.exp %arg0 : tensor<4x4xf32>
// LOCAL-NEXT: return %[[E]]
func.func @in(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>}) -> tensor<8x16xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>) {
    %1 = math.exp %a : tensor<4x16xf32>
    spmd.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// From a constraint inside, after the manual axis of the same dim, to the argument.
// CHECK-LABEL: func.func @out
// CHECK-SAME: spmd.sharding = #spmd.sharding<@pod, [{"data", "model", ?}, {?}]>
// LOCAL-LABEL: func.func @out
// LOCAL-SAME: tensor<1x16xf32>
// LOCAL-NEXT: math.exp %arg0 : tensor<1x16xf32>
func.func @out(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data", ?}, {?}]>] out [<@pod, [{"data", ?}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>) {
    %1 = math.exp %a : tensor<4x16xf32>
    %2 = spmd.with_sharding_constraint %1 <@pod, [{"model"}, {}]> : tensor<4x16xf32>
    spmd.return %2 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A collective forwards the dims that it does not move.
// CHECK-LABEL: func.func @collective
// CHECK: spmd.all_gather {{.*}} [#spmd.sharding<@pod, [{?}, {"model", ?}], replicated = {"data"}>]
// LOCAL-LABEL: func.func @collective
// LOCAL: spmd.all_gather %{{.*}} <@pod, [{"data"}, {}]> : tensor<4x4xf32> -> tensor<8x4xf32>
func.func @collective(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>}) -> tensor<8x16xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}, {?}]>] out [<@pod, [{}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>) {
    %1 = spmd.all_gather %a <@pod, [{"data"}, {}]> : tensor<4x16xf32> -> tensor<8x16xf32>
    spmd.return %1 : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// So does one that moves blocks: its global type is local in the other dims.
// LOCAL-LABEL: func.func @shift
// LOCAL: spmd.halo_exchange %arg0 of tensor<8x4xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [4] offsets = [-4] {{.*}}: tensor<4x4xf32> -> tensor<4x4xf32>
func.func @shift(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>}) -> tensor<8x16xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>) {
    %1 = spmd.halo_exchange %a of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [4] offsets = [-4] : tensor<4x16xf32> -> tensor<4x16xf32>
    spmd.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
