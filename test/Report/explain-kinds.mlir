// One function per kind of explanation: where an axis may come from, and what may stop one. `explain.mlir` has the ways
// to select and to print, and the kinds that need several values.
// RUN: shard-opt %s --spmd-explain="inline=false plan=propagation" -o /dev/null 2>&1 | sed "s/ at [^ ]*mlir:[0-9:]*//" | FileCheck %s
// RUN: shard-opt %s --spmd-explain="format=json inline=false plan=propagation" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-explain="format=remarks inline=false plan=propagation" --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

spmd.mesh @m = <["x"=2, "y"=4]>

//===--- where an axis comes from -----------------------------------------===//

// An argument, a result, a constraint.
// CHECK-LABEL: @annotations
// CHECK: %arg0
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: given on argument %arg0
// CHECK: %0 : tensor<8x8xf32>  [{"x", ?}, {"y", ?}]
// CHECK: dim 1 has "y"
// CHECK-NEXT: from dim 1 of %1 through spmd.with_sharding_constraint
// CHECK-NEXT: given on spmd.with_sharding_constraint
// CHECK: %2 : tensor<8x8xf32>  [{"y", ?}, {?}]
// CHECK-NEXT: dim 0 has "y"
// CHECK-NEXT: from dim 0 of result1 through func.return
// CHECK-NEXT: given on function result result1
func.func @annotations(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}, %b: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) {
  %0 = math.exp %a : tensor<8x8xf32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{?}, {"y"}]> : tensor<8x8xf32>
  %2 = math.tanh %b : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A tied result names itself, not the argument that shares its layout.
