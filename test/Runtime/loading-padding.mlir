// What a loading function computes in the padding of uneven shards is not stored: 5 on 4
// devices is 2, 2, 1, 0, the rest zero, although the function adds 1 everywhere.
// REQUIRES: shard-compile, shard-weights
// RUN: rm -rf %t && mkdir -p %t && %python %S/Inputs/tensors.py %t/w.safetensors w=I32:5
// RUN: shard-compile %s -o %t/bundle --opt-level=1 && shard-weights preshard %t/w.safetensors --manifest %t/bundle -o %t/cut
// RUN: shard-weights verify %t/cut --source %t/w.safetensors --manifest %t/bundle | FileCheck %s
// CHECK: 1 weights in 4 shards cover every element once, sizes right, 4 checksums right, every value equal to the source
// RUN: %python -c "import sys, struct; shards = [struct.unpack('<2i', open(f'{sys.argv[1]}/rank-{k}-of-4-00001.safetensors', 'rb').read()[-8:]) for k in (1, 2, 3, 4)]; assert shards == [(1, 2), (3, 4), (5, 0), (0, 0)], shards" %t/cut

spmd.mesh @m = <["x"=4]>
func.func private @next(%w: tensor<5xi32>) -> tensor<5xi32> {
  %one = arith.constant dense<1> : tensor<5xi32>
  %0 = arith.addi %w, %one : tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @main(%w: tensor<5xi32> {spmd.weight = "w", spmd.load = @next, spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<5xi32> {
  return %w : tensor<5xi32>
}
