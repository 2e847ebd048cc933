// LLVM 22 crashes in its cost model for an isnan of vectors beside a sincos: the code is compiled without the passes that ask it,
// and a warning names each.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact 2>&1 | FileCheck %s
// CHECK: llvm-crash.mlir:[[#@LINE+5]]:1: warning: LLVM crashed in its VectorCombinePass; this code is compiled without that pass
// CHECK: verify: 1 function, 2 results, all equal bit by bit

// RUN: shard-compile %s --emit=llvm-ir 2>&1 | FileCheck %s --check-prefix=IR
// IR: define {{.*}}@program_0
func.func @functions(%an: tensor<8x8xi32> {spmd.range = [-12, 12]}, %bn: tensor<8x8xi32> {spmd.range = [4, 16]}) -> (tensor<8x8xi1>, tensor<8x8xf32>) {
  %quarter = arith.constant dense<0.25> : tensor<8x8xf32>
  %af = arith.sitofp %an : tensor<8x8xi32> to tensor<8x8xf32>
  %a = arith.mulf %af, %quarter : tensor<8x8xf32>
  %bf = arith.sitofp %bn : tensor<8x8xi32> to tensor<8x8xf32>
  %b = arith.mulf %bf, %quarter : tensor<8x8xf32>
  %u = arith.divf %a, %b : tensor<8x8xf32>
  %isnan = math.isnan %u : tensor<8x8xf32>
  %si, %co = math.sincos %a : tensor<8x8xf32>
  return %isnan, %co : tensor<8x8xi1>, tensor<8x8xf32>
}
