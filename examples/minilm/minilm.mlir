// The sentence encoder all-MiniLM-L6-v2. Written by trace.py.
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> ()>
#map11 = affine_map<(d0, d1) -> (d1, d0)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map19 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map21 = affine_map<(d0, d1, d2) -> ()>
#map22 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map23 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map24 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map25 = affine_map<(d0, d1) -> (d0)>
#map26 = affine_map<(d0, d1) -> (d0, 0)>
module @minilm {
  spmd.mesh @pod = <["data"=2, "model"=2]>
  func.func @encode(
      %arg0: tensor<12x64xi32> {spmd.name = "input_ids", spmd.range = [0, 30522], spmd.sharding = #spmd.sharding<@pod, [{"data", ?}, {?}]>} loc("input_ids"),
      %arg1: tensor<12x64xi32> {spmd.name = "attention_mask", spmd.range = [0, 2], spmd.sharding = #spmd.sharding<@pod, [{"data", ?}, {?}]>} loc("attention_mask"),
      %arg2: tensor<384xf32> {spmd.weight = "embeddings.LayerNorm.bias"} loc("embeddings.LayerNorm.bias"),
      %arg3: tensor<384xf32> {spmd.weight = "embeddings.LayerNorm.weight"} loc("embeddings.LayerNorm.weight"),
      %arg4: tensor<512x384xf32> {spmd.weight = "embeddings.position_embeddings.weight"} loc("embeddings.position_embeddings.weight"),
      %arg5: tensor<2x384xf32> {spmd.weight = "embeddings.token_type_embeddings.weight"} loc("embeddings.token_type_embeddings.weight"),
      %arg6: tensor<30522x384xf32> {spmd.weight = "embeddings.word_embeddings.weight"} loc("embeddings.word_embeddings.weight"),
      %arg7: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.output.LayerNorm.bias"} loc("encoder.layer.0.attention.output.LayerNorm.bias"),
      %arg8: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.output.LayerNorm.weight"} loc("encoder.layer.0.attention.output.LayerNorm.weight"),
      %arg9: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.output.dense.bias"} loc("encoder.layer.0.attention.output.dense.bias"),
      %arg10: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.0.attention.output.dense.weight"} loc("encoder.layer.0.attention.output.dense.weight"),
      %arg11: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.self.key.bias"} loc("encoder.layer.0.attention.self.key.bias"),
      %arg12: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.0.attention.self.key.weight"} loc("encoder.layer.0.attention.self.key.weight"),
      %arg13: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.self.query.bias"} loc("encoder.layer.0.attention.self.query.bias"),
      %arg14: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.0.attention.self.query.weight"} loc("encoder.layer.0.attention.self.query.weight"),
      %arg15: tensor<384xf32> {spmd.weight = "encoder.layer.0.attention.self.value.bias"} loc("encoder.layer.0.attention.self.value.bias"),
      %arg16: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.0.attention.self.value.weight"} loc("encoder.layer.0.attention.self.value.weight"),
      %arg17: tensor<1536xf32> {spmd.weight = "encoder.layer.0.intermediate.dense.bias"} loc("encoder.layer.0.intermediate.dense.bias"),
      %arg18: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.0.intermediate.dense.weight"} loc("encoder.layer.0.intermediate.dense.weight"),
      %arg19: tensor<384xf32> {spmd.weight = "encoder.layer.0.output.LayerNorm.bias"} loc("encoder.layer.0.output.LayerNorm.bias"),
      %arg20: tensor<384xf32> {spmd.weight = "encoder.layer.0.output.LayerNorm.weight"} loc("encoder.layer.0.output.LayerNorm.weight"),
      %arg21: tensor<384xf32> {spmd.weight = "encoder.layer.0.output.dense.bias"} loc("encoder.layer.0.output.dense.bias"),
      %arg22: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.0.output.dense.weight"} loc("encoder.layer.0.output.dense.weight"),
      %arg23: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.output.LayerNorm.bias"} loc("encoder.layer.1.attention.output.LayerNorm.bias"),
      %arg24: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.output.LayerNorm.weight"} loc("encoder.layer.1.attention.output.LayerNorm.weight"),
      %arg25: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.output.dense.bias"} loc("encoder.layer.1.attention.output.dense.bias"),
      %arg26: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.1.attention.output.dense.weight"} loc("encoder.layer.1.attention.output.dense.weight"),
      %arg27: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.self.key.bias"} loc("encoder.layer.1.attention.self.key.bias"),
      %arg28: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.1.attention.self.key.weight"} loc("encoder.layer.1.attention.self.key.weight"),
      %arg29: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.self.query.bias"} loc("encoder.layer.1.attention.self.query.bias"),
      %arg30: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.1.attention.self.query.weight"} loc("encoder.layer.1.attention.self.query.weight"),
      %arg31: tensor<384xf32> {spmd.weight = "encoder.layer.1.attention.self.value.bias"} loc("encoder.layer.1.attention.self.value.bias"),
      %arg32: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.1.attention.self.value.weight"} loc("encoder.layer.1.attention.self.value.weight"),
      %arg33: tensor<1536xf32> {spmd.weight = "encoder.layer.1.intermediate.dense.bias"} loc("encoder.layer.1.intermediate.dense.bias"),
      %arg34: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.1.intermediate.dense.weight"} loc("encoder.layer.1.intermediate.dense.weight"),
      %arg35: tensor<384xf32> {spmd.weight = "encoder.layer.1.output.LayerNorm.bias"} loc("encoder.layer.1.output.LayerNorm.bias"),
      %arg36: tensor<384xf32> {spmd.weight = "encoder.layer.1.output.LayerNorm.weight"} loc("encoder.layer.1.output.LayerNorm.weight"),
      %arg37: tensor<384xf32> {spmd.weight = "encoder.layer.1.output.dense.bias"} loc("encoder.layer.1.output.dense.bias"),
      %arg38: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.1.output.dense.weight"} loc("encoder.layer.1.output.dense.weight"),
      %arg39: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.output.LayerNorm.bias"} loc("encoder.layer.2.attention.output.LayerNorm.bias"),
      %arg40: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.output.LayerNorm.weight"} loc("encoder.layer.2.attention.output.LayerNorm.weight"),
      %arg41: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.output.dense.bias"} loc("encoder.layer.2.attention.output.dense.bias"),
      %arg42: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.2.attention.output.dense.weight"} loc("encoder.layer.2.attention.output.dense.weight"),
      %arg43: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.self.key.bias"} loc("encoder.layer.2.attention.self.key.bias"),
      %arg44: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.2.attention.self.key.weight"} loc("encoder.layer.2.attention.self.key.weight"),
      %arg45: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.self.query.bias"} loc("encoder.layer.2.attention.self.query.bias"),
      %arg46: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.2.attention.self.query.weight"} loc("encoder.layer.2.attention.self.query.weight"),
      %arg47: tensor<384xf32> {spmd.weight = "encoder.layer.2.attention.self.value.bias"} loc("encoder.layer.2.attention.self.value.bias"),
      %arg48: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.2.attention.self.value.weight"} loc("encoder.layer.2.attention.self.value.weight"),
      %arg49: tensor<1536xf32> {spmd.weight = "encoder.layer.2.intermediate.dense.bias"} loc("encoder.layer.2.intermediate.dense.bias"),
      %arg50: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.2.intermediate.dense.weight"} loc("encoder.layer.2.intermediate.dense.weight"),
      %arg51: tensor<384xf32> {spmd.weight = "encoder.layer.2.output.LayerNorm.bias"} loc("encoder.layer.2.output.LayerNorm.bias"),
      %arg52: tensor<384xf32> {spmd.weight = "encoder.layer.2.output.LayerNorm.weight"} loc("encoder.layer.2.output.LayerNorm.weight"),
      %arg53: tensor<384xf32> {spmd.weight = "encoder.layer.2.output.dense.bias"} loc("encoder.layer.2.output.dense.bias"),
      %arg54: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.2.output.dense.weight"} loc("encoder.layer.2.output.dense.weight"),
      %arg55: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.output.LayerNorm.bias"} loc("encoder.layer.3.attention.output.LayerNorm.bias"),
      %arg56: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.output.LayerNorm.weight"} loc("encoder.layer.3.attention.output.LayerNorm.weight"),
      %arg57: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.output.dense.bias"} loc("encoder.layer.3.attention.output.dense.bias"),
      %arg58: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.3.attention.output.dense.weight"} loc("encoder.layer.3.attention.output.dense.weight"),
      %arg59: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.self.key.bias"} loc("encoder.layer.3.attention.self.key.bias"),
      %arg60: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.3.attention.self.key.weight"} loc("encoder.layer.3.attention.self.key.weight"),
      %arg61: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.self.query.bias"} loc("encoder.layer.3.attention.self.query.bias"),
      %arg62: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.3.attention.self.query.weight"} loc("encoder.layer.3.attention.self.query.weight"),
      %arg63: tensor<384xf32> {spmd.weight = "encoder.layer.3.attention.self.value.bias"} loc("encoder.layer.3.attention.self.value.bias"),
      %arg64: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.3.attention.self.value.weight"} loc("encoder.layer.3.attention.self.value.weight"),
      %arg65: tensor<1536xf32> {spmd.weight = "encoder.layer.3.intermediate.dense.bias"} loc("encoder.layer.3.intermediate.dense.bias"),
      %arg66: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.3.intermediate.dense.weight"} loc("encoder.layer.3.intermediate.dense.weight"),
      %arg67: tensor<384xf32> {spmd.weight = "encoder.layer.3.output.LayerNorm.bias"} loc("encoder.layer.3.output.LayerNorm.bias"),
      %arg68: tensor<384xf32> {spmd.weight = "encoder.layer.3.output.LayerNorm.weight"} loc("encoder.layer.3.output.LayerNorm.weight"),
      %arg69: tensor<384xf32> {spmd.weight = "encoder.layer.3.output.dense.bias"} loc("encoder.layer.3.output.dense.bias"),
      %arg70: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.3.output.dense.weight"} loc("encoder.layer.3.output.dense.weight"),
      %arg71: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.output.LayerNorm.bias"} loc("encoder.layer.4.attention.output.LayerNorm.bias"),
      %arg72: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.output.LayerNorm.weight"} loc("encoder.layer.4.attention.output.LayerNorm.weight"),
      %arg73: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.output.dense.bias"} loc("encoder.layer.4.attention.output.dense.bias"),
      %arg74: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.4.attention.output.dense.weight"} loc("encoder.layer.4.attention.output.dense.weight"),
      %arg75: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.self.key.bias"} loc("encoder.layer.4.attention.self.key.bias"),
      %arg76: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.4.attention.self.key.weight"} loc("encoder.layer.4.attention.self.key.weight"),
      %arg77: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.self.query.bias"} loc("encoder.layer.4.attention.self.query.bias"),
      %arg78: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.4.attention.self.query.weight"} loc("encoder.layer.4.attention.self.query.weight"),
      %arg79: tensor<384xf32> {spmd.weight = "encoder.layer.4.attention.self.value.bias"} loc("encoder.layer.4.attention.self.value.bias"),
      %arg80: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.4.attention.self.value.weight"} loc("encoder.layer.4.attention.self.value.weight"),
      %arg81: tensor<1536xf32> {spmd.weight = "encoder.layer.4.intermediate.dense.bias"} loc("encoder.layer.4.intermediate.dense.bias"),
      %arg82: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.4.intermediate.dense.weight"} loc("encoder.layer.4.intermediate.dense.weight"),
      %arg83: tensor<384xf32> {spmd.weight = "encoder.layer.4.output.LayerNorm.bias"} loc("encoder.layer.4.output.LayerNorm.bias"),
      %arg84: tensor<384xf32> {spmd.weight = "encoder.layer.4.output.LayerNorm.weight"} loc("encoder.layer.4.output.LayerNorm.weight"),
      %arg85: tensor<384xf32> {spmd.weight = "encoder.layer.4.output.dense.bias"} loc("encoder.layer.4.output.dense.bias"),
      %arg86: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.4.output.dense.weight"} loc("encoder.layer.4.output.dense.weight"),
      %arg87: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.output.LayerNorm.bias"} loc("encoder.layer.5.attention.output.LayerNorm.bias"),
      %arg88: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.output.LayerNorm.weight"} loc("encoder.layer.5.attention.output.LayerNorm.weight"),
      %arg89: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.output.dense.bias"} loc("encoder.layer.5.attention.output.dense.bias"),
      %arg90: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.5.attention.output.dense.weight"} loc("encoder.layer.5.attention.output.dense.weight"),
      %arg91: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.self.key.bias"} loc("encoder.layer.5.attention.self.key.bias"),
      %arg92: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.5.attention.self.key.weight"} loc("encoder.layer.5.attention.self.key.weight"),
      %arg93: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.self.query.bias"} loc("encoder.layer.5.attention.self.query.bias"),
      %arg94: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.5.attention.self.query.weight"} loc("encoder.layer.5.attention.self.query.weight"),
      %arg95: tensor<384xf32> {spmd.weight = "encoder.layer.5.attention.self.value.bias"} loc("encoder.layer.5.attention.self.value.bias"),
      %arg96: tensor<384x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.5.attention.self.value.weight"} loc("encoder.layer.5.attention.self.value.weight"),
      %arg97: tensor<1536xf32> {spmd.weight = "encoder.layer.5.intermediate.dense.bias"} loc("encoder.layer.5.intermediate.dense.bias"),
      %arg98: tensor<1536x384xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {?}]>, spmd.weight = "encoder.layer.5.intermediate.dense.weight"} loc("encoder.layer.5.intermediate.dense.weight"),
      %arg99: tensor<384xf32> {spmd.weight = "encoder.layer.5.output.LayerNorm.bias"} loc("encoder.layer.5.output.LayerNorm.bias"),
      %arg100: tensor<384xf32> {spmd.weight = "encoder.layer.5.output.LayerNorm.weight"} loc("encoder.layer.5.output.LayerNorm.weight"),
      %arg101: tensor<384xf32> {spmd.weight = "encoder.layer.5.output.dense.bias"} loc("encoder.layer.5.output.dense.bias"),
      %arg102: tensor<384x1536xf32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.weight = "encoder.layer.5.output.dense.weight"} loc("encoder.layer.5.output.dense.weight")) -> (tensor<12x384xf32> {spmd.name = "embedding"}) {
    %cst = arith.constant dense<9.99999996E-13> : tensor<f32>
    %cst_0 = arith.constant dense<9.99999971E-10> : tensor<f32>
    %cst_1 = arith.constant dense<0.707106769> : tensor<f32>
    %cst_2 = arith.constant dense<5.000000e-01> : tensor<f32>
    %cst_3 = arith.constant 0xFF800000 : f32
    %cst_4 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = arith.constant dense<5.65685415> : tensor<f32>
    %cst_6 = arith.constant 0.000000e+00 : f32
    %cst_7 = arith.constant dense<-3.40282347E+38> : tensor<f32>
    %cst_8 = arith.constant dense<1.000000e+00> : tensor<f32>
    %c30521 = arith.constant 30521 : index
    %c0 = arith.constant 0 : index
    %cst_9 = arith.constant dense<30522> : tensor<i32>
    %cst_10 = arith.constant dense<0> : tensor<i32>
    %0 = tensor.empty() : tensor<12x64xi32> loc(#loc0)
    %1 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_10 : tensor<i32>) outs(%0 : tensor<12x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<12x64xi32> loc(#loc0)
    %2 = tensor.empty() : tensor<12x64xi1> loc(#loc0)
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %1 : tensor<12x64xi32>, tensor<12x64xi32>) outs(%2 : tensor<12x64xi1>) {
    ^bb0(%in: i32, %in_35: i32, %out: i1):
      %422 = arith.cmpi slt, %in, %in_35 : i32
      linalg.yield %422 : i1
    } -> tensor<12x64xi1> loc(#loc0)
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_9 : tensor<i32>) outs(%0 : tensor<12x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<12x64xi32> loc(#loc1)
    %5 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %4 : tensor<12x64xi32>, tensor<12x64xi32>) outs(%0 : tensor<12x64xi32>) {
    ^bb0(%in: i32, %in_35: i32, %out: i32):
      %422 = arith.addi %in, %in_35 : i32
      linalg.yield %422 : i32
    } -> tensor<12x64xi32> loc(#loc1)
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%3, %5, %arg0 : tensor<12x64xi1>, tensor<12x64xi32>, tensor<12x64xi32>) outs(%0 : tensor<12x64xi32>) {
    ^bb0(%in: i1, %in_35: i32, %in_36: i32, %out: i32):
      %422 = arith.select %in, %in_35, %in_36 : i32
      linalg.yield %422 : i32
    } -> tensor<12x64xi32> loc(#loc2)
    %7 = tensor.empty() : tensor<12x64x1xi32> loc(#loc3)
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<12x64xi32>) outs(%7 : tensor<12x64x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<12x64x1xi32> loc(#loc3)
    %9 = tensor.empty() : tensor<12x64x384xf32> loc(#loc4)
    %10 = linalg.generic {indexing_maps = [#map3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%out: f32):
      %422 = linalg.index 0 : index
      %423 = linalg.index 1 : index
      %424 = linalg.index 2 : index
      %extracted = tensor.extract %8[%422, %423, %c0] : tensor<12x64x1xi32>
      %425 = arith.index_cast %extracted : i32 to index
      %426 = arith.maxsi %425, %c0 : index
      %427 = arith.minsi %426, %c30521 : index
      %extracted_35 = tensor.extract %arg6[%427, %424] : tensor<30522x384xf32>
      linalg.yield %extracted_35 : f32
    } -> tensor<12x64x384xf32> loc(#loc4)
    %extracted_slice = tensor.extract_slice %arg4[0, 0] [64, 384] [1, 1] : tensor<512x384xf32> to tensor<64x384xf32> loc(#loc5)
    %11 = tensor.empty() : tensor<1x64x384xf32> loc(#loc6)
    %12 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%extracted_slice : tensor<64x384xf32>) outs(%11 : tensor<1x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x64x384xf32> loc(#loc6)
    %13 = linalg.generic {indexing_maps = [#map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<1x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc7)
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %13 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc7)
    %extracted_slice_11 = tensor.extract_slice %arg5[0, 0] [1, 384] [1, 1] : tensor<2x384xf32> to tensor<1x384xf32> loc(#loc8)
    %collapsed = tensor.collapse_shape %extracted_slice_11 [[0, 1]] : tensor<1x384xf32> into tensor<384xf32> loc(#loc9)
    %15 = tensor.empty() : tensor<1x1x384xf32> loc(#loc10)
    %16 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc10)
    %17 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc11)
    %18 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %17 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc11)
    %19 = call @layer_norm(%18, %arg3, %arg2) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc12)
    %20 = tensor.empty() : tensor<12x64xf32> loc(#loc13)
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<12x64xi32>) outs(%20 : tensor<12x64xf32>) {
    ^bb0(%in: i32, %out: f32):
      %422 = arith.sitofp %in : i32 to f32
      linalg.yield %422 : f32
    } -> tensor<12x64xf32> loc(#loc13)
    %22 = tensor.empty() : tensor<12x1x1x64xf32> loc(#loc14)
    %23 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<12x64xf32>) outs(%22 : tensor<12x1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1x1x64xf32> loc(#loc14)
    %24 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_8 : tensor<f32>) outs(%22 : tensor<12x1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1x1x64xf32> loc(#loc15)
    %25 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %23 : tensor<12x1x1x64xf32>, tensor<12x1x1x64xf32>) outs(%22 : tensor<12x1x1x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x1x1x64xf32> loc(#loc15)
    %26 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%22 : tensor<12x1x1x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1x1x64xf32> loc(#loc16)
    %27 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %26 : tensor<12x1x1x64xf32>, tensor<12x1x1x64xf32>) outs(%22 : tensor<12x1x1x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x1x1x64xf32> loc(#loc16)
    %28 = tensor.empty() : tensor<384x384xf32> loc(#loc17)
    %29 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg14 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc17)
    %30 = linalg.fill ins(%cst_6 : f32) outs(%9 : tensor<12x64x384xf32>) -> tensor<12x64x384xf32> loc(#loc18)
    %31 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19, %29 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc18)
    %32 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg13 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc19)
    %33 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc20)
    %34 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%31, %33 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc20)
    %expanded = tensor.expand_shape %34 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc21)
    %35 = tensor.empty() : tensor<12x12x64x32xf32> loc(#loc22)
    %36 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc22)
    %37 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc23)
    %38 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19, %37 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc24)
    %39 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg11 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc25)
    %40 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc26)
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38, %40 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc26)
    %expanded_12 = tensor.expand_shape %41 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc21)
    %42 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_12 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc22)
    %43 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg16 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc27)
    %44 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19, %43 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc28)
    %45 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg15 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc29)
    %46 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc30)
    %47 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44, %46 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc30)
    %expanded_13 = tensor.expand_shape %47 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc21)
    %48 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc22)
    %49 = tensor.empty() : tensor<12x12x32x64xf32> loc(#loc31)
    %50 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc31)
    %51 = tensor.empty() : tensor<12x12x64x64xf32> loc(#loc32)
    %52 = linalg.fill ins(%cst_6 : f32) outs(%51 : tensor<12x12x64x64xf32>) -> tensor<12x12x64x64xf32> loc(#loc32)
    %53 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%36, %50 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc32)
    %54 = linalg.generic {indexing_maps = [#map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_5 : tensor<f32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc33)
    %55 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc33)
    %56 = linalg.generic {indexing_maps = [#map20, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%27 : tensor<12x1x1x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc34)
    %57 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc34)
    %58 = tensor.empty() : tensor<12x12x64xf32> loc(#loc35)
    %59 = linalg.fill ins(%cst_3 : f32) outs(%58 : tensor<12x12x64xf32>) -> tensor<12x12x64xf32> loc(#loc35)
    %60 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc35)
    %61 = linalg.generic {indexing_maps = [#map21, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_4 : tensor<f32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64xf32> loc(#loc36)
    %62 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %60 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc36)
    %63 = tensor.empty() : tensor<12x12x64x1xf32> loc(#loc37)
    %64 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%62 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc37)
    %65 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc38)
    %66 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%57, %65 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc38)
    %67 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc39)
    %68 = linalg.fill ins(%cst_6 : f32) outs(%58 : tensor<12x12x64xf32>) -> tensor<12x12x64xf32> loc(#loc40)
    %69 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%67 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc40)
    %70 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc37)
    %71 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc41)
    %72 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %71 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc41)
    %73 = linalg.fill ins(%cst_6 : f32) outs(%35 : tensor<12x12x64x32xf32>) -> tensor<12x12x64x32xf32> loc(#loc42)
    %74 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%72, %48 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc42)
    %75 = tensor.empty() : tensor<12x64x12x32xf32> loc(#loc43)
    %76 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%74 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc43)
    %collapsed_14 = tensor.collapse_shape %76 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc44)
    %77 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc45)
    %78 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_14, %77 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc46)
    %79 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg9 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc47)
    %80 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%79 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc48)
    %81 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%78, %80 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc48)
    %82 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %81 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc49)
    %83 = call @layer_norm(%82, %arg8, %arg7) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc50)
    %84 = tensor.empty() : tensor<384x1536xf32> loc(#loc51)
    %85 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg18 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc51)
    %86 = tensor.empty() : tensor<12x64x1536xf32> loc(#loc52)
    %87 = linalg.fill ins(%cst_6 : f32) outs(%86 : tensor<12x64x1536xf32>) -> tensor<12x64x1536xf32> loc(#loc52)
    %88 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%83, %85 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc52)
    %89 = tensor.empty() : tensor<1x1x1536xf32> loc(#loc53)
    %90 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg17 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc53)
    %91 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%90 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc54)
    %92 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %91 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc54)
    %93 = linalg.generic {indexing_maps = [#map21, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc55)
    %94 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %92 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc55)
    %95 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc56)
    %96 = linalg.generic {indexing_maps = [#map21, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc55)
    %97 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc55)
    %98 = math.erfc %97 : tensor<12x64x1536xf32> loc(#loc57)
    %99 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %98 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc55)
    %100 = tensor.empty() : tensor<1536x384xf32> loc(#loc58)
    %101 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg22 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc58)
    %102 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%99, %101 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc59)
    %103 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg21 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc60)
    %104 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc61)
    %105 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102, %104 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc61)
    %106 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83, %105 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc62)
    %107 = call @layer_norm(%106, %arg20, %arg19) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc63)
    %108 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg30 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc64)
    %109 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%107, %108 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc65)
    %110 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg29 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc66)
    %111 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc67)
    %112 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %111 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc67)
    %expanded_15 = tensor.expand_shape %112 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc68)
    %113 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc69)
    %114 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg28 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc70)
    %115 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%107, %114 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc71)
    %116 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg27 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc72)
    %117 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%116 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc73)
    %118 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%115, %117 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc73)
    %expanded_16 = tensor.expand_shape %118 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc68)
    %119 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_16 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc69)
    %120 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg32 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc74)
    %121 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%107, %120 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc75)
    %122 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg31 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc76)
    %123 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%122 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc77)
    %124 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%121, %123 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc77)
    %expanded_17 = tensor.expand_shape %124 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc68)
    %125 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc69)
    %126 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%119 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc78)
    %127 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%113, %126 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc79)
    %128 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%127, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc80)
    %129 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%128, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc81)
    %130 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%129 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc82)
    %131 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %130 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc83)
    %132 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%131 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc84)
    %133 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%132 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc85)
    %134 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%129, %133 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc85)
    %135 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%134 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc86)
    %136 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%135 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc87)
    %137 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%136 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc84)
    %138 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%137 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc88)
    %139 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%135, %138 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc88)
    %140 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%139, %125 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc89)
    %141 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%140 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc90)
    %collapsed_18 = tensor.collapse_shape %141 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc91)
    %142 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg26 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc92)
    %143 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_18, %142 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc93)
    %144 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg25 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc94)
    %145 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc95)
    %146 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143, %145 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc95)
    %147 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %146 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc96)
    %148 = call @layer_norm(%147, %arg24, %arg23) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc97)
    %149 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg34 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc98)
    %150 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%148, %149 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc99)
    %151 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg33 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc100)
    %152 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%151 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc101)
    %153 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %152 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc101)
    %154 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %153 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc102)
    %155 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%153 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc103)
    %156 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%155, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc102)
    %157 = math.erfc %156 : tensor<12x64x1536xf32> loc(#loc104)
    %158 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%154, %157 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc102)
    %159 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg38 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc105)
    %160 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%158, %159 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc106)
    %161 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg37 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc107)
    %162 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc108)
    %163 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160, %162 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc108)
    %164 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %163 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc109)
    %165 = call @layer_norm(%164, %arg36, %arg35) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc110)
    %166 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg46 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc111)
    %167 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%165, %166 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc112)
    %168 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg45 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc113)
    %169 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%168 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc114)
    %170 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%167, %169 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc114)
    %expanded_19 = tensor.expand_shape %170 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc115)
    %171 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc116)
    %172 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg44 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc117)
    %173 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%165, %172 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc118)
    %174 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg43 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc119)
    %175 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%174 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc120)
    %176 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%173, %175 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc120)
    %expanded_20 = tensor.expand_shape %176 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc115)
    %177 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_20 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc116)
    %178 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg48 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc121)
    %179 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%165, %178 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc122)
    %180 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg47 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc123)
    %181 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%180 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc124)
    %182 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%179, %181 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc124)
    %expanded_21 = tensor.expand_shape %182 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc115)
    %183 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_21 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc116)
    %184 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%177 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc125)
    %185 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%171, %184 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc126)
    %186 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%185, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc127)
    %187 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%186, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc128)
    %188 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%187 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc129)
    %189 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %188 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc130)
    %190 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%189 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc131)
    %191 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%190 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc132)
    %192 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%187, %191 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc132)
    %193 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%192 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc133)
    %194 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%193 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc134)
    %195 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%194 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc131)
    %196 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%195 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc135)
    %197 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%193, %196 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc135)
    %198 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%197, %183 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc136)
    %199 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%198 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc137)
    %collapsed_22 = tensor.collapse_shape %199 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc138)
    %200 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg42 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc139)
    %201 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_22, %200 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc140)
    %202 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg41 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc141)
    %203 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%202 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc142)
    %204 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%201, %203 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc142)
    %205 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%165, %204 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc143)
    %206 = call @layer_norm(%205, %arg40, %arg39) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc144)
    %207 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg50 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc145)
    %208 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%206, %207 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc146)
    %209 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg49 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc147)
    %210 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%209 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc148)
    %211 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%208, %210 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc148)
    %212 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %211 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc149)
    %213 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%211 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc150)
    %214 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%213, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc149)
    %215 = math.erfc %214 : tensor<12x64x1536xf32> loc(#loc151)
    %216 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%212, %215 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc149)
    %217 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg54 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc152)
    %218 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%216, %217 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc153)
    %219 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg53 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc154)
    %220 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%219 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc155)
    %221 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%218, %220 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc155)
    %222 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%206, %221 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc156)
    %223 = call @layer_norm(%222, %arg52, %arg51) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc157)
    %224 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg62 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc158)
    %225 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%223, %224 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc159)
    %226 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg61 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc160)
    %227 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc161)
    %228 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%225, %227 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc161)
    %expanded_23 = tensor.expand_shape %228 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc162)
    %229 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc163)
    %230 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg60 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc164)
    %231 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%223, %230 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc165)
    %232 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg59 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc166)
    %233 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%232 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc167)
    %234 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %233 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc167)
    %expanded_24 = tensor.expand_shape %234 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc162)
    %235 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc163)
    %236 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg64 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc168)
    %237 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%223, %236 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc169)
    %238 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg63 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc170)
    %239 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%238 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc171)
    %240 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%237, %239 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc171)
    %expanded_25 = tensor.expand_shape %240 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc162)
    %241 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_25 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc163)
    %242 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%235 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc172)
    %243 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%229, %242 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc173)
    %244 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%243, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc174)
    %245 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%244, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc175)
    %246 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%245 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc176)
    %247 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %246 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc177)
    %248 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%247 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc178)
    %249 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%248 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc179)
    %250 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%245, %249 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc179)
    %251 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%250 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc180)
    %252 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%251 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc181)
    %253 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%252 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc178)
    %254 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%253 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc182)
    %255 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%251, %254 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc182)
    %256 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%255, %241 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc183)
    %257 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%256 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc184)
    %collapsed_26 = tensor.collapse_shape %257 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc185)
    %258 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg58 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc186)
    %259 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_26, %258 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc187)
    %260 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg57 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc188)
    %261 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%260 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc189)
    %262 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%259, %261 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc189)
    %263 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%223, %262 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc190)
    %264 = call @layer_norm(%263, %arg56, %arg55) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc191)
    %265 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg66 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc192)
    %266 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%264, %265 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc193)
    %267 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg65 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc194)
    %268 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%267 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc195)
    %269 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%266, %268 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc195)
    %270 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %269 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc196)
    %271 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%269 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc197)
    %272 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%271, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc196)
    %273 = math.erfc %272 : tensor<12x64x1536xf32> loc(#loc198)
    %274 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%270, %273 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc196)
    %275 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg70 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc199)
    %276 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%274, %275 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc200)
    %277 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg69 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc201)
    %278 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%277 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc202)
    %279 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%276, %278 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc202)
    %280 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%264, %279 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc203)
    %281 = call @layer_norm(%280, %arg68, %arg67) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc204)
    %282 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg78 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc205)
    %283 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%281, %282 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc206)
    %284 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg77 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc207)
    %285 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%284 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc208)
    %286 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%283, %285 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc208)
    %expanded_27 = tensor.expand_shape %286 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc209)
    %287 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc210)
    %288 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg76 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc211)
    %289 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%281, %288 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc212)
    %290 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg75 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc213)
    %291 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%290 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc214)
    %292 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%289, %291 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc214)
    %expanded_28 = tensor.expand_shape %292 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc209)
    %293 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc210)
    %294 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg80 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc215)
    %295 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%281, %294 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc216)
    %296 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg79 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc217)
    %297 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%296 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc218)
    %298 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%295, %297 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc218)
    %expanded_29 = tensor.expand_shape %298 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc209)
    %299 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc210)
    %300 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%293 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc219)
    %301 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%287, %300 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc220)
    %302 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%301, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc221)
    %303 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%302, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc222)
    %304 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%303 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc223)
    %305 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %304 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc224)
    %306 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%305 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc225)
    %307 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%306 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc226)
    %308 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%303, %307 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc226)
    %309 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%308 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc227)
    %310 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%309 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc228)
    %311 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%310 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc225)
    %312 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%311 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc229)
    %313 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%309, %312 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc229)
    %314 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%313, %299 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc230)
    %315 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%314 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc231)
    %collapsed_30 = tensor.collapse_shape %315 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc232)
    %316 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg74 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc233)
    %317 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_30, %316 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc234)
    %318 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg73 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc235)
    %319 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%318 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc236)
    %320 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%317, %319 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc236)
    %321 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%281, %320 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc237)
    %322 = call @layer_norm(%321, %arg72, %arg71) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc238)
    %323 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg82 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc239)
    %324 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%322, %323 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc240)
    %325 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg81 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc241)
    %326 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%325 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc242)
    %327 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%324, %326 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc242)
    %328 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %327 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc243)
    %329 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%327 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc244)
    %330 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%329, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc243)
    %331 = math.erfc %330 : tensor<12x64x1536xf32> loc(#loc245)
    %332 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%328, %331 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc243)
    %333 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg86 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc246)
    %334 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%332, %333 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc247)
    %335 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg85 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc248)
    %336 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%335 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc249)
    %337 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%334, %336 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc249)
    %338 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%322, %337 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc250)
    %339 = call @layer_norm(%338, %arg84, %arg83) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc251)
    %340 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg94 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc252)
    %341 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%339, %340 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc253)
    %342 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg93 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc254)
    %343 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%342 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc255)
    %344 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%341, %343 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc255)
    %expanded_31 = tensor.expand_shape %344 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc256)
    %345 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_31 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc257)
    %346 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg92 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc258)
    %347 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%339, %346 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc259)
    %348 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg91 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc260)
    %349 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%348 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc261)
    %350 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%347, %349 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc261)
    %expanded_32 = tensor.expand_shape %350 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc256)
    %351 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc257)
    %352 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg96 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc262)
    %353 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%339, %352 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc263)
    %354 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg95 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc264)
    %355 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%354 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc265)
    %356 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%353, %355 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc265)
    %expanded_33 = tensor.expand_shape %356 [[0], [1], [2, 3]] output_shape [12, 64, 12, 32] : tensor<12x64x384xf32> into tensor<12x64x12x32xf32> loc(#loc256)
    %357 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_33 : tensor<12x64x12x32xf32>) outs(%35 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x32xf32> loc(#loc257)
    %358 = linalg.generic {indexing_maps = [#map16, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%351 : tensor<12x12x64x32xf32>) outs(%49 : tensor<12x12x32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x32x64xf32> loc(#loc266)
    %359 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%345, %358 : tensor<12x12x64x32xf32>, tensor<12x12x32x64xf32>) outs(%52 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc267)
    %360 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%359, %54 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc268)
    %361 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%360, %56 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc269)
    %362 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%361 : tensor<12x12x64x64xf32>) outs(%59 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.maximumf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc270)
    %363 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%61, %362 : tensor<12x12x64xf32>, tensor<12x12x64xf32>) outs(%58 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc271)
    %364 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%363 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc272)
    %365 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%364 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc273)
    %366 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%361, %365 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.subf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc273)
    %367 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%366 : tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.exp %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc274)
    %368 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%367 : tensor<12x12x64x64xf32>) outs(%68 : tensor<12x12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64xf32> loc(#loc275)
    %369 = linalg.generic {indexing_maps = [#map14, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%368 : tensor<12x12x64xf32>) outs(%63 : tensor<12x12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x1xf32> loc(#loc272)
    %370 = linalg.generic {indexing_maps = [#map22, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%369 : tensor<12x12x64x1xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x12x64x64xf32> loc(#loc276)
    %371 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%367, %370 : tensor<12x12x64x64xf32>, tensor<12x12x64x64xf32>) outs(%51 : tensor<12x12x64x64xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x12x64x64xf32> loc(#loc276)
    %372 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%371, %357 : tensor<12x12x64x64xf32>, tensor<12x12x64x32xf32>) outs(%73 : tensor<12x12x64x32xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x12x64x32xf32> loc(#loc277)
    %373 = linalg.generic {indexing_maps = [#map15, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%372 : tensor<12x12x64x32xf32>) outs(%75 : tensor<12x64x12x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x12x32xf32> loc(#loc278)
    %collapsed_34 = tensor.collapse_shape %373 [[0], [1], [2, 3]] : tensor<12x64x12x32xf32> into tensor<12x64x384xf32> loc(#loc279)
    %374 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg90 : tensor<384x384xf32>) outs(%28 : tensor<384x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x384xf32> loc(#loc280)
    %375 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_34, %374 : tensor<12x64x384xf32>, tensor<384x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc281)
    %376 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg89 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc282)
    %377 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%376 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc283)
    %378 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%375, %377 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc283)
    %379 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%339, %378 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc284)
    %380 = call @layer_norm(%379, %arg88, %arg87) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc285)
    %381 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg98 : tensor<1536x384xf32>) outs(%84 : tensor<384x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<384x1536xf32> loc(#loc286)
    %382 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%380, %381 : tensor<12x64x384xf32>, tensor<384x1536xf32>) outs(%87 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x1536xf32> loc(#loc287)
    %383 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg97 : tensor<1536xf32>) outs(%89 : tensor<1x1x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1536xf32> loc(#loc288)
    %384 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%383 : tensor<1x1x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1536xf32> loc(#loc289)
    %385 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%382, %384 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc289)
    %386 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %385 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc290)
    %387 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%385 : tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.negf %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc291)
    %388 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%387, %96 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc290)
    %389 = math.erfc %388 : tensor<12x64x1536xf32> loc(#loc292)
    %390 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%386, %389 : tensor<12x64x1536xf32>, tensor<12x64x1536xf32>) outs(%86 : tensor<12x64x1536xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x1536xf32> loc(#loc290)
    %391 = linalg.generic {indexing_maps = [#map11, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg102 : tensor<384x1536xf32>) outs(%100 : tensor<1536x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1536x384xf32> loc(#loc293)
    %392 = linalg.generic {indexing_maps = [#map12, #map13, #map14], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%390, %391 : tensor<12x64x1536xf32>, tensor<1536x384xf32>) outs(%30 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      %423 = arith.addf %out, %422 : f32
      linalg.yield %423 : f32
    } -> tensor<12x64x384xf32> loc(#loc294)
    %393 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg101 : tensor<384xf32>) outs(%15 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc295)
    %394 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%393 : tensor<1x1x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc296)
    %395 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%392, %394 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc296)
    %396 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%380, %395 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.addf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc297)
    %397 = call @layer_norm(%396, %arg100, %arg99) : (tensor<12x64x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<12x64x384xf32> loc(#loc298)
    %398 = tensor.empty() : tensor<12x64x1xf32> loc(#loc299)
    %399 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<12x64xf32>) outs(%398 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1xf32> loc(#loc299)
    %400 = linalg.generic {indexing_maps = [#map23, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%399 : tensor<12x64x1xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc300)
    %401 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%397, %400 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%9 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x64x384xf32> loc(#loc300)
    %402 = tensor.empty() : tensor<12x384xf32> loc(#loc301)
    %403 = linalg.fill ins(%cst_6 : f32) outs(%402 : tensor<12x384xf32>) -> tensor<12x384xf32> loc(#loc301)
    %404 = linalg.generic {indexing_maps = [#map24, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%401 : tensor<12x64x384xf32>) outs(%403 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x384xf32> loc(#loc301)
    %405 = tensor.empty() : tensor<12xf32> loc(#loc302)
    %406 = linalg.fill ins(%cst_6 : f32) outs(%405 : tensor<12xf32>) -> tensor<12xf32> loc(#loc302)
    %407 = linalg.generic {indexing_maps = [#map1, #map25], iterator_types = ["parallel", "reduction"]} ins(%21 : tensor<12x64xf32>) outs(%406 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12xf32> loc(#loc302)
    %408 = tensor.empty() : tensor<12x1xf32> loc(#loc303)
    %409 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel"]} ins(%407 : tensor<12xf32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1xf32> loc(#loc303)
    %410 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1xf32> loc(#loc304)
    %411 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%409, %410 : tensor<12x1xf32>, tensor<12x1xf32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x1xf32> loc(#loc304)
    %412 = linalg.generic {indexing_maps = [#map26, #map1], iterator_types = ["parallel", "parallel"]} ins(%411 : tensor<12x1xf32>) outs(%402 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x384xf32> loc(#loc305)
    %413 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%404, %412 : tensor<12x384xf32>, tensor<12x384xf32>) outs(%402 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x384xf32> loc(#loc305)
    %414 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%413, %413 : tensor<12x384xf32>, tensor<12x384xf32>) outs(%402 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.mulf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x384xf32> loc(#loc306)
    %415 = linalg.generic {indexing_maps = [#map1, #map25], iterator_types = ["parallel", "reduction"]} ins(%414 : tensor<12x384xf32>) outs(%406 : tensor<12xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = arith.addf %out, %in : f32
      linalg.yield %422 : f32
    } -> tensor<12xf32> loc(#loc307)
    %416 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel"]} ins(%415 : tensor<12xf32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1xf32> loc(#loc308)
    %417 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%416 : tensor<12x1xf32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %422 = math.sqrt %in : f32
      linalg.yield %422 : f32
    } -> tensor<12x1xf32> loc(#loc309)
    %418 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x1xf32> loc(#loc310)
    %419 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%417, %418 : tensor<12x1xf32>, tensor<12x1xf32>) outs(%408 : tensor<12x1xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.maximumf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x1xf32> loc(#loc310)
    %420 = linalg.generic {indexing_maps = [#map26, #map1], iterator_types = ["parallel", "parallel"]} ins(%419 : tensor<12x1xf32>) outs(%402 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x384xf32> loc(#loc311)
    %421 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%413, %420 : tensor<12x384xf32>, tensor<12x384xf32>) outs(%402 : tensor<12x384xf32>) {
    ^bb0(%in: f32, %in_35: f32, %out: f32):
      %422 = arith.divf %in, %in_35 : f32
      linalg.yield %422 : f32
    } -> tensor<12x384xf32> loc(#loc311)
    return %421 : tensor<12x384xf32> loc(#loc312)
  }
  func.func private @layer_norm(%arg0: tensor<12x64x384xf32>, %arg1: tensor<384xf32>, %arg2: tensor<384xf32>) -> tensor<12x64x384xf32> {
    %cst = arith.constant dense<9.99999996E-13> : tensor<f32>
    %cst_0 = arith.constant dense<3.840000e+02> : tensor<f32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<12x64xf32> loc(#loc313)
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<12x64xf32>) -> tensor<12x64xf32> loc(#loc313)
    %2 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<12x64x384xf32>) outs(%1 : tensor<12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.addf %out, %in : f32
      linalg.yield %26 : f32
    } -> tensor<12x64xf32> loc(#loc313)
    %3 = tensor.empty() : tensor<12x64x1xf32> loc(#loc314)
    %4 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<12x64xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1xf32> loc(#loc314)
    %5 = linalg.generic {indexing_maps = [#map21, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1xf32> loc(#loc315)
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %5 : tensor<12x64x1xf32>, tensor<12x64x1xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.divf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x1xf32> loc(#loc315)
    %7 = tensor.empty() : tensor<12x64x384xf32> loc(#loc316)
    %8 = linalg.generic {indexing_maps = [#map23, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<12x64x1xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc316)
    %9 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %8 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.subf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x384xf32> loc(#loc316)
    %10 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %9 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.mulf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x384xf32> loc(#loc317)
    %11 = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<12x64x384xf32>) outs(%1 : tensor<12x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = arith.addf %out, %in : f32
      linalg.yield %26 : f32
    } -> tensor<12x64xf32> loc(#loc318)
    %12 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<12x64xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1xf32> loc(#loc319)
    %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12, %5 : tensor<12x64x1xf32>, tensor<12x64x1xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.divf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x1xf32> loc(#loc320)
    %14 = linalg.generic {indexing_maps = [#map21, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x1xf32> loc(#loc321)
    %15 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %14 : tensor<12x64x1xf32>, tensor<12x64x1xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.addf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x1xf32> loc(#loc321)
    %16 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<12x64x1xf32>) outs(%3 : tensor<12x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %26 = math.rsqrt %in : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x1xf32> loc(#loc322)
    %17 = linalg.generic {indexing_maps = [#map23, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<12x64x1xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc323)
    %18 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %17 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.mulf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x384xf32> loc(#loc323)
    %19 = tensor.empty() : tensor<1x1x384xf32> loc(#loc324)
    %20 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<384xf32>) outs(%19 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc324)
    %21 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20 : tensor<1x1x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc323)
    %22 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %21 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.mulf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x384xf32> loc(#loc323)
    %23 = linalg.generic {indexing_maps = [#map6, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<384xf32>) outs(%19 : tensor<1x1x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x384xf32> loc(#loc324)
    %24 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<1x1x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<12x64x384xf32> loc(#loc325)
    %25 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %24 : tensor<12x64x384xf32>, tensor<12x64x384xf32>) outs(%7 : tensor<12x64x384xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %26 = arith.addf %in, %in_2 : f32
      linalg.yield %26 : f32
    } -> tensor<12x64x384xf32> loc(#loc325)
    return %25 : tensor<12x64x384xf32>
  }
}
#loc0 = loc("embeddings.lt"("trace.py":85:12))
#loc1 = loc("embeddings.add"("trace.py":85:12))
#loc2 = loc("embeddings.select_n"("trace.py":85:12))
#loc3 = loc("embeddings.broadcast_in_dim"("trace.py":85:12))
#loc4 = loc("embeddings.gather"("trace.py":85:12))
#loc5 = loc("embeddings.slice"("trace.py":86:16))
#loc6 = loc("embeddings.broadcast_in_dim"("trace.py":86:12))
#loc7 = loc("embeddings.add"("trace.py":86:12))
#loc8 = loc("embeddings.slice"("trace.py":88:16))
#loc9 = loc("embeddings.squeeze"("trace.py":88:16))
#loc10 = loc("embeddings.broadcast_in_dim"("trace.py":88:12))
#loc11 = loc("embeddings.add"("trace.py":88:12))
#loc12 = loc("embeddings.layer_norm"("trace.py":55:11))
#loc13 = loc("embeddings.convert_element_type"("trace.py":90:15))
#loc14 = loc("embeddings.broadcast_in_dim"("trace.py":91:22))
#loc15 = loc("embeddings.sub"("trace.py":91:16))
#loc16 = loc("embeddings.mul"("trace.py":91:15))
#loc17 = loc("layer.0.attention.query.transpose"("trace.py":51:19))
#loc18 = loc("layer.0.attention.query.dot_general"("trace.py":51:15))
#loc19 = loc("layer.0.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc20 = loc("layer.0.attention.query.add"("trace.py":51:15))
#loc21 = loc("layer.0.attention.reshape"("trace.py":60:11))
#loc22 = loc("layer.0.attention.transpose"("trace.py":60:11))
#loc23 = loc("layer.0.attention.key.transpose"("trace.py":51:19))
#loc24 = loc("layer.0.attention.key.dot_general"("trace.py":51:15))
#loc25 = loc("layer.0.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc26 = loc("layer.0.attention.key.add"("trace.py":51:15))
#loc27 = loc("layer.0.attention.value.transpose"("trace.py":51:19))
#loc28 = loc("layer.0.attention.value.dot_general"("trace.py":51:15))
#loc29 = loc("layer.0.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc30 = loc("layer.0.attention.value.add"("trace.py":51:15))
#loc31 = loc("layer.0.attention.transpose"("trace.py":67:21))
#loc32 = loc("layer.0.attention.dot_general"("trace.py":67:13))
#loc33 = loc("layer.0.attention.div"("trace.py":67:13))
#loc34 = loc("layer.0.attention.add"("trace.py":68:29))
#loc35 = loc("layer.0.attention.reduce_max"("trace.py":68:14))
#loc36 = loc("layer.0.attention.max"("trace.py":68:14))
#loc37 = loc("layer.0.attention.broadcast_in_dim"("trace.py":68:14))
#loc38 = loc("layer.0.attention.sub"("trace.py":68:14))
#loc39 = loc("layer.0.attention.exp"("trace.py":68:14))
#loc40 = loc("layer.0.attention.reduce_sum"("trace.py":68:14))
#loc41 = loc("layer.0.attention.div"("trace.py":68:14))
#loc42 = loc("layer.0.attention.dot_general"("trace.py":68:14))
#loc43 = loc("layer.0.attention.transpose"("trace.py":69:14))
#loc44 = loc("layer.0.attention.reshape"("trace.py":69:14))
#loc45 = loc("layer.0.attention.output.transpose"("trace.py":51:19))
#loc46 = loc("layer.0.attention.output.dot_general"("trace.py":51:15))
#loc47 = loc("layer.0.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc48 = loc("layer.0.attention.output.add"("trace.py":51:15))
#loc49 = loc("layer.0.attention.add"("trace.py":71:16))
#loc50 = loc("layer.0.attention.layer_norm"("trace.py":55:11))
#loc51 = loc("layer.0.mlp.intermediate.transpose"("trace.py":51:19))
#loc52 = loc("layer.0.mlp.intermediate.dot_general"("trace.py":51:15))
#loc53 = loc("layer.0.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc54 = loc("layer.0.mlp.intermediate.add"("trace.py":51:15))
#loc55 = loc("layer.0.mlp.mul"("trace.py":76:12))
#loc56 = loc("layer.0.mlp.neg"("trace.py":76:12))
#loc57 = loc("layer.0.mlp.erfc"("trace.py":76:12))
#loc58 = loc("layer.0.mlp.output.transpose"("trace.py":51:19))
#loc59 = loc("layer.0.mlp.output.dot_general"("trace.py":51:15))
#loc60 = loc("layer.0.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc61 = loc("layer.0.mlp.output.add"("trace.py":51:15))
#loc62 = loc("layer.0.mlp.add"("trace.py":78:16))
#loc63 = loc("layer.0.mlp.layer_norm"("trace.py":55:11))
#loc64 = loc("layer.1.attention.query.transpose"("trace.py":51:19))
#loc65 = loc("layer.1.attention.query.dot_general"("trace.py":51:15))
#loc66 = loc("layer.1.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc67 = loc("layer.1.attention.query.add"("trace.py":51:15))
#loc68 = loc("layer.1.attention.reshape"("trace.py":60:11))
#loc69 = loc("layer.1.attention.transpose"("trace.py":60:11))
#loc70 = loc("layer.1.attention.key.transpose"("trace.py":51:19))
#loc71 = loc("layer.1.attention.key.dot_general"("trace.py":51:15))
#loc72 = loc("layer.1.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc73 = loc("layer.1.attention.key.add"("trace.py":51:15))
#loc74 = loc("layer.1.attention.value.transpose"("trace.py":51:19))
#loc75 = loc("layer.1.attention.value.dot_general"("trace.py":51:15))
#loc76 = loc("layer.1.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc77 = loc("layer.1.attention.value.add"("trace.py":51:15))
#loc78 = loc("layer.1.attention.transpose"("trace.py":67:21))
#loc79 = loc("layer.1.attention.dot_general"("trace.py":67:13))
#loc80 = loc("layer.1.attention.div"("trace.py":67:13))
#loc81 = loc("layer.1.attention.add"("trace.py":68:29))
#loc82 = loc("layer.1.attention.reduce_max"("trace.py":68:14))
#loc83 = loc("layer.1.attention.max"("trace.py":68:14))
#loc84 = loc("layer.1.attention.broadcast_in_dim"("trace.py":68:14))
#loc85 = loc("layer.1.attention.sub"("trace.py":68:14))
#loc86 = loc("layer.1.attention.exp"("trace.py":68:14))
#loc87 = loc("layer.1.attention.reduce_sum"("trace.py":68:14))
#loc88 = loc("layer.1.attention.div"("trace.py":68:14))
#loc89 = loc("layer.1.attention.dot_general"("trace.py":68:14))
#loc90 = loc("layer.1.attention.transpose"("trace.py":69:14))
#loc91 = loc("layer.1.attention.reshape"("trace.py":69:14))
#loc92 = loc("layer.1.attention.output.transpose"("trace.py":51:19))
#loc93 = loc("layer.1.attention.output.dot_general"("trace.py":51:15))
#loc94 = loc("layer.1.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc95 = loc("layer.1.attention.output.add"("trace.py":51:15))
#loc96 = loc("layer.1.attention.add"("trace.py":71:16))
#loc97 = loc("layer.1.attention.layer_norm"("trace.py":55:11))
#loc98 = loc("layer.1.mlp.intermediate.transpose"("trace.py":51:19))
#loc99 = loc("layer.1.mlp.intermediate.dot_general"("trace.py":51:15))
#loc100 = loc("layer.1.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc101 = loc("layer.1.mlp.intermediate.add"("trace.py":51:15))
#loc102 = loc("layer.1.mlp.mul"("trace.py":76:12))
#loc103 = loc("layer.1.mlp.neg"("trace.py":76:12))
#loc104 = loc("layer.1.mlp.erfc"("trace.py":76:12))
#loc105 = loc("layer.1.mlp.output.transpose"("trace.py":51:19))
#loc106 = loc("layer.1.mlp.output.dot_general"("trace.py":51:15))
#loc107 = loc("layer.1.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc108 = loc("layer.1.mlp.output.add"("trace.py":51:15))
#loc109 = loc("layer.1.mlp.add"("trace.py":78:16))
#loc110 = loc("layer.1.mlp.layer_norm"("trace.py":55:11))
#loc111 = loc("layer.2.attention.query.transpose"("trace.py":51:19))
#loc112 = loc("layer.2.attention.query.dot_general"("trace.py":51:15))
#loc113 = loc("layer.2.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc114 = loc("layer.2.attention.query.add"("trace.py":51:15))
#loc115 = loc("layer.2.attention.reshape"("trace.py":60:11))
#loc116 = loc("layer.2.attention.transpose"("trace.py":60:11))
#loc117 = loc("layer.2.attention.key.transpose"("trace.py":51:19))
#loc118 = loc("layer.2.attention.key.dot_general"("trace.py":51:15))
#loc119 = loc("layer.2.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc120 = loc("layer.2.attention.key.add"("trace.py":51:15))
#loc121 = loc("layer.2.attention.value.transpose"("trace.py":51:19))
#loc122 = loc("layer.2.attention.value.dot_general"("trace.py":51:15))
#loc123 = loc("layer.2.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc124 = loc("layer.2.attention.value.add"("trace.py":51:15))
#loc125 = loc("layer.2.attention.transpose"("trace.py":67:21))
#loc126 = loc("layer.2.attention.dot_general"("trace.py":67:13))
#loc127 = loc("layer.2.attention.div"("trace.py":67:13))
#loc128 = loc("layer.2.attention.add"("trace.py":68:29))
#loc129 = loc("layer.2.attention.reduce_max"("trace.py":68:14))
#loc130 = loc("layer.2.attention.max"("trace.py":68:14))
#loc131 = loc("layer.2.attention.broadcast_in_dim"("trace.py":68:14))
#loc132 = loc("layer.2.attention.sub"("trace.py":68:14))
#loc133 = loc("layer.2.attention.exp"("trace.py":68:14))
#loc134 = loc("layer.2.attention.reduce_sum"("trace.py":68:14))
#loc135 = loc("layer.2.attention.div"("trace.py":68:14))
#loc136 = loc("layer.2.attention.dot_general"("trace.py":68:14))
#loc137 = loc("layer.2.attention.transpose"("trace.py":69:14))
#loc138 = loc("layer.2.attention.reshape"("trace.py":69:14))
#loc139 = loc("layer.2.attention.output.transpose"("trace.py":51:19))
#loc140 = loc("layer.2.attention.output.dot_general"("trace.py":51:15))
#loc141 = loc("layer.2.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc142 = loc("layer.2.attention.output.add"("trace.py":51:15))
#loc143 = loc("layer.2.attention.add"("trace.py":71:16))
#loc144 = loc("layer.2.attention.layer_norm"("trace.py":55:11))
#loc145 = loc("layer.2.mlp.intermediate.transpose"("trace.py":51:19))
#loc146 = loc("layer.2.mlp.intermediate.dot_general"("trace.py":51:15))
#loc147 = loc("layer.2.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc148 = loc("layer.2.mlp.intermediate.add"("trace.py":51:15))
#loc149 = loc("layer.2.mlp.mul"("trace.py":76:12))
#loc150 = loc("layer.2.mlp.neg"("trace.py":76:12))
#loc151 = loc("layer.2.mlp.erfc"("trace.py":76:12))
#loc152 = loc("layer.2.mlp.output.transpose"("trace.py":51:19))
#loc153 = loc("layer.2.mlp.output.dot_general"("trace.py":51:15))
#loc154 = loc("layer.2.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc155 = loc("layer.2.mlp.output.add"("trace.py":51:15))
#loc156 = loc("layer.2.mlp.add"("trace.py":78:16))
#loc157 = loc("layer.2.mlp.layer_norm"("trace.py":55:11))
#loc158 = loc("layer.3.attention.query.transpose"("trace.py":51:19))
#loc159 = loc("layer.3.attention.query.dot_general"("trace.py":51:15))
#loc160 = loc("layer.3.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc161 = loc("layer.3.attention.query.add"("trace.py":51:15))
#loc162 = loc("layer.3.attention.reshape"("trace.py":60:11))
#loc163 = loc("layer.3.attention.transpose"("trace.py":60:11))
#loc164 = loc("layer.3.attention.key.transpose"("trace.py":51:19))
#loc165 = loc("layer.3.attention.key.dot_general"("trace.py":51:15))
#loc166 = loc("layer.3.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc167 = loc("layer.3.attention.key.add"("trace.py":51:15))
#loc168 = loc("layer.3.attention.value.transpose"("trace.py":51:19))
#loc169 = loc("layer.3.attention.value.dot_general"("trace.py":51:15))
#loc170 = loc("layer.3.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc171 = loc("layer.3.attention.value.add"("trace.py":51:15))
#loc172 = loc("layer.3.attention.transpose"("trace.py":67:21))
#loc173 = loc("layer.3.attention.dot_general"("trace.py":67:13))
#loc174 = loc("layer.3.attention.div"("trace.py":67:13))
#loc175 = loc("layer.3.attention.add"("trace.py":68:29))
#loc176 = loc("layer.3.attention.reduce_max"("trace.py":68:14))
#loc177 = loc("layer.3.attention.max"("trace.py":68:14))
#loc178 = loc("layer.3.attention.broadcast_in_dim"("trace.py":68:14))
#loc179 = loc("layer.3.attention.sub"("trace.py":68:14))
#loc180 = loc("layer.3.attention.exp"("trace.py":68:14))
#loc181 = loc("layer.3.attention.reduce_sum"("trace.py":68:14))
#loc182 = loc("layer.3.attention.div"("trace.py":68:14))
#loc183 = loc("layer.3.attention.dot_general"("trace.py":68:14))
#loc184 = loc("layer.3.attention.transpose"("trace.py":69:14))
#loc185 = loc("layer.3.attention.reshape"("trace.py":69:14))
#loc186 = loc("layer.3.attention.output.transpose"("trace.py":51:19))
#loc187 = loc("layer.3.attention.output.dot_general"("trace.py":51:15))
#loc188 = loc("layer.3.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc189 = loc("layer.3.attention.output.add"("trace.py":51:15))
#loc190 = loc("layer.3.attention.add"("trace.py":71:16))
#loc191 = loc("layer.3.attention.layer_norm"("trace.py":55:11))
#loc192 = loc("layer.3.mlp.intermediate.transpose"("trace.py":51:19))
#loc193 = loc("layer.3.mlp.intermediate.dot_general"("trace.py":51:15))
#loc194 = loc("layer.3.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc195 = loc("layer.3.mlp.intermediate.add"("trace.py":51:15))
#loc196 = loc("layer.3.mlp.mul"("trace.py":76:12))
#loc197 = loc("layer.3.mlp.neg"("trace.py":76:12))
#loc198 = loc("layer.3.mlp.erfc"("trace.py":76:12))
#loc199 = loc("layer.3.mlp.output.transpose"("trace.py":51:19))
#loc200 = loc("layer.3.mlp.output.dot_general"("trace.py":51:15))
#loc201 = loc("layer.3.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc202 = loc("layer.3.mlp.output.add"("trace.py":51:15))
#loc203 = loc("layer.3.mlp.add"("trace.py":78:16))
#loc204 = loc("layer.3.mlp.layer_norm"("trace.py":55:11))
#loc205 = loc("layer.4.attention.query.transpose"("trace.py":51:19))
#loc206 = loc("layer.4.attention.query.dot_general"("trace.py":51:15))
#loc207 = loc("layer.4.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc208 = loc("layer.4.attention.query.add"("trace.py":51:15))
#loc209 = loc("layer.4.attention.reshape"("trace.py":60:11))
#loc210 = loc("layer.4.attention.transpose"("trace.py":60:11))
#loc211 = loc("layer.4.attention.key.transpose"("trace.py":51:19))
#loc212 = loc("layer.4.attention.key.dot_general"("trace.py":51:15))
#loc213 = loc("layer.4.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc214 = loc("layer.4.attention.key.add"("trace.py":51:15))
#loc215 = loc("layer.4.attention.value.transpose"("trace.py":51:19))
#loc216 = loc("layer.4.attention.value.dot_general"("trace.py":51:15))
#loc217 = loc("layer.4.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc218 = loc("layer.4.attention.value.add"("trace.py":51:15))
#loc219 = loc("layer.4.attention.transpose"("trace.py":67:21))
#loc220 = loc("layer.4.attention.dot_general"("trace.py":67:13))
#loc221 = loc("layer.4.attention.div"("trace.py":67:13))
#loc222 = loc("layer.4.attention.add"("trace.py":68:29))
#loc223 = loc("layer.4.attention.reduce_max"("trace.py":68:14))
#loc224 = loc("layer.4.attention.max"("trace.py":68:14))
#loc225 = loc("layer.4.attention.broadcast_in_dim"("trace.py":68:14))
#loc226 = loc("layer.4.attention.sub"("trace.py":68:14))
#loc227 = loc("layer.4.attention.exp"("trace.py":68:14))
#loc228 = loc("layer.4.attention.reduce_sum"("trace.py":68:14))
#loc229 = loc("layer.4.attention.div"("trace.py":68:14))
#loc230 = loc("layer.4.attention.dot_general"("trace.py":68:14))
#loc231 = loc("layer.4.attention.transpose"("trace.py":69:14))
#loc232 = loc("layer.4.attention.reshape"("trace.py":69:14))
#loc233 = loc("layer.4.attention.output.transpose"("trace.py":51:19))
#loc234 = loc("layer.4.attention.output.dot_general"("trace.py":51:15))
#loc235 = loc("layer.4.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc236 = loc("layer.4.attention.output.add"("trace.py":51:15))
#loc237 = loc("layer.4.attention.add"("trace.py":71:16))
#loc238 = loc("layer.4.attention.layer_norm"("trace.py":55:11))
#loc239 = loc("layer.4.mlp.intermediate.transpose"("trace.py":51:19))
#loc240 = loc("layer.4.mlp.intermediate.dot_general"("trace.py":51:15))
#loc241 = loc("layer.4.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc242 = loc("layer.4.mlp.intermediate.add"("trace.py":51:15))
#loc243 = loc("layer.4.mlp.mul"("trace.py":76:12))
#loc244 = loc("layer.4.mlp.neg"("trace.py":76:12))
#loc245 = loc("layer.4.mlp.erfc"("trace.py":76:12))
#loc246 = loc("layer.4.mlp.output.transpose"("trace.py":51:19))
#loc247 = loc("layer.4.mlp.output.dot_general"("trace.py":51:15))
#loc248 = loc("layer.4.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc249 = loc("layer.4.mlp.output.add"("trace.py":51:15))
#loc250 = loc("layer.4.mlp.add"("trace.py":78:16))
#loc251 = loc("layer.4.mlp.layer_norm"("trace.py":55:11))
#loc252 = loc("layer.5.attention.query.transpose"("trace.py":51:19))
#loc253 = loc("layer.5.attention.query.dot_general"("trace.py":51:15))
#loc254 = loc("layer.5.attention.query.broadcast_in_dim"("trace.py":51:15))
#loc255 = loc("layer.5.attention.query.add"("trace.py":51:15))
#loc256 = loc("layer.5.attention.reshape"("trace.py":60:11))
#loc257 = loc("layer.5.attention.transpose"("trace.py":60:11))
#loc258 = loc("layer.5.attention.key.transpose"("trace.py":51:19))
#loc259 = loc("layer.5.attention.key.dot_general"("trace.py":51:15))
#loc260 = loc("layer.5.attention.key.broadcast_in_dim"("trace.py":51:15))
#loc261 = loc("layer.5.attention.key.add"("trace.py":51:15))
#loc262 = loc("layer.5.attention.value.transpose"("trace.py":51:19))
#loc263 = loc("layer.5.attention.value.dot_general"("trace.py":51:15))
#loc264 = loc("layer.5.attention.value.broadcast_in_dim"("trace.py":51:15))
#loc265 = loc("layer.5.attention.value.add"("trace.py":51:15))
#loc266 = loc("layer.5.attention.transpose"("trace.py":67:21))
#loc267 = loc("layer.5.attention.dot_general"("trace.py":67:13))
#loc268 = loc("layer.5.attention.div"("trace.py":67:13))
#loc269 = loc("layer.5.attention.add"("trace.py":68:29))
#loc270 = loc("layer.5.attention.reduce_max"("trace.py":68:14))
#loc271 = loc("layer.5.attention.max"("trace.py":68:14))
#loc272 = loc("layer.5.attention.broadcast_in_dim"("trace.py":68:14))
#loc273 = loc("layer.5.attention.sub"("trace.py":68:14))
#loc274 = loc("layer.5.attention.exp"("trace.py":68:14))
#loc275 = loc("layer.5.attention.reduce_sum"("trace.py":68:14))
#loc276 = loc("layer.5.attention.div"("trace.py":68:14))
#loc277 = loc("layer.5.attention.dot_general"("trace.py":68:14))
#loc278 = loc("layer.5.attention.transpose"("trace.py":69:14))
#loc279 = loc("layer.5.attention.reshape"("trace.py":69:14))
#loc280 = loc("layer.5.attention.output.transpose"("trace.py":51:19))
#loc281 = loc("layer.5.attention.output.dot_general"("trace.py":51:15))
#loc282 = loc("layer.5.attention.output.broadcast_in_dim"("trace.py":51:15))
#loc283 = loc("layer.5.attention.output.add"("trace.py":51:15))
#loc284 = loc("layer.5.attention.add"("trace.py":71:16))
#loc285 = loc("layer.5.attention.layer_norm"("trace.py":55:11))
#loc286 = loc("layer.5.mlp.intermediate.transpose"("trace.py":51:19))
#loc287 = loc("layer.5.mlp.intermediate.dot_general"("trace.py":51:15))
#loc288 = loc("layer.5.mlp.intermediate.broadcast_in_dim"("trace.py":51:15))
#loc289 = loc("layer.5.mlp.intermediate.add"("trace.py":51:15))
#loc290 = loc("layer.5.mlp.mul"("trace.py":76:12))
#loc291 = loc("layer.5.mlp.neg"("trace.py":76:12))
#loc292 = loc("layer.5.mlp.erfc"("trace.py":76:12))
#loc293 = loc("layer.5.mlp.output.transpose"("trace.py":51:19))
#loc294 = loc("layer.5.mlp.output.dot_general"("trace.py":51:15))
#loc295 = loc("layer.5.mlp.output.broadcast_in_dim"("trace.py":51:15))
#loc296 = loc("layer.5.mlp.output.add"("trace.py":51:15))
#loc297 = loc("layer.5.mlp.add"("trace.py":78:16))
#loc298 = loc("layer.5.mlp.layer_norm"("trace.py":55:11))
#loc299 = loc("pooling.broadcast_in_dim"("trace.py":100:28))
#loc300 = loc("pooling.mul"("trace.py":100:24))
#loc301 = loc("pooling.reduce_sum"("trace.py":100:16))
#loc302 = loc("pooling.reduce_sum"("trace.py":101:28))
#loc303 = loc("pooling.broadcast_in_dim"("trace.py":101:28))
#loc304 = loc("pooling.max"("trace.py":101:16))
#loc305 = loc("pooling.div"("trace.py":102:15))
#loc306 = loc("pooling.mul"("trace.py":103:33))
#loc307 = loc("pooling.reduce_sum"("trace.py":103:25))
#loc308 = loc("pooling.broadcast_in_dim"("trace.py":103:25))
#loc309 = loc("pooling.sqrt"("trace.py":103:16))
#loc310 = loc("pooling.max"("trace.py":104:22))
#loc311 = loc("pooling.div"("trace.py":104:15))
#loc312 = loc("encode"("trace.py":189:13))
#loc313 = loc("layer_norm.reduce_sum"("trace.py":42:11))
#loc314 = loc("layer_norm.broadcast_in_dim"("trace.py":42:11))
#loc315 = loc("layer_norm.div"("trace.py":42:11))
#loc316 = loc("layer_norm.sub"("trace.py":43:15))
#loc317 = loc("layer_norm.mul"("trace.py":44:24))
#loc318 = loc("layer_norm.reduce_sum"("trace.py":44:15))
#loc319 = loc("layer_norm.broadcast_in_dim"("trace.py":44:15))
#loc320 = loc("layer_norm.div"("trace.py":44:15))
#loc321 = loc("layer_norm.add"("trace.py":45:36))
#loc322 = loc("layer_norm.rsqrt"("trace.py":45:22))
#loc323 = loc("layer_norm.mul"("trace.py":45:11))
#loc324 = loc("layer_norm.broadcast_in_dim"("trace.py":45:11))
#loc325 = loc("layer_norm.add"("trace.py":45:11))
