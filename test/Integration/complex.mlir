// Complex numbers through every kind of op, collective and boundary: what they are computed with are their parts.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-run %s --random-inputs=3 --verify | FileCheck %s
// RUN: shard-run %s --random-inputs=4 --verify --compile-option=--overlap --compile-option=--min-hidden-fraction=0 | FileCheck %s
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=3 --verify | FileCheck %s
// CHECK: verify moves result0: max abs error 0,
// CHECK: verify: 8 functions, 32 results, all equal

// A collective moves pairs, once; a product is four of real numbers.
// RUN: rm -rf %t && mkdir -p %t && shard-compile %s -o %t/bundle
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/bundle/manifest.json
// MANIFEST-LABEL: "name": "arithmetic"
// MANIFEST: "dtype": "c64"
// MANIFEST-LABEL: "name": "reductions"
// MANIFEST: "dtype": "c128"
// MANIFEST: "kind": "reduce_scatter"
// MANIFEST: "dtype": "f64"
// MANIFEST: "in_elements": 16
// MANIFEST-LABEL: "name": "products"
// RUN: shard-compile %s --emit=tensor | FileCheck %s --check-prefix=TENSOR
// TENSOR: func.func @{{.*}}tensor<16x16x2xf32>
// TENSOR-COUNT-4: spmd_rt.contract
// TENSOR-NOT: spmd_rt.contract
// TENSOR: func.func @

spmd.mesh @m = <["x"=2, "y"=2]>
#id1 = affine_map<(i) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What math there is, and results that are no complex numbers.
func.func @arithmetic(%a: tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
    %b: tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %s: complex<f32>)
    -> (tensor<8x6xcomplex<f32>>, tensor<8x6xf32>, tensor<8x6xi1>, complex<f32>) {
  %e = tensor.empty() : tensor<8x6xcomplex<f32>>
  %r = tensor.empty() : tensor<8x6xf32>
  %t = tensor.empty() : tensor<8x6xi1>
  %0:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>)
      outs(%e, %r, %t : tensor<8x6xcomplex<f32>>, tensor<8x6xf32>, tensor<8x6xi1>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>, %p: f32, %q: i1):
    %i = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
    %1 = complex.mul %x, %y : complex<f32>
    %2 = complex.add %1, %i : complex<f32>
    %3 = complex.exp %2 : complex<f32>
    %4 = complex.div %3, %s : complex<f32>
    %5 = complex.conj %4 : complex<f32>
    %6 = complex.sub %5, %x : complex<f32>
    %7 = complex.abs %6 : complex<f32>
    %8 = complex.neq %x, %y : complex<f32>
    %9 = complex.sqrt %6 : complex<f32>
    %re = complex.re %x : complex<f32>
    %zero = arith.constant 0.0 : f32
    %is = arith.cmpf ogt, %re, %zero : f32
    %10 = arith.select %is, %9, %6 : complex<f32>
    linalg.yield %10, %7, %8 : complex<f32>, f32, i1
  } -> (tensor<8x6xcomplex<f32>>, tensor<8x6xf32>, tensor<8x6xi1>)
  %n = complex.neg %s : complex<f32>
  return %0#0, %0#1, %0#2, %n : tensor<8x6xcomplex<f32>>, tensor<8x6xf32>, tensor<8x6xi1>, complex<f32>
}

