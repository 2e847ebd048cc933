// RUN: shard-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Global view: meshes, constraints, reshards, manual computations and others.

// mesh_c1: names are distinct
// expected-error @+1 {{axis name "x" is used twice, expected a distinct name for each axis}}
spmd.mesh @pod = <["x"=4, "x"=2]>

// -----

// mesh_c1: names are not empty
// expected-error @+1 {{axis 0 has an empty name, expected a distinct name for each axis}}
spmd.mesh @pod = <[""=4]>

// -----

// mesh_c1: sizes are positive
// expected-error @+1 {{axis "x" has size 0, expected a positive size}}
spmd.mesh @pod = <["x"=0]>

// -----

// mesh_c2: one id per device
// expected-error @+1 {{device_ids has 3 entries, expected 4 for axes "x"=4}}
spmd.mesh @pod = <["x"=4], device_ids=[0, 1, 2]>

// -----

// mesh_c2: ids are distinct
// expected-error @+1 {{device id 2 occurs twice, expected distinct ids}}
spmd.mesh @pod = <["x"=4], device_ids=[0, 1, 2, 2]>

// -----

// mesh_c2: ids are not negative
// expected-error @+1 {{device id -1 is negative, expected ids from 0}}
spmd.mesh @pod = <["x"=2], device_ids=[0, -1]>

// -----

// mesh_c3: one cost per axis
// expected-error @+1 {{alpha has 1 costs, expected one for each of 2 axes}}
spmd.mesh @pod = <["x"=2, "y"=2]> {alpha = [1.0e-6]}

// -----

// mesh_c3: costs are positive
// expected-error @+1 {{beta has the cost}}
spmd.mesh @pod = <["x"=2]> {beta = [-1.0]}

// -----

// mesh_c4
// expected-error @+1 {{memory is 0, expected a positive number of bytes}}
spmd.mesh @pod = <["x"=2]> {memory = 0 : i64}

// -----

// mesh_c4
// expected-error @+1 {{flops is}}
spmd.mesh @pod = <["x"=2]> {flops = -1.0 : f64}

// -----

// mesh_c4
// expected-error @+1 {{bandwidth is 0.000000e+00, expected a positive rate}}
spmd.mesh @pod = <["x"=2]> {bandwidth = 0.0 : f64}

// -----

// with_sharding_constraint_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{0 shardings are given, expected one of sharding, axis_resources and ort}}
  "spmd.with_sharding_constraint"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// with_sharding_constraint_c2, sharding_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{unknown mesh @pdo, expected an spmd.mesh of the module}}
  // expected-note @+1 {{available meshes: @pod}}
  %1 = spmd.with_sharding_constraint %0 <@pdo, [{"x"}]> : tensor<8xf32>
  return
}

// -----

// with_sharding_constraint_c2, sharding_c2
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{unknown axis "q", expected one of "x", "y"}}
  // expected-note @+1 {{available axes: "x"=2, "y"=4}}
  %1 = spmd.with_sharding_constraint %0 <@pod, [{"q"}]> : tensor<8xf32>
  return
}

// -----

// with_sharding_constraint_c2, sharding_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{sharding of the value has 2 dimensions, expected 1, the rank of 'tensor<8xf32>'}}
  %1 = spmd.with_sharding_constraint %0 <@pod, [{"x"}, {}]> : tensor<8xf32>
  return
}

// -----

// with_sharding_constraint_c2, sharding_c4
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<6xf32>) {
  // expected-error @+3 {{illegal sharding of the value: dimension 0 of size 6 is sharded as {2, "x"}, expected a product that divides it (padding is allowed for full axes only)}}
  // expected-note @+2 {{available axes: "x"=4}}
  // expected-note @+1 {{legal axis products for size 6: 1, 2, 3, 6}}
  %1 = spmd.with_sharding_constraint %0 <@pod, [{2, "x"}]> : tensor<6xf32>
  return
}

// -----

// with_sharding_constraint_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{constrains the value to be unreduced, expected a complete value}}
  %1 = spmd.with_sharding_constraint %0 <@pod, [{}], unreduced = {"x"}> : tensor<8xf32>
  return
}

// -----

