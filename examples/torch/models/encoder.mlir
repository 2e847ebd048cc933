// encoder of compare.py. Written by it.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map7 = affine_map<(d0, d1, d2) -> (d2)>
module {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func @main(%arg0: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.q.weight"}, %arg1: tensor<32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>, spmd.weight = "attention.q.bias"}, %arg2: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.k.weight"}, %arg3: tensor<32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>, spmd.weight = "attention.k.bias"}, %arg4: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "attention.v.weight"}, %arg5: tensor<32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>, spmd.weight = "attention.v.bias"}, %arg6: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "attention.o.weight"}, %arg7: tensor<32xf32> {spmd.weight = "attention.o.bias"}, %arg8: tensor<32xf32> {spmd.weight = "norm1.weight"}, %arg9: tensor<32xf32> {spmd.weight = "norm1.bias"}, %arg10: tensor<32xf32> {spmd.weight = "norm2.weight"}, %arg11: tensor<32xf32> {spmd.weight = "norm2.bias"}, %arg12: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "up.weight"}, %arg13: tensor<128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>, spmd.weight = "up.bias"}, %arg14: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "down.weight"}, %arg15: tensor<32xf32> {spmd.weight = "down.bias"}, %arg16: tensor<4x8x32xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<4x8x32xf32> {spmd.name = "result"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f64
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 5.000000e-01 : f32
    %cst_4 = arith.constant 1.000000e-05 : f64
    %cst_5 = arith.constant 0.35355339059327379 : f64
    %cst_6 = arith.constant 3.200000e+01 : f64
    %cst_7 = arith.constant 3.200000e+01 : f32
    %cst_8 = arith.constant 1.41421354 : f32
    %collapsed = tensor.collapse_shape %arg16 [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %0 = tensor.empty() : tensor<32x32xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) permutation = [1, 0] 
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %2 = linalg.matmul ins(%collapsed, %transposed : tensor<32x32xf32>, tensor<32x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x32xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %expanded_9 = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [4, 8, 4, 8] : tensor<32x32xf32> into tensor<4x8x4x8xf32>
    %5 = tensor.empty() : tensor<4x4x8x8xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<4x8x4x8xf32>) outs(%5 : tensor<4x4x8x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_11 = linalg.transpose ins(%arg2 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) permutation = [1, 0] 
    %6 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x32xf32>
    %expanded_12 = tensor.expand_shape %8 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %expanded_13 = tensor.expand_shape %8 [[0, 1], [2, 3]] output_shape [4, 8, 4, 8] : tensor<32x32xf32> into tensor<4x8x4x8xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<4x8x4x8xf32>) outs(%5 : tensor<4x4x8x8xf32>) permutation = [0, 2, 1, 3] 
    %transposed_15 = linalg.transpose ins(%arg4 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) permutation = [1, 0] 
    %9 = linalg.matmul ins(%collapsed, %transposed_15 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg5 : tensor<32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %10 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x32xf32>
    %expanded_16 = tensor.expand_shape %11 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %expanded_17 = tensor.expand_shape %11 [[0, 1], [2, 3]] output_shape [4, 8, 4, 8] : tensor<32x32xf32> into tensor<4x8x4x8xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<4x8x4x8xf32>) outs(%5 : tensor<4x4x8x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_19 = tensor.expand_shape %transposed_14 [[0], [1], [2, 3], [4]] output_shape [4, 4, 1, 8, 8] : tensor<4x4x8x8xf32> into tensor<4x4x1x8x8xf32>
    %12 = tensor.empty() : tensor<4x4x1x8x8xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<4x4x1x8x8xf32>) outs(%12 : tensor<4x4x1x8x8xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_21 = tensor.collapse_shape %transposed_10 [[0, 1], [2], [3]] : tensor<4x4x8x8xf32> into tensor<16x8x8xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_20 [[0, 1], [2, 3], [4]] : tensor<4x4x1x8x8xf32> into tensor<16x8x8xf32>
    %13 = tensor.empty() : tensor<16x8x8xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    %15 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<16x8x8xf32>, tensor<16x8x8xf32>) outs(%14 : tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    %expanded_23 = tensor.expand_shape %15 [[0, 1], [2, 3], [4]] output_shape [4, 4, 1, 8, 8] : tensor<16x8x8xf32> into tensor<4x4x1x8x8xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<4x4x1x8x8xf32>) outs(%12 : tensor<4x4x1x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.truncf %cst_5 : f64 to f32
      %88 = arith.mulf %in, %87 : f32
      linalg.yield %88 : f32
    } -> tensor<4x4x1x8x8xf32>
    %17 = tensor.empty() : tensor<4x4x1x8xi64>
    %18 = linalg.fill ins(%c0_i64 : i64) outs(%17 : tensor<4x4x1x8xi64>) -> tensor<4x4x1x8xi64>
    %19 = tensor.empty() : tensor<4x4x1x8xf32>
    %20 = linalg.fill ins(%cst_0 : f32) outs(%19 : tensor<4x4x1x8xf32>) -> tensor<4x4x1x8xf32>
    %21:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%16 : tensor<4x4x1x8x8xf32>) outs(%20, %18 : tensor<4x4x1x8xf32>, tensor<4x4x1x8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %87 = linalg.index 4 : index
      %88 = arith.index_cast %87 : index to i64
      %89 = arith.maximumf %in, %out : f32
      %90 = arith.cmpf ogt, %in, %out : f32
      %91 = arith.select %90, %88, %out_38 : i64
      linalg.yield %89, %91 : f32, i64
    } -> (tensor<4x4x1x8xf32>, tensor<4x4x1x8xi64>)
    %expanded_24 = tensor.expand_shape %21#0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 1, 8, 1] : tensor<4x4x1x8xf32> into tensor<4x4x1x8x1xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%16, %expanded_24 : tensor<4x4x1x8x8xf32>, tensor<4x4x1x8x1xf32>) outs(%12 : tensor<4x4x1x8x8xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.subf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x4x1x8x8xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<4x4x1x8x8xf32>) outs(%12 : tensor<4x4x1x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = math.exp %in : f32
      linalg.yield %87 : f32
    } -> tensor<4x4x1x8x8xf32>
    %24 = tensor.empty() : tensor<4x4x1x8x1xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<4x4x1x8x1xf32>) -> tensor<4x4x1x8x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<4x4x1x8x8xf32>) outs(%25 : tensor<4x4x1x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.addf %in, %out : f32
      linalg.yield %87 : f32
    } -> tensor<4x4x1x8x1xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%23, %26 : tensor<4x4x1x8x8xf32>, tensor<4x4x1x8x1xf32>) outs(%12 : tensor<4x4x1x8x8xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.divf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x4x1x8x8xf32>
    %collapsed_25 = tensor.collapse_shape %27 [[0, 1], [2, 3], [4]] : tensor<4x4x1x8x8xf32> into tensor<16x8x8xf32>
    %collapsed_26 = tensor.collapse_shape %transposed_18 [[0, 1], [2], [3]] : tensor<4x4x8x8xf32> into tensor<16x8x8xf32>
    %28 = linalg.batch_matmul ins(%collapsed_25, %collapsed_26 : tensor<16x8x8xf32>, tensor<16x8x8xf32>) outs(%14 : tensor<16x8x8xf32>) -> tensor<16x8x8xf32>
    %expanded_27 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [4, 4, 8, 8] : tensor<16x8x8xf32> into tensor<4x4x8x8xf32>
    %29 = tensor.empty() : tensor<4x8x4x8xf32>
    %transposed_28 = linalg.transpose ins(%expanded_27 : tensor<4x4x8x8xf32>) outs(%29 : tensor<4x8x4x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_29 = tensor.collapse_shape %transposed_28 [[0, 1], [2, 3]] : tensor<4x8x4x8xf32> into tensor<32x32xf32>
    %transposed_30 = linalg.transpose ins(%arg6 : tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) permutation = [1, 0] 
    %30 = linalg.matmul ins(%collapsed_29, %transposed_30 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg7 : tensor<32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%30, %31 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x32xf32>
    %expanded_31 = tensor.expand_shape %32 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %33 = spmd.with_sharding_constraint %expanded_31 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<4x8x32xf32>
    %34 = tensor.empty() : tensor<4x8x32xf32>
    %35 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg16, %33 : tensor<4x8x32xf32>, tensor<4x8x32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %36 = tensor.empty() : tensor<4x8x32xf64>
    %37 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<4x8x32xf32>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f32, %out: f64):
      %87 = arith.extf %in : f32 to f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %38 = tensor.empty() : tensor<4x8x1xf64>
    %39 = linalg.fill ins(%cst_1 : f64) outs(%38 : tensor<4x8x1xf64>) -> tensor<4x8x1xf64>
    %40 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%37 : tensor<4x8x32xf64>) outs(%39 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.addf %in, %out : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %41 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40 : tensor<4x8x1xf64>) outs(%38 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.divf %in, %cst_6 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %42 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %41 : tensor<4x8x32xf64>, tensor<4x8x1xf64>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %87 = arith.subf %in, %in_38 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %43 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42, %42 : tensor<4x8x32xf64>, tensor<4x8x32xf64>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %87 = arith.mulf %in, %in_38 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %44 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%43 : tensor<4x8x32xf64>) outs(%39 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.addf %in, %out : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %45 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44 : tensor<4x8x1xf64>) outs(%38 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.divf %in, %cst_6 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %46 = tensor.empty() : tensor<4x8x1xf32>
    %47 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<4x8x1xf64>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %87 = arith.truncf %in : f64 to f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%46 : tensor<4x8x1xf32>) -> tensor<4x8x1xf32>
    %49 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%35 : tensor<4x8x32xf32>) outs(%48 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.addf %in, %out : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %50 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.divf %in, %cst_7 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.truncf %cst_4 : f64 to f32
      %88 = arith.addf %in, %87 : f32
      linalg.yield %88 : f32
    } -> tensor<4x8x1xf32>
    %52 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = math.rsqrt %in : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35, %50 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.subf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %54 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %52 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.mulf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %55 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %arg8 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.mulf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55, %arg9 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %collapsed_32 = tensor.collapse_shape %56 [[0, 1], [2]] : tensor<4x8x32xf32> into tensor<32x32xf32>
    %57 = tensor.empty() : tensor<32x128xf32>
    %transposed_33 = linalg.transpose ins(%arg12 : tensor<128x32xf32>) outs(%57 : tensor<32x128xf32>) permutation = [1, 0] 
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %59 = linalg.matmul ins(%collapsed_32, %transposed_33 : tensor<32x32xf32>, tensor<32x128xf32>) outs(%58 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg13 : tensor<128xf32>) outs(%57 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %61 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%59, %60 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%57 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x128xf32>
    %expanded_34 = tensor.expand_shape %61 [[0, 1], [2]] output_shape [4, 8, 128] : tensor<32x128xf32> into tensor<4x8x128xf32>
    %62 = spmd.with_sharding_constraint %expanded_34 <@mesh, [{?}, {?}, {"model"}]> : tensor<4x8x128xf32>
    %63 = tensor.empty() : tensor<4x8x128xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<4x8x128xf32>) outs(%63 : tensor<4x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.divf %in, %cst_8 : f32
      %88 = math.erf %87 : f32
      %89 = arith.addf %88, %cst_2 : f32
      %90 = arith.mulf %89, %cst_3 : f32
      %91 = arith.mulf %in, %90 : f32
      linalg.yield %91 : f32
    } -> tensor<4x8x128xf32>
    %collapsed_35 = tensor.collapse_shape %64 [[0, 1], [2]] : tensor<4x8x128xf32> into tensor<32x128xf32>
    %65 = tensor.empty() : tensor<128x32xf32>
    %transposed_36 = linalg.transpose ins(%arg14 : tensor<32x128xf32>) outs(%65 : tensor<128x32xf32>) permutation = [1, 0] 
    %66 = linalg.matmul ins(%collapsed_35, %transposed_36 : tensor<32x128xf32>, tensor<128x32xf32>) outs(%1 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg15 : tensor<32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %68 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%66, %67 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%0 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<32x32xf32>
    %expanded_37 = tensor.expand_shape %68 [[0, 1], [2]] output_shape [4, 8, 32] : tensor<32x32xf32> into tensor<4x8x32xf32>
    %69 = spmd.with_sharding_constraint %expanded_37 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<4x8x32xf32>
    %70 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %69 : tensor<4x8x32xf32>, tensor<4x8x32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %71 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<4x8x32xf32>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f32, %out: f64):
      %87 = arith.extf %in : f32 to f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %72 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%71 : tensor<4x8x32xf64>) outs(%39 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.addf %in, %out : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %73 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72 : tensor<4x8x1xf64>) outs(%38 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.divf %in, %cst_6 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %74 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %73 : tensor<4x8x32xf64>, tensor<4x8x1xf64>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %87 = arith.subf %in, %in_38 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %75 = linalg.generic {indexing_maps = [#map5, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%74, %74 : tensor<4x8x32xf64>, tensor<4x8x32xf64>) outs(%36 : tensor<4x8x32xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %87 = arith.mulf %in, %in_38 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x32xf64>
    %76 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%75 : tensor<4x8x32xf64>) outs(%39 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.addf %in, %out : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %77 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<4x8x1xf64>) outs(%38 : tensor<4x8x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %87 = arith.divf %in, %cst_6 : f64
      linalg.yield %87 : f64
    } -> tensor<4x8x1xf64>
    %78 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77 : tensor<4x8x1xf64>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %87 = arith.truncf %in : f64 to f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %79 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%70 : tensor<4x8x32xf32>) outs(%48 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.addf %in, %out : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %80 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.divf %in, %cst_7 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %81 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = arith.truncf %cst_4 : f64 to f32
      %88 = arith.addf %in, %87 : f32
      linalg.yield %88 : f32
    } -> tensor<4x8x1xf32>
    %82 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81 : tensor<4x8x1xf32>) outs(%46 : tensor<4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %87 = math.rsqrt %in : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x1xf32>
    %83 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70, %80 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.subf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %84 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %82 : tensor<4x8x32xf32>, tensor<4x8x1xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.mulf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %85 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %arg10 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.mulf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    %86 = linalg.generic {indexing_maps = [#map5, #map7, #map5], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85, %arg11 : tensor<4x8x32xf32>, tensor<32xf32>) outs(%34 : tensor<4x8x32xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %87 = arith.addf %in, %in_38 : f32
      linalg.yield %87 : f32
    } -> tensor<4x8x32xf32>
    return %86 : tensor<4x8x32xf32>
  }
}

