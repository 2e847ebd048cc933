// StableHLO in generic form, which nothing has verified: propagation and partition by rules that know ops by name.
// python/tests/test_stablehlo_rules.py compares numbers.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-default-pipeline=plan=propagation | FileCheck %s --enable-var-scope
// RUN: shard-opt %s --split-input-file --verify-diagnostics --convert-stablehlo-control-flow-to-scf --spmd-propagate | FileCheck %s --check-prefix=SHARDINGS --enable-var-scope

spmd.mesh @m = <["x"=2, "y"=3]>

// Padding of the sum is zero; each device has a partial result.
// SHARDINGS-LABEL: func.func @dot
// SHARDINGS: "stablehlo.dot_general"{{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// CHECK-LABEL: func.func @dot
// CHECK: "stablehlo.dot_general"({{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"y"}>
func.func @dot(%x: tensor<7x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %w: tensor<4x6xf32>) -> tensor<7x6xf32> {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<7x4xf32>, tensor<4x6xf32>) -> tensor<7x6xf32>
  return %0 : tensor<7x6xf32>
}

// A slice starts with its window. The limit of the other dim is local.
// CHECK-LABEL: func.func @slice
// CHECK: %[[HALO:.*]] = spmd.halo_exchange
// CHECK: "stablehlo.slice"(%[[HALO]]) <{limit_indices = array<i64: 4, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x2xf32>) -> tensor<4x2xf32>
func.func @slice(%x: tensor<8x9xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %0 = "stablehlo.slice"(%x) <{limit_indices = array<i64: 8, 8>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<8x9xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// Each device adds its updates, one of them to the table; rows of a batch are written where they are.
// CHECK-LABEL: func.func @scatter
// CHECK: arith.select
// CHECK: "stablehlo.scatter"({{.*}}indices_are_sorted = false{{.*}}unique_indices = false
// CHECK: : (tensor<64x10xf32>, tensor<4x5x1xi32>, tensor<4x5x10xf32>) -> tensor<64x10xf32>
// CHECK-NEXT: "stablehlo.scatter"
// CHECK: : (tensor<4x5x16xf32>, tensor<4x5x1x1xi32>, tensor<4x5x1xf32>) -> tensor<4x5x16xf32>
// CHECK-NEXT: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}} : tensor<64x10xf32>
// CHECK-NEXT: return
func.func @scatter(%table: tensor<64x30xf32>, %i: tensor<8x5x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>},
                   %rows: tensor<8x5x30xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>},
                   %logits: tensor<8x5x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}, %j: tensor<8x5x1x1xi32>, %v: tensor<8x5x1xf32>)
    -> (tensor<64x30xf32>, tensor<8x5x16xf32>) {
  %0 = "stablehlo.scatter"(%table, %i, %rows) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%2) : (tensor<f32>) -> ()
  }) : (tensor<64x30xf32>, tensor<8x5x1xi32>, tensor<8x5x30xf32>) -> tensor<64x30xf32>
  %1 = "stablehlo.scatter"(%logits, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<8x5x16xf32>, tensor<8x5x1x1xi32>, tensor<8x5x1xf32>) -> tensor<8x5x16xf32>
  return %0, %1 : tensor<64x30xf32>, tensor<8x5x16xf32>
}

// Attributes that are missing or of another form replicate the op.
// CHECK-LABEL: func.func @malformed
// CHECK: "stablehlo.dot_general"{{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: "stablehlo.transpose"{{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: "stablehlo.convolution"{{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: "stablehlo.gather"{{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: "stablehlo.reduce"{{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: "stablehlo.slice"{{.*}} -> tensor<8x8xf32>
func.func @malformed(%x: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [7], rhs_contracting_dimensions = [0]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "stablehlo.transpose"(%0) {permutation = array<i64: 0, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.convolution"(%1, %1) {dimension_numbers = #stablehlo.conv<[b, f]x[o]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "stablehlo.gather"(%2, %2) {dimension_numbers = 3 : i64, slice_sizes = array<i64: 1>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "stablehlo.reduce"(%3, %3) {dimensions = array<i64: 5>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "stablehlo.slice"(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// -----

spmd.mesh @m = <["x"=2]>

func.func @sizes(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<5x6xf32>) -> tensor<8x6xf32> {
  // expected-error @+1 {{the sharding rule of stablehlo.dot_general does not fit: the factors of dim 0 of operand #1 multiply to 4, expected 5}}
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
      : (tensor<8x4xf32>, tensor<5x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}

// -----

// --convert-stablehlo-control-flow-to-scf: a counted loop, a loop with a condition, branches and barriers of several values.

spmd.mesh @m = <["x"=2]>

// CHECK-LABEL: func.func @counted
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<4x6xf32>)
// CHECK:   "stablehlo.add"(%[[X]], %{{.*}}) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
// SHARDINGS-LABEL: func.func @counted
// SHARDINGS: scf.for
// SHARDINGS: "stablehlo.add"{{.*}} {spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]}
func.func @counted(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<i32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%w, %zero, %x) ({
  ^bb0(%w0: tensor<8x6xf32>, %i: tensor<i32>, %a: tensor<8x6xf32>):
    %three = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %more = "stablehlo.compare"(%i, %three) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%w0: tensor<8x6xf32>, %i: tensor<i32>, %a: tensor<8x6xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %b = "stablehlo.add"(%a, %w0) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    "stablehlo.return"(%w0, %next, %b) : (tensor<8x6xf32>, tensor<i32>, tensor<8x6xf32>) -> ()
  }) : (tensor<8x6xf32>, tensor<i32>, tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<i32>, tensor<8x6xf32>)
  return %0#2, %0#1 : tensor<8x6xf32>, tensor<i32>
}

// CHECK-LABEL: func.func @branches
// CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK:   tensor.extract
// CHECK:   scf.condition
// CHECK: scf.index_switch {{.*}} -> tensor<4x6xf32>
// CHECK: case 0 {
// CHECK: default {
// CHECK: scf.if {{.*}} -> (tensor<4x6xf32>)
// CHECK: "stablehlo.optimization_barrier"(%{{[^,]*}}) : (tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: "stablehlo.optimization_barrier"(%{{[^,]*}}) : (tensor<6x8xf32>) -> tensor<6x8xf32>
func.func @branches(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %y: tensor<6x8xf32>, %p: tensor<i1>, %k: tensor<i32>) -> (tensor<8x6xf32>, tensor<6x8xf32>) {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<8x6xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<8x6xf32>):
    %b = "stablehlo.negate"(%a) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    "stablehlo.return"(%b) : (tensor<8x6xf32>) -> ()
  }) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = "stablehlo.case"(%k) ({
    %b = "stablehlo.negate"(%0) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    "stablehlo.return"(%b) : (tensor<8x6xf32>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<8x6xf32>) -> ()
  }) : (tensor<i32>) -> tensor<8x6xf32>
  %2 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%1) : (tensor<8x6xf32>) -> ()
  }, {
    %b = "stablehlo.negate"(%x) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    "stablehlo.return"(%b) : (tensor<8x6xf32>) -> ()
  }) : (tensor<i1>) -> tensor<8x6xf32>
  %3:2 = "stablehlo.optimization_barrier"(%2, %y) : (tensor<8x6xf32>, tensor<6x8xf32>) -> (tensor<8x6xf32>, tensor<6x8xf32>)
  return %3#0, %3#1 : tensor<8x6xf32>, tensor<6x8xf32>
}