// with_sharding_constraint_c4
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{2 axis resources are given, expected at most 1, the rank of 'tensor<8xf32>'}}
  %1 = spmd.with_sharding_constraint %0 axis_resources ["x", none] : tensor<8xf32>
  return
}

// -----

// Unranked tensors cannot be sharded.
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<*xf32>) {
  // expected-error @+1 {{expected builtin.tensor, but found}}
  %1 = spmd.with_sharding_constraint %0 <@pod, []> : tensor<*xf32>
  return
}

// -----

// reshard_c1: an axis twice, in two dims
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8x8xf32>) {
  // expected-error @+2 {{illegal sharding of the value: "x" overlaps "x", expected each (sub-)axis at most once}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.reshard %0 <@pod, [{"x"}, {"x"}]> : tensor<8x8xf32>
  return
}

// -----

// reshard_c1: a sub-axis of an axis that is used whole
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8x8xf32>) {
  // expected-error @+2 {{expected each (sub-)axis at most once}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.reshard %0 <@pod, [{"x"}, {"x":(2)2}]> : tensor<8x8xf32>
  return
}

// -----

// reshard_c1: a replicated axis is used
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8x8xf32>) {
  // expected-error @+2 {{expected each (sub-)axis at most once}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.reshard %0 <@pod, [{"x"}, {}], replicated = {"x"}> : tensor<8x8xf32>
  return
}

// -----

// reshard_c1: no sub-axis of that size
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<12xf32>) {
  // expected-error @+2 {{sub-axis "x":(1)3 does not divide its axis}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.reshard %0 <@pod, [{"x":(1)3}]> : tensor<12xf32>
  return
}

// -----

// reshard_c1: a gap that does not divide
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<12xf32>) {
  // expected-error @+3 {{dimension 0 of size 12 is sharded as {2, "x"}, expected a product that divides it}}
  // expected-note @+2 {{available axes: "x"=4}}
  // expected-note @+1 {{legal axis products for size 12: 1, 2, 3, 4, 6, 12}}
  %1 = spmd.reshard %0 <@pod, [{2, "x"}]> : tensor<12xf32>
  return
}

// -----

// manual_computation_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{0 in-shardings are given, expected one for each of 1 operands}}
  spmd.manual_computation (%0) in [] out [] axes ["x"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{1 out-shardings are given, expected one for each of 0 results}}
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [<@pod, [{"x"}]>] axes ["x"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{manual axis "x" is listed twice, expected once}}
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [] axes ["x", "x"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c2
spmd.mesh @pod = <["x"=4]>
spmd.mesh @other = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{shardings name the meshes @pod and @other, expected one mesh}}
  spmd.manual_computation (%0, %0) in [<@pod, [{"x"}]>, <@other, [{"x"}]>] out [] axes ["x"] (%a: tensor<2xf32>, %b: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>, tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{unknown axis "z", expected one of "x"}}
  // expected-note @+1 {{available axes: "x"=4}}
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [] axes ["z"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<6xf32>) {
  // expected-error @+2 {{dim 0 of operand #0 (size 6) cannot be split by axis "x" (size 4), expected a multiple of 4}}
  // expected-note @+1 {{legal axis products for size 6: 1, 2, 3, 6}}
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [] axes ["x"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<6xf32>) -> ()
  return
}

// -----

