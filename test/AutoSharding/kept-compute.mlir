// Where the mesh has `flops`, the times of plans as they run are those of collectives and of all compute, as in the
// objective: of the product, and of tanh by the bandwidth. With `spmd.overlap` a collective takes less by what is
// computed before its result is needed; as it runs, a slice needs the sum at once.
// RUN: shard-opt %s --spmd-auto-shard | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: sed 's/, bandwidth/, spmd.overlap = 1.0, bandwidth/' %s | shard-opt - --spmd-auto-shard | FileCheck %s --check-prefixes=CHECK,HIDDEN
// RUN: sed 's/, bandwidth = 1.0e9//' %s | shard-opt - --spmd-auto-shard | FileCheck %s --check-prefixes=CHECK,FLOPS
spmd.mesh @m = <["x"=2, "y"=2]> {flops = 1.0e9, bandwidth = 1.0e9}
// CHECK: func.func @main
// ALL-SAME: kept = "strategies by cost", kept_seconds = 4.17088{{.*}}objective = 4.17344{{.*}}searched_seconds = 4.17344
// HIDDEN-SAME: kept = "default plan", kept_seconds = 3.763200e-05{{.*}}objective = 3.12992{{.*}}searched_seconds = 4.13504
// FLOPS-SAME: kept = "strategies by cost", kept_seconds = 1.82496{{.*}}objective = 1.82752{{.*}}searched_seconds = 1.82752
func.func @main(%p: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<32x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %y: tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<8x16xf32>, tensor<64x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = linalg.matmul ins(%p, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t = math.tanh %y : tensor<64x64xf32>
  %a = spmd.with_sharding_constraint %r <@m, [{}, {}]> : tensor<8x16xf32>
  %b = spmd.with_sharding_constraint %a <@m, [{}, {"x"}]> : tensor<8x16xf32>
  %c = arith.mulf %b, %b : tensor<8x16xf32>
  return %c, %t : tensor<8x16xf32>, tensor<64x64xf32>
}
