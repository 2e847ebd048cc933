// Tables whose addressed dim is cut: every shard looks up what it owns, the sum is
// what the unsharded program reads, -0.0 and all.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones

spmd.mesh @m = <["x"=2, "y"=3]>
#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

// An embedding: rows by token. The rows are fewer than the table's.
// CHECK-LABEL: func.func @embedding
// CHECK-NOT: spmd.all_gather
// CHECK: linalg.generic
// CHECK: tensor.extract %{{.*}} : tensor<20x4xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}} : tensor<6x4xf32>
// CHECK: return
func.func @embedding(%ids: tensor<6xi32> {spmd.range = [0, 40]},
                     %table: tensor<40x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x4xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %r = linalg.generic {indexing_maps = [#first, #ij], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<6xi32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<40x4xf32>
    linalg.yield %v : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// A table smaller than what is looked up is gathered.
// CHECK-LABEL: func.func @small_table
// CHECK: spmd.all_gather
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @small_table(%ids: tensor<60xi32> {spmd.range = [0, 4]},
                       %table: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<60x4xf32> {
  %e = tensor.empty() : tensor<60x4xf32>
  %r = linalg.generic {indexing_maps = [#first, #ij], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<60xi32>) outs(%e : tensor<60x4xf32>) {
  ^bb0(%id: i32, %o: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<4x4xf32>
    linalg.yield %v : f32
  } -> tensor<60x4xf32>
  return %r : tensor<60x4xf32>
}

// The result is wanted cut: reduce-scatter. The table is cut in both dims, with a
// sub-axis order of its own, and clamped indices as front ends write them.
// CHECK-LABEL: func.func @scattered
// CHECK: spmd.reduce_scatter %{{.*}} sum <@m, [{"y"}, {}]>
// CHECK: return
func.func @scattered(%ids: tensor<6x1xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-9, 99]},
                     %table: tensor<60x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>})
    -> (tensor<6x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c59 = arith.constant 59 : index
  %e = tensor.empty() : tensor<6x8xf32>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<6x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %id = tensor.extract %ids[%i, %c0] : tensor<6x1xi64>
    %row = arith.index_cast %id : i64 to index
    %low = arith.maxsi %row, %c0 : index
    %at = arith.minsi %low, %c59 : index
    %v = tensor.extract %table[%at, %j] : tensor<60x8xf32>
    linalg.yield %v : f32
  } -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// A bag: the lookups are summed, the init counts once, other reductions keep what
// the output has.
func.func @bags(%ids: tensor<6x5xi32> {spmd.range = [0, 40]}, %init: tensor<6x8xi32> {spmd.range = [-99, 99]},
                %table: tensor<40x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<6x8xi32>, tensor<6x8xi32>) {
  %s:2 = linalg.generic {indexing_maps = [affine_map<(i, k, j) -> (i, k)>, affine_map<(i, k, j) -> (i, j)>, affine_map<(i, k, j) -> (i, j)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%ids : tensor<6x5xi32>) outs(%init, %init : tensor<6x8xi32>, tensor<6x8xi32>) {
  ^bb0(%id: i32, %sum: i32, %max: i32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 2 : index
    %v = tensor.extract %table[%row, %j] : tensor<40x8xi32>
    %n = arith.addi %sum, %v : i32
    %m = arith.maxsi %max, %v : i32
    linalg.yield %n, %m : i32, i32
  } -> (tensor<6x8xi32>, tensor<6x8xi32>)
  return %s#0, %s#1 : tensor<6x8xi32>, tensor<6x8xi32>
}

// What is looked up goes through anything that cannot trap; two tables by one index
// share the axis, another index has its own.
// CHECK-LABEL: func.func @two_indices
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x", "y"}> {{.*}} : tensor<4xf32>
// CHECK: return
func.func @two_indices(%a: tensor<4xi32> {spmd.range = [0, 40]}, %b: tensor<4xi32> {spmd.range = [0, 60]},
                       %t: tensor<40xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                       %u: tensor<40xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                       %v: tensor<60xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: i32, %y: i32, %o: f32):
    %i = arith.index_cast %x : i32 to index
    %j = arith.index_cast %y : i32 to index
    %p = tensor.extract %t[%i] : tensor<40xf32>
    %q = tensor.extract %u[%i] : tensor<40xf32>
    %s = tensor.extract %v[%j] : tensor<60xf32>
    %pq = arith.divf %p, %q : f32
    %pqs = arith.subf %pq, %s : f32
    linalg.yield %pqs : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// One table by two indices: no shard has both rows. Gathered.
// CHECK-LABEL: func.func @differences
// CHECK: spmd.all_gather
// CHECK: return
func.func @differences(%a: tensor<4xi32> {spmd.range = [0, 40]}, %b: tensor<4xi32> {spmd.range = [0, 40]},
                       %t: tensor<40xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-99, 99]}) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %j = arith.index_cast %y : i32 to index
    %p = tensor.extract %t[%i] : tensor<40xi32>
    %q = tensor.extract %t[%j] : tensor<40xi32>
    %s = arith.subi %p, %q : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// An index that is looked up itself: its table is whole, the last one is not.
// CHECK-LABEL: func.func @chained
// CHECK: spmd.all_gather %{{.*}} <@m, [{"x"}]> {{.*}} : tensor<20xi32> -> tensor<40xi32>
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.all_reduce
// CHECK: return
func.func @chained(%a: tensor<4xi32> {spmd.range = [0, 40]}, %next: tensor<40xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 60]},
                   %t: tensor<60xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [-99, 99]}) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %next[%i] : tensor<40xi32>
    %j = arith.index_cast %p : i32 to index
    %q = tensor.extract %t[%j] : tensor<60xi32>
    linalg.yield %q : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// A divisor that is looked up must not be another one: whole.
