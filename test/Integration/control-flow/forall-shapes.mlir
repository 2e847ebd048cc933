// Shapes and places of slices that iterations write, constraints in their bodies, regions in regions.
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--conflicts=basic --compile-option=--strided-shardings=forbid | FileCheck %s
// CHECK: all equal bit by bit
spmd.mesh @m = <["x"=2, "y"=3]>
// A constraint in the body, two writes to one output, init and result cut along the rows
func.func @twice(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 10]}) -> (tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = scf.forall (%i) in (4) shared_outs(%o = %a) -> (tensor<8x12xi32>) {
    %k = arith.muli %i, %c2 : index
    %l = arith.addi %k, %c1 : index
    %s = tensor.extract_slice %o[%k, 0] [1, 12] [1, 1] : tensor<8x12xi32> to tensor<1x12xi32>
    %t = arith.muli %s, %s : tensor<1x12xi32>
    %u = spmd.with_sharding_constraint %t <@m, [{}, {"y"}]> : tensor<1x12xi32>
    %v = spmd.with_sharding_constraint %t <@m, [{}, {"x"}]> : tensor<1x12xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%k, 0] [1, 12] [1, 1] : tensor<1x12xi32> into tensor<8x12xi32>
      tensor.parallel_insert_slice %u into %o[%l, 0] [1, 12] [1, 1] : tensor<1x12xi32> into tensor<8x12xi32>
    }
  }
  %1 = arith.addi %0, %a : tensor<8x12xi32>
  return %1 : tensor<8x12xi32>
}
// Dims of size one, a shared output that all iterations write whole, captured use of the init
func.func @ones(%a: tensor<1x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]}, %b: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-9, 10]}) -> tensor<1x12xi32> {
  %0 = scf.forall (%i) in (1) shared_outs(%o = %a) -> (tensor<1x12xi32>) {
    %s = tensor.extract_slice %a[0, 0] [1, 12] [1, 1] : tensor<1x12xi32> to tensor<12xi32>
    %t = arith.subi %s, %b : tensor<12xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<1x12xi32>
    }
  }
  return %0 : tensor<1x12xi32>
}
// Strided rows
func.func @strided(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<6x12xi32> {
  %0 = scf.forall (%i) in (2) shared_outs(%o = %a) -> (tensor<6x12xi32>) {
    %s = tensor.extract_slice %a[%i, 0] [3, 12] [2, 1] : tensor<6x12xi32> to tensor<3x12xi32>
    %t = arith.addi %s, %s : tensor<3x12xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [3, 12] [2, 1] : tensor<3x12xi32> into tensor<6x12xi32>
    }
  }
  return %0 : tensor<6x12xi32>
}
func.func @inner(%a: tensor<6x4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<6x4x12xi32> {
  %e = tensor.empty() : tensor<6x4x12xi32>
  %0 = scf.forall (%i) in (6) shared_outs(%o = %e) -> (tensor<6x4x12xi32>) {
    %s = tensor.extract_slice %a[%i, 0, 0] [1, 4, 12] [1, 1, 1] : tensor<6x4x12xi32> to tensor<4x12xi32>
    %r = scf.forall (%j) in (4) shared_outs(%p = %s) -> (tensor<4x12xi32>) {
      %q = tensor.extract_slice %p[%j, 0] [1, 12] [1, 1] : tensor<4x12xi32> to tensor<12xi32>
      %u = arith.muli %q, %q : tensor<12xi32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %u into %p[%j, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<4x12xi32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i, 0, 0] [1, 4, 12] [1, 1, 1] : tensor<4x12xi32> into tensor<6x4x12xi32>
    }
  }
  return %0 : tensor<6x4x12xi32>
}
// A cut with a gap on a dim that is written whole
func.func @gap(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {2, "y"}]>, spmd.range = [-9, 10]}) -> tensor<4x12xi32> {
  %e = arith.constant dense<1> : tensor<4x12xi32>
  %0 = scf.forall (%i) in (3) shared_outs(%o = %e) -> (tensor<4x12xi32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 12] [1, 1] : tensor<4x12xi32> to tensor<12xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<4x12xi32>
    }
  }
  return %0 : tensor<4x12xi32>
}
// A region in a loop; it yields a captured value
func.func @mixed(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}, %b: tensor<8x12xi32> {spmd.range = [-9, 10]}) -> (tensor<8x12xi32>, tensor<8x12xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %b) -> tensor<8x12xi32> {
    %1:2 = scf.execute_region -> (tensor<8x12xi32>, tensor<8x12xi32>) no_inline {
      %2 = arith.addi %v, %a : tensor<8x12xi32>
      scf.yield %2, %a : tensor<8x12xi32>, tensor<8x12xi32>
    }
    %3 = arith.subi %1#0, %1#1 : tensor<8x12xi32>
    %4 = arith.muli %3, %1#1 : tensor<8x12xi32>
    scf.yield %4 : tensor<8x12xi32>
  }
  %5 = scf.execute_region -> tensor<8x12xi32> no_inline {
    scf.yield %a : tensor<8x12xi32>
  }
  return %0, %5 : tensor<8x12xi32>, tensor<8x12xi32>
}
