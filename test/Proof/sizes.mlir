// Sizes of a signature that only the run knows: a function is proven at each of them within its bounds.
// RUN: shard-opt %s --spmd-default-pipeline -o %t.mlir
// RUN: shard-prove %s %t.mlir --rules | FileCheck %s --check-prefix=RIGHT
// RIGHT: @doubled: proven
// RIGHT: 9 x size that only the run knows, at each value within its bounds
// RIGHT: @moved: proven

// A mask that is right for even sizes alone.
// RUN: sed 's/ceildiv 2)>/floordiv 2)>/' %t.mlir > %t.wrong.mlir
// RUN: not shard-prove %s %t.wrong.mlir 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: @summed is refused {{.*}}(b = 1)
// WRONG: note: result #0: element [0] of rank 0 is

// Bounds that are not there.
// RUN: sed 's/spmd.bound = .0, 8., //' %t.mlir > %t.open.mlir
// RUN: not shard-prove %s %t.open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: @doubled is not decided at func.func: sizes that only the run knows, without bounds

spmd.mesh @m = <["x"=2]>
func.func @doubled(%x: tensor<?x6xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<?x6xf32> attributes {spmd.bounds = {b = [0, 8]}} {
  %0 = arith.addf %x, %x : tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
func.func @moved(%x: tensor<?x6xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) attributes {spmd.bounds = {b = [0, 8]}} {
  %0 = math.tanh %x : tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
func.func @summed(%x: tensor<?x6xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> attributes {spmd.bounds = {b = [0, 8]}} {
  %z = arith.constant dense<0.0> : tensor<6xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  return %s : tensor<6xf32>
}
