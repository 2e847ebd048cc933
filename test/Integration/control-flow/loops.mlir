// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// VERIFY: 3 functions, 5 results, all equal

// Loop-carried values have one layout; collectives stand where they are needed, also in loops and branches.

spmd.mesh @m = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @for
// CHECK: scf.for {{.*}} -> (tensor<4x8xf32>)
// CHECK: spmd.reduce_scatter {{.*}} tensor<4x16xf32> -> tensor<4x8xf32>
// CHECK-NOT: spmd.
// CHECK: return
func.func @for(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}, %w: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) -> tensor<8x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<8x16xf32> {
    %h = linalg.matmul ins(%a, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
    %t = math.tanh %h : tensor<8x16xf32>
    scf.yield %t : tensor<8x16xf32>
  }
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @branch
// CHECK: scf.if {{.*}} -> (tensor<4x8xf32>, tensor<8x4xf32>)
// CHECK: spmd.reduce_scatter
// CHECK: else
// CHECK-NOT: spmd.
// CHECK: return
func.func @branch(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %n: tensor<i32> {spmd.range = [0, 5]}, %w: tensor<16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %s = tensor.extract %n[] : tensor<i32>
  %c2 = arith.constant 2 : i32
  %c = arith.cmpi slt, %s, %c2 : i32
  %r:2 = scf.if %c -> (tensor<8x16xf32>, tensor<16x8xf32>) {
    %h = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<8x16xf32>) -> tensor<8x16xf32>
    %q = linalg.transpose ins(%h : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) permutation = [1, 0]
    scf.yield %h, %q : tensor<8x16xf32>, tensor<16x8xf32>
  } else {
    %u = arith.addf %x, %x : tensor<8x16xf32>
    %q = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) permutation = [1, 0]
    scf.yield %u, %q : tensor<8x16xf32>, tensor<16x8xf32>
  }
  return %r#0, %r#1 : tensor<8x16xf32>, tensor<16x8xf32>
}

// CHECK-LABEL: func.func @while
// CHECK: scf.while {{.*}} (tensor<4x6xf32>, tensor<i32>) -> (tensor<4x6xf32>, tensor<i32>)
// CHECK-NOT: spmd.{{[a-z_]*}} %
// CHECK: return
func.func @while(%x: tensor<8x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %n: tensor<i32> {spmd.range = [2, 5]}) -> (tensor<8x12xf32>, tensor<i32>) {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r:2 = scf.while (%a = %x, %k = %n) : (tensor<8x12xf32>, tensor<i32>) -> (tensor<8x12xf32>, tensor<i32>) {
    %s = tensor.extract %k[] : tensor<i32>
    %c = arith.cmpi sgt, %s, %zero : i32
    scf.condition(%c) %a, %k : tensor<8x12xf32>, tensor<i32>
  } do {
  ^bb0(%a: tensor<8x12xf32>, %k: tensor<i32>):
    %d = arith.constant dense<1> : tensor<i32>
    %k1 = arith.subi %k, %d : tensor<i32>
    %b = arith.addf %a, %a : tensor<8x12xf32>
    %p = spmd.propagation_barrier %b allow = none : tensor<8x12xf32>
    %q = math.tanh %p : tensor<8x12xf32>
    scf.yield %q, %k1 : tensor<8x12xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<8x12xf32>, tensor<i32>
}

