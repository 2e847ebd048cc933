// Unsupported uses of dims of dynamic size are one error at the op.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-propagate --spmd-insert-reshards --spmd-partition=dynamic-checks=false

spmd.mesh @m = <["x"=2]>
func.func @no_proof(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the size is computed here}}
  %d = tensor.dim %b, %c0 : tensor<?xf32>
  // expected-error @below {{dim 0 of 'tensor<?xf32>' is sharded by {"x"}, but its size is not known to be a multiple of 2, expected the size of a dim that is sharded equally, or dynamic-checks}}
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A slice of an unsharded dim.
spmd.mesh @m = <["x"=2]>
func.func @slice(%a: tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = math.sin %a : tensor<?x8xf32>
  // expected-error @below {{dim 0 of 'tensor<?x8xf32>' is sharded by {"x"}, but its size is not known to be a multiple of 2, expected the size of a dim that is sharded equally, or dynamic-checks}}
  return %0 : tensor<?x8xf32>
}

// -----

// A finer slice.
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @finer(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}) {
  // expected-error @below {{is sharded by {"x", "y"}, but its size is not known to be a multiple of 6}}
  return %a : tensor<?xf32>
}
