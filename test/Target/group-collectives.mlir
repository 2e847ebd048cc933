// Experts on four devices: tokens travel to the devices whose experts they have chosen, and sums of experts back.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --with-reference --remarks-filter=spmd -o %t 2>%t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK-DAG: [Passed] rows {{.*}}collective 0 moves the rows that a mask leaves of 16
// REMARK-DAG: [Passed] rows {{.*}}collective 1 moves the rows that a mask leaves of 16
// REMARK-DAG: [Passed] groups {{.*}}each of 2 groups computes the rows that its mask leaves
// RUN: shard-run %t --random-inputs=1 --verify --report=%t.json | FileCheck %s
// CHECK: all equal
// Token t has chosen experts t and t + 1 mod 8, so that a device needs 6 of the 16 tokens: device 0 has 2 of these, device
// 1 none. A token is 32 bytes, what experts make of it 256, and a mask 2, from each of the others.
// RUN: %python -c "import json; r = json.load(open(r'%t.json')); print(*[c['measured']['received_bytes_per_rank'] for c in r['collectives']])" | FileCheck %s --check-prefix=BYTES
// BYTES: [134, 198, 166, 102] [1030, 1542, 1286, 774]

#etf = affine_map<(e, t, f) -> (e, t, f)>
#te = affine_map<(e, t, f) -> (t, e)>
#tf = affine_map<(e, t, f) -> (t, f)>

spmd.mesh @m = <["x"=4]> {alpha = [1.0e-9], beta = [1.0e-9]}

func.func @experts(%x: tensor<16x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %w: tensor<8x8x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>})
    -> (tensor<16x64xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %em = tensor.empty() : tensor<16x8xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(t, e) -> (t, e)>], iterator_types = ["parallel", "parallel"]} outs(%em : tensor<16x8xi1>) {
  ^bb0(%o: i1):
    %t = linalg.index 0 : index
    %e = linalg.index 1 : index
    %next = arith.addi %t, %one : index
    %t8 = arith.remui %t, %eight : index
    %n8 = arith.remui %next, %eight : index
    %a = arith.cmpi eq, %e, %t8 : index
    %b = arith.cmpi eq, %e, %n8 : index
    %c = arith.ori %a, %b : i1
    linalg.yield %c : i1
  } -> tensor<16x8xi1>
  %e0 = tensor.empty() : tensor<8x16x64xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(e, t, f, k) -> (t, k)>, affine_map<(e, t, f, k) -> (e, k, f)>, affine_map<(e, t, f, k) -> (e, t, f)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x8xf32>, tensor<8x8x64xf32>) outs(%z0 : tensor<8x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16x64xf32>
  %masked = linalg.generic {indexing_maps = [#te, #etf, #etf], iterator_types = ["parallel", "parallel", "parallel"]} ins(%mask, %h : tensor<16x8xi1>, tensor<8x16x64xf32>) outs(%e0 : tensor<8x16x64xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    %s = arith.select %c, %r, %zero : f32
    linalg.yield %s : f32
  } -> tensor<8x16x64xf32>
  %e2 = tensor.empty() : tensor<16x64xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  %y = linalg.generic {indexing_maps = [#etf, #tf], iterator_types = ["reduction", "parallel", "parallel"]} ins(%masked : tensor<8x16x64xf32>) outs(%z2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}
