// The results of a function are stored at once: a value that is computed in the buffer of one result may be another result.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: all equal bit by bit

#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0)>

// %3 is accumulated onto %2 in the buffer of result 0; %2 is result 1.
func.func @accumulated(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %3, %2 : tensor<8xi32>, tensor<8xi32>
}

// The other way round.
func.func @accumulated_in_order(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %2, %3 : tensor<8xi32>, tensor<8xi32>
}

// Two results are accumulated onto one value.
func.func @siblings(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  %4 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.muli %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %3, %4 : tensor<8xi32>, tensor<8xi32>
}

// That value is a result too.
func.func @siblings_and_value(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  %4 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.muli %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %4, %2, %3 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// Each of three results is accumulated onto the one before.
func.func @chain(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  %4 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%3 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.muli %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %4, %2, %3 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// In another order.
func.func @chain_rotated(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%2 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.addi %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  %4 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%3 : tensor<8xi32>) {
  ^bb0(%i: i32, %o: i32):
    %s = arith.muli %i, %o : i32
    linalg.yield %s : i32
  } -> tensor<8xi32>
  return %3, %4, %2 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// The same where a loop accumulates.
func.func @loop(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %2) -> tensor<8xi32> {
    %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%t : tensor<8xi32>) {
    ^bb0(%i: i32, %o: i32):
      %s = arith.addi %i, %o : i32
      linalg.yield %s : i32
    } -> tensor<8xi32>
    scf.yield %r : tensor<8xi32>
  }
  return %3, %2 : tensor<8xi32>, tensor<8xi32>
}

// And where one loop follows the other.
func.func @loops(%a: tensor<8xi32> {spmd.range = [-5, 6]}, %b: tensor<8xi32> {spmd.range = [-5, 6]},
    %m: tensor<8x4xi32> {spmd.range = [-3, 4]}) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %2 = arith.addi %a, %b : tensor<8xi32>
  %3 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %2) -> tensor<8xi32> {
    %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%t : tensor<8xi32>) {
    ^bb0(%i: i32, %o: i32):
      %s = arith.addi %i, %o : i32
      linalg.yield %s : i32
    } -> tensor<8xi32>
    scf.yield %r : tensor<8xi32>
  }
  %4 = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %3) -> tensor<8xi32> {
    %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<8x4xi32>) outs(%t : tensor<8xi32>) {
    ^bb0(%i: i32, %o: i32):
      %s = arith.muli %i, %o : i32
      linalg.yield %s : i32
    } -> tensor<8xi32>
    scf.yield %r : tensor<8xi32>
  }
  return %4, %3 : tensor<8xi32>, tensor<8xi32>
}
