// lm_step of pipeline.py. Written by pipeline.py --export.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> ()>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map11 = affine_map<(d0, d1) -> (d1, d0)>
#map12 = affine_map<() -> ()>
#map13 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map17 = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#map18 = affine_map<(d0, d1, d2) -> (d0)>
#map19 = affine_map<(d0) -> ()>
#map20 = affine_map<(d0) -> (d0)>
#map21 = affine_map<(d0, d1, d2, d3) -> ()>
#map22 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map24 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
module @jit_lm_step {
  spmd.mesh @mesh = <["stage"=4, "model"=2]>
  func.func public @main(%arg0: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.blocks.0.down"}, %arg1: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.blocks.0.gain"}, %arg2: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.blocks.0.up"}, %arg3: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.blocks.1.down"}, %arg4: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.blocks.1.gain"}, %arg5: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.blocks.1.up"}, %arg6: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.blocks.2.down"}, %arg7: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.blocks.2.gain"}, %arg8: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.blocks.2.up"}, %arg9: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.blocks.3.down"}, %arg10: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "params.blocks.3.gain"}, %arg11: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.blocks.3.up"}, %arg12: tensor<30x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>, spmd.weight = "params.table"}, %arg13: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.blocks.0.down"}, %arg14: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "moments.blocks.0.gain"}, %arg15: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.blocks.0.up"}, %arg16: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.blocks.1.down"}, %arg17: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "moments.blocks.1.gain"}, %arg18: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.blocks.1.up"}, %arg19: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.blocks.2.down"}, %arg20: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "moments.blocks.2.gain"}, %arg21: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.blocks.2.up"}, %arg22: tensor<20x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.blocks.3.down"}, %arg23: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}]>, spmd.weight = "moments.blocks.3.gain"}, %arg24: tensor<8x20xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.blocks.3.up"}, %arg25: tensor<30x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>, spmd.weight = "moments.table"}, %arg26: tensor<8x6xi32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "tokens", spmd.range = [0, 30], spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}, %arg27: tensor<8x6xi32> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "targets", spmd.range = [0, 30], spmd.sharding = #spmd.sharding<@mesh, [{}, {}]>}) -> (tensor<f32> {spmd.name = "result.0"}, tensor<20x8xf32> {spmd.name = "result.1.blocks.0.down"}, tensor<8xf32> {spmd.name = "result.1.blocks.0.gain"}, tensor<8x20xf32> {spmd.name = "result.1.blocks.0.up"}, tensor<20x8xf32> {spmd.name = "result.1.blocks.1.down"}, tensor<8xf32> {spmd.name = "result.1.blocks.1.gain"}, tensor<8x20xf32> {spmd.name = "result.1.blocks.1.up"}, tensor<20x8xf32> {spmd.name = "result.1.blocks.2.down"}, tensor<8xf32> {spmd.name = "result.1.blocks.2.gain"}, tensor<8x20xf32> {spmd.name = "result.1.blocks.2.up"}, tensor<20x8xf32> {spmd.name = "result.1.blocks.3.down"}, tensor<8xf32> {spmd.name = "result.1.blocks.3.gain"}, tensor<8x20xf32> {spmd.name = "result.1.blocks.3.up"}, tensor<30x8xf32> {spmd.name = "result.1.table"}, tensor<20x8xf32> {spmd.name = "result.2.blocks.0.down"}, tensor<8xf32> {spmd.name = "result.2.blocks.0.gain"}, tensor<8x20xf32> {spmd.name = "result.2.blocks.0.up"}, tensor<20x8xf32> {spmd.name = "result.2.blocks.1.down"}, tensor<8xf32> {spmd.name = "result.2.blocks.1.gain"}, tensor<8x20xf32> {spmd.name = "result.2.blocks.1.up"}, tensor<20x8xf32> {spmd.name = "result.2.blocks.2.down"}, tensor<8xf32> {spmd.name = "result.2.blocks.2.gain"}, tensor<8x20xf32> {spmd.name = "result.2.blocks.2.up"}, tensor<20x8xf32> {spmd.name = "result.2.blocks.3.down"}, tensor<8xf32> {spmd.name = "result.2.blocks.3.gain"}, tensor<8x20xf32> {spmd.name = "result.2.blocks.3.up"}, tensor<30x8xf32> {spmd.name = "result.2.table"}) {
    %cst = arith.constant -1.000000e+00 : f32
    %cst_0 = arith.constant dense<1.000000e-01> : tensor<f32>
    %cst_1 = arith.constant dense<0.899999976> : tensor<f32>
    %cst_2 = arith.constant -0.000000e+00 : f32
    %cst_3 = arith.constant 4.800000e+01 : f32
    %cst_4 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_5 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_7 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_8 = arith.constant dense<3.000000e+00> : tensor<f32>
    %cst_9 = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_10 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_11 = arith.constant dense<2.000000e+00> : tensor<f32>
    %cst_12 = arith.constant dense<8.000000e+00> : tensor<f32>
    %cst_13 = arith.constant 0.000000e+00 : f32
    %cst_14 = arith.constant dense<0.000000e+00> : tensor<f32>
    %c29 = arith.constant 29 : index
    %c0 = arith.constant 0 : index
    %cst_15 = arith.constant dense<30> : tensor<i32>
    %cst_16 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x6xi32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_16 : tensor<i32>) outs(%0 : tensor<8x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6xi32>
    %2 = tensor.empty() : tensor<8x6xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg26, %1 : tensor<8x6xi32>, tensor<8x6xi32>) outs(%2 : tensor<8x6xi1>) {
    ^bb0(%in: i32, %in_28: i32, %out: i1):
      %400 = arith.cmpi slt, %in, %in_28 : i32
      linalg.yield %400 : i1
    } -> tensor<8x6xi1>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_15 : tensor<i32>) outs(%0 : tensor<8x6xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg26, %4 : tensor<8x6xi32>, tensor<8x6xi32>) outs(%0 : tensor<8x6xi32>) {
    ^bb0(%in: i32, %in_28: i32, %out: i32):
      %400 = arith.addi %in, %in_28 : i32
      linalg.yield %400 : i32
    } -> tensor<8x6xi32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %5, %arg26 : tensor<8x6xi1>, tensor<8x6xi32>, tensor<8x6xi32>) outs(%0 : tensor<8x6xi32>) {
    ^bb0(%in: i1, %in_28: i32, %in_29: i32, %out: i32):
      %400 = arith.select %in, %in_28, %in_29 : i32
      linalg.yield %400 : i32
    } -> tensor<8x6xi32>
    %7 = tensor.empty() : tensor<8x6x1xi32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x6xi32>) outs(%7 : tensor<8x6x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1xi32>
    %9 = tensor.empty() : tensor<8x6x8xf32>
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%out: f32):
      %400 = linalg.index 0 : index
      %401 = linalg.index 1 : index
      %402 = linalg.index 2 : index
      %extracted = tensor.extract %8[%400, %401, %c0] : tensor<8x6x1xi32>
      %403 = arith.index_cast %extracted : i32 to index
      %404 = arith.maxsi %403, %c0 : index
      %405 = arith.minsi %404, %c29 : index
      %extracted_28 = tensor.extract %arg12[%405, %402] : tensor<30x8xf32>
      linalg.yield %extracted_28 : f32
    } -> tensor<8x6x8xf32>
    %11 = tensor.empty() : tensor<8x6xf32>
    %12 = linalg.fill ins(%cst_13 : f32) outs(%11 : tensor<8x6xf32>) -> tensor<8x6xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %14 = tensor.empty() : tensor<8x6x1xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<f32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %18 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %18 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %19 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %21 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %19 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%20 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %26 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.rsqrt %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %27 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_9 : tensor<f32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %29 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %32 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %34 = tensor.empty() : tensor<1x1x8xf32>
    %35 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<8xf32>) outs(%34 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<1x1x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %36 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %38 = tensor.empty() : tensor<8x6x20xf32>
    %39 = linalg.fill ins(%cst_13 : f32) outs(%38 : tensor<8x6x20xf32>) -> tensor<8x6x20xf32>
    %40 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%37, %arg2 : tensor<8x6x8xf32>, tensor<8x20xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %40 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %40 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x20xf32>
    %44 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %41 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x20xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %42 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %47 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %46 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x20xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %47 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%49 : tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.tanh %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x20xf32>
    %52 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %50 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %50 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x20xf32>
    %55 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %53 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %56 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %55 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %57 = linalg.fill ins(%cst_13 : f32) outs(%9 : tensor<8x6x8xf32>) -> tensor<8x6x8xf32>
    %58 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%56, %arg0 : tensor<8x6x20xf32>, tensor<20x8xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %59 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %58 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary %59 : tensor<8x6x8xf32>
    %60 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%59 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %61 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %62 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %63 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %64 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %63 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %65 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %64 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %66 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %64 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %67 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%65 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %68 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%67 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %69 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%68, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%69, %26 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %71 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%70 : tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.rsqrt %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %72 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %70 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %72 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %74 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %75 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %74 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %76 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<8xf32>) outs(%34 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8xf32>
    %77 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<1x1x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %78 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %77 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %79 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%78, %arg5 : tensor<8x6x8xf32>, tensor<8x20xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %80 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %79 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %81 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80, %79 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %80 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %83 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %81 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %84 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %83 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %85 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %84 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %86 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.tanh %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %87 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %86 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %88 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %86 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %89 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %88 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %90 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %89 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %91 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%90, %arg3 : tensor<8x6x20xf32>, tensor<20x8xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %92 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %91 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary %92 : tensor<8x6x8xf32>
    %93 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %94 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %95 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %96 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %97 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %96 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %98 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %97 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %97 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %100 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%98 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %101 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %102 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %103 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %26 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %104 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.rsqrt %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104, %103 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %105 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %107 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %108 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %107 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %109 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<8xf32>) outs(%34 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8xf32>
    %110 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109 : tensor<1x1x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %111 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %110 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %112 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%111, %arg8 : tensor<8x6x8xf32>, tensor<8x20xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %113 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %112 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %114 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %112 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %115 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %113 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %116 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %114 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %117 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %116 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %118 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %117 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %119 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%118 : tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.tanh %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %120 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %119 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %121 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %119 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %122 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %121 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %122 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %124 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%123, %arg6 : tensor<8x6x20xf32>, tensor<20x8xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %125 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %124 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary %125 : tensor<8x6x8xf32>
    %126 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%125 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %127 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %128 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%127, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %129 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %130 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %129 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %131 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %130 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %132 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %130 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %133 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%131 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %134 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<8x6xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%135, %26 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %137 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%136 : tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.rsqrt %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137, %136 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %139 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %138 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %140 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%137 : tensor<8x6x1xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %140 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %142 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg10 : tensor<8xf32>) outs(%34 : tensor<1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x8xf32>
    %143 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<1x1x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %143 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %145 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%144, %arg11 : tensor<8x6x8xf32>, tensor<8x20xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %145 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %147 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%146, %145 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %148 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %146 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %147 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %149 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %151 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %150 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %152 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = math.tanh %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %153 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %152 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %154 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %152 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %155 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %154 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %155 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %157 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%156, %arg9 : tensor<8x6x20xf32>, tensor<20x8xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %158 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %157 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %159 = tensor.empty() : tensor<8x30xf32>
    %160 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<30x8xf32>) outs(%159 : tensor<8x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x30xf32>
    %161 = tensor.empty() : tensor<8x6x30xf32>
    %162 = linalg.fill ins(%cst_13 : f32) outs(%161 : tensor<8x6x30xf32>) -> tensor<8x6x30xf32>
    %163 = linalg.generic {indexing_maps = [#map8, #map9, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%158, %160 : tensor<8x6x8xf32>, tensor<8x30xf32>) outs(%162 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x30xf32>
    %164:3 = call @log_softmax(%163) : (tensor<8x6x30xf32>) -> (tensor<8x6x30xf32>, tensor<8x6x30xf32>, tensor<8x6x1xf32>)
    %165 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg27 : tensor<8x6xi32>) outs(%7 : tensor<8x6x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1xi32>
    %166:2 = call @take_along_axis(%164#0, %165) : (tensor<8x6x30xf32>, tensor<8x6x1xi32>) -> (tensor<8x6x1xf32>, tensor<8x6x1x1xi32>)
    %167 = tensor.empty() : tensor<f32>
    %168 = linalg.fill ins(%cst_13 : f32) outs(%167 : tensor<f32>) -> tensor<f32>
    %169 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["reduction", "reduction", "reduction"]} ins(%166#0 : tensor<8x6x1xf32>) outs(%168 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<f32>
    %170 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = []} ins(%169 : tensor<f32>) outs(%167 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.divf %in, %cst_3 : f32
      linalg.yield %400 : f32
    } -> tensor<f32>
    %171 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = []} ins(%170 : tensor<f32>) outs(%167 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.negf %in : f32
      linalg.yield %400 : f32
    } -> tensor<f32>
    %172 = linalg.generic {indexing_maps = [#map12], iterator_types = []} outs(%167 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %173 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = []} ins(%172 : tensor<f32>) outs(%167 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.divf %in, %cst_3 : f32
      linalg.yield %400 : f32
    } -> tensor<f32>
    %174 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173 : tensor<f32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %175 = call @take_along_axis_0(%166#1, %174) : (tensor<8x6x1x1xi32>, tensor<8x6x1xf32>) -> tensor<8x6x30xf32>
    %176 = call @log_softmax_1(%164#1, %164#2, %175) : (tensor<8x6x30xf32>, tensor<8x6x1xf32>, tensor<8x6x30xf32>) -> tensor<8x6x30xf32>
    %177 = tensor.empty() : tensor<30x8xf32>
    %178 = linalg.fill ins(%cst_13 : f32) outs(%177 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %179 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%176, %158 : tensor<8x6x30xf32>, tensor<8x6x8xf32>) outs(%178 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<30x8xf32>
    %180 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%179 : tensor<30x8xf32>) outs(%159 : tensor<8x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x30xf32>
    %181 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%176, %160 : tensor<8x6x30xf32>, tensor<8x30xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %182 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%180 : tensor<8x30xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<30x8xf32>
    %183 = tensor.empty() : tensor<8x20xf32>
    %184 = linalg.fill ins(%cst_13 : f32) outs(%183 : tensor<8x20xf32>) -> tensor<8x20xf32>
    %185 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%181, %156 : tensor<8x6x8xf32>, tensor<8x6x20xf32>) outs(%184 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x20xf32>
    %186 = tensor.empty() : tensor<20x8xf32>
    %187 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%185 : tensor<8x20xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %188 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%181, %arg9 : tensor<8x6x8xf32>, tensor<20x8xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %189 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %188 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %190 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %155 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %191 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %189 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %192 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%191, %153 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %193 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %152 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %194 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %193 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %195 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %194 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %196 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%190, %195 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %197 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %195 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %198 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%197, %148 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %199 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%196, %198 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %200 = linalg.fill ins(%cst_13 : f32) outs(%186 : tensor<20x8xf32>) -> tensor<20x8xf32>
    %201 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%199, %144 : tensor<8x6x20xf32>, tensor<8x6x8xf32>) outs(%200 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<20x8xf32>
    %202 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%201 : tensor<20x8xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %203 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%199, %arg11 : tensor<8x6x20xf32>, tensor<8x20xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %204 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %203 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %205 = tensor.empty() : tensor<8xf32>
    %206 = linalg.fill ins(%cst_13 : f32) outs(%205 : tensor<8xf32>) -> tensor<8xf32>
    %207 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%204 : tensor<8x6x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %expanded = tensor.expand_shape %207 [[0, 1, 2]] output_shape [1, 1, 8] : tensor<8xf32> into tensor<1x1x8xf32>
    %208 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%203, %143 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %209 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded : tensor<1x1x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %210 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130, %208 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %211 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%210 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_17 = tensor.expand_shape %211 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %212 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %140 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %213 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_17, %139 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %214 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %215 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%214 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %216 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%215 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %217 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %132 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %218 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212, %217 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %219 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218 : tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.negf %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %220 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%219 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_18 = tensor.expand_shape %220 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %221 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %218 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %222 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_18, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %223 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%222 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %224 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %225 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221, %224 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary backward %225 : tensor<8x6x8xf32>
    %226 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%225, %123 : tensor<8x6x8xf32>, tensor<8x6x20xf32>) outs(%184 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x20xf32>
    %227 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%226 : tensor<8x20xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %228 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%225, %arg6 : tensor<8x6x8xf32>, tensor<20x8xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %229 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112, %228 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %230 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%228, %122 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %231 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %229 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %232 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %120 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %233 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232, %119 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %234 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232, %233 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %235 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %234 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %236 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%230, %235 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %237 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %235 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %238 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%237, %115 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %239 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %238 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %240 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%239, %111 : tensor<8x6x20xf32>, tensor<8x6x8xf32>) outs(%200 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<20x8xf32>
    %241 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%240 : tensor<20x8xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %242 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%239, %arg8 : tensor<8x6x20xf32>, tensor<8x20xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %243 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %242 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %244 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%243 : tensor<8x6x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %expanded_19 = tensor.expand_shape %244 [[0, 1, 2]] output_shape [1, 1, 8] : tensor<8xf32> into tensor<1x1x8xf32>
    %245 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%242, %110 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %246 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_19 : tensor<1x1x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %247 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %245 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %248 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%247 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_20 = tensor.expand_shape %248 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %249 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%245, %107 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %250 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_20, %106 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %251 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%250, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %252 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%251 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %253 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %254 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%253, %99 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %255 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%249, %254 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %256 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%255 : tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.negf %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %257 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%256 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_21 = tensor.expand_shape %257 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %258 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %255 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %259 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_21, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %260 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%259 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %261 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %262 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%258, %261 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary backward %262 : tensor<8x6x8xf32>
    %263 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%262, %90 : tensor<8x6x8xf32>, tensor<8x6x20xf32>) outs(%184 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x20xf32>
    %264 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%263 : tensor<8x20xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %265 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%262, %arg3 : tensor<8x6x8xf32>, tensor<20x8xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %266 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79, %265 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %267 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%265, %89 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %268 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %266 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %269 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%268, %87 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %270 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %86 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %271 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %270 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %272 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %271 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %273 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%267, %272 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %274 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %272 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %275 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%274, %82 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %276 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%273, %275 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %277 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%276, %78 : tensor<8x6x20xf32>, tensor<8x6x8xf32>) outs(%200 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<20x8xf32>
    %278 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%277 : tensor<20x8xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %279 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%276, %arg5 : tensor<8x6x20xf32>, tensor<8x20xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %280 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%75, %279 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %281 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%280 : tensor<8x6x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %expanded_22 = tensor.expand_shape %281 [[0, 1, 2]] output_shape [1, 1, 8] : tensor<8xf32> into tensor<1x1x8xf32>
    %282 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%279, %77 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %283 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_22 : tensor<1x1x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %284 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %282 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %285 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%284 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_23 = tensor.expand_shape %285 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %286 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%282, %74 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %287 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_23, %73 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %288 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%287, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %289 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%288 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %290 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %291 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%290, %66 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %292 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%286, %291 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %293 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%292 : tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.negf %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %294 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%293 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_24 = tensor.expand_shape %294 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %295 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%262, %292 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %296 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_24, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %297 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%296 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %298 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%297 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %299 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%295, %298 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    spmd.stage_boundary backward %299 : tensor<8x6x8xf32>
    %300 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%299, %56 : tensor<8x6x8xf32>, tensor<8x6x20xf32>) outs(%184 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x20xf32>
    %301 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%300 : tensor<8x20xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %302 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%299, %arg0 : tensor<8x6x8xf32>, tensor<20x8xf32>) outs(%39 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x20xf32>
    %303 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%40, %302 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %304 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%302, %55 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %305 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %303 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %306 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%305, %52 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %307 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%306, %50 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %308 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%306, %307 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %309 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%48, %308 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %310 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%304, %309 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %311 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %309 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %312 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%311, %44 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %313 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%310, %312 : tensor<8x6x20xf32>, tensor<8x6x20xf32>) outs(%38 : tensor<8x6x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x20xf32>
    %314 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%313, %37 : tensor<8x6x20xf32>, tensor<8x6x8xf32>) outs(%200 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<20x8xf32>
    %315 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%314 : tensor<20x8xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %316 = linalg.generic {indexing_maps = [#map8, #map16, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%313, %arg2 : tensor<8x6x20xf32>, tensor<8x20xf32>) outs(%57 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      %401 = arith.addf %out, %400 : f32
      linalg.yield %401 : f32
    } -> tensor<8x6x8xf32>
    %317 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%33, %316 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %318 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%317 : tensor<8x6x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %expanded_25 = tensor.expand_shape %318 [[0, 1, 2]] output_shape [1, 1, 8] : tensor<8xf32> into tensor<1x1x8xf32>
    %319 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%316, %36 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %320 = linalg.generic {indexing_maps = [#map17, #map18], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_25 : tensor<1x1x8xf32>) outs(%206 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %321 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %319 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %322 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%321 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_26 = tensor.expand_shape %322 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %323 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%319, %32 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %324 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_26, %31 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %325 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%324, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %326 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%325 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %327 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%326 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %328 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%327, %22 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %329 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%323, %328 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %330 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%329 : tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.negf %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %331 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%330 : tensor<8x6x8xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %expanded_27 = tensor.expand_shape %331 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %332 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%299, %329 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %333 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_27, %16 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%14 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.divf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x1xf32>
    %334 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%333 : tensor<8x6x1xf32>) outs(%12 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %400 = arith.addf %out, %in : f32
      linalg.yield %400 : f32
    } -> tensor<8x6xf32>
    %335 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%334 : tensor<8x6xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x8xf32>
    %336 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%332, %335 : tensor<8x6x8xf32>, tensor<8x6x8xf32>) outs(%9 : tensor<8x6x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x6x8xf32>
    %337 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_14 : tensor<f32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<30x8xf32>
    %collapsed = tensor.collapse_shape %8 [[0], [1, 2]] : tensor<8x6x1xi32> into tensor<8x6xi32>
    %338 = linalg.generic {indexing_maps = [#map16, #map14, #map15], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed, %336 : tensor<8x6xi32>, tensor<8x6x8xf32>) outs(%337 : tensor<30x8xf32>) {
    ^bb0(%in: i32, %in_28: f32, %out: f32):
      %400 = linalg.index 0 : index
      %401 = arith.index_cast %in : i32 to index
      %402 = arith.cmpi eq, %400, %401 : index
      %403 = arith.select %402, %in_28, %cst_2 : f32
      %404 = arith.addf %out, %403 : f32
      linalg.yield %404 : f32
    } -> tensor<30x8xf32>
    %339 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%182, %338 : tensor<30x8xf32>, tensor<30x8xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<30x8xf32>
    %340 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %341 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%340, %arg13 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %342 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%341, %301 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %343 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel"]} ins(%cst_1 : tensor<f32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8xf32>
    %344 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%343, %arg14 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %345 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%344, %320 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %346 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %347 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%346, %arg15 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %348 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%347, %315 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %349 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%340, %arg16 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %350 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%349, %264 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %351 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%343, %arg17 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %352 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%351, %283 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %353 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%346, %arg18 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %354 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%353, %278 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %355 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%340, %arg19 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %356 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%355, %227 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %357 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%343, %arg20 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %358 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%357, %246 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %359 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%346, %arg21 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %360 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%359, %241 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %361 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%340, %arg22 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %362 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%361, %187 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %363 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%343, %arg23 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %364 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%363, %209 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %365 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%346, %arg24 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %366 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%365, %202 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %367 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<30x8xf32>
    %368 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%367, %arg25 : tensor<30x8xf32>, tensor<30x8xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<30x8xf32>
    %369 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%368, %339 : tensor<30x8xf32>, tensor<30x8xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.addf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<30x8xf32>
    %370 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<20x8xf32>
    %371 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%370, %342 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %372 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %371 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %373 = linalg.generic {indexing_maps = [#map19, #map20], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8xf32>
    %374 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%373, %345 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %375 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%arg1, %374 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %376 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x20xf32>
    %377 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%376, %348 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %378 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2, %377 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %379 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%370, %350 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %380 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3, %379 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %381 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%373, %352 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %382 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%arg4, %381 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %383 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%376, %354 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %384 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg5, %383 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %385 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%370, %356 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %386 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg6, %385 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %387 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%373, %358 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %388 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%arg7, %387 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %389 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%376, %360 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %390 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg8, %389 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %391 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%370, %362 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %392 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg9, %391 : tensor<20x8xf32>, tensor<20x8xf32>) outs(%186 : tensor<20x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<20x8xf32>
    %393 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%373, %364 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %394 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = ["parallel"]} ins(%arg10, %393 : tensor<8xf32>, tensor<8xf32>) outs(%205 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8xf32>
    %395 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%376, %366 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %396 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg11, %395 : tensor<8x20xf32>, tensor<8x20xf32>) outs(%183 : tensor<8x20xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<8x20xf32>
    %397 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<30x8xf32>
    %398 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%397, %369 : tensor<30x8xf32>, tensor<30x8xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.mulf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<30x8xf32>
    %399 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg12, %398 : tensor<30x8xf32>, tensor<30x8xf32>) outs(%177 : tensor<30x8xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %400 = arith.subf %in, %in_28 : f32
      linalg.yield %400 : f32
    } -> tensor<30x8xf32>
    return %171, %372, %375, %378, %380, %382, %384, %386, %388, %390, %392, %394, %396, %399, %342, %345, %348, %350, %352, %354, %356, %358, %360, %362, %364, %366, %369 : tensor<f32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<30x8xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<20x8xf32>, tensor<8xf32>, tensor<8x20xf32>, tensor<30x8xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x6x30xf32>) -> (tensor<8x6x30xf32>, tensor<8x6x30xf32>, tensor<8x6x1xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<8x6xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<8x6xf32>) -> tensor<8x6xf32>
    %2 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<8x6x30xf32>) outs(%1 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.maximumf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x6xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %2 : tensor<8x6xf32>, tensor<8x6xf32>) outs(%0 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.maximumf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x6xf32>
    %5 = tensor.empty() : tensor<8x6x1xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<8x6xf32>) outs(%5 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %7 = tensor.empty() : tensor<8x6x30xf32>
    %8 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x6x1xf32>) outs(%7 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x30xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %8 : tensor<8x6x30xf32>, tensor<8x6x30xf32>) outs(%7 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.subf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x6x30xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<8x6x30xf32>) outs(%7 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.exp %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x6x30xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x6xf32>) -> tensor<8x6xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<8x6x30xf32>) outs(%11 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x6xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<8x6xf32>) outs(%5 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<8x6x1xf32>) outs(%5 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.log %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x6x1xf32>
    %15 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<8x6x1xf32>) outs(%7 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x30xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %15 : tensor<8x6x30xf32>, tensor<8x6x30xf32>) outs(%7 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.subf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x6x30xf32>
    return %16, %10, %13 : tensor<8x6x30xf32>, tensor<8x6x30xf32>, tensor<8x6x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x6x30xf32>, %arg1: tensor<8x6x1xi32>) -> (tensor<8x6x1xf32>, tensor<8x6x1x1xi32>) {
    %cst = arith.constant dense<0x7FC00000> : tensor<f32>
    %c29 = arith.constant 29 : index
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %cst_0 = arith.constant dense<29> : tensor<1xi32>
    %cst_1 = arith.constant dense<30> : tensor<i32>
    %cst_2 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x6x1xi32>
    %1 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<i32>) outs(%0 : tensor<8x6x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1xi32>
    %2 = tensor.empty() : tensor<8x6x1xi1>
    %3 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %1 : tensor<8x6x1xi32>, tensor<8x6x1xi32>) outs(%2 : tensor<8x6x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi slt, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x6x1xi1>
    %4 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%0 : tensor<8x6x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1xi32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %4 : tensor<8x6x1xi32>, tensor<8x6x1xi32>) outs(%0 : tensor<8x6x1xi32>) {
    ^bb0(%in: i32, %in_3: i32, %out: i32):
      %22 = arith.addi %in, %in_3 : i32
      linalg.yield %22 : i32
    } -> tensor<8x6x1xi32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %5, %arg1 : tensor<8x6x1xi1>, tensor<8x6x1xi32>, tensor<8x6x1xi32>) outs(%0 : tensor<8x6x1xi32>) {
    ^bb0(%in: i1, %in_3: i32, %in_4: i32, %out: i32):
      %22 = arith.select %in, %in_3, %in_4 : i32
      linalg.yield %22 : i32
    } -> tensor<8x6x1xi32>
    %expanded = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [8, 6, 1, 1] : tensor<8x6x1xi32> into tensor<8x6x1x1xi32>
    %7 = tensor.empty() : tensor<8x6x1x1xi32>
    %8 = linalg.generic {indexing_maps = [#map21, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<i32>) outs(%7 : tensor<8x6x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1x1xi32>
    %9 = tensor.empty() : tensor<8x6x1x1xi1>
    %10 = linalg.generic {indexing_maps = [#map22, #map22, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %8 : tensor<8x6x1x1xi32>, tensor<8x6x1x1xi32>) outs(%9 : tensor<8x6x1x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi sge, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x6x1x1xi1>
    %11 = tensor.empty() : tensor<1x1x1x1xi32>
    %12 = linalg.generic {indexing_maps = [#map23, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<1xi32>) outs(%11 : tensor<1x1x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x1x1x1xi32>
    %13 = linalg.generic {indexing_maps = [#map24, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<1x1x1x1xi32>) outs(%7 : tensor<8x6x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x6x1x1xi32>
    %14 = linalg.generic {indexing_maps = [#map22, #map22, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %13 : tensor<8x6x1x1xi32>, tensor<8x6x1x1xi32>) outs(%9 : tensor<8x6x1x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi sle, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x6x1x1xi1>
    %15 = linalg.generic {indexing_maps = [#map22, #map22, #map22], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %14 : tensor<8x6x1x1xi1>, tensor<8x6x1x1xi1>) outs(%9 : tensor<8x6x1x1xi1>) {
    ^bb0(%in: i1, %in_3: i1, %out: i1):
      %22 = arith.andi %in, %in_3 : i1
      linalg.yield %22 : i1
    } -> tensor<8x6x1x1xi1>
    %16 = linalg.fill ins(%true : i1) outs(%2 : tensor<8x6x1xi1>) -> tensor<8x6x1xi1>
    %17 = linalg.generic {indexing_maps = [#map22, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<8x6x1x1xi1>) outs(%16 : tensor<8x6x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %22 = arith.andi %out, %in : i1
      linalg.yield %22 : i1
    } -> tensor<8x6x1xi1>
    %18 = tensor.empty() : tensor<8x6x1xf32>
    %19 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<8x6x1xf32>) {
    ^bb0(%out: f32):
      %22 = linalg.index 0 : index
      %23 = linalg.index 1 : index
      %extracted = tensor.extract %expanded[%22, %23, %c0, %c0] : tensor<8x6x1x1xi32>
      %24 = arith.index_cast %extracted : i32 to index
      %25 = arith.maxsi %24, %c0 : index
      %26 = arith.minsi %25, %c29 : index
      %extracted_3 = tensor.extract %arg0[%22, %23, %26] : tensor<8x6x30xf32>
      linalg.yield %extracted_3 : f32
    } -> tensor<8x6x1xf32>
    %20 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%18 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %19, %20 : tensor<8x6x1xi1>, tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%18 : tensor<8x6x1xf32>) {
    ^bb0(%in: i1, %in_3: f32, %in_4: f32, %out: f32):
      %22 = arith.select %in, %in_3, %in_4 : f32
      linalg.yield %22 : f32
    } -> tensor<8x6x1xf32>
    return %21, %expanded : tensor<8x6x1xf32>, tensor<8x6x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x6x1x1xi32>, %arg1: tensor<8x6x1xf32>) -> tensor<8x6x30xf32> {
    %cst = arith.constant -0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x6x30xf32>
    %1 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x30xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0], [1], [2, 3]] : tensor<8x6x1x1xi32> into tensor<8x6x1xi32>
    %2 = linalg.generic {indexing_maps = [#map8, #map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg1 : tensor<8x6x1xi32>, tensor<8x6x1xf32>) outs(%1 : tensor<8x6x30xf32>) {
    ^bb0(%in: i32, %in_1: f32, %out: f32):
      %3 = linalg.index 2 : index
      %4 = arith.index_cast %in : i32 to index
      %5 = arith.cmpi eq, %3, %4 : index
      %6 = arith.select %5, %in_1, %cst : f32
      %7 = arith.addf %out, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<8x6x30xf32>
    return %2 : tensor<8x6x30xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<8x6x30xf32>, %arg1: tensor<8x6x1xf32>, %arg2: tensor<8x6x30xf32>) -> tensor<8x6x30xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x6x30xf32>
    %1 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<8x6x30xf32>) outs(%0 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.negf %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x6x30xf32>
    %2 = tensor.empty() : tensor<8x6xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8x6xf32>) -> tensor<8x6xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<8x6x30xf32>) outs(%3 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.addf %out, %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x6xf32>
    %expanded = tensor.expand_shape %4 [[0], [1, 2]] output_shape [8, 6, 1] : tensor<8x6xf32> into tensor<8x6x1xf32>
    %5 = tensor.empty() : tensor<8x6x1xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %arg1 : tensor<8x6x1xf32>, tensor<8x6x1xf32>) outs(%5 : tensor<8x6x1xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.divf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x6x1xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<8x6x1xf32>) outs(%3 : tensor<8x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.addf %out, %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x6xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<8x6xf32>) outs(%0 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x6x30xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %arg0 : tensor<8x6x30xf32>, tensor<8x6x30xf32>) outs(%0 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.mulf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x6x30xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2, %9 : tensor<8x6x30xf32>, tensor<8x6x30xf32>) outs(%0 : tensor<8x6x30xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.addf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x6x30xf32>
    return %10 : tensor<8x6x30xf32>
  }
}

