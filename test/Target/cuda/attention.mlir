// softmax(q k^T) v becomes one call of the runtime, scores and what masks them included,
// for cuda alone; where scores or probabilities are used otherwise they are computed.
// REQUIRES: shard-compile
// RUN: shard-compile %s --target=cuda --emit=tensor | FileCheck %s
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=MEMREF
// RUN: shard-compile %s --target=cuda --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: shard-compile %s --emit=tensor | FileCheck %s --check-prefix=CPU
// CPU-NOT: spmd_rt.attention

#q = affine_map<(b, h, m, n, d) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d) -> (b, n, h, d)>
#s = affine_map<(b, h, m, n, d) -> (b, h, m, n)>
#p = affine_map<(b, h, m, n, e) -> (b, h, m, n)>
#v = affine_map<(b, h, m, n, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, e) -> (b, m, h, e)>
#all = affine_map<(b, h, m, n) -> (b, h, m, n)>
#keys = affine_map<(b, h, m, n) -> (b, n)>
#rows = affine_map<(b, h, m, n) -> (b, h, m)>

// Heads in the middle are read where they are, a mask of keys as it is, and the result
// is stored as it is returned.
// CHECK-LABEL: symbols = ["sk_fn_bert"]
// CHECK-NOT: linalg
// CHECK: spmd_rt.attention
// CHECK-SAME: steps [{scale = 1.250000e-01 : f32}, {add = 0 : i64}]
// CHECK-SAME: ins(%arg0, %arg1, %arg2, %arg3 : tensor<2x32x3x16xf32>, tensor<2x24x3x16xf32>, tensor<2x24x3x8xf32>, tensor<2x24xf32>)
// CHECK-NOT: {{linalg|contract}}
// CHECK: return
// MEMREF-LABEL: symbols = ["sk_fn_bert"]
// MEMREF-NOT: {{alloc|copy|gpu.launch}}
// MEMREF: spmd_rt.attention {{.*}} outs(%arg5 : memref<2x32x3x8xf32>)
// MEMREF-NOT: {{alloc|copy|gpu.launch}}
// MEMREF: return
// LLVM-LABEL: llvm.func internal @program_0
// LLVM-SAME: arena_bytes = 0 : i64
// LLVM: call @sk_attention
func.func @bert(%q: tensor<2x32x3x16xf32>, %k: tensor<2x24x3x16xf32>, %v: tensor<2x24x3x8xf32>, %mask: tensor<2x24xf32>) -> tensor<2x32x3x8xf32> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %es = tensor.empty() : tensor<2x3x32x24xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x32x24xf32>) -> tensor<2x3x32x24xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x32x3x16xf32>, tensor<2x24x3x16xf32>) outs(%zs : tensor<2x3x32x24xf32>) -> tensor<2x3x32x24xf32>
  %x = linalg.generic {indexing_maps = [#all, #keys, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<2x3x32x24xf32>, tensor<2x24xf32>) outs(%es : tensor<2x3x32x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %eighth : f32
    %1 = arith.addf %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x3x32x24xf32>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x32x24xf32>) outs(%es : tensor<2x3x32x24xf32>) -> tensor<2x3x32x24xf32>
  %eo = tensor.empty() : tensor<2x32x3x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x3x8xf32>) -> tensor<2x32x3x8xf32>
  %r = linalg.contract indexing_maps = [#p, #v, #o] ins(%p, %v : tensor<2x3x32x24xf32>, tensor<2x24x3x8xf32>) outs(%zo : tensor<2x32x3x8xf32>) -> tensor<2x32x3x8xf32>
  return %r : tensor<2x32x3x8xf32>
}

#mq = affine_map<(m, n, d) -> (m, d)>
#mk = affine_map<(m, n, d) -> (n, d)>
#ms = affine_map<(m, n, d) -> (m, n)>
#mp = affine_map<(m, e, n) -> (m, n)>
#mv = affine_map<(m, e, n) -> (n, e)>
#mo = affine_map<(m, e, n) -> (m, e)>
#mn = affine_map<(m, n) -> (m, n)>

