// Slices, paddings and joints of cut dims.
// REQUIRES: shard-compile, shard-run
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest

spmd.mesh @m = <["x"=4]>
spmd.mesh @g = <["x"=2, "y"=3]>

// Neighbours in a sequence: one row moves.
// CHECK-LABEL: func.func @differences
// CHECK-COUNT-1: spmd.halo_exchange
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @differences(%x: tensor<32x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]}) -> tensor<31x6xi32> {
  %a = tensor.extract_slice %x[0, 0] [31, 6] [1, 1] : tensor<32x6xi32> to tensor<31x6xi32>
  %b = tensor.extract_slice %x[1, 0] [31, 6] [1, 1] : tensor<32x6xi32> to tensor<31x6xi32>
  %c = arith.subi %a, %b : tensor<31x6xi32>
  return %c : tensor<31x6xi32>
}

// CHECK-LABEL: func.func @strided_slice
// CHECK: spmd.halo_exchange {{.*}} steps = [12] offsets = [2] {{.*}} -> tensor<10x6xi32>
// CHECK: tensor.extract_slice {{.*}}[0, 0] [4, 6] [3, 1]
func.func @strided_slice(%x: tensor<50x6xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>, spmd.range = [-99, 99]}) -> tensor<16x6xi32> {
  %y = spmd.with_sharding_constraint %x <@m, [{"x"}, {}]> : tensor<50x6xi32>
  %a = tensor.extract_slice %y[2, 0] [16, 6] [3, 1] : tensor<50x6xi32> to tensor<16x6xi32>
  return %a : tensor<16x6xi32>
}

// Shards on both dims, rows are taken, columns are padded.
// CHECK-LABEL: func.func @slice_and_pad
func.func @slice_and_pad(%x: tensor<12x12xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<11x17xi32> {
  %c = arith.constant -5 : i32
  %a = tensor.extract_slice %x[1, 0] [11, 12] [1, 1] : tensor<12x12xi32> to tensor<11x12xi32>
  %p = tensor.pad %a low[0, 2] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<11x12xi32> to tensor<11x17xi32>
  return %p : tensor<11x17xi32>
}

// A part of a larger tensor is overwritten, where it was.
// CHECK-LABEL: func.func @insert
// CHECK: spmd.halo_exchange
// CHECK-NOT: spmd.all_gather
func.func @insert(%x: tensor<16x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                  %y: tensor<9x4xi32> {spmd.sharding = #spmd.sharding<@m, [{?}, {?}]>, spmd.range = [100, 199]}) -> tensor<16x6xi32> {
  %s = spmd.with_sharding_constraint %y <@m, [{"x"}, {}]> : tensor<9x4xi32>
  %r = tensor.insert_slice %s into %x[3, 1] [9, 4] [1, 1] : tensor<9x4xi32> into tensor<16x6xi32>
  return %r : tensor<16x6xi32>
}

// One place of a cut dim, known when the program runs: the shard that has it writes
// it, nothing moves.
// CHECK-LABEL: func.func @update_cache
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @update_cache(%cache: tensor<2x16x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-99, 99]},
                        %new: tensor<2x3xi32> {spmd.range = [100, 199]}, %at: tensor<i32> {spmd.range = [0, 16]})
    -> (tensor<2x16x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) {
  %i = tensor.extract %at[] : tensor<i32>
  %p = arith.index_cast %i : i32 to index
  %r = tensor.insert_slice %new into %cache[0, %p, 0] [2, 1, 3] [1, 1, 1] : tensor<2x3xi32> into tensor<2x16x3xi32>
  return %r : tensor<2x16x3xi32>
}

// CHECK-LABEL: func.func @append
// CHECK: spmd.halo_exchange
func.func @append(%past: tensor<15x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                  %new: tensor<1x4xi32> {spmd.range = [100, 199]}) -> tensor<16x4xi32> {
  %r = tensor.concat dim(0) %past, %new : (tensor<15x4xi32>, tensor<1x4xi32>) -> tensor<16x4xi32>
  return %r : tensor<16x4xi32>
}

