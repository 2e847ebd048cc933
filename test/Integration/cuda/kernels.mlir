// Each way in which kernels share work, at sizes that do and do not fill blocks,
// vectors and warps, on emulated devices.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 12 functions, {{[0-9]+}} results, all equal

// Rows that a few lanes, a warp, and a block hold.
func.func @softmax_short(%x: tensor<7x3x12xf32>) -> tensor<7x3x12xf32> {
  %e = tensor.empty() : tensor<7x3x12xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<7x3x12xf32>) outs(%e : tensor<7x3x12xf32>) -> tensor<7x3x12xf32>
  return %r : tensor<7x3x12xf32>
}
func.func @softmax_warp(%x: tensor<5x333xf32>) -> tensor<5x333xf32> {
  %e = tensor.empty() : tensor<5x333xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<5x333xf32>) outs(%e : tensor<5x333xf32>) -> tensor<5x333xf32>
  return %r : tensor<5x333xf32>
}
func.func @softmax_block(%x: tensor<3x5000xf32>) -> tensor<3x5000xf32> {
  %e = tensor.empty() : tensor<3x5000xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<3x5000xf32>) outs(%e : tensor<3x5000xf32>) -> tensor<3x5000xf32>
  return %r : tensor<3x5000xf32>
}
// Two reductions into the same rows, scale and shift along them.
func.func @layer_norm(%x: tensor<6x4x96xf32>, %scale: tensor<96xf32>, %shift: tensor<96xf32>) -> tensor<6x4x96xf32> {
  %zero = arith.constant 0.0 : f32
  %length = arith.constant 96.0 : f32
  %small = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<6x4x96xf32>) outs(%z : tensor<6x4xf32>) dimensions = [2]
  %full = tensor.empty() : tensor<6x4x96xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%x, %sum : tensor<6x4x96xf32>, tensor<6x4xf32>) outs(%full : tensor<6x4x96xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %mean = arith.divf %q, %length : f32
    %d = arith.subf %p, %mean : f32
    linalg.yield %d : f32 } -> tensor<6x4x96xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b)>], iterator_types = ["parallel","parallel","reduction"]} ins(%centred : tensor<6x4x96xf32>) outs(%z : tensor<6x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.mulf %p, %p : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32 } -> tensor<6x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b)>, affine_map<(a,b,c)->(c)>, affine_map<(a,b,c)->(c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%centred, %squares, %scale, %shift : tensor<6x4x96xf32>, tensor<6x4xf32>, tensor<96xf32>, tensor<96xf32>) outs(%full : tensor<6x4x96xf32>) {
  ^bb0(%p: f32, %q: f32, %g: f32, %h: f32, %o: f32):
    %v = arith.divf %q, %length : f32
    %w = arith.addf %v, %small : f32
    %i = math.rsqrt %w : f32
    %n = arith.mulf %p, %i : f32
    %m = arith.mulf %n, %g : f32
    %k = arith.addf %m, %h : f32
    linalg.yield %k : f32 } -> tensor<6x4x96xf32>
  return %r : tensor<6x4x96xf32>
}
// Sums along rows, along columns, and of everything, in f32, i32 and bf16.
func.func @row_sums(%x: tensor<37x1000xf32>) -> tensor<37xf32> {
  %zero = arith.constant dense<0.0> : tensor<37xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<37x1000xf32>) outs(%zero : tensor<37xf32>) dimensions = [1]
  return %r : tensor<37xf32>
}
func.func @long_row_sums(%x: tensor<3x9000xi32>) -> tensor<3xi32> {
  %zero = arith.constant dense<5> : tensor<3xi32>
  %r = linalg.reduce { arith.addi } ins(%x : tensor<3x9000xi32>) outs(%zero : tensor<3xi32>) dimensions = [1]
  return %r : tensor<3xi32>
}
func.func @column_sums(%x: tensor<1000x37xf32>) -> tensor<37xf32> {
  %zero = arith.constant dense<0.0> : tensor<37xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1000x37xf32>) outs(%zero : tensor<37xf32>) dimensions = [0]
  return %r : tensor<37xf32>
}
func.func @largest_of_all(%x: tensor<40x50xbf16>) -> tensor<bf16> {
  %least = arith.constant dense<0xFF80> : tensor<bf16>
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<40x50xbf16>) outs(%least : tensor<bf16>) dimensions = [0, 1]
  return %r : tensor<bf16>
}
// Squares, whole and cut, of 2 and 8 bytes.
func.func @transpose(%x: tensor<3x70x45xf32>, %y: tensor<3x45x70xf32>) -> tensor<3x45x70xf32> {
  %e = tensor.empty() : tensor<3x45x70xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,c,b)>, affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%x, %y : tensor<3x70x45xf32>, tensor<3x45x70xf32>) outs(%e : tensor<3x45x70xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32 } -> tensor<3x45x70xf32>
  return %r : tensor<3x45x70xf32>
}
func.func @transpose_halves(%x: tensor<64x32xf16>) -> tensor<32x64xf16> {
  %e = tensor.empty() : tensor<32x64xf16>
  %r = linalg.transpose ins(%x : tensor<64x32xf16>) outs(%e : tensor<32x64xf16>) permutation = [1, 0]
  return %r : tensor<32x64xf16>
}
// Rows of a table, and back with some of them written twice.
func.func @gather_scatter(%table: tensor<9x20xf32>, %at: tensor<6x1xindex> {spmd.range = [0, 9]}) -> (tensor<6x20xf32>, tensor<9x20xf32>) {
  %e = tensor.empty() : tensor<6x20xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,0)>, affine_map<(a,b)->(a,b)>], iterator_types = ["parallel","parallel"]} ins(%at : tensor<6x1xindex>) outs(%e : tensor<6x20xf32>) {
  ^bb0(%p: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%p, %j] : tensor<9x20xf32>
    linalg.yield %v : f32 } -> tensor<6x20xf32>
  %two = arith.constant dense<2.0> : tensor<6x20xf32>
  %new = arith.mulf %rows, %two : tensor<6x20xf32>
  %flat = tensor.collapse_shape %at [[0, 1]] : tensor<6x1xindex> into tensor<6xindex>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %table) -> tensor<9x20xf32> {
    %k = tensor.extract %flat[%i] : tensor<6xindex>
    %row = tensor.extract_slice %new[%i, 0] [1, 20] [1, 1] : tensor<6x20xf32> to tensor<1x20xf32>
    %u = tensor.insert_slice %row into %t[%k, 0] [1, 20] [1, 1] : tensor<1x20xf32> into tensor<9x20xf32>
    scf.yield %u : tensor<9x20xf32>
  }
  return %rows, %r : tensor<6x20xf32>, tensor<9x20xf32>
}
// Exponents of other types than the device library has.
func.func @powers(%x: tensor<33xf32>, %n: tensor<33xi64>, %k: tensor<33xi8>) -> (tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>) {
  %three = arith.constant dense<3> : tensor<33xi64>
  %many = arith.constant dense<-4294967295> : tensor<33xi64>
  %minus_one = arith.constant dense<-1.0> : tensor<33xf32>
  %cube = math.fpowi %x, %three : tensor<33xf32>, tensor<33xi64>
  %wide = math.fpowi %x, %n : tensor<33xf32>, tensor<33xi64>
  %narrow = math.fpowi %x, %k : tensor<33xf32>, tensor<33xi8>
  %places = arith.index_cast %n : tensor<33xi64> to tensor<33xindex>
  %by_index = math.fpowi %x, %places : tensor<33xf32>, tensor<33xindex>
  %odd = math.fpowi %minus_one, %many : tensor<33xf32>, tensor<33xi64>
  return %cube, %wide, %narrow, %by_index, %odd : tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>
}
