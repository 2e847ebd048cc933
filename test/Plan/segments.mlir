// An argument with segments becomes one per segment; ops along the segments are cloned per
// segment, a slice at their boundaries is the segment, any other use reads the concatenation.
// RUN: shard-opt %s --spmd-split-segments | FileCheck %s
// RUN: shard-opt %s --spmd-split-segments --spmd-propagate | FileCheck %s --check-prefix=UNITS

#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
spmd.mesh @m = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>,
// CHECK-SAME: %[[Q:.*]]: tensor<80x8xf32> {spmd.segment = #spmd.segment<tensor<280x8xf32>, dim = 0, offset = 0, unit = 10, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.weight = "qkv"},
// CHECK-SAME: %[[K:.*]]: tensor<100x8xf32> {spmd.segment = #spmd.segment<tensor<280x8xf32>, dim = 0, offset = 80, unit = 10, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.weight = "qkv"},
// CHECK-SAME: %[[V:.*]]: tensor<100x8xf32> {spmd.segment = #spmd.segment<tensor<280x8xf32>, dim = 0, offset = 180, unit = 10, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.weight = "qkv"},
// CHECK-SAME: %{{.*}}: tensor<4xf32>)
// CHECK: %[[PQ:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[Q]] : {{.*}} -> tensor<4x80xf32>
// CHECK: %[[PK:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[K]] : {{.*}} -> tensor<4x100xf32>
// CHECK: %[[PV:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[V]] : {{.*}} -> tensor<4x100xf32>
// CHECK-NOT: concat
// CHECK: return %[[PQ]], %[[PK]], %[[PV]]
func.func @product(%x: tensor<4x8xf32>, %w: tensor<280x8xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [80, 100, 100], unit = 10>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<4xf32>)
    -> (tensor<4x80xf32>, tensor<4x100xf32>, tensor<4x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x280xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x280xf32>) -> tensor<4x280xf32>
  %p = linalg.contract indexing_maps = [#rows, #columns, #result] ins(%x, %w : tensor<4x8xf32>, tensor<280x8xf32>) outs(%i : tensor<4x280xf32>) -> tensor<4x280xf32>
  %q = tensor.extract_slice %p[0, 0] [4, 80] [1, 1] : tensor<4x280xf32> to tensor<4x80xf32>
  %k = tensor.extract_slice %p[0, 80] [4, 100] [1, 1] : tensor<4x280xf32> to tensor<4x100xf32>
  %v = tensor.extract_slice %p[0, 180] [4, 100] [1, 1] : tensor<4x280xf32> to tensor<4x100xf32>
  return %q, %k, %v : tensor<4x80xf32>, tensor<4x100xf32>, tensor<4x100xf32>
}

