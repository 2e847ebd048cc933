// One stored set on several meshes: loaded directly, by the root, presharded; cut,
// verified, converted and joined again by shard-weights.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t/source && sed 's/"x"=4/"x"=3/' %s > %t/three.mlir
// RUN: shard-compile %s -o %t/four && shard-compile %t/three.mlir -o %t/three
// RUN: %python %S/Inputs/tensors.py %t/source/w.safetensors layers.0.w=F32:6x10 layers.0.b=F32:10
// RUN: %python %S/Inputs/tensors.py %t/x.npy x='<f4':8x6

// The reference: each rank reads what it owns.
// RUN: shard-run %t/four --weights %t/source --input x=%t/x.npy --output-dir %t/direct | FileCheck %s --check-prefix=DIRECT
// DIRECT: load: {{.*}} 112 B to 160 B owned per device, 472 B read in all

// RUN: shard-run %t/four --weights %t/source --input x=%t/x.npy --output-dir %t/root --load=root-scatter --report=%t/root.json
// RUN: cmp %t/direct/y.npy %t/root/y.npy
// RUN: FileCheck %s --check-prefix=ROOT < %t/root.json
// ROOT: "mode": "root-scatter"
// ROOT: "scatters": 2,
// ROOT: "broadcasts": 1

// RUN: shard-run %t/four --weights %t/source --input x=%t/x.npy --output-dir %t/pread --io=pread --readers=2 && cmp %t/direct/y.npy %t/pread/y.npy
// RUN: shard-run %t/four --weights %t/source --input x=%t/x.npy --output-dir %t/odirect --io=direct --readers=2 && cmp %t/direct/y.npy %t/odirect/y.npy
// RUN: shard-run %t/four --weights %t/source --input x=%t/x.npy --output-dir %t/mmap --io=mmap --readers=2 && cmp %t/direct/y.npy %t/mmap/y.npy

// RUN: shard-weights inspect %t/source --manifest %t/four | FileCheck %s --check-prefix=INSPECT
// INSPECT: name {{.*}}dtype {{.*}}shape {{.*}}shards
// INSPECT: layers.0.w {{.*}}f32 {{.*}}6x10 {{.*}}4 of 6x3
// INSPECT: layers.0.b {{.*}}f32 {{.*}}10 {{.*}}replicated on 4
// INSPECT: 2 weights for 4 devices, 112 B per rank; stored: 2 tensors, 280 B

// Presharded: no communication; the weights are read, nothing else.
// RUN: shard-weights preshard %t/source --manifest %t/four -o %t/cut | FileCheck %s --check-prefix=PRESHARD
// PRESHARD: wrote {{.*}}rank-1-of-4-00001.safetensors
// PRESHARD: wrote {{.*}}common-00001.safetensors
// PRESHARD: 5 files, {{.*}}, 0 of them kept from an earlier run
// RUN: shard-weights verify %t/cut --source %t/source --manifest %t/four | FileCheck %s --check-prefix=VERIFY
// VERIFY: 2 weights in 5 shards cover every element once, sizes right, 5 checksums right, every value equal to the source
// RUN: shard-run %t/four --weights %t/cut --input x=%t/x.npy --output-dir %t/pre --load=presharded --report=%t/pre.json
// RUN: cmp %t/direct/y.npy %t/pre/y.npy
// RUN: FileCheck %s --check-prefix=PRE < %t/pre.json
// PRE: "mode": "presharded"
// PRE: "scatters": 0,
// PRE: "broadcasts": 0
// RUN: shard-weights preshard %t/source --manifest %t/four -o %t/tvm --layout=tvm
// RUN: shard-run %t/four --weights %t/tvm --input x=%t/x.npy --output-dir %t/pretvm --load=presharded && cmp %t/direct/y.npy %t/pretvm/y.npy

