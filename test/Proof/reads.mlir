// Reads of captured tensors at indices of loops and ranks are inside of the local tensor in all lanes, those of padding
// too, or the op is not proven.
// RUN: split-file %s %t
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>&1 | FileCheck %t/local.mlir
// RUN: not shard-prove %t/global.mlir %t/local.mlir --by-elements=false 2>/dev/null | FileCheck %t/local.mlir --check-prefix=OUT

//--- global.mlir
#i = affine_map<(i) -> (i)>
func.func @padding(%a: tensor<5xi32>, %t: tensor<5xi32>) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 0 : index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @guarded(%a: tensor<5xi32>, %t: tensor<5xi32>) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 0 : index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @guarded_by_less(%a: tensor<5xi32>, %t: tensor<5xi32>) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 0 : index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @shard(%a: tensor<5xi32>, %t: tensor<5xi32>) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 0 : index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @next(%a: tensor<15xi32>, %t: tensor<16xi32>) -> tensor<15xi32> {
  %e = tensor.empty() : tensor<15xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<15xi32>) outs(%e : tensor<15xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = linalg.index 0 : index
    %one = arith.constant 1 : index
    %k = arith.addi %j, %one : index
    %read = tensor.extract %t[%k] : tensor<16xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<15xi32>
  return %0 : tensor<15xi32>
}
func.func @slice(%a: tensor<5xi32>) -> tensor<5xi32> {
  %0 = arith.addi %a, %a : tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @constant(%ids: tensor<8xi32>) -> tensor<8xi32> {
  %t = arith.constant dense<3> : tensor<20xi32>
  %e = tensor.empty() : tensor<8xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = arith.index_cast %in : i32 to index
    %read = tensor.extract %t[%j] : tensor<20xi32>
    linalg.yield %read : i32
  } -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

//--- local.mlir
spmd.mesh @m = <["x"=4]>
#i = affine_map<(i) -> (i)>
// The last device reads elements 6 and 7 of 5.
// CHECK: error: @padding is refused at linalg.generic: reads at 2 x + i0, which is not inside of the local tensor of 5 elements in all lanes
// OUT: @padding: refused (trap)
func.func @padding(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<5xi32>) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %two = arith.constant 2 : index
    %first = arith.muli %x, %two : index
    %i = linalg.index 0 : index
    %j = arith.addi %first, %i : index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// The read does not run in padding.
// OUT: @guarded: proven
func.func @guarded(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<5xi32>) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %two = arith.constant 2 : index
    %five = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %first = arith.muli %x, %two : index
    %i = linalg.index 0 : index
    %j = arith.addi %first, %i : index
    %isInside = arith.cmpi slt, %j, %five : index
    %read = scf.if %isInside -> i32 {
      %element = tensor.extract %t[%j] : tensor<5xi32>
      scf.yield %element : i32
    } else {
      scf.yield %zero : i32
    }
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// A guard that leaves one lane of padding.
// CHECK: error: @guarded_by_less is not decided at arith.cmpi: gives another value than the one that linalg.generic needs
// CHECK: note: linalg.generic: reads at 2 x + i0, which is not inside of the local tensor of 5 elements in all lanes
// CHECK: note: all results are right with predicate = slt
// OUT: @guarded_by_less: not decided (trap)
func.func @guarded_by_less(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<5xi32>) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %two = arith.constant 2 : index
    %five = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %first = arith.muli %x, %two : index
    %i = linalg.index 0 : index
    %j = arith.addi %first, %i : index
    %isInside = arith.cmpi sle, %j, %five : index
    %read = scf.if %isInside -> i32 {
      %element = tensor.extract %t[%j] : tensor<5xi32>
      scf.yield %element : i32
    } else {
      scf.yield %zero : i32
    }
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// The shard has the padding, too.
// OUT: @shard: proven
func.func @shard(%a: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %i = linalg.index 0 : index
    %read = tensor.extract %t[%i] : tensor<2xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// Element 4 of each shard is the first one of the next device.
// CHECK: error: @next is refused at linalg.generic: reads at i0 + 1, which is not inside of the local tensor of 4 elements in all lanes
// OUT: @next: refused (trap)
func.func @next(%a: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %t: tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %e = tensor.empty() : tensor<4xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %i = linalg.index 0 : index
    %one = arith.constant 1 : index
    %k = arith.addi %i, %one : index
    %read = tensor.extract %t[%k] : tensor<4xi32>
    %sum = arith.addi %in, %read : i32
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
// CHECK: error: @slice is refused at tensor.extract_slice: reads at 2 x + i0, which is not inside of the local tensor of 5 elements in all lanes
// OUT: @slice: refused (trap)
func.func @slice(%a: tensor<5xi32>) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %x = spmd.device_coordinate @m "x" : index
  %two = arith.constant 2 : index
  %first = arith.muli %x, %two : index
  %0 = tensor.extract_slice %a[%first] [2] [1] : tensor<5xi32> to tensor<2xi32>
  %1 = arith.addi %0, %0 : tensor<2xi32>
  return %1 : tensor<2xi32>
}
// Its elements are those of the unsharded constant, but there are fewer.
// CHECK: error: @constant is not decided at linalg.generic: reads one of equal elements at an index that may be beyond the local tensor
// OUT: @constant: not decided (lookup)
func.func @constant(%ids: tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %t = arith.constant dense<3> : tensor<5xi32>
  %e = tensor.empty() : tensor<2xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%ids : tensor<2xi32>) outs(%e : tensor<2xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = arith.index_cast %in : i32 to index
    %read = tensor.extract %t[%j] : tensor<5xi32>
    linalg.yield %read : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
