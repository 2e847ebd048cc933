// Calls of functions without a body are host functions, registered by name: TVM's
// qkv in two steps gives what ordinary ops give.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors w_qkv=F32:280x20 x_0=F32:12x8
// RUN: shard-compile %s -o %t/two --opt-level=1
// RUN: shard-run %t/two --weights %t/w.safetensors --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so --output-dir %t/out
// RUN: cmp %t/out/host.npy %t/out/ops.npy
// RUN: shard-run %t/two --weights %t/w.safetensors --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so --output-dir %t/root --load=root-scatter
// RUN: cmp %t/root/host.npy %t/out/ops.npy && cmp %t/root/x.npy %t/out/x.npy
// Rank 0 has rows 0-39, 80-129, 180-229: its 140 rows of 20 begin with these numbers.
// RUN: %python -c "import sys; d = open(sys.argv[1], 'rb').read()[-280*80:]; import struct; rows = [int(struct.unpack_from('<f', d, 80 * r)[0]) // 20 for r in range(280)]; assert rows == [*range(0, 40), *range(80, 130), *range(180, 230), *range(40, 80), *range(130, 180), *range(230, 280)], rows" %t/out/host.npy
// Random stored tensors go through the functions too.
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--opt-level=1 --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so | FileCheck %s
// CHECK: verify: 1 function, 3 results, all equal bit by bit
// RUN: not shard-run %t/two --weights %t/w.safetensors 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: weight 'w_qkv': shard function 'tests.disco.shard_qkv_0' is not registered
// In TVM's own words.
// RUN: sed -n '/^spmd.mesh/p; /^func.func private @"tests/p; /^func.func private @columns/,/^}/p; /^func.func private @in_two_steps/,/^}/p; s/^\/\/ONLY //p' %s > %t/only.mlir
// RUN: shard-compile %t/only.mlir -o %t/only --opt-level=1 && shard-weights shard-info %t/only -o %t/shard_info.json && FileCheck %s --check-prefix=INFO < %t/shard_info.json
// INFO: "w_qkv": [
// INFO: "tests.disco.shard_qkv_0",
// INFO: "float32"
// INFO: "tests.disco.shard_qkv_1",
// INFO: "x_0": [
// INFO-NEXT: [
// INFO-NEXT: "tests.disco.shard_dim_1",
//ONLY func.func @only(%w: tensor<280x20xf32> {spmd.weight = "w_qkv", spmd.load = @in_two_steps, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %x: tensor<12x8xf32> {spmd.weight = "x_0", spmd.load = @columns, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<280x20xf32>, tensor<12x8xf32>) { return %w, %x : tensor<280x20xf32>, tensor<12x8xf32> }

// What moves data alone is written for TVM as well, what is compiled is not.
// RUN: not shard-weights shard-info %t/two -o %t/none.json 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: weight 'ops': two arguments read one stored tensor, which shard_info.json cannot express

// Text among the extra inputs.
// RUN: sed -n '/^spmd.mesh/p; s/^\/\/TEXT //p' %s > %t/text.mlir
// RUN: shard-run %t/text.mlir --weights %t/w.safetensors --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so --output-dir %t/text
// RUN: %python -c "import struct, sys; d = open(sys.argv[1], 'rb').read()[-384:]; v = struct.unpack('<96f', d); assert v == tuple(float(8 * j + k) for k in range(8) for j in range(12)), v" %t/text/t.npy
// RUN: shard-compile %t/text.mlir -o %t/text-bundle && shard-weights shard-info %t/text-bundle -o %t/text.json && FileCheck %s --check-prefix=TEXT < %t/text.json
// TEXT: "tests.transpose"
// TEXT: "transpose"
// RUN: shard-weights preshard %t/w.safetensors --shard-info %t/text.json --ranks=2 --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so -o %t/text-cut
// RUN: shard-weights verify %t/text-cut --source %t/w.safetensors --shard-info %t/text.json --ranks=2 --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so | FileCheck %s --check-prefix=VERIFY
// VERIFY: 2 weights in 3 shards cover every element once, sizes right, 3 checksums right, every value equal to the source
// RUN: not shard-weights convert %t/text-cut --format=npz -o %t/text.npz 2>&1 | FileCheck %s --check-prefix=STACK
// STACK: error: weight 'x_0' consists of segments of the result of a loading function, which cannot be joined
// RUN: sed 's/"transpose"/"turn"/' %t/text.mlir > %t/turn.mlir && not shard-run %t/turn.mlir --weights %t/w.safetensors --shard-functions=%shardkit_build/lib/shardkit_test_shard_functions.so 2>&1 | FileCheck %s --check-prefix=TURN
// TURN: error: weight 'x_0': {{.*}}'tests.transpose'
//TEXT func.func private @"tests.transpose"(tensor<12x8xf32>) -> tensor<2x4x12xf32>
//TEXT func.func private @turned(%w: tensor<12x8xf32>) -> tensor<2x4x12xf32> {
//TEXT   %0 = func.call @"tests.transpose"(%w) {spmd.extras = ["transpose"]} : (tensor<12x8xf32>) -> tensor<2x4x12xf32>
//TEXT   return %0 : tensor<2x4x12xf32>
//TEXT }
//TEXT func.func @main(%w: tensor<8x12xf32> {spmd.weight = "x_0", spmd.load = @turned, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x12xf32> {spmd.name = "t"}) { return %w : tensor<8x12xf32> }

