// On a mesh with `spmd.overlap` the objective counts what is left of a collective after the independent compute between
// the op that makes its operand and the reader of its result. Each op hides what it computes once. `hidden` is the rest.
// RUN: shard-opt %s --spmd-auto-shard="compare-plans=false hide-collectives=false" | FileCheck %s --check-prefixes=CHECK,PAID
// RUN: shard-opt %s --spmd-auto-shard="compare-plans=false" | FileCheck %s --check-prefixes=CHECK,HIDDEN
// A budget does not change that.
// RUN: shard-opt %s --spmd-auto-shard="compare-plans=false memory-budget=1000000" | FileCheck %s --check-prefixes=CHECK,HIDDEN
// Half of it, where the mesh says so.
// RUN: sed 's/spmd.overlap = 1.0/spmd.overlap = 0.5/' %s | shard-opt - --spmd-auto-shard="compare-plans=false" | FileCheck %s --check-prefixes=CHECK,HALF
// Nothing hides without a measured overlap, nor without a price of compute.
// RUN: sed 's/, spmd.overlap = 1.0//' %s | shard-opt - --spmd-auto-shard="compare-plans=false" | FileCheck %s --check-prefixes=CHECK,PAID
// RUN: sed 's/flops = 1.0e9, //' %s | shard-opt - --spmd-auto-shard="compare-plans=false" | FileCheck %s --check-prefix=FLOPS --implicit-check-not=hidden
// FLOPS: func.func @behind{{.*}}objective = 1.328800{{[0-9]*}}E-5
spmd.mesh @m = <["x"=4]> {alpha = [1.0e-6], beta = [1.0e-9], flops = 1.0e9, spmd.overlap = 1.0}

// The gather of %w passes during the first product.
// CHECK: func.func @behind
// PAID-SAME: objective = 2.754320{{[0-9]*}}E-4
// HIDDEN-SAME: hidden = 1.328800{{[0-9]*}}E-5 : f64, lower_bound = 2.621440{{.*}} objective = 2.621440{{.*}} status = "optimal"
// HALF-SAME: hidden = 6.644000{{[0-9]*}}E-6 : f64, lower_bound = 2.687880{{.*}} objective = 2.687880{{.*}} status = "optimal"
func.func @behind(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %v: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// %w is needed at once.
// CHECK: func.func @needed
// PAID-SAME: objective = 2.754320{{[0-9]*}}E-4
// HIDDEN-SAME: hidden = 0.000000e+00 : f64, lower_bound = 2.754320{{.*}} objective = 2.754320{{.*}} status = "optimal"
func.func @needed(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %v: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// Two gathers of 13.288 us behind one product of 16.384 us.
// CHECK: func.func @once
// HALF-SAME: hidden = 8.192000e-06 : f64, lower_bound = 3.4768{{.*}} objective = 3.4768{{.*}} status = "optimal"
// HIDDEN-SAME: hidden = 1.638400e-05 : f64, lower_bound = 2.6576{{.*}} objective = 2.6576{{.*}} status = "optimal"
func.func @once(%a: tensor<8x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %v: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %s: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %t: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %p = linalg.matmul ins(%a, %v : tensor<8x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %p, %s, %t : tensor<8x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// Where its result is gathered behind the product, tanh is shared among the devices.
// CHECK: func.func @shared
// CHECK: math.tanh
// PAID-SAME: spmd.factor_shardings = #spmd.factors<@m, [{}, {}]>
// HIDDEN-SAME: spmd.factor_shardings = #spmd.factors<@m, [{{.*}}"x"
func.func @shared(%z: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %v: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = math.tanh %z : tensor<64x64xf32>
  %b = linalg.matmul ins(%a, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %t, %b : tensor<64x64xf32>, tensor<64x64xf32>
}
