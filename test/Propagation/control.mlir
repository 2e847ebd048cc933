// User control of propagation: barriers, groups, priorities, tied results, forbidden axes,
// sub-axes, user-defined rules.
// RUN: shard-opt %s --spmd-propagate=plan=propagation -o %t.once && FileCheck %s -enable-var-scope < %t.once
// RUN: shard-opt %s --spmd-propagate=conflicts=basic | FileCheck %s -enable-var-scope --check-prefix=BASIC
// RUN: shard-opt %t.once --spmd-propagate=plan=propagation -o %t.twice && diff %t.once %t.twice
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s -enable-var-scope --check-prefix=LOCAL --implicit-check-not=spmd.propagation_barrier --implicit-check-not=spmd.sharding_group
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @four = <["x"=4]>
spmd.mesh @cube = <["x"=2, "y"=2, "z"=3]>

//===----------------------------------------------------------------------===//
// Barriers: `x` comes from above, `y` from below; `allow` is the way that is open.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @barrier_none
// CHECK: arith.addi {{.*}}[{"x", ?}, {?}]>]
// CHECK: spmd.propagation_barrier %{{.*}} allow = none {spmd.shardings = [#spmd.sharding<@m, [{?}, {"y", ?}]>]}
// CHECK: arith.muli {{.*}}[{?}, {"y", ?}]>]
// LOCAL-LABEL: func.func @barrier_none
// LOCAL: arith.addi {{.*}} : tensor<6x6xi32>
// LOCAL: spmd.all_gather {{.*}} -> tensor<12x2xi32>
// LOCAL: arith.muli {{.*}} : tensor<12x2xi32>
func.func @barrier_none(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                        %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>) {
  %0 = arith.addi %a, %a : tensor<12x6xi32>
  %1 = spmd.propagation_barrier %0 allow = none : tensor<12x6xi32>
  %2 = arith.muli %1, %b : tensor<12x6xi32>
  return %0, %2 : tensor<12x6xi32>, tensor<12x6xi32>
}

// CHECK-LABEL: func.func @barrier_forward
// CHECK: arith.addi {{.*}}[{"x", ?}, {?}]>]
// CHECK: spmd.propagation_barrier %{{.*}} allow = forward {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]}
// CHECK: arith.muli {{.*}}[{"x", ?}, {"y", ?}]>]
// LOCAL-LABEL: func.func @barrier_forward
// LOCAL: arith.addi {{.*}} : tensor<6x6xi32>
// LOCAL-NEXT: spmd.all_slice
// LOCAL-NEXT: arith.muli {{.*}} : tensor<6x2xi32>
func.func @barrier_forward(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                           %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>) {
  %0 = arith.addi %a, %a : tensor<12x6xi32>
  %1 = spmd.propagation_barrier %0 allow = forward : tensor<12x6xi32>
  %2 = arith.muli %1, %b : tensor<12x6xi32>
  return %0, %2 : tensor<12x6xi32>, tensor<12x6xi32>
}

// CHECK-LABEL: func.func @barrier_backward
// CHECK: arith.addi {{.*}}[{"x", ?}, {"y", ?}]>]
// CHECK: spmd.propagation_barrier %{{.*}} allow = backward {spmd.shardings = [#spmd.sharding<@m, [{?}, {"y", ?}]>]}
// CHECK: arith.muli {{.*}}[{?}, {"y", ?}]>]
// LOCAL-LABEL: func.func @barrier_backward
// LOCAL: arith.addi {{.*}} : tensor<6x2xi32>
// LOCAL-NEXT: spmd.all_gather
// LOCAL-NEXT: arith.muli {{.*}} : tensor<12x2xi32>
func.func @barrier_backward(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                            %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>) {
  %0 = arith.addi %a, %a : tensor<12x6xi32>
  %1 = spmd.propagation_barrier %0 allow = backward : tensor<12x6xi32>
  %2 = arith.muli %1, %b : tensor<12x6xi32>
  return %0, %2 : tensor<12x6xi32>, tensor<12x6xi32>
}

//===----------------------------------------------------------------------===//
// Groups: members have one sharding, to which all of them contribute.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @group
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y", ?}]>
// CHECK-SAME: %arg1: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {"y", ?}]>
// CHECK-SAME: %arg2: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {"y"}]>
// CHECK-COUNT-3: [#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]
// LOCAL-LABEL: func.func @group
// LOCAL-NOT: spmd.all
// LOCAL: return {{.*}} tensor<6x2xi32>, tensor<6x2xi32>, tensor<6x2xi32>
func.func @group(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]}, %b: tensor<12x6xi32> {spmd.range = [-9, 10]},
                 %c: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>, tensor<12x6xi32>) {
  %0 = arith.addi %a, %a : tensor<12x6xi32>
  %1 = arith.muli %b, %b : tensor<12x6xi32>
  %2 = arith.muli %c, %c : tensor<12x6xi32>
  spmd.sharding_group %0 "g" : tensor<12x6xi32>
  spmd.sharding_group %1 "g" : tensor<12x6xi32>
  spmd.sharding_group %2 "g" : tensor<12x6xi32>
  return %0, %1, %2 : tensor<12x6xi32>, tensor<12x6xi32>, tensor<12x6xi32>
}

