// If axes do not divide a dim, all shards are as long as the longest. What keeps the
// padding of the others out of results, per kind of consumer.
// RUN: shard-opt %s --spmd-default-pipeline --canonicalize --cse | FileCheck %s -enable-var-scope
// RUN: shard-opt %s --spmd-default-pipeline --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

spmd.mesh @m = <["x"=4]>

// Independent lanes need no mask; the boundary is padded.
// REMARK: remark: [Analysis] padding | Category:spmd | Function=elementwise | Remark="dim 0 of argument #0 (size 5) is sharded by "x" (size 4) into chunks of 2: 37 % of the shards is padding"
// CHECK-LABEL: func @elementwise(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x6xf32> {spmd.global_type = tensor<5x6xf32>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[A]], %{{.*}} : tensor<2x6xf32>
// CHECK-NEXT:    return %[[R]] : tensor<2x6xf32>
func.func @elementwise(%a: tensor<5x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = arith.addf %a, %b : tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// A body keeps its accumulator on padding.
// CHECK-LABEL: func @reduction(
// CHECK:         %[[C:.*]] = spmd.device_coordinate @m "x" : index
// CHECK:         %[[START:.*]] = arith.muli %[[C]], %c2 : index
// CHECK:         %[[COUNT:.*]] = arith.subi %c5, %[[START]] : index
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x6xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[I]], %[[COUNT]] : index
// CHECK:           %[[MAX:.*]] = arith.maximumf %[[OUT]], %[[IN]] : f32
// CHECK:           %[[KEPT:.*]] = arith.select %[[INSIDE]], %[[MAX]], %[[OUT]] : f32
// CHECK:           linalg.yield %[[KEPT]] : f32
// CHECK:         spmd.all_reduce %[[SUM]] max <@m, {"x"}>
func.func @reduction(%a: tensor<5x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %init: tensor<6xf32>) -> tensor<6xf32> {
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<5x6xf32>) outs(%init : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}

// Both factors of a product of floats are masked, by zeros, which do not change
// any sum; the op is unchanged.
// CHECK-LABEL: func @contraction(
// CHECK-DAG:     %[[MINUS:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x4xf32>)
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : f32
// CHECK:         %[[A:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<3x2xf32>)
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[MINUS]] : f32
// CHECK:         linalg.matmul ins(%[[A]], %[[B]] : tensor<3x2xf32>, tensor<2x4xf32>)
func.func @contraction(%a: tensor<3x7xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<7x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x7xf32>, tensor<7x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// One factor suffices for integers. Rows need no mask.
// CHECK-LABEL: func @integer_contraction(
// CHECK:         %[[A:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<3x2xi32>)
// CHECK:         linalg.matmul ins(%[[A]], %arg1 : tensor<3x2xi32>, tensor<2x4xi32>)
func.func @integer_contraction(%a: tensor<3x7xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %b: tensor<7x4xi32>, %c: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x7xi32>, tensor<7x4xi32>) outs(%c : tensor<3x4xi32>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}
// CHECK-LABEL: func @rows(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.matmul ins(%arg0, %arg1 : tensor<1x7xf32>, tensor<7x4xf32>)
func.func @rows(%a: tensor<3x7xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<7x4xf32>, %c: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x7xf32>, tensor<7x4xf32>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// A divisor is 1 there.
// CHECK-LABEL: func @division(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<2xi32>)
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[ONE]] : i32
// CHECK:         arith.divsi %arg0, %[[B]] : tensor<2xi32>
func.func @division(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<5xi32>) -> tensor<5xi32> {
  %0 = arith.divsi %a, %b : tensor<5xi32>
  return %0 : tensor<5xi32>
}

// A body that could read out of bounds does not run.
// CHECK-LABEL: func @lookup(
// CHECK:         linalg.generic {{.*}} ins(%arg0 : tensor<2xindex>)
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt
// CHECK-NEXT:      %[[R:.*]] = scf.if %[[INSIDE]] -> (f32) {
// CHECK-NEXT:        tensor.extract %arg1
// CHECK:           linalg.yield %[[R]] : f32
#i = affine_map<(i) -> (i)>
func.func @lookup(%a: tensor<5xindex> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<8xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xindex>) outs(%e : tensor<5xf32>) {
  ^bb0(%x: index, %o: f32):
    %r = tensor.extract %t[%x] : tensor<8xf32>
    linalg.yield %r : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Indices of a gather are 0.
// CHECK-LABEL: func @gather(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:         %[[I:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<2x2xi32>)
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : i32
// CHECK:         tosa.gather %arg0, %[[I]] : (tensor<2x4x3xi32>, tensor<2x2xi32>) -> tensor<2x2x3xi32>
func.func @gather(%v: tensor<2x4x3xi32>, %i: tensor<2x7xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<2x7x3xi32> {
  %0 = tosa.gather %v, %i : (tensor<2x4x3xi32>, tensor<2x7xi32>) -> tensor<2x7x3xi32>
  return %0 : tensor<2x7x3xi32>
}

// Another kind of reduction is masked by another element.
// CHECK-LABEL: func @tosa_product(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         %[[A:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x3xf32>)
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[ONE]] : f32
// CHECK:         tosa.reduce_product %[[A]] {axis = 0 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
func.func @tosa_product(%a: tensor<5x3xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<1x3xf32> {
  %0 = tosa.reduce_product %a {axis = 0 : i32} : (tensor<5x3xf32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// A dim that is merged into another one is gathered first.
// CHECK-LABEL: func @merged(
// CHECK:         %[[ALL:.*]] = spmd.all_gather %arg0 <@m, [{"x"}, {}]> {{.*}} : tensor<2x6xf32> -> tensor<5x6xf32>
// CHECK:         tensor.collapse_shape %[[ALL]]
func.func @merged(%a: tensor<5x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<30xf32> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<5x6xf32> into tensor<30xf32>
  return %0 : tensor<30xf32>
}
