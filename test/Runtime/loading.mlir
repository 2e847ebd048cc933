// One stored set, three ways to make arguments of it (pieces, a compiled function, host
// functions), on every mesh and in every mode: equal bytes.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t/stored
// RUN: %python %S/Inputs/tensors.py %t/stored/w.safetensors l.q=F32:8x6 l.k=F32:10x6 l.v=F32:10x6 t=F32:24x10 embed=F32:21x4
// RUN: sed 's/"x"=2/"x"=1/' %s > %t/1.mlir && sed 's/"x"=2/"x"=3/' %s > %t/3.mlir && sed 's/"x"=2/"x"=4/' %s > %t/4.mlir && sed 's/"x"=2/"x"=8/' %s > %t/8.mlir
// RUN: shard-compile %t/1.mlir -o %t/one --opt-level=1 && shard-run %t/one --weights %t/stored --output-dir %t/out1
// RUN: shard-compile %s -o %t/two --opt-level=1 --with-reference && shard-run %t/two --weights %t/stored --verify=exact --output-dir %t/out2 | FileCheck %s
// CHECK: verify: 1 function, 4 results, all equal bit by bit
// RUN: cmp %t/out1/qkv.npy %t/out2/qkv.npy && cmp %t/out1/t.npy %t/out2/t.npy && cmp %t/out1/half.npy %t/out2/half.npy && cmp %t/out1/embed.npy %t/out2/embed.npy
// RUN: shard-compile %t/3.mlir -o %t/three --opt-level=1 && shard-run %t/three --weights %t/stored --output-dir %t/out3
// RUN: cmp %t/out1/qkv.npy %t/out3/qkv.npy && cmp %t/out1/t.npy %t/out3/t.npy && cmp %t/out1/half.npy %t/out3/half.npy && cmp %t/out1/embed.npy %t/out3/embed.npy
// RUN: shard-run %t/3.mlir --weights %t/stored --output-dir %t/out3f --compile-option=--load-pieces=false
// RUN: cmp %t/out1/qkv.npy %t/out3f/qkv.npy && cmp %t/out1/t.npy %t/out3f/t.npy
// RUN: shard-compile %t/4.mlir -o %t/four --opt-level=1 && shard-run %t/four --weights %t/stored --output-dir %t/out4 --load=root-scatter
// RUN: cmp %t/out1/qkv.npy %t/out4/qkv.npy && cmp %t/out1/t.npy %t/out4/t.npy && cmp %t/out1/half.npy %t/out4/half.npy && cmp %t/out1/embed.npy %t/out4/embed.npy
// RUN: shard-run %t/8.mlir --weights %t/stored --output-dir %t/out8
// RUN: cmp %t/out1/qkv.npy %t/out8/qkv.npy && cmp %t/out1/t.npy %t/out8/t.npy && cmp %t/out1/half.npy %t/out8/half.npy && cmp %t/out1/embed.npy %t/out8/embed.npy

// Ranks read the bytes of their pieces, no more: rows of q, k, v and columns of t.
// RUN: sed -n '/^spmd.mesh/p; /^func.func private @combine/,/^}/p; /^func.func private @turn/,/^}/p; s/^\/\/ONLY //p' %t/4.mlir > %t/only.mlir
// RUN: shard-run %t/only.mlir --weights %t/stored | FileCheck %s --check-prefix=OWN
// OWN: load: {{.*}}, 408 B owned per device, 1632 B read in all
//ONLY func.func @only(%w: tensor<28x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %t: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @turn, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<28x6xf32>, tensor<10x24xf32>) { return %w, %t : tensor<28x6xf32>, tensor<10x24xf32> }