// Every function of one number or two; the powers and logarithms in f64, where little is lost.
func.func @functions(%a: tensor<24xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}, %b: tensor<24xcomplex<f64>>,
    %n: tensor<24xi32> {spmd.range = [-3, 4]}) -> (tensor<24xcomplex<f64>>, tensor<24xf64>, tensor<24xi1>) {
  %e = tensor.empty() : tensor<24xcomplex<f64>>
  %r = tensor.empty() : tensor<24xf64>
  %t = tensor.empty() : tensor<24xi1>
  %0:3 = linalg.generic {indexing_maps = [#id1, #id1, #id1, #id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%a, %b, %n : tensor<24xcomplex<f64>>, tensor<24xcomplex<f64>>, tensor<24xi32>)
      outs(%e, %r, %t : tensor<24xcomplex<f64>>, tensor<24xf64>, tensor<24xi1>) {
  ^bb0(%x: complex<f64>, %y: complex<f64>, %k: i32, %o: complex<f64>, %p: f64, %q: i1):
    %1 = complex.sin %x : complex<f64>
    %2 = complex.cos %y : complex<f64>
    %3 = complex.tan %x : complex<f64>
    %4 = complex.tanh %y : complex<f64>
    %5 = complex.expm1 %x : complex<f64>
    %6 = complex.log %y : complex<f64>
    %7 = complex.log1p %x : complex<f64>
    %8 = complex.rsqrt %y : complex<f64>
    %9 = complex.sign %x : complex<f64>
    %10 = complex.pow %x, %y : complex<f64>
    %11 = complex.powi %y, %k : complex<f64>, i32
    %12 = complex.atan2 %x, %y : complex<f64>
    %s1 = complex.add %1, %2 : complex<f64>
    %s2 = complex.sub %s1, %3 : complex<f64>
    %s3 = complex.add %s2, %4 : complex<f64>
    %s4 = complex.sub %s3, %5 : complex<f64>
    %s5 = complex.add %s4, %6 : complex<f64>
    %s6 = complex.sub %s5, %7 : complex<f64>
    %s7 = complex.add %s6, %8 : complex<f64>
    %s8 = complex.sub %s7, %9 : complex<f64>
    %s9 = complex.add %s8, %10 : complex<f64>
    %s10 = complex.sub %s9, %11 : complex<f64>
    %s11 = complex.add %s10, %12 : complex<f64>
    %angle = complex.angle %x : complex<f64>
    %eq = complex.eq %x, %9 : complex<f64>
    linalg.yield %s11, %angle, %eq : complex<f64>, f64, i1
  } -> (tensor<24xcomplex<f64>>, tensor<24xf64>, tensor<24xi1>)
  return %0#0, %0#1, %0#2 : tensor<24xcomplex<f64>>, tensor<24xf64>, tensor<24xi1>
}

// A sum over a cut dim, whole and in parts.
func.func @reductions(%a: tensor<8x6xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
    -> (tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %zero = complex.constant [0.0, 0.0] : complex<f64>
  %e = tensor.empty() : tensor<8xcomplex<f64>>
  %init = linalg.fill ins(%zero : complex<f64>) outs(%e : tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f64>>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x6xcomplex<f64>>) outs(%init : tensor<8xcomplex<f64>>) {
  ^bb0(%x: complex<f64>, %sum: complex<f64>):
    %1 = complex.add %sum, %x : complex<f64>
    linalg.yield %1 : complex<f64>
  } -> tensor<8xcomplex<f64>>
  %2 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xcomplex<f64>>) outs(%e : tensor<8xcomplex<f64>>) {
  ^bb0(%x: complex<f64>, %o: complex<f64>):
    %3 = complex.mul %x, %x : complex<f64>
    linalg.yield %3 : complex<f64>
  } -> tensor<8xcomplex<f64>>
  return %2, %0 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
}

// Products, also where what is added up is cut, and of one with the conjugate of the other.
func.func @products(%a: tensor<32x32xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %b: tensor<32x20xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
    %c: tensor<32x20xcomplex<f32>>)
    -> (tensor<32x20xcomplex<f32>>, tensor<32x20xcomplex<f32>>) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<32x20xcomplex<f32>>
  %init = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<32x20xcomplex<f32>>) -> tensor<32x20xcomplex<f32>>
  %0 = linalg.matmul ins(%a, %b : tensor<32x32xcomplex<f32>>, tensor<32x20xcomplex<f32>>) outs(%init : tensor<32x20xcomplex<f32>>) -> tensor<32x20xcomplex<f32>>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x32xcomplex<f32>>, tensor<32x20xcomplex<f32>>) outs(%c : tensor<32x20xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %sum: complex<f32>):
    %2 = complex.conj %x : complex<f32>
    %3 = complex.mul %2, %y : complex<f32>
    %4 = complex.add %sum, %3 : complex<f32>
    linalg.yield %4 : complex<f32>
  } -> tensor<32x20xcomplex<f32>>
  return %0, %1 : tensor<32x20xcomplex<f32>>, tensor<32x20xcomplex<f32>>
}

