// What no rule decides is decided element by element, if the program is small: each element is the same expression of
// elements of the arguments, or another number for some arguments.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --rules 2>/dev/null | FileCheck %t/local.mlir
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>&1 | FileCheck %t/local.mlir --check-prefix=ERR
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %s --check-prefix=RULES --implicit-check-not=proven
// RULES: @rolled: not decided
// RULES: @rolled_wrong: not decided
// RULES: @added: not decided
// RULES: @doubled: not decided
// RULES: @branch: not decided
// RULES: @divided: not decided

//--- global.mlir
spmd.mesh @m = <["x"=2]>
func.func @rolled(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %0 = tensor.extract_slice %a[0] [3] [1] : tensor<4xf32> to tensor<3xf32>
  %1 = tensor.extract_slice %a[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %2 = tensor.concat dim(0) %1, %0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @rolled_wrong(%a: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4xf32> {
  %0 = tensor.extract_slice %a[0] [3] [1] : tensor<4xf32> to tensor<3xf32>
  %1 = tensor.extract_slice %a[3] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %2 = tensor.concat dim(0) %1, %0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @added(%a: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %1 = arith.mulf %0, %c : tensor<f32>
  return %1 : tensor<f32>
}
func.func @doubled(%a: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %1 = arith.mulf %0, %c : tensor<f32>
  return %1 : tensor<f32>
}
func.func @branch(%a: tensor<2xf32>, %if: i1) -> tensor<2xf32> {
  %0 = scf.if %if -> tensor<2xf32> {
    %1 = arith.negf %a : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  } else {
    scf.yield %a : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
func.func @divided(%a: tensor<2xi32>, %b: tensor<2xi32>, %if: tensor<2xi1>) -> tensor<2xi32> {
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.map ins(%a, %b, %if : tensor<2xi32>, tensor<2xi32>, tensor<2xi1>) outs(%e : tensor<2xi32>)
    (%x: i32, %y: i32, %c: i1, %o: i32) {
      %1 = scf.if %c -> i32 {
        %2 = arith.divsi %x, %y : i32
        scf.yield %2 : i32
      } else {
        scf.yield %x : i32
      }
      linalg.yield %1 : i32
    }
  return %0 : tensor<2xi32>
}

//--- local.mlir
spmd.mesh @m = <["x"=2]>
#x = #spmd.sharding<@m, [{"x"}]>
// The last element of the device before, then the first one of the shard.
// CHECK: @rolled: proven
// CHECK-NEXT: 4 x element that is the same expression
func.func @rolled(%a: tensor<2xf32> {spmd.sharding = #x}) -> (tensor<2xf32> {spmd.sharding = #x}) {
  %c1 = arith.constant 1 : index
  %x = spmd.device_coordinate @m "x" : index
  %all = spmd.all_gather %a <@m, [{"x"}]> : tensor<2xf32> -> tensor<4xf32>
  %begin = arith.muli %x, %c1 : index
  %twice = arith.addi %begin, %x : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %at = arith.addi %twice, %i : index
    %before = arith.addi %at, %c3 : index
    %in = arith.remui %before, %c4 : index
    %e = tensor.extract %all[%in] : tensor<4xf32>
    tensor.yield %e : f32
  } : tensor<2xf32>
  return %r : tensor<2xf32>
}
// CHECK: @rolled_wrong: refused
func.func @rolled_wrong(%a: tensor<2xf32> {spmd.sharding = #x}) -> (tensor<2xf32> {spmd.sharding = #x}) {
  %x = spmd.device_coordinate @m "x" : index
  %all = spmd.all_gather %a <@m, [{"x"}]> : tensor<2xf32> -> tensor<4xf32>
  %twice = arith.addi %x, %x : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %at = arith.addi %twice, %i : index
    %before = arith.addi %at, %c1 : index
    %in = arith.remui %before, %c4 : index
    %e = tensor.extract %all[%in] : tensor<4xf32>
    tensor.yield %e : f32
  } : tensor<2xf32>
  return %r : tensor<2xf32>
}
// The terms of a sum are multiplied one by one.
// CHECK: @added: proven
// CHECK: sum of products, multiplied out
func.func @added(%a: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %z = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%a, %c : tensor<4xf32>, tensor<f32>) outs(%z : tensor<f32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %1 = arith.mulf %in, %factor : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
// One that is added twice is another number.
// CHECK: @doubled: refused
func.func @doubled(%a: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%a, %c : tensor<4xf32>, tensor<f32>) outs(%c : tensor<f32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %1 = arith.mulf %in, %factor : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
// Both sides are computed, and selected by one condition.
// CHECK: @branch: proven
func.func @branch(%a: tensor<2xf32>, %if: i1) -> tensor<2xf32> {
  %true = arith.constant true
  %not = arith.xori %if, %true : i1
  %1 = arith.negf %a : tensor<2xf32>
  %0 = tensor.generate {
  ^bb0(%i: index):
    %x = tensor.extract %1[%i] : tensor<2xf32>
    %y = tensor.extract %a[%i] : tensor<2xf32>
    %s = arith.select %if, %x, %y : f32
    tensor.yield %s : f32
  } : tensor<2xf32>
  return %0 : tensor<2xf32>
}
// A division that the unsharded program does under a condition may trap without it.
// CHECK: @divided: not decided
// ERR: error: @rolled_wrong is refused at
// ERR: note: result #0: element [0] of rank 0 is {{.*}}, and [0] of the unsharded result {{.*}}, for the arguments of seed 0
// ERR: note: element by element: a division or a look-up that the unsharded program does not do
func.func @divided(%a: tensor<2xi32>, %b: tensor<2xi32>, %if: tensor<2xi1>) -> tensor<2xi32> {
  %0 = arith.divsi %a, %b : tensor<2xi32>
  %1 = arith.select %if, %0, %a : tensor<2xi1>, tensor<2xi32>
  return %1 : tensor<2xi32>
}
