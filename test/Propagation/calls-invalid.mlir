// RUN: shard-opt %s --spmd-propagate --verify-diagnostics

spmd.mesh @m = <["x"=2]>

// expected-note@below {{callee is here}}
func.func private @even(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @odd(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @odd(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{call of @even is recursive, expected calls without recursion}}
  %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = call @even(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
