// RUN: shard-opt %s --allow-unregistered-dialect --spmd-import-sdy --split-input-file --verify-diagnostics

// expected-error@+1 {{mesh @m is illegal: <["x"=2, "y"]>}}
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2, "y"]>, sym_name = "m"}> : () -> ()

// -----

// expected-error@+1 {{mesh @m is 1 : i64, expected #sdy.mesh<...>}}
"sdy.mesh"() <{mesh = 1 : i64, sym_name = "m"}> : () -> ()

// -----

// A mesh or an axis that does not exist: the same errors as for spmd.
"sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "m"}> : () -> ()
// expected-error@+2 {{unknown axis "z"}}
// expected-note@+1 {{available axes: "x"=2}}
func.func @axis(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"z"}]>}) { return }

// -----

// expected-error@+1 {{sharding of argument #0 is illegal: <@m, [{"x"}, p]>: expected}}
func.func @syntax(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, p]>}) { return }

// -----

// expected-error@+1 {{sharding of argument #0 has the stride 2 in <@m, [{2, "x"}]>, expected axes: Shardy has no strides}}
func.func @stride(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{2, "x"}]>}) { return }

// -----

// expected-error@+1 {{attribute 'sdy.origin' of argument #0 has no counterpart, expected 'sdy.sharding' or 'sdy.sharding_rule'}}
func.func @unknown(%a: tensor<8xf32> {sdy.origin = 1 : i64}) { return }

// -----

func.func @op(%a: tensor<8xf32>) {
  // expected-error@+1 {{'sdy.data_flow_edge' has no counterpart, expected a module as the framework wrote it}}
  %0 = "sdy.data_flow_edge"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @type(%a: f32) {
  // expected-error@+1 {{'sdy.reshard' is not well formed, expected one ranked tensor and a result of its type}}
  %0 = "sdy.reshard"(%a) <{sharding = #sdy.sharding<@m, []>}> : (f32) -> f32
  return
}

// -----

func.func @direction(%a: tensor<8xf32>) {
  // expected-error@+1 {{'allowed_direction' of 'sdy.propagation_barrier' is not legal, expected 0 (none)}}
  %0 = "sdy.propagation_barrier"(%a) <{allowed_direction = 7 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @blocked(%a: tensor<8xf32>) {
  // expected-error@+1 {{sharding rule of 'foo.op' blocks propagation along {i}, expected factors that axes may pass along: write a barrier instead}}
  %0 = "foo.op"(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} blocked_propagation={i}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @maximum(%a: tensor<8x4xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{sharding rule of 'linalg.reduce' specifies that {k} is reduced, and the op reduces by max, expected a sum}}
  %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<8x4xf32>) outs(%b : tensor<8xf32>) dimensions = [1] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [i])->([i]) {i=8, k=4} reduction={k}, custom>}
  return
}
