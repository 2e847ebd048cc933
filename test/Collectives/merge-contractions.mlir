// Products of one operand with several parts of a stored tensor are one product again.
// RUN: shard-opt %s --spmd-merge-contractions | FileCheck %s
// The pass in the default pipeline, and its switch.
// RUN: shard-opt %S/../Runtime/segments.mlir --spmd-default-pipeline | FileCheck %s --check-prefix=ON
// RUN: shard-opt %S/../Runtime/segments.mlir --spmd-default-pipeline=merge-contractions=false | FileCheck %s --check-prefix=OFF
// ON-COUNT-4: linalg.contract
// ON-NOT: linalg.contract
// OFF-COUNT-6: linalg.contract
// OFF-NOT: linalg.contract

#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>
module attributes {spmd.phase = "partitioned"} {
  spmd.mesh @m = <["x"=4, "y"=2]>

  // Parts of different sizes, one of which two devices share; what is tied to a later argument follows it.
  // CHECK-LABEL: func.func @products(
  // CHECK-SAME: %[[X:.*]]: tensor<6x64xf32>, %[[W:.*]]: tensor<80x64xf32> {spmd.global_type = tensor<320x64xf32>, spmd.segments_of = [
  // CHECK-SAME: {spmd.global_type = tensor<160x64xf32>, spmd.segment = #spmd.segment<tensor<320x64xf32>, dim = 0, offset = 0, unit = 20, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
  // CHECK-SAME: {spmd.global_type = tensor<80x64xf32>, spmd.segment = #spmd.segment<tensor<320x64xf32>, dim = 0, offset = 240, unit = 20, argument = 1>, spmd.sharding = #spmd.sharding<@m, [{"x":(1)2}, {}]>}],
  // CHECK-SAME: spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.weight = "w"},
  // CHECK-SAME: %{{.*}}: tensor<4xf32>) -> ({{.*}}, tensor<4xf32> {spmd.tied = 2 : i64})
  // CHECK: %[[I:.*]] = linalg.fill {{.*}} -> tensor<6x80xf32>
  // CHECK: %[[P:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[W]]
  // CHECK-NOT: contract
  // CHECK: %[[A:.*]] = tensor.extract_slice %[[P]][0, 0] [6, 40] [1, 1]
  // CHECK: %[[B:.*]] = tensor.extract_slice %[[P]][0, 40] [6, 40] [1, 1]
  // CHECK: return %[[A]], %[[B]]
  func.func @products(%x: tensor<6x64xf32>,
      %q: tensor<40x64xf32> {spmd.weight = "w", spmd.global_type = tensor<160x64xf32>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.segment = #spmd.segment<tensor<320x64xf32>, dim = 0, offset = 0, unit = 20, argument = 1>},
      %v: tensor<40x64xf32> {spmd.weight = "w", spmd.global_type = tensor<80x64xf32>, spmd.sharding = #spmd.sharding<@m, [{"x":(1)2}, {}]>, spmd.segment = #spmd.segment<tensor<320x64xf32>, dim = 0, offset = 240, unit = 20, argument = 1>},
      %s: tensor<4xf32>) -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<4xf32> {spmd.tied = 3}) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x40xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<6x40xf32>) -> tensor<6x40xf32>
    %0 = linalg.contract indexing_maps = [#rows, #columns, #result] ins(%x, %q : tensor<6x64xf32>, tensor<40x64xf32>) outs(%i : tensor<6x40xf32>) -> tensor<6x40xf32>
    %1 = linalg.contract indexing_maps = [#rows, #columns, #result] ins(%x, %v : tensor<6x64xf32>, tensor<40x64xf32>) outs(%i : tensor<6x40xf32>) -> tensor<6x40xf32>
    return %0, %1, %s : tensor<6x40xf32>, tensor<6x40xf32>, tensor<4xf32>
  }

  // What relays a part out goes along.
  // CHECK-LABEL: func.func @transposed(
  // CHECK-SAME: %[[X:.*]]: tensor<6x8xf32>, %[[W:.*]]: tensor<12x8xf16>
  // CHECK: %[[E:.*]] = arith.extf %[[W]] : tensor<12x8xf16> to tensor<12x8xf32>
  // CHECK: %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<12x8xf32>)
  // CHECK: linalg.matmul ins(%[[X]], %[[T]] : tensor<6x8xf32>, tensor<8x12xf32>)
  // CHECK-NOT: matmul
  func.func @transposed(%x: tensor<6x8xf32>, %a: tensor<8x8xf16> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<12x8xf16>, dim = 0, offset = 0, unit = 1, argument = 1>}, %b: tensor<4x8xf16> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<12x8xf16>, dim = 0, offset = 8, unit = 1, argument = 1>}) -> (tensor<6x8xf32>, tensor<6x4xf32>) {
    %za = arith.constant dense<0.0> : tensor<6x8xf32>
    %zb = arith.constant dense<0.0> : tensor<6x4xf32>
    %0 = arith.extf %a : tensor<8x8xf16> to tensor<8x8xf32>
    %ea = tensor.empty() : tensor<8x8xf32>
    %ta = linalg.transpose ins(%0 : tensor<8x8xf32>) outs(%ea : tensor<8x8xf32>) permutation = [1, 0]
    %pa = linalg.matmul ins(%x, %ta : tensor<6x8xf32>, tensor<8x8xf32>) outs(%za : tensor<6x8xf32>) -> tensor<6x8xf32>
    %1 = arith.extf %b : tensor<4x8xf16> to tensor<4x8xf32>
    %eb = tensor.empty() : tensor<8x4xf32>
    %tb = linalg.transpose ins(%1 : tensor<4x8xf32>) outs(%eb : tensor<8x4xf32>) permutation = [1, 0]
    %pb = linalg.matmul ins(%x, %tb : tensor<6x8xf32>, tensor<8x4xf32>) outs(%zb : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %pa, %pb : tensor<6x8xf32>, tensor<6x4xf32>
  }

  // Those that are multiplied with one value: k and v of a context, q of something else.
  // CHECK-LABEL: func.func @crossed(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<6x8xf32>, %[[C:[^:]*]]: tensor<6x8xf32>, %[[KV:[^:]*]]: tensor<8x6xf32> {{[^%]*}}, %[[Q:[^:]*]]: tensor<8x4xf32> {{[^%]*}})
  // CHECK: linalg.matmul ins(%[[X]], %[[Q]]
  // CHECK: linalg.matmul ins(%[[C]], %[[KV]]
  // CHECK-NOT: linalg.matmul
  func.func @crossed(%x: tensor<6x8xf32>, %c: tensor<6x8xf32>,
      %k: tensor<8x2xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x10xf32>, dim = 1, offset = 0, unit = 1, argument = 2>},
      %q: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x10xf32>, dim = 1, offset = 2, unit = 1, argument = 2>},
      %v: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x10xf32>, dim = 1, offset = 6, unit = 1, argument = 2>}) -> (tensor<6x4xf32>, tensor<6x2xf32>, tensor<6x4xf32>) {
    %z = arith.constant dense<0.0> : tensor<6x4xf32>
    %y = arith.constant dense<0.0> : tensor<6x2xf32>
    %0 = linalg.matmul ins(%x, %q : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%c, %k : tensor<6x8xf32>, tensor<8x2xf32>) outs(%y : tensor<6x2xf32>) -> tensor<6x2xf32>
    %2 = linalg.matmul ins(%c, %v : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0, %1, %2 : tensor<6x4xf32>, tensor<6x2xf32>, tensor<6x4xf32>
  }

  // Not: another left operand, another use, other axes, an accumulation, a cast of one part alone.
  // CHECK-LABEL: func.func @left(
  // CHECK-COUNT-2: linalg.matmul
  func.func @left(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %a: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 0, unit = 1, argument = 2>}, %b: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 4, unit = 1, argument = 2>}) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
    %z = arith.constant dense<0.0> : tensor<6x4xf32>
    %0 = linalg.matmul ins(%x, %a : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%y, %b : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0, %1 : tensor<6x4xf32>, tensor<6x4xf32>
  }
  // CHECK-LABEL: func.func @uses(
  // CHECK-COUNT-2: linalg.matmul
  func.func @uses(%x: tensor<6x8xf32>, %a: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 0, unit = 1, argument = 1>}, %b: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 4, unit = 1, argument = 1>}) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<8x4xf32>) {
    %z = arith.constant dense<0.0> : tensor<6x4xf32>
    %0 = linalg.matmul ins(%x, %a : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%x, %b : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0, %1, %b : tensor<6x4xf32>, tensor<6x4xf32>, tensor<8x4xf32>
  }
  // CHECK-LABEL: func.func @axes(
  // CHECK-COUNT-2: linalg.matmul
  func.func @axes(%x: tensor<6x8xf32>, %a: tensor<8x4xf32> {spmd.weight = "w", spmd.global_type = tensor<8x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.segment = #spmd.segment<tensor<8x16xf32>, dim = 1, offset = 0, unit = 1, argument = 1>}, %b: tensor<8x2xf32> {spmd.weight = "w", spmd.global_type = tensor<8x8xf32>, spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.segment = #spmd.segment<tensor<8x16xf32>, dim = 1, offset = 8, unit = 1, argument = 1>}) -> (tensor<6x4xf32>, tensor<6x2xf32>) {
    %z = arith.constant dense<0.0> : tensor<6x4xf32>
    %y = arith.constant dense<0.0> : tensor<6x2xf32>
    %0 = linalg.matmul ins(%x, %a : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%x, %b : tensor<6x8xf32>, tensor<8x2xf32>) outs(%y : tensor<6x2xf32>) -> tensor<6x2xf32>
    return %0, %1 : tensor<6x4xf32>, tensor<6x2xf32>
  }
  // CHECK-LABEL: func.func @accumulates(
  // CHECK-COUNT-2: linalg.matmul
  func.func @accumulates(%x: tensor<6x8xf32>, %s: tensor<6x4xf32>, %a: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 0, unit = 1, argument = 2>}, %b: tensor<8x4xf32> {spmd.weight = "w", spmd.segment = #spmd.segment<tensor<8x8xf32>, dim = 1, offset = 4, unit = 1, argument = 2>}) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
    %z = arith.constant dense<0.0> : tensor<6x4xf32>
    %0 = linalg.matmul ins(%x, %a : tensor<6x8xf32>, tensor<8x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = linalg.matmul ins(%x, %b : tensor<6x8xf32>, tensor<8x4xf32>) outs(%s : tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0, %1 : tensor<6x4xf32>, tensor<6x4xf32>
  }
}
