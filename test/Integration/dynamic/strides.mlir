// Products that read and add to slices of unknown strides, in place.
// REQUIRES: shard-run
// RUN: shard-compile %s --with-reference --fill-padding=lowest -o %t
// RUN: shard-run %t --size=b=5 --size=s=3 --size=t=9 --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %t --size=b=1 --size=s=8 --size=t=8 --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %t --size=b=0 --size=s=2 --size=t=8 --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 1 function, 2 results, all equal bit by bit

spmd.mesh @m = <["x"=2, "y"=3]>
#a = affine_map<(b, s, n, k) -> (b, s, k)>
#w = affine_map<(b, s, n, k) -> (k, n)>
#c = affine_map<(b, s, n, k) -> (b, s, n)>
func.func @into(%x: tensor<?x?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", "s", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}, %w: tensor<6x5xi32> {spmd.range = [-9, 9]}, %z: tensor<?x?x5xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", "t", ""], spmd.sharding = #spmd.sharding<@m, [{"y"}, {}, {}]>}) -> (tensor<?x?x5xi32>, tensor<?x?x5xi32>) attributes {spmd.bounds = {s = [1, 8], t = [8, 20]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x6xi32>
  %s = tensor.dim %x, %c1 : tensor<?x?x6xi32>
  %part = tensor.extract_slice %z[0, 0, 0] [%b, %s, 5] [1, 1, 1] : tensor<?x?x5xi32> to tensor<?x?x5xi32>
  %sum = linalg.contract indexing_maps = [#a, #w, #c] ins(%x, %w : tensor<?x?x6xi32>, tensor<6x5xi32>) outs(%part : tensor<?x?x5xi32>) -> tensor<?x?x5xi32>
  %r = tensor.insert_slice %sum into %z[0, 0, 0] [%b, %s, 5] [1, 1, 1] : tensor<?x?x5xi32> into tensor<?x?x5xi32>
  return %r, %sum : tensor<?x?x5xi32>, tensor<?x?x5xi32>
}
