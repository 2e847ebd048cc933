// gpt2_step of models.py. Written by export.py.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> ()>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map8 = affine_map<(d0, d1, d2) -> (d2)>
#map9 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map19 = affine_map<(d0, d1, d2, d3) -> ()>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map21 = affine_map<(d0, d1) -> (d1, d0)>
#map22 = affine_map<() -> ()>
#map23 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
#map24 = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map26 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map27 = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#map28 = affine_map<(d0, d1, d2) -> (d0)>
#map29 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>
#map30 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map31 = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#map32 = affine_map<(d0) -> ()>
#map33 = affine_map<(d0) -> (d0)>
#map34 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map35 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
module @jit_step {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  spmd.mesh @empty_mesh = <[]>
  func.func public @main(%arg0: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.0.down"}, %arg1: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.key"}, %arg2: tensor<32xf32> {spmd.weight = "params.layers.0.norm1.bias"}, %arg3: tensor<32xf32> {spmd.weight = "params.layers.0.norm1.scale"}, %arg4: tensor<32xf32> {spmd.weight = "params.layers.0.norm2.bias"}, %arg5: tensor<32xf32> {spmd.weight = "params.layers.0.norm2.scale"}, %arg6: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.0.out"}, %arg7: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.query"}, %arg8: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.up"}, %arg9: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.0.value"}, %arg10: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.1.down"}, %arg11: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.1.key"}, %arg12: tensor<32xf32> {spmd.weight = "params.layers.1.norm1.bias"}, %arg13: tensor<32xf32> {spmd.weight = "params.layers.1.norm1.scale"}, %arg14: tensor<32xf32> {spmd.weight = "params.layers.1.norm2.bias"}, %arg15: tensor<32xf32> {spmd.weight = "params.layers.1.norm2.scale"}, %arg16: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "params.layers.1.out"}, %arg17: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.1.query"}, %arg18: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.1.up"}, %arg19: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "params.layers.1.value"}, %arg20: tensor<32xf32> {spmd.weight = "params.norm.bias"}, %arg21: tensor<32xf32> {spmd.weight = "params.norm.scale"}, %arg22: tensor<8x32xf32> {spmd.weight = "params.wpe"}, %arg23: tensor<64x32xf32> {spmd.weight = "params.wte"}, %arg24: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.m.layers.0.down"}, %arg25: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.0.key"}, %arg26: tensor<32xf32> {spmd.weight = "moments.m.layers.0.norm1.bias"}, %arg27: tensor<32xf32> {spmd.weight = "moments.m.layers.0.norm1.scale"}, %arg28: tensor<32xf32> {spmd.weight = "moments.m.layers.0.norm2.bias"}, %arg29: tensor<32xf32> {spmd.weight = "moments.m.layers.0.norm2.scale"}, %arg30: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.m.layers.0.out"}, %arg31: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.0.query"}, %arg32: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.0.up"}, %arg33: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.0.value"}, %arg34: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.m.layers.1.down"}, %arg35: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.1.key"}, %arg36: tensor<32xf32> {spmd.weight = "moments.m.layers.1.norm1.bias"}, %arg37: tensor<32xf32> {spmd.weight = "moments.m.layers.1.norm1.scale"}, %arg38: tensor<32xf32> {spmd.weight = "moments.m.layers.1.norm2.bias"}, %arg39: tensor<32xf32> {spmd.weight = "moments.m.layers.1.norm2.scale"}, %arg40: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.m.layers.1.out"}, %arg41: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.1.query"}, %arg42: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.1.up"}, %arg43: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.m.layers.1.value"}, %arg44: tensor<32xf32> {spmd.weight = "moments.m.norm.bias"}, %arg45: tensor<32xf32> {spmd.weight = "moments.m.norm.scale"}, %arg46: tensor<8x32xf32> {spmd.weight = "moments.m.wpe"}, %arg47: tensor<64x32xf32> {spmd.weight = "moments.m.wte"}, %arg48: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.v.layers.0.down"}, %arg49: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.0.key"}, %arg50: tensor<32xf32> {spmd.weight = "moments.v.layers.0.norm1.bias"}, %arg51: tensor<32xf32> {spmd.weight = "moments.v.layers.0.norm1.scale"}, %arg52: tensor<32xf32> {spmd.weight = "moments.v.layers.0.norm2.bias"}, %arg53: tensor<32xf32> {spmd.weight = "moments.v.layers.0.norm2.scale"}, %arg54: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.v.layers.0.out"}, %arg55: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.0.query"}, %arg56: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.0.up"}, %arg57: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.0.value"}, %arg58: tensor<128x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.v.layers.1.down"}, %arg59: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.1.key"}, %arg60: tensor<32xf32> {spmd.weight = "moments.v.layers.1.norm1.bias"}, %arg61: tensor<32xf32> {spmd.weight = "moments.v.layers.1.norm1.scale"}, %arg62: tensor<32xf32> {spmd.weight = "moments.v.layers.1.norm2.bias"}, %arg63: tensor<32xf32> {spmd.weight = "moments.v.layers.1.norm2.scale"}, %arg64: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "moments.v.layers.1.out"}, %arg65: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.1.query"}, %arg66: tensor<32x128xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.1.up"}, %arg67: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "moments.v.layers.1.value"}, %arg68: tensor<32xf32> {spmd.weight = "moments.v.norm.bias"}, %arg69: tensor<32xf32> {spmd.weight = "moments.v.norm.scale"}, %arg70: tensor<8x32xf32> {spmd.weight = "moments.v.wpe"}, %arg71: tensor<64x32xf32> {spmd.weight = "moments.v.wte"}, %arg72: tensor<f32> {spmd.name = "count", spmd.sharding = #spmd.sharding<@empty_mesh, []>}, %arg73: tensor<8x8xi32> {spmd.name = "tokens", spmd.range = [0, 64], spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}, %arg74: tensor<8x8xi32> {spmd.name = "targets", spmd.range = [0, 64], spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<128x32xf32> {spmd.name = "result.0.layers.0.down", spmd.tied = 0 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.0.key", spmd.tied = 1 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.0.norm1.bias", spmd.tied = 2 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.0.norm1.scale", spmd.tied = 3 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.0.norm2.bias", spmd.tied = 4 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.0.norm2.scale", spmd.tied = 5 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.0.out", spmd.tied = 6 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.0.query", spmd.tied = 7 : i64}, tensor<32x128xf32> {spmd.name = "result.0.layers.0.up", spmd.tied = 8 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.0.value", spmd.tied = 9 : i64}, tensor<128x32xf32> {spmd.name = "result.0.layers.1.down", spmd.tied = 10 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.1.key", spmd.tied = 11 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.1.norm1.bias", spmd.tied = 12 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.1.norm1.scale", spmd.tied = 13 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.1.norm2.bias", spmd.tied = 14 : i64}, tensor<32xf32> {spmd.name = "result.0.layers.1.norm2.scale", spmd.tied = 15 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.1.out", spmd.tied = 16 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.1.query", spmd.tied = 17 : i64}, tensor<32x128xf32> {spmd.name = "result.0.layers.1.up", spmd.tied = 18 : i64}, tensor<32x32xf32> {spmd.name = "result.0.layers.1.value", spmd.tied = 19 : i64}, tensor<32xf32> {spmd.name = "result.0.norm.bias", spmd.tied = 20 : i64}, tensor<32xf32> {spmd.name = "result.0.norm.scale", spmd.tied = 21 : i64}, tensor<8x32xf32> {spmd.name = "result.0.wpe", spmd.tied = 22 : i64}, tensor<64x32xf32> {spmd.name = "result.0.wte", spmd.tied = 23 : i64}, tensor<128x32xf32> {spmd.name = "result.1.m.layers.0.down", spmd.tied = 24 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.0.key", spmd.tied = 25 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.0.norm1.bias", spmd.tied = 26 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.0.norm1.scale", spmd.tied = 27 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.0.norm2.bias", spmd.tied = 28 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.0.norm2.scale", spmd.tied = 29 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.0.out", spmd.tied = 30 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.0.query", spmd.tied = 31 : i64}, tensor<32x128xf32> {spmd.name = "result.1.m.layers.0.up", spmd.tied = 32 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.0.value", spmd.tied = 33 : i64}, tensor<128x32xf32> {spmd.name = "result.1.m.layers.1.down", spmd.tied = 34 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.1.key", spmd.tied = 35 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.1.norm1.bias", spmd.tied = 36 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.1.norm1.scale", spmd.tied = 37 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.1.norm2.bias", spmd.tied = 38 : i64}, tensor<32xf32> {spmd.name = "result.1.m.layers.1.norm2.scale", spmd.tied = 39 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.1.out", spmd.tied = 40 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.1.query", spmd.tied = 41 : i64}, tensor<32x128xf32> {spmd.name = "result.1.m.layers.1.up", spmd.tied = 42 : i64}, tensor<32x32xf32> {spmd.name = "result.1.m.layers.1.value", spmd.tied = 43 : i64}, tensor<32xf32> {spmd.name = "result.1.m.norm.bias", spmd.tied = 44 : i64}, tensor<32xf32> {spmd.name = "result.1.m.norm.scale", spmd.tied = 45 : i64}, tensor<8x32xf32> {spmd.name = "result.1.m.wpe", spmd.tied = 46 : i64}, tensor<64x32xf32> {spmd.name = "result.1.m.wte", spmd.tied = 47 : i64}, tensor<128x32xf32> {spmd.name = "result.1.v.layers.0.down", spmd.tied = 48 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.0.key", spmd.tied = 49 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.0.norm1.bias", spmd.tied = 50 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.0.norm1.scale", spmd.tied = 51 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.0.norm2.bias", spmd.tied = 52 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.0.norm2.scale", spmd.tied = 53 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.0.out", spmd.tied = 54 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.0.query", spmd.tied = 55 : i64}, tensor<32x128xf32> {spmd.name = "result.1.v.layers.0.up", spmd.tied = 56 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.0.value", spmd.tied = 57 : i64}, tensor<128x32xf32> {spmd.name = "result.1.v.layers.1.down", spmd.tied = 58 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.1.key", spmd.tied = 59 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.1.norm1.bias", spmd.tied = 60 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.1.norm1.scale", spmd.tied = 61 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.1.norm2.bias", spmd.tied = 62 : i64}, tensor<32xf32> {spmd.name = "result.1.v.layers.1.norm2.scale", spmd.tied = 63 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.1.out", spmd.tied = 64 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.1.query", spmd.tied = 65 : i64}, tensor<32x128xf32> {spmd.name = "result.1.v.layers.1.up", spmd.tied = 66 : i64}, tensor<32x32xf32> {spmd.name = "result.1.v.layers.1.value", spmd.tied = 67 : i64}, tensor<32xf32> {spmd.name = "result.1.v.norm.bias", spmd.tied = 68 : i64}, tensor<32xf32> {spmd.name = "result.1.v.norm.scale", spmd.tied = 69 : i64}, tensor<8x32xf32> {spmd.name = "result.1.v.wpe", spmd.tied = 70 : i64}, tensor<64x32xf32> {spmd.name = "result.1.v.wte", spmd.tied = 71 : i64}, tensor<f32> {spmd.name = "result.2"}, tensor<f32> {spmd.name = "result.3"}) {
    %cst = arith.constant -1.000000e+00 : f32
    %cst_0 = arith.constant dense<9.99999993E-9> : tensor<f32>
    %cst_1 = arith.constant 9.990000e-01 : f32
    %cst_2 = arith.constant 0.899999976 : f32
    %cst_3 = arith.constant dense<1.000000e-03> : tensor<f32>
    %cst_4 = arith.constant dense<9.990000e-01> : tensor<f32>
    %cst_5 = arith.constant dense<1.000000e-01> : tensor<f32>
    %cst_6 = arith.constant dense<0.899999976> : tensor<f32>
    %cst_7 = arith.constant -0.000000e+00 : f32
    %cst_8 = arith.constant 1.000000e+00 : f32
    %cst_9 = arith.constant 6.400000e+01 : f32
    %cst_10 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_11 = arith.constant dense<0.797884583> : tensor<f32>
    %cst_12 = arith.constant dense<4.471500e-02> : tensor<f32>
    %cst_13 = arith.constant dense<3.000000e+00> : tensor<f32>
    %cst_14 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_15 = arith.constant 0xFF800000 : f32
    %cst_16 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_17 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_18 = arith.constant dense<0.353553385> : tensor<f32>
    %cst_19 = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_20 = arith.constant dense<9.99999974E-6> : tensor<f32>
    %cst_21 = arith.constant dense<3.200000e+01> : tensor<f32>
    %cst_22 = arith.constant 0.000000e+00 : f32
    %cst_23 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_24 = arith.constant dense<true> : tensor<i1>
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %cst_25 = arith.constant dense<64> : tensor<i32>
    %cst_26 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x8xi32>
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_26 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %2 = tensor.empty() : tensor<8x8xi1>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg73, %1 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%2 : tensor<8x8xi1>) {
    ^bb0(%in: i32, %in_65: i32, %out: i1):
      %878 = arith.cmpi slt, %in, %in_65 : i32
      linalg.yield %878 : i1
    } -> tensor<8x8xi1>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_25 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg73, %4 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %in_65: i32, %out: i32):
      %878 = arith.addi %in, %in_65 : i32
      linalg.yield %878 : i32
    } -> tensor<8x8xi32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %5, %arg73 : tensor<8x8xi1>, tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i1, %in_65: i32, %in_66: i32, %out: i32):
      %878 = arith.select %in, %in_65, %in_66 : i32
      linalg.yield %878 : i32
    } -> tensor<8x8xi32>
    %7 = tensor.empty() : tensor<8x8x1xi32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x8xi32>) outs(%7 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1xi32>
    %9 = tensor.empty() : tensor<8x8x32xf32>
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%out: f32):
      %878 = linalg.index 0 : index
      %879 = linalg.index 1 : index
      %880 = linalg.index 2 : index
      %extracted = tensor.extract %8[%878, %879, %c0] : tensor<8x8x1xi32>
      %881 = arith.index_cast %extracted : i32 to index
      %882 = arith.maxsi %881, %c0 : index
      %883 = arith.minsi %882, %c63 : index
      %extracted_65 = tensor.extract %arg23[%883, %880] : tensor<64x32xf32>
      linalg.yield %extracted_65 : f32
    } -> tensor<8x8x32xf32>
    %11 = tensor.empty() : tensor<1x8x32xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg22 : tensor<8x32xf32>) outs(%11 : tensor<1x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x8x32xf32>
    %13 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %13 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_24 : tensor<i1>) outs(%2 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x8xi1>
    %16 = call @tril(%15) : (tensor<8x8xi1>) -> tensor<8x8xi1>
    %17 = tensor.empty() : tensor<8x8xf32>
    %18 = linalg.fill ins(%cst_22 : f32) outs(%17 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%14 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %20 = tensor.empty() : tensor<8x8x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_21 : tensor<f32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %24 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %25 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%26 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %30 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_20 : tensor<f32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29, %30 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31 : tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.rsqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32, %31 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %34 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_19 : tensor<f32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %33 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %36 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %36 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %38 = tensor.empty() : tensor<1x1x32xf32>
    %39 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %40 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %40 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %42 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %43 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%42 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %44 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%41, %43 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %45 = linalg.fill ins(%cst_22 : f32) outs(%9 : tensor<8x8x32xf32>) -> tensor<8x8x32xf32>
    %46 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg7 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded = tensor.expand_shape %46 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %47 = tensor.empty() : tensor<8x4x8x8xf32>
    %48 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %49 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg1 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_27 = tensor.expand_shape %49 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %50 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %51 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%44, %arg9 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_28 = tensor.expand_shape %51 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %52 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %53 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %54 = linalg.fill ins(%cst_22 : f32) outs(%47 : tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
    %55 = linalg.generic {indexing_maps = [#map16, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%48, %53 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %56 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_18 : tensor<f32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %57 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %56 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %58:2 = call @_where(%16, %57, %cst_17) : (tensor<8x8xi1>, tensor<8x4x8x8xf32>, tensor<f32>) -> (tensor<8x4x8x8xf32>, tensor<8x4x8x8xi1>)
    %59 = tensor.empty() : tensor<8x4x8xf32>
    %60 = linalg.fill ins(%cst_15 : f32) outs(%59 : tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %61 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%58#0 : tensor<8x4x8x8xf32>) outs(%60 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.maximumf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_16 : tensor<f32>) outs(%59 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8xf32>
    %63 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %61 : tensor<8x4x8xf32>, tensor<8x4x8xf32>) outs(%59 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.maximumf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %64 = tensor.empty() : tensor<8x4x8x1xf32>
    %65 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<8x4x8xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %66 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %67 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58#0, %66 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %68 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.exp %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %69 = linalg.fill ins(%cst_22 : f32) outs(%59 : tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %70 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%68 : tensor<8x4x8x8xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %71 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70 : tensor<8x4x8xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %72 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %73 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%68, %72 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %74 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71, %71 : tensor<8x4x8x1xf32>, tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %75 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_14 : tensor<f32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %76 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %74 : tensor<8x4x8x1xf32>, tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %77 = linalg.generic {indexing_maps = [#map16, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%73, %52 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %78 = tensor.empty() : tensor<8x8x4x8xf32>
    %79 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%77 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed = tensor.collapse_shape %79 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %80 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg6 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %81 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %80 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%81 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %83 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %84 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %85 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %86 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %85 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %87 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %86 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %88 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%87 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %89 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %90 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%89, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %91 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90, %30 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %92 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.rsqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %93 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %91 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %94 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %93 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %95 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %96 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %95 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %97 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg5 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %98 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %98 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %100 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg4 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %101 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %102 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99, %101 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %103 = tensor.empty() : tensor<8x8x128xf32>
    %104 = linalg.fill ins(%cst_22 : f32) outs(%103 : tensor<8x8x128xf32>) -> tensor<8x8x128xf32>
    %105 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%102, %arg8 : tensor<8x8x32xf32>, tensor<32x128xf32>) outs(%104 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x128xf32>
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %105 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %107 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %105 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %108 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_13 : tensor<f32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %109 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %106 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %110 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_12 : tensor<f32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %111 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %107 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %112 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %111 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %113 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_11 : tensor<f32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %114 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %112 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %115 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%114 : tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.tanh %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %116 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_14 : tensor<f32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %117 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %115 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %118 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %115 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %119 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_10 : tensor<f32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x128xf32>
    %120 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %118 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %121 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %120 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %122 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%121, %arg0 : tensor<8x8x128xf32>, tensor<128x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %123 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%81, %122 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %124 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%123 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %125 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%124 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %126 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%125, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %127 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%126 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %128 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %127 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %129 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %128 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %130 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%129 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %131 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%130 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %132 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%131, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %133 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%132, %30 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %134 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%133 : tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.rsqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %135 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134, %133 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %136 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %135 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %137 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%134 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %138 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %137 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %139 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %140 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %140 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %142 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %143 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141, %143 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %145 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%144, %arg17 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_29 = tensor.expand_shape %145 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %146 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %147 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%144, %arg11 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_30 = tensor.expand_shape %147 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %148 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_30 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %149 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%144, %arg19 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_31 = tensor.expand_shape %149 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %150 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_31 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %151 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%148 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %152 = linalg.generic {indexing_maps = [#map16, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%146, %151 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %153 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%152, %56 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %154:2 = call @_where(%16, %153, %cst_17) : (tensor<8x8xi1>, tensor<8x4x8x8xf32>, tensor<f32>) -> (tensor<8x4x8x8xf32>, tensor<8x4x8x8xi1>)
    %155 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%154#0 : tensor<8x4x8x8xf32>) outs(%60 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.maximumf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%62, %155 : tensor<8x4x8xf32>, tensor<8x4x8xf32>) outs(%59 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.maximumf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %157 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%156 : tensor<8x4x8xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %158 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%157 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %159 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%154#0, %158 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %160 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%159 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.exp %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %161 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%160 : tensor<8x4x8x8xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %162 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%161 : tensor<8x4x8xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x1xf32>
    %163 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%162 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %164 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%160, %163 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %165 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%162, %162 : tensor<8x4x8x1xf32>, tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %166 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%75, %165 : tensor<8x4x8x1xf32>, tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %167 = linalg.generic {indexing_maps = [#map16, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%164, %150 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %168 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%167 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_32 = tensor.collapse_shape %168 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %169 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_32, %arg16 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %170 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%123, %169 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %171 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%170 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %172 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%171 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %173 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%172, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %174 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %175 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %174 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %176 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %175 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %177 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%176 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %178 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%177 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %179 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%178, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %180 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %30 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %181 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180 : tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.rsqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %182 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181, %180 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %183 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %182 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %184 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%181 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %185 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %184 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %186 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %187 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%186 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %188 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %187 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %189 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg14 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %190 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%189 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %191 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%188, %190 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %192 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%191, %arg18 : tensor<8x8x32xf32>, tensor<32x128xf32>) outs(%104 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x128xf32>
    %193 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %192 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %194 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%193, %192 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %195 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108, %193 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %196 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %194 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %197 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %196 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %198 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %197 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %199 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%198 : tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.tanh %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %200 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %199 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %201 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116, %199 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %202 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %201 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %203 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %202 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %204 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%203, %arg10 : tensor<8x8x128xf32>, tensor<128x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %205 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%170, %204 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %206 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%205 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %207 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %208 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%207, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %209 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %210 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%205, %209 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %211 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210, %210 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %212 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%211 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %213 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212 : tensor<8x8xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %214 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %215 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%214, %30 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %216 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%215 : tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.rsqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %217 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %215 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %218 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%34, %217 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %219 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216 : tensor<8x8x1xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %220 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210, %219 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %221 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %222 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %223 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%220, %222 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %224 = linalg.generic {indexing_maps = [#map8, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg20 : tensor<32xf32>) outs(%38 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x32xf32>
    %225 = linalg.generic {indexing_maps = [#map9, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%224 : tensor<1x1x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %226 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223, %225 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %227 = tensor.empty() : tensor<32x64xf32>
    %228 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg23 : tensor<64x32xf32>) outs(%227 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x64xf32>
    %229 = tensor.empty() : tensor<8x8x64xf32>
    %230 = linalg.fill ins(%cst_22 : f32) outs(%229 : tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
    %231 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%226, %228 : tensor<8x8x32xf32>, tensor<32x64xf32>) outs(%230 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x64xf32>
    %232:3 = call @log_softmax(%231) : (tensor<8x8x64xf32>) -> (tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x1xf32>)
    %233 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg74 : tensor<8x8xi32>) outs(%7 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1xi32>
    %234:2 = call @take_along_axis(%232#0, %233) : (tensor<8x8x64xf32>, tensor<8x8x1xi32>) -> (tensor<8x8x1xf32>, tensor<8x8x1x1xi32>)
    %235 = tensor.empty() : tensor<f32>
    %236 = linalg.fill ins(%cst_22 : f32) outs(%235 : tensor<f32>) -> tensor<f32>
    %237 = linalg.generic {indexing_maps = [#map3, #map6], iterator_types = ["reduction", "reduction", "reduction"]} ins(%234#0 : tensor<8x8x1xf32>) outs(%236 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %238 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%237 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.divf %in, %cst_9 : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %239 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%238 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %240 = linalg.generic {indexing_maps = [#map22], iterator_types = []} outs(%235 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %241 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%240 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.divf %in, %cst_9 : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %242 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%241 : tensor<f32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %243 = call @take_along_axis_0(%234#1, %242) : (tensor<8x8x1x1xi32>, tensor<8x8x1xf32>) -> tensor<8x8x64xf32>
    %244 = call @log_softmax_1(%232#1, %232#2, %243) : (tensor<8x8x64xf32>, tensor<8x8x1xf32>, tensor<8x8x64xf32>) -> tensor<8x8x64xf32>
    %245 = tensor.empty() : tensor<64x32xf32>
    %246 = linalg.fill ins(%cst_22 : f32) outs(%245 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %247 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%244, %226 : tensor<8x8x64xf32>, tensor<8x8x32xf32>) outs(%246 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<64x32xf32>
    %248 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%247 : tensor<64x32xf32>) outs(%227 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x64xf32>
    %249 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%244, %228 : tensor<8x8x64xf32>, tensor<32x64xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %250 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%248 : tensor<32x64xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %251 = tensor.empty() : tensor<32xf32>
    %252 = linalg.fill ins(%cst_22 : f32) outs(%251 : tensor<32xf32>) -> tensor<32xf32>
    %253 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%249 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_33 = tensor.expand_shape %253 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %254 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_33 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %255 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%220, %249 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %256 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%255 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_34 = tensor.expand_shape %256 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %257 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%249, %222 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %258 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_34 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %259 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210, %257 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %260 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%259 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_35 = tensor.expand_shape %260 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %261 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257, %219 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %262 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_35, %218 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %263 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%262, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %264 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%263 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %265 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%264 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %266 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%210, %265 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %267 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%261, %266 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %268 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%265, %210 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %269 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%267, %268 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %270 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269 : tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %271 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%270 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_36 = tensor.expand_shape %271 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %272 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_36, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %273 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%272 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %274 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%273 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %275 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269, %274 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %276 = tensor.empty() : tensor<32x128xf32>
    %277 = linalg.fill ins(%cst_22 : f32) outs(%276 : tensor<32x128xf32>) -> tensor<32x128xf32>
    %278 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%275, %203 : tensor<8x8x32xf32>, tensor<8x8x128xf32>) outs(%277 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x128xf32>
    %279 = tensor.empty() : tensor<128x32xf32>
    %280 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%278 : tensor<32x128xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %281 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%275, %arg10 : tensor<8x8x32xf32>, tensor<128x32xf32>) outs(%104 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x128xf32>
    %282 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%192, %281 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %283 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%281, %202 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %284 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %282 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %285 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284, %200 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %286 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%285, %199 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %287 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%285, %286 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %288 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %287 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %289 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %288 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %290 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %288 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %291 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%290, %195 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %292 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289, %291 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %293 = linalg.fill ins(%cst_22 : f32) outs(%279 : tensor<128x32xf32>) -> tensor<128x32xf32>
    %294 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%292, %191 : tensor<8x8x128xf32>, tensor<8x8x32xf32>) outs(%293 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<128x32xf32>
    %295 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%294 : tensor<128x32xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %296 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%292, %arg18 : tensor<8x8x128xf32>, tensor<32x128xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %297 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%296 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_37 = tensor.expand_shape %297 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %298 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_37 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %299 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%185, %296 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %300 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%299 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_38 = tensor.expand_shape %300 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %301 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%296, %187 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %302 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_38 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %303 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %301 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %304 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%303 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_39 = tensor.expand_shape %304 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %305 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%301, %184 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %306 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_39, %183 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %307 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%306, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %308 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%307 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %309 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%308 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %310 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%175, %309 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %311 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%305, %310 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %312 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%309, %175 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %313 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%311, %312 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %314 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%313 : tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %315 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%314 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_40 = tensor.expand_shape %315 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %316 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%275, %313 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %317 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_40, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %318 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%317 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %319 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%318 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %320 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%316, %319 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %321 = tensor.empty() : tensor<32x32xf32>
    %322 = linalg.fill ins(%cst_22 : f32) outs(%321 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %323 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%320, %collapsed_32 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %324 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%323 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %325 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%320, %arg16 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_41 = tensor.expand_shape %325 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %326 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_41 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %327 = linalg.generic {indexing_maps = [#map29, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%326, %164 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %328 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%327 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %329 = linalg.generic {indexing_maps = [#map16, #map30, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%326, %150 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %330 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%166 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %331 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%329, %330 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %332 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%331, %160 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %333 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%332 : tensor<8x4x8x8xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %expanded_42 = tensor.expand_shape %333 [[0], [1], [2, 3]] output_shape [8, 4, 8, 1] : tensor<8x4x8xf32> into tensor<8x4x8x1xf32>
    %334 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_42 : tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %335 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%329, %163 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %336 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%334 : tensor<8x4x8x1xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %337 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%336 : tensor<8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %338 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%335, %337 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %339 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%338, %160 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %340 = call @_where_2(%154#1, %339) : (tensor<8x4x8x8xi1>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
    %341 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%340, %56 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %342 = linalg.generic {indexing_maps = [#map29, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%341, %146 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %343 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%342 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %344 = linalg.generic {indexing_maps = [#map16, #map30, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%341, %151 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %345 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%343 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %346 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%328 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_43 = tensor.collapse_shape %346 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %347 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_43, %144 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %348 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%347 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %349 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_43, %arg19 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %350 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%345 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_44 = tensor.collapse_shape %350 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %351 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_44, %144 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %352 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%351 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %353 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_44, %arg11 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %354 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%349, %353 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %355 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%344 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_45 = tensor.collapse_shape %355 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %356 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_45, %144 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %357 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%356 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %358 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_45, %arg17 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %359 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%354, %358 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %360 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%359 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_46 = tensor.expand_shape %360 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %361 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_46 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %362 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%138, %359 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %363 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%362 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_47 = tensor.expand_shape %363 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %364 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%359, %140 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %365 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_47 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %366 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %364 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %367 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%366 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_48 = tensor.expand_shape %367 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %368 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%364, %137 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %369 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_48, %136 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %370 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%369, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %371 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%370 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %372 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%371 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %373 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%128, %372 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %374 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%368, %373 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %375 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%372, %128 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %376 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%374, %375 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %377 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%376 : tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %378 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%377 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_49 = tensor.expand_shape %378 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %379 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%320, %376 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %380 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_49, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %381 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%380 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %382 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%381 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %383 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%379, %382 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %384 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%383, %121 : tensor<8x8x32xf32>, tensor<8x8x128xf32>) outs(%277 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x128xf32>
    %385 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%384 : tensor<32x128xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %386 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%383, %arg0 : tensor<8x8x32xf32>, tensor<128x32xf32>) outs(%104 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x128xf32>
    %387 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %386 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %388 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%386, %120 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %389 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%119, %387 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %390 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%389, %117 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %391 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%390, %115 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %392 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%390, %391 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %393 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%113, %392 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %394 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%388, %393 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %395 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %393 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %396 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%395, %109 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %397 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%394, %396 : tensor<8x8x128xf32>, tensor<8x8x128xf32>) outs(%103 : tensor<8x8x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x128xf32>
    %398 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%397, %102 : tensor<8x8x128xf32>, tensor<8x8x32xf32>) outs(%293 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<128x32xf32>
    %399 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%398 : tensor<128x32xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %400 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%397, %arg8 : tensor<8x8x128xf32>, tensor<32x128xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %401 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%400 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_50 = tensor.expand_shape %401 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %402 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_50 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %403 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %400 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %404 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%403 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_51 = tensor.expand_shape %404 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %405 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%400, %98 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %406 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_51 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %407 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %405 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %408 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%407 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_52 = tensor.expand_shape %408 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %409 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%405, %95 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %410 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_52, %94 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %411 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%410, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %412 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%411 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %413 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%412 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %414 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86, %413 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %415 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%409, %414 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %416 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%413, %86 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %417 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%415, %416 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %418 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%417 : tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %419 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%418 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_53 = tensor.expand_shape %419 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %420 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%383, %417 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %421 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_53, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %422 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%421 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %423 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%422 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %424 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%420, %423 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %425 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%424, %collapsed : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %426 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%425 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %427 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%424, %arg6 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %expanded_54 = tensor.expand_shape %427 [[0], [1], [2, 3]] output_shape [8, 8, 4, 8] : tensor<8x8x32xf32> into tensor<8x8x4x8xf32>
    %428 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_54 : tensor<8x8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %429 = linalg.generic {indexing_maps = [#map29, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%428, %73 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %430 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%429 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %431 = linalg.generic {indexing_maps = [#map16, #map30, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%428, %52 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %432 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<8x4x8x1xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %433 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%431, %432 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %434 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%433, %68 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %435 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%434 : tensor<8x4x8x8xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %expanded_55 = tensor.expand_shape %435 [[0], [1], [2, 3]] output_shape [8, 4, 8, 1] : tensor<8x4x8xf32> into tensor<8x4x8x1xf32>
    %436 = linalg.generic {indexing_maps = [#map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_55 : tensor<8x4x8x1xf32>) outs(%64 : tensor<8x4x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x1xf32>
    %437 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%431, %72 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %438 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%436 : tensor<8x4x8x1xf32>) outs(%69 : tensor<8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8xf32>
    %439 = linalg.generic {indexing_maps = [#map12, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%438 : tensor<8x4x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %440 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%437, %439 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %441 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%440, %68 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %442 = call @_where_2(%58#1, %441) : (tensor<8x4x8x8xi1>, tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32>
    %443 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%442, %56 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x4x8x8xf32>
    %444 = linalg.generic {indexing_maps = [#map29, #map17, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%443, %48 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %445 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%444 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %446 = linalg.generic {indexing_maps = [#map16, #map30, #map18], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%443, %53 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%54 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x4x8x8xf32>
    %447 = linalg.generic {indexing_maps = [#map15, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%445 : tensor<8x4x8x8xf32>) outs(%47 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %448 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%430 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_56 = tensor.collapse_shape %448 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %449 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_56, %44 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %450 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%449 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %451 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_56, %arg9 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %452 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%447 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_57 = tensor.collapse_shape %452 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %453 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_57, %44 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %454 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%453 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %455 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_57, %arg1 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %456 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%451, %455 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %457 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%446 : tensor<8x4x8x8xf32>) outs(%78 : tensor<8x8x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x4x8xf32>
    %collapsed_58 = tensor.collapse_shape %457 [[0], [1], [2, 3]] : tensor<8x8x4x8xf32> into tensor<8x8x32xf32>
    %458 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_58, %44 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%322 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<32x32xf32>
    %459 = linalg.generic {indexing_maps = [#map21, #map1], iterator_types = ["parallel", "parallel"]} ins(%458 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %460 = linalg.generic {indexing_maps = [#map10, #map26, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_58, %arg7 : tensor<8x8x32xf32>, tensor<32x32xf32>) outs(%45 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      %879 = arith.addf %out, %878 : f32
      linalg.yield %879 : f32
    } -> tensor<8x8x32xf32>
    %461 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%456, %460 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %462 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%461 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_59 = tensor.expand_shape %462 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %463 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_59 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %464 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%37, %461 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %465 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%464 : tensor<8x8x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %expanded_60 = tensor.expand_shape %465 [[0, 1, 2]] output_shape [1, 1, 32] : tensor<32xf32> into tensor<1x1x32xf32>
    %466 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%461, %40 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %467 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction"]} ins(%expanded_60 : tensor<1x1x32xf32>) outs(%252 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %468 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %466 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %469 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%468 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_61 = tensor.expand_shape %469 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %470 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%466, %36 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %471 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_61, %35 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %472 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%471, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %473 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%472 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %474 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%473 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %475 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %474 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %476 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%470, %475 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %477 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%474, %25 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %478 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%476, %477 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %479 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%478 : tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.negf %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %480 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%479 : tensor<8x8x32xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %expanded_62 = tensor.expand_shape %480 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %481 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%424, %478 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %482 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_62, %22 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%20 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x1xf32>
    %483 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%482 : tensor<8x8x1xf32>) outs(%18 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x8xf32>
    %484 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%483 : tensor<8x8xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %485 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%481, %484 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%9 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x8x32xf32>
    %486 = tensor.empty() : tensor<8x32xf32>
    %487 = linalg.fill ins(%cst_22 : f32) outs(%486 : tensor<8x32xf32>) -> tensor<8x32xf32>
    %488 = linalg.generic {indexing_maps = [#map31, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%485 : tensor<8x8x32xf32>) outs(%487 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %expanded_63 = tensor.expand_shape %488 [[0, 1], [2]] output_shape [1, 8, 32] : tensor<8x32xf32> into tensor<1x8x32xf32>
    %489 = linalg.generic {indexing_maps = [#map31, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded_63 : tensor<1x8x32xf32>) outs(%487 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %out, %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %490 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_23 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %collapsed_64 = tensor.collapse_shape %8 [[0], [1, 2]] : tensor<8x8x1xi32> into tensor<8x8xi32>
    %491 = linalg.generic {indexing_maps = [#map26, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%collapsed_64, %485 : tensor<8x8xi32>, tensor<8x8x32xf32>) outs(%490 : tensor<64x32xf32>) {
    ^bb0(%in: i32, %in_65: f32, %out: f32):
      %878 = linalg.index 0 : index
      %879 = arith.index_cast %in : i32 to index
      %880 = arith.cmpi eq, %878, %879 : index
      %881 = arith.select %880, %in_65, %cst_7 : f32
      %882 = arith.addf %out, %881 : f32
      linalg.yield %882 : f32
    } -> tensor<64x32xf32>
    %492 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%250, %491 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %493 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%arg72 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.addf %in, %cst_8 : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %494 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %495 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%494, %arg24 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %496 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %497 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%496, %385 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %498 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%495, %497 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %499 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %500 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg25 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %501 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %502 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %454 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %503 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%500, %502 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %504 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%cst_6 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %505 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg26 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %506 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%cst_5 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %507 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %463 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %508 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%505, %507 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %509 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg27 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %510 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %467 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %511 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%509, %510 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %512 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg28 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %513 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %402 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %514 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%512, %513 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %515 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg29 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %516 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %406 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %517 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%515, %516 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %518 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg30 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %519 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %426 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %520 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%518, %519 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %521 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg31 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %522 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %459 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %523 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%521, %522 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %524 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %525 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%524, %arg32 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %526 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %527 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%526, %399 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %528 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%525, %527 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %529 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg33 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %530 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %450 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %531 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%529, %530 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %532 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%494, %arg34 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %533 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%496, %280 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %534 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%532, %533 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %535 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg35 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %536 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %352 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %537 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%535, %536 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %538 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg36 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %539 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %361 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %540 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%538, %539 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %541 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg37 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %542 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %365 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %543 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%541, %542 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %544 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg38 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %545 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %298 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %546 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%544, %545 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %547 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg39 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %548 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %302 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %549 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%547, %548 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %550 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg40 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %551 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %324 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %552 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%550, %551 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %553 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg41 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %554 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %357 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %555 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%553, %554 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %556 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%524, %arg42 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %557 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%526, %295 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %558 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%556, %557 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %559 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%499, %arg43 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %560 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%501, %348 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %561 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%559, %560 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %562 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg44 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %563 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %254 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %564 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%562, %563 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %565 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%504, %arg45 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %566 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%506, %258 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %567 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%565, %566 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %568 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %569 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%568, %arg46 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %570 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %571 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%570, %489 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %572 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%569, %571 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %573 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_6 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %574 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%573, %arg47 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %575 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %576 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%575, %492 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %577 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%574, %576 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %578 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %579 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%578, %arg48 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %580 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %581 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%580, %385 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %582 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%581, %385 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %583 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%579, %582 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %584 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %585 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg49 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %586 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %587 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %454 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %588 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%587, %454 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %589 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%585, %588 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %590 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%cst_4 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %591 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg50 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %592 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%cst_3 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %593 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %463 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %594 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%593, %463 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %595 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%591, %594 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %596 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg51 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %597 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %467 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %598 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%597, %467 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %599 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%596, %598 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %600 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg52 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %601 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %402 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %602 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%601, %402 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %603 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%600, %602 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %604 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg53 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %605 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %406 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %606 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%605, %406 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %607 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%604, %606 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %608 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg54 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %609 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %426 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %610 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%609, %426 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %611 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%608, %610 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %612 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg55 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %613 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %459 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %614 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%613, %459 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %615 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%612, %614 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %616 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %617 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%616, %arg56 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %618 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %619 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%618, %399 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %620 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%619, %399 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %621 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%617, %620 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %622 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg57 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %623 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %450 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %624 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%623, %450 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %625 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%622, %624 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %626 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%578, %arg58 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %627 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%580, %280 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %628 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%627, %280 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %629 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%626, %628 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %630 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg59 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %631 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %352 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %632 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%631, %352 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %633 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%630, %632 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %634 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg60 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %635 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %361 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %636 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%635, %361 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %637 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%634, %636 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %638 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg61 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %639 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %365 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %640 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%639, %365 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %641 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%638, %640 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %642 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg62 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %643 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %298 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %644 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%643, %298 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %645 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%642, %644 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %646 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg63 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %647 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %302 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %648 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%647, %302 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %649 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%646, %648 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %650 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg64 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %651 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %324 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %652 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%651, %324 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %653 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%650, %652 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %654 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg65 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %655 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %357 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %656 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%655, %357 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %657 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%654, %656 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %658 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%616, %arg66 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %659 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%618, %295 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %660 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%659, %295 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %661 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%658, %660 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %662 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%584, %arg67 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %663 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %348 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %664 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%663, %348 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %665 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%662, %664 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %666 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg68 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %667 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %254 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %668 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%667, %254 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %669 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%666, %668 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %670 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%590, %arg69 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %671 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %258 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %672 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%671, %258 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %673 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%670, %672 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %674 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %675 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%674, %arg70 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %676 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %677 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%676, %489 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %678 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%677, %489 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %679 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%675, %678 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %680 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %681 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%680, %arg71 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %682 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %683 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%682, %492 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %684 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%683, %492 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %685 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%681, %684 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %686 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%493 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.powf %cst_2, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %687 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%686 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.subf %cst_8, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %688 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%687 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.divf %cst_8, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %689 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%493 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.powf %cst_1, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %690 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%689 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.subf %cst_8, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %691 = linalg.generic {indexing_maps = [#map22, #map22], iterator_types = []} ins(%690 : tensor<f32>) outs(%235 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = arith.divf %cst_8, %in : f32
      linalg.yield %878 : f32
    } -> tensor<f32>
    %692 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%688 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %693 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%498, %692 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %694 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%580, %693 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %695 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%691 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %696 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%583, %695 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %697 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%696 : tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %698 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<128x32xf32>
    %699 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%697, %698 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %700 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%694, %699 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %701 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %700 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %702 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%688 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %703 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%503, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %704 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %703 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %705 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%691 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %706 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%589, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %707 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%706 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %708 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    %709 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%707, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %710 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%704, %709 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %711 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1, %710 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %712 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%688 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %713 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%508, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %714 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %713 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %715 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%691 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %716 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%595, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %717 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%716 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %718 = linalg.generic {indexing_maps = [#map32, #map33], iterator_types = ["parallel"]} ins(%cst_0 : tensor<f32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32xf32>
    %719 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%717, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %720 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%714, %719 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %721 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg2, %720 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %722 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%511, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %723 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %722 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %724 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%599, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %725 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%724 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %726 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%725, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %727 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%723, %726 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %728 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg3, %727 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %729 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%514, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %730 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %729 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %731 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%603, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %732 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%731 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %733 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%732, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %734 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%730, %733 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %735 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg4, %734 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %736 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%517, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %737 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %736 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %738 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%607, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %739 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%738 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %740 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%739, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %741 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%737, %740 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %742 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg5, %741 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %743 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%520, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %744 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %743 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %745 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%611, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %746 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%745 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %747 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%746, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %748 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%744, %747 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %749 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg6, %748 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %750 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%523, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %751 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %750 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %752 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%615, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %753 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%752 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %754 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%753, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %755 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%751, %754 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %756 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg7, %755 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %757 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%688 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %758 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%528, %757 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %759 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%618, %758 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %760 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%691 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %761 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%621, %760 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %762 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%761 : tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %763 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x128xf32>
    %764 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%762, %763 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %765 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%759, %764 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %766 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg8, %765 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %767 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%531, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %768 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %767 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %769 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%625, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %770 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%769 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %771 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%770, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %772 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%768, %771 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %773 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg9, %772 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %774 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%534, %692 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %775 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%580, %774 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %776 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%629, %695 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %777 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%776 : tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %778 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%777, %698 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %779 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%775, %778 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %780 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg10, %779 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%279 : tensor<128x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<128x32xf32>
    %781 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%537, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %782 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %781 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %783 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%633, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %784 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%783 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %785 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%784, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %786 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%782, %785 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %787 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg11, %786 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %788 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%540, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %789 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %788 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %790 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%637, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %791 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%790 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %792 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%791, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %793 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%789, %792 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %794 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg12, %793 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %795 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%543, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %796 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %795 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %797 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%641, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %798 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%797 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %799 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%798, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %800 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%796, %799 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %801 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg13, %800 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %802 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%546, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %803 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %802 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %804 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%645, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %805 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%804 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %806 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%805, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %807 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%803, %806 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %808 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg14, %807 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %809 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%549, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %810 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %809 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %811 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%649, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %812 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%811 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %813 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%812, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %814 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%810, %813 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %815 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg15, %814 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %816 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%552, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %817 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %816 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %818 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%653, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %819 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%818 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %820 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%819, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %821 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%817, %820 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %822 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg16, %821 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %823 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%555, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %824 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %823 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %825 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%657, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %826 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%825 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %827 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%826, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %828 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%824, %827 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %829 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg17, %828 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %830 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%558, %757 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %831 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%618, %830 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %832 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%661, %760 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %833 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%832 : tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %834 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%833, %763 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %835 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%831, %834 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %836 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg18, %835 : tensor<32x128xf32>, tensor<32x128xf32>) outs(%276 : tensor<32x128xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x128xf32>
    %837 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%561, %702 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %838 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%586, %837 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %839 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%665, %705 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %840 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%839 : tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %841 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%840, %708 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %842 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%838, %841 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %843 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg19, %842 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%321 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32x32xf32>
    %844 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%564, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %845 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %844 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %846 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%669, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %847 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%846 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %848 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%847, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %849 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%845, %848 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %850 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg20, %849 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %851 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%567, %712 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %852 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%592, %851 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %853 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%673, %715 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %854 = linalg.generic {indexing_maps = [#map33, #map33], iterator_types = ["parallel"]} ins(%853 : tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %855 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%854, %718 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %856 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%852, %855 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %857 = linalg.generic {indexing_maps = [#map33, #map33, #map33], iterator_types = ["parallel"]} ins(%arg21, %856 : tensor<32xf32>, tensor<32xf32>) outs(%251 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<32xf32>
    %858 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%688 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %859 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%572, %858 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %860 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%676, %859 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %861 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%691 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %862 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%679, %861 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %863 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%862 : tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %864 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x32xf32>
    %865 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%863, %864 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %866 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%860, %865 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %867 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg22, %866 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%486 : tensor<8x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<8x32xf32>
    %868 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%688 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %869 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%577, %868 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %870 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%682, %869 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %871 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%691 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %872 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%685, %871 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.mulf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %873 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%872 : tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %878 = math.sqrt %in : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %874 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<64x32xf32>
    %875 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%873, %874 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.addf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %876 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%870, %875 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.divf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    %877 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg23, %876 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%245 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_65: f32, %out: f32):
      %878 = arith.subf %in, %in_65 : f32
      linalg.yield %878 : f32
    } -> tensor<64x32xf32>
    return %701, %711, %721, %728, %735, %742, %749, %756, %766, %773, %780, %787, %794, %801, %808, %815, %822, %829, %836, %843, %850, %857, %867, %877, %498, %503, %508, %511, %514, %517, %520, %523, %528, %531, %534, %537, %540, %543, %546, %549, %552, %555, %558, %561, %564, %567, %572, %577, %583, %589, %595, %599, %603, %607, %611, %615, %621, %625, %629, %633, %637, %641, %645, %649, %653, %657, %661, %665, %669, %673, %679, %685, %493, %239 : tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<64x32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<64x32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x128xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<8x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<8x8xi1>) -> tensor<8x8xi1> {
    %cst = arith.constant dense<false> : tensor<i1>
    %cst_0 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x8xi32>
    %1 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<8x8xi32>) {
    ^bb0(%out: i32):
      %9 = linalg.index 0 : index
      %10 = arith.index_cast %9 : index to i32
      linalg.yield %10 : i32
    } -> tensor<8x8xi32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<i32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8xi32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%0 : tensor<8x8xi32>) {
    ^bb0(%in: i32, %in_1: i32, %out: i32):
      %9 = arith.addi %in, %in_1 : i32
      linalg.yield %9 : i32
    } -> tensor<8x8xi32>
    %4 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<8x8xi32>) {
    ^bb0(%out: i32):
      %9 = linalg.index 1 : index
      %10 = arith.index_cast %9 : index to i32
      linalg.yield %10 : i32
    } -> tensor<8x8xi32>
    %5 = tensor.empty() : tensor<8x8xi1>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : tensor<8x8xi32>, tensor<8x8xi32>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i32, %in_1: i32, %out: i1):
      %9 = arith.cmpi sge, %in, %in_1 : i32
      linalg.yield %9 : i1
    } -> tensor<8x8xi1>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<i1>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x8xi1>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %arg0, %7 : tensor<8x8xi1>, tensor<8x8xi1>, tensor<8x8xi1>) outs(%5 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_1: i1, %in_2: i1, %out: i1):
      %9 = arith.select %in, %in_1, %in_2 : i1
      linalg.yield %9 : i1
    } -> tensor<8x8xi1>
    return %8 : tensor<8x8xi1>
  }
  func.func private @_where(%arg0: tensor<8x8xi1>, %arg1: tensor<8x4x8x8xf32>, %arg2: tensor<f32>) -> (tensor<8x4x8x8xf32>, tensor<8x4x8x8xi1>) {
    %0 = tensor.empty() : tensor<8x4x8x8xi1>
    %1 = linalg.generic {indexing_maps = [#map26, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<8x8xi1>) outs(%0 : tensor<8x4x8x8xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<8x4x8x8xi1>
    %2 = tensor.empty() : tensor<8x4x8x8xf32>
    %3 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<f32>) outs(%2 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map14, #map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %arg1, %3 : tensor<8x4x8x8xi1>, tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%2 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %5 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %5 : f32
    } -> tensor<8x4x8x8xf32>
    return %4, %1 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xi1>
  }
  func.func private @log_softmax(%arg0: tensor<8x8x64xf32>) -> (tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x1xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<8x8xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<8x8x64xf32>) outs(%1 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.maximumf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%0 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.maximumf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x8xf32>
    %5 = tensor.empty() : tensor<8x8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<8x8xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %7 = tensor.empty() : tensor<8x8x64xf32>
    %8 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x64xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %8 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%7 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.subf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x8x64xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<8x8x64xf32>) outs(%7 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.exp %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x8x64xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<8x8x64xf32>) outs(%11 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = arith.addf %out, %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x8xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<8x8xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %17 = math.log %in : f32
      linalg.yield %17 : f32
    } -> tensor<8x8x1xf32>
    %15 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x64xf32>
    %16 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %15 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%7 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %17 = arith.subf %in, %in_2 : f32
      linalg.yield %17 : f32
    } -> tensor<8x8x64xf32>
    return %16, %10, %13 : tensor<8x8x64xf32>, tensor<8x8x64xf32>, tensor<8x8x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x8x64xf32>, %arg1: tensor<8x8x1xi32>) -> (tensor<8x8x1xf32>, tensor<8x8x1x1xi32>) {
    %cst = arith.constant dense<0x7FC00000> : tensor<f32>
    %c63 = arith.constant 63 : index
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %cst_0 = arith.constant dense<63> : tensor<1xi32>
    %cst_1 = arith.constant dense<64> : tensor<i32>
    %cst_2 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<8x8x1xi32>
    %1 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<i32>) outs(%0 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1xi32>
    %2 = tensor.empty() : tensor<8x8x1xi1>
    %3 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %1 : tensor<8x8x1xi32>, tensor<8x8x1xi32>) outs(%2 : tensor<8x8x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi slt, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x8x1xi1>
    %4 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<i32>) outs(%0 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1xi32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %4 : tensor<8x8x1xi32>, tensor<8x8x1xi32>) outs(%0 : tensor<8x8x1xi32>) {
    ^bb0(%in: i32, %in_3: i32, %out: i32):
      %22 = arith.addi %in, %in_3 : i32
      linalg.yield %22 : i32
    } -> tensor<8x8x1xi32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %5, %arg1 : tensor<8x8x1xi1>, tensor<8x8x1xi32>, tensor<8x8x1xi32>) outs(%0 : tensor<8x8x1xi32>) {
    ^bb0(%in: i1, %in_3: i32, %in_4: i32, %out: i32):
      %22 = arith.select %in, %in_3, %in_4 : i32
      linalg.yield %22 : i32
    } -> tensor<8x8x1xi32>
    %expanded = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [8, 8, 1, 1] : tensor<8x8x1xi32> into tensor<8x8x1x1xi32>
    %7 = tensor.empty() : tensor<8x8x1x1xi32>
    %8 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<i32>) outs(%7 : tensor<8x8x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1x1xi32>
    %9 = tensor.empty() : tensor<8x8x1x1xi1>
    %10 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %8 : tensor<8x8x1x1xi32>, tensor<8x8x1x1xi32>) outs(%9 : tensor<8x8x1x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi sge, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x8x1x1xi1>
    %11 = tensor.empty() : tensor<1x1x1x1xi32>
    %12 = linalg.generic {indexing_maps = [#map34, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<1xi32>) outs(%11 : tensor<1x1x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x1x1x1xi32>
    %13 = linalg.generic {indexing_maps = [#map35, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<1x1x1x1xi32>) outs(%7 : tensor<8x8x1x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<8x8x1x1xi32>
    %14 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %13 : tensor<8x8x1x1xi32>, tensor<8x8x1x1xi32>) outs(%9 : tensor<8x8x1x1xi1>) {
    ^bb0(%in: i32, %in_3: i32, %out: i1):
      %22 = arith.cmpi sle, %in, %in_3 : i32
      linalg.yield %22 : i1
    } -> tensor<8x8x1x1xi1>
    %15 = linalg.generic {indexing_maps = [#map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %14 : tensor<8x8x1x1xi1>, tensor<8x8x1x1xi1>) outs(%9 : tensor<8x8x1x1xi1>) {
    ^bb0(%in: i1, %in_3: i1, %out: i1):
      %22 = arith.andi %in, %in_3 : i1
      linalg.yield %22 : i1
    } -> tensor<8x8x1x1xi1>
    %16 = linalg.fill ins(%true : i1) outs(%2 : tensor<8x8x1xi1>) -> tensor<8x8x1xi1>
    %17 = linalg.generic {indexing_maps = [#map14, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<8x8x1x1xi1>) outs(%16 : tensor<8x8x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %22 = arith.andi %out, %in : i1
      linalg.yield %22 : i1
    } -> tensor<8x8x1xi1>
    %18 = tensor.empty() : tensor<8x8x1xf32>
    %19 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%out: f32):
      %22 = linalg.index 0 : index
      %23 = linalg.index 1 : index
      %extracted = tensor.extract %expanded[%22, %23, %c0, %c0] : tensor<8x8x1x1xi32>
      %24 = arith.index_cast %extracted : i32 to index
      %25 = arith.maxsi %24, %c0 : index
      %26 = arith.minsi %25, %c63 : index
      %extracted_3 = tensor.extract %arg0[%22, %23, %26] : tensor<8x8x64xf32>
      linalg.yield %extracted_3 : f32
    } -> tensor<8x8x1xf32>
    %20 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17, %19, %20 : tensor<8x8x1xi1>, tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%18 : tensor<8x8x1xf32>) {
    ^bb0(%in: i1, %in_3: f32, %in_4: f32, %out: f32):
      %22 = arith.select %in, %in_3, %in_4 : f32
      linalg.yield %22 : f32
    } -> tensor<8x8x1xf32>
    return %21, %expanded : tensor<8x8x1xf32>, tensor<8x8x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<8x8x1x1xi32>, %arg1: tensor<8x8x1xf32>) -> tensor<8x8x64xf32> {
    %cst = arith.constant -0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x64xf32>
    %collapsed = tensor.collapse_shape %arg0 [[0], [1], [2, 3]] : tensor<8x8x1x1xi32> into tensor<8x8x1xi32>
    %2 = linalg.generic {indexing_maps = [#map10, #map10, #map12], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %arg1 : tensor<8x8x1xi32>, tensor<8x8x1xf32>) outs(%1 : tensor<8x8x64xf32>) {
    ^bb0(%in: i32, %in_1: f32, %out: f32):
      %3 = linalg.index 2 : index
      %4 = arith.index_cast %in : i32 to index
      %5 = arith.cmpi eq, %3, %4 : index
      %6 = arith.select %5, %in_1, %cst : f32
      %7 = arith.addf %out, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<8x8x64xf32>
    return %2 : tensor<8x8x64xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<8x8x64xf32>, %arg1: tensor<8x8x1xf32>, %arg2: tensor<8x8x64xf32>) -> tensor<8x8x64xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x8x64xf32>
    %1 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.negf %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x8x64xf32>
    %2 = tensor.empty() : tensor<8x8xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<8x8x64xf32>) outs(%3 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.addf %out, %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x8xf32>
    %expanded = tensor.expand_shape %4 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xf32> into tensor<8x8x1xf32>
    %5 = tensor.empty() : tensor<8x8x1xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded, %arg1 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%5 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.divf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x8x1xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<8x8x1xf32>) outs(%3 : tensor<8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %11 = arith.addf %out, %in : f32
      linalg.yield %11 : f32
    } -> tensor<8x8xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<8x8xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x64xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %arg0 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.mulf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x8x64xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2, %9 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%0 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.addf %in, %in_0 : f32
      linalg.yield %11 : f32
    } -> tensor<8x8x64xf32>
    return %10 : tensor<8x8x64xf32>
  }
  func.func private @_where_2(%arg0: tensor<8x4x8x8xi1>, %arg1: tensor<8x4x8x8xf32>) -> tensor<8x4x8x8xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x4x8x8xf32>
    %1 = linalg.generic {indexing_maps = [#map19, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x8x8xf32>
    %2 = linalg.generic {indexing_maps = [#map14, #map14, #map14, #map14], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %1 : tensor<8x4x8x8xi1>, tensor<8x4x8x8xf32>, tensor<8x4x8x8xf32>) outs(%0 : tensor<8x4x8x8xf32>) {
    ^bb0(%in: i1, %in_0: f32, %in_1: f32, %out: f32):
      %3 = arith.select %in, %in_0, %in_1 : f32
      linalg.yield %3 : f32
    } -> tensor<8x4x8x8xf32>
    return %2 : tensor<8x4x8x8xf32>
  }
}