// Whatever moves elements: bit for bit.
func.func @moves(%a: tensor<8x16xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
    %w: tensor<8x4xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>},
    %i: tensor<3xindex> {spmd.range = [0, 8]})
    -> (tensor<8x16xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>},
        tensor<8x16xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
        tensor<16x8xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
        tensor<4x32xcomplex<f32>>, tensor<3x16xcomplex<f32>>, tensor<10x16xcomplex<f32>>,
        tensor<16x4xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>},
        tensor<6x4xcomplex<f64>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %e = tensor.empty() : tensor<16x8xcomplex<f32>>
  %t = linalg.transpose ins(%a : tensor<8x16xcomplex<f32>>) outs(%e : tensor<16x8xcomplex<f32>>) permutation = [1, 0]
  %shape = arith.constant dense<[4, 32]> : tensor<2xindex>
  %r = tensor.reshape %a(%shape) : (tensor<8x16xcomplex<f32>>, tensor<2xindex>) -> tensor<4x32xcomplex<f32>>
  %eg = tensor.empty() : tensor<3x16xcomplex<f32>>
  %g = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3xindex>) outs(%eg : tensor<3x16xcomplex<f32>>) {
  ^bb0(%k: index, %o: complex<f32>):
    %j = linalg.index 1 : index
    %x = tensor.extract %a[%k, %j] : tensor<8x16xcomplex<f32>>
    linalg.yield %x : complex<f32>
  } -> tensor<3x16xcomplex<f32>>
  %one = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %p = tensor.pad %a low[1, 0] high[1, 0] {
  ^bb0(%k: index, %l: index):
    tensor.yield %one : complex<f32>
  } : tensor<8x16xcomplex<f32>> to tensor<10x16xcomplex<f32>>
  %c = tensor.concat dim(0) %w, %w : (tensor<8x4xcomplex<f64>>, tensor<8x4xcomplex<f64>>) -> tensor<16x4xcomplex<f64>>
  %s = tensor.extract_slice %w[1, 0] [6, 4] [1, 1] : tensor<8x4xcomplex<f64>> to tensor<6x4xcomplex<f64>>
  return %a, %a, %t, %r, %g, %p, %c, %s : tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>, tensor<16x8xcomplex<f32>>, tensor<4x32xcomplex<f32>>,
      tensor<3x16xcomplex<f32>>, tensor<10x16xcomplex<f32>>, tensor<16x4xcomplex<f64>>, tensor<6x4xcomplex<f64>>
}

// Loops, branches and the elements of tensors.
func.func @control(%a: tensor<4x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<i1>)
    -> (tensor<4x6xcomplex<f32>>, complex<f32>, tensor<4x6xcomplex<f32>>, tensor<2x2xcomplex<f32>>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %half = complex.constant [0.5 : f32, -0.25 : f32] : complex<f32>
  %loop:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%v = %a, %s = %half) -> (tensor<4x6xcomplex<f32>>, complex<f32>) {
    %x = tensor.extract %v[%k, %c1] : tensor<4x6xcomplex<f32>>
    %y = complex.add %s, %x : complex<f32>
    %e = tensor.empty() : tensor<4x6xcomplex<f32>>
    %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<4x6xcomplex<f32>>) outs(%e : tensor<4x6xcomplex<f32>>) {
    ^bb0(%q: complex<f32>, %o: complex<f32>):
      %1 = complex.mul %q, %half : complex<f32>
      linalg.yield %1 : complex<f32>
    } -> tensor<4x6xcomplex<f32>>
    scf.yield %n, %y : tensor<4x6xcomplex<f32>>, complex<f32>
  }
  %bit = tensor.extract %b[] : tensor<i1>
  %branch = scf.if %bit -> tensor<4x6xcomplex<f32>> {
    scf.yield %loop#0 : tensor<4x6xcomplex<f32>>
  } else {
    %f = tensor.splat %loop#1 : tensor<4x6xcomplex<f32>>
    scf.yield %f : tensor<4x6xcomplex<f32>>
  }
  %m = tensor.from_elements %half, %loop#1, %half, %half : tensor<2x2xcomplex<f32>>
  %k = arith.constant dense<[[(1.0, 2.0), (3.0, -4.0)], [(0.5, 0.0), (0.0, 0.25)]]> : tensor<2x2xcomplex<f32>>
  %e2 = tensor.empty() : tensor<2x2xcomplex<f32>>
  %d = tensor.dim %a, %c1 : tensor<4x6xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %k : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) outs(%e2 : tensor<2x2xcomplex<f32>>) {
  ^bb0(%q: complex<f32>, %w: complex<f32>, %o: complex<f32>):
    %1 = complex.mul %q, %w : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<2x2xcomplex<f32>>
  return %loop#0, %loop#1, %branch, %z, %d : tensor<4x6xcomplex<f32>>, complex<f32>, tensor<4x6xcomplex<f32>>, tensor<2x2xcomplex<f32>>, index
}

