// Public functions that share weights and state are propagated together.
// RUN: split-file %s %t
// RUN: shard-opt %t/decode.mlir --spmd-propagate=plan=propagation | FileCheck %t/decode.mlir
// RUN: shard-opt %t/decode.mlir --spmd-explain="value=w2 plan=propagation" -o /dev/null 2>&1 | FileCheck %t/decode.mlir --check-prefix=EXPLAIN
// RUN: shard-opt %t/differ.mlir --spmd-propagate=plan=propagation --remarks-filter=spmd 2>&1 | FileCheck %t/differ.mlir
// RUN: shard-opt %t/inputs.mlir --spmd-propagate=plan=propagation | FileCheck %t/inputs.mlir
// RUN: shard-opt %t/devices.mlir --spmd-propagate=plan=propagation | FileCheck %t/devices.mlir
// RUN: shard-opt %t/calls.mlir --spmd-propagate=plan=propagation --remarks-filter=spmd 2>&1 | FileCheck %t/calls.mlir
// RUN: shard-opt %t/groups.mlir --spmd-propagate=plan=propagation | FileCheck %t/groups.mlir
// RUN: shard-opt %t/loading.mlir --spmd-split-segments --spmd-propagate=plan=propagation | FileCheck %t/loading.mlir
// RUN: shard-opt %t/types.mlir --spmd-propagate=plan=propagation --verify-diagnostics -o /dev/null
// RUN: shard-opt %t/types.mlir --spmd-auto-shard --verify-diagnostics -o /dev/null
// RUN: shard-opt %t/types.mlir --spmd-explain=plan=propagation --verify-diagnostics -o /dev/null
// The same program with its functions in the other order.
// RUN: shard-opt %t/calls.mlir --spmd-propagate=plan=propagation | grep "func.func" | sort > %t.1
// RUN: sed '/@often/,/^}/d' %t/calls.mlir > %t/reversed.mlir
// RUN: sed -n '/func.func @often/,/^}/p' %t/calls.mlir >> %t/reversed.mlir
// RUN: shard-opt %t/reversed.mlir --spmd-propagate=plan=propagation | grep "func.func" | sort > %t.2
// RUN: diff %t.1 %t.2
// RUN: not shard-opt %t/frequency.mlir 2>&1 | FileCheck %t/frequency.mlir

