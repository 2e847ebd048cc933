// RUN: shard-opt %s --spmd-merge-reductions | FileCheck %s

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @sum
// CHECK-NEXT: [[A:%.*]] = arith.subf %arg0, %arg1
// CHECK-NEXT: [[B:%.*]] = arith.addf [[A]], %arg2
// CHECK-NEXT: [[R:%.*]] = spmd.all_reduce [[B]] sum <@m, {"x"}>
// CHECK-NEXT: return [[R]]
func.func @sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
  %2 = spmd.all_reduce %c sum <@m, {"x"}> : tensor<8xf32>
  %3 = arith.subf %0, %1 : tensor<8xf32>
  %4 = arith.addf %3, %2 : tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Not over other axes, of another kind, one that others read, or with a value that is no sum; nor into a branch.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-8: spmd.all_reduce
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @apart(%p: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = spmd.all_reduce %b sum <@m, {"y"}> : tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  %3 = spmd.all_reduce %a max <@m, {"x"}> : tensor<8xf32>
  %4 = spmd.all_reduce %b max <@m, {"x"}> : tensor<8xf32>
  %5 = arith.addf %3, %4 : tensor<8xf32>
  %6 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %7 = arith.addf %6, %b : tensor<8xf32>
  %8 = arith.addf %6, %6 : tensor<8xf32>
  %9 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
  %10 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
  %11 = scf.if %p -> tensor<8xf32> {
    %12 = arith.addf %9, %10 : tensor<8xf32>
    scf.yield %12 : tensor<8xf32>
  } else {
    scf.yield %b : tensor<8xf32>
  }
  %13 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
  %14 = arith.mulf %13, %11 : tensor<8xf32>
  return %2, %5, %7, %8, %14 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// All-reduces that a loop adds and subtracts: out of two loops. An init other than zero is added afterwards.
// CHECK-LABEL: func.func @loop
// CHECK: arith.constant dense<0.000000e+00>
// CHECK-NEXT: [[Z:%.*]] = arith.constant dense<-0.000000e+00>
// CHECK-NEXT: [[L:%.*]]:2 = scf.for {{.*}} iter_args(%{{[^,]*}}, [[T:%.*]] = [[Z]])
// CHECK-NOT: spmd.
// CHECK: arith.subf [[T]], %arg1
// CHECK-NOT: spmd.
// CHECK: scf.yield
// CHECK-NOT: spmd.
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-DAG: [[R:%.*]] = spmd.all_reduce [[L]]#1
// CHECK-DAG: [[Q:%.*]] = arith.addf %arg2, [[R]]
// CHECK-DAG: [[S:%.*]] = spmd.all_reduce [[L]]#0
// CHECK: return [[S]], [[Q]]
func.func @loop(%n: index, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %t = %b) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
    %1 = arith.subf %t, %0 : tensor<8xf32>
    %2 = scf.for %j = %c0 to %i step %c1 iter_args(%u = %z) -> tensor<8xf32> {
      %3 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
      %4 = arith.addf %3, %u : tensor<8xf32>
      scf.yield %4 : tensor<8xf32>
    }
    %5 = arith.addf %s, %2 : tensor<8xf32>
    scf.yield %5, %1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Not where the sum is read on the way, is taken from what comes, or goes through a branch.
// CHECK-LABEL: func.func @stays
// CHECK: scf.for
// CHECK-COUNT-3: spmd.all_reduce
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @stays(%p: i1, %n: index, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %b, %t = %b, %u = %b) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
    %1 = arith.addf %s, %0 : tensor<8xf32>
    %m = arith.negf %s : tensor<8xf32>
    %2 = spmd.all_reduce %m sum <@m, {"x"}> : tensor<8xf32>
    %3 = arith.subf %2, %t : tensor<8xf32>
    %4 = scf.if %p -> tensor<8xf32> {
      %5 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
      %6 = arith.addf %u, %5 : tensor<8xf32>
      scf.yield %6 : tensor<8xf32>
    } else {
      scf.yield %u : tensor<8xf32>
    }
    scf.yield %1, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
}
