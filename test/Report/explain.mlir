// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain=plan=propagation -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="value=sum plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="value=%%0 conflicts=basic" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BASIC
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="value=explain.mlir:63 plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="value=sum format=json plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="value=sum format=remarks plan=propagation" --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not shard-opt %s --allow-unregistered-dialect --spmd-explain="value=sun plan=propagation" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-explain="output=%t plan=propagation" -o %t.ir
// RUN: shard-opt %s --allow-unregistered-dialect -o %t.plain && diff %t.ir %t.plain

// CHECK: @stops
// CHECK: %arg1 (closed) : tensor<8x8xf32>  [{"x"}, {}]
// CHECK: dim 1 lacks "y": the dim is closed (arith.addf at {{.*}}explain.mlir:
// CHECK: %arg2 (kept)
// CHECK: dim 1 lacks "y": the axis must not be used (replicated)
// CHECK: %arg4 (busy)
// CHECK: dim 0 lacks "x": the axis is in use on dim 1
// CHECK: %3 : tensor<8x8xf32>
// CHECK: dim 1 lacks "y": spmd.propagation_barrier blocks propagation in this direction
// CHECK: %5 : tensor<8x8xf32>
// CHECK: lacks "y": linalg.softmax replicates dim 1 of %0
// CHECK: @more
// CHECK: %arg2 (c) : tensor<6x6xf32>
// CHECK: lacks "x": test.opaque has no sharding rule
// CHECK: %0 : tensor<16x6xf32>  [{"y", ?}, {?}]
// CHECK: dim 0 lacks "x": lost a conflict at arith.addf: 2.00E-05 s as chosen, 2.00E-05 s with it
// CHECK: %expanded : tensor<3x4xf32>
// CHECK: lacks "y": tensor.expand_shape cannot forward these axes of dim 0 of %arg3 (d)
// CHECK: %extracted_slice : tensor<3xf32>
// CHECK: lacks "x": sharded by 2, size 3 would be padded by more than a quarter

// ONE: %2 (sum) : tensor<8x8xf32>  [{"x", ?}, {"y", ?}]
// ONE-NEXT: dim 0 has "x"
// ONE-NEXT: from dim 0 of %1 through arith.addf at sum
// ONE-NEXT: from dim 0 of %0 through arith.addf at
// ONE-NEXT: from dim 0 of %arg0 (a) through arith.addf at
// ONE-NEXT: given on argument %arg0 (a)
// ONE-NOT: tensor<

// BASIC: the operands and results of arith.addf conflict, and conflicts=basic resolves no conflict

// LINE: %0 : tensor<8x8xf32>
// LINE-NOT: tensor<

// JSON: "name": "%2 (sum)"
// JSON: "sharding": "[{\"x\", ?}, {\"y\", ?}]"
// JSON: "dim": 0
// JSON-NEXT: "axis": "\"x\""
// JSON: "given": "argument %arg0 (a)"

// REMARK: remark: loc("sum"): [Passed] explain {{.*}}dim 0 has "x", through 3 ops, as given on argument %arg0 (a)
// REMARK: remark: loc("sum"): [Missed] explain-stopped {{.*}}dim 1 lacks "x": the axis is in use on dim 0

// UNKNOWN: error: no value is called "sun", expected for instance "sum"

spmd.mesh @m = <["x"=2, "y"=4]>
func.func @stops(%a: tensor<8x8xf32> {spmd.name = "a", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
                 %closed: tensor<8x8xf32> {spmd.name = "closed", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                 %kept: tensor<8x8xf32> {spmd.name = "kept", spmd.sharding = #spmd.sharding<@m, [{?}, {?}], replicated = {"y"}>},
                 %w: tensor<8x6xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>},
                 %busy: tensor<8x8xf32> {spmd.name = "busy", spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>})
    -> (tensor<8x8xf32>, tensor<8x6xf32>) {
  %0 = arith.addf %a, %closed : tensor<8x8xf32>
  %1 = arith.addf %0, %kept : tensor<8x8xf32>
  %2 = arith.addf %1, %busy : tensor<8x8xf32> loc("sum")
  %b = spmd.propagation_barrier %2 allow = none : tensor<8x8xf32>
  %3 = math.tanh %b : tensor<8x8xf32>
  %4 = linalg.softmax dimension(1) ins(%0 : tensor<8x8xf32>) outs(%3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = linalg.matmul ins(%2, %w : tensor<8x8xf32>, tensor<8x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %4, %5 : tensor<8x8xf32>, tensor<8x6xf32>
}

func.func @more(%a: tensor<16x6xf32> {spmd.name = "p", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>},
                %b: tensor<16x6xf32> {spmd.name = "q", spmd.sharding = #spmd.sharding<@m, [{"y"}, {?}]>},
                %c: tensor<6x6xf32> {spmd.name = "c"}, %d: tensor<12xf32> {spmd.name = "d", spmd.sharding = #spmd.sharding<@m, [{"y"}]>},
                %e: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>})
    -> (tensor<16x6xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<6x6xf32>) {
  %0 = arith.addf %a, %b : tensor<16x6xf32>
  %1 = tensor.expand_shape %d [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  %2 = tensor.extract_slice %e[1] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %3 = "test.opaque"(%c, %e) : (tensor<6x6xf32>, tensor<8xf32>) -> tensor<6x6xf32>
  return %0, %1, %2, %3 : tensor<16x6xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<6x6xf32>
}
