// RUN: shard-opt %s --spmd-propagate --split-input-file | FileCheck %s -enable-var-scope
// RUN: shard-opt %s --spmd-propagate --spmd-propagate --split-input-file | FileCheck %s -enable-var-scope

// A private function is copied per distinct signature, not per call; copies are numbered in the order of calls.
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-NOT: func.func private @scale(
// CHECK: func.func private @scale_spmd0(%{{.*}}: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}
// CHECK: func.func private @scale_spmd1(%{{.*}}: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}
// CHECK-NOT: func.func private @scale
func.func private @scale(%a: tensor<8x6xf32>) -> tensor<6x8xf32> {
  %e = tensor.empty() : tensor<6x8xf32>
  %t = linalg.transpose ins(%a : tensor<8x6xf32>) outs(%e : tensor<6x8xf32>) permutation = [1, 0]
  %r = math.tanh %t : tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// Shardings propagate through a call, forward and backward.
// CHECK: func.func @main
// CHECK-SAME: %arg2: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y", ?}]>, spmd.user_sharding = #spmd.sharding<@m, [{?}, {?}]>}
// CHECK: call @scale_spmd0(%arg0) {spmd.shardings = [#spmd.sharding<@m, [{}, {"x"}]>]}
// CHECK: call @scale_spmd1(%arg1) {spmd.shardings = [#spmd.sharding<@m, [{"y"}, {}]>]}
// CHECK: call @scale_spmd1(%arg2)
// CHECK: call @scale_spmd0(%arg0)
func.func @main(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}, %c: tensor<8x6xf32>)
    -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, tensor<6x8xf32>) {
  %0 = call @scale(%a) : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %1 = call @scale(%b) : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %2 = call @scale(%c) : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %3 = call @scale(%a) : (tensor<8x6xf32>) -> tensor<6x8xf32>
  return %0, %1, %2, %3 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// A public function keeps its own signature; callers reshard their operands to it.
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK: func.func @main
// CHECK: call @helper(%arg0) {spmd.shardings = [#spmd.sharding<@m, [{"y"}, {}]>]}
func.func @main(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  %0 = call @helper(%a) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// CHECK: func.func @helper(%{{.*}}: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
func.func @helper(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %0 = math.tanh %a : tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Dims of which a loop writes slices are not related through a call either.
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK: func.func private @rows_spmd0(%{{.*}}: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>})
func.func private @rows(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0 = scf.forall (%i) in (8) shared_outs(%o = %a) -> (tensor<8x6xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 6] [1, 1] : tensor<8x6xf32> to tensor<6xf32>
    %t = math.tanh %s : tensor<6xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<8x6xf32>
    }
  }
  return %0 : tensor<8x6xf32>
}
func.func @main(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x6xf32> {
  %0 = call @rows(%a) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// Products that start from one zero have layouts of their own, from the view of a caller too: %w2 gets the axis of its rows.
spmd.mesh @m = <["x"=2]>
func.func private @mlp(%a: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %w1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %w2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @shared_zero
// CHECK-SAME: %arg2: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {?}]>
func.func @shared_zero(%a: tensor<8x8xf32>, %w1: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>}, %w2: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = call @mlp(%a, %w1, %w2) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
