// Bodies that read captured tensors at places along a loop: joins, reversals and
// stencils as frameworks lower them.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--plan=propagation --compile-option=--fill-padding=lowest

spmd.mesh @m = <["x"=4]>

// CHECK-LABEL: func.func @join
// CHECK-COUNT-2: spmd.halo_exchange
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: return
func.func @join(%a: tensor<9x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                %b: tensor<7x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [100, 199]}) -> tensor<16x4xi32> {
  %e = tensor.empty() : tensor<16x4xi32>
  %c9 = arith.constant 9 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x4xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %first = arith.cmpi ult, %i, %c9 : index
    %v = scf.if %first -> i32 {
      %x = tensor.extract %a[%i, %j] : tensor<9x4xi32>
      scf.yield %x : i32
    } else {
      %k = arith.subi %i, %c9 : index
      %x = tensor.extract %b[%k, %j] : tensor<7x4xi32>
      scf.yield %x : i32
    }
    linalg.yield %v : i32
  } -> tensor<16x4xi32>
  return %r : tensor<16x4xi32>
}

// CHECK-LABEL: func.func @reversed
// CHECK: spmd.halo_exchange {{.*}} steps = [-4] offsets = [12]
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @reversed(%a: tensor<16x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> tensor<16x4xi32> {
  %e = tensor.empty() : tensor<16x4xi32>
  %c15 = arith.constant 15 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x4xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c15, %i : index
    %x = tensor.extract %a[%k, %j] : tensor<16x4xi32>
    linalg.yield %x : i32
  } -> tensor<16x4xi32>
  return %r : tensor<16x4xi32>
}

// Three neighbours of each place, one exchange of one row on each side; 11 rows are
// cut unevenly, as 13 are.
// CHECK-LABEL: func.func @stencil
// CHECK-COUNT-1: spmd.halo_exchange {{.*}} steps = [3] offsets = [0] {{.*}} -> tensor<5x4xi32>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @stencil(%a: tensor<13x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> tensor<11x4xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %k = arith.addi %i, %c1 : index
    %l = arith.addi %i, %c2 : index
    %x = tensor.extract %a[%i, %j] : tensor<13x4xi32>
    %y = tensor.extract %a[%k, %j] : tensor<13x4xi32>
    %z = tensor.extract %a[%l, %j] : tensor<13x4xi32>
    %s = arith.addi %x, %z : i32
    %d = arith.subi %s, %y : i32
    tensor.yield %d : i32
  } : tensor<11x4xi32>
  return %r : tensor<11x4xi32>
}

// Every other row of a table that no device has in part: read where it stands.
// CHECK-LABEL: func.func @whole_table
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @whole_table(%a: tensor<16x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                       %t: tensor<32xi32> {spmd.sharding = #spmd.sharding<@m, [{}]>, spmd.range = [-99, 99]}) -> tensor<16x4xi32> {
  %e = tensor.empty() : tensor<16x4xi32>
  %c2 = arith.constant 2 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x4xi32>) outs(%e : tensor<16x4xi32>) {
  ^bb0(%in: i32, %out: i32):
    %i = linalg.index 0 : index
    %k = arith.muli %i, %c2 : index
    %x = tensor.extract %t[%k] : tensor<32xi32>
    %s = arith.addi %x, %in : i32
    linalg.yield %s : i32
  } -> tensor<16x4xi32>
  return %r : tensor<16x4xi32>
}

// Backwards through a padding that is no zero.
// CHECK-LABEL: func.func @padded_and_reversed
func.func @padded_and_reversed(%a: tensor<16xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-99, 99]}) -> tensor<18xi32> {
  %c = arith.constant 7 : i32
  %p = tensor.pad %a low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %c : i32
  } : tensor<16xi32> to tensor<18xi32>
  %c17 = arith.constant 17 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %k = arith.subi %c17, %i : index
    %x = tensor.extract %p[%k] : tensor<18xi32>
    tensor.yield %x : i32
  } : tensor<18xi32>
  return %r : tensor<18xi32>
}

// A captured operand whose columns the axis shards, and a result whose rows it shards: the axis moves, no operand is gathered.
// CHECK-LABEL: func.func @stack
// CHECK: spmd.all_to_all {{.*}} <@m, [{}, {"x"}]> to <@m, [{"x"}, {}]>
// CHECK-NOT: spmd.all_gather
// CHECK: return
func.func @stack(%a: tensor<16x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-99, 99]},
                 %b: tensor<16x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [100, 199]})
    -> (tensor<16x2x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) {
  %e = tensor.empty() : tensor<16x2x8xi32>
  %c0 = arith.constant 0 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<16x2x8xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %first = arith.cmpi eq, %j, %c0 : index
    %v = scf.if %first -> i32 {
      %x = tensor.extract %a[%i, %k] : tensor<16x8xi32>
      scf.yield %x : i32
    } else {
      %x = tensor.extract %b[%i, %k] : tensor<16x8xi32>
      scf.yield %x : i32
    }
    linalg.yield %v : i32
  } -> tensor<16x2x8xi32>
  return %r : tensor<16x2x8xi32>
}

// The same with rows in a window of more than one element; more than one operand has rows.
// CHECK-LABEL: func.func @moved_stencil
// CHECK: spmd.exchange {{.*}} <@m, [{}, {"x"}]> to <@m, [{"x"}, {}]>
// CHECK: spmd.halo_exchange
// CHECK-NOT: spmd.all_gather
// CHECK: return
func.func @moved_stencil(%a: tensor<2049x64xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-99, 99]},
                         %b: tensor<2048x64xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [100, 199]},
                         %c: tensor<2048x64xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [100, 199]})
    -> (tensor<2048x64xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<2048x64xi32>
  %c1 = arith.constant 1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%b, %c : tensor<2048x64xi32>, tensor<2048x64xi32>) outs(%e : tensor<2048x64xi32>) {
  ^bb0(%in: i32, %in2: i32, %out: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %next = arith.addi %i, %c1 : index
    %x = tensor.extract %a[%i, %k] : tensor<2049x64xi32>
    %y = tensor.extract %a[%next, %k] : tensor<2049x64xi32>
    %d = arith.subi %y, %x : i32
    %s = arith.muli %d, %in : i32
    %t = arith.addi %s, %in2 : i32
    linalg.yield %t : i32
  } -> tensor<2048x64xi32>
  return %r : tensor<2048x64xi32>
}
