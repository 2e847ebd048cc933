// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file | shard-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: shard-opt %s --allow-unregistered-dialect --split-input-file --mlir-print-op-generic | shard-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// Meshes: axes major to minor, device order, link costs.
// CHECK: spmd.mesh @pod = <["data"=2, "model"=4]>
spmd.mesh @pod = <["data"=2, "model"=4]>
// CHECK: spmd.mesh @turned = <["u"=2, "v"=4], device_ids=[0, 4, 1, 5, 2, 6, 3, 7]>
spmd.mesh @turned = <["u"=2, "v"=4], device_ids=[0,4,1,5,2,6,3,7]>
// CHECK: spmd.mesh @costs = <["data"=2, "model"=4]> {alpha = [1.000000e-05, 2.000000e-06], bandwidth = 3.000000e+12 : f64, beta = [4.000000e-11, 2.200000e-12], flops = 9.000000e+14 : f64, memory = 85899345920 : i64}
spmd.mesh @costs = <["data"=2, "model"=4]> {alpha = [1.0e-5, 2.0e-6], beta = [4.0e-11, 2.2e-12], flops = 9.0e14, bandwidth = 3.0e12, memory = 85899345920}
// CHECK: spmd.mesh @measured = <["x"=2]> {flops = 1.000000e+12 : f64, spmd.overlap = 6.000000e-01 : f64}
spmd.mesh @measured = <["x"=2]> {flops = 1.0e12, spmd.overlap = 0.6}
// A mesh of one device, and an axis of size one.
// CHECK: spmd.mesh @one = <["x"=1]>
spmd.mesh @one = <["x"=1]>
// CHECK: spmd.mesh @empty = <[]>
spmd.mesh @empty = <[]>

// Shardings: open and closed dims, sub-axes, strides, priorities, replicated and
// unreduced axes.
// CHECK-LABEL: func.func private @shardings
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model", ?}]>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {?}]>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model":(1)2}p1, {"model":(2)2, ?}p12]>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "data"}, {"model", 2}]>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}], replicated = {"data", "model":(1)2}>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}], unreduced = {"model"}>}
// CHECK-SAME: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}], replicated = {"data"}, unreduced(max) = {"model"}>}
// CHECK-SAME: tensor<f32> {spmd.sharding = #spmd.sharding<@pod, []>}
// CHECK-SAME: tensor<0x3xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}
// CHECK-SAME: tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}
func.func private @shardings(
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model", ?}]>},
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {?}]>},
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model":(1)2}p1, {"model":(2)2, ?}p12]>},
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "data"}, {"model", 2}]>},
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}], replicated = {"data", "model":(1)2}>},
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}], unreduced = {"model"}>},
  // Either order is read.
  tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}], unreduced(max) = {"model"}, replicated = {"data"}>},
  tensor<f32> {spmd.sharding = #spmd.sharding<@pod, []>},
  tensor<0x3xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
  tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>})

