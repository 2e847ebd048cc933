// Fused weights without annotations of their segments: query heads and their key and value heads are on one device, gate
// and up alike, in one all-reduce for each product. On three devices heads stay whole.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: shard-opt %s --spmd-report=infer-segments=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/"x"=4/"x"=3/' %s > %t.mlir && shard-run %t.mlir --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 1 function, {{.*}} all equal
// REPORT: launches {{ *}}2{{$}}
// NONE: launches {{ *([3-9]|[1-9][0-9])$}}

#group = affine_map<(s, h, g, d) -> (s, h, g, d)>
#key = affine_map<(s, h, g, d) -> (s, h, d)>
spmd.mesh @m = <["x"=4]>

func.func @main(%x: tensor<5x16xf32>,
                %wqkv: tensor<16x64xf32> {spmd.weight = "qkv", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %wo: tensor<32x16xf32> {spmd.weight = "o", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %wgu: tensor<16x48xf32> {spmd.weight = "gate_up", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %wd: tensor<24x16xf32> {spmd.weight = "down", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<5x16xf32> {
  %z64 = arith.constant dense<0.0> : tensor<5x64xf32>
  %z16 = arith.constant dense<0.0> : tensor<5x16xf32>
  %z48 = arith.constant dense<0.0> : tensor<5x48xf32>
  %p = linalg.matmul ins(%x, %wqkv : tensor<5x16xf32>, tensor<16x64xf32>) outs(%z64 : tensor<5x64xf32>) -> tensor<5x64xf32>
  %q = tensor.extract_slice %p[0, 0] [5, 32] [1, 1] : tensor<5x64xf32> to tensor<5x32xf32>
  %k = tensor.extract_slice %p[0, 32] [5, 16] [1, 1] : tensor<5x64xf32> to tensor<5x16xf32>
  %v = tensor.extract_slice %p[0, 48] [5, 16] [1, 1] : tensor<5x64xf32> to tensor<5x16xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2, 3]] output_shape [5, 2, 2, 8] : tensor<5x32xf32> into tensor<5x2x2x8xf32>
  %kh = tensor.expand_shape %k [[0], [1, 2]] output_shape [5, 2, 8] : tensor<5x16xf32> into tensor<5x2x8xf32>
  %vh = tensor.expand_shape %v [[0], [1, 2]] output_shape [5, 2, 8] : tensor<5x16xf32> into tensor<5x2x8xf32>
  %e = tensor.empty() : tensor<5x2x2x8xf32>
  %a = linalg.generic {indexing_maps = [#group, #key, #key, #group], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qh, %kh, %vh : tensor<5x2x2x8xf32>, tensor<5x2x8xf32>, tensor<5x2x8xf32>) outs(%e : tensor<5x2x2x8xf32>) {
  ^bb0(%i: f32, %j: f32, %l: f32, %o: f32):
    %0 = arith.mulf %i, %j : f32
    %1 = arith.subf %0, %l : f32
    linalg.yield %1 : f32
  } -> tensor<5x2x2x8xf32>
  %c = tensor.collapse_shape %a [[0], [1, 2, 3]] : tensor<5x2x2x8xf32> into tensor<5x32xf32>
  %y = linalg.matmul ins(%c, %wo : tensor<5x32xf32>, tensor<32x16xf32>) outs(%z16 : tensor<5x16xf32>) -> tensor<5x16xf32>
  %gu = linalg.matmul ins(%y, %wgu : tensor<5x16xf32>, tensor<16x48xf32>) outs(%z48 : tensor<5x48xf32>) -> tensor<5x48xf32>
  %g = tensor.extract_slice %gu[0, 0] [5, 24] [1, 1] : tensor<5x48xf32> to tensor<5x24xf32>
  %u = tensor.extract_slice %gu[0, 24] [5, 24] [1, 1] : tensor<5x48xf32> to tensor<5x24xf32>
  %t = math.tanh %g : tensor<5x24xf32>
  %h = arith.mulf %t, %u : tensor<5x24xf32>
  %r = linalg.matmul ins(%h, %wd : tensor<5x24xf32>, tensor<24x16xf32>) outs(%z16 : tensor<5x16xf32>) -> tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}