// CHECK-LABEL: @tied
// CHECK: %arg0 : tensor<8xf32>  [{"x"}]
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: given on function result result0
func.func @tied(%a: tensor<8xf32>) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.tied = 0}) {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// So does the member of a group that is annotated.
// CHECK-LABEL: @group
// CHECK: %arg0 : tensor<8xf32>  [{"x"}]
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: given on argument %arg1
func.func @group(%a: tensor<8xf32>, %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  spmd.sharding_group %a "g" : tensor<8xf32>
  spmd.sharding_group %b "g" : tensor<8xf32>
  return
}

// Through the start of a loop into its body, and out of it. The copy of a callee has the layouts of the call.
// CHECK-LABEL: @loop
// CHECK: %2 : tensor<8xf32>  [{"x", ?}]
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: from dim 0 of %0 through math.exp
// CHECK-NEXT: from dim 0 of %arg0 through scf.for
// CHECK-NEXT: given on argument %arg0
// CHECK: %1 : tensor<8xf32>  [{"x"}]
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: given on result #0 of @helper_spmd0
// CHECK-LABEL: {{^}}@helper_spmd0
// CHECK: %0 : tensor<8xf32>
func.func @loop(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<8xf32> {
    %2 = math.exp %v : tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  }
  %1 = func.call @helper(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A callee with layouts of its own gives them to both sides of its calls.
// CHECK-LABEL: @caller
// CHECK: %0 : tensor<8xf32>  [{"x", ?}]
// CHECK-NEXT: dim 0 has "x"
// CHECK-NEXT: from dim 0 of a value through func.call
// CHECK-NEXT: given on argument #0 of @callee
// CHECK: %1 : tensor<8xf32>  [{"y"}]
// CHECK-NEXT: dim 0 has "y"
// CHECK-NEXT: given on result #0 of @callee
// A return that reshards is no op with a choice.
// CHECK-LABEL: {{^}}@callee
// CHECK: %0
// CHECK: dim 0 lacks "y": lost a conflict: func.return reshards between [{"y"}] and this, {{.*}} s
func.func @caller(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.exp %a : tensor<8xf32>
  %1 = func.call @callee(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @callee(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) {
  %0 = math.exp %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

//===--- what stops an axis -----------------------------------------------===//

// CHECK-LABEL: @closed
// CHECK: %arg1
// CHECK: dim 0 lacks "x": the dim is closed (arith.addf)
// JSON: "name": "closed"
// JSON: "stopped": [
// JSON: "axis": "\"x\""
// JSON-NEXT: "reason": "the dim is closed"
// JSON-NEXT: "op": "arith.addf"
// REMARK: [Missed] explain-stopped | {{.*}}Function=closed | {{.*}}dim 0 lacks "x": the dim is closed
func.func @closed(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{}]>}) -> tensor<8xf32> {
  %0 = arith.addf %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @in_use
// CHECK: %arg1
// CHECK: dim 0 lacks "x": the axis is in use on dim 1
func.func @in_use(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                  %b: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = arith.addf %a, %b : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @other_cut
// CHECK: %arg1
// CHECK: dim 0 lacks "y": the axis shards the dim in another way
func.func @other_cut(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>},
                     %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{2, "y", ?}]>}) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: @kept_free
// CHECK: %arg1
// CHECK: dim 0 lacks "x": the axis must not be used (replicated)
func.func @kept_free(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                     %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}], replicated = {"x"}>}) -> tensor<8xf32> {
  %0 = arith.addf %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Half of the axis is free and arrives; the other must not be used.
// CHECK-LABEL: @half_free
// CHECK: %arg1 : tensor<8xf32>  [{"y":(1)2, ?}], replicated = {"y":(2)2}
// CHECK: dim 0 has "y":(1)2
// CHECK: dim 0 lacks "y": the axis must not be used (replicated)
func.func @half_free(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>},
                     %b: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}], replicated = {"y":(2)2}>}) -> tensor<8xf32> {
  %0 = arith.addf %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The way that is open brings it.
// CHECK-LABEL: @barrier
// CHECK: %arg0
// CHECK: dim 1 lacks "y": spmd.propagation_barrier blocks propagation in this direction
// CHECK: %0 : tensor<8x8xf32>  [{"x", ?}, {"y", ?}]
func.func @barrier(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>}) -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>}) {
  %0 = spmd.propagation_barrier %a allow = forward : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: @whole
// CHECK: lacks "x": linalg.softmax replicates dim 0 of %arg0
func.func @whole(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.softmax dimension(0) ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A loop that writes row by row.
// CHECK-LABEL: @rows
// CHECK: %1 : tensor<8x8xf32>  [{}, {"y", ?}]
// CHECK: dim 0 lacks "x": an iteration of scf.forall writes only a slice of the dim (scf.forall)
func.func @rows(%a: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x8xf32> {
  %0 = math.exp %a : tensor<8x8xf32>
  %1 = scf.forall (%i) in (8) shared_outs(%o = %0) -> (tensor<8x8xf32>) {
    %s = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
    %t = math.exp %s : tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    }
  }
  return %1 : tensor<8x8xf32>
}

// An explicit rule that replicates the dim.
// CHECK-LABEL: @written_whole
// CHECK: %0
// CHECK: dim 0 lacks "x": arith.addf replicates this dim
func.func @written_whole(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = arith.addf %a, %a {spmd.sharding_rule = #spmd.rule<([i], [i]) -> ([i]) {i=8}, replicated = {i}>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @no_rule
// CHECK: lacks "x": linalg.winograd_filter_transform has no sharding rule
func.func @no_rule(%a: tensor<2x3x3x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>}) -> tensor<6x6x4x2xf32> {
  %e = tensor.empty() : tensor<6x6x4x2xf32>
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x4xf32>) outs(%e : tensor<6x6x4x2xf32>) -> tensor<6x6x4x2xf32>
  return %0 : tensor<6x6x4x2xf32>
}

// 3 is not divisible by 4, nor is 4 by what would be left.
// CHECK-LABEL: @misfit
// CHECK: %expanded
// CHECK: lacks "y": tensor.expand_shape cannot forward these axes of dim 0 of %arg0, with factors 3 x 4: not divisible
func.func @misfit(%a: tensor<12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<3x4xf32> {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// The stronger of two that disagree.
// CHECK-LABEL: @conflict
// CHECK: %0 : tensor<16xf32>  [{"y", ?}]
// CHECK: dim 0 lacks "x": lost a conflict at arith.addf: {{.*}} s as chosen, {{.*}} s with it
// REMARK: [Missed] explain-stopped | {{.*}}Function=conflict | {{.*}}lost a conflict at arith.addf: {{.*}} s as chosen, {{.*}} s with it
func.func @conflict(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: @priority
// CHECK: %0 : tensor<16xf32>  [{"x", ?}]
// CHECK: dim 0 lacks "y": it came at priority 1, after "x" at priority 0
// CHECK: %1 : tensor<16xf32>  [{"y", ?}]
// CHECK-NEXT: dim 0 has "y"
// CHECK-NEXT: from dim 0 of %arg1 through math.exp
// CHECK-NEXT: given on argument %arg1 at priority 1
// JSON: "name": "priority"
// JSON: "given": "argument %arg1"
// JSON-NEXT: "priority": 1
func.func @priority(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}p1]>}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = arith.addf %a, %b : tensor<16xf32>
  %1 = math.exp %b : tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// What an op computes with, where a value has something else.
// CHECK-LABEL: @outvoted
// CHECK: %arg2 : tensor<16xf32>  [{"y", ?}]
// CHECK: dim 0 lacks "x": the dim is sharded by "y", and math.fma computes with "x"
// REMARK: [Missed] explain-stopped | {{.*}}Function=outvoted | {{.*}}the dim is sharded by "y", and math.fma computes with "x"
func.func @outvoted(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %c: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y", ?}]>}) -> tensor<16xf32> {
  %0 = math.fma %a, %b, %c : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: @partial
// CHECK: %arg0 : tensor<16xf32>  [{?}], unreduced = {"y"}
// CHECK-NEXT: dim 0 lacks "y": the value is partial over the axis
// JSON: "reason": "the value is partial over the axis"
func.func @partial(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{?}], unreduced = {"y"}>},
                   %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}
