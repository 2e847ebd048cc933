// Collectives of which no device receives anything are removed before ids are assigned.
// RUN: shard-opt %s --spmd-assign-collective-ids | FileCheck %s

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2, "one"=1]>
spmd.mesh @n = <["x"=2, "y"=2]>

// Groups of one device; a permutation that leaves all where it is.
// CHECK-LABEL: func.func @alone
// CHECK-NEXT: arith.addf %arg0, %arg0
// CHECK-NEXT: arith.addf %{{.*}}, %arg0
// CHECK-NEXT: arith.addf %{{.*}}, %arg0
// CHECK-NEXT: return
func.func @alone(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.all_reduce %a sum <@m, {"one"}> : tensor<8xf32>
  %1 = spmd.all_gather %a <@m, [{"one"}]> : tensor<8xf32> -> tensor<8xf32>
  %2 = spmd.reduce_scatter %a sum <@m, [{"one"}]> : tensor<8xf32> -> tensor<8xf32>
  %3 = spmd.collective_permute %a of tensor<16xf32> <@m, [{"x"}]> to <@m, [{"x", "one"}]> : tensor<8xf32> -> tensor<8xf32>
  %4 = arith.addf %0, %1 : tensor<8xf32>
  %5 = arith.addf %4, %2 : tensor<8xf32>
  %6 = arith.addf %5, %3 : tensor<8xf32>
  return %6 : tensor<8xf32>
}

// No elements.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: return %arg0, %arg0
func.func @empty(%a: tensor<0x8xf32>) -> (tensor<0x8xf32>, tensor<0x8xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<0x8xf32>
  %1 = spmd.all_gather %a <@m, [{}, {"x"}]> : tensor<0x8xf32> -> tensor<0x8xf32>
  return %0, %1 : tensor<0x8xf32>, tensor<0x8xf32>
}

// Windows that are the shards, or a slice of each; one that reaches into the next shard stays.
// CHECK-LABEL: func.func @windows
// CHECK-NEXT: [[S:%.*]] = tensor.extract_slice %arg0[1, 0] [3, 2] [1, 1] : tensor<4x2xf32> to tensor<3x2xf32>
// CHECK-NEXT: [[H:%.*]] = spmd.halo_exchange %arg0 {{.*}} {id = 0 : i64}
// CHECK-NEXT: return %arg0, [[S]], [[H]]
func.func @windows(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>) {
  %0 = spmd.halo_exchange %a of tensor<8x2xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [4] offsets = [0] : tensor<4x2xf32> -> tensor<4x2xf32>
  %1 = spmd.halo_exchange %a of tensor<8x2xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [4] offsets = [1] : tensor<4x2xf32> -> tensor<3x2xf32>
  %2 = spmd.halo_exchange %a of tensor<8x2xf32> <@m, [{"x"}, {}]> to <@m, [{"x"}, {}]> dims = [0] steps = [4] offsets = [1] : tensor<4x2xf32> -> tensor<4x2xf32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<3x2xf32>, tensor<4x2xf32>
}

// A dim that each device has is sliced by its coordinate: nothing moves either.
// CHECK-LABEL: func.func @mixed
// CHECK-NEXT: [[S:%.*]] = tensor.extract_slice %arg0[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
// CHECK-NEXT: spmd.halo_exchange [[S]] of tensor<1x8xf32> <@n, [{}, {}]> to <@n, [{}, {"y"}]> dims = [1] steps = [3] offsets = [1]
// CHECK-NEXT: return
func.func @mixed(%a: tensor<2x8xf32>) -> tensor<1x2xf32> {
  %0 = spmd.halo_exchange %a of tensor<4x8xf32> <@n, [{"x"}, {}]> to <@n, [{"x"}, {"y"}]> dims = [0, 1] steps = [2, 3] offsets = [1, 1] : tensor<2x8xf32> -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// Padding on the first and the last device alone: each has its window, which begins elsewhere in its shard.
// CHECK-LABEL: func.func @padded
// CHECK-NEXT: spmd.halo_exchange %arg0 of tensor<3xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [1] offsets = [-1]
// CHECK-NEXT: return
func.func @padded(%a: tensor<3xf32>) -> tensor<4xf32> {
  %0 = spmd.halo_exchange %a of tensor<6xf32> <@m, [{"x"}]> to <@m, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A lane beyond an uneven dim is zero in a window, not what the shard has there.
// CHECK-LABEL: func.func @uneven
// CHECK: [[O:%.*]] = spmd.halo_exchange %{{.*}} of tensor<5xi1> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [3] offsets = [0] {id = 0 : i64} : tensor<5xi1> -> tensor<3xi1>
// CHECK: [[Z:%.*]] = arith.select [[O]], %arg0
// CHECK-NEXT: [[E:%.*]] = spmd.halo_exchange
// CHECK-SAME: of tensor<3xf32> <@m, [{}]> to <@m, [{"x"}]> dims = [0] steps = [1] offsets = [-1]
// CHECK-NEXT: return [[Z]], [[E]]
func.func @uneven(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = spmd.halo_exchange %a of tensor<5xf32> <@m, [{"x"}]> to <@m, [{"x"}]> dims = [0] steps = [3] offsets = [0] : tensor<3xf32> -> tensor<3xf32>
  %1 = spmd.halo_exchange %a of tensor<5xf32> <@m, [{"x"}]> to <@m, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<3xf32> -> tensor<2xf32>
  return %0, %1 : tensor<3xf32>, tensor<2xf32>
}

// What was started with one is a collective of its own.
// CHECK-LABEL: func.func @started
// CHECK-NEXT: return %arg0, %arg0
func.func @started(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = spmd.start {
    %s = spmd.all_reduce %a sum <@m, {"one"}> : tensor<8xf32>
    %t = spmd.all_reduce %a sum <@m, {"one"}> : tensor<8xf32>
    spmd.return %s, %t : tensor<8xf32>, tensor<8xf32>
  } : tensor<8xf32>, tensor<8xf32>
  %1:2 = spmd.done %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
  return %1#0, %1#1 : tensor<8xf32>, tensor<8xf32>
}
}
