// RUN: shard-opt %s --split-input-file --verify-diagnostics

// Discardable attributes: name, holder, value.

// attr_c1: unknown name, nearest name
// expected-error @+1 {{unknown attribute 'spmd.shardng', expected one of "spmd.sharding"}}
func.func @f(%0: tensor<8xf32> {spmd.shardng = 1}) { return }

// -----

// attr_c1: unknown name, nothing near
// expected-error @+1 {{unknown attribute 'spmd.qqqqqqqqqqq', expected one of "spmd.sharding", "spmd.user_sharding"}}
module attributes {spmd.qqqqqqqqqqq} {
}

// -----

// attr_c1: place
spmd.mesh @pod = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{attribute 'spmd.sharding' is on an operation, expected a function argument or a function result}}
  %0 = tensor.empty() {spmd.sharding = #spmd.sharding<@pod, [{}]>} : tensor<8xf32>
  return
}

// -----

// attr_c1: place
// expected-error @+1 {{attribute 'spmd.phase' is on a function, expected a module}}
func.func @f() attributes {spmd.phase = "annotated"} { return }

// -----

// attr_c2
// expected-error @+1 {{attribute 'spmd.sharding' of argument #1 is "x", expected #spmd.sharding<...> or #spmd.ort<...>}}
func.func @f(%0: tensor<8xf32>, %1: tensor<8xf32> {spmd.sharding = "x"}) { return }

// -----

// sharding_c1
spmd.mesh @pod = <["x"=4]>
// expected-error @+2 {{unknown mesh @pdo, expected an spmd.mesh of the module}}
// expected-note @+1 {{available meshes: @pod}}
func.func @f(%0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pdo, [{"x"}]>}) { return }

// -----

// sharding_c1: the symbol is no mesh, and there is none
func.func private @pod()
// expected-error @+2 {{unknown mesh @pod, expected an spmd.mesh of the module}}
// expected-note @+1 {{available meshes: none}}
func.func @f(%0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) { return }

// -----

// sharding_c2
spmd.mesh @pod = <["x"=2, "y"=4]>
// expected-error @+2 {{unknown axis "q", expected one of "x", "y"}}
// expected-note @+1 {{available axes: "x"=2, "y"=4}}
func.func @f(%0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"q"}]>}) { return }

// -----

// sharding_c2
spmd.mesh @pod = <["x"=2, "y"=4]>
// expected-error @+2 {{illegal sharding of argument #0: "y" overlaps "y", expected each (sub-)axis at most once}}
// expected-note @+1 {{available axes: "x"=2, "y"=4}}
func.func @f(%0: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y"}, {"x", "y"}]>}) { return }

// -----

// sharding_c3
spmd.mesh @pod = <["x"=2, "y"=4]>
// expected-error @+1 {{sharding of argument #0 has 1 dimensions, expected 2, the rank of 'tensor<8x8xf32>'}}
func.func @f(%0: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y"}]>}) { return }

// -----

// sharding_c4: only full axes may shard a dimension unevenly
spmd.mesh @pod = <["x"=4, "y"=2]>
// expected-error @+3 {{illegal sharding of argument #1: dimension 0 of size 5 is sharded as {"x":(1)2}, expected a product that divides it (padding is allowed for full axes only)}}
// expected-note @+2 {{available axes: "x"=4, "y"=2}}
// expected-note @+1 {{legal axis products for size 5: 1, 5}}
func.func @f(%0: tensor<8xf32>, %1: tensor<5xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x":(1)2}]>}) { return }

// -----

// sharding_c4: several axes, one of them in part
spmd.mesh @pod = <["x"=4, "y"=2]>
// expected-error @+3 {{illegal sharding of argument #0: dimension 1 of size 6 is sharded as {"y", "x":(2)2}, expected a product that divides it (padding is allowed for full axes only)}}
// expected-note @+2 {{available axes: "x"=4, "y"=2}}
// expected-note @+1 {{legal axis products for size 6: 1, 2, 3, 6}}
func.func @f(%0: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"y", "x":(2)2}]>}) { return }

// -----

// sharding_c4: a gap on a dim of size one
spmd.mesh @pod = <["x"=4]>
// expected-error @+3 {{illegal sharding of argument #0: dimension 0 of size 1 is sharded as {2, "x"}, expected a product that divides it (padding is allowed for full axes only)}}
// expected-note @+2 {{available axes: "x"=4}}
// expected-note @+1 {{legal axis products for size 1: 1}}
func.func @f(%0: tensor<1xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "x"}]>}) { return }

// -----

