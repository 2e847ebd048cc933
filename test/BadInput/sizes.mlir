// Sizes that only the run knows: one error at the argument, the function or the return.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-size-arguments

// expected-error @below {{spmd.bounds names a size 'c' that no argument has, expected one of "b"}}
func.func @unknown_bound(%x: tensor<?xf32> {spmd.symbols = ["b"]}) -> tensor<?xf32> attributes {spmd.bounds = {c = [1, 4]}} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{expected a list with a name per dim of a tensor, "" for a dim of known size}}
func.func @few_names(%x: tensor<?x4xf32> {spmd.symbols = ["b"]}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// symbols_c1
// expected-error @below {{is named 'n' and has size 4, expected "" for a known size}}
func.func @known_size(%x: tensor<?x4xf32> {spmd.symbols = ["b", "n"]}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// symbols_c2
// expected-error @below {{dim 0 of argument #0 has the size 'b - ', expected a name, or a sum, difference or product of names and numbers}}
func.func @half_difference(%x: tensor<?xf32> {spmd.symbols = ["b - "]}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{size 'b' does not follow from the arguments of function 'square', expected an argument with a dim of it}}
func.func @square(%x: tensor<?x?xf32> {spmd.symbols = ["b * s", "s * s"]}) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

// -----

// expected-error @below {{expected a dictionary of names with [low, high], two sizes with low <= high < 2^40}}
func.func @empty_bound(%x: tensor<?xf32> {spmd.symbols = ["b"]}) -> tensor<?xf32> attributes {spmd.bounds = {b = [4, 1]}} {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{weight 'w' has type 'tensor<?xf32>', expected a static shape}}
func.func @weight(%w: tensor<?xf32> {spmd.weight = "w"}) -> tensor<?xf32> {
  return %w : tensor<?xf32>
}

// -----

func.func @of_data(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %i = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %r = tensor.extract_slice %x[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  // expected-error @below {{dim 0 of result 0 of function 'of_data' has a size that depends on more than the sizes of arguments, expected a sum, product or quotient of these}}
  return %r : tensor<?xf32>
}

// -----

func.func @tied(%x: tensor<?xf32> {spmd.symbols = ["b"]}, %y: tensor<?xf32> {spmd.symbols = ["s"]}) -> (tensor<?xf32> {spmd.tied = 0}) {
  %r = arith.addf %y, %y : tensor<?xf32>
  // expected-error @below {{result 0 of function 'tied' is tied to argument 0, but has other sizes, expected equal sizes}}
  return %r : tensor<?xf32>
}