// The attributes of arguments and results.
// CHECK-LABEL: func.func @signature
// CHECK-SAME: spmd.axis_resources = #spmd.axis_resources<["data", none, ["x", "y"], ?]>
// CHECK-SAME: spmd.name = "x"
// CHECK-SAME: spmd.axis_resources = #spmd.axis_resources<replicated>
// CHECK-SAME: spmd.weight = "layers.0.w"
// CHECK-SAME: spmd.segments = #spmd.segments<0, [80, 100, 100], unit = 10>
// CHECK-SAME: spmd.weight = ["q", "k", "v"]
// CHECK-SAME: spmd.microbatch = #spmd.microbatch<dim = 0>
// CHECK-SAME: spmd.range = [0, 7]
// CHECK-SAME: spmd.sharding = #spmd.ort<"RS[0]", shape = [4], elements = [0, 1, 0, 1]>
// CHECK-SAME: tensor<4x16xf32> {spmd.global_type = tensor<8x16xf32>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>, spmd.user_sharding = #spmd.sharding<@pod, [{?}, {?}]>}
// CHECK-SAME: -> (tensor<8x16xf32> {spmd.name = "y", spmd.tied = 4 : i64})
// CHECK-SAME: attributes {spmd.reference = @reference}
func.func @signature(
    %0: tensor<8x4x16x6xf32> {spmd.axis_resources = #spmd.axis_resources<["data", none, ["x","y"], ?]>, spmd.name = "x"},
    %1: tensor<8x16xf32> {spmd.axis_resources = #spmd.axis_resources<replicated>, spmd.weight = "layers.0.w"},
    %2: tensor<280x16xf32> {spmd.weight = ["q", "k", "v"], spmd.segments = #spmd.segments<0, [80, 100, 100], unit = 10>},
    %3: tensor<8xi32> {spmd.range = [0, 7], spmd.microbatch = #spmd.microbatch<dim = 0>},
    %4: tensor<8x16xf32> {spmd.sharding = #spmd.ort<"RS[0]", shape = [4], elements = [0,1,0,1]>},
    %5: tensor<4x16xf32> {spmd.user_sharding = #spmd.sharding<@pod, [{?}, {?}]>, spmd.global_type = tensor<8x16xf32>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>})
    -> (tensor<8x16xf32> {spmd.name = "y", spmd.tied = 4}) attributes {spmd.reference = @reference} {
  return %4 : tensor<8x16xf32>
}
func.func private @reference()

// CHECK-LABEL: func.func @global_view
func.func @global_view(%0: tensor<8x16xf32>, %1: tensor<8x4xf32>) {
  // CHECK: spmd.with_sharding_constraint %{{.*}} <@pod, [{"data"}, {?}]> : tensor<8x16xf32>
  %2 = spmd.with_sharding_constraint %0 <@pod, [{"data"}, {?}]> : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} axis_resources ["data", ?] : tensor<8x16xf32>
  %3 = spmd.with_sharding_constraint %0 axis_resources ["data", ?] : tensor<8x16xf32>
  // A list of one axis is that axis; a list of none is `none`.
  // CHECK: spmd.with_sharding_constraint %{{.*}} axis_resources ["data", none] : tensor<8x16xf32>
  %4 = spmd.with_sharding_constraint %0 axis_resources [["data"], []] : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} axis_resources replicated : tensor<8x16xf32>
  %5 = spmd.with_sharding_constraint %0 axis_resources replicated : tensor<8x16xf32>
  // CHECK: spmd.with_sharding_constraint %{{.*}} ort <"S[0]R", shape = [2], elements = [0, 1]> : tensor<8x16xf32>
  %6 = spmd.with_sharding_constraint %0 ort <"S[0]R", shape = [2], elements = [0, 1]> : tensor<8x16xf32>
  // CHECK: spmd.reshard %{{.*}} <@pod, [{}, {"model"}]> : tensor<8x16xf32>
  %7 = spmd.reshard %0 <@pod, [{}, {"model"}]> : tensor<8x16xf32>
  // CHECK: spmd.manual_computation (%{{.*}}, %{{.*}}) in [<@pod, [{"data"}, {?}]>, <@pod, [{}, {"model"}]>] out [<@pod, [{"data", "model"}, {?}]>] axes ["data"] (%[[A:.*]]: tensor<4x16xf32>, %{{.*}}: tensor<8x4xf32>) {
  // CHECK:   spmd.return %[[A]] : tensor<4x16xf32>
  // CHECK: } {note = "x"} : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<8x16xf32>
  %8 = spmd.manual_computation (%0, %1) in [<@pod, [{"data"}, {?}]>, <@pod, [{}, {"model"}]>] out [<@pod, [{"data", "model"}, {?}]>] axes ["data"] (%a: tensor<4x16xf32>, %b: tensor<8x4xf32>) {
    spmd.return %a : tensor<4x16xf32>
  } {note = "x"} : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<8x16xf32>
  // CHECK: spmd.manual_computation () in [] out [] axes [] () {
  // CHECK:   spmd.return
  // CHECK: } : () -> ()
  spmd.manual_computation () in [] out [] axes [] () {
    spmd.return
  } : () -> ()
  // CHECK: spmd.propagation_barrier %{{.*}} allow = none : tensor<8x16xf32>
  %9 = spmd.propagation_barrier %0 allow = none : tensor<8x16xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = forward : tensor<8x16xf32>
  %10 = spmd.propagation_barrier %0 allow = forward : tensor<8x16xf32>
  // CHECK: spmd.propagation_barrier %{{.*}} allow = backward : tensor<8x16xf32>
  %11 = spmd.propagation_barrier %0 allow = backward : tensor<8x16xf32>
  // CHECK: spmd.sort %{{.*}} dim = 1 last {
  // CHECK: spmd.yield %{{.*}}
  // CHECK: } : (tensor<8x16xf32>) -> tensor<8x4xf32>
  %sorted = spmd.sort %0 dim = 1 last {
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    spmd.yield %before
  } : (tensor<8x16xf32>) -> tensor<8x4xf32>
  // CHECK: spmd.sharding_group %{{.*}} "g" : tensor<8x16xf32>
  spmd.sharding_group %0 "g" : tensor<8x16xf32>
  // CHECK: spmd.probe 3 "%5 (scores)" "linalg.matmul" %{{.*}} : tensor<8x16xf32>
  spmd.probe 3 "%5 (scores)" "linalg.matmul" %0 : tensor<8x16xf32>
  // CHECK: spmd.probe 4 "%6" "math.exp" %{{.*}} as <@pod, [{"data"}, {}]> of tensor<16x4xf32> : tensor<8x4xf32>
  spmd.probe 4 "%6" "math.exp" %1 as <@pod, [{"data"}, {}]> of tensor<16x4xf32> : tensor<8x4xf32>
  // CHECK: spmd.stage_boundary %{{.*}} : tensor<8x16xf32>
  spmd.stage_boundary %0 : tensor<8x16xf32>
  // CHECK: spmd.stage_boundary backward %{{.*}}, %{{.*}} axis_resources ["data", none] : tensor<8x16xf32>, tensor<8x4xf32>
  spmd.stage_boundary backward %0, %1 axis_resources [["data"], none] : tensor<8x16xf32>, tensor<8x4xf32>
  // CHECK: spmd.stage_boundary candidate %{{.*}} : tensor<8x16xf32>
  spmd.stage_boundary candidate %0 : tensor<8x16xf32>
  return
}

// Attributes of ops: rule, factor shardings, shardings of results, stage.
// CHECK-LABEL: func.func @computes
func.func @computes(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.matmul
  // CHECK-SAME: spmd.factor_shardings = #spmd.factors<@pod, [{"data"}, {}, {"model"}]>
  // CHECK-SAME: spmd.reshard_per_use = array<i64: 0, 2>
  // CHECK-SAME: spmd.sharding_rule = #spmd.rule<([i, k], [k, j], [i, j]) -> ([i, j]) {i=8, j=16, k=4}, reduction(sum) = {k}>
  // CHECK-SAME: spmd.shardings = [#spmd.sharding<@pod, [{"data"}, {}], unreduced = {"model"}>]
  // CHECK-SAME: spmd.stage = 1 : i64
  %0 = linalg.matmul {
    spmd.factor_shardings = #spmd.factors<@pod, [{"data"}, {}, {"model"}]>,
    spmd.reshard_per_use = array<i64: 0, 2>,
    spmd.sharding_rule = #spmd.rule<([i, k], [k, j], [i, j]) -> ([i, j]) {i=8, j=16, k=4}, reduction(sum) = {k}, indexed = {}, ordered = {}, replicated = {}>,
    spmd.shardings = [#spmd.sharding<@pod, [{"data"}, {}], unreduced = {"model"}>],
    spmd.stage = 1 : i64
  } ins(%a, %b : tensor<8x4xf32>, tensor<4x16xf32>) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  // Compound dims, dims without a factor, and every set.
  // CHECK: t.rule = #spmd.rule<([a, b, c, d, e]) -> ([(a b), (c d), _]) {a=8, b=16, c=2, d=3, e=1}, reduction(max) = {e}, windowed = {a}, indexed = {b}, ordered = {c}, replicated = {d}>
  "t.op"() {t.rule = #spmd.rule<([a, b, c, d, e]) -> ([(a b), (c d), _]) {a=8, b=16, c=2, d=3, e=1}, reduction(max) = {e}, windowed = {a}, indexed = {b}, ordered = {c}, replicated = {d}>} : () -> ()
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @started
func.func @started(%x: tensor<8x4xf32>, %y: tensor<16xf32>) -> (tensor<8x4xf32>, tensor<16xf32>) {
  // CHECK: %[[S:.*]]:2 = spmd.start {
  // CHECK-NEXT: %[[A:.*]] = spmd.all_reduce
  // CHECK-NEXT: %[[B:.*]] = spmd.all_reduce
  // CHECK-NEXT: spmd.return %[[A]], %[[B]] : tensor<8x4xf32>, tensor<16xf32>
  // CHECK-NEXT: } : tensor<8x4xf32>, tensor<16xf32>
  // CHECK-NEXT: spmd.done %[[S]]#0, %[[S]]#1 : tensor<8x4xf32>, tensor<16xf32>
  %1:2 = spmd.start {
    %a = spmd.all_reduce %x sum <@pod, {"model"}> : tensor<8x4xf32>
    %b = spmd.all_reduce %y sum <@pod, {"model"}> : tensor<16xf32>
    spmd.return %a, %b : tensor<8x4xf32>, tensor<16xf32>
  } : tensor<8x4xf32>, tensor<16xf32>
  %2:2 = spmd.done %1#0, %1#1 : tensor<8x4xf32>, tensor<16xf32>
  return %2#0, %2#1 : tensor<8x4xf32>, tensor<16xf32>
}

// CHECK-LABEL: func.func @local_view
func.func @local_view(%0: tensor<8x4xf32>, %1: tensor<2x8xf32>, %2: tensor<4x16xf32>, %u: tensor<4x7xf32>) {
  // CHECK: spmd.device_coordinate @pod "model" : index
  %i = spmd.device_coordinate @pod "model" : index
  // CHECK: spmd.all_gather %{{.*}} <@pod, [{}, {2, "model"}]> : tensor<8x4xf32> -> tensor<8x16xf32>
  %3 = spmd.all_gather %0 <@pod, [{}, {2, "model"}]> : tensor<8x4xf32> -> tensor<8x16xf32>
  // CHECK: spmd.all_slice %{{.*}} <@pod, [{"model"}, {}]> {id = 3 : i64} : tensor<8x4xf32> -> tensor<2x4xf32>
  %4 = spmd.all_slice %0 <@pod, [{"model"}, {}]> {id = 3 : i64} : tensor<8x4xf32> -> tensor<2x4xf32>
  // CHECK: spmd.all_reduce %{{.*}} max <@pod, {"model"}> : tensor<8x4xf32>
  %5 = spmd.all_reduce %0 max <@pod, {"model"}> : tensor<8x4xf32>
  // CHECK: spmd.all_reduce %{{.*}} sum <@pod, {"data", "model":(2)2}> : tensor<8x4xf32>
  %6 = spmd.all_reduce %0 sum <@pod, {"data", "model":(2)2}> : tensor<8x4xf32>
  // CHECK: spmd.reduce_scatter %{{.*}} sum <@pod, [{"model"}, {}]> : tensor<8x4xf32> -> tensor<2x4xf32>
  %7 = spmd.reduce_scatter %0 sum <@pod, [{"model"}, {}]> : tensor<8x4xf32> -> tensor<2x4xf32>
  // CHECK: spmd.all_to_all %{{.*}} <@pod, [{"model"}, {}]> to <@pod, [{}, {"model"}]> : tensor<2x8xf32> -> tensor<8x2xf32>
  %8 = spmd.all_to_all %1 <@pod, [{"model"}, {}]> to <@pod, [{}, {"model"}]> : tensor<2x8xf32> -> tensor<8x2xf32>
  // CHECK: spmd.exchange %{{.*}} of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> : tensor<4x16xf32> -> tensor<8x8xf32>
  %9 = spmd.exchange %2 of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> : tensor<4x16xf32> -> tensor<8x8xf32>
  // CHECK: spmd.halo_exchange %{{.*}} of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [4] offsets = [-1] : tensor<4x16xf32> -> tensor<6x16xf32>
  %halo = spmd.halo_exchange %2 of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [4] offsets = [-1] : tensor<4x16xf32> -> tensor<6x16xf32>
  %index = arith.constant 3 : index
  // CHECK: spmd.halo_exchange %{{.*}} of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [0] offsets = [%{{.*}}] : tensor<4x16xf32> -> tensor<1x16xf32>
  %sent = spmd.halo_exchange %2 of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@pod, [{"data"}, {}]> dims = [0] steps = [0] offsets = [%index] : tensor<4x16xf32> -> tensor<1x16xf32>
  // An exchange may be uneven: 7 rows over 4 devices are 2, 2, 2 and 1.
  // CHECK: spmd.exchange %{{.*}} of tensor<7x8xf32> <@pod, [{"model"}, {}]> to <@pod, [{}, {"model"}]> : tensor<2x8xf32> -> tensor<7x2xf32>
  %10 = spmd.exchange %1 of tensor<7x8xf32> <@pod, [{"model"}, {}]> to <@pod, [{}, {"model"}]> : tensor<2x8xf32> -> tensor<7x2xf32>
  // So may slices, gathers and reduce_scatters.
  // CHECK: spmd.all_slice %{{.*}} <@pod, [{}, {"model"}]> : tensor<4x7xf32> -> tensor<4x2xf32>
  %u0 = spmd.all_slice %u <@pod, [{}, {"model"}]> : tensor<4x7xf32> -> tensor<4x2xf32>
  // CHECK: spmd.all_gather %{{.*}} <@pod, [{}, {"model"}]> : tensor<4x2xf32> -> tensor<4x7xf32>
  %u1 = spmd.all_gather %u0 <@pod, [{}, {"model"}]> : tensor<4x2xf32> -> tensor<4x7xf32>
  // CHECK: spmd.reduce_scatter %{{.*}} sum <@pod, [{}, {"model"}]> : tensor<4x7xf32> -> tensor<4x2xf32>
  %u2 = spmd.reduce_scatter %u1 sum <@pod, [{}, {"model"}]> : tensor<4x7xf32> -> tensor<4x2xf32>
  // CHECK: spmd.collective_permute %{{.*}} of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{"u"}, {}]> : tensor<4x16xf32> -> tensor<4x16xf32>
  %11 = spmd.collective_permute %2 of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{"u"}, {}]> : tensor<4x16xf32> -> tensor<4x16xf32>
  // CHECK: spmd.broadcast %{{.*}} <@pod, {"model"}> root = 2 : tensor<8x4xf32>
  %12 = spmd.broadcast %0 <@pod, {"model"}> root = 2 : tensor<8x4xf32>
  // CHECK: spmd.send %{{.*}} of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> channel = 3 : tensor<4x16xf32>
  spmd.send %2 of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> channel = 3 : tensor<4x16xf32>
  // CHECK: spmd.recv of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> channel = 3 : tensor<8x8xf32>
  %13 = spmd.recv of tensor<8x16xf32> <@pod, [{"data"}, {}]> to <@turned, [{}, {"u"}]> channel = 3 : tensor<8x8xf32>
  // Integers, complex numbers and booleans move as floats do.
  // CHECK: spmd.all_reduce %{{.*}} or <@pod, {"data"}> : tensor<4xi1>
  %14 = tensor.empty() : tensor<4xi1>
  %15 = spmd.all_reduce %14 or <@pod, {"data"}> : tensor<4xi1>
  // CHECK: spmd.all_reduce %{{.*}} sum <@pod, {"data"}> : tensor<complex<f32>>
  %16 = tensor.empty() : tensor<complex<f32>>
  %17 = spmd.all_reduce %16 sum <@pod, {"data"}> : tensor<complex<f32>>
  return
}

// -----

// The phase is on the module.
// CHECK: module attributes {spmd.phase = "propagated"}
module attributes {spmd.phase = "propagated"} {
}

// -----

// Attributes outside of ops.
// CHECK: module attributes
// CHECK-SAME: t.axes = #spmd.axes<@pod, {"x", "y":(1)2}>
// CHECK-SAME: t.dim = #spmd.dim_sharding<{2, "x", ?}p1>
// CHECK-SAME: t.entry = #spmd.dim_entry<"x":(1)2>
// CHECK-SAME: t.mesh = #spmd.mesh<["x"=2], device_ids=[1, 0]>
// CHECK-SAME: t.mesh_axis = #spmd.mesh_axis<"x"=2>
// CHECK-SAME: t.reduction = #spmd.reduction<umin>
// CHECK-SAME: t.segments = #spmd.segments<1, [4, 8]>
// CHECK-SAME: t.stride = #spmd.dim_entry<2>
module attributes {
  t.axes = #spmd.axes<@pod, {"x", "y":(1)2}>,
  t.dim = #spmd.dim_sharding<{2, "x", ?}p1>,
  t.entry = #spmd.dim_entry<"x":(1)2>,
  t.stride = #spmd.dim_entry<2>,
  t.mesh = #spmd.mesh<["x"=2], device_ids=[1, 0]>,
  t.mesh_axis = #spmd.mesh_axis<"x"=2>,
  t.reduction = #spmd.reduction<umin>,
  t.segments = #spmd.segments<1, [4, 8]>
} {
}