// sharding_c4: a gap on a dim smaller than the axis, on a result
spmd.mesh @pod = <["x"=4]>
// expected-error @+3 {{illegal sharding of result #0: dimension 0 of size 2 is sharded as {2, "x"}, expected a product that divides it (padding is allowed for full axes only)}}
// expected-note @+2 {{available axes: "x"=4}}
// expected-note @+1 {{legal axis products for size 2: 1, 2}}
func.func private @f() -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "x"}]>})

// -----

// sharding_c5
spmd.mesh @pod = <["x"=4]>
// expected-error @+1 {{result #0 of public function @f is unreduced, expected a complete value}}
func.func @f(%0: tensor<8xf32>) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{}], unreduced = {"x"}>}) {
  return %0 : tensor<8xf32>
}

// -----

// sharding_c6
spmd.mesh @pod = <["x"=4]>
func.func private @f(%0: tensor<8xcomplex<f32>>) {
  // expected-error @+2 {{reduction max is not defined for 'complex<f32>', expected one that is}}
  // expected-note @+1 {{reductions for 'complex<f32>': sum, prod}}
  %1 = spmd.reshard %0 <@pod, [{}], unreduced(max) = {"x"}> : tensor<8xcomplex<f32>>
  return
}

// -----

// sharding_c6: on an argument
spmd.mesh @pod = <["x"=4]>
// expected-error @+2 {{reduction xor is not defined for 'f32', expected one that is}}
// expected-note @+1 {{reductions for 'f32': sum, prod, max, min, maxnum, minnum}}
func.func private @f(tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{}], unreduced(xor) = {"x"}>})

// -----

// sharding_c3: the given sharding too
spmd.mesh @pod = <["x"=4]>
// expected-error @+1 {{sharding of argument #0 has 0 dimensions, expected 1}}
func.func @f(%0: tensor<8xf32> {spmd.user_sharding = #spmd.sharding<@pod, []>}) { return }

// -----

// shardings_c1
spmd.mesh @pod = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{attribute 'spmd.shardings' has 2 shardings, expected one for each of 1 results of 'tensor.empty'}}
  %0 = tensor.empty() {spmd.shardings = [#spmd.sharding<@pod, [{}]>, #spmd.sharding<@pod, [{}]>]} : tensor<8xf32>
  return
}

// -----

// attr_c2
// expected-error @+1 {{attribute 'spmd.overlap' of 'spmd.mesh' is 1.500000e+00 : f64, expected a fraction, a float from 0 to 1}}
spmd.mesh @pod = <["x"=4]> {spmd.overlap = 1.5}

// -----

// attr_c2
spmd.mesh @pod = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{attribute 'spmd.shardings' of 'tensor.empty' is ["x"], expected an array of shardings}}
  %0 = tensor.empty() {spmd.shardings = ["x"]} : tensor<8xf32>
  return
}

// -----

