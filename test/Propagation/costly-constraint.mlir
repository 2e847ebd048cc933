// The remark names the user shardings that make the plan slower, with the time without each; nothing for those that do
// not, and nothing where the plan has no communication.
// RUN: shard-opt %s --spmd-propagate --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-auto-shard --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: costly-constraint |
// CHECK: [[@LINE+7]]:{{.*}}costly-constraint | Category:spmd | Function=main | Remark="the sharding of argument w, [{"x"}, {}], costs 5.301E-05 s: collectives take 7.874E-05 s, and 2.573E-05 s without it, where the search chooses [{}, {}]"
// CHECK: [[@LINE+5]]:{{.*}}costly-constraint{{.*}} argument x, {{.*}} costs 2.287E-05 s
// CHECK: [[@LINE+6]]:{{.*}}costly-constraint{{.*}} argument b, {{.*}} costs 3.294E-05 s
// CHECK-NOT: costly-constraint |
spmd.mesh @mesh = <["x"=8]>
func.func @main(
    %x: tensor<64x1024xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<1024x1024xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<64x1024xf32> {spmd.name = "b", spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<64x1024xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = linalg.matmul ins(%x, %w : tensor<64x1024xf32>, tensor<1024x1024xf32>) outs(%b : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}
func.func @free(%a: tensor<64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<64xf32> {
  %0 = arith.negf %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}