// A dim that one member closes is closed for all; a group of the same name
// in another function is another group.
// CHECK-LABEL: func.func @group_closed
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{}, {"x", ?}]>
// CHECK-SAME: %arg1: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{}, {"x", ?}]>
// CHECK: linalg.transpose {{.*}}[#spmd.sharding<@m, [{"x", ?}, {"y", ?}]>]
// LOCAL-LABEL: func.func @group_closed
// LOCAL-SAME: %arg0: tensor<12x3xi32> {{[^%]*}}%arg1: tensor<12x3xi32>
func.func @group_closed(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {?}]>, spmd.range = [-9, 10]},
                        %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}]>, spmd.range = [-9, 10]},
                        %c: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<6x12xi32>) {
  spmd.sharding_group %a "g" : tensor<12x6xi32>
  spmd.sharding_group %b "g" : tensor<12x6xi32>
  %e = tensor.empty() : tensor<6x12xi32>
  %t = linalg.transpose ins(%b : tensor<12x6xi32>) outs(%e : tensor<6x12xi32>) permutation = [1, 0]
  %s = arith.addi %t, %c : tensor<6x12xi32>
  return %a, %s : tensor<12x6xi32>, tensor<6x12xi32>
}

// A member inside a loop, after a barrier; a constraint as member.
// CHECK-LABEL: func.func @group_nested
// CHECK: spmd.with_sharding_constraint
// CHECK: scf.for
// CHECK: arith.addi {{.*}}[#spmd.sharding<@m, [{}, {"x"}]>]
func.func @group_nested(%a: tensor<12x6xi32> {spmd.range = [-9, 10]}, %b: tensor<12x6xi32> {spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = arith.muli %b, %b {spmd.shardings = [#spmd.sharding<@m, [{}, {"x"}]>]} : tensor<12x6xi32>
  spmd.sharding_group %p "g" : tensor<12x6xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> tensor<12x6xi32> {
    %n = arith.addi %v, %b : tensor<12x6xi32>
    spmd.sharding_group %n "g" : tensor<12x6xi32>
    %q = spmd.propagation_barrier %n allow = none : tensor<12x6xi32>
    scf.yield %q : tensor<12x6xi32>
  }
  return %r, %p : tensor<12x6xi32>, tensor<12x6xi32>
}

//===----------------------------------------------------------------------===//
// Priorities: p0 goes first, whatever it costs, and whatever is nearer.
//===----------------------------------------------------------------------===//

// The weight is larger, so that without priorities its sharding would win.
// CHECK-LABEL: func.func @priority_none
// CHECK: linalg.matmul {spmd.shardings = [#spmd.sharding<@m, [{?}, {"x", ?}]>]}
func.func @priority_none(%a: tensor<2x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                         %w: tensor<6x80xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}]>, spmd.range = [-9, 10]}) -> tensor<2x80xi32> {
  %c = arith.constant dense<0> : tensor<2x80xi32>
  %0 = linalg.matmul ins(%a, %w : tensor<2x6xi32>, tensor<6x80xi32>) outs(%c : tensor<2x80xi32>) -> tensor<2x80xi32>
  return %0 : tensor<2x80xi32>
}

// Batch p0, weight p1. The weight is stored in its user sharding, and gathered for use.
// CHECK-LABEL: func.func @priority_weight
// CHECK-SAME: %arg1: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}p1]>
// CHECK: linalg.matmul {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]}
// BASIC-LABEL: func.func @priority_weight
// BASIC: linalg.matmul {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]}
func.func @priority_weight(%a: tensor<2x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                           %w: tensor<6x80xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}p1]>, spmd.range = [-9, 10]}) -> tensor<2x80xi32> {
  %c = arith.constant dense<0> : tensor<2x80xi32>
  %0 = linalg.matmul ins(%a, %w : tensor<2x6xi32>, tensor<6x80xi32>) outs(%c : tensor<2x80xi32>) -> tensor<2x80xi32>
  return %0 : tensor<2x80xi32>
}

