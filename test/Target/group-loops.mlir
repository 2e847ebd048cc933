// Experts and tokens: each expert computes the tokens of which the mask says so.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 6 functions, 7 results, all equal
// RUN: shard-compile %s --emit=tensor --remarks-filter=spmd 2>%t.remarks | FileCheck %s --check-prefix=LOOP
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK-DAG: remark: [Passed] groups {{.*}}each of 4 groups computes the rows that its mask leaves, in 8 ops
// REMARK-DAG: remark: [Missed] dense-groups {{.*}}Reason="func.return reads masked elements", Remark="all 4 groups compute all rows"

#etf = affine_map<(e, t, f) -> (e, t, f)>
#te = affine_map<(e, t, f) -> (t, e)>
#tf = affine_map<(e, t, f) -> (t, f)>

// LOOP-LABEL: sk_fn_mixture
// LOOP: scf.for %[[E:.*]] = %c0 to %c4
// LOOP: scf.if
// LOOP: %[[UP:.*]] = spmd_rt.contract {{.*}}tensor<1x?x32xf32>
// LOOP: spmd_rt.contract {{.*}}tensor<1x?x8xf32>
// LOOP: scf.for
// LOOP: tensor.insert_slice
func.func @mixture(%x: tensor<6x8xf32>, %up: tensor<4x8x32xf32>, %down: tensor<4x16x8xf32>, %mask: tensor<6x4xi1>, %share: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x6x8xf32>
  %xs = linalg.generic {indexing_maps = [#tf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<6x8xf32>) outs(%e0 : tensor<4x6x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x6x8xf32>
  %e1 = tensor.empty() : tensor<4x6x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x6x32xf32>) -> tensor<4x6x32xf32>
  %h = linalg.batch_matmul ins(%xs, %up : tensor<4x6x8xf32>, tensor<4x8x32xf32>) outs(%z1 : tensor<4x6x32xf32>) -> tensor<4x6x32xf32>
  %m = linalg.generic {indexing_maps = [#te, #etf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %h : tensor<6x4xi1>, tensor<4x6x32xf32>) outs(%e1 : tensor<4x6x32xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x6x32xf32>
  %gate = tensor.extract_slice %m[0, 0, 0] [4, 6, 16] [1, 1, 1] : tensor<4x6x32xf32> to tensor<4x6x16xf32>
  %more = tensor.extract_slice %m[0, 0, 16] [4, 6, 16] [1, 1, 1] : tensor<4x6x32xf32> to tensor<4x6x16xf32>
  %product = arith.mulf %gate, %more : tensor<4x6x16xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %d = linalg.batch_matmul ins(%product, %down : tensor<4x6x16xf32>, tensor<4x16x8xf32>) outs(%z0 : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %e2 = tensor.empty() : tensor<6x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x8xf32>) -> tensor<6x8xf32>
  %y = linalg.generic {indexing_maps = [#etf, #te, #tf], iterator_types = ["reduction", "parallel", "parallel"]} ins(%d, %share : tensor<4x6x8xf32>, tensor<6x4xf32>) outs(%z2 : tensor<6x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// The gradients of the matrices, from the rows of each.
// LOOP-LABEL: sk_fn_weights
// LOOP: scf.for {{.*}} to %c4
// LOOP: scf.if
// LOOP: tensor.extract_slice {{.*}} tensor<4x8x16xf32> to tensor<8x16xf32>
func.func @weights(%x: tensor<6x8xf32>, %dy: tensor<6x16xf32>, %mask: tensor<6x4xi1>) -> tensor<4x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x6x16xf32>
  %m = linalg.generic {indexing_maps = [#te, #tf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %dy : tensor<6x4xi1>, tensor<6x16xf32>) outs(%e0 : tensor<4x6x16xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x6x16xf32>
  %e1 = tensor.empty() : tensor<4x8x16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(e, k, f, t) -> (t, k)>, affine_map<(e, k, f, t) -> (e, t, f)>, affine_map<(e, k, f, t) -> (e, k, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %m : tensor<6x8xf32>, tensor<4x6x16xf32>) outs(%z1 : tensor<4x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8x16xf32>
  return %dw : tensor<4x8x16xf32>
}

// Sums over groups and columns at once: the mask, which is the same for all columns, is one of experts.
// LOOP-LABEL: sk_fn_masked_rows
// LOOP: scf.for {{.*}} to %c4
// LOOP: scf.if
func.func @masked_rows(%x: tensor<6x8xf32>, %w: tensor<4x8x16xf32>, %mask: tensor<6x4xi1>) -> tensor<6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x6x8xi1>
  %spread = linalg.generic {indexing_maps = [#te, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask : tensor<6x4xi1>) outs(%e0 : tensor<4x6x8xi1>) {
  ^bb0(%c: i1, %o: i1):
    linalg.yield %c : i1
  } -> tensor<4x6x8xi1>
  %e1 = tensor.empty() : tensor<4x6x8xf32>
  %m = linalg.generic {indexing_maps = [#etf, #tf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%spread, %x : tensor<4x6x8xi1>, tensor<6x8xf32>) outs(%e1 : tensor<4x6x8xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x6x8xf32>
  %e2 = tensor.empty() : tensor<6x16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, f, k, e) -> (e, t, k)>, affine_map<(t, f, k, e) -> (e, k, f)>, affine_map<(t, f, k, e) -> (t, f)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%m, %w : tensor<4x6x8xf32>, tensor<4x8x16xf32>) outs(%z2 : tensor<6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

// Weighted rows: a vector for each group, so that a loop would save nothing.
// LOOP-LABEL: sk_fn_rows
// LOOP-NOT: scf.if
// LOOP-LABEL: sk_fn_read_elsewhere
func.func @rows(%score: tensor<6x32xf32>, %mask: tensor<6x32xi1>, %v: tensor<32x16xf32>) -> tensor<6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.splat %zero : tensor<6x32xf32>
  %m = arith.select %mask, %score, %0 : tensor<6x32xi1>, tensor<6x32xf32>
  %e = tensor.empty() : tensor<6x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x16xf32>) -> tensor<6x16xf32>
  %y = linalg.matmul ins(%m, %v : tensor<6x32xf32>, tensor<32x16xf32>) outs(%z : tensor<6x16xf32>) -> tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

// All products are a result, so that they are computed; only their sum is over the rows of each group.
// LOOP-NOT: scf.if
// LOOP-LABEL: sk_fn_added
func.func @read_elsewhere(%x: tensor<6x8xf32>, %w: tensor<4x8x16xf32>, %mask: tensor<6x4xi1>) -> (tensor<6x16xf32>, tensor<4x6x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x6x16xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, t, f, k) -> (t, k)>, affine_map<(e, t, f, k) -> (e, k, f)>, affine_map<(e, t, f, k) -> (e, t, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x8xf32>, tensor<4x8x16xf32>) outs(%z0 : tensor<4x6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6x16xf32>
  %m = linalg.generic {indexing_maps = [#te, #etf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %h : tensor<6x4xi1>, tensor<4x6x16xf32>) outs(%e0 : tensor<4x6x16xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x6x16xf32>
  %e1 = tensor.empty() : tensor<6x16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %y = linalg.reduce { arith.addf } ins(%m : tensor<4x6x16xf32>) outs(%z1 : tensor<6x16xf32>) dimensions = [0]
  return %y, %h : tensor<6x16xf32>, tensor<4x6x16xf32>
}

// What is added to the products is not zero beside the mask, and counts.
// LOOP-NOT: scf.if
func.func @added(%x: tensor<6x8xf32>, %w: tensor<4x8x16xf32>, %mask: tensor<6x4xi1>, %bias: tensor<4x16xf32>) -> tensor<6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x6x16xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, t, f, k) -> (t, k)>, affine_map<(e, t, f, k) -> (e, k, f)>, affine_map<(e, t, f, k) -> (e, t, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x8xf32>, tensor<4x8x16xf32>) outs(%z0 : tensor<4x6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6x16xf32>
  %m = linalg.generic {indexing_maps = [#te, #etf, affine_map<(e, t, f) -> (e, f)>, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %h, %bias : tensor<6x4xi1>, tensor<4x6x16xf32>, tensor<4x16xf32>) outs(%e0 : tensor<4x6x16xf32>) {
  ^bb0(%c: i1, %a: f32, %b: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<4x6x16xf32>
  %e1 = tensor.empty() : tensor<6x16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %y = linalg.reduce { arith.addf } ins(%m : tensor<4x6x16xf32>) outs(%z1 : tensor<6x16xf32>) dimensions = [0]
  return %y : tensor<6x16xf32>
}
