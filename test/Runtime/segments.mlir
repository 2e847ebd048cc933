// A grouped-query attention block, 8 heads of q and 4 of k and v in one stored tensor: each
// device has the rows of its heads, multiplies once with them, and one all-reduce ends it.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors attn.qkv=F32:320x64 attn.o=F32:64x160

// RUN: sed 's/"x"=2/"x"=1/' %s > %t/1.mlir && sed 's/"x"=2/"x"=4/' %s > %t/4.mlir
// RUN: sed 's/"x"=2/"x"=8/; s/unit = 20/unit = 20, replicate/' %s > %t/8.mlir
// RUN: shard-run %t/1.mlir --random-inputs=1 --verify | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/4.mlir --random-inputs=1 --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/8.mlir --random-inputs=1 --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/4.mlir --random-inputs=1 --verify --compile-option=--merge-contractions=false | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %s --random-inputs=1 --weights %t/w.safetensors --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/8.mlir --random-inputs=1 --weights %t/w.safetensors --verify --load=root-scatter | FileCheck %s --check-prefixes=ONE,EQUAL
// ONE: devices, 1 collective{{$}}
// EQUAL: verify: 1 function, 1 result, all equal

// One product with the rows of q, k and v, of 160 on two devices, and of 60 on eight, where two
// share the rows of a head of k and v.
// RUN: shard-opt %t/1.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=IR -DROWS=320
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=IR -DROWS=160
// RUN: shard-opt %t/4.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=IR -DROWS=80
// RUN: shard-opt %t/8.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=IR -DROWS=60
// IR: linalg.contract
// IR-SAME: tensor<6x64xf32>, tensor<[[ROWS]]x64xf32>
// IR-NOT: x64xf32>, tensor
// IR: linalg.softmax

// What the ranks are given of the stored rows.
// RUN: shard-compile %s -o %t/two && shard-weights shard %t/w.safetensors --manifest %t/two -o %t/two-shards
// RUN: %python %S/Inputs/rows.py %t/two-shards/rank-0.safetensors 64 | FileCheck %s --check-prefix=TWO0
// RUN: %python %S/Inputs/rows.py %t/two-shards/rank-1.safetensors 64 | FileCheck %s --check-prefix=TWO1
// TWO0: attn.qkv[0:160,160:240,240:320] 0-79, 160-199, 240-279
// TWO1: attn.qkv[0:160,160:240,240:320] 80-159, 200-239, 280-319
// RUN: shard-compile %t/4.mlir -o %t/four && shard-compile %t/8.mlir -o %t/eight && shard-weights shard %t/w.safetensors --manifest %t/eight -o %t/eight-shards
// RUN: %python %S/Inputs/rows.py %t/eight-shards/rank-2.safetensors 64 | FileCheck %s --check-prefix=EIGHT2
// RUN: %python %S/Inputs/rows.py %t/eight-shards/rank-3.safetensors 64 | FileCheck %s --check-prefix=EIGHT3
// EIGHT2: 40-59, 180-199, 260-279
// EIGHT3: 60-79, 180-199, 260-279

// No byte is read twice, and none that a rank does not own.
// RUN: shard-run %t/two --random-inputs=1 --weights %t/w.safetensors | FileCheck %s --check-prefix=BYTES
// BYTES: 61.4 kB owned per device, 122.9 kB read in all

