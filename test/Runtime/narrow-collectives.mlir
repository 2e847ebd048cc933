// 8-bit floats are moved as bytes, and combined in f32.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: shard-run %s --compile-option=--plan=propagation --random-inputs=5 --verify | FileCheck %s
// RUN: shard-run %s --compile-option=--plan=propagation --random-inputs=5 --verify --compile-option=--overlap --compile-option=--min-hidden-fraction=0 | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline="overlap=true min-hidden-fraction=0 plan=propagation" | FileCheck %s --check-prefix=START
// START: spmd.start {
// START-NEXT: spmd.{{.*}}f8E
// CHECK: verify: 1 function, 4 results, all equal

// RUN: shard-compile %s --plan=propagation -o %t/bundle
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/bundle/manifest.json
// MANIFEST-DAG: "kind": "all_gather"
// MANIFEST-DAG: "dtype": "i8"
// MANIFEST-DAG: "kind": "all_reduce"

spmd.mesh @m = <["x"=4, "y"=2]>
func.func @main(%x: tensor<8x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>})
    -> (tensor<8x16xf32> {spmd.name = "gathered", spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
        tensor<8x16xf32> {spmd.name = "moved", spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
        tensor<16xf32> {spmd.name = "largest", spmd.sharding = #spmd.sharding<@m, [{}]>},
        tensor<8xf32> {spmd.name = "sum", spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %n = arith.truncf %x : tensor<8x16xf32> to tensor<8x16xf8E4M3FN>
  %g = spmd.with_sharding_constraint %n <@m, [{}, {}]> : tensor<8x16xf8E4M3FN>
  %h = arith.truncf %x : tensor<8x16xf32> to tensor<8x16xf8E5M2>
  %t = spmd.with_sharding_constraint %h <@m, [{"y"}, {"x"}]> : tensor<8x16xf8E5M2>
  %1 = arith.extf %t : tensor<8x16xf8E5M2> to tensor<8x16xf32>
  %least = arith.constant dense<-448.0> : tensor<16xf8E4M3FN>
  %max = linalg.reduce { arith.maximumf } ins(%n : tensor<8x16xf8E4M3FN>) outs(%least : tensor<16xf8E4M3FN>) dimensions = [0]
  %2 = arith.extf %max : tensor<16xf8E4M3FN> to tensor<16xf32>
  // Up to 16 sums are not rounded.
  %none = arith.constant dense<0.0> : tensor<8x16xf8E4M3FN>
  %one = arith.constant dense<1.0> : tensor<8x16xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<8xf8E4M3FN>
  %c0 = arith.constant dense<0.0> : tensor<8x16xf32>
  %isLess = arith.cmpf olt, %x, %c0 : tensor<8x16xf32>
  %s = arith.select %isLess, %one, %none : tensor<8x16xi1>, tensor<8x16xf8E4M3FN>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<8x16xf8E4M3FN>) outs(%zero : tensor<8xf8E4M3FN>) dimensions = [1]
  %3 = arith.extf %sum : tensor<8xf8E4M3FN> to tensor<8xf32>
  %0 = arith.extf %g : tensor<8x16xf8E4M3FN> to tensor<8x16xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<8xf32>
}
