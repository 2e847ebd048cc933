// Values that are split into microbatches although they look the same in all microbatches.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --pipeline="microbatches=2" --random-inputs=3 --verify --compile-option=--opt-level=1 | FileCheck %s
// RUN: shard-run %s --pipeline="microbatches=4" --random-inputs=5 --verify --compile-option=--opt-level=1 | FileCheck %s
// CHECK: verify: 1 function, 6 results, all equal
spmd.mesh @pod = <["data"=2, "model"=2]>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<8x4xf32> {spmd.name = "x", spmd.microbatch = #spmd.microbatch<dim = 0>,
                                     spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %rows: tensor<8xi32> {spmd.name = "rows", spmd.range = [0, 6], spmd.microbatch = #spmd.microbatch<dim = 0>},
                %table: tensor<6x4xf32> {spmd.weight = "table"})
    -> (tensor<8x4xf32> {spmd.name = "copy", spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
        tensor<4xf32> {spmd.name = "real"}, tensor<4xf32> {spmd.name = "imaginary"}, tensor<4xf32> {spmd.name = "looked.up"},
        tensor<f32> {spmd.name = "product"}, tensor<8x4xf32> {spmd.name = "mean"}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  // Complex sums.
  %ec = tensor.empty() : tensor<8x4xcomplex<f32>>
  %complex = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%ec : tensor<8x4xcomplex<f32>>) {
    ^bb0(%p: f32, %o: complex<f32>):
      %q = arith.mulf %p, %p : f32
      %c = complex.create %p, %q : complex<f32>
      linalg.yield %c : complex<f32>
  } -> tensor<8x4xcomplex<f32>>
  %cz = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %es = tensor.empty() : tensor<4xcomplex<f32>>
  %fs = linalg.fill ins(%cz : complex<f32>) outs(%es : tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %sum = linalg.reduce { complex.add } ins(%complex : tensor<8x4xcomplex<f32>>) outs(%fs : tensor<4xcomplex<f32>>) dimensions = [0]
  %er = tensor.empty() : tensor<4xf32>
  %re = linalg.map { complex.re } ins(%sum : tensor<4xcomplex<f32>>) outs(%er : tensor<4xf32>)
  %im = linalg.map { complex.im } ins(%sum : tensor<4xcomplex<f32>>) outs(%er : tensor<4xf32>)
  // Of which row of a table, is captured by the body; nothing but the apply part reads the sum.
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %all = tensor.empty() : tensor<8xf32>
  %found = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%all : tensor<8xf32>) outs(%fr : tensor<4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %row = tensor.extract %rows[%i] : tensor<8xi32>
      %at = arith.index_cast %row : i32 to index
      %v = tensor.extract %table[%at, %j] : tensor<6x4xf32>
      %s = arith.addf %o, %v : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  // A product of sums is no sum.
  %ones = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %total = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%ones : tensor<4xf32>) dimensions = [0]
  %one = arith.constant dense<1.0> : tensor<f32>
  %product = linalg.reduce { arith.mulf } ins(%total : tensor<4xf32>) outs(%one : tensor<f32>) dimensions = [0]
  // The size of the batch.
  %size = tensor.dim %x, %c0 : tensor<8x4xf32>
  %number = arith.index_cast %size : index to i64
  %count = arith.sitofp %number : i64 to f32
  %ex = tensor.empty() : tensor<8x4xf32>
  %mean = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%ex : tensor<8x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = arith.divf %p, %count : f32
      linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %x, %re, %im, %found, %product, %mean : tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<8x4xf32>
}