// A tensor that is computed place by place, and one that several iterations write.
func.func @places(%a: tensor<8xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>, tensor<16xcomplex<f32>>) {
  %four = arith.constant 4 : index
  %g = tensor.generate {
  ^bb0(%k: index):
    %i = arith.index_cast %k : index to i32
    %f = arith.sitofp %i : i32 to f32
    %x = complex.create %f, %f : complex<f32>
    %s = complex.sin %x : complex<f32>
    tensor.yield %s : complex<f32>
  } : tensor<8xcomplex<f32>>
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %l = scf.forall (%k) in (2) shared_outs(%o = %e) -> (tensor<8xcomplex<f32>>) {
    %at = arith.muli %k, %four : index
    %part = tensor.extract_slice %a[%at] [4] [1] : tensor<8xcomplex<f32>> to tensor<4xcomplex<f32>>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %part into %o[%at] [4] [1] : tensor<4xcomplex<f32>> into tensor<8xcomplex<f32>>
    }
  }
  %wide = tensor.expand_shape %a [[0, 1]] output_shape [2, 4] : tensor<8xcomplex<f32>> into tensor<2x4xcomplex<f32>>
  %e3 = tensor.empty() : tensor<2x2x4xcomplex<f32>>
  %twice = linalg.broadcast ins(%wide : tensor<2x4xcomplex<f32>>) outs(%e3 : tensor<2x2x4xcomplex<f32>>) dimensions = [0]
  %flat = tensor.collapse_shape %twice [[0, 1, 2]] : tensor<2x2x4xcomplex<f32>> into tensor<16xcomplex<f32>>
  return %g, %l, %flat : tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>, tensor<16xcomplex<f32>>
}

