// RUN: shard-opt %s --split-input-file --verify-diagnostics

// Local view: the verifier derives the types from the digits that move.

// all_gather_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+2 {{unknown axis "y", expected one of "x"}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.all_gather %0 <@pod, [{"y"}]> : tensor<2xf32> -> tensor<8xf32>
  return
}

// -----

// all_gather_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{sharding of the result is unreduced, expected a complete value}}
  %1 = spmd.all_gather %0 <@pod, [{}], unreduced = {"x"}> : tensor<2xf32> -> tensor<8xf32>
  return
}

// -----

// all_gather_c2: a size that the result does not know the operand does not know either
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{operand has type 'tensor<2xf32>', expected 'tensor<?xf32>'}}
  %1 = spmd.all_gather %0 <@pod, [{"x"}]> : tensor<2xf32> -> tensor<?xf32>
  return
}

// -----

// all_gather_c2: nor the other way
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<?xf32>) {
  // expected-error @+1 {{operand has type 'tensor<?xf32>', expected 'tensor<2xf32>'}}
  %1 = spmd.all_gather %0 <@pod, [{"x"}]> : tensor<?xf32> -> tensor<8xf32>
  return
}

// -----

// all_to_all_c2: the other dims are what they are
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<?x4x8xf32>) {
  // expected-error @+1 {{result has type 'tensor<?x16x4xf32>', expected 'tensor<?x16x2xf32>'}}
  %1 = spmd.all_to_all %0 <@pod, [{}, {"x"}, {}]> to <@pod, [{}, {}, {"x"}]> : tensor<?x4x8xf32> -> tensor<?x16x4xf32>
  return
}

// -----

// exchange_c2: the global value knows what the local ones know
spmd.mesh @pod = <["x"=2, "y"=2]>
func.func @f(%0: tensor<?x4xf32>) {
  // expected-error @+1 {{operand has type 'tensor<?x4xf32>', expected 'tensor<8x4xf32>'}}
  %1 = spmd.exchange %0 of tensor<8x8xf32> <@pod, [{}, {"x"}]> to <@pod, [{}, {"y"}]> : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

// halo_exchange_c2
spmd.mesh @pod = <["x"=2]>
func.func @f(%0: tensor<?xf32>) {
  // expected-error @+1 {{dimension 0 has a window and an unknown size, expected sizes that are known}}
  %1 = spmd.halo_exchange %0 of tensor<?xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> dims = [0] steps = [4] offsets = [-1] : tensor<?xf32> -> tensor<6xf32>
  return
}

// -----

// all_gather_c2: the gap stays in place
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{operand has type 'tensor<2xf32>', expected 'tensor<4xf32>'}}
  %1 = spmd.all_gather %0 <@pod, [{2, "x"}]> : tensor<2xf32> -> tensor<16xf32>
  return
}

// -----

// all_gather_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{element types are 'f32' and 'f64', expected equal ones}}
  %1 = spmd.all_gather %0 <@pod, [{"x"}]> : tensor<2xf32> -> tensor<8xf64>
  return
}

// -----

// all_slice_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<6xf32>) {
  // expected-error @+3 {{illegal sharding of the operand: dimension 0 of size 6 is sharded as {2, "x"}, expected a product that divides it (padding is allowed for full axes only)}}
  // expected-note @+2 {{available axes: "x"=4}}
  // expected-note @+1 {{legal axis products for size 6: 1, 2, 3, 6}}
  %1 = spmd.all_slice %0 <@pod, [{2, "x"}]> : tensor<6xf32> -> tensor<2xf32>
  return
}

// -----

// all_slice_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{result has type 'tensor<4xf32>', expected 'tensor<2xf32>'}}
  %1 = spmd.all_slice %0 <@pod, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

// all_slice_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{element types are 'f32' and 'i32', expected equal ones}}
  %1 = spmd.all_slice %0 <@pod, [{"x"}]> : tensor<8xf32> -> tensor<2xi32>
  return
}

// -----

// all_reduce_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{no axis is given, expected at least one}}
  %1 = spmd.all_reduce %0 sum <@pod, {}> : tensor<8xf32>
  return
}

// -----

// all_reduce_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{expected each (sub-)axis at most once}}
  // expected-note @+1 {{available axes: "x"=4}}
  %1 = spmd.all_reduce %0 sum <@pod, {"x", "x"}> : tensor<8xf32>
  return
}

// -----

// all_reduce_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{reduction or is not defined for 'f32', expected one that is}}
  // expected-note @+1 {{reductions for 'f32': sum, prod, max, min, maxnum, minnum}}
  %1 = spmd.all_reduce %0 or <@pod, {"x"}> : tensor<8xf32>
  return
}

// -----

// all_reduce_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xi32>) {
  // expected-error @+2 {{reduction maxnum is not defined for 'i32', expected one that is}}
  // expected-note @+1 {{reductions for 'i32': sum, prod, and, or, xor, max, min, umax, umin}}
  %1 = spmd.all_reduce %0 maxnum <@pod, {"x"}> : tensor<8xi32>
  return
}

// -----