// Transposed, with a bias of the same segments, heads as a separate dim, keys and values in one
// slice, and an interval of one segment.
// CHECK-LABEL: func.func @relayed(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[Q:[^:]*]]: tensor<8x8xf32> {{[^%]*}}, %[[K:[^:]*]]: tensor<4x8xf32> {{[^%]*}}, %[[V:[^:]*]]: tensor<4x8xf32> {{[^%]*}}, %[[BQ:[^:]*]]: tensor<8xf32> {{[^%]*}}, %[[BK:[^:]*]]: tensor<4xf32> {{[^%]*}}, %[[BV:[^:]*]]: tensor<4xf32>
// CHECK: %[[TQ:.*]] = linalg.transpose ins(%[[Q]]
// CHECK: %[[TK:.*]] = linalg.transpose ins(%[[K]]
// CHECK: %[[TV:.*]] = linalg.transpose ins(%[[V]]
// CHECK: linalg.matmul ins(%[[X]], %[[TQ]]
// CHECK: linalg.matmul ins(%[[X]], %[[TK]]
// CHECK: linalg.matmul ins(%[[X]], %[[TV]]
// CHECK: linalg.broadcast ins(%[[BQ]]
// CHECK: linalg.broadcast ins(%[[BK]]
// CHECK: linalg.broadcast ins(%[[BV]]
// CHECK: %[[HQ:.*]] = tensor.expand_shape {{.*}} into tensor<4x4x2xf32>
// CHECK: %[[HK:.*]] = tensor.expand_shape {{.*}} into tensor<4x2x2xf32>
// CHECK: %[[HV:.*]] = tensor.expand_shape {{.*}} into tensor<4x2x2xf32>
// CHECK: %[[KV:.*]] = tensor.concat dim(1) %[[HK]], %[[HV]]
// CHECK: %[[PIECE:.*]] = tensor.extract_slice %[[HV]][0, 1, 0] [4, 1, 2] [1, 1, 1] : tensor<4x2x2xf32> to tensor<4x2xf32>
// CHECK: return %[[HQ]], %[[KV]], %[[PIECE]]
func.func @relayed(%x: tensor<4x8xf32>, %w: tensor<16x8xf32> {spmd.weight = "qkv", spmd.segments = #spmd.segments<0, [8, 4, 4], unit = 2>}, %b: tensor<16xf32> {spmd.weight = "bias", spmd.segments = #spmd.segments<0, [8, 4, 4], unit = 2>})
    -> (tensor<4x4x2xf32>, tensor<4x4x2xf32>, tensor<4x2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %t = tensor.empty() : tensor<8x16xf32>
  %wt = linalg.transpose ins(%w : tensor<16x8xf32>) outs(%t : tensor<8x16xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%x, %wt : tensor<4x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %bb = linalg.broadcast ins(%b : tensor<16xf32>) outs(%e : tensor<4x16xf32>) dimensions = [0]
  %y = arith.addf %p, %bb : tensor<4x16xf32>
  %h = tensor.expand_shape %y [[0], [1, 2]] output_shape [4, 8, 2] : tensor<4x16xf32> into tensor<4x8x2xf32>
  %q = tensor.extract_slice %h[0, 0, 0] [4, 4, 2] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x4x2xf32>
  %kv = tensor.extract_slice %h[0, 4, 0] [4, 4, 2] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x4x2xf32>
  %piece = tensor.extract_slice %h[0, 7, 0] [4, 1, 2] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x2xf32>
  return %q, %kv, %piece : tensor<4x4x2xf32>, tensor<4x4x2xf32>, tensor<4x2xf32>
}

// A reduction over the segments, a read of one element, a residual without segments, and a slice
// that crosses a boundary use the concatenation.
// CHECK-LABEL: func.func @concatenated(
// CHECK-SAME: %[[W0:[^:]*]]: tensor<4x8xf32> {{[^%]*}}, %[[W1:[^:]*]]: tensor<4x8xf32>
// CHECK: %[[W:.*]] = tensor.concat dim(0) %[[W0]], %[[W1]]
// CHECK: linalg.reduce {{.*}} ins(%[[W]]
// CHECK: linalg.add ins(%[[W]]
// CHECK: tensor.extract_slice %[[W]][3, 0]
// CHECK: linalg.generic {{.*}} ins(%[[W]]
// CHECK: spmd.with_sharding_constraint %[[W]]
func.func @concatenated(%w: tensor<8x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [4, 4]>}, %r: tensor<8x8xf32>)
    -> (tensor<8xf32>, tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.reduce { arith.addf } ins(%w : tensor<8x8xf32>) outs(%zeros : tensor<8xf32>) dimensions = [0]
  %1 = linalg.add ins(%w, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = tensor.extract_slice %w[3, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %s = arith.addf %in, %f : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %4 = spmd.with_sharding_constraint %w <@m, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8x8xf32>, tensor<2x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Segments of fewer units than shards are sharded along the major sub-axis; results that are tied to
// other arguments follow them; a single segment is ignored.
// CHECK-LABEL: func.func @replicated(
// CHECK-SAME: tensor<16x8xf32> {{{.*}}[{"x", "y"}, {}]
// CHECK-SAME: tensor<8x8xf32> {{{.*}}[{"x", "y":(1)2}, {}]
// CHECK-SAME: tensor<2x8xf32> {{{.*}}[{}, {}]
// CHECK-SAME: %[[S:[^:]*]]: tensor<6xf32>, %{{[^:]*}}: tensor<4xf32> {spmd.weight = "one"}) -> (tensor<6xf32> {spmd.tied = 3 : i64})
func.func @replicated(%w: tensor<26x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [16, 8, 2], unit = 2, replicate>, spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}, %s: tensor<6xf32>, %o: tensor<4xf32> {spmd.weight = "one", spmd.segments = #spmd.segments<0, [4]>}) -> (tensor<6xf32> {spmd.tied = 1}) {
  return %s : tensor<6xf32>
}

// Six units divide two of eight devices, which would hold three each: they are padded.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME: tensor<12x8xf32> {{{.*}}[{"x", "y"}, {}]
// CHECK-SAME: tensor<4x8xf32> {{{.*}}[{"x"}, {}]
func.func @padded(%w: tensor<16x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [12, 4], unit = 2, replicate>, spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}) {
  return
}

// An open segment gets the sharding of its uses unless that splits units: eight devices get the eight
// units of the one; the four units of the other stay unsharded.
// UNITS-LABEL: func.func @open(
// UNITS-SAME: tensor<16x8xf32> {{{.*}}spmd.sharding = #spmd.sharding<@m, [{"x", "y", ?}, {?}]>
// UNITS-SAME: tensor<8x8xf32> {{{[^%]*}}unit = 2
// UNITS-NOT: spmd.sharding<@m, [{"x", "y"
// UNITS: linalg.contract
func.func @open(%x: tensor<4x8xf32>, %w: tensor<24x8xf32> {spmd.weight = "w", spmd.segments = #spmd.segments<0, [16, 8], unit = 2>})
    -> (tensor<4x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>}, tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>}) {
  %i = arith.constant dense<0.0> : tensor<4x24xf32>
  %p = linalg.contract indexing_maps = [#rows, #columns, #result] ins(%x, %w : tensor<4x8xf32>, tensor<24x8xf32>) outs(%i : tensor<4x24xf32>) -> tensor<4x24xf32>
  %q = tensor.extract_slice %p[0, 0] [4, 16] [1, 1] : tensor<4x24xf32> to tensor<4x16xf32>
  %k = tensor.extract_slice %p[0, 16] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  return %q, %k : tensor<4x16xf32>, tensor<4x8xf32>
}
