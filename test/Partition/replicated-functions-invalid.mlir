// RUN: not shard-opt %s --spmd-propagate --spmd-insert-reshards 2>&1 | FileCheck %s

// The operand of a call cannot be resharded in an op that computes on replicated values.
// CHECK: replicated-functions-invalid.mlir:[[#@LINE+8]]:{{.*}} error: call of @cut in the body of scf.execute_region, which computes on replicated values, expected a callee whose arguments and results are replicated
// CHECK: note: callee is here
// CHECK-NOT: error
spmd.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xi32>, %c: i1) -> tensor<8xi32> {
  %0 = scf.execute_region -> tensor<8xi32> {
    cf.cond_br %c, ^a, ^b(%a : tensor<8xi32>)
  ^a:
    %r = func.call @cut(%a) : (tensor<8xi32>) -> tensor<8xi32>
    cf.br ^b(%r : tensor<8xi32>)
  ^b(%s: tensor<8xi32>):
    scf.yield %s : tensor<8xi32>
  }
  return %0 : tensor<8xi32>
}
func.func @cut(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xi32> {
  return %a : tensor<8xi32>
}