// all_reduce_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xcomplex<f32>>) {
  // expected-error @+2 {{reduction max is not defined for 'complex<f32>', expected one that is}}
  // expected-note @+1 {{reductions for 'complex<f32>': sum, prod}}
  %1 = spmd.all_reduce %0 max <@pod, {"x"}> : tensor<8xcomplex<f32>>
  return
}

// -----

// reduce_scatter_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{no axis is given, expected at least one}}
  %1 = spmd.reduce_scatter %0 sum <@pod, [{}]> : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// reduce_scatter_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8x4xf32>) {
  // expected-error @+1 {{result has type 'tensor<8x1xf32>', expected 'tensor<2x4xf32>'}}
  %1 = spmd.reduce_scatter %0 sum <@pod, [{"x"}, {}]> : tensor<8x4xf32> -> tensor<8x1xf32>
  return
}

// -----

// reduce_scatter_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+2 {{reduction umax is not defined for 'f32', expected one that is}}
  // expected-note @+1 {{reductions for 'f32': sum, prod, max, min, maxnum, minnum}}
  %1 = spmd.reduce_scatter %0 umax <@pod, [{"x"}]> : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

// all_to_all_c1
spmd.mesh @pod = <["x"=4]>
spmd.mesh @turned = <["x"=4], device_ids=[1, 0, 3, 2]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{meshes @pod and @turned have different devices, expected two views of one device list}}
  %1 = spmd.all_to_all %0 <@pod, [{"x"}, {}]> to <@turned, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<8x2xf32>
  return
}

// -----

// all_to_all_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x6xf32>) {
  // expected-error @+2 {{dim 1 of the global value (size 6) cannot be split by axis "x" (size 4), expected a multiple of 4}}
  // expected-note @+1 {{legal axis products for size 6: 1, 2, 3, 6}}
  %1 = spmd.all_to_all %0 <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x6xf32> -> tensor<8x2xf32>
  return
}

// -----

// all_to_all_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{sharding of the operand has 1 dimensions, expected 2}}
  %1 = spmd.all_to_all %0 <@pod, [{"x"}]> to <@pod, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<8x2xf32>
  return
}

// -----

// all_to_all_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{result has type 'tensor<2x8xf32>', expected 'tensor<8x2xf32>'}}
  %1 = spmd.all_to_all %0 <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

// all_to_all_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{element types are 'f32' and 'f64', expected equal ones}}
  %1 = spmd.all_to_all %0 <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<8x2xf64>
  return
}

// -----

// collective_permute_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{sharding of the global value has 1 dimensions, expected 2}}
  %1 = spmd.collective_permute %0 of tensor<8x8xf32> <@pod, [{"x"}]> to <@pod, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<2x8xf32>
  return
}

// -----

// collective_permute_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{operand has type 'tensor<2x8xf32>' and result 'tensor<8x2xf32>', expected equal types, since each device sends its full shard}}
  %1 = spmd.collective_permute %0 of tensor<8x8xf32> <@pod, [{"x"}, {}]> to <@pod, [{}, {"x"}]> : tensor<2x8xf32> -> tensor<8x2xf32>
  return
}

// -----

// collective_permute_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{element types are 'f16' and 'f32', expected equal ones}}
  %1 = spmd.collective_permute %0 of tensor<8xf16> <@pod, [{"x"}]> to <@pod, [{"x"}]> : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

// exchange_c1: the target mesh has other axes
spmd.mesh @a = <["x"=4]>
spmd.mesh @b = <["u"=2, "v"=2]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+2 {{unknown axis "x", expected one of "u", "v"}}
  // expected-note @+1 {{available axes: "u"=2, "v"=2}}
  %1 = spmd.exchange %0 of tensor<8xf32> <@a, [{"x"}]> to <@b, [{"x"}]> : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

// exchange_c2: uneven dims are padded
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{result has type 'tensor<7xf32>', expected 'tensor<2xf32>'}}
  %1 = spmd.exchange %0 of tensor<7xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> : tensor<2xf32> -> tensor<7xf32>
  return
}

// -----

// exchange_c3
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{element types are 'f32' and 'bf16', expected equal ones}}
  %1 = spmd.exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> : tensor<2xf32> -> tensor<2xbf16>
  return
}

// -----

// broadcast_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{no axis is given, expected at least one}}
  %1 = spmd.broadcast %0 <@pod, {}> root = 0 : tensor<2xf32>
  return
}

// -----

// broadcast_c2
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{root is 4, expected 0 to 3}}
  %1 = spmd.broadcast %0 <@pod, {"x"}> root = 4 : tensor<2xf32>
  return
}

// -----

// send_c1
spmd.mesh @a = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+2 {{unknown mesh @b, expected an spmd.mesh of the module}}
  // expected-note @+1 {{available meshes: @a}}
  spmd.send %0 of tensor<8xf32> <@a, [{"x"}]> to <@b, [{"x"}]> channel = 0 : tensor<2xf32>
  return
}

// -----

