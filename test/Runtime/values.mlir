// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t
// RUN: split-file %s %t

// Every value of a program that is right: partial sums, uneven shards, loops, branches, narrow types.
// RUN: shard-compile %t/right.mlir --with-values -o %t/right --opt-level=1
// RUN: shard-run %t/right --random-inputs=1 --verify=values | FileCheck %s --check-prefix=RIGHT
// RUN: shard-run %t/right --function=partial --random-inputs=1 --verify=values --report=%t/right.json | FileCheck %s --check-prefix=PARTIAL
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/right.json
// RIGHT-COUNT-5: compared with the unsharded program, all
// RIGHT-NOT: MISMATCH
// PARTIAL: values: [[N:[0-9]+]] of [[N]] compared with the unsharded program, all
// REPORT: "values": {
// REPORT: "compared"
// REPORT: "max_rel_of_inputs"
// REPORT: "op": "linalg.matmul"

// A rule that is wrong: the first value that differs, and what is written of it.
// RUN: shard-compile %t/wrong.mlir --with-values -o %t/wrong --opt-level=1
// RUN: not shard-run %t/wrong --random-inputs=1 --verify=values --output-dir=%t/out --watch=weights --watch=scores | FileCheck %s --check-prefix=WRONG
// WRONG: values: [[N:[0-9]+]] of [[N]] compared with the unsharded program, {{[1-9]}} MISMATCHES
// WRONG-NEXT: first wrong value: %{{[0-9]+}} (weights) by linalg.softmax at weights
// WRONG-NEXT: rank 0, element [0, {{[0-9]+}}] of 8x32 ([0, {{[0-9]+}}] of its shard): {{.*}}, unsharded
// WRONG-NEXT: {{2[0-9][0-9]}} wrong elements on 4 of 4 ranks, on this one in [0:4, 0:16]; max abs error
// WRONG-NEXT: layout <@pod, [{"data"}, {"model"}]>
// WRONG-NEXT: computed from {{.*}}(scores){{.*}}, which are right; through no collective
// WRONG: wrote {{.*}}/out/weights.npy
// WRONG: wrote {{.*}}/out/weights.unsharded.npy

// From IR, with the results too.
// RUN: not shard-run %t/wrong.mlir --random-inputs=1 --verify=values --compile-option=--opt-level=0 | FileCheck %s --check-prefix=BOTH
// BOTH: first wrong value: {{.*}}linalg.softmax
// BOTH: MISMATCH main y
// BOTH: verify: 1 function, 1 result, 1 MISMATCH

// Bad input.
// RUN: not shard-run %t/wrong --random-inputs=1 --verify=values --output-dir=%t/out --watch=weigths 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: function 'main' has no value 'weigths' to watch, expected for instance 'weights'{{.*}}, or file:line
// RUN: not shard-run %t/wrong --random-inputs=1 --watch=weights 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --watch=weights, expected --verify=values and --output-dir with it
// RUN: not shard-run %t/wrong --random-inputs=1 --verify=value 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: --verify=value, expected --verify, --verify=exact or --verify=values
// RUN: not shard-run %t/wrong --random-inputs=1 --verify=values --repeat=2 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: error: --verify=values with --repeat=2, expected one step
// RUN: shard-compile %t/wrong.mlir --with-reference -o %t/plain --opt-level=0 --proof=false
// RUN: not shard-run %t/plain --random-inputs=1 --verify=values 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: function 'main': the bundle has no values to compare, compile with --with-values
// RUN: not shard-compile %t/wrong.mlir --with-values --target=cuda -o %t/bad 2>&1 | FileCheck %s --check-prefix=CUDA
// CUDA: error: values are compared on processors, expected --target=cpu with --with-values
// RUN: shard-compile %t/manual.mlir --with-values -o %t/manual --opt-level=0 2>&1 | FileCheck %s --check-prefix=MANUAL
// MANUAL: manual.mlir:4:8: warning: values of function @manual are not compared: spmd.manual_computation has no unsharded counterpart
// RUN: shard-run %t/manual --random-inputs=1 --verify=values | FileCheck %s --check-prefix=OTHER
// OTHER: values: 1 of 1 compared
// RUN: not shard-run %t/manual --random-inputs=1 --verify=values --function=manual 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: function 'manual': the bundle has no values to compare, compile with --with-values
// RUN: shard-compile %t/sizes.mlir --with-values -o %t/bad --opt-level=0 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: warning: values of function @sizes are not compared: an argument has type 'tensor<?x4xf32>', expected known sizes (--shapes)
// RUN: shard-compile %t/sizes.mlir --with-values --shapes=x=8x4 -o %t/sized --opt-level=0

