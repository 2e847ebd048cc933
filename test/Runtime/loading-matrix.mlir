// Three loading functions that reduce, each with three layouts: no more programs than functions. A
// function with several layouts is compiled once, unsharded, and the loader slices its result. Uneven
// rows too; the functions call another.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors w0=F32:18x8 w1=F32:18x8 w2=F32:18x8 w3=F32:18x8 w4=F32:18x8 w5=F32:18x8 w6=F32:18x8 w7=F32:18x8 w8=F32:18x8 w9=F32:18x8
// RUN: shard-compile %s -o %t/bundle --with-reference
// RUN: grep -o 'sk_load_[a-z_0-9]*' %t/bundle/manifest.json | sort -u | FileCheck %s --check-prefix=PROGRAMS
// PROGRAMS: sk_load_absolute
// PROGRAMS-NEXT: sk_load_negate
// PROGRAMS-NEXT: sk_load_once_shard_
// PROGRAMS-NEXT: sk_load_square
// PROGRAMS-NOT: sk_load
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/bundle/manifest.json
// MANIFEST-COUNT-9: "full": true
// MANIFEST-NOT: "full"
// RUN: shard-run %t/bundle --weights %t/w.safetensors --verify=exact --output-dir %t/direct --output-format=safetensors | FileCheck %s
// CHECK: verify: 1 function, 10 results, all equal bit by bit
// RUN: shard-run %t/bundle --weights %t/w.safetensors --load=root-scatter --output-dir %t/root --output-format=safetensors
// RUN: cmp %t/direct/outputs.safetensors %t/root/outputs.safetensors
// RUN: shard-weights preshard %t/w.safetensors --manifest %t/bundle -o %t/cut && shard-weights verify %t/cut --source %t/w.safetensors --manifest %t/bundle
// RUN: shard-run %t/bundle --weights %t/cut --load=presharded --output-dir %t/pre --output-format=safetensors
// RUN: cmp %t/direct/outputs.safetensors %t/pre/outputs.safetensors

spmd.mesh @m = <["x"=4]>
func.func private @add_maximum(%w: tensor<18x8xf32>) -> tensor<18x8xf32> {
  %c = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<18xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<18xf32>) -> tensor<18xf32>
  %m = linalg.reduce { arith.maximumf } ins(%w : tensor<18x8xf32>) outs(%f : tensor<18xf32>) dimensions = [1]
  %o = tensor.empty() : tensor<18x8xf32>
  %b = linalg.broadcast ins(%m : tensor<18xf32>) outs(%o : tensor<18x8xf32>) dimensions = [1]
  %0 = arith.addf %w, %b : tensor<18x8xf32>
  return %0 : tensor<18x8xf32>
}
func.func private @square(%w: tensor<18x8xf32>) -> tensor<18x8xf32> {
  %0 = func.call @add_maximum(%w) : (tensor<18x8xf32>) -> tensor<18x8xf32>
  %1 = arith.mulf %0, %w : tensor<18x8xf32>
  return %1 : tensor<18x8xf32>
}
func.func private @negate(%w: tensor<18x8xf32>) -> tensor<18x8xf32> {
  %m = func.call @add_maximum(%w) : (tensor<18x8xf32>) -> tensor<18x8xf32>
  %0 = arith.negf %m : tensor<18x8xf32>
  return %0 : tensor<18x8xf32>
}
func.func private @absolute(%w: tensor<18x8xf32>) -> tensor<18x8xf32> {
  %m = func.call @add_maximum(%w) : (tensor<18x8xf32>) -> tensor<18x8xf32>
  %0 = arith.negf %m : tensor<18x8xf32>
  %1 = arith.maximumf %0, %w : tensor<18x8xf32>
  return %1 : tensor<18x8xf32>
}
func.func private @once(%w: tensor<18x8xf32>) -> tensor<18x8xf32> {
  %0 = arith.mulf %w, %w : tensor<18x8xf32>
  return %0 : tensor<18x8xf32>
}
func.func @main(%w0: tensor<18x8xf32> {spmd.weight = "w0", spmd.load = @square, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w1: tensor<18x8xf32> {spmd.weight = "w1", spmd.load = @square, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %w2: tensor<18x8xf32> {spmd.weight = "w2", spmd.load = @square, spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
                %w3: tensor<18x8xf32> {spmd.weight = "w3", spmd.load = @negate, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w4: tensor<18x8xf32> {spmd.weight = "w4", spmd.load = @negate, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %w5: tensor<18x8xf32> {spmd.weight = "w5", spmd.load = @negate, spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
                %w6: tensor<18x8xf32> {spmd.weight = "w6", spmd.load = @absolute, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w7: tensor<18x8xf32> {spmd.weight = "w7", spmd.load = @absolute, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %w8: tensor<18x8xf32> {spmd.weight = "w8", spmd.load = @absolute, spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
                %w9: tensor<18x8xf32> {spmd.weight = "w9", spmd.load = @once, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>) {
  return %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9 : tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>, tensor<18x8xf32>
}