// A causal mask that is compared as tensors, the other way round, and what is rounded.
// CHECK-LABEL: symbols = ["sk_fn_causal"]
// CHECK: spmd_rt.attention
// CHECK-SAME: steps [{round = bf16}, {scale = 5.000000e-01 : f32}, {round = bf16}, {causal = 3 : i64, keep = true, otherwise = 0xFF800000 : f32}]
// CHECK: return
func.func @causal(%q: tensor<32x16xbf16>, %k: tensor<40x16xbf16>, %v: tensor<40x8xbf16>) -> tensor<32x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %two = arith.constant 2.0 : bf16
  %low = arith.constant 0xFF80 : bf16
  %three = arith.constant 3 : i32
  %es = tensor.empty() : tensor<32x40xbf16>
  %zs = linalg.fill ins(%zero : bf16) outs(%es : tensor<32x40xbf16>) -> tensor<32x40xbf16>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xbf16>, tensor<40x16xbf16>) outs(%zs : tensor<32x40xbf16>) -> tensor<32x40xbf16>
  %ei = tensor.empty() : tensor<32x40xi32>
  %i = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<32x40xi32>) {
  ^bb0(%o: i32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.addi %1, %three : i32
    linalg.yield %2 : i32
  } -> tensor<32x40xi32>
  %j = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<32x40xi32>) {
  ^bb0(%o: i32):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i32
    linalg.yield %1 : i32
  } -> tensor<32x40xi32>
  %c = arith.cmpi sgt, %j, %i : tensor<32x40xi32>
  %x = linalg.generic {indexing_maps = [#mn, #mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%s, %c : tensor<32x40xbf16>, tensor<32x40xi1>) outs(%es : tensor<32x40xbf16>) {
  ^bb0(%a: bf16, %b: i1, %o: bf16):
    %0 = arith.divf %a, %two : bf16
    %1 = arith.select %b, %low, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<32x40xbf16>
  %p = linalg.softmax dimension(1) ins(%x : tensor<32x40xbf16>) outs(%es : tensor<32x40xbf16>) -> tensor<32x40xbf16>
  %eo = tensor.empty() : tensor<32x8xbf16>
  %zo = linalg.fill ins(%zero : bf16) outs(%eo : tensor<32x8xbf16>) -> tensor<32x8xbf16>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xbf16>, tensor<40x8xbf16>) outs(%zo : tensor<32x8xbf16>) -> tensor<32x8xbf16>
  return %r : tensor<32x8xbf16>
}

// As PyTorch and JAX write them: key - query >= 1 and true; true where query >= key.
// CHECK-LABEL: symbols = ["sk_fn_torch_and_jax"]
// CHECK: spmd_rt.attention
// CHECK-SAME: steps [{causal = 0 : i64, keep = true, otherwise = -1.000000e+09 : f32}, {causal = 0 : i64, keep = true, otherwise = -5.000000e+00 : f32}]
// CHECK: return
func.func @torch_and_jax(%q: tensor<32x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  %far = arith.constant dense<-1.0e9> : tensor<f32>
  %all = arith.constant dense<true> : tensor<32x40xi1>
  %none = arith.constant dense<false> : tensor<32x40xi1>
  %fives = arith.constant dense<-5.0> : tensor<32x40xf32>
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf32>, tensor<40x16xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %em = tensor.empty() : tensor<32xi64>
  %m = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]} outs(%em : tensor<32xi64>) {
  ^bb0(%o: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  } -> tensor<32xi64>
  %en = tensor.empty() : tensor<40xi64>
  %n = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>], iterator_types = ["parallel"]} outs(%en : tensor<40xi64>) {
  ^bb0(%o: i64):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i64
    linalg.yield %1 : i64
  } -> tensor<40xi64>
  %ec = tensor.empty() : tensor<32x40xi1>
  %late = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, #mn], iterator_types = ["parallel", "parallel"]} ins(%n, %m : tensor<40xi64>, tensor<32xi64>) outs(%ec : tensor<32x40xi1>) {
  ^bb0(%a: i64, %b: i64, %o: i1):
    %0 = arith.subi %a, %b : i64
    %1 = arith.cmpi sge, %0, %one : i64
    linalg.yield %1 : i1
  } -> tensor<32x40xi1>
  %c = arith.andi %late, %all : tensor<32x40xi1>
  %x = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> ()>, #mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%c, %far, %s : tensor<32x40xi1>, tensor<f32>, tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) {
  ^bb0(%a: i1, %b: f32, %d: f32, %o: f32):
    %0 = arith.select %a, %b, %d : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %early = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, #mn], iterator_types = ["parallel", "parallel"]} ins(%m, %n : tensor<32xi64>, tensor<40xi64>) outs(%ec : tensor<32x40xi1>) {
  ^bb0(%a: i64, %b: i64, %o: i1):
    %0 = arith.cmpi sge, %a, %b : i64
    linalg.yield %0 : i1
  } -> tensor<32x40xi1>
  %chosen = arith.select %early, %all, %none : tensor<32x40xi1>, tensor<32x40xi1>
  %y = arith.select %chosen, %x, %fives : tensor<32x40xi1>, tensor<32x40xf32>
  %p = linalg.softmax dimension(1) ins(%y : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}

