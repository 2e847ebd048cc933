// A loop whose carried value starts as a value that its body reads too: upstream chooses a
// place for the body that overwrites it, and refuses that; it is computed elsewhere then.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1

module {
  func.func private @f112_9(%arg0: tensor<4x2x8xi32>) -> tensor<4x2x8xi32> {
    %c2_i32 = arith.constant 2 : i32
    %splat = tensor.splat %c2_i32 : tensor<4x2x8xi32>
    %cst = arith.constant dense<[[[0, -2, -3, -1, 0, 3, 3, -2], [-2, 0, 3, -2, -2, -1, -2, -2]], [[-1, -3, 1, -1, 1, -2, -2, 3], [1, 0, 1, -1, 0, 1, -1, 1]], [[-3, -1, -2, -1, 1, -2, 3, -3], [-3, 1, -3, 3, -1, 1, -1, 3]], [[0, -2, -2, 3, -1, -1, 0, -1], [0, 3, -3, 0, 2, -3, 2, -1]]]> : tensor<4x2x8xi32>
    %0 = tensor.empty() : tensor<4x2x8xi32>
    %mapped = linalg.map ins(%cst, %splat : tensor<4x2x8xi32>, tensor<4x2x8xi32>) outs(%0 : tensor<4x2x8xi32>)
      (%in: i32, %in_0: i32, %init: i32) {
        linalg.yield %in : i32
      }
    return %mapped : tensor<4x2x8xi32>
  }
  func.func @f112(%arg0: tensor<4x2x8xi32> {spmd.range = [-3, 4]}) -> tensor<4x2x8xi32> {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg1 = %c0 to %c3 step %c1 iter_args(%arg2 = %arg0) -> (tensor<4x2x8xi32>) {
      %1 = func.call @f112_9(%arg2) : (tensor<4x2x8xi32>) -> tensor<4x2x8xi32>
      %2 = arith.minsi %1, %arg0 : tensor<4x2x8xi32>
      scf.yield %2 : tensor<4x2x8xi32>
    }
    return %0 : tensor<4x2x8xi32>
  }
}
