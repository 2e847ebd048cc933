// RUN: shard-opt %s --convert-spmd-to-mpi --split-input-file --verify-diagnostics

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    // expected-error @below {{moves elements of 'complex<f32>', which upstream's dialect mpi does not send, expected integers or floats of up to 64 bits}}
    %0 = spmd.all_gather %x <@pod, [{"x"}]> : tensor<4xcomplex<f32>> -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
}
