// A loop that starts from an empty tensor while its body writes an empty tensor of the same type:
// they are two buffers, or every trip destroys what those before it have left.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
spmd.mesh @m = <["x"=2, "y"=4]>

// The row sums are computed in the loop over rows that the broadcast becomes.
func.func @tiled() -> (tensor<5x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %c3 = arith.constant 3 : index
  %m2 = arith.constant -2 : i32
  %empty = tensor.empty() : tensor<5x5xi32>
  %twos = linalg.fill ins(%m2 : i32) outs(%empty : tensor<5x5xi32>) -> tensor<5x5xi32>
  %places = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%twos : tensor<5x5xi32>) outs(%empty : tensor<5x5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %k = linalg.index 1 : index
    %r = arith.remui %k, %c3 : index
    %i = arith.index_cast %r : index to i32
    %p = arith.muli %in, %i : i32
    linalg.yield %p : i32
  } -> tensor<5x5xi32>
  %zeros = arith.constant dense<0> : tensor<5xi32>
  %sums = linalg.generic {indexing_maps = [#id, #transposed, #row], iterator_types = ["parallel", "reduction"]} ins(%places, %twos : tensor<5x5xi32>, tensor<5x5xi32>) outs(%zeros : tensor<5xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %p, %out : i32
    linalg.yield %s : i32
  } -> tensor<5xi32>
  %wide = tensor.empty() : tensor<5x8xi32>
  %all = linalg.broadcast ins(%sums : tensor<5xi32>) outs(%wide : tensor<5x8xi32>) dimensions = [1]
  %pinned = spmd.with_sharding_constraint %all <@m, [{?}, {"x", "y", ?}]> : tensor<5x8xi32>
  return %pinned : tensor<5x8xi32>
}

// Written out; the empty tensor is shared through views too.
func.func @written(%rows: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %empty = tensor.empty() : tensor<2x2x6xi32>
  %view = tensor.collapse_shape %empty [[0, 1], [2]] : tensor<2x2x6xi32> into tensor<4x6xi32>
  %result = scf.for %i = %c0 to %c4 step %c1 iter_args(%done = %view) -> tensor<4x6xi32> {
    %int = arith.index_cast %i : index to i32
    %fill = linalg.fill ins(%int : i32) outs(%view : tensor<4x6xi32>) -> tensor<4x6xi32>
    %sum = linalg.add ins(%rows, %fill : tensor<4x6xi32>, tensor<4x6xi32>) outs(%view : tensor<4x6xi32>) -> tensor<4x6xi32>
    %row = tensor.extract_slice %sum[%i, 0] [1, 6] [1, 1] : tensor<4x6xi32> to tensor<1x6xi32>
    %next = tensor.insert_slice %row into %done[%i, 0] [1, 6] [1, 1] : tensor<1x6xi32> into tensor<4x6xi32>
    scf.yield %next : tensor<4x6xi32>
  }
  return %result : tensor<4x6xi32>
}
