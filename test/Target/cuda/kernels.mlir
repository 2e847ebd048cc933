// Which kernels work becomes: see docs/internals/Targets.md.
// REQUIRES: shard-compile
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s

// 16 bytes for each thread: 512 threads for 2048 elements, two blocks.
// CHECK: gpu.func @linalg_0(%{{.*}}: memref<64x32xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// CHECK: vector.load %{{.*}} : memref<64x32xf32>, vector<4xf32>
// CHECK: vector.load %{{.*}} : memref<32xf32>, vector<4xf32>
// CHECK-COUNT-4: math.tanh
// CHECK: vector.store %{{.*}} : memref<64x32xf32>, vector<4xf32>

// Softmax: one kernel, each row read and written once, by a warp.
// CHECK: gpu.func @rows_1(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: vector.load %{{.*}} : memref<64x128xf32>, vector<4xf32>
// CHECK-NOT: vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-4: math.exp
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: vector.store

// A column sum: 8 threads for each of 32 columns that lie side by side.
// CHECK: gpu.func @reduction_2(
// CHECK-SAME: workgroup(%{{.*}} : memref<256xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK: scf.for
// CHECK: gpu.barrier

// CHECK: gpu.func @transpose_3(
// CHECK-SAME: workgroup(%{{.*}} : memref<32x33xf32, #gpu.address_space<workgroup>>

// A loop over rows that moves little: one block.
// CHECK: gpu.func @nest_4(
// CHECK: scf.for
// CHECK: gpu.barrier

// CHECK-NOT: gpu.func

// CHECK: func.func @program_0
// CHECK: gpu.launch_func  @kernels::@linalg_0
func.func @elementwise(%x: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%x, %b : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32 } -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
// CHECK: func.func @program_1
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch_func  @kernels::@rows_1
// CHECK-NOT: gpu.launch_func
func.func @softmax(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
// CHECK: func.func @program_2
func.func @columns(%x: tensor<1000x37xf32>) -> tensor<37xf32> {
  %zero = arith.constant dense<0.0> : tensor<37xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1000x37xf32>) outs(%zero : tensor<37xf32>) dimensions = [0]
  return %r : tensor<37xf32>
}
// CHECK: func.func @program_3
func.func @transpose(%x: tensor<70x45xf32>) -> tensor<45x70xf32> {
  %e = tensor.empty() : tensor<45x70xf32>
  %r = linalg.transpose ins(%x : tensor<70x45xf32>) outs(%e : tensor<45x70xf32>) permutation = [1, 0]
  return %r : tensor<45x70xf32>
}
// The device copies the buffer; the host reads no element.
// CHECK: func.func @program_4
// CHECK: memref.copy
// CHECK-NOT: memref.load
// CHECK: gpu.launch_func  @kernels::@nest_4
func.func @scatter(%table: tensor<9x20xf32>, %at: tensor<6xindex>, %new: tensor<6x20xf32>) -> tensor<9x20xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %table) -> tensor<9x20xf32> {
    %k = tensor.extract %at[%i] : tensor<6xindex>
    %row = tensor.extract_slice %new[%i, 0] [1, 20] [1, 1] : tensor<6x20xf32> to tensor<1x20xf32>
    %u = tensor.insert_slice %row into %t[%k, 0] [1, 20] [1, 1] : tensor<1x20xf32> into tensor<9x20xf32>
    scf.yield %u : tensor<9x20xf32>
  }
  return %r : tensor<9x20xf32>
}
