// Computation on replicated values: functions of several blocks, bodies of unknown ops.
// Arguments are gathered at the begin, results are sliced at the end.
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --spmd-propagate --spmd-insert-reshards --spmd-partition --remarks-filter=spmd 2>%t.remarks | FileCheck %s -enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// RUN: not shard-opt %s --split-input-file --spmd-propagate --spmd-forbid-implicit-reshard 2>&1 | FileCheck %s --check-prefix=STRICT
// STRICT: error: implicit reshard of 'tensor<8x12xi32>' from [{"x"}, {"y"}] to [{}, {}] (all_gather, 384 bytes), as the function has several blocks, expected one block
// REMARK-DAG: [Missed] replicated | {{.*}}Reason="it has several blocks", Remark="function @blocks computes on replicated values", Suggestion="lift its control flow first, for instance with --lift-cf-to-scf"
// REMARK-DAG: [Missed] dropped-constraint | {{.*}}Reason="the function has several blocks", Remark="spmd.with_sharding_constraint is dropped"
// REMARK-DAG: [Passed] reshard | {{.*}}Function=blocks | Axes="x,y", Bytes=384, Reason="the function has several blocks", Remark="[{"x"}, {"y"}] becomes [{}, {}]: all_gather"
// REMARK-DAG: warning: 1 ops without a sharding rule are replicated
// REMARK-DAG: warning: 1 constraints are dropped
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %arg0: tensor<4x6xi32>
// CHECK-SAME: -> (tensor<4x12xi32>
// CHECK: %[[A:.*]] = spmd.all_gather %arg0
// CHECK: cf.cond_br %arg1, ^bb1, ^bb2(%[[A]] : tensor<8x12xi32>)
// CHECK: %[[P:.*]] = arith.muli %[[A]], %[[A]] : tensor<8x12xi32>
// CHECK: cf.br ^bb2(%[[P]]
// CHECK: ^bb2(%[[R:.*]]: tensor<8x12xi32>):
// CHECK: %[[C:.*]] = spmd.all_slice %[[R]]
// CHECK: %[[D:.*]] = call @helper(%[[C]]) : (tensor<4x12xi32>) -> tensor<4x12xi32>
// CHECK: %[[E:.*]] = spmd.all_gather %[[D]]
// CHECK: %[[F:.*]] = math.absi %[[E]] : tensor<8x12xi32>
// CHECK: %[[G:.*]] = spmd.all_slice %[[F]]
// CHECK: return %[[G]] : tensor<4x12xi32>
func.func @blocks(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %c: i1)
    -> (tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  cf.cond_br %c, ^a, ^b(%a : tensor<8x12xi32>)
^a:
  %p = arith.muli %a, %a : tensor<8x12xi32>
  %q = spmd.with_sharding_constraint %p <@m, [{"x"}, {}]> : tensor<8x12xi32>
  cf.br ^b(%q : tensor<8x12xi32>)
^b(%r: tensor<8x12xi32>):
  %s = call @helper(%r) : (tensor<8x12xi32>) -> tensor<8x12xi32>
  %t = math.absi %s : tensor<8x12xi32>
  return %t : tensor<8x12xi32>
}
func.func @helper(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = arith.addi %a, %a : tensor<8x12xi32>
  return %0 : tensor<8x12xi32>
}

// -----

// REMARK-DAG: [Missed] no-rule | {{.*}}Reason="one of its regions has several blocks", Remark="scf.execute_region has no sharding rule
// REMARK-DAG: [Missed] dropped-constraint | {{.*}}Reason="the enclosing op computes on replicated values"
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @body
// CHECK: %[[A:.*]] = spmd.all_gather %arg0
// CHECK: scf.execute_region -> tensor<8x12xi32>
// CHECK: ^bb1:
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[A]], %[[A]] : tensor<8x12xi32>
// CHECK-NEXT: func.call @whole_spmd0(%[[P]]) : (tensor<8x12xi32>)
func.func @body(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %c: i1) -> tensor<8x12xi32> {
  %0 = scf.execute_region -> tensor<8x12xi32> {
    cf.cond_br %c, ^a, ^b(%a : tensor<8x12xi32>)
  ^a:
    %p = arith.muli %a, %a : tensor<8x12xi32>
    %q = spmd.with_sharding_constraint %p <@m, [{"x"}, {}]> : tensor<8x12xi32>
    %r = func.call @whole(%q) : (tensor<8x12xi32>) -> tensor<8x12xi32>
    cf.br ^b(%r : tensor<8x12xi32>)
  ^b(%s: tensor<8x12xi32>):
    scf.yield %s : tensor<8x12xi32>
  }
  return %0 : tensor<8x12xi32>
}
func.func private @whole(%a: tensor<8x12xi32>) -> tensor<8x12xi32> {
  return %a : tensor<8x12xi32>
}
