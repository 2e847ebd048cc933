// Ops with a region of an unregistered dialect: replicated, as other ops without a rule. MLIR takes
// them for symbol tables, perhaps: meshes are found around them, and calls stay calls.
// RUN: split-file %s %t
// RUN: shard-opt %t/op.mlir --allow-unregistered-dialect --spmd-propagate 2>&1 | FileCheck %s --check-prefix=PROPAGATE
// RUN: shard-opt %t/op.mlir --allow-unregistered-dialect --spmd-default-pipeline 2>&1 | FileCheck %s --check-prefix=OP
// RUN: shard-opt %t/call.mlir --allow-unregistered-dialect --spmd-default-pipeline 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: shard-opt %t/op.mlir --allow-unregistered-dialect --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// PROPAGATE: warning: 1 ops without a sharding rule are replicated
// PROPAGATE: "a.b"(%arg0) ({
// PROPAGATE: spmd.shardings = [#spmd.sharding<@m, [{?}, {?}]>]
// OP: %[[WHOLE:.*]] = spmd.all_gather %arg0
// OP: "a.b"(%[[WHOLE]]) ({
// CALL: call.mlir:[[#]]:8: warning: calls are not inlined: an op with a region is not registered, and may have symbols of its own
// CALL: func.func private @[[COPY:.*]](%arg0: tensor<4x8xf32>
// CALL: spmd.all_gather %arg0
// CALL: call @[[COPY]](%arg0) : (tensor<4x8xf32>) -> tensor<8x8xf32>
// REPORT: all_gather {{.*}} 256 B

//--- op.mlir
spmd.mesh @m = <["x"=2]>
func.func @f(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = "a.b"(%a) ({
  ^bb0(%b: tensor<8x8xf32>):
    "a.r"(%b) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
//--- call.mlir
spmd.mesh @m = <["x"=2]>
func.func private @g(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "a.b"(%a) ({
  ^bb0(%b: tensor<8x8xf32>):
    "a.r"(%b) : (tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = math.exp %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @f(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = func.call @g(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
