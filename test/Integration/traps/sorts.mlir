// Sorts of which few elements are kept, sharded along the sorted dim: every shard selects its candidates, then all
// select among these. Many elements are equal: values and indices are those of the unsharded program.
// RUN: shard-opt %s --spmd-default-pipeline="plan=propagation sink=false combine=false" | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-opt %s --spmd-report=plan=propagation -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Bytes count, not calls.
spmd.mesh @m = <["x"=2, "y"=4]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0e-9, 1.0e-9]}
#ij = affine_map<(i, j) -> (i, j)>

// The 8 greatest elements of rows and their indices, as of lax.top_k: 2 rows per device, 4 shards with 8 candidates
// of 4 bytes each for values and indices.
// CHECK-LABEL: func.func @top_k
// CHECK-NOT: spmd.all
// CHECK: spmd.sort {{.*}} dim = 1
// CHECK: (tensor<2x200xf32>, tensor<2x200xi32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
// CHECK-NEXT: spmd.all_gather %{{.*}} <@m, [{}, {"y"}]> {{.*}} : tensor<2x8xf32> -> tensor<2x32xf32>
// CHECK-NEXT: spmd.all_gather %{{.*}} <@m, [{}, {"y"}]> {{.*}} : tensor<2x8xi32> -> tensor<2x32xi32>
// CHECK-NEXT: spmd.sort {{.*}} dim = 1
// CHECK: (tensor<2x32xf32>, tensor<2x32xi32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
// CHECK-NOT: spmd.all
// CHECK: return
// REPORT: function @top_k
// REPORT: all_gather          {y}                2 x 256 B
func.func @top_k(%a: tensor<4x800xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 100]}) -> (tensor<4x8xf32>, tensor<4x8xi32>) {
  %f = arith.sitofp %a : tensor<4x800xi8> to tensor<4x800xf32>
  %e = tensor.empty() : tensor<4x800xi32>
  %i = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x800xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<4x800xi32>
  %r:2 = spmd.sort %f, %i dim = 1 {
  ^bb0(%x: f32, %y: f32, %p: i32, %q: i32):
    %before = arith.cmpf ogt, %x, %y : f32
    spmd.yield %before
  } : (tensor<4x800xf32>, tensor<4x800xi32>) -> (tensor<4x800xf32>, tensor<4x800xi32>)
  %v = tensor.extract_slice %r#0[0, 0] [4, 8] [1, 1] : tensor<4x800xf32> to tensor<4x8xf32>
  %w = tensor.extract_slice %r#1[0, 0] [4, 8] [1, 1] : tensor<4x800xi32> to tensor<4x8xi32>
  return %v, %w : tensor<4x8xf32>, tensor<4x8xi32>
}

// Uneven shards along both dims; NaN is greater than all numbers, and comes last. The fifth of the order alone is read,
// as in kthvalue: five are kept. Padding is none of them: the operand that is false in it is not gathered.
// CHECK-LABEL: func.func @kth_value
// CHECK-NOT: spmd.all
// CHECK: spmd.sort {{.*}} dim = 1
// CHECK: -> (tensor<2x5xf32>, tensor<2x5xi16>, tensor<2x5xi1>)
// CHECK-NEXT: spmd.all_gather %{{.*}} : tensor<2x5xf32> -> tensor<2x20xf32>
// CHECK-NEXT: spmd.all_gather %{{.*}} : tensor<2x5xi16> -> tensor<2x20xi16>
// CHECK-NOT: spmd.all
// CHECK: return
func.func @kth_value(%a: tensor<3x997xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-2, 3]}, %b: tensor<3x997xi16> {spmd.range = [-900, 900]}) -> (tensor<3xf32>, tensor<3xi16>) {
  %nan = arith.constant 0x7FC00000 : f32
  %c1 = arith.constant 1 : i8
  %e = tensor.empty() : tensor<3x997xf32>
  %f = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x997xi8>) outs(%e : tensor<3x997xf32>) {
  ^bb0(%x: i8, %o: f32):
    %y = arith.sitofp %x : i8 to f32
    %c = arith.cmpi ne, %x, %c1 : i8
    %z = arith.select %c, %nan, %y : f32
    linalg.yield %z : f32
  } -> tensor<3x997xf32>
  %r:2 = spmd.sort %f, %b dim = 1 {
  ^bb0(%x: f32, %y: f32, %p: i16, %q: i16):
    %less = arith.cmpf olt, %x, %y : f32
    %number = arith.cmpf ord, %x, %x : f32
    %isnan = arith.cmpf uno, %y, %y : f32
    %last = arith.andi %number, %isnan : i1
    %before = arith.ori %less, %last : i1
    spmd.yield %before
  } : (tensor<3x997xf32>, tensor<3x997xi16>) -> (tensor<3x997xf32>, tensor<3x997xi16>)
  %v = tensor.extract_slice %r#0[0, 4] [3, 1] [1, 1] : tensor<3x997xf32> to tensor<3xf32>
  %w = tensor.extract_slice %r#1[0, 4] [3, 1] [1, 1] : tensor<3x997xi16> to tensor<3xi16>
  return %v, %w : tensor<3xf32>, tensor<3xi16>
}

