// Collectives become ops of upstream's dialect mpi, which upstream alone lowers.
// RUN: shard-opt %s --convert-spmd-to-mpi --spmd-strip --canonicalize --cse | FileCheck %s
// RUN: shard-opt %s --convert-spmd-to-mpi=implementation=mpich --spmd-strip | FileCheck %s --check-prefix=MPICH
// RUN: shard-opt %s --convert-spmd-to-mpi --spmd-strip | mlir-opt --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops --convert-scf-to-cf --expand-strided-metadata --lower-affine --convert-to-llvm --reconcile-unrealized-casts > %t.mlir
// Buffers are freed, since the conversion adds the side effects of the ops.
// RUN: shard-opt %s --convert-spmd-to-mpi --spmd-strip --convert-elementwise-to-linalg --one-shot-bufferize=bufferize-function-boundaries --buffer-deallocation-pipeline | FileCheck %s --check-prefix=FREED
// FREED: mpi.allreduce(%{{.*}}, %[[OUT:.*]], MPI_SUM
// FREED: memref.dealloc
// What LLVM 22 makes of it names a reduction that Open MPI does not have, and loads half of a communicator.
// RUN: FileCheck %s --check-prefix=UPSTREAM < %t.mlir
// RUN: shard-opt %t.mlir --repair-mpi-lowering | FileCheck %s --check-prefix=REPAIRED

// CHECK: module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">}
// MPICH: module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "MPICH">}
// UPSTREAM-DAG: llvm.mlir.global external @ompi_mpi_sum()
// UPSTREAM-DAG: llvm.sext
// REPAIRED-NOT: @ompi_mpi_sum
// REPAIRED: llvm.mlir.global external @ompi_mpi_op_sum()
// REPAIRED: llvm.call @MPI_Comm_split(%{{.*}}, %{{.*}}, %{{.*}}, %[[MADE:[0-9]+]])
// REPAIRED-NEXT: llvm.load %[[MADE]] : !llvm.ptr -> i64
// REPAIRED: llvm.mlir.addressof @ompi_mpi_op_sum
module attributes {spmd.phase = "final"} {
spmd.mesh @pod = <["x"=2, "y"=2]>

// CHECK: memref.global "private" @[[$COMM:.*]] : memref<i64> = dense<0>

// The communicator of a group is split off once, by the first rank of the group.
// CHECK-LABEL: func.func @sums(
func.func @sums(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[MEMORY:.*]] = memref.get_global @[[$COMM]]
  // CHECK: %[[KEPT:.*]] = memref.load %[[MEMORY]][]
  // CHECK: %[[HANDLE:.*]] = scf.if
  // CHECK: mpi.comm_split
  // CHECK: memref.store
  // CHECK: %[[GROUP:.*]] = builtin.unrealized_conversion_cast %[[HANDLE]] : i64 to !mpi.comm
  // CHECK: mpi.allreduce(%{{.*}}, %{{.*}}, MPI_SUM, %[[GROUP]]) : memref<12xf32>, memref<12xf32>
  %0 = spmd.all_reduce %x sum <@pod, {"y"}> : tensor<4x3xf32>
  // Of all devices: the world.
  // CHECK-NOT: mpi.comm_split
  // CHECK: mpi.allreduce(%{{.*}}, %{{.*}}, MPI_PROD, %{{.*}})
  %1 = spmd.all_reduce %0 prod <@pod, {"x", "y"}> : tensor<4x3xf32>
  // The maximum of NaN is up to MPI: values are sent, and combined here.
  // CHECK-NOT: mpi.allreduce
  // CHECK: mpi.send
  // CHECK: arith.maximumf
  %2 = spmd.all_reduce %1 max <@pod, {"y"}> : tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// Open MPI saturates sums of 8 and 16 bits: values are sent, and combined here.
// CHECK-LABEL: func.func @narrow_sums(
func.func @narrow_sums(%x: tensor<5xi16>, %y: tensor<5xi32>) -> (tensor<5xi16>, tensor<5xi32>) {
  // CHECK-NOT: mpi.allreduce
  // CHECK: mpi.send
  // CHECK: arith.addi %{{.*}} : tensor<5xi16>
  %0 = spmd.all_reduce %x sum <@pod, {"y"}> : tensor<5xi16>
  // CHECK: mpi.allreduce(%{{.*}}, %{{.*}}, MPI_SUM, %{{.*}}) : memref<5xi32>, memref<5xi32>
  %1 = spmd.all_reduce %y sum <@pod, {"y"}> : tensor<5xi32>
  return %0, %1 : tensor<5xi16>, tensor<5xi32>
}

// Columns are blocks of a transposed operand. The lower rank sends first.
// CHECK-LABEL: func.func @transposed(
func.func @transposed(%x: tensor<2x4xbf16>) -> tensor<4x2xbf16> {
  // CHECK: tensor.expand_shape %{{.*}} into tensor<2x2x2xbf16>
  // CHECK: linalg.transpose
  // CHECK: arith.bitcast %{{.*}} : tensor<8xbf16> to tensor<8xi16>
  // CHECK: scf.if
  // CHECK: linalg.copy
  // CHECK: scf.if
  // CHECK: mpi.send(
  // CHECK: mpi.recv(
  // CHECK: } else {
  // CHECK: mpi.recv(
  // CHECK: mpi.send(
  %0 = spmd.all_to_all %x <@pod, [{"y"}, {}]> to <@pod, [{}, {"y"}]> : tensor<2x4xbf16> -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// A slice is local.
// CHECK-LABEL: func.func @slice(
// CHECK-NOT: mpi.send
// CHECK: tensor.extract
func.func @slice(%x: tensor<4x3xi32>) -> tensor<2x3xi32> {
  %0 = spmd.all_slice %x <@pod, [{"x"}, {}]> : tensor<4x3xi32> -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
}
