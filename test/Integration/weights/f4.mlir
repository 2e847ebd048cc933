// 4-bit floats (f4E2M1FN, two in a byte, the first in the low half) with a power of 2 for each row, as MXFP4 has them for
// blocks: all 16 values, on shards whose boundaries lie inside bytes, and rounded back.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: %numpy-python %S/check_f4.py write %t/w.safetensors
// RUN: shard-compile %s -o %t/b --opt-level=1 --with-reference
// RUN: shard-run %t/b --weights=%t/w.safetensors --verify=exact --output-dir=%t/out | FileCheck %s
// RUN: %numpy-python %S/check_f4.py check %t/out
// RUN: shard-run %t/b --random-inputs=1 --verify=exact | FileCheck %s
// RUN: not shard-weights convert %t/w.safetensors --output=%t/c --format=tensor-cache 2>&1 | FileCheck %s --check-prefix=CONVERT
// CONVERT: error: tensor 'w' is F4, which cannot be converted
// CHECK: verify: 1 function, 3 results, all equal bit by bit
spmd.mesh @m = <["x"=2]>

func.func private @scaled(%w: tensor<6x10xf4E2M1FN>, %s: tensor<6xf8E8M0FNU>) -> tensor<6x10xbf16> {
  %e = tensor.empty() : tensor<6x10xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<6x10xf4E2M1FN>, tensor<6xf8E8M0FNU>) outs(%e : tensor<6x10xbf16>) {
  ^bb0(%q: f4E2M1FN, %c: f8E8M0FNU, %o: bf16):
    %f = arith.extf %q : f4E2M1FN to f32
    %g = arith.extf %c : f8E8M0FNU to f32
    %p = arith.mulf %f, %g : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<6x10xbf16>
  return %0 : tensor<6x10xbf16>
}
func.func private @cast(%w: tensor<6x10xf4E2M1FN>) -> tensor<6x10xf32> {
  %0 = arith.extf %w : tensor<6x10xf4E2M1FN> to tensor<6x10xf32>
  return %0 : tensor<6x10xf32>
}
func.func private @rounded(%w: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.truncf %w : tensor<64xf32> to tensor<64xf4E2M1FN>
  %1 = arith.extf %0 : tensor<64xf4E2M1FN> to tensor<64xf32>
  return %1 : tensor<64xf32>
}
func.func @main(%a: tensor<6x10xbf16> {spmd.name = "a", spmd.weight = ["w", "s"], spmd.load = @scaled, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %b: tensor<6x10xf32> {spmd.name = "b", spmd.weight = "w", spmd.load = @cast, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %c: tensor<64xf32> {spmd.name = "c", spmd.weight = "r", spmd.load = @rounded, spmd.sharding = #spmd.sharding<@m, [{"x"}]>})
    -> (tensor<6x10xbf16>, tensor<6x10xf32>, tensor<64xf32>) {
  return %a, %b, %c : tensor<6x10xbf16>, tensor<6x10xf32>, tensor<64xf32>
}
