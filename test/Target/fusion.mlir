// Softmax, layer norm and gelu become one loop nest over rows each, without temporaries of full size.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=memref | FileCheck %s --strict-whitespace
// RUN: shard-run %s --random-inputs=1 --verify

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#vector = affine_map<(d0, d1, d2) -> (d2)>

// CHECK-LABEL: symbols = ["sk_fn_softmax"]
// CHECK-NOT: {{alloc|linalg|scf}}
// CHECK: {{^    }}scf.for
// CHECK-NOT: alloc() {{.*}} : memref<4x
// CHECK-NOT: {{^    }}{{scf|linalg|memref}}
// CHECK: {{^    }}return
func.func @softmax(%x: tensor<4x16x64xf32>) -> tensor<4x16x64xf32> {
  %e = tensor.empty() : tensor<4x16x64xf32>
  %0 = linalg.softmax dimension(2) ins(%x : tensor<4x16x64xf32>) outs(%e : tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
  return %0 : tensor<4x16x64xf32>
}

// CHECK-LABEL: symbols = ["sk_fn_layer_norm"]
// CHECK-NOT: {{alloc|linalg|scf}}
// CHECK: {{^    }}scf.for
// CHECK-NOT: alloc() {{.*}} : memref<4x
// CHECK-NOT: {{^    }}{{scf|linalg|memref}}
// CHECK: {{^    }}return
func.func @layer_norm(%x: tensor<4x16x64xf32>, %scale: tensor<64xf32>, %bias: tensor<64xf32>) -> tensor<4x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-12 : f32
  %er = tensor.empty() : tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%er : tensor<4x16xf32>) -> tensor<4x16xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4x16x64xf32>) outs(%init : tensor<4x16xf32>) dimensions = [2]
  %centered = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : tensor<4x16x64xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %mean = arith.divf %s, %size : f32
    %d = arith.subf %a, %mean : f32
    linalg.yield %d : f32
  } -> tensor<4x16x64xf32>
  %square = arith.mulf %centered, %centered : tensor<4x16x64xf32>
  %sum2 = linalg.reduce { arith.addf } ins(%square : tensor<4x16x64xf32>) outs(%init : tensor<4x16xf32>) dimensions = [2]
  %r = linalg.generic {indexing_maps = [#id, #row, #vector, #vector, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%centered, %sum2, %scale, %bias : tensor<4x16x64xf32>, tensor<4x16xf32>, tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<4x16x64xf32>) {
  ^bb0(%a: f32, %s: f32, %g: f32, %b: f32, %o: f32):
    %var = arith.divf %s, %size : f32
    %safe = arith.addf %var, %eps : f32
    %inv = math.rsqrt %safe : f32
    %n = arith.mulf %a, %inv : f32
    %m = arith.mulf %n, %g : f32
    %q = arith.addf %m, %b : f32
    linalg.yield %q : f32
  } -> tensor<4x16x64xf32>
  return %r : tensor<4x16x64xf32>
}

// One op per operation, constants and bias broadcast, as traced models have it: one body, and the bias as one row.
// CHECK-LABEL: symbols = ["sk_fn_gelu"]
// CHECK-NOT: {{alloc|linalg|scf}}
// CHECK: {{^    }}scf.for
// CHECK: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.erf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: alloc() {{.*}} : memref<4x
// CHECK-NOT: {{^    }}{{scf|linalg|memref}}
// CHECK: {{^    }}return
func.func @gelu(%x: tensor<4x16x64xf32>, %bias: tensor<64xf32>) -> tensor<4x16x64xf32> {
  %half = arith.constant dense<0.5> : tensor<4x16x64xf32>
  %one = arith.constant dense<1.0> : tensor<4x16x64xf32>
  %root = arith.constant dense<0.707106769> : tensor<4x16x64xf32>
  %e = tensor.empty() : tensor<4x16x64xf32>
  %wide = linalg.broadcast ins(%bias : tensor<64xf32>) outs(%e : tensor<4x16x64xf32>) dimensions = [0, 1]
  %0 = arith.addf %x, %wide : tensor<4x16x64xf32>
  %1 = arith.mulf %0, %root : tensor<4x16x64xf32>
  %2 = math.erf %1 : tensor<4x16x64xf32>
  %3 = arith.addf %2, %one : tensor<4x16x64xf32>
  %4 = arith.mulf %0, %half : tensor<4x16x64xf32>
  %5 = arith.mulf %4, %3 : tensor<4x16x64xf32>
  return %5 : tensor<4x16x64xf32>
}