// CHECK-LABEL: func.func @join_three
func.func @join_three(%a: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [-99, 99]},
                      %b: tensor<7x4xi32> {spmd.range = [100, 199]},
                      %c: tensor<11x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [200, 299]}) -> tensor<30x4xi32> {
  %r = tensor.concat dim(0) %a, %b, %c : (tensor<12x4xi32>, tensor<7x4xi32>, tensor<11x4xi32>) -> tensor<30x4xi32>
  return %r : tensor<30x4xi32>
}

// A fused projection whose weight is open on the fused dim: each third is cut.
// CHECK-LABEL: func.func @fused_projection
// CHECK-SAME: spmd.sharding = #spmd.sharding<@m, [{}, {3, "x"}]>
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: spmd.all_reduce
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @fused_projection(%x: tensor<6x8xi32> {spmd.range = [-9, 9]}, %w: tensor<8x48xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {?}]>, spmd.range = [-9, 9]},
                            %o: tensor<16x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-9, 9]}) -> (tensor<6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x48xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<6x48xi32>) -> tensor<6x48xi32>
  %y = linalg.matmul ins(%x, %w : tensor<6x8xi32>, tensor<8x48xi32>) outs(%f : tensor<6x48xi32>) -> tensor<6x48xi32>
  %q = tensor.extract_slice %y[0, 0] [6, 16] [1, 1] : tensor<6x48xi32> to tensor<6x16xi32>
  %k = tensor.extract_slice %y[0, 16] [6, 16] [1, 1] : tensor<6x48xi32> to tensor<6x16xi32>
  %v = tensor.extract_slice %y[0, 32] [6, 16] [1, 1] : tensor<6x48xi32> to tensor<6x16xi32>
  %s = arith.muli %q, %k : tensor<6x16xi32>
  %t = arith.addi %s, %v : tensor<6x16xi32>
  %e2 = tensor.empty() : tensor<6x8xi32>
  %f2 = linalg.fill ins(%c : i32) outs(%e2 : tensor<6x8xi32>) -> tensor<6x8xi32>
  %r = linalg.matmul ins(%t, %o : tensor<6x16xi32>, tensor<16x8xi32>) outs(%f2 : tensor<6x8xi32>) -> tensor<6x8xi32>
  return %r : tensor<6x8xi32>
}

// Equal parts: cut like the dim that they are parts of.
// CHECK-LABEL: func.func @swap_halves
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @swap_halves(%x: tensor<5x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {2, "x"}]>, spmd.range = [-99, 99]}) -> tensor<5x16xi32> {
  %a = tensor.extract_slice %x[0, 0] [5, 8] [1, 1] : tensor<5x16xi32> to tensor<5x8xi32>
  %b = tensor.extract_slice %x[0, 8] [5, 8] [1, 1] : tensor<5x16xi32> to tensor<5x8xi32>
  %r = tensor.concat dim(1) %b, %a : (tensor<5x8xi32>, tensor<5x8xi32>) -> tensor<5x16xi32>
  return %r : tensor<5x16xi32>
}

