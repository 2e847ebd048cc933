// Experts of an unknown number of tokens: shares of two choices, a zero that is read from a tensor. Each expert computes its own tokens,
// which alone travel to its device, and back.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --with-reference --opt-level=0 --remarks-filter=spmd -o %t 2>%t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK-DAG: [Passed] rows {{.*}}collective 0 moves the rows that a mask leaves
// REMARK-DAG: [Passed] rows {{.*}}collective 1 moves the rows that a mask leaves
// REMARK-DAG: [Passed] groups {{.*}}each of 3 groups computes the rows that its mask leaves
// RUN: shard-run %t --random-inputs=1 --size=t=1 --verify | FileCheck %s
// RUN: shard-run %t --random-inputs=2 --size=t=7 --verify --report=%t.json | FileCheck %s
// Token t has chosen experts t mod 6 and t mod 3: all go to device 0, and tokens 3 to 5 to device 1 too. Device 0 has tokens 0
// to 3. A token is 32 bytes, and a mask of 8 rows 1.
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); print(*[c['measured']['received_bytes_per_rank'] for c in r['collectives']])" | FileCheck %s --check-prefix=BYTES
// BYTES: [97, 33] [33, 97]
// RUN: shard-run %t --random-inputs=3 --size=t=0 --verify | FileCheck %s
// CHECK: all equal

#te = affine_map<(t, e) -> (t, e)>
#t = affine_map<(t, e) -> (t)>

spmd.mesh @m = <["x"=2]>

func.func @experts(%x: tensor<?x8xf32> {spmd.symbols = ["t", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<6x8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>})
    -> (tensor<?x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) attributes {spmd.bounds = {t = [0, 16]}} {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<f32>
  %zero = tensor.extract %none[] : tensor<f32>
  %six = arith.constant 6 : index
  %three = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n) : tensor<?x6xf32>
  %first = linalg.generic {indexing_maps = [#te], iterator_types = ["parallel", "parallel"]} outs(%es : tensor<?x6xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %e = linalg.index 1 : index
    %r = arith.remui %t, %six : index
    %c = arith.cmpi eq, %r, %e : index
    %f = arith.uitofp %c : i1 to f32
    linalg.yield %f : f32
  } -> tensor<?x6xf32>
  %second = linalg.generic {indexing_maps = [#te], iterator_types = ["parallel", "parallel"]} outs(%es : tensor<?x6xf32>) {
  ^bb0(%o: f32):
    %t = linalg.index 0 : index
    %e = linalg.index 1 : index
    %r = arith.remui %t, %three : index
    %c = arith.cmpi eq, %r, %e : index
    %f = arith.uitofp %c : i1 to f32
    linalg.yield %f : f32
  } -> tensor<?x6xf32>
  %share = arith.addf %first, %second : tensor<?x6xf32>
  %eh = tensor.empty(%n) : tensor<6x?x8xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<6x?x8xf32>) -> tensor<6x?x8xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, t, f, k) -> (t, k)>, affine_map<(e, t, f, k) -> (e, k, f)>, affine_map<(e, t, f, k) -> (e, t, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<?x8xf32>, tensor<6x8x8xf32>) outs(%zh : tensor<6x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<6x?x8xf32>
  %ey = tensor.empty(%n) : tensor<?x8xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(e, t, f) -> (e, t, f)>, affine_map<(e, t, f) -> (t, e)>, affine_map<(e, t, f) -> (t, f)>], iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%h, %share : tensor<6x?x8xf32>, tensor<?x6xf32>) outs(%zy : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
