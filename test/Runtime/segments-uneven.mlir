// Segments whose rows the devices do not divide are padded, and one segment keeps its units and `replicate`.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 3 functions, 3 results, all equal bit by bit
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=IR
// IR-LABEL: func.func @three(
// IR-SAME: tensor<86x8xf32>
// IR-LABEL: func.func @one(
// IR-SAME: tensor<32x8xf32>
// IR-SAME: {"x":(1)4}
spmd.mesh @m = <["x"=3]>
spmd.mesh @n = <["x"=6]>
spmd.mesh @o = <["x"=8]>
func.func @three(%w: tensor<512x8xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [256, 128, 128]>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<256x8xf32> {
  %q = tensor.extract_slice %w[0, 0] [256, 8] [1, 1] : tensor<512x8xf32> to tensor<256x8xf32>
  return %q : tensor<256x8xf32>
}
func.func @six(%w: tensor<512x8xf32> {spmd.weight = "kv", spmd.segments = #spmd.segments<0, [256, 256]>, spmd.sharding = #spmd.sharding<@n, [{"x"}, {}]>}) -> tensor<512x8xf32> {
  %0 = arith.negf %w : tensor<512x8xf32>
  return %0 : tensor<512x8xf32>
}
func.func @one(%w: tensor<128x8xf32> {spmd.weight = "k", spmd.segments = #spmd.segments<0, [128], unit = 32, replicate>, spmd.sharding = #spmd.sharding<@o, [{"x"}, {}]>}) -> tensor<128x8xf32> {
  %0 = arith.negf %w : tensor<128x8xf32>
  return %0 : tensor<128x8xf32>
}
