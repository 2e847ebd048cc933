// decode of models.py. Written by export.py.
#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<() -> ()>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> ()>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2) -> ()>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map15 = affine_map<(d0, d1) -> (d1, d0)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d3)>
module @jit_step {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  spmd.mesh @empty_mesh = <[]>
  func.func public @main(%arg0: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.key"}, %arg1: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.out"}, %arg2: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.query"}, %arg3: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.value"}, %arg4: tensor<64x32xf32> {spmd.weight = "params.words"}, %arg5: tensor<8x4x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>, spmd.weight = "cache.keys"}, %arg6: tensor<8x4x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>, spmd.weight = "cache.values"}, %arg7: tensor<i32> {spmd.name = "place", spmd.range = [0, 8], spmd.sharding = #spmd.sharding<@empty_mesh, []>}, %arg8: tensor<8xi32> {spmd.name = "token", spmd.range = [0, 64], spmd.sharding = #spmd.sharding<@mesh, [{"data"}]>}) -> (tensor<8x4x8x8xf32> {spmd.name = "result.0.keys", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>, spmd.tied = 5 : i64}, tensor<8x4x8x8xf32> {spmd.name = "result.0.values", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>, spmd.tied = 6 : i64}, tensor<8xi32> {spmd.name = "result.1"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_2 = arith.constant dense<0.353553385> : tensor<f32>
    %c7 = arith.constant 7 : index
    %c8_i32 = arith.constant 8 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_3 = arith.constant 0.000000e+00 : f32
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %cst_4 = arith.constant dense<64> : tensor<i32>
    %cst_5 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8xi32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_5 : tensor<i32>) outs(%0 : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8xi32>
    %2 = tensor.empty() : tensor<8xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%arg8, %1 : tensor<8xi32>, tensor<8xi32>) outs(%2 : tensor<8xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %58 = arith.cmpi slt, %in, %in_9 : i32
      linalg.yield %58 : i1
    } -> tensor<8xi1>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%cst_4 : tensor<i32>) outs(%0 : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%arg8, %4 : tensor<8xi32>, tensor<8xi32>) outs(%0 : tensor<8xi32>) {
    ^bb0(%in: i32, %in_9: i32, %out: i32):
      %58 = arith.addi %in, %in_9 : i32
      linalg.yield %58 : i32
    } -> tensor<8xi32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel"]} ins(%3, %5, %arg8 : tensor<8xi1>, tensor<8xi32>, tensor<8xi32>) outs(%0 : tensor<8xi32>) {
    ^bb0(%in: i1, %in_9: i32, %in_10: i32, %out: i32):
      %58 = arith.select %in, %in_9, %in_10 : i32
      linalg.yield %58 : i32
    } -> tensor<8xi32>
    %7 = tensor.empty() : tensor<8x1xi32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8xi32>) outs(%7 : tensor<8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x1xi32>
    %9 = tensor.empty() : tensor<8x32xf32>
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%9 : tensor<8x32xf32>) {
    ^bb0(%out: f32):
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %extracted_9 = tensor.extract %8[%58, %c0] : tensor<8x1xi32>
      %60 = arith.index_cast %extracted_9 : i32 to index
      %61 = arith.maxsi %60, %c0 : index
      %62 = arith.minsi %61, %c63 : index
      %extracted_10 = tensor.extract %arg4[%62, %59] : tensor<64x32xf32>
      linalg.yield %extracted_10 : f32
    } -> tensor<8x32xf32>
    %11 = linalg.fill ins(%cst_3 : f32) outs(%9 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %12 = linalg.matmul ins(%10, %arg2 : tensor<8x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %expanded = tensor.expand_shape %12 [[0], [1, 2, 3]] output_shape [8, 4, 1, 8] : tensor<8x32xf32> into tensor<8x4x1x8xf32>
    %13 = linalg.matmul ins(%10, %arg0 : tensor<8x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %expanded_6 = tensor.expand_shape %13 [[0], [1, 2, 3]] output_shape [8, 4, 1, 8] : tensor<8x32xf32> into tensor<8x4x1x8xf32>
    %14 = linalg.matmul ins(%10, %arg3 : tensor<8x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %expanded_7 = tensor.expand_shape %14 [[0], [1, 2, 3]] output_shape [8, 4, 1, 8] : tensor<8x32xf32> into tensor<8x4x1x8xf32>
    %15 = tensor.empty() : tensor<i1>
    %16 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg7 : tensor<i32>) outs(%15 : tensor<i1>) {
    ^bb0(%in: i32, %out: i1):
      %58 = arith.cmpi slt, %in, %c0_i32 : i32
      linalg.yield %58 : i1
    } -> tensor<i1>
    %17 = tensor.empty() : tensor<i32>
    %18 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%arg7 : tensor<i32>) outs(%17 : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %58 = arith.addi %in, %c8_i32 : i32
      linalg.yield %58 : i32
    } -> tensor<i32>
    %19 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = []} ins(%16, %18, %arg7 : tensor<i1>, tensor<i32>, tensor<i32>) outs(%17 : tensor<i32>) {
    ^bb0(%in: i1, %in_9: i32, %in_10: i32, %out: i32):
      %58 = arith.select %in, %in_9, %in_10 : i32
      linalg.yield %58 : i32
    } -> tensor<i32>
    %extracted = tensor.extract %19[] : tensor<i32>
    %20 = arith.index_cast %extracted : i32 to index
    %21 = arith.maxsi %20, %c0 : index
    %22 = arith.minsi %21, %c7 : index
    %inserted_slice = tensor.insert_slice %expanded_6 into %arg5[0, 0, %22, 0] [8, 4, 1, 8] [1, 1, 1, 1] : tensor<8x4x1x8xf32> into tensor<8x4x8x8xf32>
    %inserted_slice_8 = tensor.insert_slice %expanded_7 into %arg6[0, 0, %22, 0] [8, 4, 1, 8] [1, 1, 1, 1] : tensor<8x4x1x8xf32> into tensor<8x4x8x8xf32>
    %23 = tensor.empty() : tensor<8x4x8x8xf32>
    %24 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice : tensor<8x4x8x8xf32>) outs(%23 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %25 = tensor.empty() : tensor<8x4x1x8xf32>
    %26 = linalg.fill ins(%cst_3 : f32) outs(%25 : tensor<8x4x1x8xf32>) -> tensor<8x4x1x8xf32>
    %27 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %24 : tensor<8x4x1x8xf32>, tensor<8x4x8x8xf32>) outs(%26 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.mulf %in, %in_9 : f32
      %59 = arith.addf %out, %58 : f32
      linalg.yield %59 : f32
    } -> tensor<8x4x1x8xf32>
    %28 = linalg.generic {indexing_maps = [#map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x8xf32>
    %29 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.mulf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1x8xf32>
    %30 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%0 : tensor<8xi32>) {
    ^bb0(%out: i32):
      %58 = linalg.index 0 : index
      %59 = arith.index_cast %58 : index to i32
      linalg.yield %59 : i32
    } -> tensor<8xi32>
    %31 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel"]} ins(%arg7 : tensor<i32>) outs(%0 : tensor<8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8xi32>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]} ins(%30, %31 : tensor<8xi32>, tensor<8xi32>) outs(%2 : tensor<8xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %58 = arith.cmpi sle, %in, %in_9 : i32
      linalg.yield %58 : i1
    } -> tensor<8xi1>
    %33 = call @_where(%32, %29, %cst_1) : (tensor<8xi1>, tensor<8x4x1x8xf32>, tensor<f32>) -> tensor<8x4x1x8xf32>
    %34 = tensor.empty() : tensor<8x4x1xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %36 = linalg.generic {indexing_maps = [#map6, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%33 : tensor<8x4x1x8xf32>) outs(%35 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.maximumf %out, %in : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1xf32>
    %37 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%34 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1xf32>
    %38 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %36 : tensor<8x4x1xf32>, tensor<8x4x1xf32>) outs(%34 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.maximumf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1xf32>
    %39 = tensor.empty() : tensor<8x4x1x1xf32>
    %40 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<8x4x1xf32>) outs(%39 : tensor<8x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x1xf32>
    %41 = linalg.generic {indexing_maps = [#map14, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<8x4x1x1xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x8xf32>
    %42 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %41 : tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.subf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1x8xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<8x4x1x8xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = math.exp %in : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1x8xf32>
    %44 = linalg.fill ins(%cst_3 : f32) outs(%34 : tensor<8x4x1xf32>) -> tensor<8x4x1xf32>
    %45 = linalg.generic {indexing_maps = [#map6, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%43 : tensor<8x4x1x8xf32>) outs(%44 : tensor<8x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.addf %out, %in : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1xf32>
    %46 = linalg.generic {indexing_maps = [#map11, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<8x4x1xf32>) outs(%39 : tensor<8x4x1x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x1xf32>
    %47 = linalg.generic {indexing_maps = [#map14, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46 : tensor<8x4x1x1xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x8xf32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %47 : tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) outs(%25 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.divf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<8x4x1x8xf32>
    %49 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%48, %inserted_slice_8 : tensor<8x4x1x8xf32>, tensor<8x4x8x8xf32>) outs(%26 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.mulf %in, %in_9 : f32
      %59 = arith.addf %out, %58 : f32
      linalg.yield %59 : f32
    } -> tensor<8x4x1x8xf32>
    %collapsed = tensor.collapse_shape %49 [[0], [1, 2, 3]] : tensor<8x4x1x8xf32> into tensor<8x32xf32>
    %50 = linalg.matmul ins(%collapsed, %arg1 : tensor<8x32xf32>, tensor<32x32xf32>) outs(%11 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10, %50 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%9 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.addf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<8x32xf32>
    %52 = tensor.empty() : tensor<32x64xf32>
    %53 = linalg.generic {indexing_maps = [#map15, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<64x32xf32>) outs(%52 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x64xf32>
    %54 = tensor.empty() : tensor<8x64xf32>
    %55 = linalg.fill ins(%cst_3 : f32) outs(%54 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %56 = linalg.matmul ins(%51, %53 : tensor<8x32xf32>, tensor<32x64xf32>) outs(%55 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %57 = call @argmax(%56) : (tensor<8x64xf32>) -> tensor<8xi32>
    return %inserted_slice, %inserted_slice_8, %57 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>, tensor<8xi32>
  }
  func.func private @_where(%arg0: tensor<8xi1>, %arg1: tensor<8x4x1x8xf32>, %arg2: tensor<f32>) -> tensor<8x4x1x8xf32> {
    %0 = tensor.empty() : tensor<8x4x1x8xi1>
    %1 = linalg.generic {indexing_maps = [#map16, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8xi1>) outs(%0 : tensor<8x4x1x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x4x1x8xi1>
    %2 = tensor.empty() : tensor<8x4x1x8xf32>
    %3 = linalg.generic {indexing_maps = [#map10, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x1x8xf32>
    %4 = linalg.generic {indexing_maps = [#map6, #map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %arg1, %3 : tensor<8x4x1x8xi1>, tensor<8x4x1x8xf32>, tensor<8x4x1x8xf32>) outs(%2 : tensor<8x4x1x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %5 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %5 : f32
    } -> tensor<8x4x1x8xf32>
    return %4 : tensor<8x4x1x8xf32>
  }
  func.func private @argmax(%arg0: tensor<8x64xf32>) -> tensor<8xi32> {
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<8x64xi32>
    %1 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<8x64xi32>) {
    ^bb0(%out: i32):
      %7 = linalg.index 1 : index
      %8 = arith.index_cast %7 : index to i32
      linalg.yield %8 : i32
    } -> tensor<8x64xi32>
    %2 = tensor.empty() : tensor<8xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8xf32>) -> tensor<8xf32>
    %4 = tensor.empty() : tensor<8xi32>
    %5 = linalg.fill ins(%c0_i32 : i32) outs(%4 : tensor<8xi32>) -> tensor<8xi32>
    %6:2 = linalg.generic {indexing_maps = [#map3, #map3, #map2, #map2], iterator_types = ["parallel", "reduction"]} ins(%arg0, %1 : tensor<8x64xf32>, tensor<8x64xi32>) outs(%3, %5 : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %in_0: i32, %out: f32, %out_1: i32):
      %7 = arith.cmpf ogt, %out, %in : f32
      %8 = arith.cmpf une, %out, %out : f32
      %9 = arith.ori %7, %8 : i1
      %10 = arith.cmpf oeq, %out, %in : f32
      %11 = arith.cmpi slt, %out_1, %in_0 : i32
      %12 = arith.andi %10, %11 : i1
      %13 = arith.ori %9, %12 : i1
      %14 = arith.select %9, %out, %in : f32
      %15 = arith.select %13, %out_1, %in_0 : i32
      linalg.yield %14, %15 : f32, i32
    } -> (tensor<8xf32>, tensor<8xi32>)
    return %6#1 : tensor<8xi32>
  }
}

