// Contractions go to the library's call, which reads its operands where they are: transposed weights and heads cost no copy.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=tensor | FileCheck %s --check-prefix=TENSOR
// RUN: shard-compile %s --emit=memref | FileCheck %s --check-prefix=MEMREF
// RUN: shard-compile %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: shard-run %s --random-inputs=1 --verify

// A weight stored as outputs x inputs is read through its indexing map.
// TENSOR-LABEL: symbols = ["sk_fn_linear"]
// TENSOR-NOT: linalg.
// TENSOR: spmd_rt.contract [affine_map<([[M:d[0-9]]], [[N:d[0-9]]], [[K:d[0-9]]]) -> ([[M]], [[K]])>, affine_map<{{.*}} -> ([[N]], [[K]])>, affine_map<{{.*}} -> ([[M]], [[N]])>] ins(%arg0, %arg1 : {{.*}} overwrite
// TENSOR-NOT: linalg.
// TENSOR: return
// MEMREF-LABEL: symbols = ["sk_fn_linear"]
// MEMREF-NOT: {{alloc|copy|linalg|scf}}
// MEMREF: spmd_rt.contract {{.*}} ins(%arg1, %arg2 : {{.*}}) outs(%arg3 : memref<16x24xf32>) overwrite
// MEMREF-NOT: {{alloc|copy|linalg|scf}}
// MEMREF: return
// LLVM-LABEL: llvm.func internal @program_0
// LLVM-SAME: arena_bytes = 0 : i64
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul}}
// LLVM: llvm.call @sk_contraction
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul|llvm.call}}
// LLVM: llvm.func @sk_fn_linear
func.func @linear(%x: tensor<16x32xf32>, %w: tensor<24x32xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<32x24xf32>
  %t = linalg.transpose ins(%w : tensor<24x32xf32>) outs(%et : tensor<32x24xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<16x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x24xf32>) -> tensor<16x24xf32>
  %y = linalg.matmul ins(%x, %t : tensor<16x32xf32>, tensor<32x24xf32>) outs(%init : tensor<16x24xf32>) -> tensor<16x24xf32>
  return %y : tensor<16x24xf32>
}

// Heads: scores of transposed queries and keys, their values, and the output: three calls without ops in between.
// MEMREF-LABEL: symbols = ["sk_fn_heads"]
// MEMREF-NOT: {{memref.copy|linalg|scf}}
// MEMREF: spmd_rt.contract
// MEMREF-NOT: {{memref.copy|linalg|scf}}
// MEMREF: spmd_rt.contract
// MEMREF-NOT: {{memref.copy|linalg|scf}}
// MEMREF: spmd_rt.contract
// MEMREF-NOT: {{spmd_rt|memref.copy|linalg|scf}}
// MEMREF: return
// LLVM-LABEL: llvm.func internal @program_1
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul}}
// LLVM: llvm.call @sk_contraction
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul}}
// LLVM: llvm.call @sk_contraction
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul}}
// LLVM: llvm.call @sk_contraction
// LLVM-NOT: {{memcpy|llvm.store|llvm.fmul|llvm.call}}
// LLVM: llvm.func @sk_fn_heads
func.func @heads(%q: tensor<16x32xf32>, %k: tensor<16x32xf32>, %v: tensor<16x32xf32>, %w: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %qs = tensor.expand_shape %q [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %ks = tensor.expand_shape %k [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %vs = tensor.expand_shape %v [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %eh = tensor.empty() : tensor<4x16x8xf32>
  %qh = linalg.transpose ins(%qs : tensor<16x4x8xf32>) outs(%eh : tensor<4x16x8xf32>) permutation = [1, 0, 2]
  %vh = linalg.transpose ins(%vs : tensor<16x4x8xf32>) outs(%eh : tensor<4x16x8xf32>) permutation = [1, 0, 2]
  %ek = tensor.empty() : tensor<4x8x16xf32>
  %kh = linalg.transpose ins(%ks : tensor<16x4x8xf32>) outs(%ek : tensor<4x8x16xf32>) permutation = [1, 2, 0]
  %es = tensor.empty() : tensor<4x16x16xf32>
  %is = linalg.fill ins(%zero : f32) outs(%es : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %s = linalg.batch_matmul ins(%qh, %kh : tensor<4x16x8xf32>, tensor<4x8x16xf32>) outs(%is : tensor<4x16x16xf32>) -> tensor<4x16x16xf32>
  %io = linalg.fill ins(%zero : f32) outs(%eh : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %o = linalg.batch_matmul ins(%s, %vh : tensor<4x16x16xf32>, tensor<4x16x8xf32>) outs(%io : tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %eo = tensor.empty() : tensor<16x4x8xf32>
  %ot = linalg.transpose ins(%o : tensor<4x16x8xf32>) outs(%eo : tensor<16x4x8xf32>) permutation = [1, 0, 2]
  %joined = tensor.collapse_shape %ot [[0], [1, 2]] : tensor<16x4x8xf32> into tensor<16x32xf32>
  %e = tensor.empty() : tensor<16x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
  %y = linalg.matmul ins(%joined, %w : tensor<16x32xf32>, tensor<32x32xf32>) outs(%i : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// An init that is not zero is accumulated onto, in a copy: arguments are read only.
// MEMREF-LABEL: symbols = ["sk_fn_accumulate"]
// MEMREF: memref.copy %arg3, [[COPY:%[a-z0-9_]+]] :
// MEMREF-NEXT: spmd_rt.contract
// MEMREF-SAME: outs([[COPY]] : memref<16x16xf32>){{$}}
func.func @accumulate(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// Narrow operands are read as they are and summed in f32.
// MEMREF-LABEL: symbols = ["sk_fn_narrow"]
// MEMREF-NOT: {{linalg|alloc}}
// MEMREF: spmd_rt.contract {{.*}} ins(%arg1, %arg2 : memref<16x16xbf16>, memref<16x16xbf16>) outs(%arg3 : memref<16x16xf32>) overwrite
func.func @narrow(%a: tensor<16x16xbf16>, %b: tensor<16x16xbf16>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %y = linalg.matmul ins(%a, %b : tensor<16x16xbf16>, tensor<16x16xbf16>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}

// What the library does not have stays a loop nest: integers, other combinations than sums of products, tiny products.
// MEMREF-LABEL: symbols = ["sk_fn_loops"]
// MEMREF-NOT: spmd_rt
// MEMREF: return
func.func @loops(%a: tensor<16x16xi32>, %b: tensor<16x16xf32>, %c: tensor<4x4xf32>) -> (tensor<16x16xi32>, tensor<16x16xf32>, tensor<4x4xf32>) {
  %zi = arith.constant dense<0> : tensor<16x16xi32>
  %low = arith.constant dense<-100.0> : tensor<16x16xf32>
  %zf = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<16x16xi32>, tensor<16x16xi32>) outs(%zi : tensor<16x16xi32>) -> tensor<16x16xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%low : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %o : f32
    linalg.yield %m : f32
  } -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zf : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<16x16xi32>, tensor<16x16xf32>, tensor<4x4xf32>
}