// Cut ahead of time, for these devices.
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/two -o %t/cut
// RUN: shard-run %s --random-inputs=1 --weights %t/cut --load=presharded --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// And for others: the set says which rows of the stored tensor each part has.
// RUN: shard-run %s --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/1.mlir --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %t/4.mlir --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-run %t/8.mlir --random-inputs=1 --weights %t/cut --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-weights preshard %t/cut --manifest %t/eight --layout=tvm -o %t/cut8
// RUN: shard-weights verify %t/cut8 --source %t/w.safetensors | FileCheck %s --check-prefix=VERIFY
// RUN: shard-run %s --random-inputs=1 --weights %t/cut8 --verify | FileCheck %s --check-prefixes=ONE,EQUAL
// RUN: shard-weights convert %t/cut8 --format=safetensors -o %t/whole && shard-weights shard %t/whole --manifest %t/two -o %t/again
// RUN: cmp %t/again/rank-1.safetensors %t/two-shards/rank-1.safetensors
// VERIFY: every value equal to the source
// RUN: not shard-run %t/four --random-inputs=1 --weights %t/cut --load=presharded 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: weight 'attn.qkv[0:160,160:240,240:320]': {{.*}}cut was sharded in another way: devices 2 there, 4 here

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
#q = affine_map<(g, h, s, t, d) -> (s, g, h, d)>
#k = affine_map<(g, h, s, t, d) -> (t, g, d)>
#p = affine_map<(g, h, s, t, d) -> (g, h, s, t)>
spmd.mesh @m = <["x"=2]>
func.func @attention(%x: tensor<6x64xf32>,
                     %qkv: tensor<320x64xf32> {spmd.weight = "attn.qkv", spmd.segments = #spmd.segments<0, [160, 80, 80], unit = 20>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                     %o: tensor<64x160xf32> {spmd.weight = "attn.o", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x320xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<6x320xf32>) -> tensor<6x320xf32>
  %all = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %qkv : tensor<6x64xf32>, tensor<320x64xf32>) outs(%i0 : tensor<6x320xf32>) -> tensor<6x320xf32>
  %q2 = tensor.extract_slice %all[0, 0] [6, 160] [1, 1] : tensor<6x320xf32> to tensor<6x160xf32>
  %k2 = tensor.extract_slice %all[0, 160] [6, 80] [1, 1] : tensor<6x320xf32> to tensor<6x80xf32>
  %v2 = tensor.extract_slice %all[0, 240] [6, 80] [1, 1] : tensor<6x320xf32> to tensor<6x80xf32>
  %q = tensor.expand_shape %q2 [[0], [1, 2, 3]] output_shape [6, 4, 2, 20] : tensor<6x160xf32> into tensor<6x4x2x20xf32>
  %k = tensor.expand_shape %k2 [[0], [1, 2]] output_shape [6, 4, 20] : tensor<6x80xf32> into tensor<6x4x20xf32>
  %v = tensor.expand_shape %v2 [[0], [1, 2]] output_shape [6, 4, 20] : tensor<6x80xf32> into tensor<6x4x20xf32>
  %e1 = tensor.empty() : tensor<4x2x6x6xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x2x6x6xf32>) -> tensor<4x2x6x6xf32>
  %scores = linalg.contract indexing_maps = [#q, #k, #p] ins(%q, %k : tensor<6x4x2x20xf32>, tensor<6x4x20xf32>) outs(%i1 : tensor<4x2x6x6xf32>) -> tensor<4x2x6x6xf32>
  %soft = linalg.softmax dimension(3) ins(%scores : tensor<4x2x6x6xf32>) outs(%e1 : tensor<4x2x6x6xf32>) -> tensor<4x2x6x6xf32>
  %e2 = tensor.empty() : tensor<6x4x2x20xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x4x2x20xf32>) -> tensor<6x4x2x20xf32>
  %mixed = linalg.contract indexing_maps = [#p, #k, #q] ins(%soft, %v : tensor<4x2x6x6xf32>, tensor<6x4x20xf32>) outs(%i2 : tensor<6x4x2x20xf32>) -> tensor<6x4x2x20xf32>
  %flat = tensor.collapse_shape %mixed [[0], [1, 2, 3]] : tensor<6x4x2x20xf32> into tensor<6x160xf32>
  %e3 = tensor.empty() : tensor<6x64xf32>
  %i3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<6x64xf32>) -> tensor<6x64xf32>
  %out = linalg.contract indexing_maps = [#x, #w, #y] ins(%flat, %o : tensor<6x160xf32>, tensor<64x160xf32>) outs(%i3 : tensor<6x64xf32>) -> tensor<6x64xf32>
  return %out : tensor<6x64xf32>
}
