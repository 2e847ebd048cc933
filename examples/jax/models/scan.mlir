// scan of models.py. Written by export.py.
#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> ()>
#map12 = affine_map<(d0, d1, d2) -> ()>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map15 = affine_map<() -> ()>
module @jit_apply {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<3x64x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.down"}, %arg1: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.key"}, %arg2: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.out"}, %arg3: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.query"}, %arg4: tensor<3x16x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.up"}, %arg5: tensor<3x16x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"data", "model"}, {}]>, spmd.weight = "params.value"}, %arg6: tensor<8x4x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data", "model"}, {}, {}]>}) -> (tensor<8x4x16xf32> {spmd.name = "result.0"}, tensor<3xf32> {spmd.name = "result.1"}) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<3xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<3xf32>
    %2:2 = scf.for %arg7 = %c0 to %c3 step %c1 iter_args(%arg8 = %arg6, %arg9 = %1) -> (tensor<8x4x16xf32>, tensor<3xf32>) {
      %3 = arith.index_cast %arg7 : index to i32
      %from_elements = tensor.from_elements %3 : tensor<i32>
      %4 = func.call @dynamic_index_in_dim(%arg0, %from_elements) : (tensor<3x64x16xf32>, tensor<i32>) -> tensor<64x16xf32>
      %5 = func.call @dynamic_index_in_dim_0(%arg1, %from_elements) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %6 = func.call @dynamic_index_in_dim_0(%arg2, %from_elements) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %7 = func.call @dynamic_index_in_dim_0(%arg3, %from_elements) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %8 = func.call @dynamic_index_in_dim_1(%arg4, %from_elements) : (tensor<3x16x64xf32>, tensor<i32>) -> tensor<16x64xf32>
      %9 = func.call @dynamic_index_in_dim_0(%arg5, %from_elements) : (tensor<3x16x16xf32>, tensor<i32>) -> tensor<16x16xf32>
      %10:2 = func.call @closed_call(%arg8, %4, %5, %6, %7, %8, %9) : (tensor<8x4x16xf32>, tensor<64x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x64xf32>, tensor<16x16xf32>) -> (tensor<8x4x16xf32>, tensor<f32>)
      %11 = func.call @dynamic_update_index_in_dim(%arg9, %10#1, %from_elements) : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
      scf.yield %10#0, %11 : tensor<8x4x16xf32>, tensor<3xf32>
    }
    return %2#0, %2#1 : tensor<8x4x16xf32>, tensor<3xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x64x16xf32>, %arg1: tensor<i32>) -> tensor<64x16xf32> {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[] : tensor<i32>
    %0 = arith.index_cast %extracted : i32 to index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.minsi %1, %c2 : index
    %extracted_slice = tensor.extract_slice %arg0[%2, 0, 0] [1, 64, 16] [1, 1, 1] : tensor<3x64x16xf32> to tensor<1x64x16xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x64x16xf32> into tensor<64x16xf32>
    return %collapsed : tensor<64x16xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<3x16x16xf32>, %arg1: tensor<i32>) -> tensor<16x16xf32> {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[] : tensor<i32>
    %0 = arith.index_cast %extracted : i32 to index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.minsi %1, %c2 : index
    %extracted_slice = tensor.extract_slice %arg0[%2, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<3x16x16xf32> to tensor<1x16x16xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x16x16xf32> into tensor<16x16xf32>
    return %collapsed : tensor<16x16xf32>
  }
  func.func private @dynamic_index_in_dim_1(%arg0: tensor<3x16x64xf32>, %arg1: tensor<i32>) -> tensor<16x64xf32> {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %extracted = tensor.extract %arg1[] : tensor<i32>
    %0 = arith.index_cast %extracted : i32 to index
    %1 = arith.maxsi %0, %c0 : index
    %2 = arith.minsi %1, %c2 : index
    %extracted_slice = tensor.extract_slice %arg0[%2, 0, 0] [1, 16, 64] [1, 1, 1] : tensor<3x16x64xf32> to tensor<1x16x64xf32>
    %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x16x64xf32> into tensor<16x64xf32>
    return %collapsed : tensor<16x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x4x16xf32>, %arg1: tensor<64x16xf32>, %arg2: tensor<16x16xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16x16xf32>, %arg5: tensor<16x64xf32>, %arg6: tensor<16x16xf32>) -> (tensor<8x4x16xf32>, tensor<f32>) {
    %cst = arith.constant 5.120000e+02 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x4x16xf32>
    %1 = linalg.fill ins(%cst_3 : f32) outs(%0 : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %2 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg4 : tensor<8x4x16xf32>, tensor<16x16xf32>) outs(%1 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x16xf32>
    %expanded = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [8, 4, 4, 4] : tensor<8x4x16xf32> into tensor<8x4x4x4xf32>
    %3 = tensor.empty() : tensor<8x4x4x4xf32>
    %4 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg2 : tensor<8x4x16xf32>, tensor<16x16xf32>) outs(%1 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x16xf32>
    %expanded_4 = tensor.expand_shape %5 [[0], [1], [2, 3]] output_shape [8, 4, 4, 4] : tensor<8x4x16xf32> into tensor<8x4x4x4xf32>
    %6 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg6 : tensor<8x4x16xf32>, tensor<16x16xf32>) outs(%1 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x16xf32>
    %expanded_5 = tensor.expand_shape %7 [[0], [1], [2, 3]] output_shape [8, 4, 4, 4] : tensor<8x4x16xf32> into tensor<8x4x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5 : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %9 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %10 = linalg.fill ins(%cst_3 : f32) outs(%3 : tensor<8x4x4x4xf32>) -> tensor<8x4x4x4xf32>
    %11 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%4, %9 : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) outs(%10 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x4x4xf32>
    %12 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %12 : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4x4xf32>
    %14 = tensor.empty() : tensor<8x4x4xf32>
    %15 = linalg.fill ins(%cst_0 : f32) outs(%14 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %16 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<8x4x4x4xf32>) outs(%15 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.maximumf %out, %in : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4xf32>
    %17 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%14 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4xf32>
    %18 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %16 : tensor<8x4x4xf32>, tensor<8x4x4xf32>) outs(%14 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.maximumf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4xf32>
    %19 = tensor.empty() : tensor<8x4x4x1xf32>
    %20 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<8x4x4xf32>) outs(%19 : tensor<8x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x1xf32>
    %21 = linalg.generic {indexing_maps = [#map14, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<8x4x4x1xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %21 : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.subf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4x4xf32>
    %23 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = math.exp %in : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4x4xf32>
    %24 = linalg.fill ins(%cst_3 : f32) outs(%14 : tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    %25 = linalg.generic {indexing_maps = [#map6, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<8x4x4x4xf32>) outs(%24 : tensor<8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.addf %out, %in : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<8x4x4xf32>) outs(%19 : tensor<8x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x1xf32>
    %27 = linalg.generic {indexing_maps = [#map14, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<8x4x4x1xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %28 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%23, %27 : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.divf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x4x4xf32>
    %29 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%28, %8 : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>) outs(%10 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x4x4xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<8x4x4x4xf32>) outs(%3 : tensor<8x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x4xf32>
    %collapsed = tensor.collapse_shape %30 [[0], [1], [2, 3]] : tensor<8x4x4x4xf32> into tensor<8x4x16xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg3 : tensor<8x4x16xf32>, tensor<16x16xf32>) outs(%1 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x16xf32>
    %32 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %31 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%0 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.addf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x16xf32>
    %33 = tensor.empty() : tensor<8x4x64xf32>
    %34 = linalg.fill ins(%cst_3 : f32) outs(%33 : tensor<8x4x64xf32>) -> tensor<8x4x64xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32, %arg5 : tensor<8x4x16xf32>, tensor<16x64xf32>) outs(%34 : tensor<8x4x64xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x64xf32>
    %36 = linalg.generic {indexing_maps = [#map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<8x4x64xf32>) outs(%33 : tensor<8x4x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = math.tanh %in : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x64xf32>
    %37 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36, %arg1 : tensor<8x4x64xf32>, tensor<64x16xf32>) outs(%1 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.mulf %in, %in_6 : f32
      %44 = arith.addf %out, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<8x4x16xf32>
    %38 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %37 : tensor<8x4x16xf32>, tensor<8x4x16xf32>) outs(%0 : tensor<8x4x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %43 = arith.addf %in, %in_6 : f32
      linalg.yield %43 : f32
    } -> tensor<8x4x16xf32>
    %39 = tensor.empty() : tensor<f32>
    %40 = linalg.fill ins(%cst_3 : f32) outs(%39 : tensor<f32>) -> tensor<f32>
    %41 = linalg.generic {indexing_maps = [#map13, #map12], iterator_types = ["reduction", "reduction", "reduction"]} ins(%32 : tensor<8x4x16xf32>) outs(%40 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.addf %out, %in : f32
      linalg.yield %43 : f32
    } -> tensor<f32>
    %42 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = []} ins(%41 : tensor<f32>) outs(%39 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %43 = arith.divf %in, %cst : f32
      linalg.yield %43 : f32
    } -> tensor<f32>
    return %38, %42 : tensor<8x4x16xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<3xf32> {
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %0 = tensor.empty() : tensor<1xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg1 : tensor<f32>) outs(%0 : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1xf32>
    %extracted = tensor.extract %arg2[] : tensor<i32>
    %2 = arith.index_cast %extracted : i32 to index
    %3 = arith.maxsi %2, %c0 : index
    %4 = arith.minsi %3, %c2 : index
    %inserted_slice = tensor.insert_slice %1 into %arg0[%4] [1] [1] : tensor<1xf32> into tensor<3xf32>
    return %inserted_slice : tensor<3xf32>
  }
}

