// Written by attention.py.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  spmd.mesh @ort = <["x"=2]>
  func.func @llama2_attention(%arg0: tensor<3x7x32xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@ort, [{}, {}, {}]>}, %arg1: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@ort, [{}, {"x"}]>, spmd.weight = "wq"}, %arg2: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@ort, [{}, {"x"}]>, spmd.weight = "wk"}, %arg3: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@ort, [{}, {"x"}]>, spmd.weight = "wv"}, %arg4: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@ort, [{"x"}, {}]>, spmd.weight = "wo"}) -> (tensor<3x7x32xf32> {spmd.name = "y", spmd.sharding = #spmd.sharding<@ort, [{}, {}, {}]>}) {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<3x7x32xf32> into tensor<21x32xf32>
    %0 = spmd.with_sharding_constraint %collapsed <@ort, [{}, {}]> : tensor<21x32xf32>
    %1 = tensor.empty() : tensor<21x32xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<21x32xf32>) -> tensor<21x32xf32>
    %3 = linalg.matmul ins(%0, %arg1 : tensor<21x32xf32>, tensor<32x32xf32>) outs(%2 : tensor<21x32xf32>) -> tensor<21x32xf32>
    %4 = spmd.with_sharding_constraint %3 <@ort, [{}, {"x"}]> : tensor<21x32xf32>
    %expanded = tensor.expand_shape %4 [[0, 1], [2]] output_shape [3, 7, 32] : tensor<21x32xf32> into tensor<3x7x32xf32>
    %expanded_1 = tensor.expand_shape %4 [[0, 1], [2, 3]] output_shape [3, 7, 4, 8] : tensor<21x32xf32> into tensor<3x7x4x8xf32>
    %5 = spmd.with_sharding_constraint %expanded_1 <@ort, [{}, {}, {"x"}, {}]> : tensor<3x7x4x8xf32>
    %6 = tensor.empty() : tensor<3x4x7x8xf32>
    %transposed = linalg.transpose ins(%5 : tensor<3x7x4x8xf32>) outs(%6 : tensor<3x4x7x8xf32>) permutation = [0, 2, 1, 3] 
    %7 = spmd.with_sharding_constraint %transposed <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x7x8xf32>
    %collapsed_2 = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<3x4x7x8xf32> into tensor<12x7x8xf32>
    %8 = spmd.with_sharding_constraint %collapsed_2 <@ort, [{3, "x"}, {}, {}]> : tensor<12x7x8xf32>
    %9 = linalg.matmul ins(%0, %arg2 : tensor<21x32xf32>, tensor<32x32xf32>) outs(%2 : tensor<21x32xf32>) -> tensor<21x32xf32>
    %10 = spmd.with_sharding_constraint %9 <@ort, [{}, {"x"}]> : tensor<21x32xf32>
    %expanded_3 = tensor.expand_shape %10 [[0, 1], [2]] output_shape [3, 7, 32] : tensor<21x32xf32> into tensor<3x7x32xf32>
    %expanded_4 = tensor.expand_shape %10 [[0, 1], [2, 3]] output_shape [3, 7, 4, 8] : tensor<21x32xf32> into tensor<3x7x4x8xf32>
    %11 = spmd.with_sharding_constraint %expanded_4 <@ort, [{}, {}, {"x"}, {}]> : tensor<3x7x4x8xf32>
    %12 = tensor.empty() : tensor<3x4x8x7xf32>
    %transposed_5 = linalg.transpose ins(%11 : tensor<3x7x4x8xf32>) outs(%12 : tensor<3x4x8x7xf32>) permutation = [0, 2, 3, 1] 
    %13 = spmd.with_sharding_constraint %transposed_5 <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x8x7xf32>
    %collapsed_6 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<3x4x8x7xf32> into tensor<12x8x7xf32>
    %14 = spmd.with_sharding_constraint %collapsed_6 <@ort, [{3, "x"}, {}, {}]> : tensor<12x8x7xf32>
    %15 = linalg.matmul ins(%0, %arg3 : tensor<21x32xf32>, tensor<32x32xf32>) outs(%2 : tensor<21x32xf32>) -> tensor<21x32xf32>
    %16 = spmd.with_sharding_constraint %15 <@ort, [{}, {"x"}]> : tensor<21x32xf32>
    %expanded_7 = tensor.expand_shape %16 [[0, 1], [2]] output_shape [3, 7, 32] : tensor<21x32xf32> into tensor<3x7x32xf32>
    %expanded_8 = tensor.expand_shape %16 [[0, 1], [2, 3]] output_shape [3, 7, 4, 8] : tensor<21x32xf32> into tensor<3x7x4x8xf32>
    %17 = spmd.with_sharding_constraint %expanded_8 <@ort, [{}, {}, {"x"}, {}]> : tensor<3x7x4x8xf32>
    %transposed_9 = linalg.transpose ins(%17 : tensor<3x7x4x8xf32>) outs(%6 : tensor<3x4x7x8xf32>) permutation = [0, 2, 1, 3] 
    %18 = spmd.with_sharding_constraint %transposed_9 <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x7x8xf32>
    %collapsed_10 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<3x4x7x8xf32> into tensor<12x7x8xf32>
    %19 = spmd.with_sharding_constraint %collapsed_10 <@ort, [{3, "x"}, {}, {}]> : tensor<12x7x8xf32>
    %20 = tensor.empty() : tensor<12x7x7xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<12x7x7xf32>) -> tensor<12x7x7xf32>
    %22 = linalg.batch_matmul ins(%8, %14 : tensor<12x7x8xf32>, tensor<12x8x7xf32>) outs(%21 : tensor<12x7x7xf32>) -> tensor<12x7x7xf32>
    %23 = spmd.with_sharding_constraint %22 <@ort, [{3, "x"}, {}, {}]> : tensor<12x7x7xf32>
    %expanded_11 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [3, 4, 7, 7] : tensor<12x7x7xf32> into tensor<3x4x7x7xf32>
    %24 = spmd.with_sharding_constraint %expanded_11 <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x7x7xf32>
    %25 = tensor.empty() : tensor<3x4x7xi64>
    %26 = linalg.fill ins(%c0_i64 : i64) outs(%25 : tensor<3x4x7xi64>) -> tensor<3x4x7xi64>
    %27 = tensor.empty() : tensor<3x4x7xf32>
    %28 = linalg.fill ins(%cst_0 : f32) outs(%27 : tensor<3x4x7xf32>) -> tensor<3x4x7xf32>
    %29:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%24 : tensor<3x4x7x7xf32>) outs(%28, %26 : tensor<3x4x7xf32>, tensor<3x4x7xi64>) {
    ^bb0(%in: f32, %out: f32, %out_19: i64):
      %49 = linalg.index 3 : index
      %50 = arith.index_cast %49 : index to i64
      %51 = arith.maximumf %in, %out : f32
      %52 = arith.cmpf ogt, %in, %out : f32
      %53 = arith.select %52, %50, %out_19 : i64
      linalg.yield %51, %53 : f32, i64
    } -> (tensor<3x4x7xf32>, tensor<3x4x7xi64>)
    %expanded_12 = tensor.expand_shape %29#0 [[0], [1], [2, 3]] output_shape [3, 4, 7, 1] : tensor<3x4x7xf32> into tensor<3x4x7x1xf32>
    %30 = tensor.empty() : tensor<3x4x7x7xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %expanded_12 : tensor<3x4x7x7xf32>, tensor<3x4x7x1xf32>) outs(%30 : tensor<3x4x7x7xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %49 = arith.subf %in, %in_19 : f32
      linalg.yield %49 : f32
    } -> tensor<3x4x7x7xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<3x4x7x7xf32>) outs(%30 : tensor<3x4x7x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = math.exp %in : f32
      linalg.yield %49 : f32
    } -> tensor<3x4x7x7xf32>
    %33 = tensor.empty() : tensor<3x4x7x1xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<3x4x7x1xf32>) -> tensor<3x4x7x1xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<3x4x7x7xf32>) outs(%34 : tensor<3x4x7x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %49 = arith.addf %in, %out : f32
      linalg.yield %49 : f32
    } -> tensor<3x4x7x1xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<3x4x7x7xf32>, tensor<3x4x7x1xf32>) outs(%30 : tensor<3x4x7x7xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %49 = arith.divf %in, %in_19 : f32
      linalg.yield %49 : f32
    } -> tensor<3x4x7x7xf32>
    %37 = spmd.with_sharding_constraint %36 <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x7x7xf32>
    %collapsed_13 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<3x4x7x7xf32> into tensor<12x7x7xf32>
    %38 = spmd.with_sharding_constraint %collapsed_13 <@ort, [{3, "x"}, {}, {}]> : tensor<12x7x7xf32>
    %39 = tensor.empty() : tensor<12x7x8xf32>
    %40 = linalg.fill ins(%cst : f32) outs(%39 : tensor<12x7x8xf32>) -> tensor<12x7x8xf32>
    %41 = linalg.batch_matmul ins(%38, %19 : tensor<12x7x7xf32>, tensor<12x7x8xf32>) outs(%40 : tensor<12x7x8xf32>) -> tensor<12x7x8xf32>
    %42 = spmd.with_sharding_constraint %41 <@ort, [{3, "x"}, {}, {}]> : tensor<12x7x8xf32>
    %expanded_14 = tensor.expand_shape %42 [[0, 1], [2], [3]] output_shape [3, 4, 7, 8] : tensor<12x7x8xf32> into tensor<3x4x7x8xf32>
    %43 = spmd.with_sharding_constraint %expanded_14 <@ort, [{}, {"x"}, {}, {}]> : tensor<3x4x7x8xf32>
    %44 = tensor.empty() : tensor<3x7x4x8xf32>
    %transposed_15 = linalg.transpose ins(%43 : tensor<3x4x7x8xf32>) outs(%44 : tensor<3x7x4x8xf32>) permutation = [0, 2, 1, 3] 
    %45 = spmd.with_sharding_constraint %transposed_15 <@ort, [{}, {}, {"x"}, {}]> : tensor<3x7x4x8xf32>
    %collapsed_16 = tensor.collapse_shape %45 [[0], [1], [2, 3]] : tensor<3x7x4x8xf32> into tensor<3x7x32xf32>
    %collapsed_17 = tensor.collapse_shape %45 [[0, 1], [2, 3]] : tensor<3x7x4x8xf32> into tensor<21x32xf32>
    %46 = spmd.with_sharding_constraint %collapsed_17 <@ort, [{}, {"x"}]> : tensor<21x32xf32>
    %47 = linalg.matmul ins(%46, %arg4 : tensor<21x32xf32>, tensor<32x32xf32>) outs(%2 : tensor<21x32xf32>) -> tensor<21x32xf32>
    %48 = spmd.with_sharding_constraint %47 <@ort, [{}, {}]> : tensor<21x32xf32>
    %expanded_18 = tensor.expand_shape %48 [[0, 1], [2]] output_shape [3, 7, 32] : tensor<21x32xf32> into tensor<3x7x32xf32>
    return %expanded_18 : tensor<3x7x32xf32>
  }
}

