// llama_stages of compare.py. Written by it.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map5 = affine_map<(d0, d1, d2) -> (d2)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0, d1) -> (d0, 0)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
#map12 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1) -> (0, d1)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map18 = affine_map<(d0, d1) -> (d0)>
#map19 = affine_map<(d0) -> ()>
#map20 = affine_map<() -> ()>
#map21 = affine_map<(d0, d1) -> (0, 0)>
#map22 = affine_map<(d0, d1, d2) -> (0, 0, d2)>
#map23 = affine_map<(d0, d1, d2) -> ()>
#map24 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, d3, d4)>
#map25 = affine_map<(d0, d1, d2) -> (d2, d1)>
module {
  spmd.mesh @mesh = <["stage"=2, "data"=2, "model"=2]>
  func.func @main(%arg0: tensor<24x32xf32> {spmd.weight = "table.weight"}, %arg1: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.0.attention.q.weight"}, %arg2: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.0.attention.k.weight"}, %arg3: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.0.attention.v.weight"}, %arg4: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "blocks.0.attention.o.weight"}, %arg5: tensor<32xf32> {spmd.weight = "blocks.0.attention_norm.scale"}, %arg6: tensor<32xf32> {spmd.weight = "blocks.0.ffn_norm.scale"}, %arg7: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.0.w1.weight"}, %arg8: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.0.w3.weight"}, %arg9: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "blocks.0.w2.weight"}, %arg10: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.1.attention.q.weight"}, %arg11: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.1.attention.k.weight"}, %arg12: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.1.attention.v.weight"}, %arg13: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "blocks.1.attention.o.weight"}, %arg14: tensor<32xf32> {spmd.weight = "blocks.1.attention_norm.scale"}, %arg15: tensor<32xf32> {spmd.weight = "blocks.1.ffn_norm.scale"}, %arg16: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.1.w1.weight"}, %arg17: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "blocks.1.w3.weight"}, %arg18: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "blocks.1.w2.weight"}, %arg19: tensor<32xf32> {spmd.weight = "norm.scale"}, %arg20: tensor<24x32xf32> {spmd.weight = "head.weight"}, %arg21: tensor<f32> {spmd.weight = "state.table.weight.step"}, %arg22: tensor<24x32xf32> {spmd.weight = "state.table.weight.exp_avg"}, %arg23: tensor<24x32xf32> {spmd.weight = "state.table.weight.exp_avg_sq"}, %arg24: tensor<f32> {spmd.weight = "state.blocks.0.attention.q.weight.step"}, %arg25: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.q.weight.exp_avg"}, %arg26: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.q.weight.exp_avg_sq"}, %arg27: tensor<f32> {spmd.weight = "state.blocks.0.attention.k.weight.step"}, %arg28: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.k.weight.exp_avg"}, %arg29: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.k.weight.exp_avg_sq"}, %arg30: tensor<f32> {spmd.weight = "state.blocks.0.attention.v.weight.step"}, %arg31: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.v.weight.exp_avg"}, %arg32: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.attention.v.weight.exp_avg_sq"}, %arg33: tensor<f32> {spmd.weight = "state.blocks.0.attention.o.weight.step"}, %arg34: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.0.attention.o.weight.exp_avg"}, %arg35: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.0.attention.o.weight.exp_avg_sq"}, %arg36: tensor<f32> {spmd.weight = "state.blocks.0.attention_norm.scale.step"}, %arg37: tensor<32xf32> {spmd.weight = "state.blocks.0.attention_norm.scale.exp_avg"}, %arg38: tensor<32xf32> {spmd.weight = "state.blocks.0.attention_norm.scale.exp_avg_sq"}, %arg39: tensor<f32> {spmd.weight = "state.blocks.0.ffn_norm.scale.step"}, %arg40: tensor<32xf32> {spmd.weight = "state.blocks.0.ffn_norm.scale.exp_avg"}, %arg41: tensor<32xf32> {spmd.weight = "state.blocks.0.ffn_norm.scale.exp_avg_sq"}, %arg42: tensor<f32> {spmd.weight = "state.blocks.0.w1.weight.step"}, %arg43: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.w1.weight.exp_avg"}, %arg44: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.w1.weight.exp_avg_sq"}, %arg45: tensor<f32> {spmd.weight = "state.blocks.0.w3.weight.step"}, %arg46: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.w3.weight.exp_avg"}, %arg47: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.0.w3.weight.exp_avg_sq"}, %arg48: tensor<f32> {spmd.weight = "state.blocks.0.w2.weight.step"}, %arg49: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.0.w2.weight.exp_avg"}, %arg50: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.0.w2.weight.exp_avg_sq"}, %arg51: tensor<f32> {spmd.weight = "state.blocks.1.attention.q.weight.step"}, %arg52: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.q.weight.exp_avg"}, %arg53: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.q.weight.exp_avg_sq"}, %arg54: tensor<f32> {spmd.weight = "state.blocks.1.attention.k.weight.step"}, %arg55: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.k.weight.exp_avg"}, %arg56: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.k.weight.exp_avg_sq"}, %arg57: tensor<f32> {spmd.weight = "state.blocks.1.attention.v.weight.step"}, %arg58: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.v.weight.exp_avg"}, %arg59: tensor<16x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.attention.v.weight.exp_avg_sq"}, %arg60: tensor<f32> {spmd.weight = "state.blocks.1.attention.o.weight.step"}, %arg61: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.1.attention.o.weight.exp_avg"}, %arg62: tensor<32x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.1.attention.o.weight.exp_avg_sq"}, %arg63: tensor<f32> {spmd.weight = "state.blocks.1.attention_norm.scale.step"}, %arg64: tensor<32xf32> {spmd.weight = "state.blocks.1.attention_norm.scale.exp_avg"}, %arg65: tensor<32xf32> {spmd.weight = "state.blocks.1.attention_norm.scale.exp_avg_sq"}, %arg66: tensor<f32> {spmd.weight = "state.blocks.1.ffn_norm.scale.step"}, %arg67: tensor<32xf32> {spmd.weight = "state.blocks.1.ffn_norm.scale.exp_avg"}, %arg68: tensor<32xf32> {spmd.weight = "state.blocks.1.ffn_norm.scale.exp_avg_sq"}, %arg69: tensor<f32> {spmd.weight = "state.blocks.1.w1.weight.step"}, %arg70: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.w1.weight.exp_avg"}, %arg71: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.w1.weight.exp_avg_sq"}, %arg72: tensor<f32> {spmd.weight = "state.blocks.1.w3.weight.step"}, %arg73: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.w3.weight.exp_avg"}, %arg74: tensor<64x32xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.weight = "state.blocks.1.w3.weight.exp_avg_sq"}, %arg75: tensor<f32> {spmd.weight = "state.blocks.1.w2.weight.step"}, %arg76: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.1.w2.weight.exp_avg"}, %arg77: tensor<32x64xf32> {spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.weight = "state.blocks.1.w2.weight.exp_avg_sq"}, %arg78: tensor<f32> {spmd.weight = "state.norm.scale.step"}, %arg79: tensor<32xf32> {spmd.weight = "state.norm.scale.exp_avg"}, %arg80: tensor<32xf32> {spmd.weight = "state.norm.scale.exp_avg_sq"}, %arg81: tensor<f32> {spmd.weight = "state.head.weight.step"}, %arg82: tensor<24x32xf32> {spmd.weight = "state.head.weight.exp_avg"}, %arg83: tensor<24x32xf32> {spmd.weight = "state.head.weight.exp_avg_sq"}, %arg84: tensor<8x8xi64> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "tokens", spmd.range = [0, 24], spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}, %arg85: tensor<8x8xi64> {spmd.microbatch = #spmd.microbatch<dim = 0>, spmd.name = "labels", spmd.range = [0, 24], spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<f32> {spmd.name = "result"}, tensor<24x32xf32> {spmd.name = "table.weight", spmd.tied = 0 : i64}, tensor<32x32xf32> {spmd.name = "blocks.0.attention.q.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 1 : i64}, tensor<16x32xf32> {spmd.name = "blocks.0.attention.k.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 2 : i64}, tensor<16x32xf32> {spmd.name = "blocks.0.attention.v.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 3 : i64}, tensor<32x32xf32> {spmd.name = "blocks.0.attention.o.weight", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 4 : i64}, tensor<32xf32> {spmd.name = "blocks.0.attention_norm.scale", spmd.tied = 5 : i64}, tensor<32xf32> {spmd.name = "blocks.0.ffn_norm.scale", spmd.tied = 6 : i64}, tensor<64x32xf32> {spmd.name = "blocks.0.w1.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 7 : i64}, tensor<64x32xf32> {spmd.name = "blocks.0.w3.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 8 : i64}, tensor<32x64xf32> {spmd.name = "blocks.0.w2.weight", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 9 : i64}, tensor<32x32xf32> {spmd.name = "blocks.1.attention.q.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 10 : i64}, tensor<16x32xf32> {spmd.name = "blocks.1.attention.k.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 11 : i64}, tensor<16x32xf32> {spmd.name = "blocks.1.attention.v.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 12 : i64}, tensor<32x32xf32> {spmd.name = "blocks.1.attention.o.weight", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 13 : i64}, tensor<32xf32> {spmd.name = "blocks.1.attention_norm.scale", spmd.tied = 14 : i64}, tensor<32xf32> {spmd.name = "blocks.1.ffn_norm.scale", spmd.tied = 15 : i64}, tensor<64x32xf32> {spmd.name = "blocks.1.w1.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 16 : i64}, tensor<64x32xf32> {spmd.name = "blocks.1.w3.weight", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 17 : i64}, tensor<32x64xf32> {spmd.name = "blocks.1.w2.weight", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 18 : i64}, tensor<32xf32> {spmd.name = "norm.scale", spmd.tied = 19 : i64}, tensor<24x32xf32> {spmd.name = "head.weight", spmd.tied = 20 : i64}, tensor<f32> {spmd.name = "state.table.weight.step", spmd.tied = 21 : i64}, tensor<24x32xf32> {spmd.name = "state.table.weight.exp_avg", spmd.tied = 22 : i64}, tensor<24x32xf32> {spmd.name = "state.table.weight.exp_avg_sq", spmd.tied = 23 : i64}, tensor<f32> {spmd.name = "state.blocks.0.attention.q.weight.step", spmd.tied = 24 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.0.attention.q.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 25 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.0.attention.q.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 26 : i64}, tensor<f32> {spmd.name = "state.blocks.0.attention.k.weight.step", spmd.tied = 27 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.0.attention.k.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 28 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.0.attention.k.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 29 : i64}, tensor<f32> {spmd.name = "state.blocks.0.attention.v.weight.step", spmd.tied = 30 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.0.attention.v.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 31 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.0.attention.v.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 32 : i64}, tensor<f32> {spmd.name = "state.blocks.0.attention.o.weight.step", spmd.tied = 33 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.0.attention.o.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 34 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.0.attention.o.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 35 : i64}, tensor<f32> {spmd.name = "state.blocks.0.attention_norm.scale.step", spmd.tied = 36 : i64}, tensor<32xf32> {spmd.name = "state.blocks.0.attention_norm.scale.exp_avg", spmd.tied = 37 : i64}, tensor<32xf32> {spmd.name = "state.blocks.0.attention_norm.scale.exp_avg_sq", spmd.tied = 38 : i64}, tensor<f32> {spmd.name = "state.blocks.0.ffn_norm.scale.step", spmd.tied = 39 : i64}, tensor<32xf32> {spmd.name = "state.blocks.0.ffn_norm.scale.exp_avg", spmd.tied = 40 : i64}, tensor<32xf32> {spmd.name = "state.blocks.0.ffn_norm.scale.exp_avg_sq", spmd.tied = 41 : i64}, tensor<f32> {spmd.name = "state.blocks.0.w1.weight.step", spmd.tied = 42 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.0.w1.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 43 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.0.w1.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 44 : i64}, tensor<f32> {spmd.name = "state.blocks.0.w3.weight.step", spmd.tied = 45 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.0.w3.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 46 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.0.w3.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 47 : i64}, tensor<f32> {spmd.name = "state.blocks.0.w2.weight.step", spmd.tied = 48 : i64}, tensor<32x64xf32> {spmd.name = "state.blocks.0.w2.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 49 : i64}, tensor<32x64xf32> {spmd.name = "state.blocks.0.w2.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 50 : i64}, tensor<f32> {spmd.name = "state.blocks.1.attention.q.weight.step", spmd.tied = 51 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.1.attention.q.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 52 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.1.attention.q.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 53 : i64}, tensor<f32> {spmd.name = "state.blocks.1.attention.k.weight.step", spmd.tied = 54 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.1.attention.k.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 55 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.1.attention.k.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 56 : i64}, tensor<f32> {spmd.name = "state.blocks.1.attention.v.weight.step", spmd.tied = 57 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.1.attention.v.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 58 : i64}, tensor<16x32xf32> {spmd.name = "state.blocks.1.attention.v.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 59 : i64}, tensor<f32> {spmd.name = "state.blocks.1.attention.o.weight.step", spmd.tied = 60 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.1.attention.o.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 61 : i64}, tensor<32x32xf32> {spmd.name = "state.blocks.1.attention.o.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 62 : i64}, tensor<f32> {spmd.name = "state.blocks.1.attention_norm.scale.step", spmd.tied = 63 : i64}, tensor<32xf32> {spmd.name = "state.blocks.1.attention_norm.scale.exp_avg", spmd.tied = 64 : i64}, tensor<32xf32> {spmd.name = "state.blocks.1.attention_norm.scale.exp_avg_sq", spmd.tied = 65 : i64}, tensor<f32> {spmd.name = "state.blocks.1.ffn_norm.scale.step", spmd.tied = 66 : i64}, tensor<32xf32> {spmd.name = "state.blocks.1.ffn_norm.scale.exp_avg", spmd.tied = 67 : i64}, tensor<32xf32> {spmd.name = "state.blocks.1.ffn_norm.scale.exp_avg_sq", spmd.tied = 68 : i64}, tensor<f32> {spmd.name = "state.blocks.1.w1.weight.step", spmd.tied = 69 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.1.w1.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 70 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.1.w1.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 71 : i64}, tensor<f32> {spmd.name = "state.blocks.1.w3.weight.step", spmd.tied = 72 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.1.w3.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 73 : i64}, tensor<64x32xf32> {spmd.name = "state.blocks.1.w3.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{"model"}, {}]>, spmd.tied = 74 : i64}, tensor<f32> {spmd.name = "state.blocks.1.w2.weight.step", spmd.tied = 75 : i64}, tensor<32x64xf32> {spmd.name = "state.blocks.1.w2.weight.exp_avg", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 76 : i64}, tensor<32x64xf32> {spmd.name = "state.blocks.1.w2.weight.exp_avg_sq", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>, spmd.tied = 77 : i64}, tensor<f32> {spmd.name = "state.norm.scale.step", spmd.tied = 78 : i64}, tensor<32xf32> {spmd.name = "state.norm.scale.exp_avg", spmd.tied = 79 : i64}, tensor<32xf32> {spmd.name = "state.norm.scale.exp_avg_sq", spmd.tied = 80 : i64}, tensor<f32> {spmd.name = "state.head.weight.step", spmd.tied = 81 : i64}, tensor<24x32xf32> {spmd.name = "state.head.weight.exp_avg", spmd.tied = 82 : i64}, tensor<24x32xf32> {spmd.name = "state.head.weight.exp_avg_sq", spmd.tied = 83 : i64}) {
    %c23_i64 = arith.constant 23 : i64
    %c-24_i64 = arith.constant -24 : i64
    %c24_i64 = arith.constant 24 : i64
    %c3_i64 = arith.constant 3 : i64
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %c-1_i64 = arith.constant -1 : i64
    %c0_i64 = arith.constant 0 : i64
    %c-100_i64 = arith.constant -100 : i64
    %c18_i64 = arith.constant 18 : i64
    %c24 = arith.constant 24 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %true = arith.constant true
    %cst_2 = arith.constant dense<-0.899999976> : tensor<f32>
    %cst_3 = arith.constant dense<1.000000e-01> : tensor<f32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<8x8x8x4xf32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<8x4x8x4xf32>
    %cst_6 = arith.constant dense<-1.000000e+00> : tensor<1x1xf32>
    %cst_7 = arith.constant dense<0.000000e+00> : tensor<64x24xf32>
    %cst_8 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_10 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_11 = arith.constant dense<true> : tensor<8x8xi1>
    %cst_12 = arith.constant 1.000000e-08 : f64
    %cst_13 = arith.constant 1.000000e-02 : f64
    %cst_14 = arith.constant 9.000000e-01 : f64
    %cst_15 = arith.constant 0.0010000000000000009 : f64
    %cst_16 = arith.constant 0.99899999999999999 : f64
    %cst_17 = arith.constant 5.000000e-01 : f64
    %cst_18 = arith.constant 1.000000e-05 : f64
    %cst_19 = arith.constant 3.200000e+01 : f32
    %cst_20 = arith.constant 4.000000e+00 : f32
    %cst_21 = arith.constant 1.000000e+04 : f32
    %cst_22 = arith.constant 5.000000e-01 : f32
    %cst_23 = arith.constant -5.000000e-01 : f32
    %cst_24 = arith.constant 2.000000e+00 : f32
    %cst_25 = arith.constant dense<0.000000e+00> : tensor<24x32xf32>
    %cst_26 = arith.constant dense<0> : tensor<i64>
    %cst_27 = arith.constant dense<-100> : tensor<i64>
    %cst_28 = arith.constant dense<1> : tensor<i64>
    %0 = tensor.empty() : tensor<8x8xi1>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg85 : tensor<8x8xi64>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi sge, %in, %c18_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %2 = tensor.empty() : tensor<8x8xi64>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %cst_27, %arg85 : tensor<8x8xi1>, tensor<i64>, tensor<8x8xi64>) outs(%2 : tensor<8x8xi64>) {
    ^bb0(%in: i1, %in_244: i64, %in_245: i64, %out: i64):
      %972 = arith.select %in, %in_244, %in_245 : i64
      linalg.yield %972 : i64
    } -> tensor<8x8xi64>
    %4 = tensor.empty() : tensor<8x8x32xf32>
    %5 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg84 : tensor<8x8xi64>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: i64, %out: f32):
      %972 = arith.index_cast %in : i64 to index
      %973 = linalg.index 2 : index
      %974 = arith.cmpi slt, %972, %c24 : index
      cf.assert %974, "index must be smaller than dim size"
      %975 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %975, "index must be larger or equal to 0"
      %extracted = tensor.extract %arg0[%972, %973] : tensor<24x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<8x8x32xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %7 = tensor.empty() : tensor<8x8x1xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<8x8x1xf32>) -> tensor<8x8x1xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_18 : f64 to f32
      %973 = arith.addf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x1xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.rsqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %12 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13, %arg5 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %15 = tensor.empty() : tensor<32x32xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed = tensor.collapse_shape %14 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %16 = tensor.empty() : tensor<64x32xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %18 = linalg.matmul ins(%collapsed, %transposed : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded = tensor.expand_shape %18 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %expanded_29 = tensor.expand_shape %18 [[0, 1], [2, 3]] output_shape [8, 8, 8, 4] : tensor<64x32xf32> into tensor<8x8x8x4xf32>
    %19 = tensor.empty() : tensor<8x8x8x4xf32>
    %transposed_30 = linalg.transpose ins(%expanded_29 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %20 = tensor.empty() : tensor<32x16xf32>
    %transposed_31 = linalg.transpose ins(%arg2 : tensor<16x32xf32>) outs(%20 : tensor<32x16xf32>) permutation = [1, 0] 
    %21 = tensor.empty() : tensor<64x16xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %23 = linalg.matmul ins(%collapsed, %transposed_31 : tensor<64x32xf32>, tensor<32x16xf32>) outs(%22 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_32 = tensor.expand_shape %23 [[0, 1], [2]] output_shape [8, 8, 16] : tensor<64x16xf32> into tensor<8x8x16xf32>
    %expanded_33 = tensor.expand_shape %23 [[0, 1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<64x16xf32> into tensor<8x8x4x4xf32>
    %24 = tensor.empty() : tensor<8x4x8x4xf32>
    %transposed_34 = linalg.transpose ins(%expanded_33 : tensor<8x8x4x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_35 = linalg.transpose ins(%arg3 : tensor<16x32xf32>) outs(%20 : tensor<32x16xf32>) permutation = [1, 0] 
    %25 = linalg.matmul ins(%collapsed, %transposed_35 : tensor<64x32xf32>, tensor<32x16xf32>) outs(%22 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_36 = tensor.expand_shape %25 [[0, 1], [2]] output_shape [8, 8, 16] : tensor<64x16xf32> into tensor<8x8x16xf32>
    %expanded_37 = tensor.expand_shape %25 [[0, 1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<64x16xf32> into tensor<8x8x4x4xf32>
    %transposed_38 = linalg.transpose ins(%expanded_37 : tensor<8x8x4x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %26 = tensor.empty() : tensor<8xi64>
    %27 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%26 : tensor<8xi64>) {
    ^bb0(%out: i64):
      %972 = linalg.index 0 : index
      %973 = arith.index_cast %972 : index to i64
      linalg.yield %973 : i64
    } -> tensor<8xi64>
    %expanded_39 = tensor.expand_shape %27 [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
    %28 = tensor.empty() : tensor<2xi64>
    %29 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%28 : tensor<2xi64>) {
    ^bb0(%out: i64):
      %972 = linalg.index 0 : index
      %973 = arith.index_cast %972 : index to i64
      %974 = arith.muli %973, %c2_i64 : i64
      linalg.yield %974 : i64
    } -> tensor<2xi64>
    %30 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%29 : tensor<2xi64>) outs(%28 : tensor<2xi64>) {
    ^bb0(%in: i64, %out: i64):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.negf %972 : f32
      %974 = arith.fptosi %973 : f32 to i64
      linalg.yield %974 : i64
    } -> tensor<2xi64>
    %31 = tensor.empty() : tensor<2xf32>
    %32 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%30 : tensor<2xi64>) outs(%31 : tensor<2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.divf %972, %cst_20 : f32
      linalg.yield %973 : f32
    } -> tensor<2xf32>
    %33 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%32 : tensor<2xf32>) outs(%31 : tensor<2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.powf %cst_21, %in : f32
      linalg.yield %972 : f32
    } -> tensor<2xf32>
    %34 = tensor.empty() : tensor<8x2xf32>
    %35 = linalg.generic {indexing_maps = [#map7, #map8, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_39, %33 : tensor<8x1xi64>, tensor<2xf32>) outs(%34 : tensor<8x2xf32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.mulf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<8x2xf32>
    %extracted_slice = tensor.extract_slice %transposed_30[0, 0, 0, 0] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %extracted_slice_40 = tensor.extract_slice %transposed_30[0, 0, 0, 1] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<8x2xf32>) outs(%34 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.cos %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x2xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%35 : tensor<8x2xf32>) outs(%34 : tensor<8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sin %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x2xf32>
    %38 = tensor.empty() : tensor<8x8x8x2xf32>
    %39 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %40 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_40, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %41 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %40 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %42 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %43 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_40, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %44 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42, %43 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %expanded_41 = tensor.expand_shape %41 [[0], [1], [2], [3, 4]] output_shape [8, 8, 8, 2, 1] : tensor<8x8x8x2xf32> into tensor<8x8x8x2x1xf32>
    %expanded_42 = tensor.expand_shape %44 [[0], [1], [2], [3, 4]] output_shape [8, 8, 8, 2, 1] : tensor<8x8x8x2xf32> into tensor<8x8x8x2x1xf32>
    %concat = tensor.concat dim(4) %expanded_41, %expanded_42 : (tensor<8x8x8x2x1xf32>, tensor<8x8x8x2x1xf32>) -> tensor<8x8x8x2x2xf32>
    %extracted_slice_43 = tensor.extract_slice %transposed_34[0, 0, 0, 0] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %extracted_slice_44 = tensor.extract_slice %transposed_34[0, 0, 0, 1] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %45 = tensor.empty() : tensor<8x4x8x2xf32>
    %46 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_43, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %47 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_44, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %48 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %47 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %49 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_43, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %50 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_44, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %51 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%49, %50 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %expanded_45 = tensor.expand_shape %48 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 1] : tensor<8x4x8x2xf32> into tensor<8x4x8x2x1xf32>
    %expanded_46 = tensor.expand_shape %51 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 1] : tensor<8x4x8x2xf32> into tensor<8x4x8x2x1xf32>
    %concat_47 = tensor.concat dim(4) %expanded_45, %expanded_46 : (tensor<8x4x8x2x1xf32>, tensor<8x4x8x2x1xf32>) -> tensor<8x4x8x2x2xf32>
    %collapsed_48 = tensor.collapse_shape %concat_47 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x2xf32> into tensor<8x4x8x4xf32>
    %expanded_49 = tensor.expand_shape %collapsed_48 [[0], [1], [2, 3], [4]] output_shape [8, 4, 1, 8, 4] : tensor<8x4x8x4xf32> into tensor<8x4x1x8x4xf32>
    %52 = tensor.empty() : tensor<8x4x1x4x8xf32>
    %transposed_50 = linalg.transpose ins(%expanded_49 : tensor<8x4x1x8x4xf32>) outs(%52 : tensor<8x4x1x4x8xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_51 = tensor.collapse_shape %concat [[0, 1], [2], [3, 4]] : tensor<8x8x8x2x2xf32> into tensor<64x8x4xf32>
    %53 = tensor.empty() : tensor<8x4x2x4x8xf32>
    %collapsed_52 = tensor.collapse_shape %transposed_50 [[0], [1, 2], [3], [4]] : tensor<8x4x1x4x8xf32> into tensor<8x4x4x8xf32>
    %54 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_52 : tensor<8x4x4x8xf32>) outs(%53 : tensor<8x4x2x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x4x8xf32>
    %collapsed_53 = tensor.collapse_shape %54 [[0, 1, 2], [3], [4]] : tensor<8x4x2x4x8xf32> into tensor<64x4x8xf32>
    %55 = tensor.empty() : tensor<64x8x8xf32>
    %56 = linalg.fill ins(%cst : f32) outs(%55 : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %57 = linalg.batch_matmul ins(%collapsed_51, %collapsed_53 : tensor<64x8x4xf32>, tensor<64x4x8xf32>) outs(%56 : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %expanded_54 = tensor.expand_shape %57 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 8] : tensor<64x8x8xf32> into tensor<8x4x2x8x8xf32>
    %58 = tensor.empty() : tensor<8x4x2x8x8xf32>
    %59 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_54 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_22 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %expanded_55 = tensor.expand_shape %27 [[0, 1]] output_shape [1, 8] : tensor<8xi64> into tensor<1x8xi64>
    %60 = linalg.generic {indexing_maps = [#map13, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_55, %expanded_39 : tensor<1x8xi64>, tensor<8x1xi64>) outs(%2 : tensor<8x8xi64>) {
    ^bb0(%in: i64, %in_244: i64, %out: i64):
      %972 = arith.subi %in, %in_244 : i64
      linalg.yield %972 : i64
    } -> tensor<8x8xi64>
    %61 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%60 : tensor<8x8xi64>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi sge, %in, %c1_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %62 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%61, %cst_11 : tensor<8x8xi1>, tensor<8x8xi1>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_244: i1, %out: i1):
      %972 = arith.andi %in, %in_244 : i1
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %63 = linalg.generic {indexing_maps = [#map14, #map15, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_10, %59 : tensor<8x8xi1>, tensor<f32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %64 = tensor.empty() : tensor<8x4x2x8xi64>
    %65 = linalg.fill ins(%c0_i64 : i64) outs(%64 : tensor<8x4x2x8xi64>) -> tensor<8x4x2x8xi64>
    %66 = tensor.empty() : tensor<8x4x2x8xf32>
    %67 = linalg.fill ins(%cst_0 : f32) outs(%66 : tensor<8x4x2x8xf32>) -> tensor<8x4x2x8xf32>
    %68:2 = linalg.generic {indexing_maps = [#map12, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%63 : tensor<8x4x2x8x8xf32>) outs(%67, %65 : tensor<8x4x2x8xf32>, tensor<8x4x2x8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_244: i64):
      %972 = linalg.index 4 : index
      %973 = arith.index_cast %972 : index to i64
      %974 = arith.maximumf %in, %out : f32
      %975 = arith.cmpf ogt, %in, %out : f32
      %976 = arith.select %975, %973, %out_244 : i64
      linalg.yield %974, %976 : f32, i64
    } -> (tensor<8x4x2x8xf32>, tensor<8x4x2x8xi64>)
    %expanded_56 = tensor.expand_shape %68#0 [[0], [1], [2], [3, 4]] output_shape [8, 4, 2, 8, 1] : tensor<8x4x2x8xf32> into tensor<8x4x2x8x1xf32>
    %69 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%63, %expanded_56 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %70 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.exp %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %71 = tensor.empty() : tensor<8x4x2x8x1xf32>
    %72 = linalg.fill ins(%cst : f32) outs(%71 : tensor<8x4x2x8x1xf32>) -> tensor<8x4x2x8x1xf32>
    %73 = linalg.generic {indexing_maps = [#map12, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%70 : tensor<8x4x2x8x8xf32>) outs(%72 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x1xf32>
    %74 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%70, %73 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %collapsed_57 = tensor.collapse_shape %74 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x8xf32> into tensor<64x8x8xf32>
    %75 = tensor.empty() : tensor<8x4x2x8x4xf32>
    %76 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_38 : tensor<8x4x8x4xf32>) outs(%75 : tensor<8x4x2x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x4xf32>
    %collapsed_58 = tensor.collapse_shape %76 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x4xf32> into tensor<64x8x4xf32>
    %77 = tensor.empty() : tensor<64x8x4xf32>
    %78 = linalg.fill ins(%cst : f32) outs(%77 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %79 = linalg.batch_matmul ins(%collapsed_57, %collapsed_58 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %expanded_59 = tensor.expand_shape %79 [[0, 1], [2], [3]] output_shape [8, 8, 8, 4] : tensor<64x8x4xf32> into tensor<8x8x8x4xf32>
    %transposed_60 = linalg.transpose ins(%expanded_59 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_61 = linalg.transpose ins(%arg4 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed_62 = tensor.collapse_shape %transposed_60 [[0, 1], [2, 3]] : tensor<8x8x8x4xf32> into tensor<64x32xf32>
    %80 = linalg.matmul ins(%collapsed_62, %transposed_61 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_63 = tensor.expand_shape %80 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %81 = spmd.with_sharding_constraint %expanded_63 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<8x8x32xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %81 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %83 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %84 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%83 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %85 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %86 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_18 : f64 to f32
      %973 = arith.addf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x1xf32>
    %87 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%86 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.rsqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %88 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %87 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %89 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%88, %arg6 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %90 = tensor.empty() : tensor<32x64xf32>
    %transposed_64 = linalg.transpose ins(%arg7 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %collapsed_65 = tensor.collapse_shape %89 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %91 = tensor.empty() : tensor<64x64xf32>
    %92 = linalg.fill ins(%cst : f32) outs(%91 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %93 = linalg.matmul ins(%collapsed_65, %transposed_64 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_66 = tensor.expand_shape %93 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %94 = spmd.with_sharding_constraint %expanded_66 <@mesh, [{?}, {?}, {"model"}]> : tensor<8x8x64xf32>
    %95 = tensor.empty() : tensor<8x8x64xf32>
    %96 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      %973 = math.exp %972 : f32
      %974 = arith.addf %973, %cst_1 : f32
      %975 = arith.divf %cst_1, %974 : f32
      linalg.yield %975 : f32
    } -> tensor<8x8x64xf32>
    %97 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %96 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %transposed_67 = linalg.transpose ins(%arg8 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %98 = linalg.matmul ins(%collapsed_65, %transposed_67 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_68 = tensor.expand_shape %98 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %99 = spmd.with_sharding_constraint %expanded_68 <@mesh, [{?}, {?}, {"model"}]> : tensor<8x8x64xf32>
    %100 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %99 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %transposed_69 = linalg.transpose ins(%arg9 : tensor<32x64xf32>) outs(%16 : tensor<64x32xf32>) permutation = [1, 0] 
    %collapsed_70 = tensor.collapse_shape %100 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %101 = linalg.matmul ins(%collapsed_70, %transposed_69 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_71 = tensor.expand_shape %101 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %102 = spmd.with_sharding_constraint %expanded_71 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<8x8x32xf32>
    %103 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82, %102 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    spmd.stage_boundary %103 : tensor<8x8x32xf32>
    %104 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %105 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%104 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %106 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %107 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_18 : f64 to f32
      %973 = arith.addf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x1xf32>
    %108 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.rsqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %109 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %108 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %110 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %arg14 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %transposed_72 = linalg.transpose ins(%arg10 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed_73 = tensor.collapse_shape %110 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %111 = linalg.matmul ins(%collapsed_73, %transposed_72 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_74 = tensor.expand_shape %111 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %expanded_75 = tensor.expand_shape %111 [[0, 1], [2, 3]] output_shape [8, 8, 8, 4] : tensor<64x32xf32> into tensor<8x8x8x4xf32>
    %transposed_76 = linalg.transpose ins(%expanded_75 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_77 = linalg.transpose ins(%arg11 : tensor<16x32xf32>) outs(%20 : tensor<32x16xf32>) permutation = [1, 0] 
    %112 = linalg.matmul ins(%collapsed_73, %transposed_77 : tensor<64x32xf32>, tensor<32x16xf32>) outs(%22 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_78 = tensor.expand_shape %112 [[0, 1], [2]] output_shape [8, 8, 16] : tensor<64x16xf32> into tensor<8x8x16xf32>
    %expanded_79 = tensor.expand_shape %112 [[0, 1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<64x16xf32> into tensor<8x8x4x4xf32>
    %transposed_80 = linalg.transpose ins(%expanded_79 : tensor<8x8x4x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_81 = linalg.transpose ins(%arg12 : tensor<16x32xf32>) outs(%20 : tensor<32x16xf32>) permutation = [1, 0] 
    %113 = linalg.matmul ins(%collapsed_73, %transposed_81 : tensor<64x32xf32>, tensor<32x16xf32>) outs(%22 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_82 = tensor.expand_shape %113 [[0, 1], [2]] output_shape [8, 8, 16] : tensor<64x16xf32> into tensor<8x8x16xf32>
    %expanded_83 = tensor.expand_shape %113 [[0, 1], [2, 3]] output_shape [8, 8, 4, 4] : tensor<64x16xf32> into tensor<8x8x4x4xf32>
    %transposed_84 = linalg.transpose ins(%expanded_83 : tensor<8x8x4x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) permutation = [0, 2, 1, 3] 
    %extracted_slice_85 = tensor.extract_slice %transposed_76[0, 0, 0, 0] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %extracted_slice_86 = tensor.extract_slice %transposed_76[0, 0, 0, 1] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x4xf32> to tensor<8x8x8x2xf32>
    %114 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_85, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %115 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_86, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %116 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%114, %115 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %117 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_85, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %118 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_86, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %119 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%117, %118 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %expanded_87 = tensor.expand_shape %116 [[0], [1], [2], [3, 4]] output_shape [8, 8, 8, 2, 1] : tensor<8x8x8x2xf32> into tensor<8x8x8x2x1xf32>
    %expanded_88 = tensor.expand_shape %119 [[0], [1], [2], [3, 4]] output_shape [8, 8, 8, 2, 1] : tensor<8x8x8x2xf32> into tensor<8x8x8x2x1xf32>
    %concat_89 = tensor.concat dim(4) %expanded_87, %expanded_88 : (tensor<8x8x8x2x1xf32>, tensor<8x8x8x2x1xf32>) -> tensor<8x8x8x2x2xf32>
    %extracted_slice_90 = tensor.extract_slice %transposed_80[0, 0, 0, 0] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %extracted_slice_91 = tensor.extract_slice %transposed_80[0, 0, 0, 1] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x4xf32> to tensor<8x4x8x2xf32>
    %120 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_90, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %121 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_91, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %122 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%120, %121 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %123 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_90, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %124 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_91, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %125 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%123, %124 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %expanded_92 = tensor.expand_shape %122 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 1] : tensor<8x4x8x2xf32> into tensor<8x4x8x2x1xf32>
    %expanded_93 = tensor.expand_shape %125 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 1] : tensor<8x4x8x2xf32> into tensor<8x4x8x2x1xf32>
    %concat_94 = tensor.concat dim(4) %expanded_92, %expanded_93 : (tensor<8x4x8x2x1xf32>, tensor<8x4x8x2x1xf32>) -> tensor<8x4x8x2x2xf32>
    %collapsed_95 = tensor.collapse_shape %concat_94 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x2xf32> into tensor<8x4x8x4xf32>
    %expanded_96 = tensor.expand_shape %collapsed_95 [[0], [1], [2, 3], [4]] output_shape [8, 4, 1, 8, 4] : tensor<8x4x8x4xf32> into tensor<8x4x1x8x4xf32>
    %transposed_97 = linalg.transpose ins(%expanded_96 : tensor<8x4x1x8x4xf32>) outs(%52 : tensor<8x4x1x4x8xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_98 = tensor.collapse_shape %concat_89 [[0, 1], [2], [3, 4]] : tensor<8x8x8x2x2xf32> into tensor<64x8x4xf32>
    %collapsed_99 = tensor.collapse_shape %transposed_97 [[0], [1, 2], [3], [4]] : tensor<8x4x1x4x8xf32> into tensor<8x4x4x8xf32>
    %126 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_99 : tensor<8x4x4x8xf32>) outs(%53 : tensor<8x4x2x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x4x8xf32>
    %collapsed_100 = tensor.collapse_shape %126 [[0, 1, 2], [3], [4]] : tensor<8x4x2x4x8xf32> into tensor<64x4x8xf32>
    %127 = linalg.batch_matmul ins(%collapsed_98, %collapsed_100 : tensor<64x8x4xf32>, tensor<64x4x8xf32>) outs(%56 : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %expanded_101 = tensor.expand_shape %127 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 8] : tensor<64x8x8xf32> into tensor<8x4x2x8x8xf32>
    %128 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_101 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_22 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %129 = linalg.generic {indexing_maps = [#map14, #map15, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_10, %128 : tensor<8x8xi1>, tensor<f32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %130:2 = linalg.generic {indexing_maps = [#map12, #map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%129 : tensor<8x4x2x8x8xf32>) outs(%67, %65 : tensor<8x4x2x8xf32>, tensor<8x4x2x8xi64>) {
    ^bb0(%in: f32, %out: f32, %out_244: i64):
      %972 = linalg.index 4 : index
      %973 = arith.index_cast %972 : index to i64
      %974 = arith.maximumf %in, %out : f32
      %975 = arith.cmpf ogt, %in, %out : f32
      %976 = arith.select %975, %973, %out_244 : i64
      linalg.yield %974, %976 : f32, i64
    } -> (tensor<8x4x2x8xf32>, tensor<8x4x2x8xi64>)
    %expanded_102 = tensor.expand_shape %130#0 [[0], [1], [2], [3, 4]] output_shape [8, 4, 2, 8, 1] : tensor<8x4x2x8xf32> into tensor<8x4x2x8x1xf32>
    %131 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%129, %expanded_102 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %132 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%131 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.exp %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %133 = linalg.generic {indexing_maps = [#map12, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%132 : tensor<8x4x2x8x8xf32>) outs(%72 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x1xf32>
    %134 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%132, %133 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %collapsed_103 = tensor.collapse_shape %134 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x8xf32> into tensor<64x8x8xf32>
    %135 = linalg.generic {indexing_maps = [#map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_84 : tensor<8x4x8x4xf32>) outs(%75 : tensor<8x4x2x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x4x2x8x4xf32>
    %collapsed_104 = tensor.collapse_shape %135 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x4xf32> into tensor<64x8x4xf32>
    %136 = linalg.batch_matmul ins(%collapsed_103, %collapsed_104 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %expanded_105 = tensor.expand_shape %136 [[0, 1], [2], [3]] output_shape [8, 8, 8, 4] : tensor<64x8x4xf32> into tensor<8x8x8x4xf32>
    %transposed_106 = linalg.transpose ins(%expanded_105 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %transposed_107 = linalg.transpose ins(%arg13 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) permutation = [1, 0] 
    %collapsed_108 = tensor.collapse_shape %transposed_106 [[0, 1], [2, 3]] : tensor<8x8x8x4xf32> into tensor<64x32xf32>
    %137 = linalg.matmul ins(%collapsed_108, %transposed_107 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_109 = tensor.expand_shape %137 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %138 = spmd.with_sharding_constraint %expanded_109 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<8x8x32xf32>
    %139 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103, %138 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %140 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %141 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%140 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %142 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%141 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %143 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%142 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_18 : f64 to f32
      %973 = arith.addf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x1xf32>
    %144 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%143 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.rsqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %145 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139, %144 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %146 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%145, %arg15 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %transposed_110 = linalg.transpose ins(%arg16 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %collapsed_111 = tensor.collapse_shape %146 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %147 = linalg.matmul ins(%collapsed_111, %transposed_110 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_112 = tensor.expand_shape %147 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %148 = spmd.with_sharding_constraint %expanded_112 <@mesh, [{?}, {?}, {"model"}]> : tensor<8x8x64xf32>
    %149 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148 : tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      %973 = math.exp %972 : f32
      %974 = arith.addf %973, %cst_1 : f32
      %975 = arith.divf %cst_1, %974 : f32
      linalg.yield %975 : f32
    } -> tensor<8x8x64xf32>
    %150 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %149 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %transposed_113 = linalg.transpose ins(%arg17 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %151 = linalg.matmul ins(%collapsed_111, %transposed_113 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_114 = tensor.expand_shape %151 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %152 = spmd.with_sharding_constraint %expanded_114 <@mesh, [{?}, {?}, {"model"}]> : tensor<8x8x64xf32>
    %153 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%150, %152 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %transposed_115 = linalg.transpose ins(%arg18 : tensor<32x64xf32>) outs(%16 : tensor<64x32xf32>) permutation = [1, 0] 
    %collapsed_116 = tensor.collapse_shape %153 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %154 = linalg.matmul ins(%collapsed_116, %transposed_115 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_117 = tensor.expand_shape %154 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %155 = spmd.with_sharding_constraint %expanded_117 <@mesh, [{?}, {?}, {?}], replicated = {"model"}> : tensor<8x8x32xf32>
    %156 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139, %155 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %157 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %158 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%157 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %159 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%158 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %160 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%159 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_18 : f64 to f32
      %973 = arith.addf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x1xf32>
    %161 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%160 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.rsqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %162 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156, %161 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %163 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%162, %arg19 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %164 = tensor.empty() : tensor<32x24xf32>
    %transposed_118 = linalg.transpose ins(%arg20 : tensor<24x32xf32>) outs(%164 : tensor<32x24xf32>) permutation = [1, 0] 
    %collapsed_119 = tensor.collapse_shape %163 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %165 = tensor.empty() : tensor<64x24xf32>
    %166 = linalg.fill ins(%cst : f32) outs(%165 : tensor<64x24xf32>) -> tensor<64x24xf32>
    %167 = linalg.matmul ins(%collapsed_119, %transposed_118 : tensor<64x32xf32>, tensor<32x24xf32>) outs(%166 : tensor<64x24xf32>) -> tensor<64x24xf32>
    %collapsed_120 = tensor.collapse_shape %3 [[0, 1]] : tensor<8x8xi64> into tensor<64xi64>
    %168 = tensor.empty() : tensor<64xi64>
    %169 = linalg.fill ins(%c0_i64 : i64) outs(%168 : tensor<64xi64>) -> tensor<64xi64>
    %170 = tensor.empty() : tensor<64xf32>
    %171 = linalg.fill ins(%cst_0 : f32) outs(%170 : tensor<64xf32>) -> tensor<64xf32>
    %172:2 = linalg.generic {indexing_maps = [#map, #map18, #map18], iterator_types = ["parallel", "reduction"]} ins(%167 : tensor<64x24xf32>) outs(%171, %169 : tensor<64xf32>, tensor<64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_244: i64):
      %972 = linalg.index 1 : index
      %973 = arith.index_cast %972 : index to i64
      %974 = arith.maximumf %in, %out : f32
      %975 = arith.cmpf ogt, %in, %out : f32
      %976 = arith.select %975, %973, %out_244 : i64
      linalg.yield %974, %976 : f32, i64
    } -> (tensor<64xf32>, tensor<64xi64>)
    %expanded_121 = tensor.expand_shape %172#0 [[0, 1]] output_shape [64, 1] : tensor<64xf32> into tensor<64x1xf32>
    %173 = linalg.generic {indexing_maps = [#map, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%167, %expanded_121 : tensor<64x24xf32>, tensor<64x1xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %174 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%173 : tensor<64x24xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.exp %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %175 = tensor.empty() : tensor<64x1xf32>
    %176 = linalg.fill ins(%cst : f32) outs(%175 : tensor<64x1xf32>) -> tensor<64x1xf32>
    %177 = linalg.generic {indexing_maps = [#map, #map7], iterator_types = ["parallel", "reduction"]} ins(%174 : tensor<64x24xf32>) outs(%176 : tensor<64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<64x1xf32>
    %178 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%177 : tensor<64x1xf32>) outs(%175 : tensor<64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.log %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x1xf32>
    %179 = linalg.generic {indexing_maps = [#map, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%173, %178 : tensor<64x24xf32>, tensor<64x1xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %180 = tensor.empty() : tensor<64xi1>
    %181 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_120 : tensor<64xi64>) outs(%180 : tensor<64xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi ne, %in, %c-100_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<64xi1>
    %182 = linalg.generic {indexing_maps = [#map6, #map6, #map19, #map6], iterator_types = ["parallel"]} ins(%181, %collapsed_120, %cst_26 : tensor<64xi1>, tensor<64xi64>, tensor<i64>) outs(%168 : tensor<64xi64>) {
    ^bb0(%in: i1, %in_244: i64, %in_245: i64, %out: i64):
      %972 = arith.select %in, %in_244, %in_245 : i64
      linalg.yield %972 : i64
    } -> tensor<64xi64>
    %expanded_122 = tensor.expand_shape %182 [[0, 1]] output_shape [64, 1] : tensor<64xi64> into tensor<64x1xi64>
    %183 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_122 : tensor<64x1xi64>) outs(%176 : tensor<64x1xf32>) {
    ^bb0(%in: i64, %out: f32):
      %972 = linalg.index 0 : index
      %973 = arith.index_cast %in : i64 to index
      %974 = arith.cmpi slt, %973, %c24 : index
      cf.assert %974, "index must be smaller than dim size"
      %975 = arith.cmpi sge, %in, %c0_i64 : i64
      cf.assert %975, "index must be larger or equal to 0"
      %extracted = tensor.extract %179[%972, %973] : tensor<64x24xf32>
      linalg.yield %extracted : f32
    } -> tensor<64x1xf32>
    %collapsed_123 = tensor.collapse_shape %183 [[0, 1]] : tensor<64x1xf32> into tensor<64xf32>
    %184 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_123 : tensor<64xf32>) outs(%170 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<64xf32>
    %185 = linalg.generic {indexing_maps = [#map6, #map6, #map19, #map6], iterator_types = ["parallel"]} ins(%181, %184, %cst_9 : tensor<64xi1>, tensor<64xf32>, tensor<f32>) outs(%170 : tensor<64xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64xf32>
    %186 = tensor.empty() : tensor<i64>
    %187 = linalg.fill ins(%c0_i64 : i64) outs(%186 : tensor<i64>) -> tensor<i64>
    %188 = linalg.generic {indexing_maps = [#map6, #map19], iterator_types = ["reduction"]} ins(%181 : tensor<64xi1>) outs(%187 : tensor<i64>) {
    ^bb0(%in: i1, %out: i64):
      %972 = arith.extui %in : i1 to i64
      %973 = arith.addi %972, %out : i64
      linalg.yield %973 : i64
    } -> tensor<i64>
    %189 = tensor.empty() : tensor<f32>
    %190 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%188 : tensor<i64>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %191 = linalg.fill ins(%cst : f32) outs(%189 : tensor<f32>) -> tensor<f32>
    %192 = linalg.generic {indexing_maps = [#map6, #map19], iterator_types = ["reduction"]} ins(%185 : tensor<64xf32>) outs(%191 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %193 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%192, %190 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %194 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %190 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %expanded_124 = tensor.expand_shape %collapsed_120 [[0, 1]] output_shape [64, 1] : tensor<64xi64> into tensor<64x1xi64>
    %195 = tensor.empty() : tensor<64x1xi1>
    %196 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_124 : tensor<64x1xi64>) outs(%195 : tensor<64x1xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi ne, %in, %c-100_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<64x1xi1>
    %197 = tensor.empty() : tensor<64x1xi64>
    %198 = linalg.generic {indexing_maps = [#map, #map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%196, %expanded_124, %cst_26 : tensor<64x1xi1>, tensor<64x1xi64>, tensor<i64>) outs(%197 : tensor<64x1xi64>) {
    ^bb0(%in: i1, %in_244: i64, %in_245: i64, %out: i64):
      %972 = arith.select %in, %in_244, %in_245 : i64
      linalg.yield %972 : i64
    } -> tensor<64x1xi64>
    %199 = tensor.empty() : tensor<24xi64>
    %200 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel"]} outs(%199 : tensor<24xi64>) {
    ^bb0(%out: i64):
      %972 = linalg.index 0 : index
      %973 = arith.index_cast %972 : index to i64
      linalg.yield %973 : i64
    } -> tensor<24xi64>
    %expanded_125 = tensor.expand_shape %200 [[0, 1]] output_shape [1, 24] : tensor<24xi64> into tensor<1x24xi64>
    %201 = tensor.empty() : tensor<64x24xi1>
    %202 = linalg.generic {indexing_maps = [#map7, #map13, #map], iterator_types = ["parallel", "parallel"]} ins(%198, %expanded_125 : tensor<64x1xi64>, tensor<1x24xi64>) outs(%201 : tensor<64x24xi1>) {
    ^bb0(%in: i64, %in_244: i64, %out: i1):
      %972 = arith.cmpi eq, %in, %in_244 : i64
      linalg.yield %972 : i1
    } -> tensor<64x24xi1>
    %203 = linalg.generic {indexing_maps = [#map, #map21, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%202, %cst_6, %cst_7 : tensor<64x24xi1>, tensor<1x1xf32>, tensor<64x24xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %204 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%196, %194, %cst_9 : tensor<64x1xi1>, tensor<f32>, tensor<f32>) outs(%175 : tensor<64x1xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x1xf32>
    %205 = linalg.generic {indexing_maps = [#map, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%203, %204 : tensor<64x24xf32>, tensor<64x1xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %206 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%179 : tensor<64x24xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.exp %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %207 = linalg.generic {indexing_maps = [#map, #map7], iterator_types = ["parallel", "reduction"]} ins(%205 : tensor<64x24xf32>) outs(%176 : tensor<64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<64x1xf32>
    %208 = linalg.generic {indexing_maps = [#map, #map7, #map], iterator_types = ["parallel", "parallel"]} ins(%206, %207 : tensor<64x24xf32>, tensor<64x1xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %209 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%205, %208 : tensor<64x24xf32>, tensor<64x24xf32>) outs(%165 : tensor<64x24xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x24xf32>
    %210 = tensor.empty() : tensor<24x64xf32>
    %transposed_126 = linalg.transpose ins(%209 : tensor<64x24xf32>) outs(%210 : tensor<24x64xf32>) permutation = [1, 0] 
    %211 = tensor.empty() : tensor<24x32xf32>
    %212 = linalg.fill ins(%cst : f32) outs(%211 : tensor<24x32xf32>) -> tensor<24x32xf32>
    %213 = linalg.matmul ins(%transposed_126, %collapsed_119 : tensor<24x64xf32>, tensor<64x32xf32>) outs(%212 : tensor<24x32xf32>) -> tensor<24x32xf32>
    %214 = linalg.matmul ins(%209, %arg20 : tensor<64x24xf32>, tensor<24x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_127 = tensor.expand_shape %214 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %215 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_127, %162 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %216 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_127, %arg19 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %217 = tensor.empty() : tensor<1x1x32xf32>
    %218 = linalg.fill ins(%cst : f32) outs(%217 : tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %219 = linalg.generic {indexing_maps = [#map3, #map22], iterator_types = ["reduction", "reduction", "parallel"]} ins(%215 : tensor<8x8x32xf32>) outs(%218 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<1x1x32xf32>
    %collapsed_128 = tensor.collapse_shape %219 [[0, 1, 2]] : tensor<1x1x32xf32> into tensor<32xf32>
    %220 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %156 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %221 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%216, %161 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %222 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%220 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %223 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%161 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %224 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%222 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_23 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %225 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%224, %223 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %collapsed_129 = tensor.collapse_shape %225 [[0], [1, 2]] : tensor<8x8x1xf32> into tensor<8x8xf32>
    %226 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_129 : tensor<8x8xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %227 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%226 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %228 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%156 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %229 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%228 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_24 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %230 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%227, %229 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %231 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%221, %230 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %collapsed_130 = tensor.collapse_shape %231 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %transposed_131 = linalg.transpose ins(%collapsed_130 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %232 = linalg.fill ins(%cst : f32) outs(%90 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %233 = linalg.matmul ins(%transposed_131, %collapsed_116 : tensor<32x64xf32>, tensor<64x64xf32>) outs(%232 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %234 = linalg.matmul ins(%collapsed_130, %arg18 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_132 = tensor.expand_shape %234 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %235 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_132, %150 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %236 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_132, %152 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %collapsed_133 = tensor.collapse_shape %235 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %transposed_134 = linalg.transpose ins(%collapsed_133 : tensor<64x64xf32>) outs(%91 : tensor<64x64xf32>) permutation = [1, 0] 
    %237 = linalg.matmul ins(%transposed_134, %collapsed_111 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %238 = linalg.matmul ins(%collapsed_133, %arg17 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_135 = tensor.expand_shape %238 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %239 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%236, %149 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %240 = linalg.generic {indexing_maps = [#map23, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_28, %149 : tensor<i64>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x64xf32>
    %241 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%148, %240 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %242 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%241 : tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %243 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%239, %242 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %collapsed_136 = tensor.collapse_shape %243 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %transposed_137 = linalg.transpose ins(%collapsed_136 : tensor<64x64xf32>) outs(%91 : tensor<64x64xf32>) permutation = [1, 0] 
    %244 = linalg.matmul ins(%transposed_137, %collapsed_111 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %245 = linalg.matmul ins(%collapsed_136, %arg16 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_138 = tensor.expand_shape %245 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %246 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_135, %expanded_138 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %247 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%246, %145 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %248 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%246, %arg15 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %249 = linalg.generic {indexing_maps = [#map3, #map22], iterator_types = ["reduction", "reduction", "parallel"]} ins(%247 : tensor<8x8x32xf32>) outs(%218 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<1x1x32xf32>
    %collapsed_139 = tensor.collapse_shape %249 [[0, 1, 2]] : tensor<1x1x32xf32> into tensor<32xf32>
    %250 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %139 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %251 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%248, %144 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %252 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%250 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %253 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%231, %251 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %254 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%144 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %255 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%252 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_23 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %256 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%255, %254 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %collapsed_140 = tensor.collapse_shape %256 [[0], [1, 2]] : tensor<8x8x1xf32> into tensor<8x8xf32>
    %257 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_140 : tensor<8x8xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %258 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%257 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %259 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%139 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %260 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%259 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_24 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %261 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%258, %260 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %262 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%253, %261 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %collapsed_141 = tensor.collapse_shape %262 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %transposed_142 = linalg.transpose ins(%collapsed_141 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %263 = linalg.fill ins(%cst : f32) outs(%15 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %264 = linalg.matmul ins(%transposed_142, %collapsed_108 : tensor<32x64xf32>, tensor<64x32xf32>) outs(%263 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %265 = linalg.matmul ins(%collapsed_141, %arg13 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_143 = tensor.expand_shape %265 [[0, 1], [2, 3]] output_shape [8, 8, 8, 4] : tensor<64x32xf32> into tensor<8x8x8x4xf32>
    %transposed_144 = linalg.transpose ins(%expanded_143 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_145 = tensor.collapse_shape %transposed_144 [[0, 1], [2], [3]] : tensor<8x8x8x4xf32> into tensor<64x8x4xf32>
    %transposed_146 = linalg.transpose ins(%collapsed_103 : tensor<64x8x8xf32>) outs(%55 : tensor<64x8x8xf32>) permutation = [0, 2, 1] 
    %266 = linalg.batch_matmul ins(%transposed_146, %collapsed_145 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %267 = tensor.empty() : tensor<64x4x8xf32>
    %transposed_147 = linalg.transpose ins(%collapsed_104 : tensor<64x8x4xf32>) outs(%267 : tensor<64x4x8xf32>) permutation = [0, 2, 1] 
    %268 = linalg.batch_matmul ins(%collapsed_145, %transposed_147 : tensor<64x8x4xf32>, tensor<64x4x8xf32>) outs(%56 : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %expanded_148 = tensor.expand_shape %266 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 4] : tensor<64x8x4xf32> into tensor<8x4x2x8x4xf32>
    %269 = tensor.empty() : tensor<8x4x1x8x4xf32>
    %270 = linalg.fill ins(%cst : f32) outs(%269 : tensor<8x4x1x8x4xf32>) -> tensor<8x4x1x8x4xf32>
    %271 = linalg.generic {indexing_maps = [#map12, #map24], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%expanded_148 : tensor<8x4x2x8x4xf32>) outs(%270 : tensor<8x4x1x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x1x8x4xf32>
    %expanded_149 = tensor.expand_shape %268 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 8] : tensor<64x8x8xf32> into tensor<8x4x2x8x8xf32>
    %collapsed_150 = tensor.collapse_shape %271 [[0], [1, 2], [3], [4]] : tensor<8x4x1x8x4xf32> into tensor<8x4x8x4xf32>
    %272 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_149, %134 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %273 = linalg.generic {indexing_maps = [#map12, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%272 : tensor<8x4x2x8x8xf32>) outs(%72 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x1xf32>
    %274 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%134, %273 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %275 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%272, %274 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %276 = linalg.generic {indexing_maps = [#map14, #map15, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_9, %275 : tensor<8x8xi1>, tensor<f32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %277 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%276 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_22 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %collapsed_151 = tensor.collapse_shape %277 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x8xf32> into tensor<64x8x8xf32>
    %transposed_152 = linalg.transpose ins(%collapsed_98 : tensor<64x8x4xf32>) outs(%267 : tensor<64x4x8xf32>) permutation = [0, 2, 1] 
    %278 = linalg.fill ins(%cst : f32) outs(%267 : tensor<64x4x8xf32>) -> tensor<64x4x8xf32>
    %279 = linalg.batch_matmul ins(%transposed_152, %collapsed_151 : tensor<64x4x8xf32>, tensor<64x8x8xf32>) outs(%278 : tensor<64x4x8xf32>) -> tensor<64x4x8xf32>
    %transposed_153 = linalg.transpose ins(%collapsed_100 : tensor<64x4x8xf32>) outs(%77 : tensor<64x8x4xf32>) permutation = [0, 2, 1] 
    %280 = linalg.batch_matmul ins(%collapsed_151, %transposed_153 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %expanded_154 = tensor.expand_shape %279 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 4, 8] : tensor<64x4x8xf32> into tensor<8x4x2x4x8xf32>
    %281 = linalg.fill ins(%cst : f32) outs(%52 : tensor<8x4x1x4x8xf32>) -> tensor<8x4x1x4x8xf32>
    %282 = linalg.generic {indexing_maps = [#map12, #map24], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%expanded_154 : tensor<8x4x2x4x8xf32>) outs(%281 : tensor<8x4x1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x1x4x8xf32>
    %transposed_155 = linalg.transpose ins(%282 : tensor<8x4x1x4x8xf32>) outs(%269 : tensor<8x4x1x8x4xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_156 = tensor.collapse_shape %transposed_155 [[0], [1, 2], [3], [4]] : tensor<8x4x1x8x4xf32> into tensor<8x4x8x4xf32>
    %expanded_157 = tensor.expand_shape %collapsed_156 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 2] : tensor<8x4x8x4xf32> into tensor<8x4x8x2x2xf32>
    %extracted_slice_158 = tensor.extract_slice %expanded_157[0, 0, 0, 0, 0] [8, 4, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x4x8x2x2xf32> to tensor<8x4x8x2x1xf32>
    %collapsed_159 = tensor.collapse_shape %extracted_slice_158 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x1xf32> into tensor<8x4x8x2xf32>
    %extracted_slice_160 = tensor.extract_slice %expanded_157[0, 0, 0, 0, 1] [8, 4, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x4x8x2x2xf32> to tensor<8x4x8x2x1xf32>
    %collapsed_161 = tensor.collapse_shape %extracted_slice_160 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x1xf32> into tensor<8x4x8x2xf32>
    %283 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_161, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %284 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_161, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %285 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_159 : tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %286 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%285, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %287 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%283, %286 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %288 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_159, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %289 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%284, %288 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %inserted_slice = tensor.insert_slice %287 into %cst_5[0, 0, 0, 1] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x2xf32> into tensor<8x4x8x4xf32>
    %inserted_slice_162 = tensor.insert_slice %289 into %cst_5[0, 0, 0, 0] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x2xf32> into tensor<8x4x8x4xf32>
    %290 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice, %inserted_slice_162 : tensor<8x4x8x4xf32>, tensor<8x4x8x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x4xf32>
    %expanded_163 = tensor.expand_shape %280 [[0, 1], [2], [3, 4]] output_shape [8, 8, 8, 2, 2] : tensor<64x8x4xf32> into tensor<8x8x8x2x2xf32>
    %extracted_slice_164 = tensor.extract_slice %expanded_163[0, 0, 0, 0, 0] [8, 8, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x8x8x2x2xf32> to tensor<8x8x8x2x1xf32>
    %collapsed_165 = tensor.collapse_shape %extracted_slice_164 [[0], [1], [2], [3, 4]] : tensor<8x8x8x2x1xf32> into tensor<8x8x8x2xf32>
    %extracted_slice_166 = tensor.extract_slice %expanded_163[0, 0, 0, 0, 1] [8, 8, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x8x8x2x2xf32> to tensor<8x8x8x2x1xf32>
    %collapsed_167 = tensor.collapse_shape %extracted_slice_166 [[0], [1], [2], [3, 4]] : tensor<8x8x8x2x1xf32> into tensor<8x8x8x2xf32>
    %291 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_167, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %292 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_167, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %293 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_165 : tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %294 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%293, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %295 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%291, %294 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %296 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_165, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %297 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%292, %296 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %inserted_slice_168 = tensor.insert_slice %295 into %cst_4[0, 0, 0, 1] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x2xf32> into tensor<8x8x8x4xf32>
    %inserted_slice_169 = tensor.insert_slice %297 into %cst_4[0, 0, 0, 0] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x2xf32> into tensor<8x8x8x4xf32>
    %298 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_168, %inserted_slice_169 : tensor<8x8x8x4xf32>, tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x4xf32>
    %299 = tensor.empty() : tensor<8x8x4x4xf32>
    %transposed_170 = linalg.transpose ins(%collapsed_150 : tensor<8x4x8x4xf32>) outs(%299 : tensor<8x8x4x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_171 = tensor.collapse_shape %transposed_170 [[0, 1], [2, 3]] : tensor<8x8x4x4xf32> into tensor<64x16xf32>
    %300 = tensor.empty() : tensor<16x64xf32>
    %transposed_172 = linalg.transpose ins(%collapsed_171 : tensor<64x16xf32>) outs(%300 : tensor<16x64xf32>) permutation = [1, 0] 
    %301 = tensor.empty() : tensor<16x32xf32>
    %302 = linalg.fill ins(%cst : f32) outs(%301 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %303 = linalg.matmul ins(%transposed_172, %collapsed_73 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%302 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %304 = linalg.matmul ins(%collapsed_171, %arg12 : tensor<64x16xf32>, tensor<16x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_173 = tensor.expand_shape %304 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %transposed_174 = linalg.transpose ins(%290 : tensor<8x4x8x4xf32>) outs(%299 : tensor<8x8x4x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_175 = tensor.collapse_shape %transposed_174 [[0, 1], [2, 3]] : tensor<8x8x4x4xf32> into tensor<64x16xf32>
    %transposed_176 = linalg.transpose ins(%collapsed_175 : tensor<64x16xf32>) outs(%300 : tensor<16x64xf32>) permutation = [1, 0] 
    %305 = linalg.matmul ins(%transposed_176, %collapsed_73 : tensor<16x64xf32>, tensor<64x32xf32>) outs(%302 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %306 = linalg.matmul ins(%collapsed_175, %arg11 : tensor<64x16xf32>, tensor<16x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_177 = tensor.expand_shape %306 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %307 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_173, %expanded_177 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %transposed_178 = linalg.transpose ins(%298 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_179 = tensor.collapse_shape %transposed_178 [[0, 1], [2, 3]] : tensor<8x8x8x4xf32> into tensor<64x32xf32>
    %transposed_180 = linalg.transpose ins(%collapsed_179 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %308 = linalg.matmul ins(%transposed_180, %collapsed_73 : tensor<32x64xf32>, tensor<64x32xf32>) outs(%263 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %309 = linalg.matmul ins(%collapsed_179, %arg10 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_181 = tensor.expand_shape %309 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %310 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%307, %expanded_181 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %311 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%310, %109 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %312 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%310, %arg14 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %313 = linalg.generic {indexing_maps = [#map3, #map22], iterator_types = ["reduction", "reduction", "parallel"]} ins(%311 : tensor<8x8x32xf32>) outs(%218 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<1x1x32xf32>
    %collapsed_182 = tensor.collapse_shape %313 [[0, 1, 2]] : tensor<1x1x32xf32> into tensor<32xf32>
    %314 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%312, %103 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %315 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%312, %108 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %316 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%314 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %317 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%262, %315 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %318 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %319 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%316 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_23 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %320 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%319, %318 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %collapsed_183 = tensor.collapse_shape %320 [[0], [1, 2]] : tensor<8x8x1xf32> into tensor<8x8xf32>
    %321 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_183 : tensor<8x8xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %322 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%321 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %323 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %324 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%323 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_24 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %325 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%322, %324 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %326 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%317, %325 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    spmd.stage_boundary backward %326 : tensor<8x8x32xf32>
    %collapsed_184 = tensor.collapse_shape %326 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %transposed_185 = linalg.transpose ins(%collapsed_184 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %327 = linalg.matmul ins(%transposed_185, %collapsed_70 : tensor<32x64xf32>, tensor<64x64xf32>) outs(%232 : tensor<32x64xf32>) -> tensor<32x64xf32>
    %328 = linalg.matmul ins(%collapsed_184, %arg9 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%92 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %expanded_186 = tensor.expand_shape %328 [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    %329 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_186, %97 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %330 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_186, %99 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %collapsed_187 = tensor.collapse_shape %329 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %transposed_188 = linalg.transpose ins(%collapsed_187 : tensor<64x64xf32>) outs(%91 : tensor<64x64xf32>) permutation = [1, 0] 
    %331 = linalg.matmul ins(%transposed_188, %collapsed_65 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %332 = linalg.matmul ins(%collapsed_187, %arg8 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_189 = tensor.expand_shape %332 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %333 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%330, %96 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %334 = linalg.generic {indexing_maps = [#map23, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst_28, %96 : tensor<i64>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<8x8x64xf32>
    %335 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94, %334 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %336 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%335 : tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %337 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%333, %336 : tensor<8x8x64xf32>, tensor<8x8x64xf32>) outs(%95 : tensor<8x8x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x64xf32>
    %collapsed_190 = tensor.collapse_shape %337 [[0, 1], [2]] : tensor<8x8x64xf32> into tensor<64x64xf32>
    %transposed_191 = linalg.transpose ins(%collapsed_190 : tensor<64x64xf32>) outs(%91 : tensor<64x64xf32>) permutation = [1, 0] 
    %338 = linalg.matmul ins(%transposed_191, %collapsed_65 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %339 = linalg.matmul ins(%collapsed_190, %arg7 : tensor<64x64xf32>, tensor<64x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_192 = tensor.expand_shape %339 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %340 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_189, %expanded_192 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %341 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%340, %88 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %342 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%340, %arg6 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %343 = linalg.generic {indexing_maps = [#map3, #map22], iterator_types = ["reduction", "reduction", "parallel"]} ins(%341 : tensor<8x8x32xf32>) outs(%218 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<1x1x32xf32>
    %collapsed_193 = tensor.collapse_shape %343 [[0, 1, 2]] : tensor<1x1x32xf32> into tensor<32xf32>
    %344 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%342, %82 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %345 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%342, %87 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %346 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%344 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %347 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%326, %345 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %348 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%87 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %349 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%346 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_23 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %350 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%349, %348 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %collapsed_194 = tensor.collapse_shape %350 [[0], [1, 2]] : tensor<8x8x1xf32> into tensor<8x8xf32>
    %351 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_194 : tensor<8x8xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %352 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%351 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %353 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %354 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%353 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_24 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %355 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%352, %354 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %356 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%347, %355 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %collapsed_195 = tensor.collapse_shape %356 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %transposed_196 = linalg.transpose ins(%collapsed_195 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %357 = linalg.matmul ins(%transposed_196, %collapsed_62 : tensor<32x64xf32>, tensor<64x32xf32>) outs(%263 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %358 = linalg.matmul ins(%collapsed_195, %arg4 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_197 = tensor.expand_shape %358 [[0, 1], [2, 3]] output_shape [8, 8, 8, 4] : tensor<64x32xf32> into tensor<8x8x8x4xf32>
    %transposed_198 = linalg.transpose ins(%expanded_197 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_199 = tensor.collapse_shape %transposed_198 [[0, 1], [2], [3]] : tensor<8x8x8x4xf32> into tensor<64x8x4xf32>
    %transposed_200 = linalg.transpose ins(%collapsed_57 : tensor<64x8x8xf32>) outs(%55 : tensor<64x8x8xf32>) permutation = [0, 2, 1] 
    %359 = linalg.batch_matmul ins(%transposed_200, %collapsed_199 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %transposed_201 = linalg.transpose ins(%collapsed_58 : tensor<64x8x4xf32>) outs(%267 : tensor<64x4x8xf32>) permutation = [0, 2, 1] 
    %360 = linalg.batch_matmul ins(%collapsed_199, %transposed_201 : tensor<64x8x4xf32>, tensor<64x4x8xf32>) outs(%56 : tensor<64x8x8xf32>) -> tensor<64x8x8xf32>
    %expanded_202 = tensor.expand_shape %359 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 4] : tensor<64x8x4xf32> into tensor<8x4x2x8x4xf32>
    %361 = linalg.generic {indexing_maps = [#map12, #map24], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%expanded_202 : tensor<8x4x2x8x4xf32>) outs(%270 : tensor<8x4x1x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x1x8x4xf32>
    %expanded_203 = tensor.expand_shape %360 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 8, 8] : tensor<64x8x8xf32> into tensor<8x4x2x8x8xf32>
    %collapsed_204 = tensor.collapse_shape %361 [[0], [1, 2], [3], [4]] : tensor<8x4x1x8x4xf32> into tensor<8x4x8x4xf32>
    %362 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_203, %74 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %363 = linalg.generic {indexing_maps = [#map12, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%362 : tensor<8x4x2x8x8xf32>) outs(%72 : tensor<8x4x2x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x1xf32>
    %364 = linalg.generic {indexing_maps = [#map12, #map17, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%74, %363 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x1xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %365 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%362, %364 : tensor<8x4x2x8x8xf32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %366 = linalg.generic {indexing_maps = [#map14, #map15, #map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%62, %cst_9, %365 : tensor<8x8xi1>, tensor<f32>, tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %367 = linalg.generic {indexing_maps = [#map12, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%366 : tensor<8x4x2x8x8xf32>) outs(%58 : tensor<8x4x2x8x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_22 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x2x8x8xf32>
    %collapsed_205 = tensor.collapse_shape %367 [[0, 1, 2], [3], [4]] : tensor<8x4x2x8x8xf32> into tensor<64x8x8xf32>
    %transposed_206 = linalg.transpose ins(%collapsed_51 : tensor<64x8x4xf32>) outs(%267 : tensor<64x4x8xf32>) permutation = [0, 2, 1] 
    %368 = linalg.batch_matmul ins(%transposed_206, %collapsed_205 : tensor<64x4x8xf32>, tensor<64x8x8xf32>) outs(%278 : tensor<64x4x8xf32>) -> tensor<64x4x8xf32>
    %transposed_207 = linalg.transpose ins(%collapsed_53 : tensor<64x4x8xf32>) outs(%77 : tensor<64x8x4xf32>) permutation = [0, 2, 1] 
    %369 = linalg.batch_matmul ins(%collapsed_205, %transposed_207 : tensor<64x8x8xf32>, tensor<64x8x4xf32>) outs(%78 : tensor<64x8x4xf32>) -> tensor<64x8x4xf32>
    %expanded_208 = tensor.expand_shape %368 [[0, 1, 2], [3], [4]] output_shape [8, 4, 2, 4, 8] : tensor<64x4x8xf32> into tensor<8x4x2x4x8xf32>
    %370 = linalg.generic {indexing_maps = [#map12, #map24], iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%expanded_208 : tensor<8x4x2x4x8xf32>) outs(%281 : tensor<8x4x1x4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x1x4x8xf32>
    %transposed_209 = linalg.transpose ins(%370 : tensor<8x4x1x4x8xf32>) outs(%269 : tensor<8x4x1x8x4xf32>) permutation = [0, 1, 2, 4, 3] 
    %collapsed_210 = tensor.collapse_shape %transposed_209 [[0], [1, 2], [3], [4]] : tensor<8x4x1x8x4xf32> into tensor<8x4x8x4xf32>
    %expanded_211 = tensor.expand_shape %collapsed_210 [[0], [1], [2], [3, 4]] output_shape [8, 4, 8, 2, 2] : tensor<8x4x8x4xf32> into tensor<8x4x8x2x2xf32>
    %extracted_slice_212 = tensor.extract_slice %expanded_211[0, 0, 0, 0, 0] [8, 4, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x4x8x2x2xf32> to tensor<8x4x8x2x1xf32>
    %collapsed_213 = tensor.collapse_shape %extracted_slice_212 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x1xf32> into tensor<8x4x8x2xf32>
    %extracted_slice_214 = tensor.extract_slice %expanded_211[0, 0, 0, 0, 1] [8, 4, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x4x8x2x2xf32> to tensor<8x4x8x2x1xf32>
    %collapsed_215 = tensor.collapse_shape %extracted_slice_214 [[0], [1], [2], [3, 4]] : tensor<8x4x8x2x1xf32> into tensor<8x4x8x2xf32>
    %371 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_215, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %372 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_215, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %373 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_213 : tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %374 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%373, %37 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %375 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%371, %374 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %376 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_213, %36 : tensor<8x4x8x2xf32>, tensor<8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %377 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%372, %376 : tensor<8x4x8x2xf32>, tensor<8x4x8x2xf32>) outs(%45 : tensor<8x4x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x2xf32>
    %inserted_slice_216 = tensor.insert_slice %375 into %cst_5[0, 0, 0, 1] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x2xf32> into tensor<8x4x8x4xf32>
    %inserted_slice_217 = tensor.insert_slice %377 into %cst_5[0, 0, 0, 0] [8, 4, 8, 2] [1, 1, 1, 2] : tensor<8x4x8x2xf32> into tensor<8x4x8x4xf32>
    %378 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_216, %inserted_slice_217 : tensor<8x4x8x4xf32>, tensor<8x4x8x4xf32>) outs(%24 : tensor<8x4x8x4xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x4x8x4xf32>
    %expanded_218 = tensor.expand_shape %369 [[0, 1], [2], [3, 4]] output_shape [8, 8, 8, 2, 2] : tensor<64x8x4xf32> into tensor<8x8x8x2x2xf32>
    %extracted_slice_219 = tensor.extract_slice %expanded_218[0, 0, 0, 0, 0] [8, 8, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x8x8x2x2xf32> to tensor<8x8x8x2x1xf32>
    %collapsed_220 = tensor.collapse_shape %extracted_slice_219 [[0], [1], [2], [3, 4]] : tensor<8x8x8x2x1xf32> into tensor<8x8x8x2xf32>
    %extracted_slice_221 = tensor.extract_slice %expanded_218[0, 0, 0, 0, 1] [8, 8, 8, 2, 1] [1, 1, 1, 1, 1] : tensor<8x8x8x2x2xf32> to tensor<8x8x8x2x1xf32>
    %collapsed_222 = tensor.collapse_shape %extracted_slice_221 [[0], [1], [2], [3, 4]] : tensor<8x8x8x2x1xf32> into tensor<8x8x8x2xf32>
    %379 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_222, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %380 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_222, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %381 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_220 : tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %382 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%381, %37 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %383 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%379, %382 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %384 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_220, %36 : tensor<8x8x8x2xf32>, tensor<8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %385 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%380, %384 : tensor<8x8x8x2xf32>, tensor<8x8x8x2xf32>) outs(%38 : tensor<8x8x8x2xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x2xf32>
    %inserted_slice_223 = tensor.insert_slice %383 into %cst_4[0, 0, 0, 1] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x2xf32> into tensor<8x8x8x4xf32>
    %inserted_slice_224 = tensor.insert_slice %385 into %cst_4[0, 0, 0, 0] [8, 8, 8, 2] [1, 1, 1, 2] : tensor<8x8x8x2xf32> into tensor<8x8x8x4xf32>
    %386 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%inserted_slice_223, %inserted_slice_224 : tensor<8x8x8x4xf32>, tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x8x4xf32>
    %transposed_225 = linalg.transpose ins(%collapsed_204 : tensor<8x4x8x4xf32>) outs(%299 : tensor<8x8x4x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_226 = tensor.collapse_shape %transposed_225 [[0, 1], [2, 3]] : tensor<8x8x4x4xf32> into tensor<64x16xf32>
    %transposed_227 = linalg.transpose ins(%collapsed_226 : tensor<64x16xf32>) outs(%300 : tensor<16x64xf32>) permutation = [1, 0] 
    %387 = linalg.matmul ins(%transposed_227, %collapsed : tensor<16x64xf32>, tensor<64x32xf32>) outs(%302 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %388 = linalg.matmul ins(%collapsed_226, %arg3 : tensor<64x16xf32>, tensor<16x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_228 = tensor.expand_shape %388 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %transposed_229 = linalg.transpose ins(%378 : tensor<8x4x8x4xf32>) outs(%299 : tensor<8x8x4x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_230 = tensor.collapse_shape %transposed_229 [[0, 1], [2, 3]] : tensor<8x8x4x4xf32> into tensor<64x16xf32>
    %transposed_231 = linalg.transpose ins(%collapsed_230 : tensor<64x16xf32>) outs(%300 : tensor<16x64xf32>) permutation = [1, 0] 
    %389 = linalg.matmul ins(%transposed_231, %collapsed : tensor<16x64xf32>, tensor<64x32xf32>) outs(%302 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %390 = linalg.matmul ins(%collapsed_230, %arg2 : tensor<64x16xf32>, tensor<16x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_232 = tensor.expand_shape %390 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %391 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_228, %expanded_232 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %transposed_233 = linalg.transpose ins(%386 : tensor<8x8x8x4xf32>) outs(%19 : tensor<8x8x8x4xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_234 = tensor.collapse_shape %transposed_233 [[0, 1], [2, 3]] : tensor<8x8x8x4xf32> into tensor<64x32xf32>
    %transposed_235 = linalg.transpose ins(%collapsed_234 : tensor<64x32xf32>) outs(%90 : tensor<32x64xf32>) permutation = [1, 0] 
    %392 = linalg.matmul ins(%transposed_235, %collapsed : tensor<32x64xf32>, tensor<64x32xf32>) outs(%263 : tensor<32x32xf32>) -> tensor<32x32xf32>
    %393 = linalg.matmul ins(%collapsed_234, %arg1 : tensor<64x32xf32>, tensor<32x32xf32>) outs(%17 : tensor<64x32xf32>) -> tensor<64x32xf32>
    %expanded_236 = tensor.expand_shape %393 [[0, 1], [2]] output_shape [8, 8, 32] : tensor<64x32xf32> into tensor<8x8x32xf32>
    %394 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%391, %expanded_236 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %395 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%394, %13 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %396 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%394, %arg5 : tensor<8x8x32xf32>, tensor<32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %397 = linalg.generic {indexing_maps = [#map3, #map22], iterator_types = ["reduction", "reduction", "parallel"]} ins(%395 : tensor<8x8x32xf32>) outs(%218 : tensor<1x1x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<1x1x32xf32>
    %collapsed_237 = tensor.collapse_shape %397 [[0, 1, 2]] : tensor<1x1x32xf32> into tensor<32xf32>
    %398 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%396, %5 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %399 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%396, %12 : tensor<8x8x32xf32>, tensor<8x8x1xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %400 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%398 : tensor<8x8x32xf32>) outs(%8 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %out : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %401 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%356, %399 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %402 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %403 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%400 : tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_23 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %404 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%403, %402 : tensor<8x8x1xf32>, tensor<8x8x1xf32>) outs(%7 : tensor<8x8x1xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x1xf32>
    %collapsed_238 = tensor.collapse_shape %404 [[0], [1, 2]] : tensor<8x8x1xf32> into tensor<8x8xf32>
    %405 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_238 : tensor<8x8xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x8x32xf32>
    %406 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%405 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.divf %in, %cst_19 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %407 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %408 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%407 : tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.mulf %in, %cst_24 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %409 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%406, %408 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %410 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%401, %409 : tensor<8x8x32xf32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %411 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg84 : tensor<8x8xi64>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi sge, %in, %c0_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %412 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg84 : tensor<8x8xi64>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi slt, %in, %c24_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %413 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%411, %412 : tensor<8x8xi1>, tensor<8x8xi1>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_244: i1, %out: i1):
      %972 = arith.andi %in, %in_244 : i1
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %414 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg84 : tensor<8x8xi64>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i64, %out: i1):
      %972 = arith.cmpi ne, %in, %c-1_i64 : i64
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %415 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%413, %414 : tensor<8x8xi1>, tensor<8x8xi1>) outs(%0 : tensor<8x8xi1>) {
    ^bb0(%in: i1, %in_244: i1, %out: i1):
      %972 = arith.andi %in, %in_244 : i1
      linalg.yield %972 : i1
    } -> tensor<8x8xi1>
    %expanded_239 = tensor.expand_shape %415 [[0], [1, 2]] output_shape [8, 8, 1] : tensor<8x8xi1> into tensor<8x8x1xi1>
    %416 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg84 : tensor<8x8xi64>) outs(%2 : tensor<8x8xi64>) {
    ^bb0(%in: i64, %out: i64):
      %972 = arith.maxsi %in, %c-24_i64 : i64
      %973 = arith.minsi %972, %c23_i64 : i64
      linalg.yield %973 : i64
    } -> tensor<8x8xi64>
    %417 = tensor.empty() : tensor<8x8x1xi1>
    %418 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_239 : tensor<8x8x1xi1>) outs(%417 : tensor<8x8x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %972 = arith.xori %in, %true : i1
      linalg.yield %972 : i1
    } -> tensor<8x8x1xi1>
    %419 = linalg.generic {indexing_maps = [#map4, #map23, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%418, %cst_9, %410 : tensor<8x8x1xi1>, tensor<f32>, tensor<8x8x32xf32>) outs(%4 : tensor<8x8x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<8x8x32xf32>
    %collapsed_240 = tensor.collapse_shape %416 [[0, 1]] : tensor<8x8xi64> into tensor<64xi64>
    %expanded_241 = tensor.expand_shape %collapsed_240 [[0, 1]] output_shape [64, 1] : tensor<64xi64> into tensor<64x1xi64>
    %collapsed_242 = tensor.collapse_shape %419 [[0, 1], [2]] : tensor<8x8x32xf32> into tensor<64x32xf32>
    %expanded_243 = tensor.expand_shape %collapsed_242 [[0], [1, 2]] output_shape [64, 1, 32] : tensor<64x32xf32> into tensor<64x1x32xf32>
    %420 = call @shardkit_scatter_1(%expanded_243, %expanded_241, %cst_25) : (tensor<64x1x32xf32>, tensor<64x1xi64>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %421 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg21 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %422 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %423 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%cst_3 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.absf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %424 = tensor.empty() : tensor<i1>
    %425 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%423 : tensor<f32>) outs(%424 : tensor<i1>) {
    ^bb0(%in: f32, %out: i1):
      %972 = arith.extf %in : f32 to f64
      %973 = arith.cmpf oge, %972, %cst_17 : f64
      linalg.yield %973 : i1
    } -> tensor<i1>
    %426 = linalg.generic {indexing_maps = [#map20, #map20, #map20, #map20], iterator_types = []} ins(%425, %cst_2, %cst_3 : tensor<i1>, tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %427 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %420, %arg22 : tensor<i1>, tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %428 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%420, %arg22 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %429 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %428 : tensor<f32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %430 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%429, %427 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %431 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg23 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %432 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%420 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %433 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%432, %420 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %434 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%431, %433 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %435 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%421 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %436 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %435 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %437 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%421 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %438 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %437 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %439 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %436 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %440 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%439 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %441 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%440 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %442 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%438 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %443 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%434 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %444 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%442, %441 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %445 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%443, %444 : tensor<24x32xf32>, tensor<f32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %446 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %441 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %447 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%446 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %448 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%445, %447 : tensor<24x32xf32>, tensor<f32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %449 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%430, %448 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %450 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%422, %449 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %451 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg24 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %452 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %453 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %392, %arg25 : tensor<i1>, tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %454 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%392, %arg25 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %455 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %454 : tensor<f32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %456 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%455, %453 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %457 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg26 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %458 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%392 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %459 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%458, %392 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %460 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%457, %459 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %461 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%451 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %462 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %461 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %463 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%451 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %464 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %463 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %465 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %462 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %466 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%465 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %467 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%466 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %468 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%464 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %469 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%460 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %470 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%468, %467 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %471 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%469, %470 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %472 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %467 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %473 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%472 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %474 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%471, %473 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %475 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%456, %474 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %476 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%452, %475 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %477 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg27 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %478 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %479 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %389, %arg28 : tensor<i1>, tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %480 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%389, %arg28 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %481 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %480 : tensor<f32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %482 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%481, %479 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %483 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg29 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %484 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%389 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %485 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%484, %389 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %486 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%483, %485 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %487 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%477 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %488 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %487 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %489 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%477 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %490 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %489 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %491 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %488 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %492 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%491 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %493 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%492 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %494 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%490 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %495 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%486 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %496 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%494, %493 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %497 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%495, %496 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %498 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %493 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %499 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%498 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %500 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%497, %499 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %501 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%482, %500 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %502 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%478, %501 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %503 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg30 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %504 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %505 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %387, %arg31 : tensor<i1>, tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %506 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%387, %arg31 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %507 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %506 : tensor<f32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %508 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%507, %505 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %509 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg32 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %510 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%387 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %511 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%510, %387 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %512 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%509, %511 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %513 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%503 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %514 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %513 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %515 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%503 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %516 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %515 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %517 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %514 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %518 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%517 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %519 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%518 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %520 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%516 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %521 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%512 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %522 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%520, %519 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %523 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%521, %522 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %524 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %519 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %525 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%524 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %526 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%523, %525 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %527 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%508, %526 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %528 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%504, %527 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %529 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg33 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %530 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %531 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %357, %arg34 : tensor<i1>, tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %532 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%357, %arg34 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %533 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %532 : tensor<f32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %534 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%533, %531 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %535 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg35 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %536 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%357 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %537 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%536, %357 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %538 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%535, %537 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %539 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%529 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %540 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %539 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %541 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%529 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %542 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %541 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %543 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %540 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %544 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%543 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %545 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%544 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %546 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%542 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %547 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%538 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %548 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%546, %545 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %549 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%547, %548 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %550 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %545 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %551 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%550 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %552 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%549, %551 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %553 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%534, %552 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %554 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%530, %553 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %555 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg36 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %556 = tensor.empty() : tensor<32xf32>
    %557 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg5 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %558 = linalg.generic {indexing_maps = [#map19, #map6, #map6, #map6], iterator_types = ["parallel"]} ins(%425, %collapsed_237, %arg37 : tensor<i1>, tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %559 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_237, %arg37 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %560 = linalg.generic {indexing_maps = [#map19, #map6, #map6], iterator_types = ["parallel"]} ins(%426, %559 : tensor<f32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %561 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%560, %558 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %562 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg38 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %563 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_237 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %564 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%563, %collapsed_237 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %565 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%562, %564 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %566 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%555 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %567 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %566 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %568 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%555 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %569 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %568 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %570 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %567 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %571 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%570 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %572 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%571 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %573 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%569 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %574 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%565 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %575 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%573, %572 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %576 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%574, %575 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %577 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %572 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %578 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%577 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %579 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%576, %578 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %580 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%561, %579 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %581 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%557, %580 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %582 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg39 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %583 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg6 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %584 = linalg.generic {indexing_maps = [#map19, #map6, #map6, #map6], iterator_types = ["parallel"]} ins(%425, %collapsed_193, %arg40 : tensor<i1>, tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %585 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_193, %arg40 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %586 = linalg.generic {indexing_maps = [#map19, #map6, #map6], iterator_types = ["parallel"]} ins(%426, %585 : tensor<f32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %587 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%586, %584 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %588 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg41 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %589 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_193 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %590 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%589, %collapsed_193 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %591 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%588, %590 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %592 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%582 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %593 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %592 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %594 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%582 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %595 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %594 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %596 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %593 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %597 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%596 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %598 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%597 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %599 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%595 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %600 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%591 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %601 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%599, %598 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %602 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%600, %601 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %603 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %598 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %604 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%603 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %605 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%602, %604 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %606 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%587, %605 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %607 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%583, %606 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %608 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg42 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %609 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg7 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %610 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %338, %arg43 : tensor<i1>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %611 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%338, %arg43 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %612 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %611 : tensor<f32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %613 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%612, %610 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %614 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg44 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %615 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%338 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %616 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%615, %338 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %617 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%614, %616 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %618 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%608 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %619 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %618 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %620 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%608 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %621 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %620 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %622 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %619 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %623 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%622 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %624 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%623 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %625 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%621 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %626 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%617 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %627 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%625, %624 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %628 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%626, %627 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %629 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %624 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %630 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%629 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %631 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%628, %630 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %632 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%613, %631 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %633 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%609, %632 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %634 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg45 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %635 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg8 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %636 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %331, %arg46 : tensor<i1>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %637 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%331, %arg46 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %638 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %637 : tensor<f32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %639 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%638, %636 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %640 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg47 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %641 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%331 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %642 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%641, %331 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %643 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%640, %642 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %644 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%634 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %645 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %644 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %646 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%634 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %647 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %646 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %648 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %645 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %649 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%648 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %650 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%649 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %651 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%647 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %652 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%643 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %653 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%651, %650 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %654 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%652, %653 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %655 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %650 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %656 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%655 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %657 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%654, %656 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %658 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%639, %657 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %659 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%635, %658 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %660 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg48 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %661 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg9 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %662 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %327, %arg49 : tensor<i1>, tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %663 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%327, %arg49 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %664 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %663 : tensor<f32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %665 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%664, %662 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %666 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg50 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %667 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%327 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %668 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%667, %327 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %669 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%666, %668 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %670 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%660 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %671 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %670 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %672 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%660 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %673 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %672 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %674 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %671 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %675 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%674 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %676 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%675 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %677 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%673 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %678 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%669 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %679 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%677, %676 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %680 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%678, %679 : tensor<32x64xf32>, tensor<f32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %681 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %676 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %682 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%681 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %683 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%680, %682 : tensor<32x64xf32>, tensor<f32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %684 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%665, %683 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %685 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%661, %684 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %686 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg51 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %687 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg10 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %688 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %308, %arg52 : tensor<i1>, tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %689 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%308, %arg52 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %690 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %689 : tensor<f32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %691 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%690, %688 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %692 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg53 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %693 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%308 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %694 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%693, %308 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %695 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%692, %694 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %696 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%686 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %697 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %696 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %698 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%686 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %699 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %698 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %700 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %697 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %701 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%700 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %702 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%701 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %703 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%699 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %704 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%695 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %705 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%703, %702 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %706 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%704, %705 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %707 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %702 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %708 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%707 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %709 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%706, %708 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %710 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%691, %709 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %711 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%687, %710 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %712 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg54 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %713 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg11 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %714 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %305, %arg55 : tensor<i1>, tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %715 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%305, %arg55 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %716 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %715 : tensor<f32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %717 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%716, %714 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %718 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg56 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %719 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%305 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %720 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%719, %305 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %721 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%718, %720 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %722 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%712 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %723 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %722 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %724 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%712 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %725 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %724 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %726 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %723 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %727 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%726 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %728 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%727 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %729 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%725 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %730 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%721 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %731 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%729, %728 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %732 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%730, %731 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %733 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %728 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %734 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%733 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %735 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%732, %734 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %736 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%717, %735 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %737 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%713, %736 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %738 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg57 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %739 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg12 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %740 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %303, %arg58 : tensor<i1>, tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %741 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%303, %arg58 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %742 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %741 : tensor<f32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %743 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%742, %740 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %744 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg59 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %745 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%303 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<16x32xf32>
    %746 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%745, %303 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %747 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%744, %746 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %748 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%738 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %749 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %748 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %750 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%738 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %751 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %750 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %752 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %749 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %753 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%752 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %754 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%753 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %755 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%751 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %756 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%747 : tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %757 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%755, %754 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %758 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%756, %757 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %759 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %754 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %760 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%759 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %761 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%758, %760 : tensor<16x32xf32>, tensor<f32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %762 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%743, %761 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %763 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%739, %762 : tensor<16x32xf32>, tensor<16x32xf32>) outs(%301 : tensor<16x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<16x32xf32>
    %764 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg60 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %765 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg13 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %766 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %264, %arg61 : tensor<i1>, tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %767 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%264, %arg61 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %768 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %767 : tensor<f32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %769 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%768, %766 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %770 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg62 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %771 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%264 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x32xf32>
    %772 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%771, %264 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %773 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%770, %772 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %774 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%764 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %775 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %774 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %776 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%764 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %777 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %776 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %778 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %775 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %779 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%778 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %780 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%779 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %781 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%777 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %782 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%773 : tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %783 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%781, %780 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %784 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%782, %783 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %785 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %780 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %786 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%785 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %787 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%784, %786 : tensor<32x32xf32>, tensor<f32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %788 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%769, %787 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %789 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%765, %788 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%15 : tensor<32x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x32xf32>
    %790 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg63 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %791 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg14 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %792 = linalg.generic {indexing_maps = [#map19, #map6, #map6, #map6], iterator_types = ["parallel"]} ins(%425, %collapsed_182, %arg64 : tensor<i1>, tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %793 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_182, %arg64 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %794 = linalg.generic {indexing_maps = [#map19, #map6, #map6], iterator_types = ["parallel"]} ins(%426, %793 : tensor<f32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %795 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%794, %792 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %796 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg65 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %797 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_182 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %798 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%797, %collapsed_182 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %799 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%796, %798 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %800 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%790 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %801 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %800 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %802 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%790 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %803 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %802 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %804 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %801 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %805 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%804 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %806 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%805 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %807 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%803 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %808 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%799 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %809 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%807, %806 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %810 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%808, %809 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %811 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %806 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %812 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%811 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %813 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%810, %812 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %814 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%795, %813 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %815 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%791, %814 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %816 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg66 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %817 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg15 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %818 = linalg.generic {indexing_maps = [#map19, #map6, #map6, #map6], iterator_types = ["parallel"]} ins(%425, %collapsed_139, %arg67 : tensor<i1>, tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %819 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_139, %arg67 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %820 = linalg.generic {indexing_maps = [#map19, #map6, #map6], iterator_types = ["parallel"]} ins(%426, %819 : tensor<f32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %821 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%820, %818 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %822 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg68 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %823 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_139 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %824 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%823, %collapsed_139 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %825 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%822, %824 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %826 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%816 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %827 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %826 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %828 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%816 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %829 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %828 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %830 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %827 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %831 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%830 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %832 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%831 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %833 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%829 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %834 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%825 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %835 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%833, %832 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %836 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%834, %835 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %837 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %832 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %838 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%837 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %839 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%836, %838 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %840 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%821, %839 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %841 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%817, %840 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %842 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg69 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %843 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg16 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %844 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %244, %arg70 : tensor<i1>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %845 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%244, %arg70 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %846 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %845 : tensor<f32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %847 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%846, %844 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %848 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg71 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %849 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%244 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %850 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%849, %244 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %851 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%848, %850 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %852 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%842 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %853 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %852 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %854 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%842 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %855 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %854 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %856 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %853 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %857 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%856 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %858 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%857 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %859 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%855 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %860 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%851 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %861 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%859, %858 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %862 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%860, %861 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %863 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %858 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %864 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%863 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %865 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%862, %864 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %866 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%847, %865 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %867 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%843, %866 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %868 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg72 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %869 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg17 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %870 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %237, %arg73 : tensor<i1>, tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %871 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%237, %arg73 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %872 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %871 : tensor<f32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %873 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%872, %870 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %874 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg74 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %875 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%237 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<64x32xf32>
    %876 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%875, %237 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %877 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%874, %876 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %878 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%868 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %879 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %878 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %880 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%868 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %881 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %880 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %882 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %879 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %883 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%882 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %884 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%883 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %885 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%881 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %886 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%877 : tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %887 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%885, %884 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %888 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%886, %887 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %889 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %884 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %890 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%889 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %891 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%888, %890 : tensor<64x32xf32>, tensor<f32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %892 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%873, %891 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %893 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%869, %892 : tensor<64x32xf32>, tensor<64x32xf32>) outs(%16 : tensor<64x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<64x32xf32>
    %894 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg75 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %895 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg18 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %896 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %233, %arg76 : tensor<i1>, tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %897 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%233, %arg76 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %898 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %897 : tensor<f32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %899 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%898, %896 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %900 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg77 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %901 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%233 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32x64xf32>
    %902 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%901, %233 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %903 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%900, %902 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %904 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%894 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %905 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %904 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %906 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%894 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %907 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %906 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %908 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %905 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %909 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%908 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %910 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%909 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %911 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%907 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %912 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%903 : tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %913 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%911, %910 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %914 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%912, %913 : tensor<32x64xf32>, tensor<f32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %915 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %910 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %916 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%915 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %917 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%914, %916 : tensor<32x64xf32>, tensor<f32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %918 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%899, %917 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %919 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%895, %918 : tensor<32x64xf32>, tensor<32x64xf32>) outs(%90 : tensor<32x64xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32x64xf32>
    %920 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg78 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %921 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg19 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %922 = linalg.generic {indexing_maps = [#map19, #map6, #map6, #map6], iterator_types = ["parallel"]} ins(%425, %collapsed_128, %arg79 : tensor<i1>, tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %923 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_128, %arg79 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %924 = linalg.generic {indexing_maps = [#map19, #map6, #map6], iterator_types = ["parallel"]} ins(%426, %923 : tensor<f32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %925 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%924, %922 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %926 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%arg80 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %927 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%collapsed_128 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<32xf32>
    %928 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%927, %collapsed_128 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %929 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%926, %928 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %930 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%920 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %931 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %930 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %932 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%920 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %933 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %932 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %934 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %931 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %935 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%934 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %936 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%935 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %937 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%933 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %938 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel"]} ins(%929 : tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %939 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%937, %936 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %940 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%938, %939 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %941 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %936 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %942 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%941 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %943 = linalg.generic {indexing_maps = [#map6, #map19, #map6], iterator_types = ["parallel"]} ins(%940, %942 : tensor<32xf32>, tensor<f32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %944 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%925, %943 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %945 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel"]} ins(%921, %944 : tensor<32xf32>, tensor<32xf32>) outs(%556 : tensor<32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<32xf32>
    %946 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%arg81 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.addf %in, %cst_1 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %947 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg20 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %948 = linalg.generic {indexing_maps = [#map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%425, %213, %arg82 : tensor<i1>, tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: i1, %in_244: f32, %in_245: f32, %out: f32):
      %972 = arith.select %in, %in_244, %in_245 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %949 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%213, %arg82 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.subf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %950 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%426, %949 : tensor<f32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %951 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%950, %948 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %952 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg83 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %953 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%213 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_15 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<24x32xf32>
    %954 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%953, %213 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %955 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%952, %954 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %956 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%946 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_14 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %957 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %956 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %958 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%946 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_16 : f64 to f32
      %973 = math.powf %972, %in : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %959 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_28, %958 : tensor<i64>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: i64, %in_244: f32, %out: f32):
      %972 = arith.sitofp %in : i64 to f32
      %973 = arith.subf %972, %in_244 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %960 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %957 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %961 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%960 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_13 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %962 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%961 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.negf %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %963 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%959 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %964 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%955 : tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = math.sqrt %in : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %965 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%963, %962 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.mulf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %966 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%964, %965 : tensor<24x32xf32>, tensor<f32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %967 = linalg.generic {indexing_maps = [#map20, #map20, #map20], iterator_types = []} ins(%cst_8, %962 : tensor<f32>, tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<f32>
    %968 = linalg.generic {indexing_maps = [#map20, #map20], iterator_types = []} ins(%967 : tensor<f32>) outs(%189 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %972 = arith.truncf %cst_12 : f64 to f32
      %973 = arith.mulf %in, %972 : f32
      linalg.yield %973 : f32
    } -> tensor<f32>
    %969 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%966, %968 : tensor<24x32xf32>, tensor<f32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %970 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%951, %969 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.divf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    %971 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%947, %970 : tensor<24x32xf32>, tensor<24x32xf32>) outs(%211 : tensor<24x32xf32>) {
    ^bb0(%in: f32, %in_244: f32, %out: f32):
      %972 = arith.addf %in, %in_244 : f32
      linalg.yield %972 : f32
    } -> tensor<24x32xf32>
    return %193, %450, %476, %502, %528, %554, %581, %607, %633, %659, %685, %711, %737, %763, %789, %815, %841, %867, %893, %919, %945, %971, %421, %430, %434, %451, %456, %460, %477, %482, %486, %503, %508, %512, %529, %534, %538, %555, %561, %565, %582, %587, %591, %608, %613, %617, %634, %639, %643, %660, %665, %669, %686, %691, %695, %712, %717, %721, %738, %743, %747, %764, %769, %773, %790, %795, %799, %816, %821, %825, %842, %847, %851, %868, %873, %877, %894, %899, %903, %920, %925, %929, %946, %951, %955 : tensor<f32>, tensor<24x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<32x64xf32>, tensor<32xf32>, tensor<24x32xf32>, tensor<f32>, tensor<24x32xf32>, tensor<24x32xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<24x32xf32>, tensor<24x32xf32>
  }
  func.func private @shardkit_scatter_1(%arg0: tensor<64x1x32xf32>, %arg1: tensor<64x1xi64>, %arg2: tensor<24x32xf32>) -> tensor<24x32xf32> {
    %extracted_slice = tensor.extract_slice %arg0[0, 0, 0] [64, 1, 32] [1, 1, 1] : tensor<64x1x32xf32> to tensor<64x32xf32>
    %extracted_slice_0 = tensor.extract_slice %arg1[0, 0] [64, 1] [1, 1] : tensor<64x1xi64> to tensor<64xi64>
    %0 = linalg.generic {indexing_maps = [#map5, #map25, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%extracted_slice_0, %extracted_slice : tensor<64xi64>, tensor<64x32xf32>) outs(%arg2 : tensor<24x32xf32>) {
    ^bb0(%in: i64, %in_1: f32, %out: f32):
      %true = arith.constant true
      %1 = linalg.index 0 : index
      %2 = arith.index_cast %in : i64 to index
      %c24 = arith.constant 24 : index
      %c0 = arith.constant 0 : index
      %3 = arith.addi %2, %c24 : index
      %4 = arith.cmpi slt, %2, %c0 : index
      %5 = arith.select %4, %3, %2 : index
      %6 = arith.cmpi eq, %1, %5 : index
      %7 = arith.andi %true, %6 : i1
      %cst = arith.constant -0.000000e+00 : f32
      %8 = arith.select %7, %in_1, %cst : f32
      %9 = arith.addf %out, %8 : f32
      linalg.yield %9 : f32
    } -> tensor<24x32xf32>
    return %0 : tensor<24x32xf32>
  }
}