//--- decode.mlir
// @decode has no annotation: w1, w2, the cache, and what it computes follow from those of @prefill. The cache is what
// @prefill returns and what @decode updates.
spmd.mesh @m = <["data"=2, "model"=2]>
// CHECK: func.func @decode(%arg0: tensor<1x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>}
// CHECK-SAME: %arg1: tensor<6x8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"model", ?}]>
// CHECK-SAME: %arg2: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"model", ?}, {?}]>
// CHECK-SAME: %arg3: tensor<8x4xf32> {spmd.name = "cache", spmd.sharding = #spmd.sharding<@m, [{"data"}, {}]>
// CHECK-SAME: -> (tensor<1x4xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>}, tensor<8x4xf32> {spmd.name = "next", spmd.sharding = #spmd.sharding<@m, [{"data"}, {}]>
func.func @decode(%x: tensor<1x6xf32>, %w1: tensor<6x8xf32> {spmd.weight = "w1"}, %w2: tensor<8x4xf32> {spmd.weight = "w2"},
                  %cache: tensor<8x4xf32> {spmd.name = "cache"})
    -> (tensor<1x4xf32>, tensor<8x4xf32> {spmd.name = "next", spmd.tied = 3 : i64}) {
  %e1 = arith.constant dense<0.0> : tensor<1x8xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<1x6xf32>, tensor<6x8xf32>) outs(%e1 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %e2 = arith.constant dense<0.0> : tensor<1x4xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<1x8xf32>, tensor<8x4xf32>) outs(%e2 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %next = math.tanh %cache : tensor<8x4xf32>
  return %y, %next : tensor<1x4xf32>, tensor<8x4xf32>
}
// What @decode takes constrains @prefill.
// CHECK: func.func @prefill(%arg0: tensor<8x6xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"data", ?}, {?}]>
func.func @prefill(%x: tensor<8x6xf32> {spmd.name = "x"}, %w1: tensor<6x8xf32> {spmd.weight = "w1", spmd.sharding = #spmd.sharding<@m, [{?}, {"model", ?}]>},
                   %w2: tensor<8x4xf32> {spmd.weight = "w2"})
    -> (tensor<8x4xf32> {spmd.name = "cache", spmd.sharding = #spmd.sharding<@m, [{"data"}, {}]>}) {
  %e1 = arith.constant dense<0.0> : tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<8x6xf32>, tensor<6x8xf32>) outs(%e1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e2 = arith.constant dense<0.0> : tensor<8x4xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<8x8xf32>, tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
// The path of an axis leads through other functions.
// EXPLAIN: @decode
// EXPLAIN-NEXT: %arg2 (w2) : tensor<8x4xf32>  [{"model", ?}, {?}]
// EXPLAIN: dim 0 has "model"
// EXPLAIN: given on argument %arg1 (w1) of @prefill
// EXPLAIN: @prefill
// EXPLAIN: given on argument %arg1 (w1){{$}}

//--- differ.mlir
// Annotations that differ are kept, and a function without one takes the first in the order of their text, whatever the
// order of functions; those that can be met together are.
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK: remark: [Missed] shared-value | Category:spmd | {{.*}}Bytes=64, Reason="their annotations differ", Remark="functions have one value in 2 layouts: w of @rows, w of @open as [{"x"}, {}]; w of @columns as [{}, {"x"}]"
// CHECK-NOT: shared-value
// CHECK: func.func @columns({{.*}}[{}, {"x"}]>, spmd.weight = "w"}, %arg1: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {"y", ?}]>
func.func @columns(%w: tensor<4x4xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                   %v: tensor<4x4xf32> {spmd.weight = "v", spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {?}]>}) {
  return
}
// CHECK: func.func @open({{.*}}[{"x"}, {}]>, {{.*}}spmd.weight = "w"}
func.func @open(%w: tensor<4x4xf32> {spmd.weight = "w"}) {
  return
}
// CHECK: func.func @rows({{.*}}[{"x"}, {}]>, spmd.weight = "w"}, %arg1: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {"y", ?}]>
func.func @rows(%w: tensor<4x4xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %v: tensor<4x4xf32> {spmd.weight = "v", spmd.sharding = #spmd.sharding<@m, [{?}, {"y", ?}]>}) {
  return
}

//--- inputs.mlir
// Inputs, or results, of one name are not one value; neither are weights that are loaded in different ways, nor state of
// another type.
spmd.mesh @m = <["x"=2]>
func.func private @twice(%w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %w, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @f
func.func @f(%x: tensor<4xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
             %w: tensor<4xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
             %s: tensor<4xf32> {spmd.name = "s", spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {spmd.name = "y"}, tensor<4xf32> {spmd.tied = 2 : i64}) {
  return %x, %s : tensor<4xf32>, tensor<4xf32>
}
// CHECK: func.func @g(
// CHECK-NOT: "x"{{[]}]}}
func.func @g(%x: tensor<4xf32> {spmd.name = "x"}, %w: tensor<4xf32> {spmd.weight = "w", spmd.load = @twice},
             %s: tensor<8xf32> {spmd.name = "s"}) -> (tensor<4xf32> {spmd.name = "y"}) {
  return %x : tensor<4xf32>
}

//--- devices.mlir
// Views of the same devices share; other devices do not.
spmd.mesh @a = <["x"=4]>
spmd.mesh @b = <["u"=2, "v"=2]>
spmd.mesh @c = <["x"=2]>
// CHECK: func.func @f
func.func @f(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@a, [{"x"}]>}) {
  return
}
// CHECK: func.func @g(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@b, [{"u", "v"}]>
func.func @g(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@b, [{?}]>}) {
  return
}
// CHECK: func.func @h(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@c, [{?}]>
func.func @h(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@c, [{?}]>}) {
  return
}

//--- calls.mlir
// A function that is called more often has more weight in a conflict: w follows its input.
spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK: remark: [Missed] conflict | {{.*}}Function=once
// CHECK: func.func @often(%arg0: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {?}]>
func.func @often(%w: tensor<4x4xf32> {spmd.weight = "w"}, %x: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> tensor<4x4xf32> attributes {spmd.calls = 100 : i64} {
  %0 = arith.addf %w, %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @once(%w: tensor<4x4xf32> {spmd.weight = "w"}, %x: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
    -> tensor<4x4xf32> {
  %0 = arith.addf %w, %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- groups.mlir
// A sharding group of a function, with an argument that another function shares. Names of groups are those of a function.
spmd.mesh @m = <["x"=2]>
// CHECK: func.func @f(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>{{.*}}, %arg1: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>
func.func @f(%w: tensor<8xf32> {spmd.weight = "w"}, %v: tensor<8xf32> {spmd.weight = "v"}) {
  spmd.sharding_group %v "g" : tensor<8xf32>
  spmd.sharding_group %w "g" : tensor<8xf32>
  return
}
// CHECK: func.func @g(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>{{.*}}, %arg1: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>{{.*}}, %arg2: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}]>
func.func @g(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %v: tensor<8xf32> {spmd.weight = "v"},
             %u: tensor<8xf32> {spmd.weight = "u"}) {
  spmd.sharding_group %u "g" : tensor<8xf32>
  return
}

//--- loading.mlir
// A weight that a loading function computes, and segments of a fused weight, also along sub-axes; the numbers of the
// arguments differ.
spmd.mesh @m = <["x"=4]>
func.func private @joined(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// CHECK: func.func @prefill
func.func @prefill(%ab: tensor<8x6xf32> {spmd.weight = ["a", "b"], spmd.load = @joined, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %qkv: tensor<32x6xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [16, 8, 8], unit = 4, replicate>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<32x6xf32> {
  return %qkv : tensor<32x6xf32>
}
// CHECK: func.func @decode(%arg0: tensor<16x6xf32> {{{.*}}argument = 0>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>{{.*}} %arg1: tensor<8x6xf32> {{{.*}}argument = 0>, spmd.sharding = #spmd.sharding<@m, [{"x":(1)2}, {}]>{{.*}} %arg2: tensor<8x6xf32> {{{.*}}argument = 0>, spmd.sharding = #spmd.sharding<@m, [{"x":(1)2}, {}]>{{.*}} %arg3: tensor<8x6xf32> {spmd.load = @joined, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>
func.func @decode(%qkv: tensor<32x6xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [16, 8, 8], unit = 4, replicate>},
                  %ab: tensor<8x6xf32> {spmd.weight = ["a", "b"], spmd.load = @joined}) -> tensor<32x6xf32> {
  return %qkv : tensor<32x6xf32>
}

//--- types.mlir
spmd.mesh @m = <["x"=2]>
// expected-note@below {{the other argument is here}}
func.func @f(%w: tensor<8xf32> {spmd.weight = "w"}) {
  return
}
// expected-error@below {{weight w of @g has type 'tensor<4xf32>', expected 'tensor<8xf32>' as in @f, another name, or a loading function that computes it}}
func.func @g(%w: tensor<4xf32> {spmd.weight = "w"}) {
  return
}

//--- frequency.mlir
// CHECK: error: {{.*}}spmd.calls{{.*}}expected a number of calls, an i64 from 1 to 1000000000
func.func @f() attributes {spmd.calls = 0 : i64} {
  return
}
