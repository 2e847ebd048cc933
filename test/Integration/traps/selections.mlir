// Reductions that pick one of many: every shard picks, then all pick among what the
// shards have picked.
// RUN: shard-opt %s --spmd-default-pipeline="sink=false combine=false" | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones

// Bytes count, not calls.
spmd.mesh @m = <["x"=2, "y"=3]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0e-9, 1.0e-9]}
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// Where the greatest element of a row is: the first of equals. Many are equal.
// CHECK-LABEL: func.func @argmax
// CHECK-NOT: spmd.all
// CHECK: linalg.generic
// CHECK-NOT: spmd.all
// CHECK: spmd.all_gather %{{.*}} <@m, [{"y"}, {}]> {{.*}} : tensor<1x4xf32> -> tensor<3x4xf32>
// CHECK-NEXT: tensor.expand_shape
// CHECK-NEXT: spmd.all_gather %{{.*}} <@m, [{"y"}, {}]> {{.*}} : tensor<1x4xi64> -> tensor<3x4xi64>
// CHECK-NEXT: linalg.generic
// CHECK-NOT: linalg.index
// CHECK-NOT: spmd.all
// CHECK: return
func.func @argmax(%a: tensor<8x1200xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 100]}) -> (tensor<8xf32>, tensor<8xi64>) {
  %f = arith.sitofp %a : tensor<8x1200xi8> to tensor<8x1200xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %zero = arith.constant dense<0> : tensor<8xi64>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%f : tensor<8x1200xf32>) outs(%low, %zero : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%x: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %x, %best : f32
    %v = arith.select %c, %x, %best : f32
    %w = arith.select %c, %k, %at : i64
    linalg.yield %v, %w : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi64>
}

// The lowest index of equals, and NaN wins, as JAX compares them; with an operand of
// indices. 7 columns in 3 chunks.
// CHECK-LABEL: func.func @argmax_of_pairs
// CHECK-NOT: spmd.all_gather %arg
// CHECK: linalg.generic
// CHECK: spmd.all_gather
// CHECK: return
func.func @argmax_of_pairs(%a: tensor<997x3xi8> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 9]}, %places: tensor<997xi32> {spmd.range = [0, 50]}) -> (tensor<3xf32>, tensor<3xi32>) {
  %nan = arith.constant 0x7FC00000 : f32
  %c8 = arith.constant 8 : i8
  %e = tensor.empty() : tensor<997x3xf32>
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<997x3xi8>) outs(%e : tensor<997x3xf32>) {
  ^bb0(%x: i8, %o: f32):
    %y = arith.sitofp %x : i8 to f32
    %c = arith.cmpi eq, %x, %c8 : i8
    %z = arith.select %c, %nan, %y : f32
    linalg.yield %z : f32
  } -> tensor<997x3xf32>
  %low = arith.constant dense<0xFF800000> : tensor<3xf32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #j, #j], iterator_types = ["reduction", "parallel"]} ins(%f, %places : tensor<997x3xf32>, tensor<997xi32>) outs(%low, %zero : tensor<3xf32>, tensor<3xi32>) {
  ^bb0(%x: f32, %k: i32, %best: f32, %at: i32):
    %gt = arith.cmpf ogt, %best, %x : f32
    %nans = arith.cmpf une, %best, %best : f32
    %keep = arith.ori %gt, %nans : i1
    %eq = arith.cmpf oeq, %best, %x : f32
    %first = arith.cmpi slt, %at, %k : i32
    %tie = arith.andi %eq, %first : i1
    %both = arith.ori %keep, %tie : i1
    %v = arith.select %keep, %best, %x : f32
    %w = arith.select %both, %at, %k : i32
    linalg.yield %v, %w : f32, i32
  } -> (tensor<3xf32>, tensor<3xi32>)
  return %r#0, %r#1 : tensor<3xf32>, tensor<3xi32>
}

// The last of equals: the init would win a tie against it in each shard. Whole.
// CHECK-LABEL: func.func @last
// CHECK: spmd.all_gather %{{.*}} <@m, [{}, {"y"}]>
// CHECK: return
func.func @last(%a: tensor<8x1200xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [0, 9]}) -> (tensor<8xi32>, tensor<8xindex>) {
  %low = arith.constant dense<0> : tensor<8xi32>
  %zero = arith.constant dense<0> : tensor<8xindex>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x1200xi32>) outs(%low, %zero : tensor<8xi32>, tensor<8xindex>) {
  ^bb0(%x: i32, %best: i32, %at: index):
    %j = linalg.index 1 : index
    %c = arith.cmpi sge, %x, %best : i32
    %v = arith.select %c, %x, %best : i32
    %w = arith.select %c, %j, %at : index
    linalg.yield %v, %w : i32, index
  } -> (tensor<8xi32>, tensor<8xindex>)
  return %r#0, %r#1 : tensor<8xi32>, tensor<8xindex>
}

