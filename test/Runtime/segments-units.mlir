// Segments whose units the devices do not divide: shards have unequal numbers of full units, also where there are
// fewer units than devices. Products, updates and loading functions compute on units.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: sed 's/"x"=3/"x"=5/' %s > %t/5.mlir && sed 's/"x"=3/"x"=8/' %s > %t/8.mlir
// RUN: shard-run %s --random-inputs=1 --verify --compile-option=--opt-level=1 | FileCheck %s
// RUN: shard-run %t/5.mlir --random-inputs=2 --verify --compile-option=--opt-level=1 | FileCheck %s
// RUN: shard-run %t/8.mlir --random-inputs=3 --verify --compile-option=--opt-level=1 --load=root-scatter | FileCheck %s
// CHECK: verify update new[0:20]: max abs error 0
// CHECK: verify update new[20:32]: max abs error 0
// CHECK: verify: 5 functions, 11 results, all equal

// Three devices have 3, 3 and 2 heads of q, and compute on heads.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=IR
// IR-LABEL: func.func @attention(
// IR-SAME: tensor<3x4x6xf32> {{{.*}}spmd.global_type = tensor<8x4x6xf32>
// IR-SAME: tensor<2x4x6xf32> {{{.*}}spmd.global_type = tensor<4x4x6xf32>
// IR: linalg.generic {{.*}} ins(%{{.*}} : tensor<5x6xf32>, tensor<3x4x6xf32>)
// IR-LABEL: func.func @few(


#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
spmd.mesh @m = <["x"=3]>
// Attention of heads of 4: 8 of q, 4 of k and v.
func.func @attention(%x: tensor<5x6xf32>, %w: tensor<64x6xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [32, 16, 16], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x5x4xf32>, tensor<5x4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<5x64xf32>) -> tensor<5x64xf32>
  %all = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<5x6xf32>, tensor<64x6xf32>) outs(%i : tensor<5x64xf32>) -> tensor<5x64xf32>
  %q = tensor.extract_slice %all[0, 0] [5, 32] [1, 1] : tensor<5x64xf32> to tensor<5x32xf32>
  %k = tensor.extract_slice %all[0, 32] [5, 16] [1, 1] : tensor<5x64xf32> to tensor<5x16xf32>
  %v = tensor.extract_slice %all[0, 48] [5, 16] [1, 1] : tensor<5x64xf32> to tensor<5x16xf32>
  %q3 = tensor.expand_shape %q [[0], [1, 2]] output_shape [5, 8, 4] : tensor<5x32xf32> into tensor<5x8x4xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [5, 4, 4] : tensor<5x16xf32> into tensor<5x4x4xf32>
  %v3 = tensor.expand_shape %v [[0], [1, 2]] output_shape [5, 4, 4] : tensor<5x16xf32> into tensor<5x4x4xf32>
  %qe = tensor.empty() : tensor<8x5x4xf32>
  %qt = linalg.transpose ins(%q3 : tensor<5x8x4xf32>) outs(%qe : tensor<8x5x4xf32>) permutation = [1, 0, 2]
  %qn = arith.negf %qt : tensor<8x5x4xf32>
  %kv = arith.mulf %k3, %v3 : tensor<5x4x4xf32>
  return %qn, %kv : tensor<8x5x4xf32>, tensor<5x4x4xf32>
}
// Fewer units than ranks, with and without replicate; along dim 1; the full tensor is used.
func.func @few(%w: tensor<6x24xbf16> {spmd.weight = "few", spmd.segments = #spmd.segments<1, [16, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %u: tensor<24xf32> {spmd.weight = "few1", spmd.segments = #spmd.segments<0, [12, 12], unit = 4, replicate>, spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<6x24xf32>, tensor<24xf32>) {
  %0 = arith.extf %w : tensor<6x24xbf16> to tensor<6x24xf32>
  %1 = arith.negf %u : tensor<24xf32>
  return %0, %1 : tensor<6x24xf32>, tensor<24xf32>
}
// One segment; the sum over it; a slice through a unit.
func.func @one(%w: tensor<28x3xf32> {spmd.weight = "one", spmd.segments = #spmd.segments<0, [28], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<3xf32>, tensor<5x3xf32>) {
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %s = linalg.reduce ins(%w : tensor<28x3xf32>) outs(%z : tensor<3xf32>) dimensions = [0] (%a: f32, %b: f32) {
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  }
  %c = tensor.extract_slice %w[2, 0] [5, 3] [1, 1] : tensor<28x3xf32> to tensor<5x3xf32>
  return %s, %c : tensor<3xf32>, tensor<5x3xf32>
}
// Updates of the segments.
func.func @update(%w: tensor<40x3xf32> {spmd.weight = "upd", spmd.segments = #spmd.segments<0, [20, 12, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %g: tensor<40x3xf32>) -> (tensor<40x3xf32> {spmd.name = "new", spmd.tied = 0 : i64}) {
  %0 = arith.subf %w, %g : tensor<40x3xf32>
  return %0 : tensor<40x3xf32>
}
// Results of loading functions: copied, computed.
func.func private @join(%q: tensor<20x3xf32>, %k: tensor<12x3xf32>) -> tensor<32x3xf32> {
  %0 = tensor.concat dim(0) %q, %k : (tensor<20x3xf32>, tensor<12x3xf32>) -> tensor<32x3xf32>
  return %0 : tensor<32x3xf32>
}
func.func private @half(%q: tensor<3x32xf16>) -> tensor<32x3xf32> {
  %e = tensor.empty() : tensor<32x3xf16>
  %t = linalg.transpose ins(%q : tensor<3x32xf16>) outs(%e : tensor<32x3xf16>) permutation = [1, 0]
  %0 = arith.extf %t : tensor<32x3xf16> to tensor<32x3xf32>
  return %0 : tensor<32x3xf32>
}
func.func private @sums(%q: tensor<32x3x2xf32>) -> tensor<32x3xf32> {
  %z = arith.constant dense<0.0> : tensor<32x3xf32>
  %s = linalg.reduce ins(%q : tensor<32x3x2xf32>) outs(%z : tensor<32x3xf32>) dimensions = [2] (%a: f32, %b: f32) {
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  }
  return %s : tensor<32x3xf32>
}
func.func @loaded(%w: tensor<32x3xf32> {spmd.weight = ["lq", "lk"], spmd.load = @join, spmd.segments = #spmd.segments<0, [16, 16], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                  %h: tensor<32x3xf32> {spmd.weight = ["h"], spmd.load = @half, spmd.segments = #spmd.segments<0, [20, 12], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                  %s: tensor<32x3xf32> {spmd.weight = ["s"], spmd.load = @sums, spmd.segments = #spmd.segments<0, [32], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<32x3xf32>, tensor<32x3xf32>) {
  %0 = arith.addf %w, %h : tensor<32x3xf32>
  %1 = arith.mulf %0, %s : tensor<32x3xf32>
  return %0, %1 : tensor<32x3xf32>, tensor<32x3xf32>
}