spmd.mesh @m = <["x"=2]>
func.func private @"tests.disco.shard_qkv_0"(tensor<280x20xf32>) -> tensor<2x14x10x20xf32>
func.func private @"tests.disco.shard_qkv_1"(tensor<2x14x10x20xf32>) -> tensor<2x140x20xf32>
func.func private @"tests.disco.shard_dim_1"(tensor<12x8xf32>, i64) -> tensor<2x12x4xf32>
func.func private @in_two_steps(%w: tensor<280x20xf32>) -> tensor<2x140x20xf32> {
  %0 = func.call @"tests.disco.shard_qkv_0"(%w) : (tensor<280x20xf32>) -> tensor<2x14x10x20xf32>
  %1 = func.call @"tests.disco.shard_qkv_1"(%0) : (tensor<2x14x10x20xf32>) -> tensor<2x140x20xf32>
  return %1 : tensor<2x140x20xf32>
}
func.func private @columns(%w: tensor<12x8xf32>) -> tensor<2x12x4xf32> {
  %shards = arith.constant 2 : i64
  %0 = func.call @"tests.disco.shard_dim_1"(%w, %shards) : (tensor<12x8xf32>, i64) -> tensor<2x12x4xf32>
  return %0 : tensor<2x12x4xf32>
}
func.func private @by_ops(%w: tensor<280x20xf32>) -> tensor<280x20xf32> {
  %q = tensor.extract_slice %w[0, 0] [80, 20] [1, 1] : tensor<280x20xf32> to tensor<80x20xf32>
  %k = tensor.extract_slice %w[80, 0] [100, 20] [1, 1] : tensor<280x20xf32> to tensor<100x20xf32>
  %v = tensor.extract_slice %w[180, 0] [100, 20] [1, 1] : tensor<280x20xf32> to tensor<100x20xf32>
  %q2 = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 40, 20] : tensor<80x20xf32> into tensor<2x40x20xf32>
  %k2 = tensor.expand_shape %k [[0, 1], [2]] output_shape [2, 50, 20] : tensor<100x20xf32> into tensor<2x50x20xf32>
  %v2 = tensor.expand_shape %v [[0, 1], [2]] output_shape [2, 50, 20] : tensor<100x20xf32> into tensor<2x50x20xf32>
  %0 = tensor.concat dim(1) %q2, %k2, %v2 : (tensor<2x40x20xf32>, tensor<2x50x20xf32>, tensor<2x50x20xf32>) -> tensor<2x140x20xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x140x20xf32> into tensor<280x20xf32>
  return %1 : tensor<280x20xf32>
}
func.func @main(%a: tensor<280x20xf32> {spmd.weight = "w_qkv", spmd.load = @in_two_steps, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %b: tensor<280x20xf32> {spmd.weight = "w_qkv", spmd.name = "ops", spmd.load = @by_ops, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %x: tensor<12x8xf32> {spmd.weight = "x_0", spmd.load = @columns, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
    -> (tensor<280x20xf32> {spmd.name = "host"}, tensor<280x20xf32> {spmd.name = "ops"}, tensor<12x8xf32> {spmd.name = "x"}) {
  return %a, %b, %x : tensor<280x20xf32>, tensor<280x20xf32>, tensor<12x8xf32>
}
