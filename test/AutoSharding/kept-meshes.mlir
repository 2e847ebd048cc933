// The default plan that is kept needs a mesh that only its propagation has added. It comes along.
// RUN: shard-opt %s --spmd-auto-shard | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --auto-shard --compile-option=--opt-level=0 | FileCheck %s --check-prefix=SAME
// CHECK: spmd.mesh @m = <["y"=3, "z"=2]>
// CHECK: spmd.mesh @m_common = <["d0"=6]>
// CHECK: func.func @conv(%{{.*}}: tensor<6x3x6xi64> {{.*}}@m_common
// CHECK-SAME: kept = "default plan"
// SAME: verify: 1 function, 1 result, all equal bit by bit
spmd.mesh @m = <["y"=3, "z"=2]>
func.func @conv(%arg0: tensor<6x3x6xi64> {spmd.range = [-3, 4]}, %arg1: tensor<3x1xi64> {spmd.range = [-3, 4]}) -> (tensor<12x3x3xi64> {spmd.sharding = #spmd.sharding<@m, [{"y", "z"}, {}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<6x3x3xi64>
  %0 = linalg.depthwise_conv_1d_ncw_cw {dilations = dense<2> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}
      ins(%arg0, %arg1 : tensor<6x3x6xi64>, tensor<3x1xi64>) outs(%zero : tensor<6x3x3xi64>) -> tensor<6x3x3xi64>
  %concat = tensor.concat dim(0) %0, %0 : (tensor<6x3x3xi64>, tensor<6x3x3xi64>) -> tensor<12x3x3xi64>
  return %concat : tensor<12x3x3xi64>
}