// The last elements of an order by two keys along the first dim, uneven.
// CHECK-LABEL: func.func @last
// CHECK-NOT: spmd.all
// CHECK: spmd.sort {{.*}} dim = 0 last
// CHECK: spmd.all_gather
// CHECK: return
func.func @last(%a: tensor<1001x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [0, 3]}, %b: tensor<1001x2xi32> {spmd.range = [0, 4]}, %c: tensor<1001x2xi64>) -> (tensor<4x2xi32>, tensor<3x2xi64>) {
  %r:3 = spmd.sort %a, %b, %c dim = 0 {
  ^bb0(%x: i32, %y: i32, %p: i32, %q: i32, %s: i64, %t: i64):
    %less = arith.cmpi slt, %x, %y : i32
    %equal = arith.cmpi eq, %x, %y : i32
    %greater = arith.cmpi ugt, %p, %q : i32
    %before = arith.select %equal, %greater, %less : i1
    spmd.yield %before
  } : (tensor<1001x2xi32>, tensor<1001x2xi32>, tensor<1001x2xi64>) -> (tensor<1001x2xi32>, tensor<1001x2xi32>, tensor<1001x2xi64>)
  %v = tensor.extract_slice %r#1[997, 0] [4, 2] [1, 1] : tensor<1001x2xi32> to tensor<4x2xi32>
  %w = tensor.extract_slice %r#2[998, 0] [3, 2] [1, 1] : tensor<1001x2xi64> to tensor<3x2xi64>
  return %v, %w : tensor<4x2xi32>, tensor<3x2xi64>
}

// One element of 10 on 8 devices: three of them have padding only, which candidates are compared with.
// CHECK-LABEL: func.func @first
// CHECK: spmd.sort
// CHECK: spmd.all_gather %{{.*}} : tensor<1xi32> -> tensor<8xi32>
// CHECK-NEXT: spmd.all_gather %{{.*}} : tensor<1xi1> -> tensor<8xi1>
// CHECK: return
func.func @first(%a: tensor<10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>, spmd.range = [-9, 9]}) -> tensor<1xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi slt, %x, %y : i32
    spmd.yield %before
  } : (tensor<10xi32>) -> (tensor<1xi32>)
  return %r : tensor<1xi32>
}

// More than a shard has: the dim is gathered.
// CHECK-LABEL: func.func @many
// CHECK: spmd.all_gather %arg0
// CHECK-NOT: spmd.all
// CHECK: return
func.func @many(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 5]}) -> tensor<5xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi sgt, %x, %y : i32
    spmd.yield %before
  } : (tensor<12xi32>) -> (tensor<5xi32>)
  return %r : tensor<5xi32>
}

// All elements, as many as network rounds take; the other dim stays sharded.
// CHECK-LABEL: func.func @all
// CHECK: spmd.all_gather %arg0
// CHECK-NOT: spmd.all
// CHECK: spmd.sort {{.*}} dim = 1
// CHECK: (tensor<2x300xi32>) -> tensor<2x300xi32>
// CHECK-NOT: spmd.all
// CHECK: return
func.func @all(%a: tensor<4x300xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 90]}) -> tensor<4x300xi32> {
  %r = spmd.sort %a dim = 1 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi sgt, %x, %y : i32
    spmd.yield %before
  } : (tensor<4x300xi32>) -> (tensor<4x300xi32>)
  return %r : tensor<4x300xi32>
}

// Candidates of strided shards are in another order than the dim.
// CHECK-LABEL: func.func @strided
// CHECK: spmd.all_gather %arg0
// CHECK: return
func.func @strided(%a: tensor<1200xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "x"}]>, spmd.range = [0, 9]}) -> tensor<2xi32> {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi slt, %x, %y : i32
    spmd.yield %before
  } : (tensor<1200xi32>) -> (tensor<2xi32>)
  return %r : tensor<2xi32>
}

// Slices of a result in reverse: the elements from the last one on.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: spmd.all
// CHECK: spmd.sort {{.*}} dim = 0 last
// CHECK: (tensor<300xi32>) -> tensor<3xi32>
// CHECK: spmd.all_gather %{{.*}} : tensor<3xi32> -> tensor<12xi32>
// CHECK-NOT: spmd.all
// CHECK: return
func.func @reversed(%a: tensor<1200xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [-900, 900]}) -> (tensor<2xi32>, tensor<i32>) {
  %r = spmd.sort %a dim = 0 {
  ^bb0(%x: i32, %y: i32):
    %before = arith.cmpi slt, %x, %y : i32
    spmd.yield %before
  } : (tensor<1200xi32>) -> (tensor<1200xi32>)
  %e = tensor.empty() : tensor<1200xi32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (-i + 1199)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%r : tensor<1200xi32>) outs(%e : tensor<1200xi32>) {
  ^bb0(%x: i32, %o: i32):
    linalg.yield %x : i32
  } -> tensor<1200xi32>
  %v = tensor.extract_slice %b[1] [2] [1] : tensor<1200xi32> to tensor<2xi32>
  %w = tensor.extract_slice %b[0] [1] [1] : tensor<1200xi32> to tensor<i32>
  return %v, %w : tensor<2xi32>, tensor<i32>
}