// Rows of a transform, copies and functions of elements that are calls of targets, and what a composite does. Random bits
// depend on their numbers in the full result.
// SHARDINGS-LABEL: func.func @calls
// SHARDINGS: "stablehlo.fft"{{.*}}spmd.shardings = [#spmd.sharding<@m, [{"x", ?}, {?}]>]
// SHARDINGS: "stablehlo.rng_bit_generator"{{.*}}spmd.shardings = [#spmd.sharding<@m, [{?}]>, #spmd.sharding<@m, [{?}, {?}]>]
// CHECK-LABEL: func.func @calls
// CHECK: "stablehlo.fft"({{.*}}: (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
// CHECK: "stablehlo.custom_call"({{.*}}call_target_name = "annotate_device_placement"{{.*}}: (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: "stablehlo.custom_call"({{.*}}call_target_name = "mhlo.erf"{{.*}}: (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: "stablehlo.custom_call"({{.*}}call_target_name = "mhlo.topk"{{.*}}: (tensor<4x16xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK: "stablehlo.tanh"({{.*}}: (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: "stablehlo.rng_bit_generator"({{.*}}: (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
func.func private @squash(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @calls(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %s: tensor<2xui64>)
    -> (tensor<8x9xcomplex<f32>>, tensor<8x3xf32>, tensor<8x3xi32>, tensor<8x16xui32>, tensor<8x16xf32>) {
  %0 = "stablehlo.fft"(%x) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<8x16xf32>) -> tensor<8x9xcomplex<f32>>
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "annotate_device_placement"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = "stablehlo.custom_call"(%1) <{call_target_name = "mhlo.erf"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3:2 = "stablehlo.custom_call"(%2) <{call_target_name = "mhlo.topk"}> {mhlo.attributes = {k = 3 : i64, largest = true}} : (tensor<8x16xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
  %4 = "stablehlo.composite"(%2) <{composite_attributes = {}, decomposition = @squash, name = "my.squash", version = 0 : i32}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %5:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
  return %0, %3#0, %3#1, %5#1, %4 : tensor<8x9xcomplex<f32>>, tensor<8x3xf32>, tensor<8x3xi32>, tensor<8x16xui32>, tensor<8x16xf32>
}

// -----
// expected-warning @-1 {{1 ops without a sharding rule are replicated}}

// Another target may do anything with a shard.
spmd.mesh @m = <["x"=2]>
// CHECK-LABEL: func.func @unknown_target
// CHECK: %[[FULL:.*]] = spmd.all_gather
// CHECK: "stablehlo.custom_call"(%[[FULL]]) <{call_target_name = "mine"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
func.func @unknown_target(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "mine"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

spmd.mesh @m = <["x"=2]>

func.func @undefined(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  // expected-error @+1 {{'stablehlo.composite' is not well formed, expected a decomposition: a function of the module that has the types of its operands and results}}
  %0 = "stablehlo.composite"(%x) <{decomposition = @nothing, name = "my.nothing"}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

spmd.mesh @m = <["x"=2]>

func.func @malformed(%x: tensor<8x4xf32>, %p: tensor<i1>) -> tensor<8x4xf32> {
  // expected-error @+1 {{'stablehlo.if' is not well formed, expected a predicate of type tensor<i1> and two regions that return the results}}
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%x) : (tensor<8x4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
