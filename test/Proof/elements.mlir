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
// RULES: @row: not decided
// RULES: @row_wrong: not decided
// RULES: @row_beyond: not decided
// RULES: @written: not decided
// RULES: @written_wrong: not decided
// RULES: @written_beyond: not decided
// RULES: @subtracted: not decided
// RULES: @sized: not decided
// RULES: @sized_wrong: not decided
// RULES: @divided: not decided
// RULES: @stepped: not decided
// RULES: @started: not decided

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

func.func @row(%a: tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %r = tensor.extract_slice %a[%k, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<1x2xi32>
  return %r : tensor<1x2xi32>
}
func.func @row_wrong(%a: tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %r = tensor.extract_slice %a[%k, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<1x2xi32>
  return %r : tensor<1x2xi32>
}
func.func @row_beyond(%a: tensor<6x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %r = tensor.extract_slice %a[%k, 0] [1, 2] [1, 1] : tensor<6x2xi32> to tensor<1x2xi32>
  return %r : tensor<1x2xi32>
}
func.func @written(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %b into %a[%k] [3] [1] : tensor<3xi32> into tensor<5xi32>
  return %r : tensor<5xi32>
}
func.func @written_wrong(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %r = tensor.insert_slice %b into %a[%k] [3] [1] : tensor<3xi32> into tensor<5xi32>
  return %r : tensor<5xi32>
}
func.func @written_beyond(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %c2 = arith.constant 2 : index
  %isFew = arith.cmpi slt, %k, %c2 : index
  %r = scf.if %isFew -> tensor<5xi32> {
    %w = tensor.insert_slice %b into %a[%k] [3] [1] : tensor<3xi32> into tensor<5xi32>
    scf.yield %w : tensor<5xi32>
  } else {
    scf.yield %a : tensor<5xi32>
  }
  return %r : tensor<5xi32>
}
func.func @subtracted(%a: tensor<4xi32>, %b: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xi32>, tensor<i32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %c3 = arith.constant 3 : i32
    %c7 = arith.constant 7 : i32
    %1 = arith.subi %x, %y : i32
    %2 = arith.muli %1, %c3 : i32
    %3 = arith.addi %2, %c7 : i32
    linalg.yield %3 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @sized(%a: tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %low = affine.max affine_map<()[s0] -> (0, s0)>()[%k]
  %m = affine.min affine_map<()[s0] -> (4, s0)>()[%low]
  %rest = affine.apply affine_map<()[s0] -> (4 - s0)>()[%m]
  %s = tensor.extract_slice %a[0] [%m] [1] : tensor<4xi32> to tensor<?xi32>
  %r = tensor.pad %s low[0] high[%rest] {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : i32
    tensor.yield %c7 : i32
  } : tensor<?xi32> to tensor<4xi32>
  %0 = tensor.extract_slice %r[0] [3] [1] : tensor<4xi32> to tensor<3xi32>
  %1 = tensor.extract_slice %r[3] [1] [1] : tensor<4xi32> to tensor<1xi32>
  %2 = tensor.concat dim(0) %1, %0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
  return %2 : tensor<4xi32>
}
func.func @sized_wrong(%a: tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %low = affine.max affine_map<()[s0] -> (0, s0)>()[%k]
  %m = affine.min affine_map<()[s0] -> (4, s0)>()[%low]
  %rest = affine.apply affine_map<()[s0] -> (4 - s0)>()[%m]
  %s = tensor.extract_slice %a[0] [%m] [1] : tensor<4xi32> to tensor<?xi32>
  %r = tensor.pad %s low[0] high[%rest] {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : i32
    tensor.yield %c7 : i32
  } : tensor<?xi32> to tensor<4xi32>
  %0 = tensor.extract_slice %r[0] [3] [1] : tensor<4xi32> to tensor<3xi32>
  %1 = tensor.extract_slice %r[3] [1] [1] : tensor<4xi32> to tensor<1xi32>
  %2 = tensor.concat dim(0) %1, %0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>
  return %2 : tensor<4xi32>
}
func.func @stepped(%a: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %0 = scf.for %i = %c0 to %c4 step %c2 iter_args(%b = %a) -> tensor<4xi32> {
    %1 = arith.addi %b, %a : tensor<4xi32>
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}
func.func @started(%a: tensor<2xi32> {spmd.range = [1, 9]}, %k: i32 {spmd.range = [40, 44]}) -> tensor<2xi32> {
  %c45 = arith.constant 45 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<2xi32>
  %r:2 = scf.while (%i = %k, %b = %zero) : (i32, tensor<2xi32>) -> (i32, tensor<2xi32>) {
    %isMore = arith.cmpi slt, %i, %c45 : i32
    scf.condition(%isMore) %i, %b : i32, tensor<2xi32>
  } do {
  ^bb0(%i: i32, %b: tensor<2xi32>):
    %1 = arith.addi %b, %b : tensor<2xi32>
    %2 = arith.addi %1, %a : tensor<2xi32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %2 : i32, tensor<2xi32>
  }
  return %r#1 : tensor<2xi32>
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
// A row at an index that data give: each device has three of the six that it may be.
// CHECK: @row: proven
// CHECK: element that is the same expression for each value of its indices
func.func @row(%a: tensor<3x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %x = spmd.device_coordinate @m "x" : index
  %own = tensor.generate {
  ^bb0(%n: index, %j: index):
    %c0 = arith.constant 0 : index
    %last = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %begin = arith.muli %x, %c3 : index
    %at = arith.subi %k, %begin : index
    %low = arith.maxsi %at, %c0 : index
    %in = arith.minsi %low, %last : index
    %isOwn = arith.cmpi eq, %in, %at : index
    %v = tensor.extract %a[%in, %j] : tensor<3x2xi32>
    %r = arith.select %isOwn, %v, %zero : i32
    tensor.yield %r : i32
  } : tensor<1x2xi32>
  %sum = spmd.all_reduce %own sum <@m, {"x"}> : tensor<1x2xi32>
  return %sum : tensor<1x2xi32>
}
// The last row of each device is that of no index.
// CHECK: @row_wrong: refused
func.func @row_wrong(%a: tensor<3x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %x = spmd.device_coordinate @m "x" : index
  %own = tensor.generate {
  ^bb0(%n: index, %j: index):
    %c0 = arith.constant 0 : index
    %last = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %begin = arith.muli %x, %c3 : index
    %at = arith.subi %k, %begin : index
    %low = arith.maxsi %at, %c0 : index
    %in = arith.minsi %low, %last : index
    %isOwn = arith.cmpi eq, %in, %at : index
    %v = tensor.extract %a[%in, %j] : tensor<3x2xi32>
    %r = arith.select %isOwn, %v, %zero : i32
    tensor.yield %r : i32
  } : tensor<1x2xi32>
  %sum = spmd.all_reduce %own sum <@m, {"x"}> : tensor<1x2xi32>
  return %sum : tensor<1x2xi32>
}
// Right numbers, but a device reads beyond its rows where it does not have the row.
// CHECK: @row_beyond: not decided
func.func @row_beyond(%a: tensor<3x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %i: tensor<i32>) -> tensor<1x2xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %x = spmd.device_coordinate @m "x" : index
  %own = tensor.generate {
  ^bb0(%n: index, %j: index):
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %begin = arith.muli %x, %c3 : index
    %at = arith.subi %k, %begin : index
    %isOwn = arith.cmpi ult, %at, %c3 : index
    %v = tensor.extract %a[%at, %j] : tensor<3x2xi32>
    %r = arith.select %isOwn, %v, %zero : i32
    tensor.yield %r : i32
  } : tensor<1x2xi32>
  %sum = spmd.all_reduce %own sum <@m, {"x"}> : tensor<1x2xi32>
  return %sum : tensor<1x2xi32>
}
// Three elements are written at an index that data give: one after the other.
// CHECK: @written: proven
func.func @written(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %c1 = arith.constant 1 : index
  %next = arith.addi %k, %c1 : index
  %b0 = tensor.extract_slice %b[0] [1] [1] : tensor<3xi32> to tensor<1xi32>
  %b1 = tensor.extract_slice %b[1] [2] [1] : tensor<3xi32> to tensor<2xi32>
  %0 = tensor.insert_slice %b1 into %a[%next] [2] [1] : tensor<2xi32> into tensor<5xi32>
  %1 = tensor.insert_slice %b0 into %0[%k] [1] [1] : tensor<1xi32> into tensor<5xi32>
  return %1 : tensor<5xi32>
}
// The first of them over the second.
// CHECK: @written_wrong: refused
func.func @written_wrong(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %c1 = arith.constant 1 : index
  %next = arith.addi %k, %c1 : index
  %b0 = tensor.extract_slice %b[0] [1] [1] : tensor<3xi32> to tensor<1xi32>
  %b1 = tensor.extract_slice %b[1] [2] [1] : tensor<3xi32> to tensor<2xi32>
  %0 = tensor.insert_slice %b1 into %a[%next] [2] [1] : tensor<2xi32> into tensor<5xi32>
  %1 = tensor.insert_slice %b0 into %0[%next] [1] [1] : tensor<1xi32> into tensor<5xi32>
  return %1 : tensor<5xi32>
}
// The unsharded program writes only where the index is less than two, so that it may be beyond the tensor here.
// CHECK: @written_beyond: not decided
func.func @written_beyond(%a: tensor<5xi32>, %b: tensor<3xi32>, %i: tensor<i32>) -> tensor<5xi32> {
  %e = tensor.extract %i[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %c2 = arith.constant 2 : index
  %isFew = arith.cmpi slt, %k, %c2 : index
  %w = tensor.insert_slice %b into %a[%k] [3] [1] : tensor<3xi32> into tensor<5xi32>
  %r = arith.select %isFew, %w, %a : tensor<5xi32>
  return %r : tensor<5xi32>
}
// Integers: what is subtracted is a term of the sum, and constants are one.
// CHECK: @subtracted: proven
func.func @subtracted(%a: tensor<4xi32>, %b: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<4xi32>, tensor<i32>) outs(%e : tensor<4xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %c3 = arith.constant 3 : i32
    %c2 = arith.constant 2 : i32
    %c5 = arith.constant 5 : i32
    %1 = arith.addi %x, %c2 : i32
    %2 = arith.muli %1, %c3 : i32
    %3 = arith.muli %y, %c3 : i32
    %4 = arith.subi %2, %3 : i32
    %c1 = arith.constant 1 : i32
    %5 = arith.addi %4, %c1 : i32
    linalg.yield %5 : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// A size that data give, within bounds that the program computes: it is each of 0 to 4.
// CHECK: @sized: proven
// CHECK: 5 x size or index that data give, for each of its values
func.func @sized(%a: tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %low = affine.max affine_map<()[s0] -> (0, s0)>()[%k]
  %m = affine.min affine_map<()[s0] -> (4, s0)>()[%low]
  %r = tensor.generate {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : i32
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %sum = arith.addi %i, %c3 : index
    %at = arith.remui %sum, %c4 : index
    %isIn = arith.cmpi slt, %at, %m : index
    %v = tensor.extract %a[%at] : tensor<4xi32>
    %w = arith.select %isIn, %v, %c7 : i32
    tensor.yield %w : i32
  } : tensor<4xi32>
  return %r : tensor<4xi32>
}
// One element more than the size.
// CHECK: @sized_wrong: refused
func.func @sized_wrong(%a: tensor<4xi32>, %n: tensor<i32>) -> tensor<4xi32> {
  %e = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %e : i32 to index
  %low = affine.max affine_map<()[s0] -> (0, s0)>()[%k]
  %m = affine.min affine_map<()[s0] -> (4, s0)>()[%low]
  %r = tensor.generate {
  ^bb0(%i: index):
    %c7 = arith.constant 7 : i32
    %c4 = arith.constant 4 : index
    %c3 = arith.constant 3 : index
    %sum = arith.addi %i, %c3 : index
    %at = arith.remui %sum, %c4 : index
    %isIn = arith.cmpi sle, %at, %m : index
    %v = tensor.extract %a[%at] : tensor<4xi32>
    %w = arith.select %isIn, %v, %c7 : i32
    tensor.yield %w : i32
  } : tensor<4xi32>
  return %r : tensor<4xi32>
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
// A loop of step 0 does not end.
// CHECK: @stepped: refused
// ERR: note: for the arguments of seed 0 it is undefined: a loop of step 0
func.func @stepped(%a: tensor<4xi32>, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c0 iter_args(%b = %a) -> tensor<4xi32> {
    %1 = arith.addi %b, %a : tensor<4xi32>
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}
// Another first value, which 32 iterations shift out: that is seen with few of them, as in the range of the inputs.
// CHECK: @started: refused
func.func @started(%a: tensor<2xi32> {spmd.range = [1, 9]}, %k: i32 {spmd.range = [40, 44]}) -> tensor<2xi32> {
  %c45 = arith.constant 45 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1> : tensor<2xi32>
  %r:2 = scf.while (%i = %k, %b = %one) : (i32, tensor<2xi32>) -> (i32, tensor<2xi32>) {
    %isMore = arith.cmpi slt, %i, %c45 : i32
    scf.condition(%isMore) %i, %b : i32, tensor<2xi32>
  } do {
  ^bb0(%i: i32, %b: tensor<2xi32>):
    %1 = arith.addi %b, %b : tensor<2xi32>
    %2 = arith.addi %1, %a : tensor<2xi32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %2 : i32, tensor<2xi32>
  }
  return %r#1 : tensor<2xi32>
}
