// Scatters: as written, each element visits each update; as compiled, there is a loop over the updates, each of which changes one element.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: all equal bit by bit
// RUN: shard-compile %s --emit=tensor | FileCheck %s --check-prefix=LOOP

#row = affine_map<(d0, d1, d2) -> (d2)>
#update = affine_map<(d0, d1, d2) -> (d2, d1)>
#table = affine_map<(d0, d1, d2) -> (d0, d1)>

// Rows, some of which no update is for, and updates that are for no row.
// LOOP-LABEL: sk_fn_rows
// LOOP-NOT: reduction
// LOOP: scf.for {{.*}} to %c12
// LOOP: arith.cmpi ult
// LOOP-NOT: reduction
// LOOP-LABEL: sk_fn_largest
func.func @rows(%table: tensor<8x5xf32>, %at: tensor<12xi32> {spmd.range = [-2, 10]}, %new: tensor<12x5xf32>) -> tensor<8x5xf32> {
  %zero = arith.constant -0.0 : f32
  %0 = linalg.generic {indexing_maps = [#row, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%at, %new : tensor<12xi32>, tensor<12x5xf32>) outs(%table : tensor<8x5xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %zero : f32
    %sum = arith.addf %old, %given : f32
    linalg.yield %sum : f32
  } -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// An update is a window from its index on; two indices; other combinations than sums.
func.func @largest(%table: tensor<8x7xi32>, %r: tensor<6xi64> {spmd.range = [0, 7]}, %c: tensor<6xi64> {spmd.range = [-1, 8]}, %new: tensor<6x2xi32>) -> tensor<8x7xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2)>, affine_map<(d0, d1, d2, d3) -> (d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %c, %new : tensor<6xi64>, tensor<6xi64>, tensor<6x2xi32>) outs(%table : tensor<8x7xi32>) {
  ^bb0(%a: i64, %b: i64, %u: i32, %old: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 3 : index
    %first = arith.index_cast %a : i64 to index
    %p = arith.addi %first, %k : index
    %q = arith.index_cast %b : i64 to index
    %same = arith.cmpi eq, %p, %i : index
    %too = arith.cmpi eq, %j, %q : index
    %here = arith.andi %same, %too : i1
    %given = arith.select %here, %u, %old : i32
    %larger = arith.maxsi %given, %old : i32
    linalg.yield %larger : i32
  } -> tensor<8x7xi32>
  return %0 : tensor<8x7xi32>
}

// Places of each batch; the last update stays.
func.func @of_each(%table: tensor<3x8xf64>, %at: tensor<3x5xi32> {spmd.range = [0, 8]}, %new: tensor<3x5xf64>) -> tensor<3x8xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%at, %new : tensor<3x5xi32>, tensor<3x5xf64>) outs(%table : tensor<3x8xf64>) {
  ^bb0(%a: i32, %u: f64, %old: f64):
    %i = linalg.index 1 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %p, %i : index
    %given = arith.select %here, %u, %old : f64
    linalg.yield %given : f64
  } -> tensor<3x8xf64>
  return %0 : tensor<3x8xf64>
}

// Not scatters: +0 changes -0, and other elements are updated by other values than -0.
// LOOP-LABEL: sk_fn_no_scatter
// LOOP: reduction
// LOOP: reduction
func.func @no_scatter(%table: tensor<8xf32>, %at: tensor<5xi32> {spmd.range = [0, 8]}, %new: tensor<5xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%at, %new : tensor<5xi32>, tensor<5xf32>) outs(%table : tensor<8xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %zero : f32
    %sum = arith.addf %old, %given : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%at, %new : tensor<5xi32>, tensor<5xf32>) outs(%table : tensor<8xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %one : f32
    %product = arith.maximumf %old, %given : f32
    linalg.yield %product : f32
  } -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
