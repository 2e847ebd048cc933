// Tensors that the body of a generic captures: cut where it is read exactly at
// the index of a loop, whole where it is read at a computed one.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>
#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>

func.func @by_loop_index(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]},
                         %t: tensor<12xi32> {spmd.range = [0, 1000]}) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%x: i32, %o: i32):
    %k = linalg.index 0 : index
    %v = tensor.extract %t[%k] : tensor<12xi32>
    %s = arith.subi %x, %v : i32
    linalg.yield %s : i32
  } -> tensor<12xi32>
  return %r : tensor<12xi32>
}

// The index is local where it reads the cut dim and global everywhere else.
func.func @by_loop_index_and_value(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{2, "y"}]>, spmd.range = [0, 1000]},
                                   %t: tensor<12xi32> {spmd.range = [0, 1000]}) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%x: i32, %o: i32):
    %k = linalg.index 0 : index
    %v = tensor.extract %t[%k] : tensor<12xi32>
    %kk = arith.index_cast %k : index to i32
    %s = arith.subi %x, %v : i32
    %q = arith.muli %s, %kk : i32
    linalg.yield %q : i32
  } -> tensor<12xi32>
  return %r : tensor<12xi32>
}

// An embedding: rows by token, columns by the loop index.
func.func @gather_rows(%ids: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 10]},
                       %table: tensor<10x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x12xi32> {
  %e = tensor.empty() : tensor<6x12xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<6xi32>) outs(%e : tensor<6x12xi32>) {
  ^bb0(%id: i32, %o: i32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<10x12xi32>
    linalg.yield %v : i32
  } -> tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}

// Reverse: a computed index of the loop itself.
func.func @reverse(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}]>, spmd.range = [0, 1000]}) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %c11 = arith.constant 11 : index
  %r = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%e : tensor<12xi32>) {
  ^bb0(%o: i32):
    %k = linalg.index 0 : index
    %l = arith.subi %c11, %k : index
    %v = tensor.extract %a[%l] : tensor<12xi32>
    linalg.yield %v : i32
  } -> tensor<12xi32>
  return %r : tensor<12xi32>
}

// Twice: once at the loop's index, once beside it.
func.func @neighbours(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]}) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12xi32>
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<12xi32>) outs(%e : tensor<12xi32>) {
  ^bb0(%x: i32, %o: i32):
    %k = linalg.index 0 : index
    %n = arith.addi %k, %c1 : index
    %l = arith.remui %n, %c12 : index
    %u = tensor.extract %a[%k] : tensor<12xi32>
    %v = tensor.extract %a[%l] : tensor<12xi32>
    %s = arith.subi %u, %v : i32
    %q = arith.muli %s, %x : i32
    linalg.yield %q : i32
  } -> tensor<12xi32>
  return %r : tensor<12xi32>
}

// Captured in two orders of the loops: no dim of it follows one loop.
func.func @both_orders(%a: tensor<6x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x6xi32> {
  %e = tensor.empty() : tensor<6x6xi32>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<6x6xi32>) {
  ^bb0(%o: i32):
    %k = linalg.index 0 : index
    %l = linalg.index 1 : index
    %u = tensor.extract %a[%k, %l] : tensor<6x6xi32>
    %v = tensor.extract %a[%l, %k] : tensor<6x6xi32>
    %s = arith.subi %u, %v : i32
    linalg.yield %s : i32
  } -> tensor<6x6xi32>
  return %r : tensor<6x6xi32>
}

// A loop that only the captured tensor reads is reduced.
func.func @captured_reduction(%a: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 9]},
                              %t: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [0, 9]}, 
                              %u: tensor<12xi32> {spmd.range = [0, 9]}) -> tensor<6xi32> {
  %c0 = arith.constant dense<0> : tensor<6xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %u : tensor<6xi32>, tensor<12xi32>) outs(%c0 : tensor<6xi32>) {
  ^bb0(%x: i32, %y: i32, %acc: i32):
    %k = linalg.index 0 : index
    %l = linalg.index 1 : index
    %v = tensor.extract %t[%k, %l] : tensor<6x12xi32>
    %p = arith.muli %v, %x : i32
    %q = arith.muli %p, %y : i32
    %s = arith.addi %acc, %q : i32
    linalg.yield %s : i32
  } -> tensor<6xi32>
  return %r : tensor<6xi32>
}
