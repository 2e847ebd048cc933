// 4-bit weights: eight to a u32 word along K, a scale for 32 of them, cut as they are
// stored, over K and over N, on 1, 2 and 4 ranks.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors w.q=U32:16x6 w.s=F16:4x6
// RUN: sed 's/"x"=4/"x"=1/' %s > %t/k1.mlir && sed 's/{"x"}, {}/{}, {"x"}/' %t/k1.mlir > %t/n1.mlir
// RUN: shard-run %t/k1.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=direct | FileCheck %s
// RUN: shard-run %t/n1.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=root-scatter | FileCheck %s
// RUN: sed 's/"x"=4/"x"=2/' %s > %t/k2.mlir && sed 's/{"x"}, {}/{}, {"x"}/' %t/k2.mlir > %t/n2.mlir
// RUN: shard-run %t/k2.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=direct | FileCheck %s
// RUN: shard-run %t/n2.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=root-scatter | FileCheck %s
// RUN: sed 's/"x"=4/"x"=4/' %s > %t/k4.mlir && sed 's/{"x"}, {}/{}, {"x"}/' %t/k4.mlir > %t/n4.mlir
// RUN: shard-run %t/k4.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=direct | FileCheck %s
// RUN: shard-run %t/n4.mlir --weights %t/w.safetensors --random-inputs=3 --verify --load=root-scatter | FileCheck %s
// RUN: shard-compile %t/k4.mlir -o %t/bundle && shard-weights preshard %t/w.safetensors --manifest %t/bundle -o %t/cut
// RUN: shard-weights inspect %t/cut | FileCheck %s --check-prefix=INSPECT
// INSPECT: w.q {{.*}}16x6 {{.*}}4 of 4x6
// INSPECT: w.s {{.*}}4x6 {{.*}}4 of 1x6
// RUN: shard-run %t/k2.mlir --weights %t/cut --random-inputs=3 --verify | FileCheck %s

// CHECK: verify: 1 function, 1 result, all equal

spmd.mesh @m = <["x"=4]>
func.func @dequantised(%x: tensor<4x128xf32> {spmd.name = "x"},
                %w: tensor<16x6xi32> {spmd.weight = "w.q", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %s: tensor<4x6xf16> {spmd.weight = "w.s", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<4x6xf32> {spmd.name = "y"}) {
  %e = tensor.empty() : tensor<16x8x6xi32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<16x6xi32>) outs(%e : tensor<16x8x6xi32>) {
  ^bb0(%word: i32, %o: i32):
    %b = linalg.index 1 : index
    %bi = arith.index_cast %b : index to i32
    %c4 = arith.constant 4 : i32
    %shift = arith.muli %bi, %c4 : i32
    %c15 = arith.constant 15 : i32
    %sh = arith.shrui %word, %shift : i32
    %nib = arith.andi %sh, %c15 : i32
    linalg.yield %nib : i32
  } -> tensor<16x8x6xi32>
  %flat = tensor.collapse_shape %n [[0, 1], [2]] : tensor<16x8x6xi32> into tensor<128x6xi32>
  %groups = tensor.expand_shape %flat [[0, 1], [2]] output_shape [4, 32, 6] : tensor<128x6xi32> into tensor<4x32x6xi32>
  %ef = tensor.empty() : tensor<4x32x6xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%groups, %s : tensor<4x32x6xi32>, tensor<4x6xf16>) outs(%ef : tensor<4x32x6xf32>) {
  ^bb0(%q: i32, %scale: f16, %o: f32):
    %c8 = arith.constant 8 : i32
    %centred = arith.subi %q, %c8 : i32
    %f = arith.sitofp %centred : i32 to f32
    %sf = arith.extf %scale : f16 to f32
    %v = arith.mulf %f, %sf : f32
    linalg.yield %v : f32
  } -> tensor<4x32x6xf32>
  %dense = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x32x6xf32> into tensor<128x6xf32>
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<4x6xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul ins(%x, %dense : tensor<4x128xf32>, tensor<128x6xf32>) outs(%fy : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