// CHECK-LABEL: func.func @priority_numbers
// CHECK: arith.addi {{.*}}[{"x", ?}, {?}]>]
// CHECK: arith.muli {{.*}}[{"x", ?}, {?}]>]
func.func @priority_numbers(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}p2, {?}]>, spmd.range = [-9, 10]},
                            %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}p7, {?}]>, spmd.range = [-9, 10]}) -> tensor<12x6xi32> {
  %0 = arith.addi %a, %b : tensor<12x6xi32>
  %1 = arith.muli %0, %0 : tensor<12x6xi32>
  return %1 : tensor<12x6xi32>
}

// p1 does not win by being nearer: its neighbors take the sharding of p0.
// CHECK-LABEL: func.func @priority_far
// CHECK-COUNT-4: [#spmd.sharding<@m, [{"x", ?}, {?}]>]
func.func @priority_far(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                        %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"x"}p1]>, spmd.range = [-9, 10]}) -> tensor<12x6xi32> {
  %0 = arith.muli %b, %b : tensor<12x6xi32>
  %1 = arith.addi %0, %b : tensor<12x6xi32>
  %2 = arith.muli %1, %b : tensor<12x6xi32>
  %3 = arith.addi %a, %2 : tensor<12x6xi32>
  return %3 : tensor<12x6xi32>
}

// Without a conflict, p1 propagates as far as p0, and after it on the same dim.
// CHECK-LABEL: func.func @priority_agree
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y", ?}]>
// CHECK: arith.addi {{.*}}[{"x", ?}, {"y", ?}]>]
// CHECK: arith.addi {{.*}}[{"x", "y", ?}, {?}]>]
func.func @priority_agree(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                          %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}p1]>, spmd.range = [-9, 10]},
                          %c: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                          %d: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}p1, {?}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32>, tensor<12x6xi32>) {
  %0 = arith.addi %a, %b : tensor<12x6xi32>
  %1 = arith.addi %c, %d : tensor<12x6xi32>
  return %0, %1 : tensor<12x6xi32>, tensor<12x6xi32>
}

//===----------------------------------------------------------------------===//
// Tied: the result has the argument's layout, wherever either comes from.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @tied_to_argument
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>
// CHECK-SAME: -> (tensor<12x6xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.tied = 0
// LOCAL-LABEL: func.func @tied_to_argument
// LOCAL-SAME: %arg0: tensor<6x6xi32>
// LOCAL: arith.muli {{.*}} : tensor<12x3xi32>
// LOCAL-NEXT: spmd.all_to_all
func.func @tied_to_argument(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 10]},
                            %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32> {spmd.tied = 0}) {
  %0 = arith.muli %b, %b : tensor<12x6xi32>
  %1 = spmd.propagation_barrier %0 allow = none : tensor<12x6xi32>
  return %1 : tensor<12x6xi32>
}

// CHECK-LABEL: func.func @tied_to_result
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>
// CHECK-SAME: -> (tensor<12x6xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.tied = 0
func.func @tied_to_result(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]})
    -> (tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {"y"}]>, spmd.tied = 0}) {
  %0 = arith.muli %a, %a : tensor<12x6xi32>
  return %0 : tensor<12x6xi32>
}

// The sharding of the gradient reaches the argument only through the tie.
// CHECK-LABEL: func.func @tied_inferred
// CHECK-SAME: %arg0: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"x", ?}]>
func.func @tied_inferred(%a: tensor<12x6xi32> {spmd.range = [-9, 10]},
                         %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]}) -> (tensor<12x6xi32> {spmd.tied = 0}) {
  %0 = arith.muli %b, %b : tensor<12x6xi32>
  return %0 : tensor<12x6xi32>
}

//===----------------------------------------------------------------------===//
// Forbidden axes, and sub-axes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @replicated
// CHECK-SAME: %arg1: {{[^%(]*}}spmd.sharding = #spmd.sharding<@m, [{?}, {"y", ?}], replicated = {"x"}>
// CHECK-SAME: -> (tensor<12x6xi32> {{.*}}spmd.sharding = #spmd.sharding<@m, [{"x", ?}, {?}], replicated = {"y"}>
// CHECK: arith.muli {{.*}}[{"x", ?}, {"y", ?}]>]
// CHECK: spmd.with_sharding_constraint {{.*}} {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}], replicated = {"y"}>]}
// CHECK: arith.addi {{.*}}[{"x", ?}, {?}]>]
func.func @replicated(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]},
                      %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}], replicated = {"x"}>, spmd.range = [-9, 10]})
    -> (tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}], replicated = {"y"}>}, tensor<12x6xi32>) {
  %0 = arith.muli %a, %b : tensor<12x6xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{?}, {?}], replicated = {"y"}> : tensor<12x6xi32>
  %2 = arith.addi %1, %1 : tensor<12x6xi32>
  return %0, %2 : tensor<12x6xi32>, tensor<12x6xi32>
}

