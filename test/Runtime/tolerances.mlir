// Tolerances of --verify grow with the roundings that a result may see: of long sums, of sums in loops, and of values in
// narrower types on the way. A fault is still one.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && shard-compile %s --with-reference --opt-level=1 -o %t
// RUN: shard-run %t --function=long --random-inputs=1 --verify --report=%t.json | FileCheck %s --check-prefix=LONG
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// RUN: shard-run %t --function=mixed --random-inputs=1 --verify | FileCheck %s --check-prefix=MIXED
// RUN: shard-run %t --function=loop --random-inputs=1 --verify | FileCheck %s --check-prefix=LOOP
// RUN: not shard-run %t --function=fault --random-inputs=1 --verify | FileCheck %s --check-prefix=FAULT
// Without the estimate in the manifest, and with a tolerance that is given, rounding alone exceeds it.
// RUN: not shard-run %t --function=long --random-inputs=1 --verify --rtol=1e-5 | FileCheck %s --check-prefix=GIVEN
// RUN: sed -zi 's/,[ \n]*"rounding": [^ ,}]*//g' %t/manifest.json
// RUN: not shard-run %t --function=long --random-inputs=1 --verify | FileCheck %s --check-prefix=GIVEN

// 8 * 2^-24 * sqrt(2^22 - 1)
// LONG: verify long result0: {{.*}}, 0.{{[0-9]+}} of the tolerance (rtol 0.000977), ok
// JSON: "exact": false,
// JSON-NEXT: "rtol": 0.000976
// JSON-NEXT: "atol": 9.76
// JSON-NEXT: "of_tolerance": 0.
// GIVEN: MISMATCH long result0: {{.*}} of the tolerance (rtol 1e-05)

// A sum in f32, rounded to bf16, has the error of bf16 in f32 too: 8 * 2^-8 with what the sum adds.
// MIXED: verify mixed result0: {{.*}}, 0.{{[0-9]+}} of the tolerance (rtol 0.0313), ok

// Ten sums of 4096 terms and their sum: 8 * 2^-24 * sqrt(10 * 4095)
// LOOP: verify loop result0: {{.*}}ok
// FAULT: MISMATCH fault result0: {{.*}} of the tolerance (rtol 3.05e-05)

spmd.mesh @m = <["x"=4]>
#row = affine_map<(i, k) -> (i, k)>
#one = affine_map<(i, k) -> (i)>

func.func @long(%a: tensor<2x4194304xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<2x4194304xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  return %s : tensor<2xf32>
}

func.func @mixed(%a: tensor<8x256xbf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                 %b: tensor<256x8xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xbf16>
  %c = linalg.matmul ins(%a, %b : tensor<8x256xbf16>, tensor<256x8xbf16>) outs(%zero : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %r = arith.extf %c : tensor<8x8xbf16> to tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

func.func @loop(%a: tensor<2x4096xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%sum = %zero) -> tensor<2xf32> {
    %s = linalg.reduce { arith.addf } ins(%a : tensor<2x4096xf32>) outs(%sum : tensor<2xf32>) dimensions = [1]
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// One weight of 4096 that is off by a hundredth, as if a device had loaded another.
func.func @fault(%a: tensor<2x4096xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<2xf32> attributes {spmd.reference = @right} {
  %one = arith.constant dense<1.0> : tensor<2x4096xf32>
  %off = arith.constant dense<1.01> : tensor<2x1xf32>
  %w = tensor.insert_slice %off into %one[0, 70] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<2x4096xf32>
  %p = arith.mulf %a, %w : tensor<2x4096xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<2x4096xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  return %s : tensor<2xf32>
}
func.func private @right(%a: tensor<2x4096xf32>) -> tensor<2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<2x4096xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  return %s : tensor<2xf32>
}
