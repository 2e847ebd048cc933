// Collectives become ops of StableHLO in generic form; compute is linalg, or StableHLO itself.
// python/tests/test_spmd.py runs such programs by JAX.
// RUN: shard-opt %s --convert-spmd-to-stablehlo-calls --spmd-strip | FileCheck %s
// RUN: shard-opt %s --convert-spmd-to-stablehlo --spmd-strip | FileCheck %s --check-prefix=ALONE --implicit-check-not=tensor. --implicit-check-not=arith. --implicit-check-not=scf. --implicit-check-not=linalg.

module attributes {spmd.phase = "final"} {
spmd.mesh @pod = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @gather(
// CHECK: %[[ROW:.*]] = tensor.expand_shape %{{.*}} : tensor<6xf32> into tensor<1x6xf32>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%[[ROW]]) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids} : (tensor<1x6xf32>) -> tensor<4x6xf32>
// ALONE-LABEL: func.func @gather(
// ALONE-NEXT: %[[ROW:.*]] = "stablehlo.reshape"(%arg0) : (tensor<2x3xf32>) -> tensor<1x6xf32>
// ALONE-NEXT: %[[ALL:.*]] = "stablehlo.all_gather"(%[[ROW]])
// ALONE-NEXT: "stablehlo.reshape"(%[[ALL]]) : (tensor<4x6xf32>) -> tensor<8x3xf32>
func.func @gather(%x: tensor<2x3xf32>) -> tensor<8x3xf32> {
  %0 = spmd.all_gather %x <@pod, [{"y"}, {}]> : tensor<2x3xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// The blocks of a dim that is not the first are transposed.
// ALONE-LABEL: func.func @columns(
// ALONE: "stablehlo.all_gather"{{.*}}replica_groups = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>
// ALONE: "stablehlo.transpose"(%{{.*}}) {permutation = array<i64: 1, 0, 2>} : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
func.func @columns(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = spmd.all_gather %x <@pod, [{}, {"x"}]> : tensor<2x3xf32> -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// A device takes its rows by its number.
// CHECK-LABEL: func.func @slice(
// CHECK: "stablehlo.partition_id"() : () -> tensor<ui32>
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 6] [1, 1]
// ALONE-LABEL: func.func @slice(
// ALONE: %[[ID:.*]] = "stablehlo.partition_id"() : () -> tensor<ui32>
// ALONE: %[[RANK:.*]] = "stablehlo.convert"(%[[ID]]) : (tensor<ui32>) -> tensor<i32>
// ALONE: %[[HALF:.*]] = "stablehlo.divide"(%[[RANK]], %{{.*}}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// ALONE: %[[DIGIT:.*]] = "stablehlo.remainder"(%[[HALF]], %{{.*}}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// ALONE: "stablehlo.dynamic_slice"(%{{.*}}, %[[DIGIT]], %{{.*}}) {slice_sizes = array<i64: 1, 6>} : (tensor<2x6xi32>, tensor<i32>, tensor<i32>) -> tensor<1x6xi32>
func.func @slice(%x: tensor<4x3xi32>) -> tensor<2x3xi32> {
  %0 = spmd.all_slice %x <@pod, [{"y":(1)2}, {}]> : tensor<4x3xi32> -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @sums(
// ALONE-LABEL: func.func @sums(
func.func @sums(%x: tensor<8x3xf32>) -> tensor<4x3xf32> {
  // ALONE: "stablehlo.all_reduce"(%arg0) ({
  // ALONE-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
  // ALONE-NEXT: %[[MAX:.*]] = "stablehlo.maximum"(%[[A]], %[[B]])
  // ALONE-NEXT: "stablehlo.return"(%[[MAX]])
  %0 = spmd.all_reduce %x max <@pod, {"x"}> : tensor<8x3xf32>
  // ALONE: "stablehlo.reduce_scatter"(%{{.*}}) ({
  // ALONE: }) {{{.*}}scatter_dimension = 0 : i64{{.*}} : (tensor<2x12xf32>) -> tensor<1x12xf32>
  %1 = spmd.reduce_scatter %0 sum <@pod, [{"x"}, {}]> : tensor<8x3xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// ALONE-LABEL: func.func @transposed(
// ALONE: "stablehlo.all_to_all"(%{{.*}}) {channel_handle = {{.*}}, concat_dimension = 0 : i64, replica_groups = {{.*}}, split_count = 2 : i64, split_dimension = 0 : i64} : (tensor<2x4xi8>) -> tensor<2x4xi8>
func.func @transposed(%x: tensor<2x4xi8>) -> tensor<4x2xi8> {
  %0 = spmd.all_to_all %x <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x4xi8> -> tensor<4x2xi8>
  return %0 : tensor<4x2xi8>
}

// Rank 4 * x + 2 * y1 + y0 reads the shard of 4 * y1 + 2 * x + y0.
// ALONE-LABEL: func.func @permuted(
// ALONE: "stablehlo.collective_permute"(%{{.*}}) {{{.*}}source_target_pairs = dense<{{\[\[}}0, 0], [1, 1], [4, 2], [5, 3], [2, 4], [3, 5], [6, 6], [7, 7]]> : tensor<8x2xi64>}
func.func @permuted(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = spmd.collective_permute %x of tensor<8x3xf32> <@pod, [{"x", "y":(1)2}, {}]> to <@pod, [{"y":(1)2, "x"}, {}]> : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Dims change places: blocks are exchanged along the minor half of the larger axis, then the other halves are swapped.
// ALONE-LABEL: func.func @swapped(
// ALONE: "stablehlo.all_to_all"(%{{.*}}) {{{.*}}replica_groups = dense<{{\[\[}}0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, split_count = 2 : i64
// ALONE: "stablehlo.collective_permute"(%{{.*}}) {{{.*}}source_target_pairs = dense<{{\[\[}}0, 0], [1, 1], [4, 2], [5, 3], [2, 4], [3, 5], [6, 6], [7, 7]]>
func.func @swapped(%x: tensor<4x4xf32>) -> tensor<2x8xf32> {
  %0 = spmd.exchange %x of tensor<8x16xf32> <@pod, [{"x"}, {"y"}]> to <@pod, [{"y"}, {"x"}]> : tensor<4x4xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// A loop, a branch, and a condition on the coordinate.
// ALONE-LABEL: func.func @control(
// ALONE: "stablehlo.while"(%{{.*}}) ({
// ALONE: "stablehlo.return"(%{{.*}}) : (tensor<i1>) -> ()
// ALONE: }, {
// ALONE: "stablehlo.case"(%{{.*}}) ({
// ALONE: "stablehlo.if"(%{{.*}}) ({
// ALONE: "stablehlo.compare"(%{{.*}}) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}
// ALONE: "stablehlo.select"
func.func @control(%x: tensor<4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %c = tensor.extract %p[] : tensor<i1>
    scf.condition(%c) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.extract %n[] : tensor<i32>
    %i = arith.index_cast %e : i32 to index
    %1 = scf.index_switch %i -> tensor<4xf32>
    case 0 {
      %c = tensor.extract %p[] : tensor<i1>
      %2 = scf.if %c -> tensor<4xf32> {
        scf.yield %a : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      scf.yield %2 : tensor<4xf32>
    }
    default {
      scf.yield %x : tensor<4xf32>
    }
    scf.yield %1 : tensor<4xf32>
  }
  %k = spmd.device_coordinate @pod "y" : index
  %one = arith.constant 1 : index
  %is = arith.cmpi eq, %k, %one : index
  %3 = arith.select %is, %0, %x : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A loop that counts carries its number.
// ALONE-LABEL: func.func @counted(
// ALONE: %[[LOOP:.*]]:2 = "stablehlo.while"(%{{.*}}, %arg0) ({
// ALONE-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>):
// ALONE-NEXT: %[[LESS:.*]] = "stablehlo.compare"(%[[I]], %{{.*}}) {compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}
// ALONE-NEXT: "stablehlo.return"(%[[LESS]])
// ALONE: ^bb0(%[[J:.*]]: tensor<i32>, %[[A:.*]]: tensor<4xf32>):
// ALONE-NEXT: %[[F:.*]] = "stablehlo.convert"(%[[J]]) : (tensor<i32>) -> tensor<f32>
// ALONE: %[[SUM:.*]] = "stablehlo.add"(%[[A]]
// ALONE-NEXT: %[[NEXT:.*]] = "stablehlo.add"(%[[J]], %{{.*}}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// ALONE-NEXT: "stablehlo.return"(%[[NEXT]], %[[SUM]])
// ALONE: return %[[LOOP]]#1
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %begin = arith.constant 2 : index
  %end = arith.constant 8 : index
  %step = arith.constant 3 : index
  %0 = scf.for %i = %begin to %end step %step iter_args(%a = %x) -> tensor<4xf32> {
    %n = arith.index_cast %i : index to i32
    %t = tensor.from_elements %n : tensor<i32>
    %f = "stablehlo.convert"(%t) : (tensor<i32>) -> tensor<f32>
    %r = "stablehlo.broadcast_in_dim"(%f) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %s = "stablehlo.add"(%a, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Neighbors send two rows of the shard before, one of the shard after; none are zero.
// ALONE-LABEL: func.func @halo(
// ALONE: "stablehlo.slice"(%arg0) {limit_indices = array<i64: 4, 3>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}
// ALONE: "stablehlo.collective_permute"(%{{.*}}) {{{.*}}source_target_pairs = dense<{{\[\[}}0, 4], [1, 5], [2, 6], [3, 7]]>
// ALONE: "stablehlo.slice"(%arg0) {limit_indices = array<i64: 1, 3>, start_indices = array<i64: 0, 0>
// ALONE: "stablehlo.collective_permute"(%{{.*}}) {{{.*}}source_target_pairs = dense<{{\[\[}}4, 0], [5, 1], [6, 2], [7, 3]]>
// ALONE: "stablehlo.concatenate"(%{{.*}}, %arg0, %{{.*}}) {dimension = 0 : i64}
func.func @halo(%x: tensor<4x3xf32>) -> tensor<7x3xf32> {
  %0 = spmd.halo_exchange %x of tensor<8x3xf32> <@pod, [{"x"}, {}]> to <@pod, [{"x"}, {}]> dims = [0] steps = [4] offsets = [-2] : tensor<4x3xf32> -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}

// Windows that do not begin a shard apart are taken of the gathered dim, padded by what is beyond it.
// ALONE-LABEL: func.func @window(
// ALONE: %[[ALL:.*]] = "stablehlo.all_gather"(%arg0) {all_gather_dim = 0 : i64
// ALONE: %[[PADDED:.*]] = "stablehlo.pad"(%[[ALL]], %{{.*}}) {edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>} : (tensor<8x3xf32>, tensor<f32>) -> tensor<9x3xf32>
// ALONE: "stablehlo.dynamic_slice"(%[[PADDED]]
func.func @window(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = spmd.halo_exchange %x of tensor<8x3xf32> <@pod, [{"x"}, {}]> to <@pod, [{"x"}, {}]> dims = [0] steps = [3] offsets = [-1] : tensor<4x3xf32> -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Axes whose sizes do not divide each other: dims that change are gathered, then sliced.
// ALONE-LABEL: func.func @gathered(
// ALONE: %[[ROWS:.*]] = "stablehlo.all_gather"(%arg0) {all_gather_dim = 0 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>{{.*}} : (tensor<2x6xf32>) -> tensor<6x6xf32>
// ALONE: %[[ALL:.*]] = "stablehlo.all_gather"(%[[ROWS]]) {all_gather_dim = 1 : i64, {{.*}}replica_groups = dense<{{\[\[}}0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>{{.*}} -> tensor<6x12xf32>
// ALONE: "stablehlo.dynamic_slice"(%[[ALL]]{{.*}} {slice_sizes = array<i64: 3, 12>}
spmd.mesh @six = <["x"=2, "y"=3]>
func.func @gathered(%x: tensor<2x6xf32>) -> tensor<3x12xf32> {
  %0 = spmd.exchange %x of tensor<6x12xf32> <@six, [{"y"}, {"x"}]> to <@six, [{"x"}, {}]> : tensor<2x6xf32> -> tensor<3x12xf32>
  return %0 : tensor<3x12xf32>
}
}