// Two halves of one axis, on two dims; half an axis that takes the other half.
// CHECK-LABEL: func.func @sub_axes
// CHECK-SAME: %arg2: {{[^%]*}}spmd.sharding = #spmd.sharding<@four, [{"x", ?}, {?}]>
// CHECK: linalg.matmul {spmd.shardings = [#spmd.sharding<@four, [{"x":(1)2, ?}, {"x":(2)2, ?}]>]}
// LOCAL-LABEL: func.func @sub_axes
// LOCAL-NOT: spmd.all
// LOCAL: linalg.matmul {{.*}} -> tensor<6x6xi32>
// LOCAL-NOT: spmd.all
// LOCAL: return
func.func @sub_axes(%a: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{"x":(1)2}, {?}]>, spmd.range = [-9, 10]},
                    %b: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{?}, {"x":(2)2}]>, spmd.range = [-9, 10]},
                    %c: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{"x":(1)2, ?}, {?}]>, spmd.range = [-9, 10]},
                    %d: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{"x"}, {?}]>, spmd.range = [-9, 10]}) -> (tensor<12x12xi32>, tensor<12x12xi32>) {
  %z = arith.constant dense<0> : tensor<12x12xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<12x12xi32>, tensor<12x12xi32>) outs(%z : tensor<12x12xi32>) -> tensor<12x12xi32>
  %1 = arith.addi %c, %d : tensor<12x12xi32>
  return %0, %1 : tensor<12x12xi32>, tensor<12x12xi32>
}

// The half of an axis that may be used propagates, on a dim and next to the other half.
// CHECK-LABEL: func.func @half
// CHECK-SAME: %arg1: tensor<12x12xi32> {spmd.range = [-9, 10], spmd.sharding = #spmd.sharding<@four, [{"x":(1)2, ?}, {?}], replicated = {"x":(2)2}>, spmd.user_sharding =
// CHECK-SAME: %arg2: tensor<12x12xi32> {spmd.range = [-9, 10], spmd.sharding = #spmd.sharding<@four, [{"x":(1)2, ?}, {"x":(2)2}]>, spmd.user_sharding =
func.func @half(%a: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                %b: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{?}, {?}], replicated = {"x":(2)2}>, spmd.range = [-9, 10]},
                %c: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@four, [{?}, {"x":(2)2}]>, spmd.range = [-9, 10]}) -> (tensor<12x12xi32>, tensor<12x12xi32>) {
  %0 = arith.muli %a, %b : tensor<12x12xi32>
  %1 = arith.subi %a, %c : tensor<12x12xi32>
  return %0, %1 : tensor<12x12xi32>, tensor<12x12xi32>
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

// One dim, two axes: the one that costs less, or neither.
// CHECK-LABEL: func.func @conflict_axes
// CHECK: arith.addi {{.*}}[{"y", ?}, {?}]>]
// BASIC-LABEL: func.func @conflict_axes
// BASIC: arith.addi {{.*}}[{?}, {?}]>]
// LOCAL-LABEL: func.func @conflict_axes
func.func @conflict_axes(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-9, 10]},
                         %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {?}]>, spmd.range = [-9, 10]}) -> tensor<12x6xi32> {
  %0 = arith.addi %a, %b : tensor<12x6xi32>
  return %0 : tensor<12x6xi32>
}

// A common prefix is not a conflict.
// CHECK-LABEL: func.func @conflict_prefix
// CHECK: arith.addi {{.*}}[{"x", "z", ?}, {?}]>]
// BASIC-LABEL: func.func @conflict_prefix
// BASIC: arith.addi {{.*}}[{"x", ?}, {?}]>]
func.func @conflict_prefix(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@cube, [{"x", "y"}, {?}]>, spmd.range = [-9, 10]},
                           %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@cube, [{"x", "z"}, {?}]>, spmd.range = [-9, 10]}) -> tensor<12x6xi32> {
  %0 = arith.addi %a, %b : tensor<12x6xi32>
  return %0 : tensor<12x6xi32>
}

//===----------------------------------------------------------------------===//
// A user-defined rule
//===----------------------------------------------------------------------===//

// The rule forbids to shard dim 1, unlike that of an elementwise op.
// CHECK-LABEL: func.func @rule
// CHECK: arith.muli {{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// LOCAL-LABEL: func.func @rule
// LOCAL: spmd.all_gather {{.*}} : tensor<6x2xi32> -> tensor<6x6xi32>
// LOCAL-NEXT: arith.muli {{.*}} : tensor<6x6xi32>
func.func @rule(%a: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 10]}) -> tensor<12x6xi32> {
  %0 = arith.muli %a, %a {spmd.sharding_rule = #spmd.rule<([i, j], [i, j]) -> ([i, j]) {i=12, j=6}, replicated = {j}>} : tensor<12x6xi32>
  return %0 : tensor<12x6xi32>
}
