// A broadcast scalar becomes a fill, rematerialized per layout: shardings do not propagate through it.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-decompose | FileCheck %s
// RUN: shard-opt %s --spmd-decompose=constants-only=true | FileCheck %s --check-prefix=CONSTANTS
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-opt %s --spmd-default-pipeline=auto-shard --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY
// VERIFY: verify: 1 function, 4 results, all equal
// REPORT: no collectives

spmd.mesh @m = <["x"=4]>
#id = affine_map<(d0, d1) -> (d0, d1)>
#s = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: @main
// CHECK: %[[C:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[C]] : f32)
// CHECK: %[[S:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
// CHECK: %[[VALUE:.*]] = linalg.fill ins(%[[S]] : f32)
// CHECK: arith.mulf %arg0, %[[FILL]]
// CHECK: arith.mulf %arg1, %[[FILL]]
// CHECK: arith.mulf %{{.*}}, %[[VALUE]]
// CONSTANTS: linalg.fill
// CONSTANTS-NOT: linalg.fill
func.func @main(%q: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %o: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %t: tensor<f32>)
  -> (tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
      tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %c = arith.constant dense<0.5> : tensor<f32>
  %e = tensor.empty() : tensor<16x16xf32>
  %b = linalg.generic {indexing_maps = [#s, #id], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<f32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%i: f32, %u: f32):
    linalg.yield %i : f32
  } -> tensor<16x16xf32>
  %n = math.exp %t : tensor<f32>
  %r = linalg.broadcast ins(%n : tensor<f32>) outs(%e : tensor<16x16xf32>) dimensions = [0, 1]
  %q1 = arith.mulf %q, %b : tensor<16x16xf32>
  %o1 = arith.mulf %o, %b : tensor<16x16xf32>
  %q2 = arith.mulf %q1, %r : tensor<16x16xf32>
  %o2 = arith.mulf %o1, %r : tensor<16x16xf32>
  return %q1, %o1, %q2, %o2 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
