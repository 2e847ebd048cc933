// Passes on functions: they run on all functions of a module, at once or one after the other, with one result. What is
// wrong with the module is one error, whatever the number of functions.

// RUN: shard-opt %s --spmd-hoist-collectives --spmd-sink-collectives --spmd-combine-collectives --spmd-overlap-collectives > %t.threads
// RUN: shard-opt %s --spmd-hoist-collectives --spmd-sink-collectives --spmd-combine-collectives --spmd-overlap-collectives --mlir-disable-threading | diff - %t.threads
// RUN: FileCheck %s < %t.threads
// RUN: shard-opt %s --pass-pipeline='builtin.module(spmd-hoist-collectives,func.func(spmd-sink-collectives),spmd-combine-collectives,func.func(spmd-overlap-collectives))' | diff - %t.threads

// RUN: shard-opt %s --spmd-sink-collectives --spmd-hoist-collectives --debug-only=spmd-hoist-collectives --pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOG
// LOG-COUNT-2: [spmd-hoist-collectives] moves result #0 of spmd.all_gather at loc({{.*}}) before the loop at loc(
// LOG-NOT:     [
// LOG:         2 spmd-hoist-collectives hoistedCollectives
// RUN: shard-opt %s --spmd-hoist-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// SILENT-NOT: spmd

// RUN: not shard-opt %s --spmd-hoist-collectives=memory-budget=-1 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: memory-budget=-1, expected a number of bytes, 0 for the mesh's memory
// OPTION-NOT: error
// RUN: sed 's/^module {/module attributes {spmd.phase = "propagated"} {/' %s | not shard-opt --spmd-sink-collectives 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: spmd-sink-collectives of a module in phase "propagated", expected "partitioned"
// PHASE-NOT: error

module {
spmd.mesh @pod = <["x"=2]>

// CHECK-LABEL: func.func @first
// CHECK: spmd.all_gather
// CHECK: scf.for
func.func @first(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %b) -> tensor<8xf32> {
    %g = spmd.all_gather %a <@pod, [{"x"}]> : tensor<4xf32> -> tensor<8xf32>
    %n = arith.addf %s, %g : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @second
// CHECK: spmd.all_gather
// CHECK: scf.for
func.func @second(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %b) -> tensor<8xf32> {
    %g = spmd.all_gather %a <@pod, [{"x"}]> : tensor<4xf32> -> tensor<8xf32>
    %n = arith.mulf %s, %g : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func private @declared(tensor<8xf32>)
}
