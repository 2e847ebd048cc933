// Sorts as the lowering of StableHLO to linalg leaves them: the region is on tensors of rank 0, constants are outside.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --spmd-import-sdy --verify-diagnostics | FileCheck %s

#map = affine_map<() -> ()>
// CHECK-LABEL: func.func @two_operands
// CHECK-SAME: (%[[X:.*]]: tensor<4x300xf32>, %[[I:.*]]: tensor<4x300xi32>, %[[T:.*]]: tensor<f32>)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[LIMIT:.*]] = tensor.extract %[[T]][]
// CHECK: spmd.sort %[[X]], %[[I]] dim = 1 {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[P:.*]]: i32, %[[Q:.*]]: i32):
// CHECK-NEXT: %[[C:.*]] = arith.cmpf oeq, %[[A]], %[[ZERO]] : f32
// CHECK-NEXT: %[[D:.*]] = arith.select %[[C]], %[[LIMIT]], %[[A]] : f32
// CHECK-NEXT: %[[E:.*]] = arith.cmpf olt, %[[D]], %[[B]] : f32
// CHECK-NEXT: %[[F:.*]] = arith.cmpi slt, %[[P]], %[[Q]] : i32
// CHECK-NEXT: %[[G:.*]] = arith.ori %[[E]], %[[F]] : i1
// CHECK-NEXT: spmd.yield %[[G]]
// CHECK-NEXT: } : (tensor<4x300xf32>, tensor<4x300xi32>) -> (tensor<4x300xf32>, tensor<4x300xi32>)
func.func @two_operands(%x: tensor<4x300xf32>, %i: tensor<4x300xi32>, %t: tensor<f32>) -> (tensor<4x300xf32>, tensor<4x300xi32>) {
  %zero = arith.constant 0.0 : f32
  %r:2 = "stablehlo.sort"(%x, %i) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %e = tensor.empty() : tensor<i1>
    %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%a : tensor<f32>) outs(%e : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %5 = arith.cmpf oeq, %in, %zero : f32
      linalg.yield %5 : i1
    } -> tensor<i1>
    %1 = arith.select %0, %t, %a : tensor<i1>, tensor<f32>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%1, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<i1>) {
    ^bb0(%in: f32, %in_0: f32, %out: i1):
      %5 = arith.cmpf olt, %in, %in_0 : f32
      linalg.yield %5 : i1
    } -> tensor<i1>
    %3 = arith.cmpi slt, %p, %q : tensor<i32>
    %4 = arith.ori %2, %3 : tensor<i1>
    "stablehlo.return"(%4) : (tensor<i1>) -> ()
  }) : (tensor<4x300xf32>, tensor<4x300xi32>) -> (tensor<4x300xf32>, tensor<4x300xi32>)
  return %r#0, %r#1 : tensor<4x300xf32>, tensor<4x300xi32>
}

// -----

func.func @not_elementwise(%x: tensor<8xf32>, %t: tensor<8xi1>, %i: index) -> tensor<8xf32> {
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @+1 {{'tensor.extract_slice' is in the region of stablehlo.sort, expected elementwise ops}}
    %0 = tensor.extract_slice %t[%i] [1] [1] : tensor<8xi1> to tensor<i1>
    "stablehlo.return"(%0) : (tensor<i1>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @no_region(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.sort' is not well formed, expected a dimension, tensors}}
  %r = "stablehlo.sort"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