//--- right.mlir
spmd.mesh @pod = <["data"=2, "model"=2]>
func.func @partial(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>},
                   %w: tensor<16x12xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) -> tensor<8x12xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x12xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x12xf32>) outs(%zero : tensor<8x12xf32>) -> tensor<8x12xf32>
  %z = math.tanh %y : tensor<8x12xf32>
  return %z : tensor<8x12xf32>
}
func.func @uneven(%x: tensor<7x5xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>}) -> (tensor<7xf32>, tensor<5xf32>) {
  %exp = math.exp %x : tensor<7x5xf32>
  %zero7 = arith.constant dense<0.0> : tensor<7xf32>
  %one5 = arith.constant dense<1.0> : tensor<5xf32>
  %rows = linalg.reduce ins(%exp : tensor<7x5xf32>) outs(%zero7 : tensor<7xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  %columns = linalg.reduce ins(%x : tensor<7x5xf32>) outs(%one5 : tensor<5xf32>) dimensions = [0] (%a: f32, %b: f32) {
    %s = arith.maximumf %a, %b : f32
    linalg.yield %s : f32
  }
  return %rows, %columns : tensor<7xf32>, tensor<5xf32>
}
func.func @loop(%x: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>, spmd.range = [-4, 5]}) -> (tensor<4xi32>, tensor<6x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0> : tensor<4xi32>
  %all = tensor.empty() : tensor<6x4xi32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %zero, %rows = %all) -> (tensor<4xi32>, tensor<6x4xi32>) {
    %next = linalg.reduce ins(%x : tensor<4x8xi32>) outs(%sum : tensor<4xi32>) dimensions = [1] (%a: i32, %b: i32) {
      %s = arith.addi %a, %b : i32
      linalg.yield %s : i32
    }
    %written = tensor.insert_slice %next into %rows[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<6x4xi32>
    scf.yield %next, %written : tensor<4xi32>, tensor<6x4xi32>
  }
  return %r#0, %r#1 : tensor<4xi32>, tensor<6x4xi32>
}
func.func @branch(%x: tensor<4x8xbf16> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}, %p: tensor<i1>) -> (tensor<4x8xbf16>, tensor<4x8xi1>) {
  %c = tensor.extract %p[] : tensor<i1>
  %zero = arith.constant dense<0.0> : tensor<4x8xbf16>
  %r = scf.if %c -> tensor<4x8xbf16> {
    %a = arith.addf %x, %x : tensor<4x8xbf16>
    scf.yield %a : tensor<4x8xbf16>
  } else {
    %b = arith.negf %x : tensor<4x8xbf16>
    scf.yield %b : tensor<4x8xbf16>
  }
  %less = arith.cmpf olt, %r, %zero : tensor<4x8xbf16>
  return %r, %less : tensor<4x8xbf16>, tensor<4x8xi1>
}
func.func @rows(%table: tensor<32x6xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data", "model"}, {}]>},
                %index: tensor<5x1xindex> {spmd.range = [0, 32]}) -> tensor<5x6xf32> {
  %r = tensor.gather %table[%index] gather_dims([0]) : (tensor<32x6xf32>, tensor<5x1xindex>) -> tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

//--- wrong.mlir
#wrong = #spmd.rule<([i, j], [i, j]) -> ([i, j]) {i=8, j=32}>
spmd.mesh @pod = <["data"=2, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %w: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
                %v: tensor<32x12xf32>) -> (tensor<8x12xf32> {spmd.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %s = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%zero : tensor<8x32xf32>) -> tensor<8x32xf32> loc("scores")
  %e = tensor.empty() : tensor<8x32xf32>
  %p = linalg.softmax {spmd.sharding_rule = #wrong} dimension(1) ins(%s : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32> loc("weights")
  %zero2 = arith.constant dense<0.0> : tensor<8x12xf32>
  %y = linalg.matmul ins(%p, %v : tensor<8x32xf32>, tensor<32x12xf32>) outs(%zero2 : tensor<8x12xf32>) -> tensor<8x12xf32>
  return %y : tensor<8x12xf32>
}

//--- manual.mlir
spmd.mesh @pod = <["data"=2]>
func.func @manual(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // A comment, so that lines differ.
  %r = spmd.manual_computation (%x) in [<@pod, [{"data"}, {}]>] out [<@pod, [{"data"}, {}]>] axes ["data"] (%a: tensor<4x4xf32>) {
    spmd.return %a : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

func.func @other(%x: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}) -> tensor<8x4xf32> {
  %r = math.exp %x : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

//--- sizes.mlir
spmd.mesh @pod = <["data"=2]>
func.func @sizes(%x: tensor<?x4xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}) -> tensor<?x4xf32> {
  %r = math.exp %x : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