// Beside what the same is of real numbers.
func.func @by_parts(%a: tensor<16x8xf32>, %b: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
    %c: tensor<8x12xf32>, %d: tensor<8x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x8xf32>, tensor<16x8xf32>) attributes {spmd.reference = @by_parts_reference} {
  %e0 = tensor.empty() : tensor<16x8xcomplex<f32>>
  %e1 = tensor.empty() : tensor<8x12xcomplex<f32>>
  %e2 = tensor.empty() : tensor<16x12xcomplex<f32>>
  %r = tensor.empty() : tensor<16x12xf32>
  %q = tensor.empty() : tensor<16x8xf32>
  %x = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<16x8xf32>, tensor<16x8xf32>) outs(%e0 : tensor<16x8xcomplex<f32>>) {
  ^bb0(%u: f32, %v: f32, %o: complex<f32>):
    %1 = complex.create %u, %v : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<16x8xcomplex<f32>>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %d : tensor<8x12xf32>, tensor<8x12xf32>) outs(%e1 : tensor<8x12xcomplex<f32>>) {
  ^bb0(%u: f32, %v: f32, %o: complex<f32>):
    %1 = complex.create %u, %v : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<8x12xcomplex<f32>>
  %start = complex.constant [0.5 : f32, -2.0 : f32] : complex<f32>
  %init = linalg.fill ins(%start : complex<f32>) outs(%e2 : tensor<16x12xcomplex<f32>>) -> tensor<16x12xcomplex<f32>>
  %z = linalg.matmul ins(%x, %y : tensor<16x8xcomplex<f32>>, tensor<8x12xcomplex<f32>>) outs(%init : tensor<16x12xcomplex<f32>>) -> tensor<16x12xcomplex<f32>>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<16x8xcomplex<f32>>, tensor<8x12xcomplex<f32>>) outs(%init : tensor<16x12xcomplex<f32>>) {
  ^bb0(%u: complex<f32>, %v: complex<f32>, %sum: complex<f32>):
    %1 = complex.conj %u : complex<f32>
    %2 = complex.mul %1, %v : complex<f32>
    %3 = complex.add %sum, %2 : complex<f32>
    linalg.yield %3 : complex<f32>
  } -> tensor<16x12xcomplex<f32>>
  %conj = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<16x12xcomplex<f32>>) outs(%r : tensor<16x12xf32>) {
  ^bb0(%v: complex<f32>, %o: f32):
    %1 = complex.im %v : complex<f32>
    linalg.yield %1 : f32
  } -> tensor<16x12xf32>
  %re:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<16x12xcomplex<f32>>) outs(%r, %r : tensor<16x12xf32>, tensor<16x12xf32>) {
  ^bb0(%v: complex<f32>, %o: f32, %p: f32):
    %1 = complex.re %v : complex<f32>
    %2 = complex.im %v : complex<f32>
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<16x12xf32>, tensor<16x12xf32>)
  %f:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x8xcomplex<f32>>) outs(%q, %q : tensor<16x8xf32>, tensor<16x8xf32>) {
  ^bb0(%v: complex<f32>, %o: f32, %p: f32):
    %1 = complex.exp %v : complex<f32>
    %2 = complex.re %1 : complex<f32>
    %3 = complex.abs %v : complex<f32>
    linalg.yield %2, %3 : f32, f32
  } -> (tensor<16x8xf32>, tensor<16x8xf32>)
  return %re#0, %re#1, %conj, %f#0, %f#1 : tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
func.func private @by_parts_reference(%a: tensor<16x8xf32>, %b: tensor<16x8xf32>, %c: tensor<8x12xf32>, %d: tensor<8x12xf32>)
    -> (tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %half = arith.constant dense<0.5> : tensor<16x12xf32>
  %two = arith.constant dense<-2.0> : tensor<16x12xf32>
  %n = arith.negf %b : tensor<16x8xf32>
  %0 = linalg.matmul ins(%a, %c : tensor<16x8xf32>, tensor<8x12xf32>) outs(%half : tensor<16x12xf32>) -> tensor<16x12xf32>
  %1 = linalg.matmul ins(%n, %d : tensor<16x8xf32>, tensor<8x12xf32>) outs(%0 : tensor<16x12xf32>) -> tensor<16x12xf32>
  %2 = linalg.matmul ins(%a, %d : tensor<16x8xf32>, tensor<8x12xf32>) outs(%two : tensor<16x12xf32>) -> tensor<16x12xf32>
  %3 = linalg.matmul ins(%b, %c : tensor<16x8xf32>, tensor<8x12xf32>) outs(%2 : tensor<16x12xf32>) -> tensor<16x12xf32>
  %4 = math.exp %a : tensor<16x8xf32>
  %5 = math.cos %b : tensor<16x8xf32>
  %6 = arith.mulf %4, %5 : tensor<16x8xf32>
  %7 = arith.mulf %a, %a : tensor<16x8xf32>
  %8 = arith.mulf %b, %b : tensor<16x8xf32>
  %9 = arith.addf %7, %8 : tensor<16x8xf32>
  %10 = math.sqrt %9 : tensor<16x8xf32>
  %m = arith.negf %c : tensor<8x12xf32>
  %11 = linalg.matmul ins(%b, %m : tensor<16x8xf32>, tensor<8x12xf32>) outs(%2 : tensor<16x12xf32>) -> tensor<16x12xf32>
  return %1, %3, %11, %6, %10 : tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x12xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
