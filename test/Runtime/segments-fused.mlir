// Fused projections whose parts are cut one by one, without communication.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: shard-run %s --random-inputs=1 --verify --function=gate_up | FileCheck %s --check-prefixes=NONE,EQUAL
// RUN: shard-run %s --random-inputs=1 --verify --function=gate_up --compile-option=--merge-contractions=false | FileCheck %s --check-prefixes=NONE,EQUAL
// RUN: shard-run %s --random-inputs=1 --verify --function=parts | FileCheck %s --check-prefixes=NONE,EQUAL
// RUN: shard-run %s --random-inputs=1 --verify=exact --function=columns | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %s --random-inputs=1 --verify=exact --function=columns --compile-option=--merge-contractions=false | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %s --random-inputs=1 --verify=exact --function=whole | FileCheck %s --check-prefix=EQUAL
// NONE: devices, 0 collectives{{$}}
// EQUAL: verify: 1 function, {{.*}} all equal

// RUN: %python %S/Inputs/tensors.py %t/w.safetensors qkv=F32:280x8
// RUN: sed '/^.. BEGIN/,/^.. END/d' %s > %t/parts.mlir
// RUN: shard-compile %t/parts.mlir -o %t/parts && shard-weights shard %t/w.safetensors --manifest %t/parts -o %t/shards
// RUN: %python %S/Inputs/rows.py %t/shards/rank-0.safetensors 8 | FileCheck %s --check-prefix=RANK0
// RUN: %python %S/Inputs/rows.py %t/shards/rank-2.safetensors 8 | FileCheck %s --check-prefix=RANK2
// RANK0: qkv[0:80,80:180,180:280] 0-39, 80-129, 180-229
// RANK2: qkv[0:80,80:180,180:280] 40-79, 130-179, 230-279
// RUN: shard-compile %t/parts.mlir -o %t/single --merge-contractions=false && shard-weights shard %t/w.safetensors --manifest %t/single -o %t/single-shards
// RUN: %python %S/Inputs/rows.py %t/single-shards/rank-2.safetensors 8 | FileCheck %s --check-prefix=SINGLE
// SINGLE-DAG: qkv[0:80] 40-79
// SINGLE-DAG: qkv[80:180] 130-179
// SINGLE-DAG: qkv[180:280] 230-279

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @parts(%x: tensor<4x8xf32>, %w: tensor<280x8xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [80, 100, 100], unit = 10>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<4x80xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<4x100xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<4x100xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x280xf32>
  %t = tensor.empty() : tensor<8x280xf32>
  %wt = linalg.transpose ins(%w : tensor<280x8xf32>) outs(%t : tensor<8x280xf32>) permutation = [1, 0]
  %all = linalg.matmul ins(%x, %wt : tensor<4x8xf32>, tensor<8x280xf32>) outs(%zero : tensor<4x280xf32>) -> tensor<4x280xf32>
  %q = tensor.extract_slice %all[0, 0] [4, 80] [1, 1] : tensor<4x280xf32> to tensor<4x80xf32>
  %k = tensor.extract_slice %all[0, 80] [4, 100] [1, 1] : tensor<4x280xf32> to tensor<4x100xf32>
  %v = tensor.extract_slice %all[0, 180] [4, 100] [1, 1] : tensor<4x280xf32> to tensor<4x100xf32>
  return %q, %k, %v : tensor<4x80xf32>, tensor<4x100xf32>, tensor<4x100xf32>
}

// BEGIN OTHERS
// A gated projection, with its bias: each device has the same half of gate and up.
func.func @gate_up(%x: tensor<4x16xf32>, %w: tensor<16x48xf32> {spmd.weight = "gate_up", spmd.segments = #spmd.segments<1, [24, 24]>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                   %b: tensor<48xf32> {spmd.weight = "bias", spmd.segments = #spmd.segments<0, [24, 24]>, spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4x24xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x48xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x48xf32>) -> tensor<4x48xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x48xf32>) outs(%i : tensor<4x48xf32>) -> tensor<4x48xf32>
  %bb = linalg.broadcast ins(%b : tensor<48xf32>) outs(%e : tensor<4x48xf32>) dimensions = [0]
  %h = arith.addf %p, %bb : tensor<4x48xf32>
  %gate = tensor.extract_slice %h[0, 0] [4, 24] [1, 1] : tensor<4x48xf32> to tensor<4x24xf32>
  %up = tensor.extract_slice %h[0, 24] [4, 24] [1, 1] : tensor<4x48xf32> to tensor<4x24xf32>
  %t = math.tanh %gate : tensor<4x24xf32>
  %r = arith.mulf %t, %up : tensor<4x24xf32>
  return %r : tensor<4x24xf32>
}

// The stored dim is the minor one, the other is cut too: runs of columns, of integers.
func.func @columns(%x: tensor<4x12xi32> {spmd.range = [-9, 9]}, %w: tensor<12x48xi32> {spmd.weight = "w", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 24, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>})
    -> (tensor<4x16xi32>, tensor<4x24xi32>, tensor<4x8xi32>) {
  %zero = arith.constant dense<0> : tensor<4x48xi32>
  %p = linalg.matmul ins(%x, %w : tensor<4x12xi32>, tensor<12x48xi32>) outs(%zero : tensor<4x48xi32>) -> tensor<4x48xi32>
  %0 = tensor.extract_slice %p[0, 0] [4, 16] [1, 1] : tensor<4x48xi32> to tensor<4x16xi32>
  %1 = tensor.extract_slice %p[0, 16] [4, 24] [1, 1] : tensor<4x48xi32> to tensor<4x24xi32>
  %2 = tensor.extract_slice %p[0, 40] [4, 8] [1, 1] : tensor<4x48xi32> to tensor<4x8xi32>
  return %0, %1, %2 : tensor<4x16xi32>, tensor<4x24xi32>, tensor<4x8xi32>
}

// Uses that do not respect the borders read the concatenation.
func.func @whole(%x: tensor<4x12xi32> {spmd.range = [-9, 9]}, %w: tensor<12x48xi32> {spmd.weight = "w", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 24, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
    -> (tensor<4x48xi32>, tensor<4x10xi32>, tensor<12x48xi32>) {
  %zero = arith.constant dense<0> : tensor<4x48xi32>
  %p = linalg.matmul ins(%x, %w : tensor<4x12xi32>, tensor<12x48xi32>) outs(%zero : tensor<4x48xi32>) -> tensor<4x48xi32>
  %0 = tensor.extract_slice %p[0, 11] [4, 10] [1, 1] : tensor<4x48xi32> to tensor<4x10xi32>
  %1 = arith.addi %w, %w : tensor<12x48xi32>
  return %p, %0, %1 : tensor<4x48xi32>, tensor<4x10xi32>, tensor<12x48xi32>
}
// END OTHERS