// A maximum written as compare and select; unsigned; outputs in other orders.
// CHECK-LABEL: func.func @select
// CHECK-NOT: spmd.all_gather %arg
// CHECK: return
func.func @select(%a: tensor<8x6x400xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"y", "x"}]>, spmd.range = [-9, 9]}) -> (tensor<8x6xi32>, tensor<6x8xindex>) {
  %low = arith.constant dense<0> : tensor<8x6xi32>
  %zero = arith.constant dense<0> : tensor<6x8xindex>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (i, j, k)>, affine_map<(k, i, j) -> (i, j)>, affine_map<(k, i, j) -> (j, i)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a : tensor<8x6x400xi32>) outs(%low, %zero : tensor<8x6xi32>, tensor<6x8xindex>) {
  ^bb0(%x: i32, %best: i32, %at: index):
    %k = linalg.index 0 : index
    %c = arith.cmpi uge, %best, %x : i32
    %v = arith.select %c, %best, %x : i32
    %w = arith.select %c, %at, %k : index
    linalg.yield %v, %w : i32, index
  } -> (tensor<8x6xi32>, tensor<6x8xindex>)
  return %r#0, %r#1 : tensor<8x6xi32>, tensor<6x8xindex>
}

// An order of elements that is none of the dim's (gaps): whole.
// CHECK-LABEL: func.func @gaps
// CHECK: spmd.all_gather
// CHECK: return
func.func @gaps(%a: tensor<1200xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}]>, spmd.range = [0, 9]}) -> (tensor<i32>, tensor<index>) {
  %low = arith.constant dense<0> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<index>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<1200xi32>) outs(%low, %zero : tensor<i32>, tensor<index>) {
  ^bb0(%x: i32, %best: i32, %at: index):
    %j = linalg.index 0 : index
    %c = arith.cmpi sgt, %x, %best : i32
    %v = arith.select %c, %x, %best : i32
    %w = arith.select %c, %j, %at : index
    linalg.yield %v, %w : i32, index
  } -> (tensor<i32>, tensor<index>)
  return %r#0, %r#1 : tensor<i32>, tensor<index>
}

// A maximum that keeps NaN beside an index that does not: after a NaN no shard knows
// what came before. Whole.
// CHECK-LABEL: func.func @nan_beside_index
// CHECK: spmd.all_gather
// CHECK: return
func.func @nan_beside_index(%a: tensor<1200xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<f32>, tensor<index>) {
  %low = arith.constant dense<0xFF800000> : tensor<f32>
  %zero = arith.constant dense<0> : tensor<index>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<1200xf32>) outs(%low, %zero : tensor<f32>, tensor<index>) {
  ^bb0(%x: f32, %best: f32, %at: index):
    %j = linalg.index 0 : index
    %c = arith.cmpf ogt, %x, %best : f32
    %v = arith.maximumf %x, %best : f32
    %w = arith.select %c, %j, %at : index
    linalg.yield %v, %w : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0, %r#1 : tensor<f32>, tensor<index>
}

// Several outputs of a named reduction, uneven.
// CHECK-LABEL: func.func @named
// CHECK-NOT: spmd.all_gather %arg
// CHECK: return
func.func @named(%a: tensor<997x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 9]}, %at: tensor<997x4xi32> {spmd.range = [0, 1000]}) -> (tensor<4xi32>, tensor<4xi32>) {
  %low = arith.constant dense<-1> : tensor<4xi32>
  %r:2 = linalg.reduce ins(%a, %at : tensor<997x4xi32>, tensor<997x4xi32>) outs(%low, %low : tensor<4xi32>, tensor<4xi32>) dimensions = [0]
    (%x: i32, %k: i32, %best: i32, %i: i32) {
      %c = arith.cmpi slt, %best, %x : i32
      %v = arith.select %c, %x, %best : i32
      %w = arith.select %c, %k, %i : i32
      linalg.yield %v, %w : i32, i32
    }
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