// CHECK-LABEL: func.func @divisors
// CHECK: spmd.all_gather
// CHECK: return
func.func @divisors(%a: tensor<4xi32> {spmd.range = [0, 20]}, %t: tensor<20xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [1, 9]}) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %t[%i] : tensor<20xi32>
    %q = arith.divsi %x, %p : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Digits of the table's dim anywhere: a gap, a part of an axis, two axes.
func.func @gaps(%a: tensor<4xi32> {spmd.range = [0, 48]}, %t: tensor<48xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x", 2, "y"}]>, spmd.range = [-99, 99]},
                %u: tensor<48xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", 4, "x"}]>, spmd.range = [-99, 99]}) -> (tensor<4xi32>, tensor<4xi32>) {
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %t[%i] : tensor<48xi32>
    linalg.yield %p : i32
  } -> tensor<4xi32>
  %s = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %u[%i] : tensor<48xi32>
    linalg.yield %p : i32
  } -> tensor<4xi32>
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

// Uneven chunks, also of fewer rows than devices, and uneven rows of the result.
func.func @uneven(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 47]},
                  %t: tensor<47x2xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>},
                  %b: tensor<1xi32> {spmd.range = [0, 2]}, %u: tensor<2x40xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) -> (tensor<5x2xf32>, tensor<1xf32>) {
  %e = tensor.empty() : tensor<5x2xf32>
  %r = linalg.generic {indexing_maps = [#first, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%x: i32, %o: f32):
    %i = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %p = tensor.extract %t[%i, %j] : tensor<47x2xf32>
    linalg.yield %p : f32
  } -> tensor<5x2xf32>
  %f = tensor.empty() : tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%b : tensor<1xi32>) outs(%f : tensor<1xf32>) {
  ^bb0(%x: i32, %o: f32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %u[%i, %i] : tensor<2x40xf32>
    linalg.yield %p : f32
  } -> tensor<1xf32>
  return %r, %s : tensor<5x2xf32>, tensor<1xf32>
}

// Zeros keep their sign, NaN and infinities are as they were.
// CHECK-LABEL: func.func @signs
// CHECK-NOT: spmd.all_gather
// CHECK: arith.constant -0.0
// CHECK: spmd.all_reduce
// CHECK: return
func.func @signs(%a: tensor<8xi32> {spmd.range = [0, 12]}, %bits: tensor<48xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>, spmd.range = [0, 4]}) -> tensor<8xi32> {
  %values = arith.constant dense<[-0.0, 0.0, 0x7F800000, -1.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<48xf32>
  %t = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%bits : tensor<48xi32>) outs(%e : tensor<48xf32>) {
  ^bb0(%x: i32, %o: f32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %values[%i] : tensor<4xf32>
    linalg.yield %p : f32
  } -> tensor<48xf32>
  %f = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<8xi32>) outs(%f : tensor<8xf32>) {
  ^bb0(%x: i32, %o: f32):
    %i = arith.index_cast %x : i32 to index
    %p = tensor.extract %t[%i] : tensor<48xf32>
    linalg.yield %p : f32
  } -> tensor<8xf32>
  %s = arith.bitcast %r : tensor<8xf32> to tensor<8xi32>
  return %s : tensor<8xi32>
}

