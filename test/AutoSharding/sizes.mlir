// Layouts of sizes that only the run knows are chosen for a likely size: that of a hint, else the upper bound. The weight is sharded, the
// result is not: few rows are gathered after the product, for many the weight is gathered before it.
// RUN: shard-opt %s --spmd-size-arguments="hint=b=8" --spmd-auto-shard | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: shard-opt %s --spmd-size-arguments --spmd-auto-shard | FileCheck %s --check-prefixes=CHECK,MANY
// A budget holds at the bound, whatever the hint is.
// RUN: not shard-opt %s --spmd-size-arguments="hint=b=8" --spmd-auto-shard="memory-budget=1000000" 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: function @product does not fit into 1000000 bytes per device
// RUN: not shard-opt %s --spmd-size-arguments="hint=b=65537" 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: size 'b' has the hint 65537, expected one within its bounds [1, 65536]
// RUN: not shard-opt %s --spmd-size-arguments="hint=batch=8" 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: hint 'batch=8' names a size that no argument has, expected one of "b"
// RUN: not shard-opt %s --spmd-size-arguments="hint=b=0" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: hint 'b=0', expected NAME=SIZE, 0 < SIZE < 2^40

spmd.mesh @m = <["x"=4]>

// CHECK-LABEL: func.func @product
// CHECK-SAME: %arg0: tensor<?x256xf32>
// FEW-SAME: spmd.hint = 8
// FEW-SAME: spmd.solver = {{.*}}sizes = {b = 8 : i64}
// MANY-SAME: spmd.solver = {{.*}}sizes = {b = 65536 : i64}
// FEW: linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{}, {"x"}, {}]>
// MANY: linalg.matmul {spmd.factor_shardings = #spmd.factors<@m, [{"x"}, {}, {}]>
func.func @product(%x: tensor<?x256xf32> {spmd.symbols = ["b", ""]}, %w: tensor<256x64xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<?x64xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {}]>}) attributes {spmd.bounds = {b = [1, 65536]}} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x256xf32>, tensor<256x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// A constraint leaves a dim of twice the size unsharded. Neither it nor the result behind it is made a multiple.
// CHECK-LABEL: func.func @doubled
// CHECK-SAME: -> (tensor<?xf32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{}]>
func.func @doubled(%x: tensor<?xf32> {spmd.symbols = ["2 * b"]}) -> tensor<?xf32> attributes {spmd.bounds = {b = [1, 65536]}} {
  %0 = math.tanh %x : tensor<?xf32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}]> : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// An op that is made again at known sizes shards no dim of computed size either.
// CHECK-LABEL: func.func @divided
// CHECK: tensor.expand_shape {{.*}}spmd.factor_shardings = #spmd.factors<@m, [{}, {}, {}]>
func.func @divided(%x: tensor<?x6xf32> {spmd.symbols = ["2 * b", ""]}) -> tensor<?x2x3xf32> attributes {spmd.bounds = {b = [1, 65536]}} {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x6xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%d, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
  return %0 : tensor<?x2x3xf32>
}
