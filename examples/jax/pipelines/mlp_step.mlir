// mlp_step of pipeline.py. Written by pipeline.py --export.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
#map4 = affine_map<() -> ()>
#map5 = affine_map<(d0, d1) -> (d1, d0)>
#map6 = affine_map<(d0, d1) -> (d0)>
#map7 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map8 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map11 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map12 = affine_map<(d0) -> ()>
#map13 = affine_map<(d0) -> (d0)>
module @jit_mlp_step {
  spmd.mesh @mesh = <["stage"=2, "data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}]>, spmd.weight = "params.first.bias"}, %arg1: tensor<12x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.first.kernel"}, %arg2: tensor<16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.second.bias"}, %arg3: tensor<20x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.second.kernel"}, %arg4: tensor<10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.third.bias"}, %arg5: tensor<16x10xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.third.kernel"}, %arg6: tensor<16x12xf32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}, %arg7: tensor<16x10xf32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "y", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<f32> {spmd.name = "result.0"}, tensor<20xf32> {spmd.name = "result.1.first.bias"}, tensor<12x20xf32> {spmd.name = "result.1.first.kernel"}, tensor<16xf32> {spmd.name = "result.1.second.bias"}, tensor<20x16xf32> {spmd.name = "result.1.second.kernel"}, tensor<10xf32> {spmd.name = "result.1.third.bias"}, tensor<16x10xf32> {spmd.name = "result.1.third.kernel"}) {
    %cst = arith.constant 6.250000e-03 : f32
    %cst_0 = arith.constant dense<1.000000e-01> : tensor<f32>
    %cst_1 = arith.constant 1.600000e+02 : f32
    %cst_2 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<16x20xf32>
    %1 = linalg.fill ins(%cst_4 : f32) outs(%0 : tensor<16x20xf32>) -> tensor<16x20xf32>
    %2 = linalg.matmul ins(%arg6, %arg1 : tensor<16x12xf32>, tensor<12x20xf32>) outs(%1 : tensor<16x20xf32>) -> tensor<16x20xf32>
    %3 = tensor.empty() : tensor<1x20xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<20xf32>) outs(%3 : tensor<1x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x20xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x20xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<16x20xf32>, tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.addf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.tanh %in : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x20xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %7 : tensor<16x20xf32>, tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %10 = tensor.empty() : tensor<16x16xf32>
    %11 = linalg.fill ins(%cst_4 : f32) outs(%10 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %12 = linalg.matmul ins(%7, %arg3 : tensor<16x20xf32>, tensor<20x16xf32>) outs(%11 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %13 = tensor.empty() : tensor<1x16xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<16xf32>) outs(%13 : tensor<1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x16xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<1x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x16xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %15 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.addf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    spmd.stage_boundary %16 : tensor<16x16xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.tanh %in : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x16xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %17 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    %20 = tensor.empty() : tensor<16x10xf32>
    %21 = linalg.fill ins(%cst_4 : f32) outs(%20 : tensor<16x10xf32>) -> tensor<16x10xf32>
    %22 = linalg.matmul ins(%17, %arg5 : tensor<16x16xf32>, tensor<16x10xf32>) outs(%21 : tensor<16x10xf32>) -> tensor<16x10xf32>
    %23 = tensor.empty() : tensor<1x10xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<10xf32>) outs(%23 : tensor<1x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x10xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<1x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%22, %25 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.addf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%26, %arg7 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%27, %27 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %30 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%29, %27 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %31 = tensor.empty() : tensor<f32>
    %32 = linalg.fill ins(%cst_4 : f32) outs(%31 : tensor<f32>) -> tensor<f32>
    %33 = linalg.generic {indexing_maps = [#map1, #map3], iterator_types = ["reduction", "reduction"]} ins(%28 : tensor<16x10xf32>) outs(%32 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<f32>
    %34 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = []} ins(%33 : tensor<f32>) outs(%31 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.divf %in, %cst_1 : f32
      linalg.yield %88 : f32
    } -> tensor<f32>
    %35 = linalg.generic {indexing_maps = [#map4], iterator_types = []} outs(%31 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %36 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<f32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %37 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%36, %30 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %38 = tensor.empty() : tensor<10xf32>
    %39 = linalg.fill ins(%cst_4 : f32) outs(%38 : tensor<10xf32>) -> tensor<10xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%37 : tensor<16x10xf32>) outs(%39 : tensor<10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<10xf32>
    %expanded = tensor.expand_shape %40 [[0, 1]] output_shape [1, 10] : tensor<10xf32> into tensor<1x10xf32>
    %41 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<1x10xf32>) outs(%39 : tensor<10xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<10xf32>
    %42 = tensor.empty() : tensor<10x16xf32>
    %43 = linalg.fill ins(%cst_4 : f32) outs(%42 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %44 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%37, %17 : tensor<16x10xf32>, tensor<16x16xf32>) outs(%43 : tensor<10x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      %89 = arith.addf %out, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<10x16xf32>
    %45 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<10x16xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %46 = linalg.generic {indexing_maps = [#map10, #map11, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%37, %arg5 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%11 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      %89 = arith.addf %out, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<16x16xf32>
    %47 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%46, %19 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    %48 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%47, %17 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    %49 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%47, %48 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%10 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.addf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x16xf32>
    spmd.stage_boundary backward %49 : tensor<16x16xf32>
    %50 = tensor.empty() : tensor<16xf32>
    %51 = linalg.fill ins(%cst_4 : f32) outs(%50 : tensor<16xf32>) -> tensor<16xf32>
    %52 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%49 : tensor<16x16xf32>) outs(%51 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<16xf32>
    %expanded_5 = tensor.expand_shape %52 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
    %53 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%expanded_5 : tensor<1x16xf32>) outs(%51 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<16xf32>
    %54 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%49, %7 : tensor<16x16xf32>, tensor<16x20xf32>) outs(%1 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      %89 = arith.addf %out, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<16x20xf32>
    %55 = tensor.empty() : tensor<20x16xf32>
    %56 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%54 : tensor<16x20xf32>) outs(%55 : tensor<20x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x16xf32>
    %57 = linalg.generic {indexing_maps = [#map10, #map11, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%49, %arg3 : tensor<16x16xf32>, tensor<20x16xf32>) outs(%1 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      %89 = arith.addf %out, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<16x20xf32>
    %58 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%57, %9 : tensor<16x20xf32>, tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %59 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%58, %7 : tensor<16x20xf32>, tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %60 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%58, %59 : tensor<16x20xf32>, tensor<16x20xf32>) outs(%0 : tensor<16x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.addf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x20xf32>
    %61 = tensor.empty() : tensor<20xf32>
    %62 = linalg.fill ins(%cst_4 : f32) outs(%61 : tensor<20xf32>) -> tensor<20xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%60 : tensor<16x20xf32>) outs(%62 : tensor<20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<20xf32>
    %expanded_6 = tensor.expand_shape %63 [[0, 1]] output_shape [1, 20] : tensor<20xf32> into tensor<1x20xf32>
    %64 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "reduction"]} ins(%expanded_6 : tensor<1x20xf32>) outs(%62 : tensor<20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %out, %in : f32
      linalg.yield %88 : f32
    } -> tensor<20xf32>
    %65 = tensor.empty() : tensor<20x12xf32>
    %66 = linalg.fill ins(%cst_4 : f32) outs(%65 : tensor<20x12xf32>) -> tensor<20x12xf32>
    %67 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "reduction"]} ins(%60, %arg6 : tensor<16x20xf32>, tensor<16x12xf32>) outs(%66 : tensor<20x12xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      %89 = arith.addf %out, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<20x12xf32>
    %68 = tensor.empty() : tensor<12x20xf32>
    %69 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%67 : tensor<20x12xf32>) outs(%68 : tensor<12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x20xf32>
    %70 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%61 : tensor<20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20xf32>
    %71 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%70, %64 : tensor<20xf32>, tensor<20xf32>) outs(%61 : tensor<20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<20xf32>
    %72 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%arg0, %71 : tensor<20xf32>, tensor<20xf32>) outs(%61 : tensor<20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<20xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%68 : tensor<12x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x20xf32>
    %74 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%73, %69 : tensor<12x20xf32>, tensor<12x20xf32>) outs(%68 : tensor<12x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<12x20xf32>
    %75 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1, %74 : tensor<12x20xf32>, tensor<12x20xf32>) outs(%68 : tensor<12x20xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<12x20xf32>
    %76 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%50 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %77 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%76, %53 : tensor<16xf32>, tensor<16xf32>) outs(%50 : tensor<16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16xf32>
    %78 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%arg2, %77 : tensor<16xf32>, tensor<16xf32>) outs(%50 : tensor<16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16xf32>
    %79 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%55 : tensor<20x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x16xf32>
    %80 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%79, %56 : tensor<20x16xf32>, tensor<20x16xf32>) outs(%55 : tensor<20x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<20x16xf32>
    %81 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3, %80 : tensor<20x16xf32>, tensor<20x16xf32>) outs(%55 : tensor<20x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<20x16xf32>
    %82 = linalg.generic {indexing_maps = [#map12, #map13], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%38 : tensor<10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<10xf32>
    %83 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%82, %41 : tensor<10xf32>, tensor<10xf32>) outs(%38 : tensor<10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<10xf32>
    %84 = linalg.generic {indexing_maps = [#map13, #map13, #map13], iterator_types = ["parallel"]} ins(%arg4, %83 : tensor<10xf32>, tensor<10xf32>) outs(%38 : tensor<10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<10xf32>
    %85 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x10xf32>
    %86 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%85, %45 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.mulf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    %87 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg5, %86 : tensor<16x10xf32>, tensor<16x10xf32>) outs(%20 : tensor<16x10xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %88 = arith.subf %in, %in_7 : f32
      linalg.yield %88 : f32
    } -> tensor<16x10xf32>
    return %34, %72, %75, %78, %81, %84, %87 : tensor<f32>, tensor<20xf32>, tensor<12x20xf32>, tensor<16xf32>, tensor<20x16xf32>, tensor<10xf32>, tensor<16x10xf32>
  }
}

