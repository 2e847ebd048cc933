// Ops of other dialects with a rule: a factor whose size an attribute or a type in a region holds is replicated, with a
// remark, as nothing makes it local. The attributes of `keep` hold no size.
// RUN: shard-opt %s --allow-unregistered-dialect --spmd-default-pipeline=plan=propagation --remarks-filter=spmd -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

spmd.mesh @m = <["x"=2, "y"=3]>
#rows = #spmd.sharding<@m, [{"x"}, {}]>
#rule = #spmd.rule<([i, j]) -> ([i, j]) {i=8, j=6}>

// CHECK-LABEL: func.func @keep
// CHECK: "my.op"({{.*}}) {alpha = 5 : i64, dims = [1, 0], flag = true, named = "8x6", scale = 8.000000e+00 : f64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
// REMARK-NOT: remark: {{.*}} global-size {{.*}} Function=keep
func.func @keep(%a: tensor<8x6xf32> {spmd.sharding = #rows}) -> (tensor<8x6xf32> {spmd.sharding = #rows}) {
  %0 = "my.op"(%a) {spmd.sharding_rule = #rule, alpha = 5 : i64, flag = true, dims = [1, 0], named = "8x6", scale = 8.0 : f64} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// The other dim, whose size is in no attribute, stays sharded.
// CHECK-LABEL: func.func @other_dim
// CHECK: "my.op"({{.*}}) {size = 8 : i64} : (tensor<8x2xf32>) -> tensor<8x2xf32>
// REMARK: remark: [Missed] global-size | Category:spmd | Function=other_dim | Reason="attribute size holds 8, which may be a size or offset of the global tensors, and no pass makes it local", Remark="factor 0 of my.op is replicated", Suggestion="implement makeLocal in its ShardingRuleOpInterface, or set hasLocalAttributes in the rule if it holds none"
func.func @other_dim(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x6xf32> {
  %0 = "my.op"(%a) {spmd.sharding_rule = #rule, size = 8 : i64} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Each of these holds 8, its offset, or a product with it.
// CHECK-LABEL: func.func @table
// CHECK-COUNT-19: : (tensor<8x6xf32>) -> tensor<8x6xf32>
// REMARK-COUNT-19: remark: [Missed] global-size {{.*}} Function=table {{.*}}factor 0 of my.op
func.func @table(%a: tensor<8x6xf32> {spmd.sharding = #rows}) -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = "my.op"(%a) {spmd.sharding_rule = #rule, v = 8 : i32} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = "my.op"(%0) {spmd.sharding_rule = #rule, v = array<i64: 8, 1>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %2 = "my.op"(%1) {spmd.sharding_rule = #rule, v = array<i32: 4, 0>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = "my.op"(%2) {spmd.sharding_rule = #rule, v = [8, 1]} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %4 = "my.op"(%3) {spmd.sharding_rule = #rule, v = dense<[8, 1]> : tensor<2xi64>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = "my.op"(%4) {spmd.sharding_rule = #rule, v = dense<1.0> : tensor<8xf32>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %6 = "my.op"(%5) {spmd.sharding_rule = #rule, v = tensor<8xf32>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %7 = "my.op"(%6) {spmd.sharding_rule = #rule, v = (memref<8x2xf32>) -> vector<4xf32>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %8 = "my.op"(%7) {spmd.sharding_rule = #rule, v = {a = {b = [8 : index]}}} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %9 = "my.op"(%8) {spmd.sharding_rule = #rule, v = 48 : i64} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %10 = "my.op"(%9) {spmd.sharding_rule = #rule, v = affine_map<(i) -> (i mod 8)>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %12 = "my.op"(%10) ({
  ^bb0(%b: tensor<8xf32>):
    "my.yield"() : () -> ()
  }) {spmd.sharding_rule = #rule} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %13 = "my.op"(%12) ({
    %b = "my.make"() : () -> memref<8xf32>
    "my.yield"() : () -> ()
  }) {spmd.sharding_rule = #rule} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %14 = "my.op"(%13) ({
    "my.yield"() {size = 8 : i64} : () -> ()
  }) {spmd.sharding_rule = #rule} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %15 = "my.op"(%14) {spmd.sharding_rule = #rule, v = array<i64: 3, 3>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %16 = "my.op"(%15) {spmd.sharding_rule = #rule, v = affine_set<(i) : (i - 8 >= 0)>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %17 = "my.op"(%16) {spmd.sharding_rule = #rule, v = affine_set<(i) : (-i + 7 >= 0)>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %18 = "my.op"(%17) {spmd.sharding_rule = #rule, v = affine_map<(i) -> (7 - i)>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %19 = "my.op"(%18) {spmd.sharding_rule = #rule, v = -8 : i64} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %19 : tensor<8x6xf32>
}

// A written rule permits no padding.
// REMARK: remark: [Missed] unpadded | Category:spmd | Function=uneven | Reason="it has no form on padded shards", Remark="my.op needs dim 0 of operand #0 (size 7) unsharded, which {{.*}} shards unevenly", Suggestion="pad the dim, or specify in its ShardingRuleOpInterface, by setPadding or getPaddingNeeds, what padding of factor 0 may hold"
// REMARK: remark: [Missed] replicated | Category:spmd | Function=uneven | Axes=x, Bytes=28, Reason="it has no form on padded shards, and the axes divide none of its dims", Remark="my.op computes full tensors on every device"
// CHECK-LABEL: func.func @uneven
// CHECK: "my.op"({{.*}}) : (tensor<7xf32>) -> tensor<7xf32>
func.func @uneven(%a: tensor<7xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<7xf32> {
  %0 = "my.op"(%a) {spmd.sharding_rule = #spmd.rule<([i]) -> ([i]) {i=7}>} : (tensor<7xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
