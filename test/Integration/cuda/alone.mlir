// Collectives on a mesh of one device, by NCCL's communicator of one rank (SK_NCCL_ALONE): what one GPU can try of it.
// REQUIRES: shard-run, emulated-cuda
// RUN: rm -f %t
// RUN: %on-emulated-cuda env SK_NCCL_ALONE=1 SK_NCCL_RECORD=%t shard-run %s --target=cuda --chip=sm_80 --backend=nccl --random-inputs=1 --verify=exact
// RUN: FileCheck %s < %t
// CHECK-DAG: rank 0 of [0]: all_reduce 111 f32 sum
// CHECK-DAG: rank 0 of [0]: all_reduce 111 bf16 prod
// CHECK-DAG: rank 0 of [0]: all_reduce 111 i32 max
// CHECK-DAG: rank 0 of [0]: all_reduce 111 f16 sum
// CHECK-DAG: rank 0 of [0]: all_gather 111 f32
// CHECK-DAG: rank 0 of [0]: exchange send 0:111 i8 recv 0:111 i8
// CHECK-NOT: rank
// Without it they are copies.
// RUN: %on-emulated-cuda env SK_NCCL_RECORD=%t.none shard-run %s --target=cuda --chip=sm_80 --backend=nccl --random-inputs=1 --verify=exact
// RUN: test ! -e %t.none

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
