// Programs of other tools: what arguments and results hold is in a plan, or in the annotations of the unsharded program.
// RUN: split-file %s %t
// RUN: shard-prove %t/global.mlir %t/local.mlir --shardings=%t/plan.json | FileCheck %s
// RUN: shard-prove %t/annotated.mlir %t/local.mlir | FileCheck %s
// CHECK: @main: proven
// CHECK: @top: proven
// CHECK: @scalar: proven

// Without them the types do not fit each other; others do not fit them.
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: local.mlir:{{[0-9]+}}:1: error: argument #0 is 'tensor<4x16xf32>', expected 'tensor<8x16xf32>', the shard of 'tensor<8x16xf32>' by its sharding
// RUN: sed 's/"y"\]}/"x"]}/' %t/plan.json > %t/other.json
// RUN: not shard-prove %t/global.mlir %t/local.mlir --shardings=%t/other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: argument #1 is 'tensor<16x3xf32>', expected 'tensor<16x6xf32>'

// A plan outweighs what the partitioned program has; wrong shardings of it are not proven.
// RUN: shard-prove %t/global.mlir %t/replicated.mlir --shardings=%t/plan.json | FileCheck %s --check-prefix=MAIN
// RUN: not shard-prove %t/global.mlir %t/replicated.mlir 2>&1 | FileCheck %s --check-prefix=REPLICATED
// MAIN: @main: proven
// REPLICATED: error: argument #0 is 'tensor<4x16xf32>', expected 'tensor<8x16xf32>'

// Columns of one order with numbers of another.
// RUN: not shard-prove %t/global.mlir %t/sorted.mlir --shardings=%t/plan.json --by-elements=false 2>/dev/null | FileCheck %s --check-prefix=SORTED
// SORTED: @top: not decided

// RUN: not shard-prove %t/global.mlir %t/local.mlir --shardings=%t/none.json 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: {{.*}}none.json
// RUN: sed 's/"arg0"/"arg9"/' %t/plan.json > %t/names.json
// RUN: not shard-prove %t/global.mlir %t/local.mlir --shardings=%t/names.json 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: names.json:{{[0-9]+}}:{{[0-9]+}}: error: rule 1: unknown argument "arg9"
// RUN: not shard-prove %t/global.mlir %t/mesh.mlir --shardings=%t/plan.json 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: mesh.mlir:1:1: error: @m is not the mesh of the shardings, which is {{.*}}["x"=2, "y"=4]
// RUN: not shard-prove %t/global.mlir %t/fewer.mlir --shardings=%t/plan.json 2>&1 | FileCheck %s --check-prefix=FEWER
// FEWER: fewer.mlir:1:1: error: @main has 1 arguments, expected 2, those of the unsharded function
// RUN: not shard-prove %t/global.mlir %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: the partitioned program has no public function with a body
// RUN: not shard-prove %t/global.mlir %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:1:1: error: @other is not a function of the unsharded program
// RUN: not shard-prove %t/hlo.txt %t/local.mlir 2>&1 | FileCheck %s --check-prefix=HLO
// HLO: hlo.txt: error: a module of HLO, expected one of MLIR: shardkit-prove reads HLO

// A program in the local view of upstream's dialect shard, and another one.
// RUN: shard-opt %t/shard.mlir --spmd-import-shard | shard-prove %t/annotated.mlir - | FileCheck %s --check-prefix=SHARD
// RUN: sed 's/math.tanh/math.exp/' %t/shard.mlir | shard-opt --spmd-import-shard -o %t/exp.mlir
// RUN: not shard-prove %t/annotated.mlir %t/exp.mlir 2>&1 | FileCheck %s --check-prefix=EXP
// SHARD: @main: proven
// EXP: error: @main is refused at math.exp

//--- shard.mlir
shard.grid @grid(shape = 2x4)
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x3xf32>) -> tensor<4x12xf32> {
  %z = arith.constant dense<0.0> : tensor<4x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = shard.all_gather %0 on @grid grid_axes = [1] gather_axis = 1 : tensor<4x3xf32> -> tensor<4x12xf32>
  %2 = math.tanh %1 : tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}

