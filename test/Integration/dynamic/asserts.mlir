// What a program states while it runs ends the step on every rank where it does not hold, at the place where it stands; also the checks that partition writes.
// REQUIRES: shard-run
// RUN: shard-compile %s -o %t --with-reference
// RUN: shard-run %t --function holds --random-inputs=1 --verify=exact
// RUN: not shard-run %t --function stated --random-inputs=1 2>&1 | FileCheck %s --check-prefix=STATED
// RUN: not shard-run %t --function looped --random-inputs=1 2>&1 | FileCheck %s --check-prefix=LOOPED
// RUN: not shard-run %t --function odd --random-inputs=1 2>&1 | FileCheck %s --check-prefix=ODD

spmd.mesh @m = <["x"=2]>

func.func @holds(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [1, 9]}, %i: tensor<i32> {spmd.range = [3, 4]}) -> tensor<4x6xi32> {
  %n = tensor.extract %i[] : tensor<i32>
  %c3 = arith.constant 3 : i32
  %is = arith.cmpi eq, %n, %c3 : i32
  cf.assert %is, "expected 3"
  %0 = tensor.cast %a : tensor<4x6xi32> to tensor<?x6xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {}]> : tensor<?x6xi32>
  %2 = arith.addi %1, %1 : tensor<?x6xi32>
  %3 = tensor.cast %2 : tensor<?x6xi32> to tensor<4x6xi32>
  return %3 : tensor<4x6xi32>
}

// STATED: error: function 'stated': rank {{[01]}}: {{.*}}asserts.mlir:[[@LINE+5]]:3: expected 4, not 3
func.func @stated(%a: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [1, 9]}, %i: tensor<i32> {spmd.range = [3, 4]}) -> tensor<4xi32> {
  %n = tensor.extract %i[] : tensor<i32>
  %c4 = arith.constant 4 : i32
  %is = arith.cmpi eq, %n, %c4 : i32
  cf.assert %is, "expected 4, not 3"
  %0 = arith.addi %a, %a : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// LOOPED: asserts.mlir:[[@LINE+9]]:5: expected less than 5
func.func @looped(%a: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [1, 2]}) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %a) -> tensor<4xi32> {
    %c5 = arith.constant 5 : index
    %is = arith.cmpi ult, %i, %c5 : index
    %s = arith.addi %v, %v : tensor<4xi32>
    cf.assert %is, "expected less than 5"
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// ODD: size of dim 0 of tensor<?x6xi32> is not a multiple of 2, as its sharding {"x"} requires
func.func @odd(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [1, 9]}) -> tensor<5x6xi32> {
  %0 = tensor.cast %a : tensor<5x6xi32> to tensor<?x6xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {}]> : tensor<?x6xi32>
  %2 = arith.addi %1, %1 : tensor<?x6xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{}, {"x"}]> : tensor<?x6xi32>
  %4 = tensor.cast %3 : tensor<?x6xi32> to tensor<5x6xi32>
  return %4 : tensor<5x6xi32>
}
