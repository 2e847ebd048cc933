// Sizes that only the run knows become arguments: what follows from them is computed from them.
// RUN: shard-opt %s --split-input-file --spmd-size-arguments | FileCheck %s

// CHECK-DAG: #[[$JOINED:.*]] = affine_map<()[s0, s1] -> (s0 * s1, 4)>
// CHECK-DAG: #[[$MADE:.*]] = affine_map<()[s0, s1] -> (s1 + 2, s0 * 2)>
// CHECK-LABEL: func.func @named
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x?x4xf32> {spmd.global_sizes = affine_map<()[s0, s1] -> (s0, s1, 4)>}
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<?xf32> {spmd.global_sizes = affine_map<()[s0, s1] -> (s1)>}
// CHECK-SAME: %[[B:[a-z0-9]+]]: index {spmd.bound = [1, 64], spmd.size = "b"}
// CHECK-SAME: %[[S:[a-z0-9]+]]: index {spmd.size = "s"}
// CHECK-SAME: -> (tensor<?x4xf32> {spmd.global_sizes = #[[$JOINED]]}
// CHECK-SAME: tensor<?x?xf32> {spmd.global_sizes = #[[$MADE]]})
func.func @named(%x: tensor<?x?x4xf32> {spmd.symbols = ["b", "s", ""]}, %y: tensor<?xf32> {spmd.symbols = ["s"]}) -> (tensor<?x4xf32>, tensor<?x?xf32>) attributes {spmd.bounds = {b = [1, 64]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %joined = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  // CHECK-NOT: tensor.dim
  // CHECK: %[[BS:.*]] = affine.apply #{{.*}}()[%[[B]], %[[S]]]
  // CHECK: tensor.empty(%[[BS]]) : tensor<?x4xf32>
  %bs = tensor.dim %joined, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%bs) : tensor<?x4xf32>
  %r = linalg.exp ins(%joined : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %i = arith.index_cast %s : index to i64
  %n = arith.index_cast %i : i64 to index
  %more = arith.addi %n, %c2 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %twice = arith.muli %b, %c2 : index
  %z = tensor.splat %zero[%more, %twice] : tensor<?x?xf32>
  %w = arith.addf %z, %z : tensor<?x?xf32>
  return %r, %w : tensor<?x4xf32>, tensor<?x?xf32>
}

// -----

// A size without a name has that of its dim. A loop keeps sizes.
// CHECK: #[[$ONE:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @unnamed
// CHECK-SAME: index {spmd.size = "x.0"}
// CHECK-SAME: tensor<?xf32> {spmd.global_sizes = #[[$ONE]]}
func.func @unnamed(%x: tensor<?xf32> {spmd.name = "x"}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%carried = %x) -> tensor<?xf32> {
    %next = arith.addf %carried, %x : tensor<?xf32>
    scf.yield %next : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A reshape to sizes becomes one of dims that are joined or split. Front ends infer a size that is given as -1.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x?x32xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: index {spmd.size = "b"}, %[[S:[a-z0-9]+]]: index {spmd.size = "s"}
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1], [2, 3]] output_shape [%[[B]], %[[S]], 4, 8]
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[HEADS]] {{\[\[}}0, 1, 2], [3]]
// CHECK: tensor.expand_shape %[[ROWS]] {{\[\[}}0, 1], [2, 3]] output_shape [%[[S]], %{{.*}}, 2, 4]
func.func @heads(%x: tensor<?x?x32xf32> {spmd.symbols = ["b", "s", ""]}) -> (tensor<?x?x4x8xf32>, tensor<?x?x2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %bi = arith.index_cast %b : index to i64
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %si = arith.index_cast %s : index to i64
  %isNegative = arith.cmpi slt, %si, %zero : i64
  %inferred = arith.select %isNegative, %eight, %si : i64
  %shape = tensor.from_elements %bi, %inferred, %four, %eight : tensor<4xi64>
  %heads = tensor.reshape %x(%shape) : (tensor<?x?x32xf32>, tensor<4xi64>) -> tensor<?x?x4x8xf32>
  %more = arith.muli %bi, %four : i64
  %turned = tensor.from_elements %si, %more, %two, %four : tensor<4xi64>
  %other = tensor.reshape %heads(%turned) : (tensor<?x?x4x8xf32>, tensor<4xi64>) -> tensor<?x?x2x4xf32>
  return %heads, %other : tensor<?x?x4x8xf32>, tensor<?x?x2x4xf32>
}

// -----

// What limits a slice is decided by the bounds, where these decide it.
// CHECK: #[[$LIMITED:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @limited
// CHECK-SAME: %[[S:[a-z0-9]+]]: index {spmd.bound = [1, 64], spmd.size = "s"}
// CHECK-SAME: -> (tensor<?xf32> {spmd.global_sizes = #[[$LIMITED]]})
// CHECK: tensor.extract_slice %{{.*}}[0] [%[[S]]] [1] : tensor<64xf32> to tensor<?xf32>
func.func @limited(%x: tensor<?xf32> {spmd.symbols = ["s"]}, %table: tensor<64xf32>) -> tensor<?xf32> attributes {spmd.bounds = {s = [1, 64]}} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %s = tensor.dim %x, %c0 : tensor<?xf32>
  %end = arith.addi %s, %c64 : index
  %isBackward = arith.cmpi sgt, %c0, %s : index
  %from = arith.select %isBackward, %end, %s : index
  %below = arith.minsi %from, %c64 : index
  %size = arith.maxsi %below, %c0 : index
  %r = tensor.extract_slice %table[0] [%size] [1] : tensor<64xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Three dims that are joined.
// CHECK: #[[$ALL:.*]] = affine_map<()[s0, s1] -> ((s0 * s1) * 6)>
// CHECK-LABEL: func.func @all
// CHECK-SAME: -> (tensor<?xf32> {spmd.global_sizes = #[[$ALL]]})
func.func @all(%x: tensor<?x?x6xf32> {spmd.symbols = ["b", "s", ""]}) -> tensor<?xf32> {
  %r = tensor.collapse_shape %x [[0, 1, 2]] : tensor<?x?x6xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
