// Loop nests with independent outer iterations become functions of a range, which the runtime runs
// on several threads; others stay where they are.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=llvm | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify --library-threads=3
// RUN: shard-run %s --random-inputs=1 --verify --library-threads=3 --compile-option=--parallel-work=0
// RUN: shard-run %s --random-inputs=1 --verify --donate --library-threads=3
// RUN: clang-22 -shared -fPIC -O1 %S/Inputs/any_order.c -o %t.so
// RUN: env LD_PRELOAD=%t.so shard-run %s --random-inputs=1 --verify --compile-option=--parallel-work=0
// RUN: env LD_PRELOAD=%t.so shard-run %s --random-inputs=1 --verify --donate --compile-option=--parallel-work=0

// Softmax is one nest of 256 rows, of which each call does some; the row of temporaries is its own.
// CHECK-LABEL: llvm.func internal @program_0
// CHECK: llvm.call @[[$SOFTMAX:parallel_[0-9]+]]_all(%arg0,
// CHECK-NOT: llvm.call
// CHECK: llvm.return
func.func @softmax(%x: tensor<16x16x256xf32>) -> tensor<16x16x256xf32> {
  %e = tensor.empty() : tensor<16x16x256xf32>
  %0 = linalg.softmax dimension(2) ins(%x : tensor<16x16x256xf32>) outs(%e : tensor<16x16x256xf32>) -> tensor<16x16x256xf32>
  return %0 : tensor<16x16x256xf32>
}

// A linalg op that stands alone, by the outer dims of its result; here the first one of the two is enough.
// CHECK-LABEL: llvm.func internal @program_1
// CHECK: llvm.call @[[$TURNED:parallel_[0-9]+]]_all(%arg0,
// CHECK: llvm.return
func.func @turned(%x: tensor<128x96x64xf32>) -> tensor<96x128x64xf32> {
  %e = tensor.empty() : tensor<96x128x64xf32>
  %0 = linalg.transpose ins(%x : tensor<128x96x64xf32>) outs(%e : tensor<96x128x64xf32>) permutation = [1, 0, 2]
  return %0 : tensor<96x128x64xf32>
}

// Indices of the body count on.
// CHECK-LABEL: llvm.func internal @program_2
// CHECK: llvm.call @parallel_{{[0-9]+}}_all(%arg0,
// CHECK: llvm.return
func.func @indices(%x: tensor<300x256xi32>) -> tensor<300x256xi32> {
  %e = tensor.empty() : tensor<300x256xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<300x256xi32>) outs(%e : tensor<300x256xi32>) {
  ^bb0(%a: i32, %b: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %j : index
    %c = arith.index_cast %k : index to i32
    %d = arith.addi %a, %c : i32
    linalg.yield %d : i32
  } -> tensor<300x256xi32>
  return %0 : tensor<300x256xi32>
}

// Each row is added to the one before: in order.
// CHECK-LABEL: llvm.func internal @program_3
// CHECK-NOT: parallel
// CHECK: llvm.return
func.func @running(%x: tensor<300x256xf32>) -> tensor<300x256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 300 : index
  %0 = scf.for %i = %one to %end step %one iter_args(%sum = %x) -> tensor<300x256xf32> {
    %before = arith.subi %i, %one : index
    %a = tensor.extract_slice %sum[%before, 0] [1, 256] [1, 1] : tensor<300x256xf32> to tensor<1x256xf32>
    %b = tensor.extract_slice %sum[%i, 0] [1, 256] [1, 1] : tensor<300x256xf32> to tensor<1x256xf32>
    %c = arith.addf %a, %b : tensor<1x256xf32>
    %next = tensor.insert_slice %c into %sum[%i, 0] [1, 256] [1, 1] : tensor<1x256xf32> into tensor<300x256xf32>
    scf.yield %next : tensor<300x256xf32>
  }
  return %0 : tensor<300x256xf32>
}

// All iterations write one row.
// CHECK-LABEL: llvm.func internal @program_4
// CHECK-NOT: parallel
// CHECK: llvm.return
func.func @overwritten(%x: tensor<300x256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 300 : index
  %0 = scf.for %i = %zero to %end step %one iter_args(%last = %y) -> tensor<256xf32> {
    %a = tensor.extract_slice %x[%i, 0] [1, 256] [1, 1] : tensor<300x256xf32> to tensor<256xf32>
    %next = arith.mulf %a, %a : tensor<256xf32>
    scf.yield %next : tensor<256xf32>
  }
  return %0 : tensor<256xf32>
}

