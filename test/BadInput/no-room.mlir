// More than there is: the error names the largest values, on the host and on a device (whose copy on the host takes no room).
// REQUIRES: shard-compile, shard-run
// RUN: split-file %s %t
// RUN: shard-compile %t/host.mlir -o %t/host && %python %S/Inputs/one_error.py shard-run %t/host --random-inputs=1 | FileCheck %s --check-prefix=HOST
// HOST: error: rank 0: out of memory: function 'main' needs 160000000000192 bytes of the host; largest argument 'huge' 160000000000000, argument 'small' 32, result 'sum' 32,
// RUN: %if emulated-cuda %{ shard-compile %t/device.mlir -o %t/device --target=cuda --chip=sm_80 %}
// RUN: %if emulated-cuda %{ not %on-emulated-cuda env SK_EMU_MEMORY=1000000 shard-run %t/device --random-inputs=1 2>&1 | FileCheck %s --check-prefix=DEVICE %}
// DEVICE: error: GPU 0 (Emulated {{.*}}): out of device memory: rank 0 of function 'main' has no room for argument 'huge': it needs 240000000064 bytes, 1000000 are free; largest argument 'huge' 240000000000,

//--- host.mlir
func.func @main(%small: tensor<8xf32> {spmd.name = "small"}, %huge: tensor<40000000000000xf32> {spmd.name = "huge"}) -> (tensor<8xf32> {spmd.name = "sum"}) {
  %s = tensor.extract_slice %huge[0] [8] [1] : tensor<40000000000000xf32> to tensor<8xf32>
  %r = arith.addf %s, %small : tensor<8xf32>
  return %r : tensor<8xf32>
}

//--- device.mlir
func.func @main(%small: tensor<8xf32> {spmd.name = "small"}, %huge: tensor<60000000000xf32> {spmd.name = "huge"}) -> (tensor<8xf32> {spmd.name = "sum"}) {
  %s = tensor.extract_slice %huge[0] [8] [1] : tensor<60000000000xf32> to tensor<8xf32>
  %r = arith.addf %s, %small : tensor<8xf32>
  return %r : tensor<8xf32>
}
