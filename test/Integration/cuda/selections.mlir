// Reductions that pick one of many, by several threads for each result, with ties and NaNs,
// on emulated devices: the bits of the unsharded program.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify=exact | FileCheck %s
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=2 --verify=exact | FileCheck %s
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// KERNELS-COUNT-8: gpu.func @reduction_
// KERNELS-LABEL: sk_fn_rows
// KERNELS: gpu.launch_func @kernels::@[[ROWS:reduction_[0-9]+]] blocks in (%c5,
// KERNELS-LABEL: sk_fn_not_ordered
// KERNELS: gpu.launch_func @kernels::@linalg_
// CHECK: verify: 9 functions, 17 results, all equal bit by bit

// Bytes count, not calls.
spmd.mesh @m = <["x"=3]> {alpha = [1.0e-9], beta = [1.0e-9]}
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

// The first of the greatest; what is no number is passed over. 333 terms for 32 threads: the
// last has 3.
func.func @rows(%a: tensor<37x333xi32> {spmd.range = [0, 9]}) -> (tensor<37xf32>, tensor<37xi32>) {
  %e = tensor.empty() : tensor<37x333xf32>
  %nan = arith.constant 0x7FC00000 : f32
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<37x333xi32>) outs(%e : tensor<37x333xf32>) {
  ^bb0(%x: i32, %o: f32):
    %c8 = arith.constant 8 : i32
    %n = arith.cmpi eq, %x, %c8 : i32
    %y = arith.sitofp %x : i32 to f32
    %z = arith.select %n, %nan, %y : f32
    linalg.yield %z : f32
  } -> tensor<37x333xf32>
  %low = arith.constant dense<0xFF800000> : tensor<37xf32>
  %zero = arith.constant dense<-1> : tensor<37xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<37x333xf32>) outs(%low, %zero : tensor<37xf32>, tensor<37xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpf ogt, %x, %best : f32
    %v = arith.select %c, %x, %best : f32
    %w = arith.select %c, %k, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<37xf32>, tensor<37xi32>)
  return %r#0, %r#1 : tensor<37xf32>, tensor<37xi32>
}

// What is no number wins, the first of them; of equals the lower place, which the body says
// (JAX's argmax). Long rows: a block for each.
func.func @no_numbers(%a: tensor<5x3001xi32> {spmd.range = [0, 4000]}) -> (tensor<5xf64>, tensor<5xi64>) {
  %e = tensor.empty() : tensor<5x3001xf64>
  %nan = arith.constant 0x7FF8000000000000 : f64
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5x3001xi32>) outs(%e : tensor<5x3001xf64>) {
  ^bb0(%x: i32, %o: f64):
    %few = arith.constant 2 : i32
    %n = arith.cmpi slt, %x, %few : i32
    %y = arith.sitofp %x : i32 to f64
    %z = arith.select %n, %nan, %y : f64
    linalg.yield %z : f64
  } -> tensor<5x3001xf64>
  %low = arith.constant dense<0xFFF0000000000000> : tensor<5xf64>
  %zero = arith.constant dense<0> : tensor<5xi64>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<5x3001xf64>) outs(%low, %zero : tensor<5xf64>, tensor<5xi64>) {
  ^bb0(%x: f64, %best: f64, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %gt = arith.cmpf ogt, %best, %x : f64
    %no = arith.cmpf une, %best, %best : f64
    %keep = arith.ori %gt, %no : i1
    %eq = arith.cmpf oeq, %best, %x : f64
    %lower = arith.cmpi slt, %at, %k : i64
    %tie = arith.andi %eq, %lower : i1
    %same = arith.ori %keep, %tie : i1
    %v = arith.select %keep, %best, %x : f64
    %w = arith.select %same, %at, %k : i64
    linalg.yield %v, %w : f64, i64
  } -> (tensor<5xf64>, tensor<5xi64>)
  return %r#0, %r#1 : tensor<5xf64>, tensor<5xi64>
}

// Neighbouring threads take neighbouring columns, 8 parts each; the last block is not full.
func.func @columns(%a: tensor<100x45xi8> {spmd.range = [-5, 5]}, %start: tensor<45xi8> {spmd.range = [-5, 0]}, %at: tensor<45xi32> {spmd.range = [200, 300]}) -> (tensor<45xi8>, tensor<45xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#ij, #j, #j], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<100x45xi8>) outs(%start, %at : tensor<45xi8>, tensor<45xi32>) {
  ^bb0(%x: i8, %best: i8, %old: i32):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpi slt, %x, %best : i8
    %v = arith.select %c, %x, %best : i8
    %w = arith.select %c, %k, %old : i32
    linalg.yield %v, %w : i8, i32
  } -> (tensor<45xi8>, tensor<45xi32>)
  return %r#0, %r#1 : tensor<45xi8>, tensor<45xi32>
}