// send_c2
spmd.mesh @a = <["x"=4]>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{operand has type 'tensor<8xf32>', expected 'tensor<2xf32>'}}
  spmd.send %0 of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = 0 : tensor<8xf32>
  return
}

// -----

// send_c3
spmd.mesh @a = <["x"=4]>
func.func @f(%0: tensor<2xf64>) {
  // expected-error @+1 {{element types are 'f32' and 'f64', expected equal ones}}
  spmd.send %0 of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = 0 : tensor<2xf64>
  return
}

// -----

// send_c4
spmd.mesh @a = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{channel is -1, expected 0 or more}}
  spmd.send %0 of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = -1 : tensor<2xf32>
  return
}

// -----

// recv_c1
spmd.mesh @a = <["x"=4]>
func.func @f() {
  // expected-error @+2 {{unknown mesh @b, expected an spmd.mesh of the module}}
  // expected-note @+1 {{available meshes: @a}}
  %0 = spmd.recv of tensor<8xf32> <@a, [{"x"}]> to <@b, [{}]> channel = 0 : tensor<8xf32>
  return
}

// -----

// recv_c2
spmd.mesh @a = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{result has type 'tensor<2xf32>', expected 'tensor<8xf32>'}}
  %0 = spmd.recv of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = 0 : tensor<2xf32>
  return
}

// -----

// recv_c3
spmd.mesh @a = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{element types are 'f32' and 'f64', expected equal ones}}
  %0 = spmd.recv of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = 0 : tensor<8xf64>
  return
}

// -----

// recv_c4
spmd.mesh @a = <["x"=4]>
func.func @f() {
  // expected-error @+1 {{channel is -2, expected 0 or more}}
  %0 = spmd.recv of tensor<8xf32> <@a, [{"x"}]> to <@a, [{}]> channel = -2 : tensor<8xf32>
  return
}

// -----

// device_coordinate_c1
spmd.mesh @pod = <["x"=2, "y"=4]>
func.func @f() {
  // expected-error @+2 {{unknown axis "z", expected one of "x", "y"}}
  // expected-note @+1 {{available axes: "x"=2, "y"=4}}
  %0 = spmd.device_coordinate @pod "z" : index
  return
}

// -----

// halo_exchange_c1
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{sharding of the result has 2 dimensions, expected a complete one of 1}}
  %1 = spmd.halo_exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"x"}, {}]> dims = [0] steps = [2] offsets = [-1] : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

// halo_exchange_c2: one step and one offset per dim
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{has 1 dims, 2 steps and 1 offsets, expected one of each per window}}
  %1 = spmd.halo_exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> dims = [0] steps = [2, 2] offsets = [-1] : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

// halo_exchange_c2: a value for each offset that is known at run time
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>, %i: index) {
  // expected-error @+1 {{has 1 values of offsets, expected 2, one of each that is known at run time}}
  %1 = "spmd.halo_exchange"(%0, %i) {dims = array<i64: 0, 1>, from = #spmd.sharding<@pod, [{"x"}]>, global_type = tensor<8xf32>, offsets = array<i64: -9223372036854775808, -9223372036854775808>, steps = array<i64: 0, 0>, to = #spmd.sharding<@pod, [{"x"}]>} : (tensor<2xf32>, index) -> tensor<1xf32>
  return
}

// -----

// halo_exchange_c2: a dim of the value
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{dims are [1], expected rising numbers of the 1 dimensions}}
  %1 = spmd.halo_exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> dims = [1] steps = [2] offsets = [-1] : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

// halo_exchange_c2: the window is that of a coordinate
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{dimension 0 has no window, expected the result's sharding to have no axis there}}
  %1 = spmd.halo_exchange %0 of tensor<8x8xf32> <@pod, [{"x"}, {}]> to <@pod, [{"x"}, {}]> dims = [1] steps = [2] offsets = [-1] : tensor<2x8xf32> -> tensor<2x4xf32>
  return
}

// -----

// halo_exchange_c3
spmd.mesh @pod = <["x"=4, "y"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{dimension 0 is sharded by different axes in operand and result, expected the same, or none in the operand}}
  %1 = spmd.halo_exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"y"}]> dims = [0] steps = [2] offsets = [-1] : tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

// halo_exchange_c4: a dim without window
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2x8xf32>) {
  // expected-error @+1 {{result has type 'tensor<4x7xf32>', expected 'tensor<4x8xf32>'}}
  %1 = spmd.halo_exchange %0 of tensor<8x8xf32> <@pod, [{"x"}, {}]> to <@pod, [{"x"}, {}]> dims = [0] steps = [2] offsets = [-1] : tensor<2x8xf32> -> tensor<4x7xf32>
  return
}

// -----

// halo_exchange_c5
spmd.mesh @pod = <["x"=4]>
func.func @f(%0: tensor<2xf32>) {
  // expected-error @+1 {{element types are 'f32' and 'bf16', expected equal ones}}
  %1 = spmd.halo_exchange %0 of tensor<8xf32> <@pod, [{"x"}]> to <@pod, [{"x"}]> dims = [0] steps = [2] offsets = [-1] : tensor<2xf32> -> tensor<4xbf16>
  return
}
