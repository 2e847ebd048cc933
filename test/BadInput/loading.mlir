// What is wrong with a loading function is said at the argument that it makes, or at
// the op inside.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-default-pipeline

// weight_c1
// expected-error @+1 {{'spmd.weight' of argument #0 names 2 stored tensors, expected 'spmd.load' with it, the function that combines them}}
func.func @no_function(%w: tensor<4xf32> {spmd.weight = ["a", "b"]}) { return }

// -----

// expected-error @+1 {{attribute 'spmd.load' of argument #0 is @nowhere, expected the symbol of a function of the module}}
func.func @unknown(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @nowhere}) { return }

// -----

// expected-error @+1 {{attribute 'spmd.load' of argument #0 is "f", expected the symbol of a function}}
func.func @no_symbol(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = "f"}) { return }

// -----

func.func private @same(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
// expected-error @+1 {{'spmd.load' of argument #0 is given alone, expected 'spmd.weight' with it, the names of stored tensors}}
func.func @no_weight(%w: tensor<4xf32> {spmd.load = @same}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func @same(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
// load_c1
// expected-error @+1 {{loading function @same of argument #0 is public, expected a private function}}
func.func @public(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @same}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func private @host(tensor<4xf32>) -> tensor<4xf32>
// load_c1
// expected-error @+1 {{loading function @host of argument #0 has no body, expected a definition (host functions are called by one)}}
func.func @external(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @host}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func private @one(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
// load_c1
// expected-error @+1 {{loading function @one of argument #0 takes 1 stored tensors, expected 2, as 'spmd.weight' names}}
func.func @count(%w: tensor<4xf32> {spmd.weight = ["a", "b"], spmd.load = @one}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func private @five(%w: tensor<5xf32>) -> tensor<5xf32> { return %w : tensor<5xf32> }
// load_c2
// expected-error @+1 {{loading function @five of argument #0 returns 'tensor<5xf32>', expected 'tensor<4xf32>', the type of the argument}}
func.func @type(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @five}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func private @two(%w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) { return %w, %w : tensor<4xf32>, tensor<4xf32> }
// load_c2
// expected-error @+1 {{loading function @two of argument #0 returns 2 results, expected 1}}
func.func @results(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @two}) { return }

// -----

// expected-note @+1 {{function is here}}
func.func private @any(%w: tensor<?xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %w : tensor<?xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
// load_c1
// expected-error @+1 {{loading function @any of argument #0 takes 'tensor<?xf32>' as argument #0, expected a tensor of static shape}}
func.func @dynamic(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @any}) { return }

// -----

func.func private @same(%w: tensor<4xf32>) -> tensor<4xf32> { return %w : tensor<4xf32> }
// expected-error @+1 {{attribute 'spmd.load' is on a function result, expected a function argument}}
func.func @place(%w: tensor<4xf32>) -> (tensor<4xf32> {spmd.load = @same}) { return %w : tensor<4xf32> }

// -----

spmd.mesh @m = <["x"=2]>
func.func private @cut(%w: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'spmd.with_sharding_constraint' in loading function @cut, expected none (the sharding of the argument determines its layout)}}
  %0 = spmd.with_sharding_constraint %w <@m, [{"x"}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @sharded_inside(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @cut}) -> tensor<4xf32> { return %w : tensor<4xf32> }

// -----

spmd.mesh @m = <["x"=2]>
// expected-error @+1 {{'spmd.sharding' in loading function @cut, expected none (the sharding of the argument determines its layout)}}
func.func private @cut(%w: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4xf32> { return %w : tensor<4xf32> }
func.func @sharded_argument(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @cut}) -> tensor<4xf32> { return %w : tensor<4xf32> }

// -----

func.func private @jump(%w: tensor<4xi1>) -> tensor<4xi1> {
  %0 = arith.constant 0 : index
  %c = tensor.extract %w[%0] : tensor<4xi1>
  %1 = arith.xori %w, %w : tensor<4xi1>
  cf.cond_br %c, ^some, ^none
^some:
  return %w : tensor<4xi1>
^none:
  return %1 : tensor<4xi1>
}
// expected-error @-10 {{loading function @jump has unstructured control flow, expected one block}}
func.func @blocks(%w: tensor<4xi1> {spmd.weight = "w", spmd.load = @jump}) -> tensor<4xi1> { return %w : tensor<4xi1> }

// -----

spmd.mesh @m = <["x"=2]>
func.func private @host(tensor<4x6xf32>, i64) -> tensor<3x2x6xf32>
func.func private @load(%w: tensor<4x6xf32>) -> tensor<3x2x6xf32> {
  %c = arith.constant 3 : i64
  // expected-error @+1 {{host function @host gives 'tensor<3x2x6xf32>', expected a leading dim of 2, the number of shards of argument #0}}
  %0 = func.call @host(%w, %c) : (tensor<4x6xf32>, i64) -> tensor<3x2x6xf32>
  return %0 : tensor<3x2x6xf32>
}
func.func @leading(%w: tensor<4x6xf32> {spmd.weight = "w", spmd.load = @load, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xf32> { return %w : tensor<4x6xf32> }

// -----

spmd.mesh @m = <["x"=2]>
func.func private @host(tensor<4x6xf32>) -> tensor<2x4x3xf32>
func.func private @load(%w: tensor<4x6xf32>) -> tensor<2x4x3xf32> {
  // expected-error @+1 {{host function @host gives 'tensor<2x4x3xf32>', expected slices of 'tensor<2x6xf32>', the local type of argument #0}}
  %0 = func.call @host(%w) : (tensor<4x6xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
func.func @slices(%w: tensor<4x6xf32> {spmd.weight = "w", spmd.load = @load, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xf32> { return %w : tensor<4x6xf32> }

// -----

func.func private @host(tensor<4xf32>) -> tensor<1x4xf32>
func.func private @load(%w: tensor<4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{loading function @load calls host functions and has 'arith.negf', expected calls and constants alone (or no host function)}}
  %0 = arith.negf %w : tensor<4xf32>
  %1 = func.call @host(%0) : (tensor<4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
func.func @mixed(%w: tensor<4xf32> {spmd.weight = "w", spmd.load = @load}) -> tensor<4xf32> { return %w : tensor<4xf32> }

// -----

func.func private @host(tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
// expected-error @+1 {{loading function @load takes 2 stored tensors, expected 1 where host functions are called}}
func.func private @load(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<1x4xf32> {
  %1 = func.call @host(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
func.func @sources(%w: tensor<4xf32> {spmd.weight = ["a", "b"], spmd.load = @load}) -> tensor<4xf32> { return %w : tensor<4xf32> }

// -----

func.func private @host(tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
func.func private @load(%a: tensor<4xf32>) -> tensor<1x4xf32> {
  // expected-error @+1 {{extra input of host function @host has type 'tensor<4xf32>', expected a constant number}}
  %1 = func.call @host(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
func.func @extra(%w: tensor<4xf32> {spmd.weight = "a", spmd.load = @load}) -> tensor<4xf32> { return %w : tensor<4xf32> }

// -----

func.func private @host(tensor<4xf32>) -> tensor<1x4xf32>
func.func private @load(%a: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = func.call @host(%a) : (tensor<4xf32>) -> tensor<1x4xf32>
  %1 = func.call @host(%a) : (tensor<4xf32>) -> tensor<1x4xf32> // expected-error {{host function @host has another first operand, expected the stored tensor or the last output}}
  return %1 : tensor<1x4xf32>
}
func.func @twice(%w: tensor<4xf32> {spmd.weight = "a", spmd.load = @load}) -> tensor<4xf32> { return %w : tensor<4xf32> }
