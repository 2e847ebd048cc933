// llama_block of compare.py. Written by it.
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (d0, d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map11 = affine_map<(d0, d1) -> (0, d1)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func @main(%arg0: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.q.weight"}, %arg1: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.k.weight"}, %arg2: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.v.weight"}, %arg3: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "attention.o.weight"}, %arg4: tensor<32xf32> {spmd.weight = "attention_norm.scale"}, %arg5: tensor<32xf32> {spmd.weight = "ffn_norm.scale"}, %arg6: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "w1.weight"}, %arg7: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "w3.weight"}, %arg8: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "w2.weight"}, %arg9: tensor<4x8x32xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<4x8x32xf32> {spmd.name = "result"}) {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_3 = arith.constant dense<true> : tensor<8x8xi1>
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant 3.200000e+01 : f32
    %cst_6 = arith.constant 4.000000e+00 : f32
    %cst_7 = arith.constant 1.000000e+04 : f32
    %cst_8 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<4x8x32xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<4x8x32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %2 = tensor.empty() : tensor<4x8x1xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<4x8x32xf32>) outs(%3 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.addf %in, %out : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.divf %in, %cst_5 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.truncf %cst_4 : f64 to f32
      %101 = arith.addf %in, %100 : f32
      linalg.yield %101 : f32
    } -> tensor<4x8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.rsqrt %in : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %7 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %arg4 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %10 = tensor.empty() : tensor<32x32xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<32x32xf32>) outs(%10 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %9 [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %12 = linalg.matmul ins(%collapsed, %transposed : tensor<32x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %expanded = tensor.expand_shape %12 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %expanded_9 = tensor.expand_shape %12 [[0, 1], [2, 3]] output_shape [4, 8, 8, 4] : tensor<32x32xf32> into tensor<4x8x8x4xf32>
    %13 = tensor.empty() : tensor<4x8x8x4xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<4x8x8x4xf32>) outs(%13 : tensor<4x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %14 = tensor.empty() : tensor<32x16xf32>
    %transposed_11 = linalg.transpose ins(%arg1 : tensor<16x32xf32>) outs(%14 : tensor<32x16xf32>) permutation = [1, 0] 
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<32x16xf32>) -> tensor<32x16xf32>
    %16 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<32x32xf32>, tensor<32x16xf32>) outs(%15 : tensor<32x16xf32>) -> tensor<32x16xf32>
    %expanded_12 = tensor.expand_shape %16 [[0, 1], [2]] output_shape [4, 8, 16] : tensor<32x16xf32> into tensor<4x8x16xf32>
    %expanded_13 = tensor.expand_shape %16 [[0, 1], [2, 3]] output_shape [4, 8, 4, 4] : tensor<32x16xf32> into tensor<4x8x4x4xf32>
    %17 = tensor.empty() : tensor<4x4x8x4xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<4x8x4x4xf32>) outs(%17 : tensor<4x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_15 = linalg.transpose ins(%arg2 : tensor<16x32xf32>) outs(%14 : tensor<32x16xf32>) permutation = [1, 0] 
    %18 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<32x32xf32>, tensor<32x16xf32>) outs(%15 : tensor<32x16xf32>) -> tensor<32x16xf32>
    %expanded_16 = tensor.expand_shape %18 [[0, 1], [2]] output_shape [4, 8, 16] : tensor<32x16xf32> into tensor<4x8x16xf32>
    %expanded_17 = tensor.expand_shape %18 [[0, 1], [2, 3]] output_shape [4, 8, 4, 4] : tensor<32x16xf32> into tensor<4x8x4x4xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<4x8x4x4xf32>) outs(%17 : tensor<4x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %19 = tensor.empty() : tensor<8xi64>
    %20 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%19 : tensor<8xi64>) {
    ^bb0(%out: i64):
      %100 = linalg.index 0 : index
      %101 = arith.index_cast %100 : index to i64
      linalg.yield %101 : i64
    } -> tensor<8xi64>
    %expanded_19 = tensor.expand_shape %20 [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
    %21 = tensor.empty() : tensor<2xi64>
    %22 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel"]} outs(%21 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %100 = linalg.index 0 : index
      %101 = arith.index_cast %100 : index to i64
      %102 = arith.muli %101, %c2_i64 : i64
      linalg.yield %102 : i64
    } -> tensor<2xi64>
    %23 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%22 : tensor<2xi64>) outs(%21 : tensor<2xi64>) {
    ^bb0(%in: i64, %out: i64):
      %100 = arith.sitofp %in : i64 to f32
      %101 = arith.negf %100 : f32
      %102 = arith.fptosi %101 : f32 to i64
      linalg.yield %102 : i64
    } -> tensor<2xi64>
    %24 = tensor.empty() : tensor<2xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%23 : tensor<2xi64>) outs(%24 : tensor<2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %100 = arith.sitofp %in : i64 to f32
      %101 = arith.divf %100, %cst_6 : f32
      linalg.yield %101 : f32
    } -> tensor<2xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%25 : tensor<2xf32>) outs(%24 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.powf %cst_7, %in : f32
      linalg.yield %100 : f32
    } -> tensor<2xf32>
    %27 = tensor.empty() : tensor<8x2xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel"]} ins(%expanded_19, %26 : tensor<8x1xi64>, tensor<2xf32>) outs(%27 : tensor<8x2xf32>) {
    ^bb0(%in: i64, %in_52: f32, %out: f32):
      %100 = arith.sitofp %in : i64 to f32
      %101 = arith.mulf %100, %in_52 : f32
      linalg.yield %101 : f32
    } -> tensor<8x2xf32>
    %extracted_slice = tensor.extract_slice %transposed_10[0, 0, 0, 0] [4, 8, 8, 2] [1, 1, 1, 2] : tensor<4x8x8x4xf32> to tensor<4x8x8x2xf32>
    %extracted_slice_20 = tensor.extract_slice %transposed_10[0, 0, 0, 1] [4, 8, 8, 2] [1, 1, 1, 2] : tensor<4x8x8x4xf32> to tensor<4x8x8x2xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<8x2xf32>) outs(%27 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.cos %in : f32
      linalg.yield %100 : f32
    } -> tensor<8x2xf32>
    %30 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%28 : tensor<8x2xf32>) outs(%27 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.sin %in : f32
      linalg.yield %100 : f32
    } -> tensor<8x2xf32>
    %31 = tensor.empty() : tensor<4x8x8x2xf32>
    %32 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %29 : tensor<4x8x8x2xf32>, tensor<8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %33 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %30 : tensor<4x8x8x2xf32>, tensor<8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %34 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %33 : tensor<4x8x8x2xf32>, tensor<4x8x8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.subf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %35 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %30 : tensor<4x8x8x2xf32>, tensor<8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_20, %29 : tensor<4x8x8x2xf32>, tensor<8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %37 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %36 : tensor<4x8x8x2xf32>, tensor<4x8x8x2xf32>) outs(%31 : tensor<4x8x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.addf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x8x2xf32>
    %expanded_21 = tensor.expand_shape %34 [[0], [1], [2], [3, 4]] output_shape [4, 8, 8, 2, 1] : tensor<4x8x8x2xf32> into tensor<4x8x8x2x1xf32>
    %expanded_22 = tensor.expand_shape %37 [[0], [1], [2], [3, 4]] output_shape [4, 8, 8, 2, 1] : tensor<4x8x8x2xf32> into tensor<4x8x8x2x1xf32>
    %concat = tensor.concat dim(4) %expanded_21, %expanded_22 : (tensor<4x8x8x2x1xf32>, tensor<4x8x8x2x1xf32>) -> tensor<4x8x8x2x2xf32>
    %extracted_slice_23 = tensor.extract_slice %transposed_14[0, 0, 0, 0] [4, 4, 8, 2] [1, 1, 1, 2] : tensor<4x4x8x4xf32> to tensor<4x4x8x2xf32>
    %extracted_slice_24 = tensor.extract_slice %transposed_14[0, 0, 0, 1] [4, 4, 8, 2] [1, 1, 1, 2] : tensor<4x4x8x4xf32> to tensor<4x4x8x2xf32>
    %38 = tensor.empty() : tensor<4x4x8x2xf32>
    %39 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23, %29 : tensor<4x4x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %40 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %30 : tensor<4x4x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %41 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %40 : tensor<4x4x8x2xf32>, tensor<4x4x8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.subf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %42 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_23, %30 : tensor<4x4x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %43 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_24, %29 : tensor<4x4x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %44 = linalg.generic {indexing_maps = [#map7, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %43 : tensor<4x4x8x2xf32>, tensor<4x4x8x2xf32>) outs(%38 : tensor<4x4x8x2xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.addf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x8x2xf32>
    %expanded_25 = tensor.expand_shape %41 [[0], [1], [2], [3, 4]] output_shape [4, 4, 8, 2, 1] : tensor<4x4x8x2xf32> into tensor<4x4x8x2x1xf32>
    %expanded_26 = tensor.expand_shape %44 [[0], [1], [2], [3, 4]] output_shape [4, 4, 8, 2, 1] : tensor<4x4x8x2xf32> into tensor<4x4x8x2x1xf32>
    %concat_27 = tensor.concat dim(4) %expanded_25, %expanded_26 : (tensor<4x4x8x2x1xf32>, tensor<4x4x8x2x1xf32>) -> tensor<4x4x8x2x2xf32>
    %collapsed_28 = tensor.collapse_shape %concat_27 [[0], [1], [2], [3, 4]] : tensor<4x4x8x2x2xf32> into tensor<4x4x8x4xf32>
    %expanded_29 = tensor.expand_shape %collapsed_28 [[0], [1], [2, 3], [4]] output_shape [4, 4, 1, 8, 4] : tensor<4x4x8x4xf32> into tensor<4x4x1x8x4xf32>
    %45 = tensor.empty() : tensor<4x4x1x4x8xf32>
    %transposed_30 = linalg.transpose ins(%expanded_29 : tensor<4x4x1x8x4xf32>) outs(%45 : tensor<4x4x1x4x8xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_31 = tensor.collapse_shape %concat [[0, 1], [2], [3, 4]] : tensor<4x8x8x2x2xf32> into tensor<32x8x4xf32>
    %46 = tensor.empty() : tensor<4x4x2x4x8xf32>
    %collapsed_32 = tensor.collapse_shape %transposed_30 [[0], [1, 2], [3], [4]] : tensor<4x4x1x4x8xf32> into tensor<4x4x4x8xf32>
    %47 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_32 : tensor<4x4x4x8xf32>) outs(%46 : tensor<4x4x2x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x2x4x8xf32>
    %collapsed_33 = tensor.collapse_shape %47 [[0, 1, 2], [3], [4]] : tensor<4x4x2x4x8xf32> into tensor<32x4x8xf32>
    %48 = tensor.empty() : tensor<32x8x8xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%48 : tensor<32x8x8xf32>) -> tensor<32x8x8xf32>
    %50 = linalg.batch_matmul ins(%collapsed_31, %collapsed_33 : tensor<32x8x4xf32>, tensor<32x4x8xf32>) outs(%49 : tensor<32x8x8xf32>) -> tensor<32x8x8xf32>
    %expanded_34 = tensor.expand_shape %50 [[0, 1, 2], [3], [4]] output_shape [4, 4, 2, 8, 8] : tensor<32x8x8xf32> into tensor<4x4x2x8x8xf32>
    %51 = tensor.empty() : tensor<4x4x2x8x8xf32>
    %52 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_34 : tensor<4x4x2x8x8xf32>) outs(%51 : tensor<4x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.mulf %in, %cst_8 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x8xf32>
    %expanded_35 = tensor.expand_shape %20 [[0, 1]] output_shape [1, 8] : tensor<8xi64> into tensor<1x8xi64>
    %53 = tensor.empty() : tensor<8x8xi64>
    %54 = linalg.generic {indexing_maps = [#map11, #map4, #map6], iterator_types = ["parallel", "parallel"]} ins(%expanded_35, %expanded_19 : tensor<1x8xi64>, tensor<8x1xi64>) outs(%53 : tensor<8x8xi64>) {
    ^bb0(%in: i64, %in_52: i64, %out: i64):
      %100 = arith.subi %in, %in_52 : i64
      linalg.yield %100 : i64
    } -> tensor<8x8xi64>
    %55 = tensor.empty() : tensor<8x8xi1>
    %56 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<8x8xi64>) outs(%55 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %100 = arith.cmpi sge, %in, %c1_i64 : i64
      linalg.yield %100 : i1
    } -> tensor<8x8xi1>
    %57 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel"]} ins(%56, %cst_3 : tensor<8x8xi1>, tensor<8x8xi1>) outs(%55 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_52: i1, %out: i1):
      %100 = arith.andi %in, %in_52 : i1
      linalg.yield %100 : i1
    } -> tensor<8x8xi1>
    %58 = linalg.generic {indexing_maps = [#map12, #map13, #map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%57, %cst_2, %52 : tensor<8x8xi1>, tensor<f32>, tensor<4x4x2x8x8xf32>) outs(%51 : tensor<4x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_52: f32, %in_53: f32, %out: f32):
      %100 = arith.select %in, %in_52, %in_53 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x8xf32>
    %59 = tensor.empty() : tensor<4x4x2x8xi64>
    %60 = linalg.fill ins(%c0_i64 : i64) outs(%59 : tensor<4x4x2x8xi64>) -> tensor<4x4x2x8xi64>
    %61 = tensor.empty() : tensor<4x4x2x8xf32>
    %62 = linalg.fill ins(%cst_0 : f32) outs(%61 : tensor<4x4x2x8xf32>) -> tensor<4x4x2x8xf32>
    %63:2 = linalg.generic {indexing_maps = [#map10, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%58 : tensor<4x4x2x8x8xf32>) outs(%62, %60 : tensor<4x4x2x8xf32>, tensor<4x4x2x8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_52: i64):
      %100 = linalg.index 4 : index
      %101 = arith.index_cast %100 : index to i64
      %102 = arith.maximumf %in, %out : f32
      %103 = arith.cmpf ogt, %in, %out : f32
      %104 = arith.select %103, %101, %out_52 : i64
      linalg.yield %102, %104 : f32, i64
    } -> (tensor<4x4x2x8xf32>, tensor<4x4x2x8xi64>)
    %expanded_36 = tensor.expand_shape %63#0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 2, 8, 1] : tensor<4x4x2x8xf32> into tensor<4x4x2x8x1xf32>
    %64 = linalg.generic {indexing_maps = [#map10, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%58, %expanded_36 : tensor<4x4x2x8x8xf32>, tensor<4x4x2x8x1xf32>) outs(%51 : tensor<4x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.subf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x8xf32>
    %65 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<4x4x2x8x8xf32>) outs(%51 : tensor<4x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.exp %in : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x8xf32>
    %66 = tensor.empty() : tensor<4x4x2x8x1xf32>
    %67 = linalg.fill ins(%cst : f32) outs(%66 : tensor<4x4x2x8x1xf32>) -> tensor<4x4x2x8x1xf32>
    %68 = linalg.generic {indexing_maps = [#map10, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%65 : tensor<4x4x2x8x8xf32>) outs(%67 : tensor<4x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.addf %in, %out : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x1xf32>
    %69 = linalg.generic {indexing_maps = [#map10, #map15, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%65, %68 : tensor<4x4x2x8x8xf32>, tensor<4x4x2x8x1xf32>) outs(%51 : tensor<4x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.divf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x4x2x8x8xf32>
    %collapsed_37 = tensor.collapse_shape %69 [[0, 1, 2], [3], [4]] : tensor<4x4x2x8x8xf32> into tensor<32x8x8xf32>
    %70 = tensor.empty() : tensor<4x4x2x8x4xf32>
    %71 = linalg.generic {indexing_maps = [#map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_18 : tensor<4x4x8x4xf32>) outs(%70 : tensor<4x4x2x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x2x8x4xf32>
    %collapsed_38 = tensor.collapse_shape %71 [[0, 1, 2], [3], [4]] : tensor<4x4x2x8x4xf32> into tensor<32x8x4xf32>
    %72 = tensor.empty() : tensor<32x8x4xf32>
    %73 = linalg.fill ins(%cst : f32) outs(%72 : tensor<32x8x4xf32>) -> tensor<32x8x4xf32>
    %74 = linalg.batch_matmul ins(%collapsed_37, %collapsed_38 : tensor<32x8x8xf32>, tensor<32x8x4xf32>) outs(%73 : tensor<32x8x4xf32>) -> tensor<32x8x4xf32>
    %expanded_39 = tensor.expand_shape %74 [[0, 1], [2], [3]] output_shape [4, 8, 8, 4] : tensor<32x8x4xf32> into tensor<4x8x8x4xf32>
    %transposed_40 = linalg.transpose ins(%expanded_39 : tensor<4x8x8x4xf32>) outs(%13 : tensor<4x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_41 = linalg.transpose ins(%arg3 : tensor<32x32xf32>) outs(%10 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed_42 = tensor.collapse_shape %transposed_40 [[0, 1], [2, 3]] : tensor<4x8x8x4xf32> into tensor<32x32xf32>
    %75 = linalg.matmul ins(%collapsed_42, %transposed_41 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %expanded_43 = tensor.expand_shape %75 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %76 = spmd.with_sharding_constraint %expanded_43 <@mesh, [{?}, {"model"}, {?}]> : tensor<4x8x32xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9, %76 : tensor<4x8x32xf32>, tensor<4x8x32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.addf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %78 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<4x8x32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %79 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%78 : tensor<4x8x32xf32>) outs(%3 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.addf %in, %out : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.divf %in, %cst_5 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %81 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.truncf %cst_4 : f64 to f32
      %101 = arith.addf %in, %100 : f32
      linalg.yield %101 : f32
    } -> tensor<4x8x1xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<4x8x1xf32>) outs(%2 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = math.rsqrt %in : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x1xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %82 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %84 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %arg5 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    %85 = spmd.with_sharding_constraint %84 <@mesh, [{?}, {"model"}, {?}]> : tensor<4x8x32xf32>
    %86 = tensor.empty() : tensor<32x64xf32>
    %transposed_44 = linalg.transpose ins(%arg6 : tensor<64x32xf32>) outs(%86 : tensor<32x64xf32>) permutation = [1, 0] 
    %collapsed_45 = tensor.collapse_shape %85 [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %87 = linalg.fill ins(%cst : f32) outs(%86 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %88 = linalg.matmul ins(%collapsed_45, %transposed_44 : tensor<32x32xf32>, tensor<32x64xf32>) outs(%87 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %expanded_46 = tensor.expand_shape %88 [[0, 1], [2]] output_shape [4, 8, 64] : tensor<32x64xf32> into tensor<4x8x64xf32>
    %89 = spmd.with_sharding_constraint %expanded_46 <@mesh, [{?}, {?}, {"model"}]> : tensor<4x8x64xf32>
    %90 = tensor.empty() : tensor<4x8x64xf32>
    %91 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89 : tensor<4x8x64xf32>) outs(%90 : tensor<4x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %100 = arith.negf %in : f32
      %101 = math.exp %100 : f32
      %102 = arith.addf %101, %cst_1 : f32
      %103 = arith.divf %cst_1, %102 : f32
      linalg.yield %103 : f32
    } -> tensor<4x8x64xf32>
    %92 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %91 : tensor<4x8x64xf32>, tensor<4x8x64xf32>) outs(%90 : tensor<4x8x64xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x64xf32>
    %transposed_47 = linalg.transpose ins(%arg7 : tensor<64x32xf32>) outs(%86 : tensor<32x64xf32>) permutation = [1, 0] 
    %93 = linalg.matmul ins(%collapsed_45, %transposed_47 : tensor<32x32xf32>, tensor<32x64xf32>) outs(%87 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %expanded_48 = tensor.expand_shape %93 [[0, 1], [2]] output_shape [4, 8, 64] : tensor<32x64xf32> into tensor<4x8x64xf32>
    %94 = spmd.with_sharding_constraint %expanded_48 <@mesh, [{?}, {?}, {"model"}]> : tensor<4x8x64xf32>
    %95 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %94 : tensor<4x8x64xf32>, tensor<4x8x64xf32>) outs(%90 : tensor<4x8x64xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.mulf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x64xf32>
    %96 = tensor.empty() : tensor<64x32xf32>
    %transposed_49 = linalg.transpose ins(%arg8 : tensor<32x64xf32>) outs(%96 : tensor<64x32xf32>) permutation = [1, 0] 
    %collapsed_50 = tensor.collapse_shape %95 [[0, 1], [2]] : tensor<4x8x64xf32> into tensor<32x64xf32>
    %97 = linalg.matmul ins(%collapsed_50, %transposed_49 : tensor<32x64xf32>, tensor<64x32xf32>) outs(%11 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %expanded_51 = tensor.expand_shape %97 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %98 = spmd.with_sharding_constraint %expanded_51 <@mesh, [{?}, {"model"}, {?}]> : tensor<4x8x32xf32>
    %99 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %98 : tensor<4x8x32xf32>, tensor<4x8x32xf32>) outs(%0 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_52: f32, %out: f32):
      %100 = arith.addf %in, %in_52 : f32
      linalg.yield %100 : f32
    } -> tensor<4x8x32xf32>
    return %99 : tensor<4x8x32xf32>
  }
}