// What was cut for four runs on three, and not as if it were cut for three.
// RUN: shard-run %t/three --weights %t/cut --input x=%t/x.npy --output-dir %t/other && cmp %t/direct/y.npy %t/other/y.npy
// RUN: not shard-run %t/three --weights %t/cut --input x=%t/x.npy --load=presharded 2>&1 | FileCheck %s --check-prefix=DIFF
// DIFF: error: weight 'layers.0.w': {{.*}}cut was sharded in another way: devices 4 there, 3 here; local shape 6x3 there, 6x4 here; {{.*}}; --load=direct takes it as it is
// RUN: not shard-run %t/four --weights %t/source --input x=%t/x.npy --load=presharded 2>&1 | FileCheck %s --check-prefix=NOTCUT
// NOTCUT: error: missing shard 'layers.0.w_shard-1-of-4' of rank 0

// Formats, and back.
// RUN: shard-weights convert %t/cut --format=tensor-cache -o %t/cache && shard-weights verify %t/cache | FileCheck %s --check-prefix=CACHE
// CACHE: 2 weights, sizes right, 1 checksum right
// RUN: shard-weights convert %t/cache --format=npz -o %t/w.npz && shard-weights convert %t/w.npz --format=safetensors --max-file-bytes=250 -o %t/back
// One file, where the name says so, over what is there.
// RUN: mkdir %t/one && shard-weights convert %t/w.npz --format=safetensors -o %t/one/w.safetensors && shard-weights convert %t/one --format=safetensors -o %t/one/w.safetensors
// RUN: shard-run %t/four --weights %t/one/w.safetensors --input x=%t/x.npy --output-dir %t/fromone && cmp %t/direct/y.npy %t/fromone/y.npy
// RUN: shard-weights inspect %t/back | FileCheck %s --check-prefix=BACK
// BACK: layers.0.b {{.*}}F32 {{.*}}10 {{.*}}-{{.*}} 40 B {{.*}}model-00001-of-00002.safetensors
// BACK: layers.0.w {{.*}}F32 {{.*}}6x10 {{.*}}-{{.*}} 240 B {{.*}}model-00002-of-00002.safetensors
// BACK: 2 tensors, 280 B, safetensors
// RUN: shard-run %t/four --weights %t/cache --input x=%t/x.npy --output-dir %t/fmt0 && cmp %t/direct/y.npy %t/fmt0/y.npy
// RUN: shard-run %t/four --weights %t/w.npz --input x=%t/x.npy --output-dir %t/fmt1 && cmp %t/direct/y.npy %t/fmt1/y.npy
// RUN: shard-run %t/four --weights %t/back --input x=%t/x.npy --output-dir %t/fmt2 && cmp %t/direct/y.npy %t/fmt2/y.npy
// RUN: shard-run %t/four --weights %t/back/model.safetensors.index.json --input x=%t/x.npy --output-dir %t/fmt3 && cmp %t/direct/y.npy %t/fmt3/y.npy

// For TVM: a shard_info.json with one function, which this runtime has too.
// RUN: shard-weights shard-info %t/four -o %t/shard_info.json && FileCheck %s --check-prefix=INFO < %t/shard_info.json
// INFO: "layers.0.w": [
// INFO: "shardkit.shard",
// RUN: shard-weights preshard %t/cache --shard-info %t/shard_info.json --ranks 4 -o %t/byinfo
// RUN: shard-weights shard %t/source --manifest %t/four --rank 3 -o %t/rank && shard-weights inspect %t/rank | FileCheck %s --check-prefix=RANK
// RANK: layers.0.b {{.*}}10
// RANK: layers.0.w {{.*}}6x3
// RANK: 2 tensors, 112 B, safetensors

spmd.mesh @m = <["x"=4]>
func.func @main(%x: tensor<8x6xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w: tensor<6x10xf32> {spmd.weight = "layers.0.w", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %b: tensor<10xf32> {spmd.weight = "layers.0.b", spmd.sharding = #spmd.sharding<@m, [{}]>})
    -> (tensor<8x10xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x10xf32>) -> tensor<8x10xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x6xf32>, tensor<6x10xf32>) outs(%f : tensor<8x10xf32>) -> tensor<8x10xf32>
  %s = linalg.broadcast ins(%b : tensor<10xf32>) outs(%e : tensor<8x10xf32>) dimensions = [0]
  %y = arith.addf %p, %s : tensor<8x10xf32>
  return %y : tensor<8x10xf32>
}
