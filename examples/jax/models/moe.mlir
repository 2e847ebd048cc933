// moe of models.py. Written by export.py.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> ()>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map13 = affine_map<(d0, d1, d2) -> ()>
#map14 = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#map15 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
module @jit_apply {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<8x32x16xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}, {}]>, spmd.weight = "params.down"}, %arg1: tensor<16x8xf32> {spmd.weight = "params.router"}, %arg2: tensor<8x16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}, {}]>, spmd.weight = "params.up"}, %arg3: tensor<16x16xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<16x16xf32> {spmd.name = "result"}) {
    %cst = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_0 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_2 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_3 = arith.constant -0.000000e+00 : f32
    %true = arith.constant true
    %c2147483647_i32 = arith.constant 2147483647 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_4 = arith.constant 0xFF800000 : f32
    %cst_5 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_6 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<16x8xf32>
    %1 = linalg.fill ins(%cst_6 : f32) outs(%0 : tensor<16x8xf32>) -> tensor<16x8xf32>
    %2 = linalg.matmul ins(%arg3, %arg1 : tensor<16x16xf32>, tensor<16x8xf32>) outs(%1 : tensor<16x8xf32>) -> tensor<16x8xf32>
    %3 = tensor.empty() : tensor<16xf32>
    %4 = linalg.fill ins(%cst_4 : f32) outs(%3 : tensor<16xf32>) -> tensor<16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%2 : tensor<16x8xf32>) outs(%4 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.maximumf %out, %in : f32
      linalg.yield %86 : f32
    } -> tensor<16xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel"]} ins(%cst_5 : tensor<f32>) outs(%3 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%6, %5 : tensor<16xf32>, tensor<16xf32>) outs(%3 : tensor<16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.maximumf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<16xf32>
    %8 = tensor.empty() : tensor<16x1xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<16xf32>) outs(%8 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x1xf32>
    %10 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<16x1xf32>) outs(%0 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x8xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %10 : tensor<16x8xf32>, tensor<16x8xf32>) outs(%0 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.subf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<16x8xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<16x8xf32>) outs(%0 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = math.exp %in : f32
      linalg.yield %86 : f32
    } -> tensor<16x8xf32>
    %13 = linalg.fill ins(%cst_6 : f32) outs(%3 : tensor<16xf32>) -> tensor<16xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%12 : tensor<16x8xf32>) outs(%13 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.addf %out, %in : f32
      linalg.yield %86 : f32
    } -> tensor<16xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<16xf32>) outs(%8 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x1xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<16x1xf32>) outs(%0 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x8xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %16 : tensor<16x8xf32>, tensor<16x8xf32>) outs(%0 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.divf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<16x8xf32>
    %18 = tensor.empty() : tensor<16x8xi32>
    %19 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%18 : tensor<16x8xi32>) {
    ^bb0(%out: i32):
      %86 = linalg.index 1 : index
      %87 = arith.index_cast %86 : index to i32
      linalg.yield %87 : i32
    } -> tensor<16x8xi32>
    %20 = tensor.empty() : tensor<16x8x8xf32>
    %21 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<16x8xf32>) outs(%20 : tensor<16x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x8x8xf32>
    %22 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<16x8xf32>) outs(%20 : tensor<16x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x8x8xf32>
    %23 = tensor.empty() : tensor<16x8x8xi1>
    %24 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %21 : tensor<16x8x8xf32>, tensor<16x8x8xf32>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: f32, %in_7: f32, %out: i1):
      %86 = arith.bitcast %in : f32 to i32
      %87 = arith.cmpi slt, %86, %c0_i32 : i32
      %88 = arith.subi %c2147483647_i32, %86 : i32
      %89 = arith.select %87, %88, %86 : i32
      %90 = arith.bitcast %in_7 : f32 to i32
      %91 = arith.cmpi slt, %90, %c0_i32 : i32
      %92 = arith.subi %c2147483647_i32, %90 : i32
      %93 = arith.select %91, %92, %90 : i32
      %94 = arith.cmpi sgt, %89, %93 : i32
      linalg.yield %94 : i1
    } -> tensor<16x8x8xi1>
    %25 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %22 : tensor<16x8x8xf32>, tensor<16x8x8xf32>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: f32, %in_7: f32, %out: i1):
      %86 = arith.bitcast %in : f32 to i32
      %87 = arith.cmpi slt, %86, %c0_i32 : i32
      %88 = arith.subi %c2147483647_i32, %86 : i32
      %89 = arith.select %87, %88, %86 : i32
      %90 = arith.bitcast %in_7 : f32 to i32
      %91 = arith.cmpi slt, %90, %c0_i32 : i32
      %92 = arith.subi %c2147483647_i32, %90 : i32
      %93 = arith.select %91, %92, %90 : i32
      %94 = arith.cmpi sgt, %89, %93 : i32
      linalg.yield %94 : i1
    } -> tensor<16x8x8xi1>
    %26 = tensor.empty() : tensor<16x8x8xi32>
    %27 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel"]} outs(%26 : tensor<16x8x8xi32>) {
    ^bb0(%out: i32):
      %86 = linalg.index 2 : index
      %87 = arith.index_cast %86 : index to i32
      linalg.yield %87 : i32
    } -> tensor<16x8x8xi32>
    %28 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel"]} outs(%26 : tensor<16x8x8xi32>) {
    ^bb0(%out: i32):
      %86 = linalg.index 1 : index
      %87 = arith.index_cast %86 : index to i32
      linalg.yield %87 : i32
    } -> tensor<16x8x8xi32>
    %29 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %28 : tensor<16x8x8xi32>, tensor<16x8x8xi32>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: i32, %in_7: i32, %out: i1):
      %86 = arith.cmpi slt, %in, %in_7 : i32
      linalg.yield %86 : i1
    } -> tensor<16x8x8xi1>
    %30 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<16x8x8xi1>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      %86 = arith.xori %in, %true : i1
      linalg.yield %86 : i1
    } -> tensor<16x8x8xi1>
    %31 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %29 : tensor<16x8x8xi1>, tensor<16x8x8xi1>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: i1, %in_7: i1, %out: i1):
      %86 = arith.andi %in, %in_7 : i1
      linalg.yield %86 : i1
    } -> tensor<16x8x8xi1>
    %32 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %31 : tensor<16x8x8xi1>, tensor<16x8x8xi1>) outs(%23 : tensor<16x8x8xi1>) {
    ^bb0(%in: i1, %in_7: i1, %out: i1):
      %86 = arith.ori %in, %in_7 : i1
      linalg.yield %86 : i1
    } -> tensor<16x8x8xi1>
    %33 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<16x8x8xi1>) outs(%26 : tensor<16x8x8xi32>) {
    ^bb0(%in: i1, %out: i32):
      %86 = arith.extui %in : i1 to i32
      linalg.yield %86 : i32
    } -> tensor<16x8x8xi32>
    %34 = linalg.fill ins(%c0_i32 : i32) outs(%18 : tensor<16x8xi32>) -> tensor<16x8xi32>
    %35 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%33 : tensor<16x8x8xi32>) outs(%34 : tensor<16x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      %86 = arith.addi %out, %in : i32
      linalg.yield %86 : i32
    } -> tensor<16x8xi32>
    %36 = tensor.empty() : tensor<16x2x8xi32>
    %37 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<16x8xi32>) outs(%36 : tensor<16x2x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<16x2x8xi32>
    %38 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel"]} outs(%36 : tensor<16x2x8xi32>) {
    ^bb0(%out: i32):
      %86 = linalg.index 1 : index
      %87 = arith.index_cast %86 : index to i32
      linalg.yield %87 : i32
    } -> tensor<16x2x8xi32>
    %39 = tensor.empty() : tensor<16x2x8xi1>
    %40 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %38 : tensor<16x2x8xi32>, tensor<16x2x8xi32>) outs(%39 : tensor<16x2x8xi1>) {
    ^bb0(%in: i32, %in_7: i32, %out: i1):
      %86 = arith.cmpi eq, %in, %in_7 : i32
      linalg.yield %86 : i1
    } -> tensor<16x2x8xi1>
    %41 = tensor.empty() : tensor<16x2x8xf32>
    %42 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<16x8xf32>) outs(%41 : tensor<16x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x2x8xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %42 : tensor<16x2x8xi1>, tensor<16x2x8xf32>) outs(%41 : tensor<16x2x8xf32>) {
    ^bb0(%in: i1, %in_7: f32, %out: f32):
      %86 = arith.select %in, %in_7, %cst_3 : f32
      linalg.yield %86 : f32
    } -> tensor<16x2x8xf32>
    %44 = tensor.empty() : tensor<16x2xf32>
    %45 = linalg.fill ins(%cst_3 : f32) outs(%44 : tensor<16x2xf32>) -> tensor<16x2xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%43 : tensor<16x2x8xf32>) outs(%45 : tensor<16x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.addf %out, %in : f32
      linalg.yield %86 : f32
    } -> tensor<16x2xf32>
    %47 = linalg.generic {indexing_maps = [#map7, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<16x8xi32>) outs(%36 : tensor<16x2x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<16x2x8xi32>
    %48 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %47 : tensor<16x2x8xi1>, tensor<16x2x8xi32>) outs(%36 : tensor<16x2x8xi32>) {
    ^bb0(%in: i1, %in_7: i32, %out: i32):
      %86 = arith.select %in, %in_7, %c0_i32 : i32
      linalg.yield %86 : i32
    } -> tensor<16x2x8xi32>
    %49 = tensor.empty() : tensor<16x2xi32>
    %50 = linalg.fill ins(%c0_i32 : i32) outs(%49 : tensor<16x2xi32>) -> tensor<16x2xi32>
    %51 = linalg.generic {indexing_maps = [#map6, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%48 : tensor<16x2x8xi32>) outs(%50 : tensor<16x2xi32>) {
    ^bb0(%in: i32, %out: i32):
      %86 = arith.addi %out, %in : i32
      linalg.yield %86 : i32
    } -> tensor<16x2xi32>
    %52 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%46 : tensor<16x2xf32>) outs(%13 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.addf %out, %in : f32
      linalg.yield %86 : f32
    } -> tensor<16xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<16xf32>) outs(%8 : tensor<16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x1xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%53 : tensor<16x1xf32>) outs(%44 : tensor<16x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x2xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%46, %54 : tensor<16x2xf32>, tensor<16x2xf32>) outs(%44 : tensor<16x2xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.divf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<16x2xf32>
    %56 = call @_one_hot(%51) : (tensor<16x2xi32>) -> tensor<16x2x8xf32>
    %57 = tensor.empty() : tensor<16x2x1xf32>
    %58 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55 : tensor<16x2xf32>) outs(%57 : tensor<16x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x2x1xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<16x2x1xf32>) outs(%41 : tensor<16x2x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x2x8xf32>
    %60 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56, %59 : tensor<16x2x8xf32>, tensor<16x2x8xf32>) outs(%41 : tensor<16x2x8xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<16x2x8xf32>
    %61 = linalg.generic {indexing_maps = [#map9, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%60 : tensor<16x2x8xf32>) outs(%1 : tensor<16x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = arith.addf %out, %in : f32
      linalg.yield %86 : f32
    } -> tensor<16x8xf32>
    %62 = tensor.empty() : tensor<8x32x16xf32>
    %63 = linalg.fill ins(%cst_6 : f32) outs(%62 : tensor<8x32x16xf32>) -> tensor<8x32x16xf32>
    %64 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %arg3 : tensor<8x16x32xf32>, tensor<16x16xf32>) outs(%63 : tensor<8x32x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      %87 = arith.addf %out, %86 : f32
      linalg.yield %87 : f32
    } -> tensor<8x32x16xf32>
    %65 = tensor.empty() : tensor<8x16x32xf32>
    %66 = linalg.generic {indexing_maps = [#map9, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64 : tensor<8x32x16xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16x32xf32>
    %67 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %66 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %68 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67, %66 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %69 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16x32xf32>
    %70 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %68 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %71 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %70 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.addf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %72 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16x32xf32>
    %73 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72, %71 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %74 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%73 : tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %86 = math.tanh %in : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %75 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16x32xf32>
    %76 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %74 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.addf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %77 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16x32xf32>
    %78 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%77, %76 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %79 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%66, %78 : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%65 : tensor<8x16x32xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      linalg.yield %86 : f32
    } -> tensor<8x16x32xf32>
    %80 = tensor.empty() : tensor<8x16x16xf32>
    %81 = linalg.fill ins(%cst_6 : f32) outs(%80 : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %82 = linalg.batch_matmul ins(%79, %arg0 : tensor<8x16x32xf32>, tensor<8x32x16xf32>) outs(%81 : tensor<8x16x16xf32>) -> tensor<8x16x16xf32>
    %83 = tensor.empty() : tensor<16x16xf32>
    %84 = linalg.fill ins(%cst_6 : f32) outs(%83 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %85 = linalg.generic {indexing_maps = [#map14, #map7, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%82, %61 : tensor<8x16x16xf32>, tensor<16x8xf32>) outs(%84 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %86 = arith.mulf %in, %in_7 : f32
      %87 = arith.addf %out, %86 : f32
      linalg.yield %87 : f32
    } -> tensor<16x16xf32>
    return %85 : tensor<16x16xf32>
  }
  func.func private @_one_hot(%arg0: tensor<16x2xi32>) -> tensor<16x2x8xf32> {
    %0 = tensor.empty() : tensor<16x2x1xi32>
    %1 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<16x2xi32>) outs(%0 : tensor<16x2x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<16x2x1xi32>
    %2 = tensor.empty() : tensor<1x1x8xi32>
    %3 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel"]} outs(%2 : tensor<1x1x8xi32>) {
    ^bb0(%out: i32):
      %11 = linalg.index 2 : index
      %12 = arith.index_cast %11 : index to i32
      linalg.yield %12 : i32
    } -> tensor<1x1x8xi32>
    %4 = tensor.empty() : tensor<16x2x8xi32>
    %5 = linalg.generic {indexing_maps = [#map8, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<16x2x1xi32>) outs(%4 : tensor<16x2x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<16x2x8xi32>
    %6 = linalg.generic {indexing_maps = [#map15, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x1x8xi32>) outs(%4 : tensor<16x2x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<16x2x8xi32>
    %7 = tensor.empty() : tensor<16x2x8xi1>
    %8 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %6 : tensor<16x2x8xi32>, tensor<16x2x8xi32>) outs(%7 : tensor<16x2x8xi1>) {
    ^bb0(%in: i32, %in_0: i32, %out: i1):
      %11 = arith.cmpi eq, %in, %in_0 : i32
      linalg.yield %11 : i1
    } -> tensor<16x2x8xi1>
    %9 = tensor.empty() : tensor<16x2x8xf32>
    %10 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<16x2x8xi1>) outs(%9 : tensor<16x2x8xf32>) {
    ^bb0(%in: i1, %out: f32):
      %11 = arith.uitofp %in : i1 to f32
      linalg.yield %11 : f32
    } -> tensor<16x2x8xf32>
    return %10 : tensor<16x2x8xf32>
  }
}

