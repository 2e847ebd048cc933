// What upstream does not lower is an error at the op.
// RUN: not shard-compile %s -o %t.bundle 2>&1 | FileCheck %s
func.func @custom(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tosa-invalid.mlir:[[@LINE+1]]:8: error: {{.*}}'tosa.custom'
  %0 = tosa.custom %a {domain_name = "d", operator_name = "o", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
