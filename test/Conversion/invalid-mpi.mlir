// RUN: shard-opt %s --convert-spmd-to-mpi --split-input-file --verify-diagnostics

module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["x"=2]>
  func.func @wide(%x: tensor<4xi128>) -> tensor<8xi128> {
    // expected-error @below {{moves elements of 'i128', which upstream's dialect mpi does not send, expected integers or floats of up to 64 bits}}
    %0 = spmd.all_gather %x <@pod, [{"x"}]> : tensor<4xi128> -> tensor<8xi128>
    return %0 : tensor<8xi128>
  }
}