// The place of the greatest of all, by rows.
func.func @of_all(%a: tensor<61x53xi16> {spmd.range = [-300, 300]}) -> (tensor<i16>, tensor<i32>) {
  %low = arith.constant dense<-32768> : tensor<i16>
  %zero = arith.constant dense<0> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #all, #all], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<61x53xi16>) outs(%low, %zero : tensor<i16>, tensor<i32>) {
  ^bb0(%x: i16, %best: i16, %old: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %size = arith.constant 53 : index
    %first = arith.muli %i, %size : index
    %sum = arith.addi %first, %j : index
    %k = arith.index_cast %sum : index to i32
    %c = arith.cmpi sgt, %x, %best : i16
    %v = arith.select %c, %x, %best : i16
    %w = arith.select %c, %k, %old : i32
    linalg.yield %v, %w : i16, i32
  } -> (tensor<i16>, tensor<i32>)
  return %r#0, %r#1 : tensor<i16>, tensor<i32>
}

// The column of the greatest in any row, rows first: not the order in which memory lies.
func.func @second_loop_first(%a: tensor<40x50xi16> {spmd.range = [0, 9]}) -> (tensor<i16>, tensor<i32>) {
  %low = arith.constant dense<-32768> : tensor<i16>
  %zero = arith.constant dense<0> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #all, #all], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<40x50xi16>) outs(%low, %zero : tensor<i16>, tensor<i32>) {
  ^bb0(%x: i16, %best: i16, %old: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %c = arith.cmpi sgt, %x, %best : i16
    %v = arith.select %c, %x, %best : i16
    %w = arith.select %c, %k, %old : i32
    linalg.yield %v, %w : i16, i32
  } -> (tensor<i16>, tensor<i32>)
  return %r#0, %r#1 : tensor<i16>, tensor<i32>
}

// One result, by comparing: a maximum that keeps the sign of the zero that it saw first.
func.func @zeros(%a: tensor<9x700xi32> {spmd.range = [0, 2]}) -> tensor<9xf32> {
  %e = tensor.empty() : tensor<9x700xf32>
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<9x700xi32>) outs(%e : tensor<9x700xf32>) {
  ^bb0(%x: i32, %o: f32):
    %y = arith.sitofp %x : i32 to f32
    %least = arith.constant -1.0e-30 : f32
    %tiny = arith.constant 1.0e-30 : f32
    %z = arith.mulf %y, %least : f32
    %w = arith.mulf %z, %tiny : f32
    linalg.yield %w : f32
  } -> tensor<9x700xf32>
  %low = arith.constant dense<0xFF800000> : tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<9x700xf32>) outs(%low : tensor<9xf32>) {
  ^bb0(%x: f32, %best: f32):
    %c = arith.cmpf ogt, %x, %best : f32
    %v = arith.select %c, %x, %best : f32
    linalg.yield %v : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}

// Of shards, and then of what the shards have picked.
func.func @cut(%a: tensor<8x1200xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 100]}) -> (tensor<8xi8>, tensor<8xi64>) {
  %low = arith.constant dense<-128> : tensor<8xi8>
  %zero = arith.constant dense<0> : tensor<8xi64>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x1200xi8>) outs(%low, %zero : tensor<8xi8>, tensor<8xi64>) {
  ^bb0(%x: i8, %best: i8, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi ugt, %x, %best : i8
    %d = arith.cmpi sgt, %x, %best : i8
    %v = arith.select %d, %x, %best : i8
    %w = arith.select %d, %k, %at : i64
    linalg.yield %v, %w : i8, i64
  } -> (tensor<8xi8>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xi8>, tensor<8xi64>
}

// The last of the greatest: an init that is as great would win again, so that each thread starts
// from its first term. 32 threads have 16 terms each but the last, which has 4.
func.func @last(%a: tensor<6x500xi32> {spmd.range = [0, 7]}) -> (tensor<6xi32>, tensor<6xi32>) {
  %low = arith.constant dense<0> : tensor<6xi32>
  %zero = arith.constant dense<-1> : tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x500xi32>) outs(%low, %zero : tensor<6xi32>, tensor<6xi32>) {
  ^bb0(%x: i32, %best: i32, %old: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpi sge, %x, %best : i32
    %v = arith.select %c, %x, %best : i32
    %w = arith.select %c, %k, %old : i32
    linalg.yield %v, %w : i32, i32
  } -> (tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}

// After what is no number anything is greater: the order of all terms counts. One thread for each.
func.func @not_ordered(%a: tensor<6x500xi32> {spmd.range = [0, 50]}) -> (tensor<6xf32>, tensor<6xi32>) {
  %e = tensor.empty() : tensor<6x500xf32>
  %nan = arith.constant 0x7FC00000 : f32
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x500xi32>) outs(%e : tensor<6x500xf32>) {
  ^bb0(%x: i32, %o: f32):
    %c8 = arith.constant 8 : i32
    %n = arith.cmpi eq, %x, %c8 : i32
    %y = arith.sitofp %x : i32 to f32
    %z = arith.select %n, %nan, %y : f32
    linalg.yield %z : f32
  } -> tensor<6x500xf32>
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %zero = arith.constant dense<-1> : tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<6x500xf32>) outs(%low, %zero : tensor<6xf32>, tensor<6xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %c = arith.cmpf ugt, %x, %best : f32
    %v = arith.select %c, %x, %best : f32
    %w = arith.select %c, %k, %at : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<6xf32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xi32>
}
