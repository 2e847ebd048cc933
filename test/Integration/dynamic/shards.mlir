// Moves between shards of unknown size.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --with-reference --opt-level=1 --fill-padding=ones -o %t
// RUN: shard-run %t --size=b=5 --size=s=3 --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %t --size=b=4 --size=s=8 --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 3 functions, 3 results, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=2, "z"=2]>

// An exchange that sends nothing slices dim 1: its operand and its result have one type, but not one size.
func.func @slice(%x: tensor<?x?x2xi32> {spmd.symbols = ["b", "s", ""], spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}, {}]>}) -> tensor<?x?x2xi32> attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}} {
  %0 = arith.addi %x, %x : tensor<?x?x2xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"z"}, {"x", "y"}]> : tensor<?x?x2xi32>
  %2 = arith.addi %1, %1 : tensor<?x?x2xi32>
  return %2 : tensor<?x?x2xi32>
}

// Two windows of one value are one exchange.
func.func @windows(%x: tensor<?x?x1xi32> {spmd.symbols = ["b", "s", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) -> (tensor<?x?x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}) attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}} {
  %0 = tensor.concat dim(2) %x, %x : (tensor<?x?x1xi32>, tensor<?x?x1xi32>) -> tensor<?x?x2xi32>
  return %0 : tensor<?x?x2xi32>
}

// An insertion along one dim, next to a sharded one of unknown size.
func.func @insertion(%x: tensor<?x?xi32> {spmd.symbols = ["b", "s"]}, %d: tensor<?x8xi32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %e: tensor<?x3xi32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) attributes {spmd.bounds = {b = [0, 40], s = [0, 40]}} {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %d, %c0 : tensor<?x8xi32>
  %0 = tensor.insert_slice %e into %d[0, 2] [%b, 3] [1, 1] : tensor<?x3xi32> into tensor<?x8xi32>
  %1 = tensor.concat dim(1) %0, %e : (tensor<?x8xi32>, tensor<?x3xi32>) -> tensor<?x11xi32>
  %2 = tensor.extract_slice %1[0, 1] [%b, 8] [1, 1] : tensor<?x11xi32> to tensor<?x8xi32>
  %3 = arith.addi %2, %0 : tensor<?x8xi32>
  return %3 : tensor<?x8xi32>
}
