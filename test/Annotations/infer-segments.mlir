// The segments of weights, from what reads them.
// RUN: shard-opt %s --spmd-infer-segments | FileCheck %s --implicit-check-not=spmd.segments
// RUN: shard-opt %s --spmd-infer-segments --spmd-split-segments --spmd-propagate -o /dev/null
// RUN: shard-opt %s --spmd-infer-segments -o /dev/null --remarks-filter=spmd 2>&1 | FileCheck %s --check-prefix=REMARK

spmd.mesh @m = <["x"=3]>

// Query, keys and values, each of heads of 8; the bias alike.
// CHECK-LABEL: func.func @qkv(
// CHECK-SAME: %{{.*}}: tensor<16x64xf32> {spmd.segments = #spmd.segments<1, [32, 16, 16], unit = 8, replicate>, spmd.weight = "qkv"}
// CHECK-SAME: %{{.*}}: tensor<64xf32> {spmd.segments = #spmd.segments<0, [32, 16, 16], unit = 8, replicate>, spmd.weight = "bias"}
// REMARK: infer-segments.mlir:[[@LINE+1]]:38: remark: [Analysis] segments | Category:spmd | Function=qkv | Reason="what reads the weight reads them one by one", Remark="dim 1 of argument #1 (qkv) has segments [32, 16, 16], units of 8"
func.func @qkv(%x: tensor<4x16xf32>, %w: tensor<16x64xf32> {spmd.weight = "qkv"}, %b: tensor<64xf32> {spmd.weight = "bias"}) -> (tensor<4x4x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x64xf32>) outs(%zero : tensor<4x64xf32>) -> tensor<4x64xf32>
  %e = tensor.empty() : tensor<4x64xf32>
  %bb = linalg.broadcast ins(%b : tensor<64xf32>) outs(%e : tensor<4x64xf32>) dimensions = [0]
  %s = arith.addf %p, %bb : tensor<4x64xf32>
  %q = tensor.extract_slice %s[0, 0] [4, 32] [1, 1] : tensor<4x64xf32> to tensor<4x32xf32>
  %k = tensor.extract_slice %s[0, 32] [4, 16] [1, 1] : tensor<4x64xf32> to tensor<4x16xf32>
  %v = tensor.extract_slice %s[0, 48] [4, 16] [1, 1] : tensor<4x64xf32> to tensor<4x16xf32>
  %0 = tensor.expand_shape %q [[0], [1, 2]] output_shape [4, 4, 8] : tensor<4x32xf32> into tensor<4x4x8xf32>
  %1 = tensor.expand_shape %k [[0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xf32> into tensor<4x2x8xf32>
  %2 = tensor.expand_shape %v [[0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xf32> into tensor<4x2x8xf32>
  return %0, %1, %2 : tensor<4x4x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>
}

// The same as a dim of three, of which each index is read by itself.
// CHECK-LABEL: func.func @three(
// CHECK-SAME: %{{.*}}: tensor<96x16xf32> {spmd.segments = #spmd.segments<0, [32, 32, 32], unit = 8, replicate>, spmd.weight = "wqkv"}
func.func @three(%x: tensor<4x16xf32>, %w: tensor<96x16xf32> {spmd.weight = "wqkv"}) -> (tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x96xf32>
  %t = tensor.empty() : tensor<16x96xf32>
  %wt = linalg.transpose ins(%w : tensor<96x16xf32>) outs(%t : tensor<16x96xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%x, %wt : tensor<4x16xf32>, tensor<16x96xf32>) outs(%zero : tensor<4x96xf32>) -> tensor<4x96xf32>
  %f = tensor.expand_shape %p [[0], [1, 2, 3]] output_shape [4, 3, 4, 8] : tensor<4x96xf32> into tensor<4x3x4x8xf32>
  %q = tensor.extract_slice %f[0, 0, 0, 0] [4, 1, 4, 8] [1, 1, 1, 1] : tensor<4x3x4x8xf32> to tensor<4x4x8xf32>
  %k = tensor.extract_slice %f[0, 1, 0, 0] [4, 1, 4, 8] [1, 1, 1, 1] : tensor<4x3x4x8xf32> to tensor<4x4x8xf32>
  %v = tensor.extract_slice %f[0, 2, 0, 0] [4, 1, 4, 8] [1, 1, 1, 1] : tensor<4x3x4x8xf32> to tensor<4x4x8xf32>
  return %q, %k, %v : tensor<4x4x8xf32>, tensor<4x4x8xf32>, tensor<4x4x8xf32>
}

// Two heads on eight devices: shards end inside of heads. Four heads are held twice each.
spmd.mesh @eight = <["x"=8]>
// CHECK-LABEL: func.func @few(
// CHECK-SAME: %{{.*}}: tensor<16x32xf32> {spmd.sharding = {{.*}}, spmd.weight = "two"}
// CHECK-SAME: %{{.*}}: tensor<16x64xf32> {spmd.segments = #spmd.segments<1, [64], unit = 16, replicate>, spmd.sharding = {{.*}}, spmd.weight = "four"}
func.func @few(%x: tensor<4x16xf32>, %two: tensor<16x32xf32> {spmd.weight = "two", spmd.sharding = #spmd.sharding<@eight, [{}, {"x"}]>},
               %four: tensor<16x64xf32> {spmd.weight = "four", spmd.sharding = #spmd.sharding<@eight, [{}, {"x"}]>}) -> (tensor<4x2x16xf32>, tensor<4x4x16xf32>) {
  %z2 = arith.constant dense<0.0> : tensor<4x32xf32>
  %p2 = linalg.matmul ins(%x, %two : tensor<4x16xf32>, tensor<16x32xf32>) outs(%z2 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %h2 = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [4, 2, 16] : tensor<4x32xf32> into tensor<4x2x16xf32>
  %z4 = arith.constant dense<0.0> : tensor<4x64xf32>
  %p4 = linalg.matmul ins(%x, %four : tensor<4x16xf32>, tensor<16x64xf32>) outs(%z4 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %h4 = tensor.expand_shape %p4 [[0], [1, 2]] output_shape [4, 4, 16] : tensor<4x64xf32> into tensor<4x4x16xf32>
  return %h2, %h4 : tensor<4x2x16xf32>, tensor<4x4x16xf32>
}

// Three of each head, and a projection of joined heads: units, which matter to three devices but not to "even".
// CHECK-LABEL: func.func @interleaved(
// CHECK-SAME: %{{.*}}: tensor<16x96xf32> {spmd.segments = #spmd.segments<1, [96], unit = 24, replicate>, spmd.sharding = {{.*}}, spmd.weight = "per_head"}
// CHECK-SAME: %{{.*}}: tensor<32x16xf32> {spmd.segments = #spmd.segments<0, [32], unit = 8, replicate>, spmd.sharding = {{.*}}, spmd.weight = "out"}
// CHECK-SAME: %{{.*}}: tensor<16x96xf32> {spmd.weight = "even"}
func.func @interleaved(%x: tensor<4x16xf32>, %w: tensor<16x96xf32> {spmd.weight = "per_head", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                       %o: tensor<32x16xf32> {spmd.weight = "out", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %even: tensor<16x96xf32> {spmd.weight = "even"}) -> (tensor<4x16xf32>, tensor<4x4x24xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x96xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x96xf32>) outs(%zero : tensor<4x96xf32>) -> tensor<4x96xf32>
  %h = tensor.expand_shape %p [[0], [1, 2]] output_shape [4, 4, 24] : tensor<4x96xf32> into tensor<4x4x24xf32>
  %q = tensor.extract_slice %h[0, 0, 0] [4, 4, 8] [1, 1, 1] : tensor<4x4x24xf32> to tensor<4x4x8xf32>
  %j = tensor.collapse_shape %q [[0], [1, 2]] : tensor<4x4x8xf32> into tensor<4x32xf32>
  %z = arith.constant dense<0.0> : tensor<4x16xf32>
  %y = linalg.matmul ins(%j, %o : tensor<4x32xf32>, tensor<32x16xf32>) outs(%z : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p2 = linalg.matmul ins(%x, %even : tensor<4x16xf32>, tensor<16x96xf32>) outs(%zero : tensor<4x96xf32>) -> tensor<4x96xf32>
  %h2 = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [4, 4, 24] : tensor<4x96xf32> into tensor<4x4x24xf32>
  return %y, %h2 : tensor<4x16xf32>, tensor<4x4x24xf32>
}

// Heads of a query in front of the one key and the one value.
// CHECK-LABEL: func.func @one_key(
// CHECK-SAME: %{{.*}}: tensor<16x48xf32> {spmd.segments = #spmd.segments<1, [32, 8, 8], unit = 8, replicate>, spmd.weight = "mqa"}
// CHECK-SAME: %{{.*}}: tensor<16x48xf32> {spmd.segments = #spmd.segments<1, [32, 8, 8], unit = 8, replicate>, spmd.weight = "falcon"}
func.func @one_key(%x: tensor<4x16xf32>, %w: tensor<16x48xf32> {spmd.weight = "mqa"}, %f: tensor<16x48xf32> {spmd.weight = "falcon"}) -> (tensor<4x4x8xf32>, tensor<4x16xf32>, tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x48xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x48xf32>) outs(%zero : tensor<4x48xf32>) -> tensor<4x48xf32>
  %q = tensor.extract_slice %p[0, 0] [4, 32] [1, 1] : tensor<4x48xf32> to tensor<4x32xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [4, 4, 8] : tensor<4x32xf32> into tensor<4x4x8xf32>
  %kv = tensor.extract_slice %p[0, 32] [4, 16] [1, 1] : tensor<4x48xf32> to tensor<4x16xf32>
  %k = tensor.extract_slice %kv[0, 0] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %v = tensor.extract_slice %kv[0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %r = tensor.concat dim(1) %v, %k : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %p2 = linalg.matmul ins(%x, %f : tensor<4x16xf32>, tensor<16x48xf32>) outs(%zero : tensor<4x48xf32>) -> tensor<4x48xf32>
  %h = tensor.expand_shape %p2 [[0], [1, 2]] output_shape [4, 6, 8] : tensor<4x48xf32> into tensor<4x6x8xf32>
  %hq = tensor.extract_slice %h[0, 0, 0] [4, 4, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<4x4x8xf32>
  %hk = tensor.extract_slice %h[0, 4, 0] [4, 1, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<4x8xf32>
  %hv = tensor.extract_slice %h[0, 5, 0] [4, 1, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<4x8xf32>
  return %qh, %r, %hq, %hk, %hv : tensor<4x4x8xf32>, tensor<4x16xf32>, tensor<4x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A part that is padded along another dim, convolved and read in parts again; every second column; stacked experts.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %{{.*}}: tensor<16x40xf32> {spmd.segments = #spmd.segments<1, [16, 16, 4, 4], replicate>, spmd.weight = "in_proj"}
// CHECK-SAME: %{{.*}}: tensor<16x20xf32> {spmd.segments = #spmd.segments<1, [20], unit = 2, replicate>, spmd.sharding = {{.*}}, spmd.weight = "alternating"}
// CHECK-SAME: %{{.*}}: tensor<5x16x24xf32> {spmd.segments = #spmd.segments<2, [12, 12], replicate>, spmd.weight = "experts"}
func.func @nested(%x: tensor<4x16xf32>, %w: tensor<16x40xf32> {spmd.weight = "in_proj"}, %g: tensor<16x20xf32> {spmd.weight = "alternating", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                  %e: tensor<5x16x24xf32> {spmd.weight = "experts"}, %xe: tensor<5x4x16xf32>)
    -> (tensor<4x16xf32>, tensor<5x16xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<4x10xf32>, tensor<5x4x12xf32>) {
  %c0 = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<4x40xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x40xf32>) outs(%zero : tensor<4x40xf32>) -> tensor<4x40xf32>
  %z = tensor.extract_slice %p[0, 0] [4, 16] [1, 1] : tensor<4x40xf32> to tensor<4x16xf32>
  %xbc = tensor.extract_slice %p[0, 16] [4, 24] [1, 1] : tensor<4x40xf32> to tensor<4x24xf32>
  %pad = tensor.pad %xbc low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c0 : f32
  } : tensor<4x24xf32> to tensor<5x24xf32>
  %t = math.tanh %pad : tensor<5x24xf32>
  %xs = tensor.extract_slice %t[0, 0] [5, 16] [1, 1] : tensor<5x24xf32> to tensor<5x16xf32>
  %bs = tensor.extract_slice %t[0, 16] [5, 4] [1, 1] : tensor<5x24xf32> to tensor<5x4xf32>
  %cs = tensor.extract_slice %t[0, 20] [5, 4] [1, 1] : tensor<5x24xf32> to tensor<5x4xf32>
  %z2 = arith.constant dense<0.0> : tensor<4x20xf32>
  %a = linalg.matmul ins(%x, %g : tensor<4x16xf32>, tensor<16x20xf32>) outs(%z2 : tensor<4x20xf32>) -> tensor<4x20xf32>
  %even = tensor.extract_slice %a[0, 0] [4, 10] [1, 2] : tensor<4x20xf32> to tensor<4x10xf32>
  %odd = tensor.extract_slice %a[0, 1] [4, 10] [1, 2] : tensor<4x20xf32> to tensor<4x10xf32>
  %glu = arith.mulf %even, %odd : tensor<4x10xf32>
  %z3 = arith.constant dense<0.0> : tensor<5x4x24xf32>
  %h = linalg.batch_matmul ins(%xe, %e : tensor<5x4x16xf32>, tensor<5x16x24xf32>) outs(%z3 : tensor<5x4x24xf32>) -> tensor<5x4x24xf32>
  %gate = tensor.extract_slice %h[0, 0, 0] [5, 4, 12] [1, 1, 1] : tensor<5x4x24xf32> to tensor<5x4x12xf32>
  %up = tensor.extract_slice %h[0, 0, 12] [5, 4, 12] [1, 1, 1] : tensor<5x4x24xf32> to tensor<5x4x12xf32>
  %ge = arith.mulf %gate, %up : tensor<5x4x12xf32>
  return %z, %xs, %bs, %cs, %glu, %ge : tensor<4x16xf32>, tensor<5x16xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<4x10xf32>, tensor<5x4x12xf32>
}

// No segments: windows; a part that nothing reads; a sum over the dim; another operand that is no weight; closed dims;
// an update; what the user wrote.
// CHECK-LABEL: func.func @none(
// CHECK-SAME: tensor<24x8xf32> {spmd.segments = #spmd.segments<0, [8, 16]>, spmd.weight = "given"}
func.func @none(%window: tensor<24x8xf32> {spmd.weight = "window"}, %unread: tensor<24x8xf32> {spmd.weight = "unread"}, %sum: tensor<24x8xf32> {spmd.weight = "sum"},
                %other: tensor<24x8xf32> {spmd.weight = "other"}, %r: tensor<24x8xf32>, %closed: tensor<24x8xf32> {spmd.weight = "closed", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
                %updated: tensor<24x8xf32> {spmd.weight = "updated"}, %given: tensor<24x8xf32> {spmd.weight = "given", spmd.segments = #spmd.segments<0, [8, 16]>})
    -> (tensor<20x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<24x8xf32> {spmd.tied = 6 : i64}) {
  %w0 = tensor.extract_slice %window[0, 0] [20, 8] [1, 1] : tensor<24x8xf32> to tensor<20x8xf32>
  %w1 = tensor.extract_slice %window[4, 0] [20, 8] [1, 1] : tensor<24x8xf32> to tensor<20x8xf32>
  %w = arith.addf %w0, %w1 : tensor<20x8xf32>
  %u = tensor.extract_slice %unread[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %s0 = tensor.extract_slice %sum[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %s1 = tensor.extract_slice %sum[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %s = arith.addf %s0, %s1 : tensor<12x8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %all = linalg.reduce ins(%sum : tensor<24x8xf32>) outs(%zero : tensor<8xf32>) dimensions = [0] (%in: f32, %acc: f32) {
    %a = arith.addf %in, %acc : f32
    linalg.yield %a : f32
  }
  %o = arith.addf %other, %r : tensor<24x8xf32>
  %o0 = tensor.extract_slice %o[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %o1 = tensor.extract_slice %o[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %oo = arith.mulf %o0, %o1 : tensor<12x8xf32>
  %c0 = tensor.extract_slice %closed[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %c1 = tensor.extract_slice %closed[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %c = arith.mulf %c0, %c1 : tensor<12x8xf32>
  %g0 = tensor.extract_slice %given[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %d0 = tensor.extract_slice %updated[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %d1 = tensor.extract_slice %updated[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %d = arith.addf %d0, %d1 : tensor<12x8xf32>
  %e = arith.addf %c, %d : tensor<12x8xf32>
  %f = arith.addf %e, %g0 : tensor<12x8xf32>
  %n = arith.addf %updated, %r : tensor<24x8xf32>
  return %w, %u, %s, %all, %oo, %f, %n : tensor<20x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<24x8xf32>
}

// A weight that another function reads whole has no segments, one that it reads alike has.
// CHECK-LABEL: func.func @first(
// CHECK-SAME: tensor<24x8xf32> {spmd.weight = "whole"}, {{.*}}tensor<24x8xf32> {spmd.segments = #spmd.segments<0, [12, 12], replicate>, spmd.weight = "shared"}
// CHECK-LABEL: func.func @second(
// CHECK-SAME: tensor<24x8xf32> {spmd.weight = "whole"}, {{.*}}tensor<24x8xf32> {spmd.segments = #spmd.segments<0, [12, 12], replicate>, spmd.weight = "shared"}
func.func @first(%w: tensor<24x8xf32> {spmd.weight = "whole"}, %s: tensor<24x8xf32> {spmd.weight = "shared"}) -> (tensor<12x8xf32>, tensor<12x8xf32>) {
  %w0 = tensor.extract_slice %w[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %w1 = tensor.extract_slice %w[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %a = arith.mulf %w0, %w1 : tensor<12x8xf32>
  %s0 = tensor.extract_slice %s[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %s1 = tensor.extract_slice %s[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %b = arith.mulf %s0, %s1 : tensor<12x8xf32>
  return %a, %b : tensor<12x8xf32>, tensor<12x8xf32>
}
func.func @second(%w: tensor<24x8xf32> {spmd.weight = "whole"}, %s: tensor<24x8xf32> {spmd.weight = "shared"}) -> (tensor<24x8xf32>, tensor<12x8xf32>) {
  %t = math.tanh %s : tensor<24x8xf32>
  %s0 = tensor.extract_slice %t[0, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %s1 = tensor.extract_slice %t[12, 0] [12, 8] [1, 1] : tensor<24x8xf32> to tensor<12x8xf32>
  %b = arith.mulf %s0, %s1 : tensor<12x8xf32>
  return %w, %b : tensor<24x8xf32>, tensor<12x8xf32>
}
