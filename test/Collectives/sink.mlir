// RUN: shard-opt %s --spmd-sink-collectives | FileCheck %s

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2, "y"=2]>

// What makes a value larger stands before its first user, a view of it with it.
// CHECK-LABEL: func.func @sinks
// CHECK: math.exp
// CHECK-NEXT: [[N:%.*]] = arith.negf
// CHECK-NEXT: [[G:%.*]] = spmd.all_gather %arg0
// CHECK-NEXT: [[V:%.*]] = tensor.expand_shape [[G]]
// CHECK-NEXT: arith.addf [[V]], [[N]]
// CHECK-NEXT: arith.mulf [[V]]
func.func @sinks(%a: tensor<8xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<16xf32>
  %v = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %1 = math.exp %b : tensor<4x4xf32>
  %2 = arith.negf %1 : tensor<4x4xf32>
  %3 = arith.addf %v, %2 : tensor<4x4xf32>
  %4 = arith.mulf %v, %3 : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// A chain of gathers sinks together; it is not duplicated for two users.
// CHECK-LABEL: func.func @chain
// CHECK: math.exp
// CHECK-NEXT: spmd.all_gather
// CHECK-NEXT: spmd.all_gather
// CHECK-NEXT: arith.addf
// CHECK-NOT: spmd.all_gather
// CHECK: return
func.func @chain(%a: tensor<4xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<4xf32> -> tensor<8xf32>
  %1 = spmd.all_gather %0 <@m, [{"y"}]> : tensor<8xf32> -> tensor<16xf32>
  %2 = math.exp %b : tensor<16xf32>
  %3 = arith.addf %1, %2 : tensor<16xf32>
  %4 = arith.mulf %1, %3 : tensor<16xf32>
  return %4 : tensor<16xf32>
}

// A collective that shrinks a value rises to right after the last other use of its operand.
// CHECK-LABEL: func.func @rises
// CHECK: [[E:%.*]] = math.exp
// CHECK-NEXT: [[U:%.*]] = arith.negf [[E]]
// CHECK-NEXT: spmd.reduce_scatter [[E]]
// CHECK-NEXT: math.sin
// CHECK: return
func.func @rises(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = math.exp %a : tensor<8xf32>
  %u = arith.negf %0 : tensor<8xf32>
  %1 = math.sin %b : tensor<4xf32>
  %2 = arith.negf %1 : tensor<4xf32>
  %3 = spmd.reduce_scatter %0 sum <@m, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  %4 = arith.addf %2, %3 : tensor<4xf32>
  return %4, %u : tensor<4xf32>, tensor<8xf32>
}

// Not where its operand lives on (an argument, or read later): then it sinks.
// CHECK-LABEL: func.func @lives_on
// CHECK: [[E:%.*]] = math.exp
// CHECK-NEXT: math.sin
// CHECK-NEXT: [[T:%.*]] = spmd.reduce_scatter [[E]]
// CHECK-NEXT: [[S:%.*]] = spmd.all_slice %arg0
// CHECK-NEXT: arith.addf [[S]], [[T]]
func.func @lives_on(%a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
  %0 = math.exp %a : tensor<8xf32>
  %2 = spmd.all_slice %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  %3 = spmd.reduce_scatter %0 sum <@m, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  %1 = math.sin %b : tensor<4xf32>
  %4 = arith.addf %2, %3 : tensor<4xf32>
  %5 = arith.negf %0 : tensor<8xf32>
  return %4, %1, %5 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
}

// Before a branch or a loop, not into it.
// CHECK-LABEL: func.func @branch
// CHECK: math.exp
// CHECK-NEXT: spmd.all_gather
// CHECK-NEXT: scf.if
// CHECK-NOT: spmd.
// CHECK: return
func.func @branch(%c: i1, %a: tensor<8xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<16xf32>
  %1 = math.exp %b : tensor<16xf32>
  %2 = scf.if %c -> tensor<16xf32> {
    %3 = arith.addf %0, %1 : tensor<16xf32>
    scf.yield %3 : tensor<16xf32>
  } else {
    scf.yield %1 : tensor<16xf32>
  }
  return %2 : tensor<16xf32>
}

// A user in a later block counts as the end of this one.
// CHECK-LABEL: func.func @blocks
// CHECK: math.exp
// CHECK-NEXT: spmd.all_gather
// CHECK-NEXT: cf.br
func.func @blocks(%a: tensor<8xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<16xf32>
  %1 = math.exp %b : tensor<16xf32>
  cf.br ^next
^next:
  %2 = arith.addf %0, %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}
}
