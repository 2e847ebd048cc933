// RUN: shard-opt %s --spmd-overlap-collectives=min-hidden-fraction=0 | FileCheck %s
// RUN: shard-opt %s --spmd-overlap-collectives | FileCheck %s --check-prefix=SHARE
// RUN: not shard-opt %s --spmd-overlap-collectives=min-hidden-fraction=-1 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: min-hidden-fraction=-1{{.*}}, expected 0 or more

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2, "y"=2]>

// The start is after the op that defines the operand, the done before the first user; independent ops are in between.
// CHECK-LABEL: func.func @beside
// CHECK: [[E:%.*]] = math.exp
// CHECK-NEXT: [[S:%.*]] = spmd.start {
// CHECK-NEXT: spmd.all_reduce [[E]]
// CHECK: } : tensor<8xf32>
// CHECK-NEXT: math.sin
// CHECK-NEXT: arith.negf
// CHECK-NEXT: [[D:%.*]] = spmd.done [[S]] : tensor<8xf32>
// CHECK-NEXT: arith.addf [[D]]
// By default, too little compute to split the collective.
// SHARE-LABEL: func.func @beside
// SHARE-NOT: spmd.start
// SHARE: return
func.func @beside(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  %1 = math.sin %b : tensor<8xf32>
  %2 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8xf32>
  %3 = arith.negf %1 : tensor<8xf32>
  %4 = arith.addf %2, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Nothing to do meanwhile: fills, views and other collectives are no work.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: spmd.start
// CHECK: return
func.func @nothing(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  %2 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8xf32>
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %3 = spmd.all_reduce %0 max <@m, {"y"}> : tensor<8xf32>
  %4 = arith.addf %2, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// What travels together is split together.
// CHECK-LABEL: func.func @together
// CHECK: spmd.start {
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.all_reduce
// CHECK: math.sin
// CHECK-NEXT: spmd.done
// CHECK-NEXT: arith.addf
func.func @together(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %1 = math.sin %b : tensor<8xf32>
  %s:2 = spmd.start {
    %2 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
    %3 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
    spmd.return %2, %3 : tensor<8xf32>, tensor<8xf32>
  } : tensor<8xf32>, tensor<8xf32>
  %d:2 = spmd.done %s#0, %s#1 : tensor<8xf32>, tensor<8xf32>
  %4 = arith.addf %d#0, %1 : tensor<8xf32>
  %5 = arith.addf %d#1, %4 : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// In a branch the start and the done stay in it; before it both stay in front.
// CHECK-LABEL: func.func @branch
// CHECK: spmd.start {
// CHECK: math.sin
// CHECK-NEXT: spmd.done
// CHECK-NEXT: scf.if
// CHECK-NOT: spmd.start
// CHECK: return
func.func @branch(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = math.sin %b : tensor<8xf32>
  %2 = scf.if %c -> tensor<8xf32> {
    %3 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<8xf32>
    %4 = arith.addf %0, %3 : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  } else {
    scf.yield %1 : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}

// Not earlier than hides it: to gather 8 MB takes 0.43 ms, each product a little more than half as long.
// SHARE-LABEL: func.func @far
// SHARE: linalg.matmul
// SHARE-NEXT: linalg.matmul
// SHARE-NEXT: linalg.matmul
// SHARE-NEXT: [[S:%.*]] = spmd.start {
// SHARE-NEXT: spmd.all_gather %arg0
// SHARE: linalg.matmul
// SHARE-NEXT: linalg.matmul
// SHARE-NEXT: spmd.done [[S]]
// SHARE-NEXT: linalg.matmul
func.func @far(%w: tensor<512x2048xf32>, %x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x2048xf32> {
  %z = tensor.empty() : tensor<1024x1024xf32>
  %o = tensor.empty() : tensor<1024x2048xf32>
  %g = spmd.all_gather %w <@m, [{"x"}, {}]> : tensor<512x2048xf32> -> tensor<1024x2048xf32>
  %1 = linalg.matmul ins(%x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = linalg.matmul ins(%1, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %3 = linalg.matmul ins(%2, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %4 = linalg.matmul ins(%3, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %5 = linalg.matmul ins(%4, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%z : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %6 = linalg.matmul ins(%5, %g : tensor<1024x1024xf32>, tensor<1024x2048xf32>) outs(%o : tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  return %6 : tensor<1024x2048xf32>
}
}
