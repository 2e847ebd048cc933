// A sum over windows reads only the shape of its second operand: unlike a product it is not shared among all devices at
// the price of collectives.

// RUN: shard-opt %s --spmd-default-pipeline="auto-shard" | FileCheck %s
// One operation for each element of a window, two for each product.
// RUN: sed 's/<\["x"=4\]>/<["x"=4]> {flops = 1.0e9}/' %s | shard-opt - --spmd-report="plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COMPUTE

spmd.mesh @mesh = <["x"=4]>

// COMPUTE: predicted compute 768 ns
// CHECK-LABEL: func.func @sums
// CHECK-NOT:   spmd.all_gather
// CHECK:       linalg.pooling_nhwc_sum {{.*}} -> tensor<1x8x8x3xf32>
// CHECK-NOT:   spmd.all_gather
func.func @sums(%a: tensor<1x9x9x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {}]>})
    -> (tensor<1x8x8x3xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<1x8x8x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32>
  %b = linalg.pooling_nhwc_sum ins(%a, %window : tensor<1x9x9x3xf32>, tensor<2x2xf32>) outs(%init : tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32>
  return %b : tensor<1x8x8x3xf32>
}
