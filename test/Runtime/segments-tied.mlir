// A weight with segments that the function updates: each part is updated by a result of its own.
// REQUIRES: shard-compile, shard-run, shard-weights
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors qkv=F32:32x6 g=F32:32x6 h=F32:32x6
// RUN: sed 's/"x"=2/"x"=1/' %s > %t/1.mlir && sed 's/"x"=2/"x"=4/' %s > %t/4.mlir
// RUN: shard-run %t/1.mlir --random-inputs=1 --weights %t/w.safetensors --verify | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --weights %t/w.safetensors --verify | FileCheck %s
// RUN: shard-run %t/4.mlir --random-inputs=1 --weights %t/w.safetensors --verify --output-dir %t/out | FileCheck %s
// CHECK: verify step qkv_new[0:16]: max abs error 0
// CHECK: verify step qkv_new[16:24]: max abs error 0
// CHECK: verify step qkv_new[24:32]: max abs error 0
// CHECK: verify step result2: max abs error 0
// CHECK: verify step moved[0:16]: max abs error 0
// CHECK: verify: 1 function, 7 results, all equal

// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --check-prefix=IR
// The update is done part by part; what is not is taken apart.
// IR: tensor<8x6xf32> {{{.*}}spmd.name = "qkv_new[0:16]"{{.*}}spmd.tied = 1
// IR-SAME: tensor<4x6xf32> {{{.*}}spmd.name = "qkv_new[16:24]"{{.*}}spmd.tied = 2
// IR-SAME: tensor<4x6xf32> {{{.*}}spmd.name = "qkv_new[24:32]"{{.*}}spmd.tied = 3
// IR-SAME: spmd.name = "result2"{{.*}}spmd.tied = 4
// IR-SAME: spmd.name = "moved[0:16]"{{.*}}spmd.tied = 5
// IR-SAME: spmd.name = "moved[16:32]"{{.*}}spmd.tied = 6

#x = affine_map<(s, n, k) -> (s, k)>
#w = affine_map<(s, n, k) -> (n, k)>
#y = affine_map<(s, n, k) -> (s, n)>
spmd.mesh @m = <["x"=2]>
func.func @step(%x: tensor<3x6xf32>,
                %qkv: tensor<32x6xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [16, 8, 8], unit = 2>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %g: tensor<32x6xf32> {spmd.weight = "g", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %h: tensor<32x6xf32> {spmd.weight = "h", spmd.segments = #spmd.segments<0, [16, 16]>})
    -> (tensor<3x32xf32>, tensor<32x6xf32> {spmd.name = "qkv_new", spmd.tied = 1 : i64}, tensor<32x6xf32> {spmd.tied = 2 : i64},
        tensor<32x6xf32> {spmd.name = "moved", spmd.tied = 3 : i64}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32xf32>) -> tensor<3x32xf32>
  %all = linalg.contract indexing_maps = [#x, #w, #y] ins(%x, %qkv : tensor<3x6xf32>, tensor<32x6xf32>) outs(%i : tensor<3x32xf32>) -> tensor<3x32xf32>
  %u = tensor.empty() : tensor<32x6xf32>
  %new = linalg.mul ins(%qkv, %qkv : tensor<32x6xf32>, tensor<32x6xf32>) outs(%u : tensor<32x6xf32>) -> tensor<32x6xf32>
  %twice = arith.addf %g, %g : tensor<32x6xf32>
  %moved = arith.addf %g, %h : tensor<32x6xf32>
  return %all, %new, %twice, %moved : tensor<3x32xf32>, tensor<32x6xf32>, tensor<32x6xf32>, tensor<32x6xf32>
}
