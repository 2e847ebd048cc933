// Asynchronous copies, ldmatrix and mma.sync, one warp each.
gpu.module @m {
  memref.global "private" @sa : memref<16x16xf16, 3> {alignment = 16}
  memref.global "private" @sb : memref<16x16xf16, 3> {alignment = 16}
  gpu.func @mma_f16(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32,1,1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %sa = memref.get_global @sa : memref<16x16xf16, 3> {alignment = 16}
    %sb = memref.get_global @sb : memref<16x16xf16, 3> {alignment = 16}
    %r = arith.divui %t, %c2 : index
    %h = arith.remui %t, %c2 : index
    %k = arith.muli %h, %c8 : index
    %x0 = nvgpu.device_async_copy %a[%r, %k], %sa[%r, %k], 8 {bypassL1} : memref<16x16xf16> to memref<16x16xf16, 3>
    %half = arith.cmpi ult, %t, %c16 : index
    scf.if %half {
      %x1 = nvgpu.device_async_copy %b[%t, %c0], %sb[%t, %c0], 8 : memref<16x8xf16> to memref<16x16xf16, 3>
    }
    %g = nvgpu.device_async_create_group %x0
    nvgpu.device_async_wait %g {numGroups = 0 : i32}
    gpu.barrier
    %row = arith.remui %t, %c16 : index
    %col0 = arith.divui %t, %c16 : index
    %col = arith.muli %col0, %c8 : index
    %fa = nvgpu.ldmatrix %sa[%row, %col] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
    %fb = nvgpu.ldmatrix %sb[%row, %c0] {numTiles = 2 : i32, transpose = true} : memref<16x16xf16, 3> -> vector<2x2xf16>
    %z = arith.constant dense<1.5> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%fa, %fb, %z) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %gr = arith.divui %t, %c4 : index
    %tc = arith.remui %t, %c4 : index
    %cc = arith.muli %tc, %c2 : index
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%gr, %cc] : memref<16x8xf32>, vector<2xf32>
    %gr8 = arith.addi %gr, %c8 : index
    vector.store %d1, %c[%gr8, %cc] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }
  gpu.func @mma_tf32(%a: memref<16x8xf32>, %b: memref<8x8xf32>, %c: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32,1,1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %g = arith.divui %t, %c4 : index
    %q = arith.remui %t, %c4 : index
    %g8 = arith.addi %g, %c8 : index
    %q4 = arith.addi %q, %c4 : index
    %a0 = memref.load %a[%g, %q] : memref<16x8xf32>
    %a1 = memref.load %a[%g8, %q] : memref<16x8xf32>
    %a2 = memref.load %a[%g, %q4] : memref<16x8xf32>
    %a3 = memref.load %a[%g8, %q4] : memref<16x8xf32>
    %b0 = memref.load %b[%q, %g] : memref<8x8xf32>
    %b1 = memref.load %b[%q4, %g] : memref<8x8xf32>
    %za = arith.constant dense<0.0> : vector<4x1xf32>
    %zb = arith.constant dense<0.0> : vector<2x1xf32>
    %v0 = vector.insert %a0, %za[0, 0] : f32 into vector<4x1xf32>
    %v1 = vector.insert %a1, %v0[1, 0] : f32 into vector<4x1xf32>
    %v2 = vector.insert %a2, %v1[2, 0] : f32 into vector<4x1xf32>
    %v3 = vector.insert %a3, %v2[3, 0] : f32 into vector<4x1xf32>
    %w0 = vector.insert %b0, %zb[0, 0] : f32 into vector<2x1xf32>
    %w1 = vector.insert %b1, %w0[1, 0] : f32 into vector<2x1xf32>
    %z = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%v3, %w1, %z) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %cc = arith.muli %q, %c2 : index
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%g, %cc] : memref<16x8xf32>, vector<2xf32>
    vector.store %d1, %c[%g8, %cc] : memref<16x8xf32>, vector<2xf32>
    gpu.return
  }
}
