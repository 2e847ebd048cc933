// A reshard in a loop costs as often as it runs: the small value that changes in every iteration, or the large one that
// is brought there once, before the loop.
// RUN: shard-opt %s --spmd-propagate=plan=propagation | FileCheck %s -enable-var-scope
// RUN: shard-opt %s --spmd-propagate="trip-count=10 plan=propagation" | FileCheck %s -enable-var-scope --check-prefix=FEW
// RUN: shard-opt %s --spmd-default-pipeline="trip-count=10 plan=propagation" | FileCheck %s -enable-var-scope --check-prefix=LOCAL
// RUN: shard-opt %s --spmd-explain="value=sum trip-count=10 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: not shard-opt %s --spmd-propagate=trip-count=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not shard-opt %s --spmd-explain="trip-count=-1 plan=propagation" 2>&1 | FileCheck %s --check-prefix=MINUS
// RUN: not shard-compile %s --trip-count=0 -o %t 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: shard-run %s --random-inputs=1 --verify --range=n=3:4
// RUN: shard-run %s --random-inputs=1 --verify --range=n=3:4 --compile-option=--trip-count=10

// ZERO: error: trip-count=0, expected a positive number
// MINUS: error: trip-count=-1, expected a positive number

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
spmd.mesh @m = <["x"=2, "y"=2]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0, 1.0]}

// An unknown trip count: 100, or the value of the option.
// CHECK-LABEL: func.func @unknown
// CHECK: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"y", ?}, {?}]>]
// FEW-LABEL: func.func @unknown
// FEW: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// LOCAL-LABEL: func.func @unknown
// LOCAL: scf.for
// LOCAL: spmd.collective_permute {{.*}} : tensor<32xf32>
// LOCAL: linalg.generic
// EXPLAIN: dim 0 has "x"
func.func @unknown(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %b: tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>},
                   %n: index {spmd.name = "n"}) -> (tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = scf.for %k = %c0 to %n step %c1 iter_args(%v = %b) -> tensor<64xf32> {
    %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%a, %v : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.subf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32> loc("sum")
    %t = linalg.reduce { arith.maximumf } ins(%r : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
    scf.yield %t : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Bounds that are known count: two iterations do not pay for the large value.
// CHECK-LABEL: func.func @known
// CHECK: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// FEW-LABEL: func.func @known
// FEW: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
func.func @known(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                 %b: tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> (tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = scf.for %k = %c0 to %c4 step %c2 iter_args(%v = %b) -> tensor<64xf32> {
    %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%a, %v : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.subf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    %t = linalg.reduce { arith.maximumf } ins(%r : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
    scf.yield %t : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Loops in loops multiply: 10 times 10.
// CHECK-LABEL: func.func @nested
// CHECK: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"y", ?}, {?}]>]
// FEW-LABEL: func.func @nested
// FEW: linalg.generic {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"y", ?}, {?}]>]
func.func @nested(%a: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                  %b: tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> (tensor<64xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %z = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = scf.for %k = %c0 to %c10 step %c1 iter_args(%u = %b) -> tensor<64xf32> {
    %1 = scf.for %l = %c0 to %c10 step %c1 iter_args(%v = %u) -> tensor<64xf32> {
      %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
          ins(%a, %v : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %s = arith.subf %x, %y : f32
        linalg.yield %s : f32
      } -> tensor<64x64xf32>
      %t = linalg.reduce { arith.maximumf } ins(%r : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
      scf.yield %t : tensor<64xf32>
    }
    scf.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