// What follows is not attention, or not only.
// CHECK-LABEL: symbols = ["sk_fn_scores_returned"]
// CHECK-NOT: spmd_rt.attention
func.func @scores_returned(%q: tensor<32x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x8xf32>) -> (tensor<32x8xf32>, tensor<32x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf32>, tensor<40x16xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r, %s : tensor<32x8xf32>, tensor<32x40xf32>
}
func.func @probabilities_returned(%q: tensor<32x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x8xf32>) -> (tensor<32x8xf32>, tensor<32x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf32>, tensor<40x16xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r, %p : tensor<32x8xf32>, tensor<32x40xf32>
}
// Along the queries.
func.func @other_axis(%q: tensor<32x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf32>, tensor<40x16xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.softmax dimension(0) ins(%s : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}
// The largest score of those that are not masked, and the sum of those that are.
func.func @unequal_masks(%q: tensor<32x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x8xf32>, %mask: tensor<32x40xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf32>, tensor<40x16xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %x = arith.addf %s, %mask : tensor<32x40xf32>
  %er = tensor.empty() : tensor<32xf32>
  %lows = linalg.fill ins(%low : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %most = linalg.reduce { arith.maximumf } ins(%s : tensor<32x40xf32>) outs(%lows : tensor<32xf32>) dimensions = [1]
  %e = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> (m)>, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %most : tensor<32x40xf32>, tensor<32xf32>) outs(%es : tensor<32x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<32x40xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<32x40xf32>) outs(%zeros : tensor<32xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> (m)>, #mn], iterator_types = ["parallel", "parallel"]} ins(%e, %sum : tensor<32x40xf32>, tensor<32xf32>) outs(%es : tensor<32x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}
func.func @f64(%q: tensor<32x16xf64>, %k: tensor<40x16xf64>, %v: tensor<40x8xf64>) -> tensor<32x8xf64> {
  %zero = arith.constant 0.0 : f64
  %es = tensor.empty() : tensor<32x40xf64>
  %zs = linalg.fill ins(%zero : f64) outs(%es : tensor<32x40xf64>) -> tensor<32x40xf64>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xf64>, tensor<40x16xf64>) outs(%zs : tensor<32x40xf64>) -> tensor<32x40xf64>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x40xf64>) outs(%es : tensor<32x40xf64>) -> tensor<32x40xf64>
  %eo = tensor.empty() : tensor<32x8xf64>
  %zo = linalg.fill ins(%zero : f64) outs(%eo : tensor<32x8xf64>) -> tensor<32x8xf64>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf64>, tensor<40x8xf64>) outs(%zo : tensor<32x8xf64>) -> tensor<32x8xf64>
  return %r : tensor<32x8xf64>
}
// Longer than a block holds.
func.func @long_head(%q: tensor<32x260xf32>, %k: tensor<40x260xf32>, %v: tensor<40x8xf32>) -> tensor<32x8xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x260xf32>, tensor<40x260xf32>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%p, %v : tensor<32x40xf32>, tensor<40x8xf32>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  return %r : tensor<32x8xf32>
}

// Sums in f32 that are rounded: attention rounds them itself.
// CHECK-LABEL: symbols = ["sk_fn_rounded"]
// CHECK: %[[R:.*]] = spmd_rt.attention
// CHECK-SAME: outs(%{{.*}} : tensor<32x8xbf16>)
// CHECK-NOT: linalg
// CHECK: return %[[R]] : tensor<32x8xbf16>
func.func @rounded(%q: tensor<32x16xbf16>, %k: tensor<40x16xbf16>, %v: tensor<40x8xbf16>) -> tensor<32x8xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x40xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %s = linalg.contract indexing_maps = [#mq, #mk, #ms] ins(%q, %k : tensor<32x16xbf16>, tensor<40x16xbf16>) outs(%zs : tensor<32x40xf32>) -> tensor<32x40xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x40xf32>) outs(%es : tensor<32x40xf32>) -> tensor<32x40xf32>
  %w = arith.truncf %p : tensor<32x40xf32> to tensor<32x40xbf16>
  %eo = tensor.empty() : tensor<32x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %o = linalg.contract indexing_maps = [#mp, #mv, #mo] ins(%w, %v : tensor<32x40xbf16>, tensor<40x8xbf16>) outs(%zo : tensor<32x8xf32>) -> tensor<32x8xf32>
  %r = arith.truncf %o : tensor<32x8xf32> to tensor<32x8xbf16>
  return %r : tensor<32x8xbf16>
}
