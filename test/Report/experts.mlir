// Experts of which each token uses 2 of 4: products, rows that move, and memory are what is computed.
// RUN: shard-opt %s --spmd-find-groups | FileCheck %s --check-prefix=MARKS
// RUN: shard-opt %s --spmd-report=plan=propagation -o /dev/null 2>&1 | FileCheck %s
// Of a mask that data give, each token may use all of them; in memory there is one after the other all the same.
// RUN: sed 's/ins(%any, %h : /ins(%given, %h : /' %s | shard-opt --spmd-find-groups | FileCheck %s --check-prefix=GIVEN
// RUN: sed 's/ins(%any, %h : /ins(%given, %h : /' %s | shard-opt --spmd-report=plan=propagation -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// A number of groups that is none.
// RUN: shard-opt %s --spmd-find-groups | sed 's/used = 2/used = 5/' | not shard-opt - 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: attribute 'spmd.groups' of 'linalg.fill' is {{.*}}used = 5{{.*}}expected the `groups` and how many of them a row is in, `used`, i64 from 1 to `groups`
spmd.mesh @m = <["x"=4]> {flops = 1.0e9}

// MARKS-LABEL: func.func @mixture
// MARKS: linalg.fill {spmd.groups = {dim = 0 : i64, groups = 4 : i64, used = 2 : i64}}
// MARKS: linalg.generic {{.*}}"reduction"{{.*}}attrs = {spmd.groups = {dim = 0 : i64, groups = 4 : i64, loop = 0 : i64, row_operands = array<i64: 0>, used = 2 : i64}}
// MARKS: linalg.generic {{.*}}attrs = {spmd.groups = {dim = 0 : i64, groups = 4 : i64, loop = 0 : i64, used = 2 : i64}}
// MARKS: linalg.generic {{.*}}attrs = {spmd.groups = {groups = 4 : i64, loop = 0 : i64, used = 2 : i64}}
// CHECK: predicted compute {{ *}}3.312 us
// CHECK: all_gather {{.*}}1 x 384 B {{.*}}50 % of rows
// CHECK: reduce_scatter sum {{.*}}1 x 384 B {{.*}}50 % of rows
// ALL: predicted compute {{ *}}6.528 us
// ALL: all_gather {{.*}}1 x 768 B
// ALL-NOT: of rows
// GIVEN: row_operands = array<i64: 0>, used = 4 : i64
func.func @mixture(%x: tensor<12x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %chosen: tensor<12x2xi32> {spmd.range = [0, 4]},
                   %w: tensor<4x16x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>},
                   %given: tensor<12x4xi1>)
    -> (tensor<12x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %e0 = tensor.empty() : tensor<12x2x4xi1>
  %hot = linalg.generic {indexing_maps = [affine_map<(t, j, e) -> (t, j)>, affine_map<(t, j, e) -> (t, j, e)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%chosen : tensor<12x2xi32>) outs(%e0 : tensor<12x2x4xi1>) {
  ^bb0(%a: i32, %o: i1):
    %i = linalg.index 2 : index
    %n = arith.index_cast %i : index to i32
    %c = arith.cmpi eq, %a, %n : i32
    linalg.yield %c : i1
  } -> tensor<12x2x4xi1>
  %e1 = tensor.empty() : tensor<12x4xi1>
  %none = linalg.fill ins(%false : i1) outs(%e1 : tensor<12x4xi1>) -> tensor<12x4xi1>
  %any = linalg.generic {indexing_maps = [affine_map<(t, j, e) -> (t, j, e)>, affine_map<(t, j, e) -> (t, e)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%hot : tensor<12x2x4xi1>) outs(%none : tensor<12x4xi1>) {
  ^bb0(%a: i1, %o: i1):
    %c = arith.ori %a, %o : i1
    linalg.yield %c : i1
  } -> tensor<12x4xi1>
  %e2 = tensor.empty() : tensor<4x12x16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x12x16xf32>) -> tensor<4x12x16xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, t, n, k) -> (t, k)>, affine_map<(e, t, n, k) -> (e, k, n)>, affine_map<(e, t, n, k) -> (e, t, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<12x16xf32>, tensor<4x16x16xf32>) outs(%z2 : tensor<4x12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x12x16xf32>
  %e3 = tensor.empty() : tensor<4x12x16xf32>
  %masked = linalg.generic {indexing_maps = [affine_map<(e, t, n) -> (t, e)>, affine_map<(e, t, n) -> (e, t, n)>, affine_map<(e, t, n) -> (e, t, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%any, %h : tensor<12x4xi1>, tensor<4x12x16xf32>) outs(%e3 : tensor<4x12x16xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %a, %zero : f32
    linalg.yield %s : f32
  } -> tensor<4x12x16xf32>
  %e4 = tensor.empty() : tensor<12x16xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<12x16xf32>) -> tensor<12x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(e, t, n) -> (e, t, n)>, affine_map<(e, t, n) -> (t, n)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%masked : tensor<4x12x16xf32>) outs(%z4 : tensor<12x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<12x16xf32>
  return %y : tensor<12x16xf32>
}
