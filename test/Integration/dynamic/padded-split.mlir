// A dim of 2 in 4 shards, next to a sharded dim of unknown size: the exchange would read beyond shards.
// REQUIRES: shard-compile
// RUN: not shard-compile %s -o %t 2>&1 | FileCheck %s
// CHECK: error: a move of a tensor of unknown sizes leaves shards of dim 2 empty, of 2 elements in 4 shards, expected as many elements as shards

spmd.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @f(%x0: tensor<?x?x2xi32> {spmd.symbols = ["b", "s", ""], spmd.sharding = #spmd.sharding<@m, [{}, {"x","y"}, {}]>}) -> (tensor<?x?x2xi32>) attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}} {
  %v1 = arith.addi %x0, %x0 : tensor<?x?x2xi32>
  %v = spmd.with_sharding_constraint %v1 <@m, [{}, {"z"}, {"x", "y"}]> : tensor<?x?x2xi32>
  %w = arith.addi %v, %v : tensor<?x?x2xi32>
  return %w : tensor<?x?x2xi32>
}
