// Sets cut ahead of time for a pipeline: each rank has what its stage holds. Weights that are stored as they are,
// that a loading function moves together (in segments) or computes, and one (`t`) that two stages hold, cut in
// different ways on meshes of different sizes.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors t=F32:8x6 q=F32:8x6 k=F32:4x6 v=F32:4x6 words=U32:8x16 o=F32:8x4
// RUN: shard-compile %s --plan=propagation -o %t/two --with-reference --pipeline="meshes=s0,s1 microbatches=4 schedule=inference"
// RUN: shard-run %t/two --weights %t/w.safetensors --random-inputs=3 --verify --digests=%t/direct | FileCheck %s
// CHECK: verify: 1 function, 1 result, all equal

// RUN: shard-weights preshard %t/w.safetensors --manifest %t/two -o %t/shared | FileCheck %s --check-prefix=FILES
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/two -o %t/tvm --layout=tvm --max-file-bytes=600
// FILES: rank-1-of-6-00001.safetensors
// FILES: rank-2-of-6-00001.safetensors
// FILES-NOT: rank-2-of-6-00002
// FILES: rank-3-of-6-00001.safetensors
// FILES: rank-6-of-6-00001.safetensors
// RUN: shard-weights inspect %t/shared | FileCheck %s --check-prefix=INSPECT
// INSPECT: t {{.*}} 2 of 4x6
// INSPECT: t {{.*}} 2 of 8x3, each on 2 ranks
// INSPECT: words {{.*}} 4 of 2x16
// INSPECT: weights for 6 devices, at most
// RUN: shard-weights inspect %t/tvm --manifest %t/two | FileCheck %s --check-prefix=INSPECT

// As each rank holds it, and by any other program: another pipeline, one mesh.
// RUN: shard-run %t/two --weights %t/shared --random-inputs=3 --load=presharded --digests=%t/1 && cmp %t/direct %t/1
// RUN: shard-run %t/two --weights %t/tvm --random-inputs=3 --load=presharded --digests=%t/2 && cmp %t/direct %t/2
// RUN: shard-run %t/two --weights %t/shared --random-inputs=3 --digests=%t/3 && cmp %t/direct %t/3
// RUN: shard-run %t/two --weights %t/tvm --random-inputs=3 --load=root-scatter --digests=%t/4 && cmp %t/direct %t/4
// RUN: shard-run %s --compile-option=--plan=propagation --weights %t/shared --random-inputs=3 --verify --pipeline="meshes=s0,s1 microbatches=4 schedule=inference" --compile-option=--merge-contractions=false | FileCheck %s
// RUN: shard-weights verify %t/shared --source %t/w.safetensors --manifest %t/two | FileCheck %s --check-prefix=SAME
// RUN: shard-weights verify %t/tvm --source %t/w.safetensors --manifest %t/two | FileCheck %s --check-prefix=SAME
// SAME: {{[0-9]+}} weights in {{[0-9]+}} shards cover every element once, {{.*}}, every value equal to the source
// RUN: sed 's/device_ids=\[2, 3, 4, 5\]/device_ids=[0, 3, 4, 5]/; s/"b"=2\]>/"b"=2], device_ids=[2, 1]>/' %s > %t/moved.mlir
// RUN: shard-compile %t/moved.mlir --plan=propagation -o %t/moved --pipeline="meshes=s0,s1 microbatches=4 schedule=inference"
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/moved -o %t/cut
// RUN: shard-run %t/moved --weights %t/cut --random-inputs=3 --load=presharded --output-dir=%t/a
// RUN: shard-run %t/two --weights %t/shared --random-inputs=3 --output-dir=%t/b && cmp %t/a/y.npy %t/b/y.npy
// RUN: sed '/stage_boundary/d; /^spmd.mesh @s0/d; s/@s0/@s1/g; s/, device_ids=[^>]*>/>/; s/, spmd.microbatch = [^}]*}/}/' %s > %t/one.mlir
// RUN: shard-run %t/one.mlir --compile-option=--plan=propagation --weights %t/shared --random-inputs=3 --verify --output-dir=%t/c | FileCheck %s
// RUN: shard-run %t/one.mlir --compile-option=--plan=propagation --weights %t/w.safetensors --random-inputs=3 --verify --output-dir=%t/d | FileCheck %s
// RUN: cmp %t/c/y.npy %t/d/y.npy
// RUN: shard-weights convert %t/cut --format=safetensors -o %t/whole.safetensors 2>&1 | FileCheck %s --check-prefix=CONVERT
// CONVERT: wrote 6 tensors

