// Collectives become calls with descriptors, and nothing of the dialect stays.
// RUN: shard-opt %s --convert-spmd-to-calls --spmd-strip | FileCheck %s
// Upstream's tools alone lower the result.
// RUN: shard-opt %s --convert-spmd-to-calls --spmd-strip | mlir-opt --one-shot-bufferize=bufferize-function-boundaries=true | FileCheck %s --check-prefix=BUFFERS
// Of functions on tensors.
// RUN: shard-opt %s --convert-spmd-to-calls=tensors --spmd-strip | mlir-opt | FileCheck %s --check-prefix=TENSORS

// TENSORS-DAG: func.func private @shardkit.all_gather(tensor<28xi64>, tensor<2x3xf32>) -> tensor<8x3xf32>
// TENSORS-DAG: func.func private @shardkit.all_reduce(tensor<25xi64>, tensor<8x3xf32>) -> tensor<8x3xf32>
// TENSORS-DAG: func.func private @shardkit.rank() -> i64
// TENSORS-LABEL: func.func @gather_and_sum(
// TENSORS-SAME: %[[X:.*]]: tensor<2x3xf32>)
// TENSORS: %[[WORDS:.*]] = arith.constant dense<[1, 1, -1, 1, 4, 3, 8, 6, 24, 1, 0, 2, 0, 0, 0, 0, 1, 4, 4, 1, 1, 0, 6, 6, 0, 1, 0, 1]> : tensor<28xi64>
// TENSORS: call @shardkit.all_gather(%[[WORDS]], %[[X]]) : (tensor<28xi64>, tensor<2x3xf32>) -> tensor<8x3xf32>

module attributes {spmd.phase = "final"} {
spmd.mesh @pod = <["x"=2, "y"=4]>

// CHECK-DAG: func.func private @shardkit_all_gather(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-DAG: func.func private @shardkit_all_reduce(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-DAG: func.func private @shardkit_rank() -> i64
// Version, all_gather, no reduction, f32 of 4 bytes, id 3, 8 devices, 6 and 24 elements; one digit, two loops: the digit
// (1, 4) of ranks that exchange; 4 ranks at stride 1 and 6 elements.
// CHECK-DAG: @[[$GATHER:.*]] : memref<28xi64> = dense<[1, 1, -1, 1, 4, 3, 8, 6, 24, 1, 0, 2, 0, 0, 0, 0, 1, 4, 4, 1, 1, 0, 6, 6, 0, 1, 0, 1]>
// The sum over (4, 2).
// CHECK-DAG: @[[$SUM:.*]] : memref<25xi64> = dense<[1, 2, 0, 1, 4, -1, 8, 24, 24, 1, 1, 1, 0, 0, 0, 0, 4, 2, 4, 2, 24, 0, 1, 0, 1]>

// CHECK-LABEL: func.func @gather_and_sum(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>)
func.func @gather_and_sum(%x: tensor<2x3xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y"}, {}]>})
    -> (tensor<8x3xf32>, tensor<8x3xf32>) {
  // CHECK: %[[IN:.*]] = bufferization.to_buffer %[[X]] read_only : tensor<2x3xf32> to memref<2x3xf32>
  // CHECK: %[[OUT:.*]] = memref.alloc() : memref<8x3xf32>
  // CHECK: memref.get_global @[[$GATHER]]
  // CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: call @shardkit_all_gather(%{{.*}}, %[[NONE]], %{{.*}}, %{{.*}})
  // CHECK: %[[FULL:.*]] = bufferization.to_tensor %[[OUT]] restrict writable
  %0 = spmd.all_gather %x <@pod, [{"y"}, {}]> {id = 3 : i64} : tensor<2x3xf32> -> tensor<8x3xf32>
  // Collectives that are started run at once, and equal descriptors are shared.
  // CHECK: memref.get_global @[[$SUM]]
  // CHECK: call @shardkit_all_reduce(
  // CHECK: memref.get_global @[[$SUM]]
  // CHECK: call @shardkit_all_reduce(
  // CHECK-NOT: spmd
  %1 = spmd.start {
    %a = spmd.all_reduce %0 sum <@pod, {"x"}> : tensor<8x3xf32>
    spmd.return %a : tensor<8x3xf32>
  } : tensor<8x3xf32>
  %2 = spmd.done %1 : tensor<8x3xf32>
  %3 = spmd.all_reduce %2 sum <@pod, {"x"}> : tensor<8x3xf32>
  return %0, %3 : tensor<8x3xf32>, tensor<8x3xf32>
}

// CHECK-LABEL: func.func @coordinate(
// BUFFERS-LABEL: func.func @coordinate(
func.func @coordinate() -> index {
  // CHECK: %[[RANK:.*]] = call @shardkit_rank()
  // CHECK: arith.divui
  // CHECK: arith.remui
  %0 = spmd.device_coordinate @pod "x" : index
  return %0 : index
}

// A window at an offset that is known at run time has the offset on the stack.
// CHECK-LABEL: func.func @window(
// BUFFERS-LABEL: func.func @window(
func.func @window(%x: tensor<4x3xi8>, %i: index) -> tensor<1x3xi8> {
  // CHECK: %[[STACK:.*]] = memref.alloca() {{.*}} : memref<1xi64>
  // CHECK: memref.store %{{.*}}, %[[STACK]]
  // CHECK: call @shardkit_exchange(
  %0 = spmd.halo_exchange %x of tensor<8x3xi8> <@pod, [{"x"}, {}]> to <@pod, [{"x"}, {}]> dims = [0] steps = [0] offsets = [%i] : tensor<4x3xi8> -> tensor<1x3xi8>
  // BUFFERS: call @shardkit_exchange(
  // BUFFERS-NOT: tensor
  return %0 : tensor<1x3xi8>
}
}
