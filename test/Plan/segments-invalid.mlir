// Invalid segments, and shardings that split units: one error each.
// RUN: shard-opt %s --split-input-file --verify-diagnostics --spmd-split-segments

spmd.mesh @m = <["x"=2]>
// expected-error @below {{segments of argument #0 add up to 180, expected 280, the size of dim 0}}
func.func @sum(%w: tensor<280x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [80, 100]>}) {
  return
}

// -----

// expected-error @below {{segment size is 85, expected a multiple of unit 10}}
func.func @unit(%w: tensor<180x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [85, 95], unit = 10>}) {
  return
}

// -----

// Shards with strides have full units where they divide these.
spmd.mesh @m = <["x"=4]>
// expected-error @below {{segment 0 of argument #0 has 10 units of 10 and is split into 8 with strides, expected 1, 2, 5, 10 shards, or no strides}}
func.func @strided(%w: tensor<160x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [100, 60], unit = 10, replicate>, spmd.sharding = #spmd.sharding<@m, [{2, "x"}, {}]>}) {
  return
}

// -----

// expected-error @below {{argument #0 has segments, expected a spmd.weight that names its stored tensor, or several with a loading function}}
func.func @input(%w: tensor<8x8xf32> {spmd.segments = #spmd.segments<0, [4, 4]>}) {
  return
}

// -----

func.func private @host(tensor<8x8xf32>) -> tensor<1x8x8xf32>
func.func private @load(%w: tensor<8x8xf32>) -> tensor<1x8x8xf32> {
  %0 = call @host(%w) : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  return %0 : tensor<1x8x8xf32>
}
// expected-error @below {{argument #0 has segments and a loading function that calls host functions, expected one of them}}
func.func @loaded(%w: tensor<8x8xf32> {spmd.weight = "w", spmd.load = @load, spmd.segments = #spmd.segments<0, [4, 4]>}) {
  return
}

// -----

// expected-error @below {{argument #0 has segments and axis resources, expected a sharding; run --spmd-resolve-axis-resources first}}
func.func @resources(%w: tensor<8x8xf32> {spmd.weight = "w", spmd.axis_resources = #spmd.axis_resources<["x"]>, spmd.segments = #spmd.segments<0, [4, 4]>}) {
  return
}

// -----

func.func @callee(%w: tensor<8x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [4, 4]>}) {
  return
}
func.func @caller(%w: tensor<8x8xf32>) {
  // expected-error @below {{@callee has an argument with segments and is called, expected it to be called by no function of the module, or inlined}}
  call @callee(%w) : (tensor<8x8xf32>) -> ()
  return
}

// -----

// A sharding of a segment by the user or by propagation.
spmd.mesh @m = <["x"=4]>
// segment_c3
// expected-error @below {{sharding #spmd.sharding<@m, [{"x"}, {}]> of argument #0 splits its 6 units of 2 into 4, expected 1, 2, 3, 6 shards}}
func.func @segment(%w: tensor<12x8xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<20x8xf32>, dim = 0, offset = 8, unit = 2, argument = 0>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  return
}

// -----

// segment_c2
// expected-error @below {{argument #0 has type 'tensor<12x8xf32>', expected units of 2 of dim 0 of 'tensor<16x8xf32>' from index 8 on}}
func.func @beyond(%w: tensor<12x8xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<16x8xf32>, dim = 0, offset = 8, unit = 2, argument = 0>}) {
  return
}

// -----

// expected-error @below {{segment dim is 2, expected 0 or more and less than 2, the rank of 'tensor<16x8xf32>'}}
func.func @dim(%w: tensor<12x8xf32> {spmd.segment = #spmd.segment<tensor<16x8xf32>, dim = 2, offset = 8, unit = 2, argument = 0>}) {
  return
}

// -----

// expected-error @below {{attribute 'spmd.segments_of' of argument #0 is [1], expected a list of segments, each with spmd.segment and spmd.global_type}}
func.func @segments_of(%w: tensor<12x8xf32> {spmd.segments_of = [1]}) {
  return
}

// -----

// segment_c3: the elements of units have a dim of their own.
spmd.mesh @m = <["x"=2]>
// expected-error @below {{sharding #spmd.sharding<@m, [{}, {"x"}, {}]> of argument #0 splits dim 1, the elements of its units of 4, expected dim 0, the units}}
func.func @in_units(%w: tensor<3x4x8xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<20x8xf32>, dim = 0, offset = 8, unit = 4, argument = 0>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) {
  return
}
