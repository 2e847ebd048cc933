// An exchange that sends nothing slices a dim of unknown size: its operand and its result have one type, but not one size.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --with-reference --opt-level=1 --fill-padding=ones -o %t
// RUN: shard-run %t --size=b=5 --size=s=3 --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %t --size=b=4 --size=s=8 --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 1 function, 1 result, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @f(%x0: tensor<?x?x2xi32> {spmd.symbols = ["b", "s", ""], spmd.sharding = #spmd.sharding<@m, [{}, {"x","y"}, {}]>}) -> (tensor<?x?x2xi32>) attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}} {
  %v1 = arith.addi %x0, %x0 : tensor<?x?x2xi32>
  %v = spmd.with_sharding_constraint %v1 <@m, [{}, {"z"}, {"x", "y"}]> : tensor<?x?x2xi32>
  %w = arith.addi %v, %v : tensor<?x?x2xi32>
  return %w : tensor<?x?x2xi32>
}
