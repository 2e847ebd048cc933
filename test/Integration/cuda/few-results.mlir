// Reductions to few results, by blocks that each take a part of the terms, and a second kernel
// for what these have, at sizes that parts and threads do not divide.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify --output-dir=%t.1 | FileCheck %s
// The same bits every time.
// RUN: %on-emulated-cuda env SK_EMU_LAZY=2 shard-run %s --target=cuda --random-inputs=1 --function=all --output-dir=%t.2
// RUN: diff -r %t.1/all %t.2
// CHECK: verify whole result0: max abs error 0, max rel error 0
// CHECK: verify columns result0: max abs error 0, max rel error 0
// CHECK: verify largest result0: max abs error 0, max rel error 0
// CHECK: verify place result0: max abs error 0, max rel error 0
// CHECK: verify place result1: max abs error 0, max rel error 0
// CHECK: verify last_place result0: max abs error 0, max rel error 0
// CHECK: verify last_place result1: max abs error 0, max rel error 0
// CHECK: verify: 7 functions, 9 results, all equal

// Few partials are added up by a thread, more of them by several.
// KERNELS-LABEL: "sk_fn_all"
// KERNELS: %[[PARTIALS:.*]] = memref.alloc() : memref<40xf64>
// KERNELS: gpu.launch_func @kernels::@reduction_0 blocks in (%c40,{{.*}} threads in (%c256,{{.*}} args(%[[PARTIALS]] :
// KERNELS: gpu.launch_func @kernels::@reduction_1 blocks in (%c1{{(_[0-9]+)?}},{{.*}} args(%[[PARTIALS]] :
// KERNELS-LABEL: "sk_fn_whole"
// KERNELS: gpu.launch_func @kernels::@reduction_2 blocks in (%c8,
// KERNELS: gpu.launch_func @kernels::@linalg_3 blocks in (%c1{{(_[0-9]+)?}},
// KERNELS-LABEL: "sk_fn_columns"
// KERNELS: gpu.launch_func @kernels::@reduction_4 blocks in (%c11,
// KERNELS-LABEL: "sk_fn_place"
// KERNELS: memref.alloc() : memref<2x4xi8>
// KERNELS: memref.alloc() : memref<2x4xi32>
// KERNELS: gpu.launch_func @kernels::@reduction_10 blocks in (%c8,
func.func @all(%x: tensor<41x8013xf64>) -> tensor<f64> {
  %three = arith.constant dense<3.0> : tensor<f64>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<41x8013xf64>) outs(%three : tensor<f64>) dimensions = [0, 1]
  return %r : tensor<f64>
}
func.func @whole(%x: tensor<2x40009xi32>, %start: tensor<2xi32>) -> tensor<2xi32> {
  %r = linalg.reduce { arith.addi } ins(%x : tensor<2x40009xi32>) outs(%start : tensor<2xi32>) dimensions = [1]
  return %r : tensor<2xi32>
}
// Columns and rows of them: results in another order than they lie.
func.func @columns(%x: tensor<3001x3x5xi32>) -> tensor<5x3xi32> {
  %zero = arith.constant dense<7> : tensor<5x3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(c,b)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : tensor<3001x3x5xi32>) outs(%zero : tensor<5x3xi32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %o : i32
    linalg.yield %s : i32 } -> tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}
func.func @squares_of_columns(%x: tensor<2003x37xf64>) -> tensor<37xf64> {
  %zero = arith.constant dense<0.0> : tensor<37xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(b)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<2003x37xf64>) outs(%zero : tensor<37xf64>) {
  ^bb0(%p: f64, %o: f64):
    %s = arith.mulf %p, %p : f64
    %t = arith.addf %o, %s : f64
    linalg.yield %t : f64 } -> tensor<37xf64>
  return %r : tensor<37xf64>
}
func.func @largest(%x: tensor<40009xbf16>) -> tensor<bf16> {
  %least = arith.constant dense<0xFF80> : tensor<bf16>
  %r = linalg.reduce { arith.maximumf } ins(%x : tensor<40009xbf16>) outs(%least : tensor<bf16>) dimensions = [0]
  return %r : tensor<bf16>
}
// The first of the largest, and the last of the smallest; there are ties.
func.func @place(%x: tensor<2x40009xi8>) -> (tensor<2xi8>, tensor<2xi32>) {
  %least = arith.constant dense<-128> : tensor<2xi8>
  %none = arith.constant dense<0> : tensor<2xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a,b)->(a,b)>, affine_map<(a,b)->(a)>, affine_map<(a,b)->(a)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x40009xi8>) outs(%least, %none : tensor<2xi8>, tensor<2xi32>) {
  ^bb0(%p: i8, %best: i8, %at: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %more = arith.cmpi sgt, %p, %best : i8
    %b = arith.select %more, %p, %best : i8
    %k = arith.select %more, %j, %at : i32
    linalg.yield %b, %k : i8, i32 } -> (tensor<2xi8>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2xi8>, tensor<2xi32>
}
func.func @last_place(%x: tensor<36000xi8>) -> (tensor<i8>, tensor<i32>) {
  %most = arith.constant dense<127> : tensor<i8>
  %none = arith.constant dense<0> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(b)->(b)>, affine_map<(b)->()>, affine_map<(b)->()>], iterator_types = ["reduction"]} ins(%x : tensor<36000xi8>) outs(%most, %none : tensor<i8>, tensor<i32>) {
  ^bb0(%p: i8, %best: i8, %at: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %less = arith.cmpi sle, %p, %best : i8
    %b = arith.select %less, %p, %best : i8
    %k = arith.select %less, %j, %at : i32
    linalg.yield %b, %k : i8, i32 } -> (tensor<i8>, tensor<i32>)
  return %r#0, %r#1 : tensor<i8>, tensor<i32>
}
