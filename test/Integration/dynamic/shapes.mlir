// Arguments of dynamic size that get their sizes when the program is compiled: what is
// computed from them is static then, also where it goes through branches, loops,
// constraints and calls, and may be moved and cut unevenly as anything else.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--shapes=x=8x12,y=6
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--shapes=x=7x12,y=6 --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--shapes=x=1x12,y=5
// RUN: shard-opt %s --inline --spmd-specialize-shapes=shapes=x=7x12,y=6 | FileCheck %s
// RUN: not shard-compile %s -o %t.bundle --shapes=x=7x12,z=6 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not shard-compile %s -o %t.bundle --shapes=x=7x11,y=6 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not shard-compile %s -o %t.bundle --shapes=x=7xq,y=6 2>&1 | FileCheck %s --check-prefix=NUMBER
// What gets no size is known when the program runs.
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--shapes=x=7x12 --size=y.0=6

// UNKNOWN: error: no public function has an argument 'z', expected a spmd.name, a spmd.weight or arg0, arg1, ...
// OTHER: shapes.mlir:{{[0-9:]+}} error: argument 'x' has type 'tensor<?x12xi32>', expected one that the given shape 7x11 fits
// NUMBER: error: shape 'x=7xq', expected NAME=SIZExSIZE...

spmd.mesh @m = <["x"=2, "y"=3]>

func.func private @double(%a: tensor<?x12xi32>) -> tensor<?x12xi32> {
  %0 = arith.addi %a, %a : tensor<?x12xi32>
  return %0 : tensor<?x12xi32>
}

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<7x12xi32>
// CHECK-SAME: -> (tensor<7x6xi32>, tensor<7x12xi32>, tensor<12xi32>, tensor<6xi32>)
// CHECK-NOT: tensor.dim
// CHECK: linalg.matmul {{.*}} -> tensor<7x6xi32>
func.func @main(%a: tensor<?x12xi32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
                %w: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 9]},
                %y: tensor<?xi32> {spmd.name = "y", spmd.range = [-9, 9]}, %k: tensor<1xi32> {spmd.range = [0, 2]})
    -> (tensor<?x6xi32>, tensor<?x12xi32>, tensor<12xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0 : i32
  %b = func.call @double(%a) : (tensor<?x12xi32>) -> tensor<?x12xi32>
  %d = tensor.dim %b, %c0 : tensor<?x12xi32>
  %e = tensor.empty(%d) : tensor<?x6xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x6xi32>) -> tensor<?x6xi32>
  %r = linalg.matmul ins(%b, %w : tensor<?x12xi32>, tensor<12x6xi32>) outs(%f : tensor<?x6xi32>) -> tensor<?x6xi32>
  %s = spmd.with_sharding_constraint %r <@m, [{}, {"x"}]> : tensor<?x6xi32>
  %first = tensor.extract %k[%c0] : tensor<1xi32>
  %yes = arith.cmpi eq, %first, %z : i32
  %t = scf.if %yes -> tensor<?x12xi32> {
    %0 = arith.muli %b, %a : tensor<?x12xi32>
    scf.yield %0 : tensor<?x12xi32>
  } else {
    %0 = arith.subi %a, %b : tensor<?x12xi32>
    scf.yield %0 : tensor<?x12xi32>
  }
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %t) -> tensor<?x12xi32> {
    %0 = arith.addi %v, %v : tensor<?x12xi32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<?x12xi32>) {
    ^bb0(%o: i32):
      %2 = arith.addi %o, %z : i32
      linalg.yield %2 : i32
    } -> tensor<?x12xi32>
    scf.yield %1 : tensor<?x12xi32>
  }
  %zs = arith.constant dense<0> : tensor<12xi32>
  %q = linalg.reduce { arith.addi } ins(%l : tensor<?x12xi32>) outs(%zs : tensor<12xi32>) dimensions = [0]
  %n = arith.index_cast %d : index to i32
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : tensor<?xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %0 = arith.addi %o, %j : i32
    %1 = arith.addi %0, %n : i32
    linalg.yield %1 : i32
  } -> tensor<?xi32>
  return %s, %l, %q, %g : tensor<?x6xi32>, tensor<?x12xi32>, tensor<12xi32>, tensor<?xi32>
}
