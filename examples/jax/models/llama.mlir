// llama of models.py. Written by export.py.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map11 = affine_map<(d0) -> (d0)>
#map12 = affine_map<(d0, d1) -> (d0)>
#map13 = affine_map<(d0, d1) -> (d0, d1)>
#map14 = affine_map<(d0) -> ()>
#map15 = affine_map<(d0, d1) -> (d1)>
#map16 = affine_map<(d0, d1) -> (d0, 0)>
#map17 = affine_map<(d0, d1) -> (0, d1)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map19 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map20 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map21 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map22 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
#map23 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
#map24 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map26 = affine_map<(d0, d1) -> ()>
#map27 = affine_map<(d0, d1, d2, d3) -> ()>
#map28 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map29 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>
#map30 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
module @jit_block {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<32xf32> {spmd.weight = "params.attention_norm"}, %arg1: tensor<32xf32> {spmd.weight = "params.ffn_norm"}, %arg2: tensor<32x64xf32> {spmd.weight = "params.w1"}, %arg3: tensor<64x32xf32> {spmd.weight = "params.w2"}, %arg4: tensor<32x64xf32> {spmd.weight = "params.w3"}, %arg5: tensor<32x16xf32> {spmd.weight = "params.wk"}, %arg6: tensor<32x32xf32> {spmd.weight = "params.wo"}, %arg7: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.wq"}, %arg8: tensor<32x16xf32> {spmd.weight = "params.wv"}, %arg9: tensor<8x8x32xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<8x8x32xf32> {spmd.name = "result"}) {
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_2 = arith.constant dense<true> : tensor<i1>
    %cst_3 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_4 = arith.constant dense<1.000000e+04> : tensor<f32>
    %cst_5 = arith.constant dense<4.000000e+00> : tensor<f32>
    %c0_i32 = arith.constant 0 : i32
    %cst_6 = arith.constant dense<0> : tensor<i32>
    %cst_7 = arith.constant dense<2> : tensor<i32>
    %cst_8 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_9 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_10 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x8x32xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %arg9 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %2 = tensor.empty() : tensor<8x8xf32>
    %3 = linalg.fill ins(%cst_10 : f32) outs(%2 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<8x8x32xf32>) outs(%3 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = arith.addf %out, %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x8xf32>
    %5 = tensor.empty() : tensor<8x8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<8x8xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %7 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.divf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %9 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = math.rsqrt %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<8x8x1xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %12 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %14 = tensor.empty() : tensor<1x1x32xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<32xf32>) outs(%14 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %16 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<1x1x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %16 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %18 = linalg.fill ins(%cst_10 : f32) outs(%0 : tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %19 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17, %arg7 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%18 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x32xf32>
    %expanded = tensor.expand_shape %19 [[0], [1], [2, 3]] output_shape [8, 8, 8, 4] : tensor<8x8x32xf32> into tensor<8x8x8x4xf32>
    %20 = tensor.empty() : tensor<8x8x8x4xf32>
    %21 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x8x8x4xf32>) outs(%20 : tensor<8x8x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x4xf32>
    %22 = tensor.empty() : tensor<8xi32>
    %23 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel"]} outs(%22 : tensor<8xi32>) {
    ^bb0(%out: i32):
      %136 = linalg.index 0 : index
      %137 = arith.index_cast %136 : index to i32
      linalg.yield %137 : i32
    } -> tensor<8xi32>
    %24 = tensor.empty() : tensor<8x1xi32>
    %25 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<8xi32>) outs(%24 : tensor<8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x1xi32>
    %26 = tensor.empty() : tensor<2xi32>
    %27 = linalg.generic {indexing_maps = [#map11], iterator_types = ["parallel"]} outs(%26 : tensor<2xi32>) {
    ^bb0(%out: i32):
      %136 = linalg.index 0 : index
      %137 = arith.index_cast %136 : index to i32
      linalg.yield %137 : i32
    } -> tensor<2xi32>
    %28 = linalg.generic {indexing_maps = [#map14, #map11], iterator_types = ["parallel"]} ins(%cst_7 : tensor<i32>) outs(%26 : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<2xi32>
    %29 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel"]} ins(%28, %27 : tensor<2xi32>, tensor<2xi32>) outs(%26 : tensor<2xi32>) {
    ^bb0(%in: i32, %in_20: i32, %out: i32):
      %136 = arith.muli %in, %in_20 : i32
      linalg.yield %136 : i32
    } -> tensor<2xi32>
    %30 = linalg.generic {indexing_maps = [#map14, #map11], iterator_types = ["parallel"]} ins(%cst_6 : tensor<i32>) outs(%26 : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<2xi32>
    %31 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel"]} ins(%30, %29 : tensor<2xi32>, tensor<2xi32>) outs(%26 : tensor<2xi32>) {
    ^bb0(%in: i32, %in_20: i32, %out: i32):
      %136 = arith.addi %in, %in_20 : i32
      linalg.yield %136 : i32
    } -> tensor<2xi32>
    %32 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel"]} ins(%31 : tensor<2xi32>) outs(%26 : tensor<2xi32>) {
    ^bb0(%in: i32, %out: i32):
      %136 = arith.subi %c0_i32, %in : i32
      linalg.yield %136 : i32
    } -> tensor<2xi32>
    %33 = tensor.empty() : tensor<2xf32>
    %34 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel"]} ins(%32 : tensor<2xi32>) outs(%33 : tensor<2xf32>) {
    ^bb0(%in: i32, %out: f32):
      %136 = arith.sitofp %in : i32 to f32
      linalg.yield %136 : f32
    } -> tensor<2xf32>
    %35 = linalg.generic {indexing_maps = [#map14, #map11], iterator_types = ["parallel"]} ins(%cst_5 : tensor<f32>) outs(%33 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2xf32>
    %36 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel"]} ins(%34, %35 : tensor<2xf32>, tensor<2xf32>) outs(%33 : tensor<2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.divf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<2xf32>
    %37 = linalg.generic {indexing_maps = [#map14, #map11], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%33 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2xf32>
    %38 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel"]} ins(%37, %36 : tensor<2xf32>, tensor<2xf32>) outs(%33 : tensor<2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = math.powf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<2xf32>
    %39 = tensor.empty() : tensor<8x1xf32>
    %40 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<8x1xi32>) outs(%39 : tensor<8x1xf32>) {
    ^bb0(%in: i32, %out: f32):
      %136 = arith.sitofp %in : i32 to f32
      linalg.yield %136 : f32
    } -> tensor<8x1xf32>
    %41 = tensor.empty() : tensor<1x2xf32>
    %42 = linalg.generic {indexing_maps = [#map15, #map13], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<2xf32>) outs(%41 : tensor<1x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x2xf32>
    %43 = tensor.empty() : tensor<8x2xf32>
    %44 = linalg.generic {indexing_maps = [#map16, #map13], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<8x1xf32>) outs(%43 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x2xf32>
    %45 = linalg.generic {indexing_maps = [#map17, #map13], iterator_types = ["parallel", "parallel"]} ins(%42 : tensor<1x2xf32>) outs(%43 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x2xf32>
    %46 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%44, %45 : tensor<8x2xf32>, tensor<8x2xf32>) outs(%43 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x2xf32>
    %47 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%46 : tensor<8x2xf32>) outs(%43 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = math.cos %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x2xf32>
    %48 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%46 : tensor<8x2xf32>) outs(%43 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = math.sin %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x2xf32>
    %extracted_slice = tensor.extract_slice %21[0, 0, 0, 0] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %extracted_slice_11 = tensor.extract_slice %21[0, 0, 0, 1] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %49 = tensor.empty() : tensor<1x1x8x2xf32>
    %50 = linalg.generic {indexing_maps = [#map18, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47 : tensor<8x2xf32>) outs(%49 : tensor<1x1x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8x2xf32>
    %51 = tensor.empty() : tensor<8x8x8x2xf32>
    %52 = linalg.generic {indexing_maps = [#map19, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<1x1x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x2xf32>
    %53 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %52 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %54 = linalg.generic {indexing_maps = [#map18, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<8x2xf32>) outs(%49 : tensor<1x1x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8x2xf32>
    %55 = linalg.generic {indexing_maps = [#map19, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<1x1x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x2xf32>
    %56 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_11, %55 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %57 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %56 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.subf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %58 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %55 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %59 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_11, %52 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %60 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %59 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%51 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x8x2xf32>
    %61 = tensor.empty() : tensor<8x8x8x2x1xf32>
    %62 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%57 : tensor<8x8x8x2xf32>) outs(%61 : tensor<8x8x8x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x2x1xf32>
    %63 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%60 : tensor<8x8x8x2xf32>) outs(%61 : tensor<8x8x8x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x2x1xf32>
    %64 = tensor.empty() : tensor<8x8x8x2x2xf32>
    %65 = linalg.generic {indexing_maps = [#map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%64 : tensor<8x8x8x2x2xf32>) {
    ^bb0(%out: f32):
      %136 = linalg.index 0 : index
      %137 = linalg.index 1 : index
      %138 = linalg.index 2 : index
      %139 = linalg.index 3 : index
      %140 = linalg.index 4 : index
      %141 = arith.cmpi ult, %140, %c1 : index
      %142 = scf.if %141 -> (f32) {
        %extracted = tensor.extract %62[%136, %137, %138, %139, %140] : tensor<8x8x8x2x1xf32>
        scf.yield %extracted : f32
      } else {
        %143 = arith.subi %140, %c1 : index
        %extracted = tensor.extract %63[%136, %137, %138, %139, %143] : tensor<8x8x8x2x1xf32>
        scf.yield %extracted : f32
      }
      linalg.yield %142 : f32
    } -> tensor<8x8x8x2x2xf32>
    %collapsed = tensor.collapse_shape %65 [[0], [1], [2], [3, 4]] : tensor<8x8x8x2x2xf32> into tensor<8x8x8x4xf32>
    %66 = tensor.empty() : tensor<8x8x16xf32>
    %67 = linalg.fill ins(%cst_10 : f32) outs(%66 : tensor<8x8x16xf32>) -> tensor<8x8x16xf32>
    %68 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17, %arg5 : tensor<8x8x32xf32>, tensor<32x16xf32>) outs(%67 : tensor<8x8x16xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x16xf32>
    %expanded_12 = tensor.expand_shape %68 [[0], [1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<8x8x16xf32> into tensor<8x8x4x4xf32>
    %69 = tensor.empty() : tensor<8x4x8x4xf32>
    %70 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<8x8x4x4xf32>) outs(%69 : tensor<8x4x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x4xf32>
    %extracted_slice_13 = tensor.extract_slice %70[0, 0, 0, 0] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %extracted_slice_14 = tensor.extract_slice %70[0, 0, 0, 1] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %71 = tensor.empty() : tensor<8x4x8x2xf32>
    %72 = linalg.generic {indexing_maps = [#map19, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<1x1x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x2xf32>
    %73 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_13, %72 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %74 = linalg.generic {indexing_maps = [#map19, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<1x1x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x2xf32>
    %75 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_14, %74 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %76 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%73, %75 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.subf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %77 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_13, %74 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %78 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_14, %72 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %79 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77, %78 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%71 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x8x2xf32>
    %80 = tensor.empty() : tensor<8x4x8x2x1xf32>
    %81 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<8x4x8x2xf32>) outs(%80 : tensor<8x4x8x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x2x1xf32>
    %82 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%79 : tensor<8x4x8x2xf32>) outs(%80 : tensor<8x4x8x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x2x1xf32>
    %83 = tensor.empty() : tensor<8x4x8x2x2xf32>
    %84 = linalg.generic {indexing_maps = [#map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%83 : tensor<8x4x8x2x2xf32>) {
    ^bb0(%out: f32):
      %136 = linalg.index 0 : index
      %137 = linalg.index 1 : index
      %138 = linalg.index 2 : index
      %139 = linalg.index 3 : index
      %140 = linalg.index 4 : index
      %141 = arith.cmpi ult, %140, %c1 : index
      %142 = scf.if %141 -> (f32) {
        %extracted = tensor.extract %81[%136, %137, %138, %139, %140] : tensor<8x4x8x2x1xf32>
        scf.yield %extracted : f32
      } else {
        %143 = arith.subi %140, %c1 : index
        %extracted = tensor.extract %82[%136, %137, %138, %139, %143] : tensor<8x4x8x2x1xf32>
        scf.yield %extracted : f32
      }
      linalg.yield %142 : f32
    } -> tensor<8x4x8x2x2xf32>
    %collapsed_15 = tensor.collapse_shape %84 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x2xf32> into tensor<8x4x8x4xf32>
    %85 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17, %arg8 : tensor<8x8x32xf32>, tensor<32x16xf32>) outs(%67 : tensor<8x8x16xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x16xf32>
    %expanded_16 = tensor.expand_shape %85 [[0], [1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<8x8x16xf32> into tensor<8x8x4x4xf32>
    %86 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<8x8x4x4xf32>) outs(%69 : tensor<8x4x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x4xf32>
    %expanded_17 = tensor.expand_shape %collapsed [[0], [1, 2], [3], [4]] output_shape [8, 4, 2, 8, 4] : tensor<8x8x8x4xf32> into tensor<8x4x2x8x4xf32>
    %87 = tensor.empty() : tensor<8x4x2x8x8xf32>
    %88 = linalg.fill ins(%cst_10 : f32) outs(%87 : tensor<8x4x2x8x8xf32>) -> tensor<8x4x2x8x8xf32>
    %89 = linalg.generic {indexing_maps = [#map22, #map23, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded_17, %collapsed_15 : tensor<8x4x2x8x4xf32>, tensor<8x4x8x4xf32>) outs(%88 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x4x2x8x8xf32>
    %90 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x8xf32>
    %91 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%89, %90 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8x8xf32>
    %92 = tensor.empty() : tensor<8x8xi1>
    %93 = linalg.generic {indexing_maps = [#map26, #map13], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<i1>) outs(%92 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x8xi1>
    %94 = call @tril(%93) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %95 = call @_where(%94, %91, %cst_1) : (tensor<8x8xi1>, tensor<8x4x2x8x8xf32>, tensor<f32>) -> tensor<8x4x2x8x8xf32>
    %96 = tensor.empty() : tensor<8x4x2x8xf32>
    %97 = linalg.fill ins(%cst : f32) outs(%96 : tensor<8x4x2x8xf32>) -> tensor<8x4x2x8xf32>
    %98 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%95 : tensor<8x4x2x8x8xf32>) outs(%97 : tensor<8x4x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = arith.maximumf %out, %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8xf32>
    %99 = linalg.generic {indexing_maps = [#map27, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%96 : tensor<8x4x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8xf32>
    %100 = linalg.generic {indexing_maps = [#map10, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%99, %98 : tensor<8x4x2x8xf32>, tensor<8x4x2x8xf32>) outs(%96 : tensor<8x4x2x8xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.maximumf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8xf32>
    %101 = tensor.empty() : tensor<8x4x2x8x1xf32>
    %102 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%100 : tensor<8x4x2x8xf32>) outs(%101 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x1xf32>
    %103 = linalg.generic {indexing_maps = [#map28, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%102 : tensor<8x4x2x8x1xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x8xf32>
    %104 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%95, %103 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.subf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8x8xf32>
    %105 = linalg.generic {indexing_maps = [#map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%104 : tensor<8x4x2x8x8xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = math.exp %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8x8xf32>
    %106 = linalg.fill ins(%cst_10 : f32) outs(%96 : tensor<8x4x2x8xf32>) -> tensor<8x4x2x8xf32>
    %107 = linalg.generic {indexing_maps = [#map21, #map20], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%105 : tensor<8x4x2x8x8xf32>) outs(%106 : tensor<8x4x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = arith.addf %out, %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8xf32>
    %108 = linalg.generic {indexing_maps = [#map20, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%107 : tensor<8x4x2x8xf32>) outs(%101 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x1xf32>
    %109 = linalg.generic {indexing_maps = [#map28, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%108 : tensor<8x4x2x8x1xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x8xf32>
    %110 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%105, %109 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%87 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.divf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x4x2x8x8xf32>
    %111 = tensor.empty() : tensor<8x4x2x8x4xf32>
    %112 = linalg.fill ins(%cst_10 : f32) outs(%111 : tensor<8x4x2x8x4xf32>) -> tensor<8x4x2x8x4xf32>
    %113 = linalg.generic {indexing_maps = [#map22, #map29, #map24], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%110, %86 : tensor<8x4x2x8x8xf32>, tensor<8x4x8x4xf32>) outs(%112 : tensor<8x4x2x8x4xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x4x2x8x4xf32>
    %collapsed_18 = tensor.collapse_shape %113 [[0], [1, 2], [3], [4]] : tensor<8x4x2x8x4xf32> into tensor<8x8x8x4xf32>
    %114 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_18 : tensor<8x8x8x4xf32>) outs(%20 : tensor<8x8x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x8x4xf32>
    %collapsed_19 = tensor.collapse_shape %114 [[0], [1], [2, 3]] : tensor<8x8x8x4xf32> into tensor<8x8x32xf32>
    %115 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_19, %arg6 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%18 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x32xf32>
    %116 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %115 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %117 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %116 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %118 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%117 : tensor<8x8x32xf32>) outs(%3 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = arith.addf %out, %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x8xf32>
    %119 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x8xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %120 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %7 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.divf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %121 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%120, %9 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %122 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121 : tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %136 = math.rsqrt %in : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x1xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<8x8x1xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %124 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %123 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %125 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<32xf32>) outs(%14 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %126 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125 : tensor<1x1x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %127 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124, %126 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    %128 = tensor.empty() : tensor<8x8x64xf32>
    %129 = linalg.fill ins(%cst_10 : f32) outs(%128 : tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
    %130 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%127, %arg2 : tensor<8x8x32xf32>, tensor<32x64xf32>) outs(%129 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x64xf32>
    %131 = call @silu(%130) : (tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
    %132 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%127, %arg4 : tensor<8x8x32xf32>, tensor<32x64xf32>) outs(%129 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x64xf32>
    %133 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %132 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%128 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x64xf32>
    %134 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%133, %arg3 : tensor<8x8x64xf32>, tensor<64x32xf32>) outs(%18 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.mulf %in, %in_20 : f32
      %137 = arith.addf %out, %136 : f32
      linalg.yield %137 : f32
    } -> tensor<8x8x32xf32>
    %135 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %134 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%0 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_20: f32, %out: f32):
      %136 = arith.addf %in, %in_20 : f32
      linalg.yield %136 : f32
    } -> tensor<8x8x32xf32>
    return %135 : tensor<8x8x32xf32>
  }
  func.func private @tril(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %cst = arith.constant dense<false> : tensor<i1>
    %cst_0 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x8xi32>
    %1 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<8x8xi32>) {
    ^bb0(%out: i32):
      %9 = linalg.index 0 : index
      %10 = arith.index_cast %9 : index to i32
      linalg.yield %10 : i32
    } -> tensor<8x8xi32>
    %2 = linalg.generic {indexing_maps = [#map26, #map13], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %3 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %in_1: i32, %out: i32):
      %9 = arith.addi %in, %in_1 : i32
      linalg.yield %9 : i32
    } -> tensor<8x8xi32>
    %4 = linalg.generic {indexing_maps = [#map13], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<8x8xi32>) {
    ^bb0(%out: i32):
      %9 = linalg.index 1 : index
      %10 = arith.index_cast %9 : index to i32
      linalg.yield %10 : i32
    } -> tensor<8x8xi32>
    %5 = tensor.empty() : tensor<8x8xi1>
    %6 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i32, %in_1: i32, %out: i1):
      %9 = arith.cmpi sge, %in, %in_1 : i32
      linalg.yield %9 : i1
    } -> tensor<8x8xi1>
    %7 = linalg.generic {indexing_maps = [#map26, #map13], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<i1>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x8xi1>
    %8 = linalg.generic {indexing_maps = [#map13, #map13, #map13, #map13], iterator_types = ["parallel", "parallel"]} ins(%6, %arg0, %7 : tensor<8x8xi1>, tensor<8x8xi1>, tensor<8x8xi1>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_1: i1, %in_2: i1, %out: i1):
      %9 = arith.select %in, %in_1, %in_2 : i1
      linalg.yield %9 : i1
    } -> tensor<8x8xi1>
    return %8 : tensor<8x8xi1>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x2x8x8xf32>, %arg2: tensor<f32>) -> tensor<8x4x2x8x8xf32> {
    %0 = tensor.empty() : tensor<8x4x2x8x8xi1>
    %1 = linalg.generic {indexing_maps = [#map30, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8x8xi1>) outs(%0 : tensor<8x4x2x8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x4x2x8x8xi1>
    %2 = tensor.empty() : tensor<8x4x2x8x8xf32>
    %3 = linalg.generic {indexing_maps = [#map25, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map21, #map21, #map21, #map21], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%1, %arg1, %3 : tensor<8x4x2x8x8xi1>, tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%2 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %5 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %5 : f32
    } -> tensor<8x4x2x8x8xf32>
    return %4 : tensor<8x4x2x8x8xf32>
  }
  func.func private @silu(%arg0: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
    %cst = arith.constant dense<1.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = arith.negf %in : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %7 = math.exp %in : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %2 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.addf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %4 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.divf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %5 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.mulf %in, %in_0 : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    return %6 : tensor<8x8x64xf32>
  }
}

