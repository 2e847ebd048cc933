// Each result of a generic combines in its own way; a result whose combiner is
// not one associative op keeps the loop whole for all.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @sum_and_max(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-50, 50]},
                       %s0: tensor<6xi32> {spmd.range = [-9, 10]},
                       %m0: tensor<6xi32> {spmd.range = [-9, 10]}) -> (tensor<6xi32>, tensor<6xi32>) {
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x8xi32>) outs(%s0, %m0 : tensor<6xi32>, tensor<6xi32>) {
  ^bb0(%x: i32, %s: i32, %m: i32):
    %0 = arith.addi %s, %x : i32
    %1 = arith.maxsi %m, %x : i32
    linalg.yield %0, %1 : i32, i32
  } -> (tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}

func.func @four(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [1, 4]})
    -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %c0 = arith.constant dense<0> : tensor<6xi32>
  %c1 = arith.constant dense<1> : tensor<6xi32>
  %c7 = arith.constant dense<7> : tensor<6xi32>
  %r:4 = linalg.generic {indexing_maps = [#ij, #i, #i, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x8xi32>) outs(%c0, %c1, %c7, %c7 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  ^bb0(%x: i32, %s: i32, %p: i32, %n: i32, %z: i32):
    %0 = arith.xori %x, %s : i32
    %1 = arith.muli %p, %x : i32
    %2 = arith.minui %x, %n : i32
    %3 = arith.addi %z, %x : i32
    linalg.yield %0, %1, %2, %3 : i32, i32, i32, i32
  } -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

// Argmax: the index result depends on the accumulated maximum.
func.func @argmax(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-1000, 1000]})
    -> (tensor<6xi32>, tensor<6xi32>) {
  %low = arith.constant dense<-2147483648> : tensor<6xi32>
  %zero = arith.constant dense<0> : tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x8xi32>) outs(%low, %zero : tensor<6xi32>, tensor<6xi32>) {
  ^bb0(%x: i32, %m: i32, %k: i32):
    %j = linalg.index 1 : index
    %jj = arith.index_cast %j : index to i32
    %c = arith.cmpi sgt, %x, %m : i32
    %0 = arith.select %c, %x, %m : i32
    %1 = arith.select %c, %jj, %k : i32
    linalg.yield %0, %1 : i32, i32
  } -> (tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}

// A sum that carries on from the other accumulator.
func.func @entangled(%a: tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]})
    -> (tensor<6xi32>, tensor<6xi32>) {
  %zero = arith.constant dense<0> : tensor<6xi32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x8xi32>) outs(%zero, %zero : tensor<6xi32>, tensor<6xi32>) {
  ^bb0(%x: i32, %s: i32, %t: i32):
    %0 = arith.addi %s, %x : i32
    %1 = arith.addi %t, %0 : i32
    linalg.yield %0, %1 : i32, i32
  } -> (tensor<6xi32>, tensor<6xi32>)
  return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
}
