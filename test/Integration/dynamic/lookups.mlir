// Lookups in a cut table and places of the greatest of a cut dim, of as many rows as is known at run time only: every shard looks up and picks, what is moved is of unknown size.
// REQUIRES: shard-run
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact
// CHECK-LABEL: func.func @rows
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}} : tensor<?x6xi32>
// CHECK-LABEL: func.func @places
// CHECK: spmd.all_gather %{{.*}} <@m, [{"x"}, {}]> {{.*}} : tensor<1x?xi32> -> tensor<2x?xi32>
// CHECK: spmd.all_gather %{{.*}} <@m, [{"x"}, {}]> {{.*}} : tensor<1x?xi32> -> tensor<2x?xi32>

spmd.mesh @m = <["x"=2, "y"=3]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0e-9, 1.0e-9]}

// Rows of a table that is cut along its rows, as many as an argument says.
func.func @rows(%t: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<8xi32> {spmd.range = [0, 12], spmd.sharding = #spmd.sharding<@m, [{}]>}, %n: tensor<i32> {spmd.range = [0, 9]}) -> tensor<8x6xi32> {
  %k = tensor.extract %n[] : tensor<i32>
  %j = arith.index_cast %k : i32 to index
  %m = affine.min affine_map<()[s0] -> (s0, 8)>()[%j]
  %s = tensor.extract_slice %i[0] [%m] [1] : tensor<8xi32> to tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?x6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?xi32>) outs(%e : tensor<?x6xi32>) {
  ^bb0(%w: i32, %o: i32):
    %p = arith.index_cast %w : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %t[%p, %c] : tensor<12x6xi32>
    linalg.yield %v : i32
  } -> tensor<?x6xi32>
  %z = arith.constant dense<0> : tensor<8x6xi32>
  %q = tensor.insert_slice %r into %z[0, 0] [%m, 6] [1, 1] : tensor<?x6xi32> into tensor<8x6xi32>
  return %q : tensor<8x6xi32>
}

// The place of the greatest of each row.
func.func @places(%a: tensor<8x1200xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %n: tensor<i32> {spmd.range = [0, 9]}) -> tensor<8xi32> {
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %k = tensor.extract %n[] : tensor<i32>
  %j = arith.index_cast %k : i32 to index
  %m = affine.min affine_map<()[s0] -> (s0, 8)>()[%j]
  %s = tensor.extract_slice %a[0, 0] [%m, 1200] [1, 1] : tensor<8x1200xi32> to tensor<?x1200xi32>
  %e = tensor.empty(%m) : tensor<?xi32>
  %f = linalg.fill ins(%least : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %g = linalg.fill ins(%zero : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<?x1200xi32>) outs(%f, %g : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%x: i32, %best: i32, %at: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    %is = arith.cmpi sgt, %x, %best : i32
    %v = arith.select %is, %x, %best : i32
    %w = arith.select %is, %c, %at : i32
    linalg.yield %v, %w : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
  %z = arith.constant dense<0> : tensor<8xi32>
  %q = tensor.insert_slice %r#1 into %z[0] [%m] [1] : tensor<?xi32> into tensor<8xi32>
  return %q : tensor<8xi32>
}
