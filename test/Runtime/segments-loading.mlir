// Segments of what a loading function makes: of three stored tensors that are joined, of one whose
// parts do not begin where stored tensors do, and of one that is computed.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors q=F32:16x6 k=F32:8x6 v=F32:8x6 words=U32:4x6
// RUN: sed 's/"x"=2/"x"=1/' %s > %t/1.mlir && sed 's/"x"=2/"x"=4/' %s > %t/4.mlir
// RUN: shard-run %t/1.mlir --random-inputs=1 --weights %t/w.safetensors --verify | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --weights %t/w.safetensors --verify | FileCheck %s
// RUN: shard-run %t/4.mlir --random-inputs=1 --weights %t/w.safetensors --verify --load=root-scatter | FileCheck %s
// RUN: shard-run %t/4.mlir --random-inputs=1 --verify --compile-option=--merge-contractions=false | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify --compile-option=--load-pieces=false | FileCheck %s
// CHECK: verify: 3 functions, 6 results, all equal

// One product, and a shard function for the parts that it reads.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=IR
// IR-LABEL: func.func private @combine_shard_
// IR-SAME: -> tensor<16x6xf32>
// IR-LABEL: func.func @joined(
// IR: linalg.contract
// IR-SAME: tensor<3x6xf32>, tensor<16x6xf32>

// RUN: shard-compile %s -o %t/two && shard-compile %t/4.mlir -o %t/four
// RUN: shard-weights inspect %t/w.safetensors --manifest %t/two --function joined | FileCheck %s --check-prefix=NAMES
// NAMES: q+k+v[0:16,16:24,24:32] {{.*}}q, k, v
// RUN: shard-weights shard %t/w.safetensors --manifest %t/two --function joined -o %t/shards
// RUN: %python %S/Inputs/rows.py %t/shards/rank-1.safetensors 6 | FileCheck %s --check-prefix=ROWS
// ROWS: q+k+v[0:16,16:24,24:32] 8-15, 4-7, 4-7

