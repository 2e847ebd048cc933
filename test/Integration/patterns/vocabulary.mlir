// A language model's head and its embedding, one table for both, cut along the
// vocabulary: look up the tokens, multiply by the table again, softmax, cross
// entropy. Logits stay where they are, both ways.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify
// RUN: shard-run %s --random-inputs=2 --verify --compile-option=--fill-padding=lowest

spmd.mesh @tp = <["model"=4]>
spmd.mesh @dp_tp = <["data"=2, "model"=4]>
spmd.mesh @fp = <["model"=5]>

#b = affine_map<(b) -> (b)>
#row = affine_map<(b, v) -> (b)>
#logit = affine_map<(b, v) -> (b, v)>
#bh = affine_map<(b, v, h) -> (b, h)>
#vh = affine_map<(b, v, h) -> (v, h)>
#bv = affine_map<(b, v, h) -> (b, v)>

// Forward: the embedding is completed, then a maximum, a sum and the label's logit
// per token.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@tp, {"model"}> {{.*}} : tensor<8x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} max <@tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: return
func.func @forward(%ids: tensor<8xi32> {spmd.range = [0, 64]}, %labels: tensor<8xi32> {spmd.range = [0, 64]},
    %table: tensor<64x16xf32> {spmd.weight = "forward.table", spmd.sharding = #spmd.sharding<@tp, [{"model"}, {}]>}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %h = linalg.generic {indexing_maps = [#row, #logit], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<64x16xf32>
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x64xf32>
  %logits = linalg.generic {indexing_maps = [#bh, #vh, #bv], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %table : tensor<8x16xf32>, tensor<64x16xf32>) outs(%zeros : tensor<8x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%logits : tensor<8x64xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %ev = tensor.empty() : tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [#logit, #row, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%logits, %max : tensor<8x64xf32>, tensor<8xf32>) outs(%ev : tensor<8x64xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<8x64xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x64xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  %eb = tensor.empty() : tensor<8xf32>
  %picked = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]} ins(%labels : tensor<8xi32>) outs(%eb : tensor<8xf32>) {
  ^bb0(%label: i32, %o: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %label : i32 to index
    %v = tensor.extract %logits[%i, %at] : tensor<8x64xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %log = math.log %sum : tensor<8xf32>
  %lse = arith.addf %log, %max : tensor<8xf32>
  %loss = arith.subf %lse, %picked : tensor<8xf32>
  return %loss : tensor<8xf32>
}

// The label's logit by comparing: the same. 63 words on 5 devices.
// CHECK-LABEL: func.func @compared
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} max <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: return
func.func @compared(%ids: tensor<8xi32> {spmd.range = [0, 63]}, %labels: tensor<8xi32> {spmd.range = [0, 63]},
    %table: tensor<63x16xf32> {spmd.weight = "compared.table", spmd.sharding = #spmd.sharding<@fp, [{"model"}, {}]>}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %h = linalg.generic {indexing_maps = [#row, #logit], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<63x16xf32>
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x63xf32>
  %logits = linalg.generic {indexing_maps = [#bh, #vh, #bv], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %table : tensor<8x16xf32>, tensor<63x16xf32>) outs(%zeros : tensor<8x63xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x63xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%logits : tensor<8x63xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %ev = tensor.empty() : tensor<8x63xf32>
  %exp = linalg.generic {indexing_maps = [#logit, #row, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%logits, %max : tensor<8x63xf32>, tensor<8xf32>) outs(%ev : tensor<8x63xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<8x63xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x63xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  %picked = linalg.generic {indexing_maps = [#logit, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%logits, %labels : tensor<8x63xf32>, tensor<8xi32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%x: f32, %label: i32, %acc: f32):
    %c0 = arith.constant 0.0 : f32
    %at = arith.index_cast %label : i32 to index
    %v = linalg.index 1 : index
    %is = arith.cmpi eq, %at, %v : index
    %p = arith.select %is, %x, %c0 : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %log = math.log %sum : tensor<8xf32>
  %lse = arith.addf %log, %max : tensor<8xf32>
  %loss = arith.subf %lse, %picked : tensor<8xf32>
  return %loss : tensor<8xf32>
}

// Looked up, 63 words on 5 devices.
// CHECK-LABEL: func.func @padded
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} max <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@fp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: return
func.func @padded(%ids: tensor<8xi32> {spmd.range = [0, 63]}, %labels: tensor<8xi32> {spmd.range = [0, 63]},
    %table: tensor<63x16xf32> {spmd.weight = "padded.table", spmd.sharding = #spmd.sharding<@fp, [{"model"}, {}]>}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %h = linalg.generic {indexing_maps = [#row, #logit], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<8xi32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<63x16xf32>
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<8x63xf32>
  %logits = linalg.generic {indexing_maps = [#bh, #vh, #bv], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %table : tensor<8x16xf32>, tensor<63x16xf32>) outs(%zeros : tensor<8x63xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x63xf32>
  %low = arith.constant dense<0xFF800000> : tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%logits : tensor<8x63xf32>) outs(%low : tensor<8xf32>) dimensions = [1]
  %ev = tensor.empty() : tensor<8x63xf32>
  %exp = linalg.generic {indexing_maps = [#logit, #row, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%logits, %max : tensor<8x63xf32>, tensor<8xf32>) outs(%ev : tensor<8x63xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<8x63xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x63xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
  %eb = tensor.empty() : tensor<8xf32>
  %picked = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]} ins(%labels : tensor<8xi32>) outs(%eb : tensor<8xf32>) {
  ^bb0(%label: i32, %o: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %label : i32 to index
    %v = tensor.extract %logits[%i, %at] : tensor<8x63xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %log = math.log %sum : tensor<8xf32>
  %lse = arith.addf %log, %max : tensor<8xf32>
  %loss = arith.subf %lse, %picked : tensor<8xf32>
  return %loss : tensor<8xf32>
}

// Forward and backward, the batch cut along "data": one more sum over "model" for
// the gradient of the activations, and one over "data" for the gradient of the table.
// CHECK-LABEL: func.func @step
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@dp_tp, {"model"}> {{.*}} : tensor<8x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} max <@dp_tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@dp_tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@dp_tp, {"model"}> {{.*}} : tensor<8xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@dp_tp, {"model"}> {{.*}} : tensor<8x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: spmd.all_reduce %{{.*}} sum <@dp_tp, {"data"}> {{.*}} : tensor<16x16xf32>
// CHECK-NOT: spmd.{{all_gather|all_to_all|exchange|reduce_scatter|collective_permute|all_reduce}}
// CHECK: return
func.func @step(%ids: tensor<16xi32> {spmd.sharding = #spmd.sharding<@dp_tp, [{"data"}]>, spmd.range = [0, 64]}, %labels: tensor<16xi32> {spmd.sharding = #spmd.sharding<@dp_tp, [{"data"}]>, spmd.range = [0, 64]},
    %table: tensor<64x16xf32> {spmd.weight = "step.table", spmd.sharding = #spmd.sharding<@dp_tp, [{"model"}, {}]>}) -> (tensor<16xf32> {spmd.sharding = #spmd.sharding<@dp_tp, [{"data"}]>}, tensor<64x16xf32> {spmd.sharding = #spmd.sharding<@dp_tp, [{"model"}, {}]>}) {
  %e = tensor.empty() : tensor<16x16xf32>
  %h = linalg.generic {indexing_maps = [#row, #logit], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<16xi32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%id: i32, %o: f32):
    %at = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : tensor<64x16xf32>
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %logits = linalg.generic {indexing_maps = [#bh, #vh, #bv], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %table : tensor<16x16xf32>, tensor<64x16xf32>) outs(%zeros : tensor<16x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %low = arith.constant dense<0xFF800000> : tensor<16xf32>
  %max = linalg.reduce { arith.maximumf } ins(%logits : tensor<16x64xf32>) outs(%low : tensor<16xf32>) dimensions = [1]
  %ev = tensor.empty() : tensor<16x64xf32>
  %exp = linalg.generic {indexing_maps = [#logit, #row, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%logits, %max : tensor<16x64xf32>, tensor<16xf32>) outs(%ev : tensor<16x64xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<16x64xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<16x64xf32>) outs(%zero : tensor<16xf32>) dimensions = [1]
  %eb = tensor.empty() : tensor<16xf32>
  %picked = linalg.generic {indexing_maps = [#b, #b], iterator_types = ["parallel"]} ins(%labels : tensor<16xi32>) outs(%eb : tensor<16xf32>) {
  ^bb0(%label: i32, %o: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %label : i32 to index
    %v = tensor.extract %logits[%i, %at] : tensor<16x64xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %log = math.log %sum : tensor<16xf32>
  %lse = arith.addf %log, %max : tensor<16xf32>
  %loss = arith.subf %lse, %picked : tensor<16xf32>
  // d loss / d logits: the softmax less one at the label.
  %dlogits = linalg.generic {indexing_maps = [#logit, #row, #row, #logit], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum, %labels : tensor<16x64xf32>, tensor<16xf32>, tensor<16xi32>) outs(%ev : tensor<16x64xf32>) {
  ^bb0(%x: f32, %n: f32, %label: i32, %o: f32):
    %c0 = arith.constant 0.0 : f32
    %c1 = arith.constant 1.0 : f32
    %p = arith.divf %x, %n : f32
    %at = arith.index_cast %label : i32 to index
    %v = linalg.index 1 : index
    %is = arith.cmpi eq, %at, %v : index
    %one = arith.select %is, %c1, %c0 : f32
    %d = arith.subf %p, %one : f32
    linalg.yield %d : f32
  } -> tensor<16x64xf32>
  %zh = arith.constant dense<0.0> : tensor<16x16xf32>
  %dh = linalg.generic {indexing_maps = [affine_map<(b, h, v) -> (b, v)>, affine_map<(b, h, v) -> (v, h)>, affine_map<(b, h, v) -> (b, h)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dlogits, %table : tensor<16x64xf32>, tensor<64x16xf32>) outs(%zh : tensor<16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %zt = arith.constant dense<0.0> : tensor<64x16xf32>
  %dhead = linalg.generic {indexing_maps = [affine_map<(v, h, b) -> (b, v)>, affine_map<(v, h, b) -> (b, h)>, affine_map<(v, h, b) -> (v, h)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dlogits, %h : tensor<16x64xf32>, tensor<16x16xf32>) outs(%zt : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x16xf32>
  // The embedding's gradient: one row per token, by comparing.
  %dtable = linalg.generic {indexing_maps = [affine_map<(v, h, b) -> (b)>, affine_map<(v, h, b) -> (b, h)>, affine_map<(v, h, b) -> (v, h)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ids, %dh : tensor<16xi32>, tensor<16x16xf32>) outs(%dhead : tensor<64x16xf32>) {
  ^bb0(%id: i32, %y: f32, %acc: f32):
    %c0 = arith.constant 0.0 : f32
    %at = arith.index_cast %id : i32 to index
    %v = linalg.index 0 : index
    %is = arith.cmpi eq, %at, %v : index
    %p = arith.select %is, %y, %c0 : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x16xf32>
  return %loss, %dtable : tensor<16xf32>, tensor<64x16xf32>
}
