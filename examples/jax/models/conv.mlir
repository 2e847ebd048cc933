// conv of models.py. Written by export.py.
#map = affine_map<(d0, d1, d2, d3) -> (d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> ()>
module @jit_block {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<8xf32> {spmd.weight = "params.bias"}, %arg1: tensor<3x3x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {"model"}]>, spmd.weight = "params.conv1"}, %arg2: tensor<3x3x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {"model"}, {}]>, spmd.weight = "params.conv2"}, %arg3: tensor<8xf32> {spmd.weight = "params.scale"}, %arg4: tensor<1x1x8x8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {}, {}, {"model"}]>, spmd.weight = "params.skip"}, %arg5: tensor<8x8x8x8xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}, {}, {}]>}) -> (tensor<8x2x2x8xf32> {spmd.name = "result"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x4x4x8xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %padded = tensor.pad %arg5 low[0, 0, 0, 0] high[0, 1, 1, 0] {
    ^bb0(%arg6: index, %arg7: index, %arg8: index, %arg9: index):
      tensor.yield %cst_0 : f32
    } : tensor<8x8x8x8xf32> to tensor<8x9x9x8xf32>
    %2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%padded, %arg1 : tensor<8x9x9x8xf32>, tensor<3x3x8x8xf32>) outs(%1 : tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %3 = tensor.empty() : tensor<1x1x1x8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg3 : tensor<8xf32>) outs(%3 : tensor<1x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1x8xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<1x1x1x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x8xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %5 : tensor<8x4x4x8xf32>, tensor<8x4x4x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %19 = arith.mulf %in, %in_2 : f32
      linalg.yield %19 : f32
    } -> tensor<8x4x4x8xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8xf32>) outs(%3 : tensor<1x1x1x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1x8xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<1x1x1x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x8xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %8 : tensor<8x4x4x8xf32>, tensor<8x4x4x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %19 = arith.addf %in, %in_2 : f32
      linalg.yield %19 : f32
    } -> tensor<8x4x4x8xf32>
    %10 = call @relu(%9) : (tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %padded_1 = tensor.pad %10 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%arg6: index, %arg7: index, %arg8: index, %arg9: index):
      tensor.yield %cst_0 : f32
    } : tensor<8x4x4x8xf32> to tensor<8x6x6x8xf32>
    %11 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%padded_1, %arg2 : tensor<8x6x6x8xf32>, tensor<3x3x8x8xf32>) outs(%1 : tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %12 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg5, %arg4 : tensor<8x8x8x8xf32>, tensor<1x1x8x8xf32>) outs(%1 : tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %12 : tensor<8x4x4x8xf32>, tensor<8x4x4x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %19 = arith.addf %in, %in_2 : f32
      linalg.yield %19 : f32
    } -> tensor<8x4x4x8xf32>
    %14 = call @relu(%13) : (tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32>
    %15 = tensor.empty() : tensor<2x2xf32>
    %16 = tensor.empty() : tensor<8x2x2x8xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<8x2x2x8xf32>) -> tensor<8x2x2x8xf32>
    %18 = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%14, %15 : tensor<8x4x4x8xf32>, tensor<2x2xf32>) outs(%17 : tensor<8x2x2x8xf32>) -> tensor<8x2x2x8xf32>
    return %18 : tensor<8x2x2x8xf32>
  }
  func.func private @relu(%arg0: tensor<8x4x4x8xf32>) -> tensor<8x4x4x8xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x4x4x8xf32>
    %1 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x4x8xf32>
    %2 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %1 : tensor<8x4x4x8xf32>, tensor<8x4x4x8xf32>) outs(%0 : tensor<8x4x4x8xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %3 = arith.maximumf %in, %in_0 : f32
      linalg.yield %3 : f32
    } -> tensor<8x4x4x8xf32>
    return %2 : tensor<8x4x4x8xf32>
  }
}

