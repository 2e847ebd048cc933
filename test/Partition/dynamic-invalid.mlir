// What cannot be done with dims of dynamic size is one error at the op.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-propagate --spmd-insert-reshards --spmd-partition=dynamic-checks=false

spmd.mesh @m = <["x"=2]>
func.func @no_proof(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the size is computed here}}
  %d = tensor.dim %b, %c0 : tensor<?xf32>
  // expected-error @below {{dim 0 of 'tensor<?xf32>' is cut by {"x"}, and nothing says that its size is a multiple of 2, expected the size of a dim that is cut alike, or dynamic-checks}}
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

spmd.mesh @m = <["x"=2]>
func.func @moved(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %0 = math.sin %a : tensor<?xf32>
  // expected-error @below {{reshard of a value of dynamic size, 'tensor<?xf32>', from [{"x"}] to [{}], expected equal layouts where sizes are not known}}
  return %0 : tensor<?xf32>
}

// -----

// A body that reads its place would have to know where the shard begins.
spmd.mesh @m = <["x"=2]>
func.func @index(%a: tensor<?xindex> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<?xindex> {
  // expected-error @below {{reshard of a value of dynamic size}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<?xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    linalg.yield %i : index
  } -> tensor<?xindex>
  return %0 : tensor<?xindex>
}

// -----

// An op that has no form on a part of such a dim.
spmd.mesh @m = <["x"=2]>
func.func @reverse(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<?xf32> {
  // expected-error @below {{reshard of a value of dynamic size}}
  %0 = tosa.reverse %a {axis = 0 : i32} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
