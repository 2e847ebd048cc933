// What kernels state (cf.assert) ends the step with its text and place; rows that are padding state nothing, and what
// holds changes no result. On emulated devices, in several orders, recorded as graphs, and in processes.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: split-file --leading-lines %s %t
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 shard-run %t/holds.mlir --target=cuda --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=HOLDS
// RUN: %on-emulated-cuda env SK_EMU_LAZY=2 shard-run %t/holds.mlir --target=cuda --random-inputs=2 --verify=exact --repeat=4 | FileCheck %s --check-prefix=HOLDS
// RUN: shard-compile %t/holds.mlir --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// RUN: shard-compile %t/fails.mlir -o %t/fails --target=cuda
// RUN: not %on-emulated-cuda shard-run %t/fails --function=lookup --random-inputs=1 2>&1 | FileCheck %s --check-prefix=LOOKUP
// RUN: not %on-emulated-cuda env SK_EMU_LAZY=2 SK_EMU_RACES=1 shard-run %t/fails --function=lookup --random-inputs=1 --repeat=3 2>&1 | FileCheck %s --check-prefix=LOOKUP
// RUN: not %on-emulated-cuda shard-run %t/fails --function=sums --random-inputs=1 2>&1 | FileCheck %s --check-prefix=SUMS
// RUN: not %on-emulated-cuda shard-run %t/fails --function=nest --random-inputs=1 2>&1 | FileCheck %s --check-prefix=NEST

// Stated once, and nothing is computed twice: the lookup is no part of what reads it.
// KERNELS-NOT: cf.assert
// KERNELS-LABEL: sk_fn_lookup
// KERNELS: spmd_rt.failure_word
// KERNELS: spmd_rt.text "{{.*}}holds.mlir:{{[0-9]+}}:5: index must be smaller than dim size"
// KERNELS: spmd_rt.text "{{.*}}holds.mlir:{{[0-9]+}}:5: index must be larger or equal to 0"
// KERNELS-NOT: spmd_rt.text
// KERNELS: sk_fn_only_stated
// KERNELS: sk_fn_sums
// KERNELS: launch_func @kernels::@reduction_
// KERNELS: sk_fn_nest
// KERNELS: launch_func @kernels::@nest_
// KERNELS-NOT: cf.assert

// HOLDS: verify: 4 functions, 4 results, all equal bit by bit

//--- holds.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
#ij = affine_map<(i, j) -> (i, j)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#ij_of_ijk = affine_map<(i, j, k) -> (i, j)>

// 5 rows on 2 devices.
func.func @lookup(%x: tensor<5x6xi64> {spmd.range = [0, 6], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %t: tensor<5x7xf32>) -> tensor<5x6xf32> {
  %zero = arith.constant 0 : i64
  %seven = arith.constant 7 : index
  %e = tensor.empty() : tensor<5x6xf32>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x6xi64>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%at: i64, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %at : i64 to index
    %below = arith.cmpi slt, %k, %seven : index
    cf.assert %below, "index must be smaller than dim size"
    %above = arith.cmpi sge, %at, %zero : i64
    cf.assert %above, "index must be larger or equal to 0"
    %v = tensor.extract %t[%i, %k] : tensor<5x7xf32>
    linalg.yield %v : f32
  } -> tensor<5x6xf32>
  %s = arith.addf %r, %r : tensor<5x6xf32>
  %p = arith.mulf %r, %s : tensor<5x6xf32>
  return %p : tensor<5x6xf32>
}

// Nobody reads what it computes.
func.func @only_stated(%x: tensor<5x6xi32> {spmd.range = [1, 6], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<5x6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x6xi32>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x6xi32>) outs(%e : tensor<5x6xi32>) {
  ^bb0(%at: i32, %o: i32):
    %above = arith.cmpi sgt, %at, %zero : i32
    cf.assert %above, "expected a positive number"
    linalg.yield %at : i32
  } -> tensor<5x6xi32>
  %s = arith.addi %x, %x : tensor<5x6xi32>
  return %s : tensor<5x6xi32>
}

