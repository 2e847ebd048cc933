// The report, the explanation and the program that runs name one layout for every argument and result, whatever a
// value leaves or crosses on its way: the three come from one run of the phases.
// RUN: shard-opt %s --spmd-explain="format=json output=%t.explain" --spmd-report="format=json output=%t.report" --spmd-default-pipeline -o %t.mlir
// RUN: %python %S/Inputs/check_agreement.py %t.explain %t.report %t.mlir --expect 29
// Calls that are kept, and propagation without costs.
// RUN: shard-opt %s --spmd-explain="inline=false conflicts=basic format=json output=%t.explain" --spmd-report="inline=false conflicts=basic format=json output=%t.report" --spmd-default-pipeline="inline=false conflicts=basic" -o %t.mlir
// RUN: %python %S/Inputs/check_agreement.py %t.explain %t.report %t.mlir --expect 29

spmd.mesh @m = <["a"=2, "b"=2, "c"=2]>

// The phases make a select of this branch, which propagates in another way than a branch.
func.func @branch(%c: i1, %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b", "c"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> tensor<8xf32> {
  %r = scf.if %c -> (tensor<8xf32>) {
    scf.yield %u : tensor<8xf32>
  } else {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @branch_of_ops(%c: i1, %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> tensor<8xf32> {
  %r = scf.if %c -> (tensor<8xf32>) {
    %0 = math.tanh %u : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @switch(%i: index, %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> tensor<8xf32> {
  %r = scf.index_switch %i -> tensor<8xf32>
  case 1 {
    scf.yield %u : tensor<8xf32>
  }
  case 2 {
    %0 = math.exp %v : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  default {
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A branch of a constant is folded, and a loop of one trip is a sequence.
func.func @folded(%u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %true = arith.constant true
  %r = scf.if %true -> (tensor<8xf32>) {
    scf.yield %u : tensor<8xf32>
  } else {
    scf.yield %v : tensor<8xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %u) -> tensor<8xf32> {
    %0 = arith.addf %x, %v : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

func.func @loop(%n: index, %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %u, %y = %v) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = arith.addf %x, %y : tensor<8xf32>
    scf.yield %y, %0 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// The loop carries a value that it does not change: it is not carried in the program that runs.
func.func @while(%n: i32, %u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:3 = scf.while (%i = %n, %x = %u, %y = %v) : (i32, tensor<8xf32>, tensor<8xf32>) -> (i32, tensor<8xf32>, tensor<8xf32>) {
    %c = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%c) %i, %x, %y : i32, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%i: i32, %x: tensor<8xf32>, %y: tensor<8xf32>):
    %j = arith.subi %i, %one : i32
    %0 = arith.mulf %x, %y : tensor<8xf32>
    scf.yield %j, %0, %y : i32, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}

// Two calls in two layouts.
func.func private @twice(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.addf %x, %y : tensor<8xf32>
  return %0, %y : tensor<8xf32>, tensor<8xf32>
}
func.func @calls(%u: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}]>}, %v: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"c"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = call @twice(%u, %v) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = call @twice(%0#1, %u) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %1#0, %0#0 : tensor<8xf32>, tensor<8xf32>
}

// Axis resources and broadcasts of scalars are resolved before propagation.
func.func @resources(%u: tensor<8x8xf32>, %s: tensor<f32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<8x8xf32>) dimensions = [0, 1]
  %0 = spmd.with_sharding_constraint %u <@m, [{"a"}, {"b"}]> : tensor<8x8xf32>
  %1 = arith.addf %0, %b : tensor<8x8xf32>
  %2 = arith.mulf %b, %b : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
