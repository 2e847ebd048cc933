// minilm of models.py. Written by export.py.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
#map9 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> ()>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map19 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map20 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map21 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map22 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map23 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map24 = affine_map<(d0, d1) -> (d0)>
#map25 = affine_map<(d0, d1) -> (d0, 0)>
module @jit_encode {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<32xf32> {spmd.weight = "params.layers.0.down.bias"}, %arg1: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.0.down.kernel"}, %arg2: tensor<32xf32> {spmd.weight = "params.layers.0.key.bias"}, %arg3: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.key.kernel"}, %arg4: tensor<32xf32> {spmd.weight = "params.layers.0.norm1.bias"}, %arg5: tensor<32xf32> {spmd.weight = "params.layers.0.norm1.scale"}, %arg6: tensor<32xf32> {spmd.weight = "params.layers.0.norm2.bias"}, %arg7: tensor<32xf32> {spmd.weight = "params.layers.0.norm2.scale"}, %arg8: tensor<32xf32> {spmd.weight = "params.layers.0.out.bias"}, %arg9: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.0.out.kernel"}, %arg10: tensor<32xf32> {spmd.weight = "params.layers.0.query.bias"}, %arg11: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.query.kernel"}, %arg12: tensor<128xf32> {spmd.weight = "params.layers.0.up.bias"}, %arg13: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.up.kernel"}, %arg14: tensor<32xf32> {spmd.weight = "params.layers.0.value.bias"}, %arg15: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.value.kernel"}, %arg16: tensor<32xf32> {spmd.weight = "params.norm.bias"}, %arg17: tensor<32xf32> {spmd.weight = "params.norm.scale"}, %arg18: tensor<8x32xf32> {spmd.weight = "params.places"}, %arg19: tensor<64x32xf32> {spmd.weight = "params.words"}, %arg20: tensor<8x8xi32> {spmd.name = "tokens", spmd.range = [0, 64], spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}, %arg21: tensor<8x8xf32> {spmd.name = "mask", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x32xf32> {spmd.name = "result"}) {
    %cst = arith.constant dense<0.707106769> : tensor<f32>
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<0.353553385> : tensor<f32>
    %cst_4 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_5 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_7 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_8 = arith.constant 0.000000e+00 : f32
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %cst_9 = arith.constant dense<64> : tensor<i32>
    %cst_10 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x8xi32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_10 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %2 = tensor.empty() : tensor<8x8xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg20, %1 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%2 : tensor<8x8xi1>) {
    ^bb0(%in: i32, %in_13: i32, %out: i1):
      %166 = arith.cmpi slt, %in, %in_13 : i32
      linalg.yield %166 : i1
    } -> tensor<8x8xi1>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_9 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg20, %4 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %in_13: i32, %out: i32):
      %166 = arith.addi %in, %in_13 : i32
      linalg.yield %166 : i32
    } -> tensor<8x8xi32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %5, %arg20 : tensor<8x8xi1>, tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i1, %in_13: i32, %in_14: i32, %out: i32):
      %166 = arith.select %in, %in_13, %in_14 : i32
      linalg.yield %166 : i32
    } -> tensor<8x8xi32>
    %7 = tensor.empty() : tensor<8x8x1xi32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x8xi32>) outs(%7 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1xi32>
    %9 = tensor.empty() : tensor<8x8x32xf32>
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%out: f32):
      %166 = linalg.index 0 : index
      %167 = linalg.index 1 : index
      %168 = linalg.index 2 : index
      %extracted = tensor.extract %8[%166, %167, %c0] : tensor<8x8x1xi32>
      %169 = arith.index_cast %extracted : i32 to index
      %170 = arith.maxsi %169, %c0 : index
      %171 = arith.minsi %170, %c63 : index
      %extracted_13 = tensor.extract %arg19[%171, %168] : tensor<64x32xf32>
      linalg.yield %extracted_13 : f32
    } -> tensor<8x8x32xf32>
    %11 = tensor.empty() : tensor<1x8x32xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg18 : tensor<8x32xf32>) outs(%11 : tensor<1x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x32xf32>
    %13 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %13 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %15 = tensor.empty() : tensor<8x8xf32>
    %16 = linalg.fill ins(%cst_8 : f32) outs(%15 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %18 = tensor.empty() : tensor<8x8x1xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %20 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %22 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %22 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.subf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %23 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%24 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.rsqrt %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %31 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %31 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %33 = tensor.empty() : tensor<1x1x32xf32>
    %34 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg17 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %35 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %37 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg16 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %38 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%36, %38 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %40 = tensor.empty() : tensor<8x1x1x8xf32>
    %41 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg21 : tensor<8x8xf32>) outs(%40 : tensor<8x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x1x8xf32>
    %42 = linalg.generic {indexing_maps = [#map12, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%40 : tensor<8x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x1x8xf32>
    %43 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %41 : tensor<8x1x1x8xf32>, tensor<8x1x1x8xf32>) outs(%40 : tensor<8x1x1x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.subf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x1x1x8xf32>
    %44 = linalg.generic {indexing_maps = [#map12, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%40 : tensor<8x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1x1x8xf32>
    %45 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %44 : tensor<8x1x1x8xf32>, tensor<8x1x1x8xf32>) outs(%40 : tensor<8x1x1x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x1x1x8xf32>
    %46 = linalg.fill ins(%cst_8 : f32) outs(%9 : tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %47 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39, %arg11 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%46 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x32xf32>
    %48 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %49 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47, %49 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %expanded = tensor.expand_shape %50 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %51 = tensor.empty() : tensor<8x4x8x8xf32>
    %52 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x8x4x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %53 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39, %arg3 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%46 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x32xf32>
    %54 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %55 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %55 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %expanded_11 = tensor.expand_shape %56 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %57 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_11 : tensor<8x8x4x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %58 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39, %arg15 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%46 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x32xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %60 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58, %60 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %expanded_12 = tensor.expand_shape %61 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %62 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<8x8x4x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %63 = linalg.generic {indexing_maps = [#map17, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %64 = linalg.fill ins(%cst_8 : f32) outs(%51 : tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
    %65 = linalg.generic {indexing_maps = [#map18, #map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%52, %63 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%64 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x4x8x8xf32>
    %66 = linalg.generic {indexing_maps = [#map12, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %67 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %66 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8x8xf32>
    %68 = linalg.generic {indexing_maps = [#map21, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<8x1x1x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %69 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %68 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8x8xf32>
    %70 = tensor.empty() : tensor<8x4x8xf32>
    %71 = linalg.fill ins(%cst_1 : f32) outs(%70 : tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %72 = linalg.generic {indexing_maps = [#map11, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%69 : tensor<8x4x8x8xf32>) outs(%71 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.maximumf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8xf32>
    %73 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%70 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8xf32>
    %74 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73, %72 : tensor<8x4x8xf32>, tensor<8x4x8xf32>) outs(%70 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.maximumf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8xf32>
    %75 = tensor.empty() : tensor<8x4x8x1xf32>
    %76 = linalg.generic {indexing_maps = [#map15, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74 : tensor<8x4x8xf32>) outs(%75 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %77 = linalg.generic {indexing_maps = [#map22, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<8x4x8x1xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %78 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69, %77 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.subf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8x8xf32>
    %79 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%78 : tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.exp %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8x8xf32>
    %80 = linalg.fill ins(%cst_8 : f32) outs(%70 : tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %81 = linalg.generic {indexing_maps = [#map11, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%79 : tensor<8x4x8x8xf32>) outs(%80 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8xf32>
    %82 = linalg.generic {indexing_maps = [#map15, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%81 : tensor<8x4x8xf32>) outs(%75 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %83 = linalg.generic {indexing_maps = [#map22, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%82 : tensor<8x4x8x1xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %84 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%79, %83 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%51 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x4x8x8xf32>
    %85 = linalg.generic {indexing_maps = [#map18, #map19, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%84, %62 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%64 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x4x8x8xf32>
    %86 = tensor.empty() : tensor<8x8x4x8xf32>
    %87 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%85 : tensor<8x4x8x8xf32>) outs(%86 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed = tensor.collapse_shape %87 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %88 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg9 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%46 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x32xf32>
    %89 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg8 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %90 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %91 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %90 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %92 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39, %91 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %93 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %94 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %95 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %96 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %97 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %96 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.subf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %98 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %97 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %99 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%98 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %100 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %101 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %102 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %28 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %103 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.rsqrt %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %104 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %104 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %106 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %107 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %108 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %107 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %109 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %110 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %111 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %110 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %112 = tensor.empty() : tensor<8x8x128xf32>
    %113 = linalg.fill ins(%cst_8 : f32) outs(%112 : tensor<8x8x128xf32>) -> tensor<8x8x128xf32>
    %114 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%111, %arg13 : tensor<8x8x32xf32>, tensor<32x128xf32>) outs(%113 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x128xf32>
    %115 = tensor.empty() : tensor<1x1x128xf32>
    %116 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12 : tensor<128xf32>) outs(%115 : tensor<1x1x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x128xf32>
    %117 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<1x1x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %118 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114, %117 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x128xf32>
    %119 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %120 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %118 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x128xf32>
    %121 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x8x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.negf %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x128xf32>
    %122 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %122 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x128xf32>
    %124 = math.erfc %123 : tensor<8x8x128xf32>
    %125 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %124 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%112 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x128xf32>
    %126 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%125, %arg1 : tensor<8x8x128xf32>, tensor<128x32xf32>) outs(%46 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      %167 = arith.addf %out, %166 : f32
      linalg.yield %167 : f32
    } -> tensor<8x8x32xf32>
    %127 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %128 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %129 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126, %128 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %130 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %129 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %131 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%130 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %132 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %133 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %134 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %134 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.subf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %135 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %137 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%136 : tensor<8x8x32xf32>) outs(%16 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8xf32>
    %138 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %139 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %20 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139, %28 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%140 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = math.rsqrt %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x1xf32>
    %142 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %143 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %142 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %144 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %145 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %145 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %147 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg6 : tensor<32xf32>) outs(%33 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %148 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%147 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146, %148 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.addf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %150 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21 : tensor<8x8xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %151 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %152 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%149, %151 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.mulf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x8x32xf32>
    %153 = tensor.empty() : tensor<8x32xf32>
    %154 = linalg.fill ins(%cst_8 : f32) outs(%153 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %155 = linalg.generic {indexing_maps = [#map23, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%152 : tensor<8x8x32xf32>) outs(%154 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8x32xf32>
    %156 = tensor.empty() : tensor<8xf32>
    %157 = linalg.fill ins(%cst_8 : f32) outs(%156 : tensor<8xf32>) -> tensor<8xf32>
    %158 = linalg.generic {indexing_maps = [#map1, #map24], iterator_types = ["parallel", "reduction"]} ins(%arg21 : tensor<8x8xf32>) outs(%157 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %166 = arith.addf %out, %in : f32
      linalg.yield %166 : f32
    } -> tensor<8xf32>
    %159 = tensor.empty() : tensor<8x1xf32>
    %160 = linalg.generic {indexing_maps = [#map24, #map1], iterator_types = ["parallel", "parallel"]} ins(%158 : tensor<8xf32>) outs(%159 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %161 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel"]} ins(%160 : tensor<8x1xf32>) outs(%153 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %162 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%155, %161 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%153 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x32xf32>
    %163 = call @norm(%162) : (tensor<8x32xf32>) -> tensor<8x1xf32>
    %164 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel"]} ins(%163 : tensor<8x1xf32>) outs(%153 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %165 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%162, %164 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%153 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %166 = arith.divf %in, %in_13 : f32
      linalg.yield %166 : f32
    } -> tensor<8x32xf32>
    return %165 : tensor<8x32xf32>
  }
  func.func private @norm(%arg0: tensor<8x32xf32>) -> tensor<8x1xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x32xf32>
    %1 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg0 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%0 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %8 = arith.mulf %in, %in_0 : f32
      linalg.yield %8 : f32
    } -> tensor<8x32xf32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map24], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<8x32xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = arith.addf %out, %in : f32
      linalg.yield %8 : f32
    } -> tensor<8xf32>
    %5 = tensor.empty() : tensor<8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map24, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x1xf32>) outs(%5 : tensor<8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = math.sqrt %in : f32
      linalg.yield %8 : f32
    } -> tensor<8x1xf32>
    return %7 : tensor<8x1xf32>
  }
}

