// Sums and products of f16 and bf16 are kept in f32 and rounded once, as in the functions that say so: in rows, in kernels of
// several blocks, in windows, and beside what is no sum. Over devices each part is rounded.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 5 functions, 7 results, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=2]>
#row = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (d0)>
func.func @sums(%a: tensor<6x5000xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) attributes {spmd.reference = @sums_of_f32} {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<6xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<6xbf16>) -> tensor<6xbf16>
  // The largest one is no sum, and what squares add up to is one of products.
  %s:3 = linalg.generic {indexing_maps = [#row, #one, #one, #one], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x5000xbf16>) outs(%f, %f, %f : tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) {
  ^bb0(%x: bf16, %sum: bf16, %most: bf16, %squares: bf16):
    %0 = arith.addf %x, %sum : bf16
    %1 = arith.maximumf %x, %most : bf16
    %2 = arith.mulf %x, %x : bf16
    %3 = arith.addf %squares, %2 : bf16
    linalg.yield %0, %1, %3 : bf16, bf16, bf16
  } -> (tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>)
  return %s#0, %s#1, %s#2 : tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>
}
func.func private @sums_of_f32(%a: tensor<6x5000xbf16>) -> (tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s:3 = linalg.generic {indexing_maps = [#row, #one, #one, #one], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x5000xbf16>) outs(%f, %f, %f : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%n: bf16, %sum: f32, %most: f32, %squares: f32):
    %x = arith.extf %n : bf16 to f32
    %0 = arith.addf %x, %sum : f32
    %1 = arith.maximumf %x, %most : f32
    %2 = arith.mulf %x, %x : f32
    %3 = arith.addf %squares, %2 : f32
    linalg.yield %0, %1, %3 : f32, f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %r0 = arith.truncf %s#0 : tensor<6xf32> to tensor<6xbf16>
  %r1 = arith.truncf %s#1 : tensor<6xf32> to tensor<6xbf16>
  %r2 = arith.truncf %s#2 : tensor<6xf32> to tensor<6xbf16>
  return %r0, %r1, %r2 : tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>
}
func.func @all(%a: tensor<90x1000xf16>, %start: tensor<f16>) -> tensor<f16> attributes {spmd.reference = @all_of_f32} {
  %s = linalg.reduce {arith.addf} ins(%a : tensor<90x1000xf16>) outs(%start : tensor<f16>) dimensions = [0, 1]
  return %s : tensor<f16>
}
func.func private @all_of_f32(%a: tensor<90x1000xf16>, %start: tensor<f16>) -> tensor<f16> {
  %x = arith.extf %a : tensor<90x1000xf16> to tensor<90x1000xf32>
  %i = arith.extf %start : tensor<f16> to tensor<f32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<90x1000xf32>) outs(%i : tensor<f32>) dimensions = [0, 1]
  %r = arith.truncf %s : tensor<f32> to tensor<f16>
  return %r : tensor<f16>
}
func.func @convolution(%a: tensor<2x7x9x9xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}, {}]>}, %k: tensor<5x7x3x3xbf16>) -> tensor<2x5x7x7xbf16> attributes {spmd.reference = @convolution_of_f32} {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2x5x7x7xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x5x7x7xbf16>) -> tensor<2x5x7x7xbf16>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<2x7x9x9xbf16>, tensor<5x7x3x3xbf16>) outs(%f : tensor<2x5x7x7xbf16>) -> tensor<2x5x7x7xbf16>
  return %c : tensor<2x5x7x7xbf16>
}
func.func private @convolution_of_f32(%a: tensor<2x7x9x9xbf16>, %k: tensor<5x7x3x3xbf16>) -> tensor<2x5x7x7xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x7x7xf32>) -> tensor<2x5x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<2x7x9x9xbf16>, tensor<5x7x3x3xbf16>) outs(%f : tensor<2x5x7x7xf32>) -> tensor<2x5x7x7xf32>
  %r = arith.truncf %c : tensor<2x5x7x7xf32> to tensor<2x5x7x7xbf16>
  return %r : tensor<2x5x7x7xbf16>
}
func.func @product(%a: tensor<3x9xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<3xbf16> attributes {spmd.reference = @product_of_f32} {
  %one = arith.constant dense<1.5> : tensor<3xbf16>
  %s = linalg.reduce {arith.mulf} ins(%a : tensor<3x9xbf16>) outs(%one : tensor<3xbf16>) dimensions = [1]
  return %s : tensor<3xbf16>
}
func.func private @product_of_f32(%a: tensor<3x9xbf16>) -> tensor<3xbf16> {
  %x = arith.extf %a : tensor<3x9xbf16> to tensor<3x9xf32>
  %one = arith.constant dense<1.5> : tensor<3xf32>
  %s = linalg.reduce {arith.mulf} ins(%x : tensor<3x9xf32>) outs(%one : tensor<3xf32>) dimensions = [1]
  %r = arith.truncf %s : tensor<3xf32> to tensor<3xbf16>
  return %r : tensor<3xbf16>
}
// Of a size that is not known in between.
func.func @dynamic(%a: tensor<6x700xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %d = tensor.cast %a : tensor<6x700xbf16> to tensor<?x700xbf16>
  %n = tensor.dim %d, %c0 : tensor<?x700xbf16>
  %e = tensor.empty(%n) : tensor<?xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %s = linalg.reduce {arith.addf} ins(%d : tensor<?x700xbf16>) outs(%f : tensor<?xbf16>) dimensions = [1]
  %r = tensor.cast %s : tensor<?xbf16> to tensor<6xbf16>
  return %r : tensor<6xbf16>
}
