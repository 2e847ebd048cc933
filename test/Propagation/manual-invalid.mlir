// RUN: shard-opt %s --split-input-file --spmd-propagate --verify-diagnostics

spmd.mesh @pod = <["data"=2, "model"=4]>
func.func @constraint(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{?}]>] out [<@pod, [{?}]>] axes ["data"] (%a: tensor<8xf32>) {
    // expected-error @below {{sharding [{"data"}] inside a manual computation uses manual axes, expected free axes: all but "data"}}
    %1 = spmd.with_sharding_constraint %a <@pod, [{"data"}]> : tensor<8xf32>
    spmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @pod = <["data"=2, "model"=4]>
func.func @free_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{?}]>] out [<@pod, [{?}]>] axes ["data"] (%a: tensor<8xf32>) {
    // expected-error @below {{collective over axis "model", which is not manual here, expected axes of "data"}}
    %1 = spmd.all_reduce %a sum <@pod, {"model"}> : tensor<8xf32>
    spmd.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @pod = <["data"=2]>
func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{spmd.all_reduce in a function in global view, expected it only inside spmd.manual_computation; --spmd-partition creates all others}}
  %0 = spmd.all_reduce %x sum <@pod, {"data"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @pod = <["data"=2, "model"=4]>
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}]>] out [<@pod, [{"data"}]>] axes ["data"] (%a: tensor<4xf32>) {
    // expected-error @below {{manual axes "data" are already manual around the op, expected other axes}}
    %1 = spmd.manual_computation (%a) in [<@pod, [{"data"}]>] out [<@pod, [{"data"}]>] axes ["data"] (%b: tensor<2xf32>) {
      spmd.return %b : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @pod = <["data"=2]>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @call(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}]>] out [<@pod, [{"data"}]>] axes ["data"] (%a: tensor<4xf32>) {
    // expected-error @below {{call of @f inside a manual computation, expected it to be inlined}}
    %1 = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @a = <["x"=2, "y"=3]>
spmd.mesh @t = <["p"=3, "q"=2], device_ids=[0, 3, 1, 4, 2, 5]>
func.func @order(%x: tensor<6xf32> {spmd.sharding = #spmd.sharding<@a, [{"x"}]>}) -> tensor<6xf32> {
  %0 = spmd.manual_computation (%x) in [<@t, [{"q"}]>] out [<@t, [{"q"}]>] axes ["q"] (%a: tensor<3xf32>) {
    // expected-error @below {{spmd.all_reduce on mesh @t, whose devices are ordered differently from those of the first mesh of the function, expected a mesh with the same order}}
    %1 = spmd.all_reduce %a sum <@t, {"q"}> : tensor<3xf32>
    spmd.return %1 : tensor<3xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

spmd.mesh @pod = <["data"=2]>
func.func @coordinate() -> index {
  // expected-error @below {{spmd.device_coordinate in a function in global view, expected it only inside spmd.manual_computation}}
  %0 = spmd.device_coordinate @pod "data" : index
  return %0 : index
}

// -----

spmd.mesh @pod = <["data"=2]>
func.func @divergent(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x) in [<@pod, [{"data"}]>] out [<@pod, [{"data"}]>] axes ["data"] (%a: tensor<4xf32>) {
    %c0 = arith.constant 0 : index
    %i = spmd.device_coordinate @pod "data" : index
    %first = arith.cmpi eq, %i, %c0 : index
    // expected-note @below {{the scf.if is here}}
    %1 = scf.if %first -> tensor<4xf32> {
      // expected-error @below {{collective under control flow that may differ between devices, expected a condition or bounds that are equal on all}}
      %2 = spmd.all_reduce %a sum <@pod, {"data"}> : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

spmd.mesh @pod = <["data"=2]>
// An element of a replicated argument is equal on all devices: no error.
func.func @uniform(%x: tensor<8xf32>, %n: tensor<i1>) -> tensor<8xf32> {
  %0 = spmd.manual_computation (%x, %n) in [<@pod, [{"data"}]>, <@pod, []>] out [<@pod, [{"data"}]>] axes ["data"] (%a: tensor<4xf32>, %b: tensor<i1>) {
    %c = tensor.extract %b[] : tensor<i1>
    %1 = scf.if %c -> tensor<4xf32> {
      %2 = spmd.all_reduce %a sum <@pod, {"data"}> : tensor<4xf32>
      scf.yield %2 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    spmd.return %1 : tensor<4xf32>
  } : (tensor<8xf32>, tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