// Nests in a loop that goes on in order.
// CHECK-LABEL: llvm.func internal @program_5
// CHECK: llvm.call @parallel_{{[0-9]+}}_all(%arg0,
// CHECK: llvm.return
func.func @steps(%x: tensor<300x256xf32>) -> tensor<300x256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 5 : index
  %0 = scf.for %i = %zero to %end step %one iter_args(%now = %x) -> tensor<300x256xf32> {
    %a = math.tanh %now : tensor<300x256xf32>
    %b = arith.addf %a, %now : tensor<300x256xf32>
    scf.yield %b : tensor<300x256xf32>
  }
  return %0 : tensor<300x256xf32>
}

// A result in the memory of its argument is computed in place, each element from the one that it takes the place of.
// CHECK-LABEL: llvm.func internal @program_6
// CHECK: llvm.call @parallel_{{[0-9]+}}_all(%arg0,
// CHECK: llvm.return
func.func @updated(%w: tensor<300x256xf32>, %g: tensor<300x256xf32>) -> (tensor<300x256xf32> {spmd.tied = 0 : i64}) {
  %a = arith.mulf %w, %g : tensor<300x256xf32>
  %b = arith.subf %w, %a : tensor<300x256xf32>
  return %b : tensor<300x256xf32>
}

// Rows that are read across while the result overwrites them.
// CHECK-LABEL: llvm.func internal @program_7
func.func @turned_in_place(%w: tensor<260x260xf32>, %g: tensor<260x260xf32>) -> (tensor<260x260xf32> {spmd.tied = 0 : i64}) {
  %e = tensor.empty() : tensor<260x260xf32>
  %t = linalg.transpose ins(%w : tensor<260x260xf32>) outs(%e : tensor<260x260xf32>) permutation = [1, 0]
  %a = arith.mulf %t, %g : tensor<260x260xf32>
  %b = arith.subf %w, %a : tensor<260x260xf32>
  return %b : tensor<260x260xf32>
}

// Too little to be worth it.
// CHECK-LABEL: llvm.func internal @program_8
// CHECK-NOT: parallel
// CHECK: llvm.return
func.func @small(%x: tensor<30x25xf32>) -> tensor<30x25xf32> {
  %a = arith.addf %x, %x : tensor<30x25xf32>
  return %a : tensor<30x25xf32>
}

// One loop alone, or few iterations around it: in runs, the last of which is shorter.
// CHECK-LABEL: llvm.func internal @program_9
// CHECK: llvm.call @[[$LINE:parallel_[0-9]+]]_all(%arg0,
// CHECK: llvm.return
func.func @line(%x: tensor<100001xf32>) -> tensor<100001xf32> {
  %a = math.exp %x : tensor<100001xf32>
  return %a : tensor<100001xf32>
}

// CHECK-LABEL: llvm.func internal @program_10
// CHECK: llvm.call @[[$LINES:parallel_[0-9]+]]_all(%arg0,
// CHECK: llvm.return
func.func @lines(%x: tensor<3x32768xi32>, %y: tensor<32768xi32>) -> (tensor<3x32768xi32> {spmd.tied = 0 : i64}) {
  %e = tensor.empty() : tensor<3x32768xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x32768xi32>, tensor<32768xi32>) outs(%e : tensor<3x32768xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %d = arith.muli %b, %k : i32
    %f = arith.addi %a, %d : i32
    linalg.yield %f : i32
  } -> tensor<3x32768xi32>
  return %0 : tensor<3x32768xi32>
}

// CHECK: llvm.func internal @[[$SOFTMAX]](%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK: llvm.func internal @[[$SOFTMAX]]_range(%[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: !llvm.ptr)
// CHECK: llvm.call @[[$SOFTMAX]](%[[BEGIN]], %[[END]],
// CHECK: llvm.func internal @[[$SOFTMAX]]_all
// CHECK: %[[RANGE:.*]] = llvm.mlir.addressof @[[$SOFTMAX]]_range
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(256 : i64)
// CHECK: llvm.call @sk_parallel(%{{.*}}, %[[COUNT]], %[[RANGE]],
// CHECK: llvm.func internal @[[$TURNED]]_all
// CHECK: llvm.mlir.constant(96 : i64)
// CHECK: llvm.func internal @[[$LINE]]_all
// CHECK: llvm.mlir.constant(98 : i64)
// CHECK: llvm.func internal @[[$LINES]]_all
// CHECK: llvm.mlir.constant(96 : i64)
