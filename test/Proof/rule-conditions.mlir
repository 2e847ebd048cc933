// For rules of the proof (docs/internals/Proof.md) a partitioned program in which the rule's condition does not hold, and
// which computes something else. None is proven, neither by rules nor element by element. For other rules such programs are in
// unsound.mlir, unsound-values.mlir, refused.mlir, joined-loops.mlir, selections.mlir, device-moves.mlir and sizes.mlir.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir 2>/dev/null | FileCheck %s --implicit-check-not=": proven"
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %s --implicit-check-not=": proven"

//--- global.mlir
func.func @two_partial_sums(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> tensor<6xf32> {
  %z = arith.constant dense<-0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = linalg.reduce { arith.addf } ins(%b : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %2 = arith.mulf %0, %1 : tensor<6xf32>
  return %2 : tensor<6xf32>
}
func.func @factor_of_each(%a: tensor<4x2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %z = arith.constant dense<-0.0> : tensor<2xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  %1 = arith.mulf %0, %b : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @kept_beside_ones(%v: tensor<6xf32>) -> tensor<6xf32> {
  %0 = math.absf %v : tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func @multiplied(%v: tensor<6xi32>) -> tensor<6xi32> {
  %0 = math.absi %v : tensor<6xi32>
  return %0 : tensor<6xi32>
}
func.func @rounded_in_between(%a: tensor<4x6xf32>) -> tensor<6xf16> {
  %z = arith.constant dense<-0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<4x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = arith.truncf %0 : tensor<6xf32> to tensor<6xf16>
  %2 = math.absf %1 : tensor<6xf16>
  return %2 : tensor<6xf16>
}
func.func @widened_integers(%a: tensor<4x6xi8>) -> tensor<6xi32> {
  %z = arith.constant dense<0> : tensor<6xi8>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<4x6xi8>) outs(%z : tensor<6xi8>) dimensions = [0]
  %1 = arith.extsi %0 : tensor<6xi8> to tensor<6xi32>
  return %1 : tensor<6xi32>
}
func.func @other_trips(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> (tensor<4xf32>) {
    %1 = arith.addf %c, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func @carried_in_another_layout(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> (tensor<4xf32>) {
    %1 = math.tanh %c : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
func.func @columns_as_rows(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = math.absf %x : tensor<2x3xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  return %1 : tensor<6xf32>
}
func.func @concatenated_shards(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %1 = math.absf %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @not_in_a_row(%v: tensor<8xf32>) -> tensor<8xf32> {
  %0 = math.absf %v : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @summed_elsewhere(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = spmd.manual_computation (%a, %b) in [<@m, [{"x"}]>, <@m, [{"x"}]>] out [<@m, [{"x"}]>] axes ["x"] (%l: tensor<2xf32>, %r: tensor<2xf32>) {
    %1 = spmd.all_reduce %l sum <@m, {"x"}> : tensor<2xf32>
    %2 = arith.addf %1, %r : tensor<2xf32>
    spmd.return %2 : tensor<2xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
spmd.mesh @m = <["x"=2, "y"=2]>

//--- local.mlir
spmd.mesh @m = <["x"=2, "y"=2]>

// Products of the parts of both sums.
// CHECK: @two_partial_sums: {{refused|not decided}}
func.func @two_partial_sums(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf32> {
  %z = arith.constant dense<-0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = linalg.reduce { arith.addf } ins(%b : tensor<2x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %2 = arith.mulf %0, %1 : tensor<6xf32>
  %3 = spmd.all_reduce %2 sum <@m, {"x"}> : tensor<6xf32>
  return %3 : tensor<6xf32>
}
// The devices that have parts of one sum multiply them by different elements.
// CHECK: @factor_of_each: {{refused|not decided}}
func.func @factor_of_each(%a: tensor<2x2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<1xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<2xf32> {
  %z = arith.constant dense<-0.0> : tensor<2xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<2xf32>
  %scalar = tensor.collapse_shape %b [] : tensor<1xf32> into tensor<f32>
  %factor = linalg.broadcast ins(%scalar : tensor<f32>) outs(%e : tensor<2xf32>) dimensions = [0]
  %1 = arith.mulf %0, %factor : tensor<2xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<2xf32>
  return %2 : tensor<2xf32>
}
// The other device adds ones.
// CHECK: @kept_beside_ones: {{refused|not decided}}
func.func @kept_beside_ones(%v: tensor<6xf32>) -> tensor<6xf32> {
  %0 = math.absf %v : tensor<6xf32>
  %i = spmd.device_coordinate @m "x" : index
  %c0 = arith.constant 0 : index
  %first = arith.cmpi eq, %i, %c0 : index
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %1 = arith.select %first, %0, %one : tensor<6xf32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<6xf32>
  return %2 : tensor<6xf32>
}
// A product counts each factor.
// CHECK: @multiplied: {{refused|not decided}}
func.func @multiplied(%v: tensor<6xi32>) -> tensor<6xi32> {
  %0 = math.absi %v : tensor<6xi32>
  %1 = spmd.all_reduce %0 prod <@m, {"x"}> : tensor<6xi32>
  return %1 : tensor<6xi32>
}
// The magnitude of a sum is not the sum of magnitudes, in whatever type.
// CHECK: @rounded_in_between: {{refused|not decided}}
func.func @rounded_in_between(%a: tensor<2x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xf16> {
  %z = arith.constant dense<-0.0> : tensor<6xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<2x6xf32>) outs(%z : tensor<6xf32>) dimensions = [0]
  %1 = arith.truncf %0 : tensor<6xf32> to tensor<6xf16>
  %2 = math.absf %1 : tensor<6xf16>
  %3 = spmd.all_reduce %2 sum <@m, {"x"}> : tensor<6xf16>
  return %3 : tensor<6xf16>
}
// 100 and 100 are -56 in 8 bits, and 200 in 32.
// CHECK: @widened_integers: {{refused|not decided}}
func.func @widened_integers(%a: tensor<2x6xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xi32> {
  %z = arith.constant dense<0> : tensor<6xi8>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<2x6xi8>) outs(%z : tensor<6xi8>) dimensions = [0]
  %1 = arith.extsi %0 : tensor<6xi8> to tensor<6xi32>
  %2 = spmd.all_reduce %1 sum <@m, {"x"}> : tensor<6xi32>
  return %2 : tensor<6xi32>
}
// One iteration more.
// CHECK: @other_trips: {{refused|not decided}}
func.func @other_trips(%x: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%c = %x) -> (tensor<2xf32>) {
    %1 = arith.addf %c, %x : tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
// The carried value is a shard along x before the first iteration, and one along y after it.
// CHECK: @carried_in_another_layout: {{refused|not decided}}
func.func @carried_in_another_layout(%x: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> (tensor<2xf32>) {
    %1 = math.tanh %c : tensor<2xf32>
    %2 = spmd.all_gather %1 <@m, [{"x"}]> : tensor<2xf32> -> tensor<4xf32>
    %3 = spmd.all_slice %2 <@m, [{"y"}]> : tensor<4xf32> -> tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
// The elements in the order of columns.
// CHECK: @columns_as_rows: {{refused|not decided}}
func.func @columns_as_rows(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %2 = math.absf %1 : tensor<6xf32>
  return %2 : tensor<6xf32>
}
// Each device has a half of %a and one of %b: no shard of both, one after the other.
// CHECK: @concatenated_shards: {{refused|not decided}}
func.func @concatenated_shards(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = math.absf %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
// Element 0 is between the windows, in the place of element 4.
// CHECK: @not_in_a_row: {{refused|not decided}}
func.func @not_in_a_row(%v: tensor<8xf32>) -> tensor<8xf32> {
  %a = tensor.extract_slice %v[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %v[4] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %c = tensor.extract_slice %v[0] [1] [1] : tensor<8xf32> to tensor<1xf32>
  %0 = tensor.concat dim(0) %a, %c, %b : (tensor<4xf32>, tensor<1xf32>, tensor<3xf32>) -> tensor<8xf32>
  %1 = math.absf %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// What is summed is the other value.
// CHECK: @summed_elsewhere: {{refused|not decided}}
func.func @summed_elsewhere(%a: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %b: tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<2xf32>
  %2 = arith.addf %a, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