// manual_computation_c4
spmd.mesh @pod = <["x"=2, "y"=2]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{manual axis "x" follows a free axis on dim 0, expected manual axes first}}
  spmd.manual_computation (%0) in [<@pod, [{"y", "x"}]>] out [] axes ["x"] (%a: tensor<4xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c5
spmd.mesh @pod = <["x"=2, "y"=2]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{region argument #0 has type 'tensor<2xf32>', expected 'tensor<4xf32>'}}
  spmd.manual_computation (%0) in [<@pod, [{"x", "y"}]>] out [] axes ["x"] (%a: tensor<2xf32>) {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c5
spmd.mesh @pod = <["x"=2]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{region has 0 arguments, expected 1}}
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [] axes ["x"] () {
    spmd.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// manual_computation_c6
spmd.mesh @pod = <["x"=2]>
func.func @f(%0: tensor<8xf32>) {
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [<@pod, [{"x"}]>] axes ["x"] (%a: tensor<4xf32>) {
    // expected-error @+1 {{returns 0 values, expected 1}}
    spmd.return
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// manual_computation_c6
spmd.mesh @pod = <["x"=2]>
func.func @f(%0: tensor<8xf32>) {
  spmd.manual_computation (%0) in [<@pod, [{"x"}]>] out [<@pod, [{}]>] axes ["x"] (%a: tensor<4xf32>) {
    // expected-error @+1 {{value #0 has type 'tensor<4xf32>', expected 'tensor<8xf32>'}}
    spmd.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// manual_computation_c6
func.func @f() {
  // expected-error @+1 {{region has no spmd.return, expected one at its end}}
  spmd.manual_computation () in [] out [] axes [] () {
    llvm.unreachable
  } : () -> ()
  return
}

// -----

// manual_computation_c6
func.func @f() {
  // expected-error @+1 {{failed to verify constraint: region with 1 blocks}}
  spmd.manual_computation () in [] out [] axes [] () {
  } : () -> ()
  return
}

// -----

// sharding_group_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{group name is empty, expected a name}}
  spmd.sharding_group %0 "" : tensor<8xf32>
  return
}

// -----

// probe_c1
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{number is -1, expected 0 or more}}
  spmd.probe -1 "%0" "math.exp" %0 : tensor<8xf32>
  return
}

// -----

// probe_c2
spmd.mesh @m = <["x"=2]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{global type is tensor<16xi32>, expected a tensor with the element type and the rank of}}
  spmd.probe 0 "%0" "math.exp" %0 as <@m, [{"x"}]> of tensor<16xi32> : tensor<8xf32>
  return
}

// -----

// stage_boundary_c1
func.func @f() {
  // expected-error @+1 {{has no operands, expected at least one}}
  "spmd.stage_boundary"() : () -> ()
  return
}

// -----

// stage_boundary_c2
func.func @f(%0: tensor<8x8xf32>, %1: tensor<8xf32>) {
  // expected-error @+1 {{2 axis resources are given, expected at most 1, the rank of operand #1}}
  spmd.stage_boundary %0, %1 axis_resources ["x", none] : tensor<8x8xf32>, tensor<8xf32>
  return
}

// -----

// sort_c1
func.func @f(%0: tensor<8xf32>, %1: tensor<4xf32>) {
  // expected-error @+1 {{has operands or results of several shapes, expected one shape of the operands and one of the results}}
  %r:2 = spmd.sort %0, %1 dim = 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %p = arith.cmpf olt, %a, %b : f32
    spmd.yield %p
  } : (tensor<8xf32>, tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// sort_c2
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{dim is 1, expected one from 0 to 0, as operands have rank 1}}
  %r = spmd.sort %0 dim = 1 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    spmd.yield %p
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// sort_c3
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<9xf32>', expected 'tensor<8xf32>' with at most 8 elements along dim 0}}
  %r = spmd.sort %0 dim = 0 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    spmd.yield %p
  } : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

// sort_c3
func.func @f(%0: tensor<?xf32>) {
  // expected-error @+1 {{result #0 has type 'tensor<4xf32>', expected 'tensor<?xf32>', all elements of a dim of dynamic size}}
  %r = spmd.sort %0 dim = 0 {
  ^bb0(%a: f32, %b: f32):
    %p = arith.cmpf olt, %a, %b : f32
    spmd.yield %p
  } : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

// sort_c4
func.func @f(%0: tensor<8xf32>, %p: i1) {
  // expected-error @+1 {{region has arguments of types 'f32', expected two of the element type of each operand: 'f32', 'f32'}}
  %r = spmd.sort %0 dim = 0 {
  ^bb0(%a: f32):
    spmd.yield %p
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// sort_c5
func.func @f(%0: tensor<8xf32>, %1: tensor<8xi1>, %i: index) {
  %r = spmd.sort %0 dim = 0 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{is in the region of a sort, expected pure ops on scalars}}
    %p = tensor.extract %1[%i] : tensor<8xi1>
    spmd.yield %p
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @named_twice() {
  return
}
// expected-error@+1 {{mesh @named_twice has the name of an earlier symbol, expected one of its own}}
func.func @reads(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@named_twice, [{"x"}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
spmd.mesh @named_twice = <["x"=2]>
