// Collectives of private functions that are kept count as often as they are called; equal ones are a group per module.
// RUN: shard-opt %s --spmd-report="inline=false plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: shard-opt %s --spmd-report=plan=propagation -o /dev/null 2>&1 | FileCheck %s --check-prefix=INLINED
// RUN: shard-opt %s --spmd-report="inline=false format=json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// A page draws the functions that the report lists.
// RUN: shard-opt %s --spmd-report="inline=false format=html plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAGE

// Two layers in a loop of three trips, one after it, and one that only @other runs.
// KEPT: totals
// KEPT: all_reduce 16 x 4 KiB
// KEPT: function @layer_spmd0, called 8 times
// KEPT: collectives, 4 KiB
// KEPT-NEXT: all_reduce sum {x} 16 x 256 B {{[0-9.]+}} us layers.*/mlp {{.*}}model.py:7:3 #0 #1
// KEPT: function @main
// KEPT: no collectives
// KEPT: function @other
// Of each call in the loop one result is used.
// INLINED: all_reduce 10 x 2.5 KiB
// INLINED-NOT: function @layer
// INLINED: function @main
// INLINED: collectives, 2 KiB
// INLINED-NEXT: all_reduce sum {x} 8 x 256 B {{[0-9.]+}} us layers.*/mlp {{.*}}model.py:7:3 #0 #1 #2 #3
// INLINED: function @other
// INLINED: collectives, 512 B
// A started collective is needed by what reads its value after the wait, a value that is returned by the return.
// JSON: "name": "layer_spmd0",
// JSON: "calls": 8
// JSON: "count": 8,
// JSON: "scope": "layers.0/mlp",
// JSON-NOT: spmd.return
// JSON-NOT: spmd.done
// JSON: "totals"
// PAGE: <h2>@layer_spmd0</h2>
spmd.mesh @m = <["x"=4]>
func.func private @layer(%a: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32> loc(#first)
  %t = math.tanh %0 : tensor<8x8xf32> loc(#first)
  %b = math.exp %a : tensor<8x16xf32>
  %1 = linalg.matmul ins(%b, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32> loc(#second)
  %u = math.tanh %1 : tensor<8x8xf32> loc(#second)
  return %t, %u : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @main(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %z) -> tensor<8x8xf32> {
    %0:2 = func.call @layer(%a, %w) : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %1 = arith.addf %0#0, %s : tensor<8x8xf32>
    %2:2 = func.call @layer(%a, %w) : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    %3 = arith.mulf %2#1, %1 : tensor<8x8xf32>
    scf.yield %3 : tensor<8x8xf32>
  }
  %0:2 = func.call @layer(%a, %w) : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %1 = arith.addf %q, %0#0 : tensor<8x8xf32>
  %2 = arith.subf %1, %0#1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
func.func @other(%a: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0:2 = func.call @layer(%a, %w) : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %1 = arith.addf %0#0, %0#1 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
#line = loc("model.py":7:3)
#scope0 = loc("jit(f)/layers.0/mlp"(#line))
#scope1 = loc("jit(f)/layers.1/mlp"(#line))
#first = loc("dot_general"(#scope0))
#second = loc("dot_general"(#scope1))
