// Meshes over the same devices in one function: their shardings are spellings of one mesh.
// RUN: shard-run %s --random-inputs=3 --verify=exact --function=permuted
// RUN: shard-run %s --random-inputs=4 --verify=exact --function=regrouped

spmd.mesh @a = <["x"=2, "y"=4]>
spmd.mesh @b = <["u"=4, "v"=2]>
spmd.mesh @t = <["p"=4, "q"=2], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>

// @t lists the devices of @a transposed.
func.func @permuted(%x: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@a, [{"x"}, {?}]>, spmd.range = [0, 100]},
                    %y: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@b, [{?}, {"v"}]>, spmd.range = [0, 100]},
                    %w: tensor<16x24xi32> {spmd.sharding = #spmd.sharding<@t, [{"p"}, {"q"}]>, spmd.range = [0, 100]}) -> tensor<8x24xi32> {
  %0 = arith.addi %x, %y : tensor<8x16xi32>
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x24xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<8x24xi32>) -> tensor<8x24xi32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x16xi32>, tensor<16x24xi32>) outs(%f : tensor<8x24xi32>) -> tensor<8x24xi32>
  %2 = spmd.with_sharding_constraint %1 <@b, [{"u"}, {?}]> : tensor<8x24xi32>
  %3 = spmd.with_sharding_constraint %2 <@t, [{"q"}, {"p"}]> : tensor<8x24xi32>
  return %3 : tensor<8x24xi32>
}

spmd.mesh @six = <["x"=2, "y"=3]>
spmd.mesh @seven = <["u"=3, "v"=2]>

// Axes of 2 x 3 and of 3 x 2, the indices read.
func.func @regrouped(%x: tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@six, [{"x"}, {"y"}]>, spmd.range = [0, 100]},
                     %y: tensor<12x18xi32> {spmd.sharding = #spmd.sharding<@seven, [{"u"}, {"v"}]>, spmd.range = [0, 100]}) -> (tensor<12x18xi32>, tensor<12xi32>) {
  %e = tensor.empty() : tensor<12x18xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<12x18xi32>, tensor<12x18xi32>) outs(%e : tensor<12x18xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %a = arith.muli %p, %i32 : i32
    %b = arith.muli %q, %j32 : i32
    %s = arith.addi %a, %b : i32
    linalg.yield %s : i32
  } -> tensor<12x18xi32>
  %c = arith.constant 7 : i32
  %r = tensor.empty() : tensor<12xi32>
  %z = linalg.fill ins(%c : i32) outs(%r : tensor<12xi32>) -> tensor<12xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<12x18xi32>) outs(%z : tensor<12xi32>) {
  ^bb0(%p: i32, %o: i32):
    %s = arith.addi %p, %o : i32
    linalg.yield %s : i32
  } -> tensor<12xi32>
  return %0, %1 : tensor<12x18xi32>, tensor<12xi32>
}
