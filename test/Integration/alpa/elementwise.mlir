// Argument and result specs of elementwise programs: what is given stands, what
// is not is inferred, and nothing moves where nothing has to.
// RUN: shard-opt %s --spmd-resolve-axis-resources=mesh=pod --spmd-default-pipeline | FileCheck %s -enable-var-scope --implicit-check-not="spmd.all_{{gather|reduce|to_all}}" --implicit-check-not=spmd.reduce_scatter --implicit-check-not=spmd.collective_permute --implicit-check-not=spmd.exchange
// RUN: shard-opt %s --spmd-resolve-axis-resources=mesh=pod --spmd-default-pipeline --spmd-report="format=json output=%t.json" -o /dev/null
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); assert all(c['bytes'] == 0 or c['kind'] == 'all_slice' for c in r['collectives']), r['collectives']; assert not r['totals']['cost'], r['totals']"
// RUN: shard-run %s --random-inputs=1 --verify

spmd.mesh @pod = <["data"=2, "model"=2]>

// Both cut alike; the result follows.
// CHECK-LABEL: func.func @alike
// CHECK-SAME: (%{{[^:]*}}: tensor<6x2xf32> {{[^%]*}}, %{{[^:]*}}: tensor<6x2xf32>
// CHECK-SAME: -> (tensor<6x2xf32> {{.*}}spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>
// CHECK-NOT: spmd.all_slice
// CHECK: arith.addf %{{.*}} : tensor<6x2xf32>
func.func @alike(%a: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<[none, "model"]>},
                 %b: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<[none, "model"]>}) -> tensor<6x4xf32> {
  %0 = arith.addf %a, %b : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// One cut along more axes: the other is sliced.
// CHECK-LABEL: func.func @more_axes
// CHECK-SAME: (%[[A:[^:]*]]: tensor<3x4xf32> {{[^%]*}}, %[[B:[^:]*]]: tensor<3x2xf32>
// CHECK-SAME: -> (tensor<3x2xf32> {{.*}}spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>
// CHECK: %[[S:.*]] = spmd.all_slice %[[A]] <@pod, [{}, {"model"}]>{{.*}} : tensor<3x4xf32> -> tensor<3x2xf32>
// CHECK-NOT: spmd.all_slice
// CHECK: arith.addf %[[S]], %[[B]] : tensor<3x2xf32>
func.func @more_axes(%a: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data"]>},
                     %b: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data", "model"]>}) -> tensor<6x4xf32> {
  %0 = arith.addf %a, %b : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// None is an answer, not a gap: it stays replicated beside a neighbour that is cut.
// CHECK-LABEL: func.func @none
// CHECK-SAME: (%[[A:[^:]*]]: tensor<6x4xf32> {{[^%]*}}[{}, {}]>{{[^%]*}}, %[[B:[^:]*]]: tensor<3x4xf32>
// CHECK-SAME: -> (tensor<3x4xf32> {{.*}}spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>
// CHECK: %[[S:.*]] = spmd.all_slice %[[A]] <@pod, [{"data"}, {}]>{{.*}} : tensor<6x4xf32> -> tensor<3x4xf32>
// CHECK: arith.addf %[[S]], %[[B]] : tensor<3x4xf32>
func.func @none(%a: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<replicated>},
                %b: tensor<6x4xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none]>}) -> tensor<6x4xf32> {
  %0 = arith.addf %a, %b : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
