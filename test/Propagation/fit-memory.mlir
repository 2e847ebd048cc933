// The default plan fits into the memory of the mesh where it can: a layer of the stack is sent when
// it is read, although a gather of all layers takes less time.

// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=GATHERS
// RUN: sed 's/"x"=8]>/"x"=8]> {memory = 30000 : i64}/' %s > %t.mlir
// RUN: shard-opt %t.mlir --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=FITS
// RUN: shard-opt %t.mlir --spmd-default-pipeline=plan=propagation --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=GATHERS
// RUN: sed 's/"x"=8]>/"x"=8]> {memory = 9000 : i64}/' %s > %t.small.mlir
// RUN: shard-opt %t.small.mlir --spmd-default-pipeline -o /dev/null --remarks-filter=spmd 2>&1 | FileCheck %s --check-prefix=NONE

// GATHERS: all_gather {{.*}} 64 KiB
// FITS-NOT: all_gather
// FITS: exchange 16 x 64 KiB
// FITS: plan of @main: changed to need less memory
// NONE: memory-budget {{.*}}12672 bytes are live at once, the budget is 9000

spmd.mesh @m = <["x"=8]>
func.func @main(%w: tensor<16x32x32xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>},
                %h: tensor<8x32xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h) -> tensor<8x32xf32> {
    %s = tensor.extract_slice %w[%i, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<16x32x32xf32> to tensor<32x32xf32>
    %z = arith.constant dense<0.0> : tensor<8x32xf32>
    %p = linalg.matmul ins(%a, %s : tensor<8x32xf32>, tensor<32x32xf32>) outs(%z : tensor<8x32xf32>) -> tensor<8x32xf32>
    %t = math.tanh %p : tensor<8x32xf32>
    scf.yield %t : tensor<8x32xf32>
  }
  return %r : tensor<8x32xf32>
}
