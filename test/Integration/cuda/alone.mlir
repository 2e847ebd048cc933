// Collectives on a mesh of one device, by NCCL's communicator of one rank (SK_NCCL_ALONE): what one GPU can try of it.
// REQUIRES: shard-run, emulated-cuda
// RUN: rm -rf %t && split-file %s %t
// RUN: %on-emulated-cuda env -u SK_RECORD SK_KEEP_IDLE_COLLECTIVES=1 SK_NCCL_ALONE=1 SK_NCCL_RECORD=%t/record shard-run %t/one.mlir --target=cuda --chip=sm_80 --backend=nccl --random-inputs=1 --verify=exact
// RUN: FileCheck %s < %t/record
// CHECK-DAG: rank 0 of [0]: all_reduce 111 f32 sum
// CHECK-DAG: rank 0 of [0]: all_reduce 111 bf16 prod
// CHECK-DAG: rank 0 of [0]: all_reduce 111 i32 max
// CHECK-DAG: rank 0 of [0]: all_reduce 111 f16 sum
// CHECK-DAG: rank 0 of [0]: all_gather 111 f32
// CHECK-DAG: rank 0 of [0]: exchange send 0:111 i8 recv 0:111 i8
// CHECK-NOT: rank
// Without it they are copies.
// RUN: %on-emulated-cuda env -u SK_RECORD SK_KEEP_IDLE_COLLECTIVES=1 SK_NCCL_RECORD=%t/none shard-run %t/one.mlir --target=cuda --chip=sm_80 --backend=nccl --random-inputs=1 --verify=exact
// RUN: test ! -e %t/none
// Groups of one rank each on two devices have a communicator of their own.
// RUN: %on-emulated-cuda env -u SK_RECORD SK_KEEP_IDLE_COLLECTIVES=1 SK_EMU_DEVICES=2 SK_NCCL_ALONE=1 SK_NCCL_RECORD=%t/groups shard-run %t/two.mlir --target=cuda --chip=sm_80 --backend=nccl --devices-per-process=auto --random-inputs=1 --verify
// RUN: FileCheck %s --check-prefix=GROUPS < %t/groups
// GROUPS-DAG: rank 0 of [0]: exchange send 0:21 f32 recv 0:21 f32
// GROUPS-DAG: rank 1 of [1]: exchange send 0:21 f32 recv 0:21 f32
// GROUPS-DAG: rank 0 of [0]: all_gather 21 f32
// GROUPS-DAG: rank 0 of [0,1]: all_reduce 7 f32 sum

//--- one.mlir
spmd.mesh @m = <["x"=1]>
func.func @main(%a: tensor<37x3xf32>, %b: tensor<37x3xbf16>, %c: tensor<37x3xi32>, %d: tensor<37x3xf16>, %e: tensor<37x3xi8>)
    -> (tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>)
    attributes {spmd.reference = @same} {
  %0:7 = spmd.manual_computation (%a, %b, %c, %d, %e)
      in [<@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>]
      out [<@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>, <@m, [{}, {}]>, <@m, [{"x"}, {}]>, <@m, [{}, {"x"}]>, <@m, [{"x"}, {}]>]
      axes ["x"] (%la: tensor<37x3xf32>, %lb: tensor<37x3xbf16>, %lc: tensor<37x3xi32>, %ld: tensor<37x3xf16>, %le: tensor<37x3xi8>) {
    %r0 = spmd.all_reduce %la sum <@m, {"x"}> : tensor<37x3xf32>
    %r1 = spmd.all_reduce %lb prod <@m, {"x"}> : tensor<37x3xbf16>
    %r2 = spmd.all_reduce %lc max <@m, {"x"}> : tensor<37x3xi32>
    %r3 = spmd.all_gather %la <@m, [{"x"}, {}]> : tensor<37x3xf32> -> tensor<37x3xf32>
    %r4 = spmd.reduce_scatter %ld sum <@m, [{"x"}, {}]> : tensor<37x3xf16> -> tensor<37x3xf16>
    %r5 = spmd.all_to_all %le <@m, [{"x"}, {}]> to <@m, [{}, {"x"}]> : tensor<37x3xi8> -> tensor<37x3xi8>
    %r6 = spmd.all_reduce %la max <@m, {"x"}> : tensor<37x3xf32>
    spmd.return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>
  } : (tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf16>, tensor<37x3xi8>) -> (tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>
}
func.func private @same(%a: tensor<37x3xf32>, %b: tensor<37x3xbf16>, %c: tensor<37x3xi32>, %d: tensor<37x3xf16>, %e: tensor<37x3xi8>)
    -> (tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>) {
  return %a, %b, %c, %a, %d, %e, %a : tensor<37x3xf32>, tensor<37x3xbf16>, tensor<37x3xi32>, tensor<37x3xf32>, tensor<37x3xf16>, tensor<37x3xi8>, tensor<37x3xf32>
}

//--- two.mlir
spmd.mesh @n = <["x"=2, "y"=1]>
func.func @main(%a: tensor<6x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>) attributes {spmd.reference = @whole} {
  %0:3 = spmd.manual_computation (%a) in [<@n, [{"x"}, {"y"}]>] out [<@n, [{"x", "y"}, {}]>, <@n, [{"x"}, {}]>, <@n, [{}]>]
      axes ["x", "y"] (%l: tensor<3x7xf32>) {
    %zero = arith.constant 0.0 : f32
    %none = tensor.empty() : tensor<7xf32>
    %start = linalg.fill ins(%zero : f32) outs(%none : tensor<7xf32>) -> tensor<7xf32>
    %sum = linalg.reduce ins(%l : tensor<3x7xf32>) outs(%start : tensor<7xf32>) dimensions = [0]
        (%e: f32, %s: f32) { %r = arith.addf %e, %s : f32 linalg.yield %r : f32 }
    %r0 = spmd.all_to_all %l <@n, [{"x"}, {"y"}]> to <@n, [{"x", "y"}, {}]> : tensor<3x7xf32> -> tensor<3x7xf32>
    %r1 = spmd.all_gather %l <@n, [{}, {"y"}]> : tensor<3x7xf32> -> tensor<3x7xf32>
    %r2 = spmd.all_reduce %sum sum <@n, {"x"}> : tensor<7xf32>
    spmd.return %r0, %r1, %r2 : tensor<3x7xf32>, tensor<3x7xf32>, tensor<7xf32>
  } : (tensor<6x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>)
  return %0#0, %0#1, %0#2 : tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>
}
func.func private @whole(%a: tensor<6x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<7xf32>) -> tensor<7xf32>
  %sum = linalg.reduce ins(%a : tensor<6x7xf32>) outs(%start : tensor<7xf32>) dimensions = [0]
      (%e: f32, %s: f32) { %r = arith.addf %e, %s : f32 linalg.yield %r : f32 }
  return %a, %a, %sum : tensor<6x7xf32>, tensor<6x7xf32>, tensor<7xf32>
}
