// Loading functions are partitioned like the arguments that they compute, once for each distinct
// function and layout: two loading functions (one of them twice, under two names) and
// three layouts make four shard functions for seven weights.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// Nothing that rewrites programs drops or changes them; the program does not see them.
// RUN: shard-opt %s --inline --symbol-dce --canonicalize --cse --spmd-default-pipeline | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline=inline=false | FileCheck %s
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --spmd-partition --spmd-shard-functions --symbol-dce --inline --spmd-shard-functions | FileCheck %s
// RUN: shard-opt %s --spmd-propagate --spmd-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT --implicit-check-not=combine
// REPORT: l0.q+l0.k+l0.v
// Each phase leaves the functions as they were written.
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --spmd-partition | FileCheck %s --check-prefix=WHOLE --implicit-check-not=_shard_
// WHOLE-LABEL: func.func private @combine(%arg0: tensor<8x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) -> tensor<16x4xf32>
// WHOLE: tensor.concat
// WHOLE: func.func @main

// In the bundle: IR of all, programs and operands of what computes, pieces of what moves.
// RUN: rm -rf %t && shard-compile %s -o %t --opt-level=1 && FileCheck %s --check-prefix=IR < %t/programs/loading.mlir
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/manifest.json
// RUN: shard-compile %s -o %t/again --opt-level=1 && cmp %t/manifest.json %t/again/manifest.json
// What shard-opt leaves is what shard-compile makes by itself.
// RUN: shard-opt %s --spmd-default-pipeline | shard-compile - -o %t/final --opt-level=1 && cmp %t/programs/loading.mlir %t/final/programs/loading.mlir
// RUN: sed '/"loc"/d' %t/manifest.json > %t/one.json && sed '/"loc"/d' %t/final/manifest.json > %t/other.json && cmp %t/one.json %t/other.json
// IR-COUNT-4: func.func @{{.*}}_shard_
// IR-NOT: _shard_
// MANIFEST: "file": "programs/loading.so"
// MANIFEST: "name": "l0.q+l0.k+l0.v",
// MANIFEST: "sources": [
// MANIFEST: "name": "l0.q",
// MANIFEST: "name": "l0.v",
// MANIFEST: "pieces": [
// MANIFEST-NOT: "function"
// MANIFEST: "name": "h0",
// MANIFEST: "function": {
// MANIFEST-NEXT: "program": 1,
// MANIFEST-NEXT: "symbol": "sk_load_halve_shard_[[HALF:[0-9a-f]+]]",
// MANIFEST: "operands": [
// MANIFEST: "name": "h1",
// MANIFEST: "symbol": "sk_load_halve_shard_[[HALF]]",

// CHECK-LABEL: func.func private @combine(
// CHECK-NOT: spmd.
// CHECK: }
// CHECK-LABEL: func.func private @combine_shard_
// CHECK-SAME: -> (tensor<8x4xf32> {spmd.global_type = tensor<16x4xf32>
// CHECK: spmd.device_coordinate @m "x"
// CHECK-LABEL: func.func private @halve(
// CHECK: arith.truncf %{{.*}} : tensor<16x4xf32> to tensor<16x4xbf16>
// The operand has the rows of a device.
// CHECK-LABEL: func.func private @halve_shard_
// CHECK-SAME: (%{{.*}}: tensor<8x4xf32>) -> tensor<8x4xbf16> attributes {spmd.elementwise}
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-LABEL: func.func @main
// CHECK-SAME: spmd.shard_function = @[[ROWSOF:combine_shard_[0-9a-f]+]], {{[^%]*}}["l0.q", "l0.k", "l0.v"]
// CHECK-SAME: spmd.shard_function = @[[ROWSOF]], {{[^%]*}}["l1.q", "l1.k", "l1.v"]
// CHECK-SAME: spmd.shard_function = @[[ROWSOF]], {{[^%]*}}["l2.q", "l2.k", "l2.v"]
// CHECK-SAME: spmd.shard_function = @{{combine_shard_[0-9a-f]+}}, {{[^%]*}}["l3.q", "l3.k", "l3.v"]
// CHECK-SAME: spmd.shard_function = @[[HALF:halve_shard_[0-9a-f]+]], {{[^%]*}}"h0"
// CHECK-SAME: spmd.shard_function = @[[HALF]], {{[^%]*}}"h1"

spmd.mesh @m = <["x"=2]>
func.func private @combine(%q: tensor<8x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<16x4xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
func.func private @combine_again(%q: tensor<8x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<16x4xf32> {
  %0 = tensor.concat dim(0) %q, %k, %v : (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}
func.func private @halve(%w: tensor<16x4xf32>) -> tensor<16x4xbf16> {
  %0 = arith.truncf %w : tensor<16x4xf32> to tensor<16x4xbf16>
  return %0 : tensor<16x4xbf16>
}
func.func @main(%l0: tensor<16x4xf32> {spmd.weight = ["l0.q", "l0.k", "l0.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %l1: tensor<16x4xf32> {spmd.weight = ["l1.q", "l1.k", "l1.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %l2: tensor<16x4xf32> {spmd.weight = ["l2.q", "l2.k", "l2.v"], spmd.load = @combine_again, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %l3: tensor<16x4xf32> {spmd.weight = ["l3.q", "l3.k", "l3.v"], spmd.load = @combine, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %h0: tensor<16x4xbf16> {spmd.weight = "h0", spmd.load = @halve, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %h1: tensor<16x4xbf16> {spmd.weight = "h1", spmd.load = @halve, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %h2: tensor<16x4xbf16> {spmd.weight = "h2", spmd.load = @halve, spmd.sharding = #spmd.sharding<@m, [{}, {}]>})
    -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xbf16>) {
  %0 = arith.addf %l0, %l1 : tensor<16x4xf32>
  %1 = arith.addf %0, %l2 : tensor<16x4xf32>
  %2 = arith.addf %h0, %h1 : tensor<16x4xbf16>
  %3 = arith.addf %2, %h2 : tensor<16x4xbf16>
  return %1, %l3, %3 : tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xbf16>
}