// shardings_c1, sharding_c3
spmd.mesh @pod = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{sharding of result #0 has 2 dimensions, expected 1}}
  %0 = tensor.empty() {spmd.shardings = [#spmd.sharding<@pod, [{}, {}]>]} : tensor<8xf32>
  return
}

// -----

// tied_c1
// expected-error @+1 {{result #0 is tied to argument #1, expected less than 1}}
func.func @f(%0: tensor<8xf32>) -> (tensor<8xf32> {spmd.tied = 1}) { return %0 : tensor<8xf32> }

// -----

// tied_c2
// expected-error @+1 {{result #0 has type 'tensor<8xf32>' and is tied to argument #0 of type 'tensor<4xf32>', expected equal types}}
func.func private @f(%0: tensor<4xf32>) -> (tensor<8xf32> {spmd.tied = 0})

// -----

// tied_c3
spmd.mesh @pod = <["x"=2, "y"=4]>
// expected-error @+1 {{expected equal layouts}}
func.func private @f(%0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>})
  -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y"}]>, spmd.tied = 0})

// -----

// phase_c1
// expected-error @+1 {{expected one of annotated, propagated, resharded, partitioned, final}}
module attributes {spmd.phase = "done"} {
}

// -----

// global_type_c1
spmd.mesh @pod = <["x"=4]>
// expected-error @+1 {{argument #0 has type 'tensor<4xf32>', expected 'tensor<2xf32>', the local type of 'tensor<8xf32>'}}
func.func @f(%0: tensor<4xf32> {spmd.global_type = tensor<8xf32>, spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) { return }

// -----

// attr_c2
// expected-error @+1 {{attribute 'spmd.global_type' of argument #0 is f32, expected a ranked tensor type}}
func.func @f(%0: tensor<4xf32> {spmd.global_type = f32}) { return }

// -----

// constant_c1
// expected-error @+1 {{'spmd.constant' of argument #0 has type 'tensor<3xf32>', expected 'tensor<4xf32>'}}
func.func @f(%0: tensor<4xf32> {spmd.constant = dense<1.0> : tensor<3xf32>, spmd.weight = "c"}) { return }

// -----

// constant_c1
// expected-error @+1 {{'spmd.constant' of argument #0 is given alone, expected 'spmd.weight' with it, its name}}
func.func @f(%0: tensor<4xf32> {spmd.constant = dense<1.0> : tensor<4xf32>}) { return }

// -----

// factor_shardings_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{illegal factors of 'linalg.exp': "x" overlaps "x", expected each (sub-)axis at most once}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = linalg.exp {spmd.factor_shardings = #spmd.factors<@pod, [{"x"}, {"x"}]>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// reshard_per_use_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'spmd.reshard_per_use' of 'linalg.exp' is array<i64: 1, 0>, expected numbers of operands from 0 on, ascending}}
  %1 = linalg.exp {spmd.reshard_per_use = array<i64: 1, 0>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// reshard_per_use_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'spmd.reshard_per_use' of 'linalg.exp' is [0], expected array<i64: ...>}}
  %1 = linalg.exp {spmd.reshard_per_use = [0]} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// rule_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{rule describes 1 operands of 'linalg.exp', expected 2}}
  %1 = linalg.exp {spmd.sharding_rule = #spmd.rule<([i]) -> ([i]) {i=8}>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// rule_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{rule describes 0 results of 'linalg.exp', expected 1}}
  %1 = linalg.exp {spmd.sharding_rule = #spmd.rule<([i], [i]) -> () {i=8}>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// rule_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{rule describes 2 dimensions of result #0, expected 1, the rank of 'tensor<8xf32>'}}
  %1 = linalg.exp {spmd.sharding_rule = #spmd.rule<([i], [i]) -> ([i, _]) {i=8}>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// rule_c2
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{factors of dim 0 of operand #0 multiply to 12, expected 8}}
  %1 = linalg.exp {spmd.sharding_rule = #spmd.rule<([(i j)], [i]) -> ([i]) {i=4, j=3}>} ins(%0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// range_c1
// expected-error @+1 {{expected low below high}}
func.func @f(%0: tensor<8xi32> {spmd.range = [7, 7]}) { return }

// -----

// attr_c2
// expected-error @+1 {{expected two integers, [low, high]}}
func.func @f(%0: tensor<8xi32> {spmd.range = [7]}) { return }

// -----

// attr_c2
// expected-error @+1 {{expected the name of a stored tensor or a list of names}}
func.func @f(%0: tensor<8xi32> {spmd.weight = 3}) { return }

// -----

// attr_c2
// expected-error @+1 {{attribute 'spmd.name' of argument #0 is "", expected a name}}
func.func @f(%0: tensor<8xi32> {spmd.name = ""}) { return }

// -----

// attr_c2
// expected-error @+1 {{expected the symbol of a function of the module}}
func.func @f(%0: tensor<8xi32>) attributes {spmd.reference = @g} { return }

// -----

// axis_resources_c3
// expected-error @+1 {{axis resources of argument #0 have 2 entries, expected at most 1}}
func.func @f(%0: tensor<8xi32> {spmd.axis_resources = #spmd.axis_resources<["x", none]>}) { return }

// -----

// microbatch_c2
// expected-error @+1 {{microbatch dim of argument #0 is 1, expected less than 1}}
func.func @f(%0: tensor<8xi32> {spmd.microbatch = #spmd.microbatch<dim = 1>}) { return }

// -----

// segments_c3
// expected-error @+1 {{segments of argument #0 add up to 6, expected 8, the size of dim 0}}
func.func @f(%0: tensor<8xi32> {spmd.segments = #spmd.segments<0, [2, 4]>}) { return }

// -----

func.func @f() {
  // expected-error @+1 {{expected a stage number, 0 or more}}
  %0 = tensor.empty() {spmd.stage = -1 : i64} : tensor<8xf32>
  return
}

// -----

// Attributes of partition for reports: an entry per result.
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{expected a list with an entry per result, unit where there is none}}
  %1 = math.sin %0 {spmd.layouts = 1} : tensor<8xf32>
  return
}

// -----

func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{expected a list with an entry per result, unit where there is none}}
  %1 = math.sin %0 {spmd.global_types = [tensor<8xf32>, tensor<8xf32>]} : tensor<8xf32>
  return
}
