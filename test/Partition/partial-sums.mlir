// Partial sums go through sums, differences, transposes and views, and are completed once after them.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @dx
// CHECK-NOT: = spmd.
// CHECK: linalg.add
// CHECK-NEXT: spmd.all_reduce %{{.*}} sum <@m, {"x"}>
// CHECK-NOT: = spmd.
// CHECK: return
// dx of q, k and v as a front end writes it: products, one transposed, sums in generics.
func.func @dx(%a: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]}, %w: tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
              %b: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]}, %v: tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
              %u: tensor<12x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]}) -> tensor<8x3x4xi32> {
  %z = arith.constant dense<0> : tensor<8x12xi32>
  %zt = arith.constant dense<0> : tensor<12x8xi32>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xi32>, tensor<16x12xi32>) outs(%z : tensor<8x12xi32>) -> tensor<8x12xi32>
  %q = linalg.matmul ins(%b, %v : tensor<8x16xi32>, tensor<16x12xi32>) outs(%z : tensor<8x12xi32>) -> tensor<8x12xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %b : tensor<12x16xi32>, tensor<8x16xi32>) outs(%zt : tensor<12x8xi32>) {
  ^bb0(%s: i32, %t: i32, %o: i32):
    %m = arith.muli %s, %t : i32
    %n = arith.addi %o, %m : i32
    linalg.yield %n : i32
  } -> tensor<12x8xi32>
  %e = tensor.empty() : tensor<8x12xi32>
  %rt = linalg.transpose ins(%r : tensor<12x8xi32>) outs(%e : tensor<8x12xi32>) permutation = [1, 0]
  %s1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<8x12xi32>, tensor<8x12xi32>) outs(%e : tensor<8x12xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %n = arith.subi %x, %y : i32
    linalg.yield %n : i32
  } -> tensor<8x12xi32>
  %s2 = linalg.add ins(%s1, %rt : tensor<8x12xi32>, tensor<8x12xi32>) outs(%e : tensor<8x12xi32>) -> tensor<8x12xi32>
  %x = tensor.expand_shape %s2 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xi32> into tensor<8x3x4xi32>
  return %x : tensor<8x3x4xi32>
}

// A product of partial sums is not partial, a complete summand is not added on every device, and a value with other readers is
// completed first.
// CHECK-LABEL: func.func @not_carried
// CHECK-COUNT-4: spmd.all_reduce
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @not_carried(%a: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]}, %w: tensor<16x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]},
                       %b: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-9, 9]}) -> (tensor<8x12xi32>, tensor<8x12xi32>, tensor<8x12xi32>) {
  %z = arith.constant dense<0> : tensor<8x12xi32>
  %p = linalg.matmul ins(%a, %w : tensor<8x16xi32>, tensor<16x12xi32>) outs(%z : tensor<8x12xi32>) -> tensor<8x12xi32>
  %one = arith.constant dense<1> : tensor<8x12xi32>
  %q = linalg.matmul ins(%a, %w : tensor<8x16xi32>, tensor<16x12xi32>) outs(%one : tensor<8x12xi32>) -> tensor<8x12xi32>
  %two = arith.constant dense<2> : tensor<8x12xi32>
  %r = linalg.matmul ins(%a, %w : tensor<8x16xi32>, tensor<16x12xi32>) outs(%two : tensor<8x12xi32>) -> tensor<8x12xi32>
  %s = linalg.matmul ins(%a, %w : tensor<8x16xi32>, tensor<16x12xi32>) outs(%b : tensor<8x12xi32>) -> tensor<8x12xi32>
  %0 = arith.muli %p, %q : tensor<8x12xi32>
  %1 = arith.addi %r, %b : tensor<8x12xi32>
  %2 = arith.subi %s, %1 : tensor<8x12xi32>
  return %0, %1, %2 : tensor<8x12xi32>, tensor<8x12xi32>, tensor<8x12xi32>
}
