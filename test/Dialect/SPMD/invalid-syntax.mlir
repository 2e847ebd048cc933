// RUN: shard-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Errors of the parser and of attribute verifiers.

// expected-error @+1 {{found an entry after '?', expected '}'}}
"t.op"() {a = #spmd.sharding<@pod, [{?, "x"}]>} : () -> ()

// -----

// expected-error @+1 {{expected an axis name, a stride or '?'}}
"t.op"() {a = #spmd.sharding<@pod, [{x}]>} : () -> ()

// -----

// expected-error @+1 {{axis name is empty, expected a name}}
"t.op"() {a = #spmd.sharding<@pod, [{""}]>} : () -> ()

// -----

// dim_entry_c1
// expected-error @+1 {{stride is 0, expected at least 1}}
"t.op"() {a = #spmd.sharding<@pod, [{0, "x"}]>} : () -> ()

// -----

// dim_entry_c1
// expected-error @+1 {{sub-axis "x":(0)2 has a size below 1, expected positive sizes}}
"t.op"() {a = #spmd.sharding<@pod, [{"x":(0)2}]>} : () -> ()

// -----

// expected-error @+1 {{found 'q1' after a dimension, expected a priority such as 'p1'}}
"t.op"() {a = #spmd.sharding<@pod, [{"x"}q1]>} : () -> ()

// -----

// expected-error @+1 {{found a stride, expected an axis name}}
"t.op"() {a = #spmd.sharding<@pod, [{}], replicated = {2}>} : () -> ()

// -----

// expected-error @+1 {{expected 'replicated' or 'unreduced', each once}}
"t.op"() {a = #spmd.sharding<@pod, [{}], replicated = {"x"}, replicated = {"y"}>} : () -> ()

// -----

// expected-error @+1 {{unknown reduction 'mean', expected one of sum, prod, and, or, xor, max, min, umax, umin, maxnum, minnum}}
"t.op"() {a = #spmd.sharding<@pod, [{}], unreduced(mean) = {"x"}>} : () -> ()

// -----

// factors_c1
// expected-error @+1 {{factor 1 is open or has a priority, expected a list of axes}}
"t.op"() {a = #spmd.factors<@pod, [{"x"}, {?}]>} : () -> ()

// -----

// axis_resources_c1
// expected-error @+1 {{expected an axis, a list of axes, 'none' or '?'}}
"t.op"() {a = #spmd.axis_resources<[3]>} : () -> ()

// -----

// axis_resources_c2
// expected-error @+1 {{axis "x" is used twice, expected each axis once}}
"t.op"() {a = #spmd.axis_resources<["x", ["y", "x"]]>} : () -> ()

// -----

// ort_c1
// expected-error @+1 {{device mesh has 3 elements, expected 4}}
"t.op"() {a = #spmd.ort<"S[0]", shape = [4], elements = [0, 1, 0]>} : () -> ()

// -----

// ort_c1
// expected-error @+1 {{device id is -1, expected 0 or more}}
"t.op"() {a = #spmd.ort<"S[0]", shape = [2], elements = [0, -1]>} : () -> ()

// -----

// microbatch_c1
// expected-error @+1 {{microbatch dim is -1, expected 0 or more}}
"t.op"() {a = #spmd.microbatch<dim = -1>} : () -> ()

// -----

// segments_c1
// expected-error @+1 {{segments have no sizes, expected at least one}}
"t.op"() {a = #spmd.segments<0, []>} : () -> ()

// -----

// segments_c2
// expected-error @+1 {{segment size is 85, expected a multiple of unit 10}}
"t.op"() {a = #spmd.segments<0, [80, 85], unit = 10>} : () -> ()

// -----

// rule_attr_c1
// expected-error @+1 {{factor i has two sizes, expected one}}
"t.op"() {a = #spmd.rule<([i]) -> ([i]) {i=8, i=4}>} : () -> ()

// -----

// rule_attr_c1
// expected-error @+1 {{factor i is in two sets, expected at most one}}
"t.op"() {a = #spmd.rule<([i]) -> () {i=8}, reduction(sum) = {i}, indexed = {i}>} : () -> ()

// -----

// rule_attr_c1
// expected-error @+1 {{factor i has size 0, expected at least 1}}
"t.op"() {a = #spmd.rule<([i]) -> () {i=0}>} : () -> ()

// -----

// rule_attr_c2
// expected-error @+1 {{factor j has no size, expected one in {...}}}
"t.op"() {a = #spmd.rule<([i, j]) -> ([i]) {i=8}>} : () -> ()

// -----

// expected-error @+1 {{unknown set 'whole', expected one of reduction, windowed, indexed, ordered, replicated}}
"t.op"() {a = #spmd.rule<([i]) -> ([i]) {i=8}, whole = {i}>} : () -> ()

// -----

func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{expected a reduction such as 'sum'}}
  %1 = spmd.all_reduce %0 <@pod, {"x"}> : tensor<8xf32>
  return
}

// -----

// segment_c1
// expected-error @+1 {{dim is 2, expected 0 or more and less than 2, the rank of 'tensor<280x64xf32>'}}
"t.op"() {a = #spmd.segment<tensor<280x64xf32>, dim = 2, offset = 80, unit = 10, argument = 1>} : () -> ()

// -----

// segment_c1
// expected-error @+1 {{has offset 80, unit 0 and argument 1, expected none negative and a positive unit}}
"t.op"() {a = #spmd.segment<tensor<280x64xf32>, dim = 0, offset = 80, unit = 0, argument = 1>} : () -> ()

// -----

// slot_c1
// expected-error @+1 {{slot has no name, expected the name of a value}}
"t.op"() {a = #spmd.slot<value "">} : () -> ()

// -----

// slot_c1
// expected-error @+1 {{slot has index -1, expected 0 or more}}
"t.op"() {a = #spmd.slot<argument -1>} : () -> ()