// Presharded as the arguments that they become; back to them on another mesh.
// RUN: shard-weights preshard %t/stored --manifest %t/three -o %t/cut | FileCheck %s --check-prefix=PRESHARD
// PRESHARD: wrote {{.*}}rank-1-of-3-00001.safetensors
// RUN: shard-weights verify %t/cut --source %t/stored --manifest %t/three | FileCheck %s --check-prefix=VERIFY
// VERIFY: 4 weights in 12 shards cover every element once, sizes right, 3 checksums right, every value equal to the source
// RUN: shard-weights inspect %t/cut | FileCheck %s --check-prefix=INSPECT
// INSPECT: l.q+l.k+l.v {{.*}}28x6 {{.*}}3 of 10x6
// RUN: shard-run %t/three --weights %t/cut --load=presharded --output-dir %t/pre
// RUN: cmp %t/out1/qkv.npy %t/pre/qkv.npy && cmp %t/out1/t.npy %t/pre/t.npy && cmp %t/out1/half.npy %t/pre/half.npy && cmp %t/out1/embed.npy %t/pre/embed.npy
// RUN: shard-weights shard %t/stored --manifest %t/four --rank 3 -o %t/rank && shard-weights inspect %t/rank | FileCheck %s --check-prefix=RANK
// RANK: half {{.*}}BF16 {{.*}}10x6
// RANK: l.q+l.k+l.v {{.*}}7x6

// Errors before anything is loaded.
// RUN: %python %S/Inputs/tensors.py %t/short.safetensors l.q=F32:8x6 l.k=F32:10x6 t=F32:24x10 embed=F32:21x4
// RUN: not shard-run %t/two --weights %t/short.safetensors 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: missing stored tensor 'l.v' of weight 'l.q+l.k+l.v', {{.*}} holds 4 tensors, did you mean 'l.{{[kq]}}'
// RUN: %python %S/Inputs/tensors.py %t/shape.safetensors l.q=F32:8x6 l.k=F32:10x6 l.v=F32:6x10 t=F32:24x10 embed=F32:21x4
// RUN: not shard-run %t/two --weights %t/shape.safetensors 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: weight 'l.q+l.k+l.v': stored with shape 6x10, expected 10x6
// RUN: %python %S/Inputs/tensors.py %t/dtype.safetensors l.q=F32:8x6 l.k=F32:10x6 l.v=F16:10x6 t=F32:24x10 embed=F32:21x4
// RUN: not shard-run %t/two --weights %t/dtype.safetensors 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: error: weight 'l.q+l.k+l.v': stored as F16, expected f32
// RUN: not shard-run %t/two --weights %t/stored --input half=%t/out1/half.npy 2>&1 | FileCheck %s --check-prefix=INPUT
// INPUT: error: weight 'half' is made of stored tensors by a loading function, expected --weights

spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<8x6xf32>, %k: tensor<10x6xf32>, %v: tensor<10x6xf32>) -> tensor<28x6xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<8x6xf32>, tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<28x6xf32>
  return %0 : tensor<28x6xf32>
}
func.func private @turn(%w: tensor<24x10xf32>) -> tensor<10x24xf32> {
  %e = tensor.empty() : tensor<10x24xf32>
  %0 = linalg.transpose ins(%w : tensor<24x10xf32>) outs(%e : tensor<10x24xf32>) permutation = [1, 0]
  return %0 : tensor<10x24xf32>
}
func.func private @half(%w: tensor<24x10xf32>) -> tensor<10x24xbf16> {
  %0 = func.call @turn(%w) : (tensor<24x10xf32>) -> tensor<10x24xf32>
  %1 = arith.truncf %0 : tensor<10x24xf32> to tensor<10x24xbf16>
  return %1 : tensor<10x24xbf16>
}
func.func private @pad(%w: tensor<21x4xf32>) -> tensor<24x4xf32> {
  %c = arith.constant -1.0 : f32
  %0 = tensor.pad %w low[0, 0] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<21x4xf32> to tensor<24x4xf32>
  return %0 : tensor<24x4xf32>
}
func.func @main(%w: tensor<28x6xf32> {spmd.weight = ["l.q", "l.k", "l.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %t: tensor<10x24xf32> {spmd.weight = "t", spmd.load = @turn, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %h: tensor<10x24xbf16> {spmd.weight = "t", spmd.name = "half", spmd.load = @half, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %e: tensor<24x4xf32> {spmd.weight = "embed", spmd.load = @pad, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<28x6xf32> {spmd.name = "qkv"}, tensor<10x24xf32> {spmd.name = "t"}, tensor<10x24xbf16> {spmd.name = "half"}, tensor<24x4xf32> {spmd.name = "embed"}) {
  return %w, %t, %h, %e : tensor<28x6xf32>, tensor<10x24xf32>, tensor<10x24xbf16>, tensor<24x4xf32>
}
