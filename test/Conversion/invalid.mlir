// What cannot be converted is one error each.
// RUN: shard-opt %s --convert-spmd-to-calls --split-input-file --verify-diagnostics

// expected-error @below {{--convert-spmd-to-calls of a module in phase "written", expected a local program: run --spmd-default-pipeline before}}
module {
  func.func @global(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf32> {
    // expected-error @below {{moves a value of unknown size, expected sizes that are known}}
    %0 = spmd.all_gather %x <@pod, [{"x"}]> : tensor<?xf32> -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
    // expected-error @below {{combines elements of 'complex<f32>' by a reduction that is not one of their components, expected a sum}}
    %0 = spmd.all_reduce %x prod <@pod, {"x"}> : tensor<4xcomplex<f32>>
    return %0 : tensor<4xcomplex<f32>>
  }
}

// -----

module attributes {spmd.phase = "final"} {
  spmd.mesh @a = <["x"=2]>
  spmd.mesh @b = <["x"=2], device_ids = [2, 3]>
  func.func @stages(%x: tensor<2xf32>) {
    // expected-error @below {{'spmd.send' cannot be converted, expected a program of one mesh}}
    spmd.send %x of tensor<4xf32> <@a, [{"x"}]> to <@b, [{"x"}]> channel = 0 : tensor<2xf32>
    return
  }
}
