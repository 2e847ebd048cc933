// Cumulative sums, sorting: along a dim that is cut and beside it.
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest

spmd.mesh @m = <["x"=2, "y"=3]>
#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>

// A loop over rows, each the sum of the one before and its own.
func.func @loop(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<6x12xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = tensor.empty() : tensor<6x12xi32>
  %zero = arith.constant dense<0> : tensor<12xi32>
  %r:2 = scf.for %k = %c0 to %c6 step %c1 iter_args(%all = %e, %sum = %zero) -> (tensor<6x12xi32>, tensor<12xi32>) {
    %row = tensor.extract_slice %a[%k, 0] [1, 12] [1, 1] : tensor<6x12xi32> to tensor<12xi32>
    %next = arith.addi %sum, %row : tensor<12xi32>
    %put = tensor.insert_slice %next into %all[%k, 0] [1, 12] [1, 1] : tensor<12xi32> into tensor<6x12xi32>
    scf.yield %put, %next : tensor<6x12xi32>, tensor<12xi32>
  }
  return %r#0 : tensor<6x12xi32>
}

// The same by a mask of indices: the cut dim is summed in parts.
func.func @triangle(%a: tensor<12x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [-99, 99]},
                    %b: tensor<7x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<12x5xi32>, tensor<7x5xi32>) {
  %z = arith.constant dense<0> : tensor<12x5xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<12x5xi32>) outs(%z : tensor<12x5xi32>) {
  ^bb0(%x: i32, %acc: i32):
    %c0 = arith.constant 0 : i32
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %c = arith.cmpi ule, %k, %i : index
    %p = arith.select %c, %x, %c0 : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<12x5xi32>
  %y = arith.constant dense<0> : tensor<7x5xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%b : tensor<7x5xi32>) outs(%y : tensor<7x5xi32>) {
  ^bb0(%x: i32, %acc: i32):
    %c0 = arith.constant 0 : i32
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %c = arith.cmpi ugt, %k, %i : index
    %p = arith.select %c, %x, %c0 : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<7x5xi32>
  return %r, %s : tensor<12x5xi32>, tensor<7x5xi32>
}

// Sorting by rank: an element's place is the number of those before it; it is
// written there.
func.func public @sort(%a: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 20]})
    -> (tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) attributes {spmd.reference = @sort_reference} {
  %z = arith.constant dense<0> : tensor<12xi32>
  %rank = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %a : tensor<12xi32>, tensor<12xi32>) outs(%z : tensor<12xi32>) {
  ^bb0(%x: i32, %y: i32, %acc: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %less = arith.cmpi slt, %y, %x : i32
    %same = arith.cmpi eq, %y, %x : i32
    %first = arith.cmpi ult, %j, %i : index
    %tie = arith.andi %same, %first : i1
    %before = arith.ori %less, %tie : i1
    %n = arith.extui %before : i1 to i32
    %s = arith.addi %acc, %n : i32
    linalg.yield %s : i32
  } -> tensor<12xi32>
  %at = tensor.expand_shape %rank [[0, 1]] output_shape [12, 1] : tensor<12xi32> into tensor<12x1xi32>
  %e = tensor.empty() : tensor<12xi32>
  %r = tensor.scatter %a into %e[%at] scatter_dims([0]) unique : (tensor<12xi32>, tensor<12xi32>, tensor<12x1xi32>) -> tensor<12xi32>
  return %r : tensor<12xi32>
}
func.func private @sort_reference(%a: tensor<12xi32>) -> tensor<12xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %r = scf.for %n = %c0 to %c12 step %c1 iter_args(%t = %a) -> tensor<12xi32> {
    %end = arith.subi %c12, %c1 : index
    %s = scf.for %k = %c0 to %end step %c1 iter_args(%u = %t) -> tensor<12xi32> {
      %l = arith.addi %k, %c1 : index
      %p = tensor.extract %u[%k] : tensor<12xi32>
      %q = tensor.extract %u[%l] : tensor<12xi32>
      %low = arith.minsi %p, %q : i32
      %high = arith.maxsi %p, %q : i32
      %v = tensor.insert %low into %u[%k] : tensor<12xi32>
      %w = tensor.insert %high into %v[%l] : tensor<12xi32>
      scf.yield %w : tensor<12xi32>
    }
    scf.yield %s : tensor<12xi32>
  }
  return %r : tensor<12xi32>
}

// The same order by looking up: the k-th element is where k is the rank.
func.func @permute(%a: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %order: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 12]}) -> tensor<12x4xf32> {
  %e = tensor.empty() : tensor<12x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%order : tensor<12xi32>) outs(%e : tensor<12x4xf32>) {
  ^bb0(%at: i32, %o: f32):
    %i = arith.index_cast %at : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %a[%i, %j] : tensor<12x4xf32>
    linalg.yield %v : f32
  } -> tensor<12x4xf32>
  return %r : tensor<12x4xf32>
}
