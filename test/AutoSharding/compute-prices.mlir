// Where a mesh has `flops`, the default plan and the search weigh compute time against collectives: slow devices share a
// product of replicated operands and gather the result, fast ones all compute it. Without `flops` the default plan does
// not change what needs no collective, and the search shares every product.

// RUN: sed 's/FLOPS/{flops = 1.0e9}/' %s | shard-opt --spmd-default-pipeline | FileCheck %s --check-prefixes=CHECK,SHARED
// RUN: sed 's/FLOPS/{flops = 1.0e9}/' %s | shard-opt --spmd-default-pipeline="auto-shard" | FileCheck %s --check-prefixes=CHECK,SHARED
// RUN: sed 's/FLOPS/{flops = 1.0e15}/' %s | shard-opt --spmd-default-pipeline | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: sed 's/FLOPS/{flops = 1.0e15}/' %s | shard-opt --spmd-default-pipeline="auto-shard" | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: sed 's/FLOPS//' %s | shard-opt --spmd-default-pipeline | FileCheck %s --check-prefixes=CHECK,EACH
// RUN: sed 's/FLOPS//' %s | shard-opt --spmd-default-pipeline="auto-shard" | FileCheck %s --check-prefixes=CHECK,SHARED

// The times are of collectives and compute.
// RUN: sed 's/FLOPS/{flops = 1.0e9}/' %s | shard-opt --spmd-propagate | FileCheck %s --check-prefix=TIMES
// TIMES: spmd.improved = {improved = 1.423{{0*}}e-04 : f64, propagated = 5.243{{0*}}e-04 : f64}

// With a bandwidth, ops take at least the time of what they read and write: 48 KiB of the product, and 24 KiB of a quarter of it.
// RUN: sed 's/FLOPS/{flops = 1.0e15, bandwidth = 1.0e9}/' %s | shard-opt --spmd-default-pipeline="auto-shard" | FileCheck %s --check-prefixes=CHECK,SHARED
// RUN: sed 's/FLOPS/{flops = 1.0e15, bandwidth = 1.0e9}/' %s | shard-opt --spmd-auto-shard --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: predicted compute {{ *}}24.58 us

spmd.mesh @mesh = <["x"=4]> FLOPS

// CHECK-LABEL: func.func @product
// SHARED:      linalg.matmul {{.*}}tensor<{{16x64|64x16}}xf32>
// SHARED:      spmd.all_gather
// EACH:        linalg.matmul {{.*}}-> tensor<64x64xf32>
// EACH-NOT:    spmd.all_gather
func.func @product(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>},
                   %b: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>})
    -> (tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