// Several threads for each sum, which meet at barriers.
func.func @sums(%x: tensor<3x5x400xi32> {spmd.range = [1, 6], spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>}) -> tensor<3x5xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x5xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %r = linalg.generic {indexing_maps = [#ijk, #ij_of_ijk], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<3x5x400xi32>) outs(%f : tensor<3x5xi32>) {
  ^bb0(%a: i32, %o: i32):
    %above = arith.cmpi sgt, %a, %zero : i32
    cf.assert %above, "expected a positive number"
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<3x5xi32>
  return %r : tensor<3x5xi32>
}

// One block runs the loop.
func.func @nest(%x: tensor<6x5xi32> {spmd.range = [1, 6], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x5xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<6x5xi32> {
    %e = tensor.empty() : tensor<6x5xi32>
    %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<6x5xi32>) outs(%e : tensor<6x5xi32>) {
    ^bb0(%a: i32, %o: i32):
      %above = arith.cmpi sgt, %a, %zero : i32
      cf.assert %above, "expected a positive number"
      %s = arith.addi %a, %a : i32
      linalg.yield %s : i32
    } -> tensor<6x5xi32>
    scf.yield %w : tensor<6x5xi32>
  }
  return %r : tensor<6x5xi32>
}

//--- fails.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
#ij = affine_map<(i, j) -> (i, j)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#ij_of_ijk = affine_map<(i, j, k) -> (i, j)>

// LOOKUP: error: function 'lookup': rank {{[0-3]}}: {{.*}}fails.mlir:[[@LINE+10]]:5: index must be smaller than dim size
// LOOKUP-NOT: error
func.func @lookup(%x: tensor<5x6xi64> {spmd.range = [5, 9], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %t: tensor<5x7xf32>) -> tensor<5x6xf32> {
  %seven = arith.constant 7 : index
  %e = tensor.empty() : tensor<5x6xf32>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<5x6xi64>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%at: i64, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %at : i64 to index
    %below = arith.cmpi slt, %k, %seven : index
    cf.assert %below, "index must be smaller than dim size"
    %v = tensor.extract %t[%i, %k] : tensor<5x7xf32>
    linalg.yield %v : f32
  } -> tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

// SUMS: error: function 'sums': rank {{[0-3]}}: {{.*}}fails.mlir:[[@LINE+9]]:5: expected a positive number
// SUMS-NOT: error
func.func @sums(%x: tensor<3x5x400xi32> {spmd.range = [0, 6], spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y"}]>}) -> tensor<3x5xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x5xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x5xi32>) -> tensor<3x5xi32>
  %r = linalg.generic {indexing_maps = [#ijk, #ij_of_ijk], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<3x5x400xi32>) outs(%f : tensor<3x5xi32>) {
  ^bb0(%a: i32, %o: i32):
    %above = arith.cmpi sgt, %a, %zero : i32
    cf.assert %above, "expected a positive number"
    %s = arith.addi %a, %o : i32
    linalg.yield %s : i32
  } -> tensor<3x5xi32>
  return %r : tensor<3x5xi32>
}

// In the last round, where 32 * 2^26 is less than 0.
// NEST: error: function 'nest': rank {{[0-3]}}: {{.*}}fails.mlir:[[@LINE+12]]:7: expected a positive number
// NEST-NOT: error
func.func @nest(%x: tensor<6x5xi32> {spmd.range = [33554432, 67108863], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x5xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> tensor<6x5xi32> {
    %e = tensor.empty() : tensor<6x5xi32>
    %w = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<6x5xi32>) outs(%e : tensor<6x5xi32>) {
    ^bb0(%a: i32, %o: i32):
      %above = arith.cmpi sgt, %a, %zero : i32
      cf.assert %above, "expected a positive number"
      %s = arith.addi %a, %a : i32
      linalg.yield %s : i32
    } -> tensor<6x5xi32>
    scf.yield %w : tensor<6x5xi32>
  }
  return %r : tensor<6x5xi32>
}