// Cut ahead of time: pieces tell which elements of stored tensors a part has, so that any other cut
// finds them. What was computed is there for the same cut.
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/two --function joined -o %t/cut
// RUN: shard-run %s --function=joined --random-inputs=1 --weights %t/cut --load=presharded --verify | FileCheck %s --check-prefix=ONE
// RUN: shard-run %s --function=joined --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefix=ONE
// RUN: shard-run %t/4.mlir --function=joined --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefix=ONE
// RUN: shard-run %t/1.mlir --function=joined --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefix=ONE
// RUN: shard-weights preshard %t/cut --manifest %t/four --function joined -o %t/recut
// RUN: shard-weights verify %t/recut --source %t/w.safetensors | FileCheck %s --check-prefix=SAME
// RUN: shard-weights convert %t/recut --format=safetensors -o %t/whole
// RUN: shard-run %s --function=joined --random-inputs=1 --weights %t/whole --verify | FileCheck %s --check-prefix=ONE
// ONE: verify: 1 function, 2 results, all equal
// SAME: 1 weights in 4 shards cover every element once, {{.*}}, every value equal to the source
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/two --function computed -o %t/computed
// RUN: shard-run %t/two --function=computed --random-inputs=1 --weights %t/w.safetensors --output-dir %t/a
// RUN: shard-run %t/two --function=computed --random-inputs=1 --weights %t/computed --load=presharded --output-dir %t/b
// RUN: shard-run %t/two --function=computed --random-inputs=1 --weights %t/computed --output-dir %t/c
// RUN: cmp %t/a/y.npy %t/b/y.npy && cmp %t/a/y.npy %t/c/y.npy
// RUN: not shard-run %t/four --function=computed --random-inputs=1 --weights %t/computed 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: missing stored tensor 'words' of weight 'words[
// RUN: not shard-run %s --function=computed --random-inputs=1 --weights %t/computed --verify 2>&1 | FileCheck %s --check-prefix=STORED
// STORED: error: --verify needs the stored tensor 'words'
// RUN: not shard-weights convert %t/computed --format=safetensors -o %t/no 2>&1 | FileCheck %s --check-prefix=JOIN
// JOIN: error: weight 'words[{{.*}}]' consists of segments of the result of a loading function, which cannot be joined

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
#id = affine_map<(i, b, j) -> (i, b, j)>
#word = affine_map<(i, b, j) -> (i, j)>
spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<16x6xf32>, %k: tensor<8x6xf32>, %v: tensor<8x6xf32>) -> tensor<32x6xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<16x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<32x6xf32>
  return %0 : tensor<32x6xf32>
}
func.func private @unpack(%w: tensor<4x6xi32>) -> tensor<32x6xf32> {
  %e = tensor.empty() : tensor<4x8x6xf32>
  %0 = linalg.generic {indexing_maps = [#word, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<4x6xi32>) outs(%e : tensor<4x8x6xf32>) {
  ^bb0(%a: i32, %o: f32):
    %b = linalg.index 1 : index
    %i = arith.index_cast %b : index to i32
    %four = arith.constant 4 : i32
    %shift = arith.muli %i, %four : i32
    %mask = arith.constant 15 : i32
    %s = arith.shrui %a, %shift : i32
    %n = arith.andi %s, %mask : i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<4x8x6xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x8x6xf32> into tensor<32x6xf32>
  return %1 : tensor<32x6xf32>
}
func.func @joined(%x: tensor<3x6xf32>,
                  %qkv: tensor<32x6xf32> {spmd.weight = ["q", "k", "v"], spmd.load = @combine, spmd.segments = #spmd.segments<0, [16, 8, 8], unit = 2>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<3x16xf32>, tensor<3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32xf32>) -> tensor<3x32xf32>
  %all = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %qkv : tensor<3x6xf32>, tensor<32x6xf32>) outs(%i : tensor<3x32xf32>) -> tensor<3x32xf32>
  %q = tensor.extract_slice %all[0, 0] [3, 16] [1, 1] : tensor<3x32xf32> to tensor<3x16xf32>
  %k = tensor.extract_slice %all[0, 16] [3, 8] [1, 1] : tensor<3x32xf32> to tensor<3x8xf32>
  %v = tensor.extract_slice %all[0, 24] [3, 8] [1, 1] : tensor<3x32xf32> to tensor<3x8xf32>
  %kv = arith.mulf %k, %v : tensor<3x8xf32>
  return %q, %kv : tensor<3x16xf32>, tensor<3x8xf32>
}
// The second part is 4 rows of q and all of k.
func.func @across(%x: tensor<3x6xf32>,
                  %qkv: tensor<32x6xf32> {spmd.weight = ["q", "k", "v"], spmd.load = @combine, spmd.segments = #spmd.segments<0, [12, 12, 8]>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<3x12xf32>, tensor<3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32xf32>) -> tensor<3x32xf32>
  %all = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %qkv : tensor<3x6xf32>, tensor<32x6xf32>) outs(%i : tensor<3x32xf32>) -> tensor<3x32xf32>
  %a = tensor.extract_slice %all[0, 0] [3, 12] [1, 1] : tensor<3x32xf32> to tensor<3x12xf32>
  %b = tensor.extract_slice %all[0, 12] [3, 12] [1, 1] : tensor<3x32xf32> to tensor<3x12xf32>
  %c = tensor.extract_slice %all[0, 24] [3, 8] [1, 1] : tensor<3x32xf32> to tensor<3x8xf32>
  %ab = arith.subf %a, %b : tensor<3x12xf32>
  return %ab, %c : tensor<3x12xf32>, tensor<3x8xf32>
}
func.func @computed(%x: tensor<3x32xf32>,
                    %w: tensor<32x6xf32> {spmd.weight = "words", spmd.load = @unpack, spmd.segments = #spmd.segments<0, [16, 8, 8]>, spmd.sharding = #spmd.sharding<@m, [{}, {}]>})
    -> (tensor<3x6xf32> {spmd.name = "y"}, tensor<8x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x6xf32>) -> tensor<3x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x32xf32>, tensor<32x6xf32>) outs(%i : tensor<3x6xf32>) -> tensor<3x6xf32>
  %k = tensor.extract_slice %w[16, 0] [8, 6] [1, 1] : tensor<32x6xf32> to tensor<8x6xf32>
  return %y, %k : tensor<3x6xf32>, tensor<8x6xf32>
}