//--- global.mlir
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x12xf32>) -> tensor<8x12xf32> {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
#row = affine_map<(d0, d1) -> (d0, d1)>
func.func @top(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xi32>) {
  %e = tensor.empty() : tensor<8x16xi32>
  %n = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x16xi32>
  %0:2 = spmd.sort %x, %n dim = 1 {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    spmd.yield %g
  } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<8x16xi32>
}
// A constant that only the partitioned program has, in another rank.
func.func @scalar(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>) {
  %0 = math.exp %x : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

//--- local.mlir
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x3xf32>) -> tensor<4x12xf32> {
  %z = arith.constant dense<0.0> : tensor<4x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = math.tanh %0 : tensor<4x3xf32>
  %2 = spmd.all_gather %1 <@m, [{}, {"y"}]> : tensor<4x3xf32> -> tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}
spmd.mesh @m = <["x"=2, "y"=4]>
#row = affine_map<(d0, d1) -> (d0, d1)>
// The numbers of the columns are equal in all rows, so that they are in any sharding of the rows.
func.func @top(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xi32>) {
  %e = tensor.empty() : tensor<4x16xi32>
  %n = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<4x16xi32>
  %0:2 = spmd.sort %x, %n dim = 1 {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    spmd.yield %g
  } : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  return %0#0, %0#1 : tensor<4x16xf32>, tensor<4x16xi32>
}
func.func @scalar(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %n = arith.constant dense<3> : tensor<1x1xi32>
  %s = tensor.collapse_shape %n [] : tensor<1x1xi32> into tensor<i32>
  %w = tensor.expand_shape %s [] output_shape [1] : tensor<i32> into tensor<1xi32>
  %0 = math.exp %x : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

//--- sorted.mlir
spmd.mesh @m = <["x"=2, "y"=4]>
#row = affine_map<(d0, d1) -> (d0, d1)>
// The numbers of the rows in place of those of the columns.
func.func @top(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xi32>) {
  %e = tensor.empty() : tensor<4x16xi32>
  %n = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<4x16xi32>
  %0:2 = spmd.sort %x, %n dim = 1 {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    spmd.yield %g
  } : (tensor<4x16xf32>, tensor<4x16xi32>) -> (tensor<4x16xf32>, tensor<4x16xi32>)
  return %0#0, %0#1 : tensor<4x16xf32>, tensor<4x16xi32>
}

//--- replicated.mlir
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, %w: tensor<16x3xf32>) -> tensor<4x12xf32> {
  %z = arith.constant dense<0.0> : tensor<4x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = math.tanh %0 : tensor<4x3xf32>
  %2 = spmd.all_gather %1 <@m, [{}, {"y"}]> : tensor<4x3xf32> -> tensor<4x12xf32>
  return %2 : tensor<4x12xf32>
}

//--- annotated.mlir
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @main(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<16x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) -> (tensor<8x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %z = arith.constant dense<0.0> : tensor<8x12xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x12xf32>) outs(%z : tensor<8x12xf32>) -> tensor<8x12xf32>
  %1 = math.tanh %0 : tensor<8x12xf32>
  return %1 : tensor<8x12xf32>
}
#row = affine_map<(d0, d1) -> (d0, d1)>
func.func @top(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<8x16xi32>
  %n = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x16xi32>
  %0:2 = spmd.sort %x, %n dim = 1 {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32):
    %g = arith.cmpf ogt, %a, %b : f32
    spmd.yield %g
  } : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<8x16xi32>
}
// A constant that only the partitioned program has, in another rank.
func.func @scalar(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %0 = math.exp %x : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

//--- plan.json
{"version": 1,
 "meshes": [{"name": "m", "axes": [["x", 2], ["y", 4]]}],
 "rules": [
  {"argument": "arg0", "axis_resources": ["x", null]},
  {"function": "main", "argument": "arg1", "axis_resources": [null, "y"]},
  {"result": "result0", "axis_resources": ["x", null]},
  {"function": "top", "result": "result1", "axis_resources": ["x", null]}]}

//--- mesh.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x3xf32>) -> tensor<4x12xf32> {
  %z = tensor.empty() : tensor<4x12xf32>
  return %z : tensor<4x12xf32>
}

//--- fewer.mlir
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x12xf32> {
  %z = tensor.empty() : tensor<4x12xf32>
  return %z : tensor<4x12xf32>
}

//--- empty.mlir
spmd.mesh @m = <["x"=2, "y"=2]>

//--- unknown.mlir
func.func @other(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  return %x : tensor<4x16xf32>
}

//--- hlo.txt
HloModule m