// What does not fit is one error.
// RUN: not shard-run %t/two --weights %t/cut --random-inputs=3 --load=presharded 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: weight 't': {{.*}}cut was sharded in another way: ranks 2, 1 there, 0, 1 here; --load=direct takes it as it is
// RUN: not shard-weights shard-info %t/two -o %t/info.json 2>&1 | FileCheck %s --check-prefix=TVM
// TVM: error: {{.*}}two: is of a pipeline, whose weights lie on several meshes, which TVM's shard info cannot express, expected a function

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
#id = affine_map<(i, j) -> (i, j)>
spmd.mesh @s0 = <["b"=2]>
spmd.mesh @s1 = <["a"=2, "b"=2], device_ids=[2, 3, 4, 5]>
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<4x6xf32>, %v: tensor<4x6xf32>) -> tensor<16x6xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<8x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<16x6xf32>
  return %0 : tensor<16x6xf32>
}
func.func private @number(%words: tensor<8x16xi32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%words : tensor<8x16xi32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%word: i32, %o: f32):
    %c7 = arith.constant 7 : i32
    %low = arith.andi %word, %c7 : i32
    %f = arith.sitofp %low : i32 to f32
    linalg.yield %f : f32
  } -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @main(
    %x: tensor<16x6xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>},
    %t: tensor<8x6xf32> {spmd.weight = "t"},
    %qkv: tensor<16x6xf32> {spmd.weight = ["q", "k", "v"], spmd.load = @combine, spmd.segments = #spmd.segments<0, [8, 4, 4], unit = 2>, spmd.sharding = #spmd.sharding<@s0, [{"b"}, {}]>},
    %words: tensor<8x16xf32> {spmd.weight = "words", spmd.load = @number, spmd.sharding = #spmd.sharding<@s1, [{"a", "b"}, {}]>},
    %o: tensor<8x4xf32> {spmd.weight = "o"}) -> (tensor<16x4xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e16 = tensor.empty() : tensor<16x16xf32>
  %e8 = tensor.empty() : tensor<16x8xf32>
  %e6 = tensor.empty() : tensor<16x6xf32>
  %e4 = tensor.empty() : tensor<16x4xf32>
  %z16 = linalg.fill ins(%zero : f32) outs(%e16 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %z8 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %t0 = spmd.with_sharding_constraint %t <@s0, [{"b"}, {}]> : tensor<8x6xf32>
  %a = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %t0 : tensor<16x6xf32>, tensor<8x6xf32>) outs(%z8 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %h = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %qkv : tensor<16x6xf32>, tensor<16x6xf32>) outs(%z16 : tensor<16x16xf32>) -> tensor<16x16xf32>
  spmd.stage_boundary %a, %h : tensor<16x8xf32>, tensor<16x16xf32>
  %u = linalg.contract indexing_maps = [#x, #w, #y] ins(%h, %words : tensor<16x16xf32>, tensor<8x16xf32>) outs(%z8 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %s = arith.addf %u, %a : tensor<16x8xf32>
  %t1 = spmd.with_sharding_constraint %t <@s1, [{}, {"b"}]> : tensor<8x6xf32>
  %b = linalg.matmul ins(%s, %t1 : tensor<16x8xf32>, tensor<8x6xf32>) outs(%z6 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %bt = linalg.matmul ins(%s, %o : tensor<16x8xf32>, tensor<8x4xf32>) outs(%z4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %b4 = tensor.extract_slice %b[0, 1] [16, 4] [1, 1] : tensor<16x6xf32> to tensor<16x4xf32>
  %y = arith.addf %b4, %bt : tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}
