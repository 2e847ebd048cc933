// Ops that both programs have in other forms: folded, lowered, with loops in an order, with sizes that only the run
// knows, at indices that data give.
// RUN: split-file %s %t
// RUN: shard-opt %t/global.mlir --spmd-default-pipeline -o %t/local.mlir
// RUN: shard-prove %t/global.mlir %t/local.mlir | FileCheck %t/global.mlir
// RUN: not shard-prove %t/table.mlir %t/wrong.mlir 2>&1 | FileCheck %t/wrong.mlir

//--- global.mlir
spmd.mesh @m = <["x"=2, "y"=2]>

// CHECK: @constants: proven
func.func @constants(%a: tensor<4x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x2xi32> {
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi32>
  %shape = arith.constant dense<[6, 2]> : tensor<2xi64>
  %0 = arith.addi %a, %c : tensor<4x3xi32>
  %1 = tensor.reshape %0(%shape) : (tensor<4x3xi32>, tensor<2xi64>) -> tensor<6x2xi32>
  return %1 : tensor<6x2xi32>
}

// CHECK: @lowered: proven
func.func @lowered(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<4x1xf32> {
  %0 = tosa.tanh %a : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = tosa.reduce_sum %0 {axis = 1 : i32} : (tensor<4x6xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

func.func private @twice(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = arith.addf %a, %a : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
// CHECK: @called: proven
func.func @called(%a: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<4x6xf32> {
  %0 = call @twice(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = call @twice(%0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// CHECK: @sizes: proven
func.func @sizes(%a: tensor<8x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %n: tensor<i32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %i = tensor.extract %n[] : tensor<i32>
  %j = arith.index_cast %i : i32 to index
  %low = arith.maxsi %j, %c0 : index
  %count = arith.minsi %low, %c8 : index
  %first = tensor.extract_slice %a[0, 0] [%count, 4] [1, 1] : tensor<8x4xf32> to tensor<?x4xf32>
  %e = tensor.empty(%count) : tensor<?x4xf32>
  %sum = linalg.add ins(%first, %first : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %0 = tensor.insert_slice %sum into %a[0, 0] [%count, 4] [1, 1] : tensor<?x4xf32> into tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK: @loops: proven
func.func @loops(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}, %which: tensor<i32>) -> (tensor<4x6xi32>, tensor<4x6xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<4x6xi32>
  %rows = scf.forall (%i) in (4) shared_outs(%out = %e) -> (tensor<4x6xi32>) {
    %row = tensor.extract_slice %a[%i, 0] [1, 6] [1, 1] : tensor<4x6xi32> to tensor<1x6xi32>
    %sum = arith.addi %row, %row : tensor<1x6xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %out[%i, 0] [1, 6] [1, 1] : tensor<1x6xi32> into tensor<4x6xi32>
    }
  }
  %w = tensor.extract %which[] : tensor<i32>
  %k = arith.index_cast %w : i32 to index
  %chosen = scf.index_switch %k -> tensor<4x6xi32>
  case 0 {
    %0 = arith.muli %rows, %a : tensor<4x6xi32>
    scf.yield %0 : tensor<4x6xi32>
  }
  default {
    scf.yield %a : tensor<4x6xi32>
  }
  %counted:2 = scf.while (%v = %chosen, %n = %c3) : (tensor<4x6xi32>, index) -> (tensor<4x6xi32>, index) {
    %more = arith.cmpi ugt, %n, %c0 : index
    scf.condition(%more) %v, %n : tensor<4x6xi32>, index
  } do {
  ^bb0(%v: tensor<4x6xi32>, %n: index):
    %next = arith.addi %v, %a : tensor<4x6xi32>
    %less = arith.subi %n, %c1 : index
    scf.yield %next, %less : tensor<4x6xi32>, index
  }
  return %rows, %counted#0 : tensor<4x6xi32>, tensor<4x6xi32>
}

// CHECK: @manual: proven
func.func @manual(%a: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  %0 = spmd.manual_computation (%a) in [<@m, [{"x"}, {?}]>] out [<@m, [{"x"}, {?}]>] axes ["x"] (%v: tensor<4x6xf32>) {
    %i = spmd.device_coordinate @m "x" : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %all = tensor.splat %f : tensor<4x6xf32>
    %sum = spmd.all_reduce %v sum <@m, {"x"}> : tensor<4x6xf32>
    %1 = arith.addf %sum, %all : tensor<4x6xf32>
    spmd.return %1 : tensor<4x6xf32>
  } : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %1 = math.tanh %0 : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// Each device adds the rows of the table that it has.
// CHECK: @rows: proven
func.func @rows(%table: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %ids: tensor<5xi32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<8x6xf32>
    linalg.yield %v : f32
  } -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

//--- table.mlir
func.func @rows(%table: tensor<8x6xf32>, %ids: tensor<5xi32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %row = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<8x6xf32>
    linalg.yield %v : f32
  } -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

//--- wrong.mlir
// The rows of one device begin where those of the other end: 5 x in place of 4 x.
// CHECK: error: @rows is refused at arith.constant: gives another value than the one that linalg.generic needs
// CHECK: note: linalg.generic: reads a sharded value at computed indices
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @rows(%table: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %ids: tensor<5xi32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %x = spmd.device_coordinate @m "x" : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %none = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<5xi32>) outs(%e : tensor<5x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %global = arith.index_cast %id : i32 to index
    %first = arith.muli %x, %c5 : index
    %row = arith.subi %global, %first : index
    %has = arith.cmpi ult, %row, %c4 : index
    %at = arith.select %has, %row, %c0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<4x6xf32>
    %kept = arith.select %has, %v, %none : f32
    linalg.yield %kept : f32
  } -> tensor<5x6xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<5x6xf32>
  return %1 : tensor<5x6xf32>
}
