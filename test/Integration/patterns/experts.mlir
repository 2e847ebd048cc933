// A mixture of experts as einsums over groups of tokens: tokens are cut by group, experts by expert, on one axis. Two
// all-to-alls, one to the experts and one back.
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify=exact

#gsec = affine_map<(e, g, c, m, s) -> (g, s, e, c)>
#gsm = affine_map<(e, g, c, m, s) -> (g, s, m)>
#egcm = affine_map<(e, g, c, m, s) -> (e, g, c, m)>

spmd.mesh @m = <["x"=4]>

// CHECK-LABEL: func.func @experts
// CHECK-NOT: = spmd.
// CHECK: = spmd.all_to_all %{{.*}} <@m, [{}, {"x"}, {}, {}]> to <@m, [{"x"}, {}, {}, {}]>
// CHECK-NOT: = spmd.
// CHECK: = spmd.all_to_all %{{.*}} <@m, [{"x"}, {}, {}, {}]> to <@m, [{}, {"x"}, {}, {}]>
// CHECK-NOT: = spmd.
func.func @experts(%tokens: tensor<4x6x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-9, 9]},
                   %dispatch: tensor<4x6x8x3xi32> {spmd.range = [0, 2]},
                   %combine: tensor<4x6x8x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>, spmd.range = [0, 3]},
                   %w: tensor<8x8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-9, 9]},
                   %v: tensor<8x10x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>, spmd.range = [-9, 9]}) -> tensor<4x6x8xi32> {
  %c = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<8x4x3x8xi32>
  %z0 = linalg.fill ins(%c : i32) outs(%e0 : tensor<8x4x3x8xi32>) -> tensor<8x4x3x8xi32>
  %sent = linalg.generic {indexing_maps = [#gsec, #gsm, #egcm], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%dispatch, %tokens : tensor<4x6x8x3xi32>, tensor<4x6x8xi32>) outs(%z0 : tensor<8x4x3x8xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %a = arith.muli %p, %q : i32
    %b = arith.addi %a, %o : i32
    linalg.yield %b : i32
  } -> tensor<8x4x3x8xi32>
  %e1 = tensor.empty() : tensor<8x4x3x10xi32>
  %z1 = linalg.fill ins(%c : i32) outs(%e1 : tensor<8x4x3x10xi32>) -> tensor<8x4x3x10xi32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, g, c, f, m) -> (e, g, c, m)>, affine_map<(e, g, c, f, m) -> (e, m, f)>, affine_map<(e, g, c, f, m) -> (e, g, c, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%sent, %w : tensor<8x4x3x8xi32>, tensor<8x8x10xi32>) outs(%z1 : tensor<8x4x3x10xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %a = arith.muli %p, %q : i32
    %b = arith.addi %a, %o : i32
    linalg.yield %b : i32
  } -> tensor<8x4x3x10xi32>
  %zero = arith.constant dense<0> : tensor<8x4x3x10xi32>
  %r = arith.maxsi %h, %zero : tensor<8x4x3x10xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(e, g, c, m, f) -> (e, g, c, f)>, affine_map<(e, g, c, m, f) -> (e, f, m)>, affine_map<(e, g, c, m, f) -> (e, g, c, m)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %v : tensor<8x4x3x10xi32>, tensor<8x10x8xi32>) outs(%z0 : tensor<8x4x3x8xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %a = arith.muli %p, %q : i32
    %b = arith.addi %a, %o : i32
    linalg.yield %b : i32
  } -> tensor<8x4x3x8xi32>
  %e2 = tensor.empty() : tensor<4x6x8xi32>
  %z2 = linalg.fill ins(%c : i32) outs(%e2 : tensor<4x6x8xi32>) -> tensor<4x6x8xi32>
  %out = linalg.generic {indexing_maps = [affine_map<(g, s, m, e, c) -> (g, s, e, c)>, affine_map<(g, s, m, e, c) -> (e, g, c, m)>, affine_map<(g, s, m, e, c) -> (g, s, m)>],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%combine, %y : tensor<4x6x8x3xi32>, tensor<8x4x3x8xi32>) outs(%z2 : tensor<4x6x8xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %a = arith.muli %p, %q : i32
    %b = arith.addi %a, %o : i32
    linalg.yield %b : i32
  } -> tensor<4x6x8xi32>
  return %out : tensor<4x6x8xi32>
}