// A place that every device knows, and one that is computed from a loop.
func.func @known_places(%t: tensor<48xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [-99, 99]}) -> (tensor<6xi32>, tensor<6xi32>) {
  %c7 = arith.constant 7 : index
  %c31 = arith.constant 31 : index
  %e = tensor.empty() : tensor<6xi32>
  %r = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%e : tensor<6xi32>) {
  ^bb0(%o: i32):
    %p = tensor.extract %t[%c31] : tensor<48xi32>
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.addi %p, %j : i32
    linalg.yield %s : i32
  } -> tensor<6xi32>
  %g = tensor.generate {
  ^bb0(%i: index):
    %j = arith.muli %i, %c7 : index
    %p = tensor.extract %t[%j] : tensor<48xi32>
    tensor.yield %p : i32
  } : tensor<6xi32>
  return %r, %g : tensor<6xi32>, tensor<6xi32>
}

// The gradient of an embedding by comparing: each shard has its own rows.
// CHECK-LABEL: func.func @gradient
// CHECK-NOT: spmd.all
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
// CHECK-NOT: spmd.all
// CHECK: return
func.func @gradient(%ids: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 10]}, %d: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-99, 99]})
    -> (tensor<10x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %z = arith.constant dense<0> : tensor<10x4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(v, j, b) -> (b)>, affine_map<(v, j, b) -> (b, j)>, affine_map<(v, j, b) -> (v, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ids, %d : tensor<6xi32>, tensor<6x4xi32>) outs(%z : tensor<10x4xi32>) {
  ^bb0(%id: i32, %x: i32, %acc: i32):
    %c0 = arith.constant 0 : i32
    %v = linalg.index 0 : index
    %at = arith.index_cast %id : i32 to index
    %is = arith.cmpi eq, %at, %v : index
    %p = arith.select %is, %x, %c0 : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<10x4xi32>
  return %r : tensor<10x4xi32>
}

// The same row by row: rows may be the same, so that each reads what is there. A loop
// over places keeps the table whole.
func.func @gradient_loop(%ids: tensor<6xi32> {spmd.range = [0, 10]}, %d: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-99, 99]},
                         %table: tensor<10x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<10x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %table) -> tensor<10x4xi32> {
    %id = tensor.extract %ids[%k] : tensor<6xi32>
    %at = arith.index_cast %id : i32 to index
    %old = tensor.extract_slice %t[%at, 0] [1, 4] [1, 1] : tensor<10x4xi32> to tensor<4xi32>
    %row = tensor.extract_slice %d[%k, 0] [1, 4] [1, 1] : tensor<6x4xi32> to tensor<4xi32>
    %new = arith.addi %old, %row : tensor<4xi32>
    %next = tensor.insert_slice %new into %t[%at, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<10x4xi32>
    scf.yield %next : tensor<10x4xi32>
  }
  return %r : tensor<10x4xi32>
}

// In a loop the table is gathered once where that costs less than completing each
// result.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: spmd.all_gather
// CHECK: scf.for
// CHECK-NOT: spmd.all
// CHECK: return
func.func @in_a_loop(%ids: tensor<50x4xi32> {spmd.range = [0, 40]}, %table: tensor<40xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-99, 99]}) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c50 = arith.constant 50 : index
  %z = arith.constant dense<0> : tensor<4xi32>
  %r = scf.for %k = %c0 to %c50 step %c1 iter_args(%t = %z) -> tensor<4xi32> {
    %row = tensor.extract_slice %ids[%k, 0] [1, 4] [1, 1] : tensor<50x4xi32> to tensor<4xi32>
    %s = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%row : tensor<4xi32>) outs(%t : tensor<4xi32>) {
    ^bb0(%x: i32, %o: i32):
      %i = arith.index_cast %x : i32 to index
      %p = tensor.extract %table[%i] : tensor<40xi32>
      %n = arith.addi %o, %p : i32
      linalg.yield %n : i32
    } -> tensor<4xi32>
    scf.yield %s : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// What costs more, where it is asked for.
// CHECK-LABEL: func.func @as_told
// CHECK-NOT: spmd.all_gather %arg
// CHECK: spmd.reduce_scatter %{{.*}} sum <@m, [{}, {"x"}]> {{.*}} : tensor<20x4xf32> -> tensor<20x2xf32>
// CHECK: return
func.func @as_told(%ids: tensor<60xi32> {spmd.range = [0, 4]},
                     %table: tensor<4x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<60x4xf32> {
  %e = tensor.empty() : tensor<60x4xf32>
  %r = linalg.generic {indexing_maps = [#first, #ij], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<60xi32>) outs(%e : tensor<60x4xf32>) attrs = {spmd.factor_shardings = #spmd.factors<@m, [{"y"}, {}, {"x"}]>} {
  ^bb0(%id: i32, %o: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<4x4xf32>
    linalg.yield %v : f32
  } -> tensor<60x4xf32>
  return %r : tensor<60x4xf32>
}
