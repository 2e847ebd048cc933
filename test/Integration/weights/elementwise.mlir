// Loading functions that compute their elements by themselves read and compute what a device owns, also where a shard
// boundary is inside a group with one scale, a packed word or a block of 128 x 128.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && shard-compile %s -o %t --with-reference
// RUN: shard-run %t --random-inputs=3 --verify=exact 2>&1 | FileCheck %s
// CHECK: verify: 5 functions, 5 results, all equal bit by bit
// RUN: FileCheck %s --check-prefix=IR < %t/programs/loading.mlir
// Two experts of eight; scales of blocks are not repeated in memory.
// IR-LABEL: func.func @all_shard_
// IR-SAME: (%{{.*}}: tensor<2x64x32xf32>) -> tensor<2x64x32xbf16>
// IR-LABEL: func.func @by_reshape_shard_
// IR-SAME: tensor<1x2xf32>
// IR-SAME: tensor<1x64x2x128xf8E4M3FN>
// IR-LABEL: func.func @by_floordiv_shard_
// IR-SAME: tensor<1x2xf32>

spmd.mesh @m = <["x"=3]>
spmd.mesh @n = <["x"=5]>
spmd.mesh @o = <["x"=8]>
spmd.mesh @q = <["x"=4]>
// Two scales for 24 rows: 8 rows on each of 3 devices.
func.func private @scale(%w: tensor<24xf32>, %s: tensor<2xf32>) -> tensor<24xf32> {
  %g = tensor.expand_shape %w [[0, 1]] output_shape [2, 12] : tensor<24xf32> into tensor<2x12xf32>
  %e = tensor.empty() : tensor<2x12xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%g, %s : tensor<2x12xf32>, tensor<2xf32>) outs(%e : tensor<2x12xf32>) {
  ^bb0(%q: f32, %scale: f32, %o: f32):
    %v = arith.mulf %q, %scale : f32
    linalg.yield %v : f32
  } -> tensor<2x12xf32>
  %0 = tensor.collapse_shape %d [[0, 1]] : tensor<2x12xf32> into tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @group(%w: tensor<24xf32> {spmd.weight = ["g.w", "g.s"], spmd.load = @scale, spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<24xf32> { return %w : tensor<24xf32> }

// Eight numbers to a word, three words: uneven shards of five numbers.
func.func private @unpack(%w: tensor<3x2xi32>) -> tensor<24x2xi32> {
  %e = tensor.empty() : tensor<3x8x2xi32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<3x2xi32>) outs(%e : tensor<3x8x2xi32>) {
  ^bb0(%word: i32, %o: i32):
    %b = linalg.index 1 : index
    %bi = arith.index_cast %b : index to i32
    %c4 = arith.constant 4 : i32
    %shift = arith.muli %bi, %c4 : i32
    %sh = arith.shrui %word, %shift : i32
    linalg.yield %sh : i32
  } -> tensor<3x8x2xi32>
  %0 = tensor.collapse_shape %n [[0, 1], [2]] : tensor<3x8x2xi32> into tensor<24x2xi32>
  return %0 : tensor<24x2xi32>
}
func.func @word(%w: tensor<24x2xi32> {spmd.weight = "words", spmd.load = @unpack, spmd.sharding = #spmd.sharding<@n, [{"x"}, {}]>}) -> tensor<24x2xi32> { return %w : tensor<24x2xi32> }


// Experts that are stored one by one, cast and stacked.
func.func private @one(%w: tensor<64x32xf32>) -> tensor<1x64x32xbf16> {
  %t = arith.truncf %w : tensor<64x32xf32> to tensor<64x32xbf16>
  %x = tensor.expand_shape %t [[0, 1], [2]] output_shape [1, 64, 32] : tensor<64x32xbf16> into tensor<1x64x32xbf16>
  return %x : tensor<1x64x32xbf16>
}
func.func private @all(%a: tensor<64x32xf32>, %b: tensor<64x32xf32>, %c: tensor<64x32xf32>, %d: tensor<64x32xf32>, %e: tensor<64x32xf32>, %f: tensor<64x32xf32>, %g: tensor<64x32xf32>, %h: tensor<64x32xf32>) -> tensor<8x64x32xbf16> {
  %0 = func.call @one(%a) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %1 = func.call @one(%b) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %2 = func.call @one(%c) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %3 = func.call @one(%d) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %4 = func.call @one(%e) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %5 = func.call @one(%f) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %6 = func.call @one(%g) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %7 = func.call @one(%h) : (tensor<64x32xf32>) -> tensor<1x64x32xbf16>
  %s = tensor.concat dim(0) %0, %1, %2, %3, %4, %5, %6, %7 : (tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>, tensor<1x64x32xbf16>) -> tensor<8x64x32xbf16>
  return %s : tensor<8x64x32xbf16>
}
func.func @experts(%w: tensor<8x64x32xbf16> {spmd.name = "up", spmd.weight = ["e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7"], spmd.load = @all, spmd.sharding = #spmd.sharding<@q, [{"x"}, {}, {}]>}) -> tensor<8x64x32xbf16> { return %w : tensor<8x64x32xbf16> }

// A block of 128 x 128 has one scale; a device has 64 rows.
func.func private @by_reshape(%w: tensor<512x256xf8E4M3FN>, %s: tensor<4x2xf32>) -> tensor<512x256xbf16> {
  %b = tensor.expand_shape %w [[0, 1], [2, 3]] output_shape [4, 128, 2, 128] : tensor<512x256xf8E4M3FN> into tensor<4x128x2x128xf8E4M3FN>
  %e = tensor.empty() : tensor<4x128x2x128xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(a,b,c,d)->(a,b,c,d)>, affine_map<(a,b,c,d)->(a,c)>, affine_map<(a,b,c,d)->(a,b,c,d)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%b, %s : tensor<4x128x2x128xf8E4M3FN>, tensor<4x2xf32>) outs(%e : tensor<4x128x2x128xbf16>) {
  ^bb0(%q: f8E4M3FN, %sc: f32, %o: bf16):
    %f = arith.extf %q : f8E4M3FN to f32
    %m = arith.mulf %f, %sc : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x128x2x128xbf16>
  %r = tensor.collapse_shape %d [[0, 1], [2, 3]] : tensor<4x128x2x128xbf16> into tensor<512x256xbf16>
  return %r : tensor<512x256xbf16>
}
func.func @reshaped(%w: tensor<512x256xbf16> {spmd.weight = ["r.w", "r.s"], spmd.name = "down", spmd.load = @by_reshape, spmd.sharding = #spmd.sharding<@o, [{"x"}, {}]>}) -> tensor<512x256xbf16> { return %w : tensor<512x256xbf16> }

// The same by floordiv.
func.func private @by_floordiv(%w: tensor<512x256xf8E4M3FN>, %s: tensor<4x2xf32>) -> tensor<512x256xbf16> {
  %e = tensor.empty() : tensor<512x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(a floordiv 128, b floordiv 128)>, affine_map<(a,b)->(a,b)>], iterator_types = ["parallel","parallel"]} ins(%w, %s : tensor<512x256xf8E4M3FN>, tensor<4x2xf32>) outs(%e : tensor<512x256xbf16>) {
  ^bb0(%q: f8E4M3FN, %sc: f32, %o: bf16):
    %f = arith.extf %q : f8E4M3FN to f32
    %m = arith.mulf %f, %sc : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<512x256xbf16>
  return %d : tensor<512x256xbf16>
}
func.func @divided(%w: tensor<512x256xbf16> {spmd.weight = ["d.w", "d.s"], spmd.name = "down", spmd.load = @by_floordiv, spmd.sharding = #spmd.sharding<@o, [{"x"}, {}]>}) -> tensor<512x256xbf16> { return %w : tensor<512x256xbf16> }