// One column on two devices, padded to three on each.
// CHECK-LABEL: func.func @pad_one
// CHECK: spmd.halo_exchange {{.*}} dims = [1] steps = [2] offsets = [-2]
func.func @pad_one(%a: tensor<2x1xi32> {spmd.sharding = #spmd.sharding<@g, [{}, {"x"}]>, spmd.range = [5, 9]}) -> tensor<6x6xi32> {
  %c = arith.constant 3 : i32
  %p = tensor.pad %a low[1, 2] high[3, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<2x1xi32> to tensor<6x6xi32>
  %r = spmd.with_sharding_constraint %p <@g, [{}, {"x"}]> : tensor<6x6xi32>
  return %r : tensor<6x6xi32>
}

spmd.mesh @turned = <["x"=3, "y"=2], device_ids=[5, 0, 3, 1, 4, 2]>
// One column joined with itself behind a dim that is whole.
// CHECK-LABEL: func.func @ones
func.func @ones(%a: tensor<3x1xi64> {spmd.sharding = #spmd.sharding<@turned, [{}, {"x"}]>, spmd.range = [-99, 99]}) -> (tensor<3x2xi64> {spmd.sharding = #spmd.sharding<@turned, [{}, {"x"}]>}) {
  %r = tensor.concat dim(1) %a, %a : (tensor<3x1xi64>, tensor<3x1xi64>) -> tensor<3x2xi64>
  return %r : tensor<3x2xi64>
}

// Two dims cut unevenly, on devices in another order: joined along one, padded along the other.
// CHECK-LABEL: func.func @both
// CHECK-COUNT-3: spmd.halo_exchange
func.func @both(%a: tensor<7x5x4xi32> {spmd.sharding = #spmd.sharding<@turned, [{"y"}, {"x"}, {}]>, spmd.range = [-99, 99]},
                %b: tensor<7x9x4xi32> {spmd.sharding = #spmd.sharding<@turned, [{"y"}, {"x"}, {}]>, spmd.range = [-99, 99]}) -> (tensor<9x14x4xi32> {spmd.sharding = #spmd.sharding<@turned, [{"y"}, {"x"}, {}]>}) {
  %c = arith.constant 77 : i32
  %r = tensor.concat dim(1) %a, %b : (tensor<7x5x4xi32>, tensor<7x9x4xi32>) -> tensor<7x14x4xi32>
  %p = tensor.pad %r low[1, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : i32
  } : tensor<7x14x4xi32> to tensor<9x14x4xi32>
  return %p : tensor<9x14x4xi32>
}

// What a strided convolution's gradient is dilated by: every second place, and every
// third of a padded dim, uneven. 8 elements over 4 shards are written to 4 places each, by the device that has them.
// CHECK-LABEL: func.func @dilated
// CHECK-COUNT-1: spmd.halo_exchange
// CHECK-NOT: spmd.{{all|halo|exchange|reduce}}
// CHECK: return
func.func @dilated(%g: tensor<8x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [1, 99]},
                   %h: tensor<9x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>, spmd.range = [1, 99]}) -> (tensor<16x5xi32>, tensor<30x2xi32>) {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16x5xi32>
  %z = linalg.fill ins(%c : i32) outs(%e : tensor<16x5xi32>) -> tensor<16x5xi32>
  %0 = tensor.insert_slice %g into %z[0, 0] [8, 3] [2, 2] : tensor<8x3xi32> into tensor<16x5xi32>
  %f = tensor.empty() : tensor<30x2xi32>
  %y = linalg.fill ins(%c : i32) outs(%f : tensor<30x2xi32>) -> tensor<30x2xi32>
  %1 = tensor.insert_slice %h into %y[4, 0] [9, 2] [3, 1] : tensor<9x2xi32> into tensor<30x2xi32>
  return %0, %1 : tensor<16x5xi32>, tensor<30x2xi32>
}

// Two dims, one strided, one not, into what is there already.
// CHECK-LABEL: func.func @dilated_both
// CHECK-NOT: spmd.{{all|exchange|reduce}}
// CHECK: return
func.func @dilated_both(%g: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}]>, spmd.range = [1, 99]},
                        %d: tensor<13x9xi32> {spmd.sharding = #spmd.sharding<@g, [{"x"}, {"y"}]>, spmd.range = [100, 199]}) -> tensor<13x9xi32> {
  %0 = tensor.insert_slice %g into %d[0, 2] [5, 7] [3, 1] : tensor<5x7xi32> into tensor<13x9xi32>
  return %0 : tensor<13x9xi32>
}
