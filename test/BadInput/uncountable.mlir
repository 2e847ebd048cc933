// What no machine could count: one error, in whatever pass it comes first.
// RUN: split-file %s %t
// RUN: %python %S/Inputs/one_error.py shard-opt %t/size.mlir --spmd-propagate | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/one_error.py shard-opt %t/size.mlir --spmd-auto-shard | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/one_error.py shard-opt %t/size.mlir --spmd-report | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/one_error.py shard-opt %t/size.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/one_error.py --no=%t.bundle shard-compile %t/size.mlir -o %t.bundle | FileCheck %s --check-prefix=SIZE
// RUN: %python %S/Inputs/one_error.py shard-opt %t/mesh.mlir --spmd-propagate | FileCheck %s --check-prefix=MESH
// RUN: shard-opt %t/most.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=MOST
// SIZE: size.mlir:3:8: error: 'tensor<536870912x1073741824x2xf32>' is too large, expected at most 2^60 bytes
// MESH: mesh.mlir:1:1: error: 'spmd.mesh' op the mesh has more than 2147483647 devices, expected smaller axes
// MOST: tensor<134217728x1073741824xf32>

//--- size.mlir
spmd.mesh @m = <["x"=2]>
func.func @f(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<536870912x1073741824x2xf32>
  return %a : tensor<4xf32>
}
//--- mesh.mlir
spmd.mesh @m = <["x"=2147483648, "y"=2147483648]>
func.func @f(%a: tensor<4xf32>) {
  return
}
//--- most.mlir
spmd.mesh @m = <["x"=2]>
func.func @f(%a: tensor<268435456x1073741824xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<268435456x1073741824xf32> {
  %b = math.tanh %a : tensor<268435456x1073741824xf32>
  return %b : tensor<268435456x1073741824xf32>
}
