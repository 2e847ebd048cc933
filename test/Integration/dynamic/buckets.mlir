// Buckets of sizes: layouts of their own, one weight, one function of the bundle, whose bucket the sizes of a call choose.
// REQUIRES: shard-run
// RUN: shard-compile %s --bucket=b=8 --auto-shard --with-reference --fill-padding=lowest -o %t
// RUN: shard-run %t --size=b=3 --random-inputs=1 --verify | FileCheck %s --check-prefix=FEW
// RUN: shard-run %t --size=b=8 --random-inputs=1 --verify | FileCheck %s --check-prefix=FEW
// RUN: shard-run %t --size=b=9 --random-inputs=1 --verify | FileCheck %s --check-prefix=MANY
// RUN: shard-run %t --size=b=700 --random-inputs=1 --verify | FileCheck %s --check-prefix=MANY
// FEW: product[b<=8]: 4 devices
// FEW: all equal
// MANY: product[b>=9]: 4 devices
// MANY: all equal
// RUN: not shard-run %t --size=b=4097 --random-inputs=1 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: function 'product': size 'b' is 4097, expected one from 1 to 4096
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/manifest.json

// Few rows are moved after the product, for many the weight is gathered before it.
// MANIFEST: "name": "product",
// MANIFEST-NEXT: "buckets": [
// MANIFEST: "name": "product[b<=8]",
// MANIFEST: "kind": "all_to_all",
// MANIFEST: "name": "product[b>=9]",
// MANIFEST: "kind": "all_gather",

spmd.mesh @m = <["x"=4]>

func.func @product(%x: tensor<?x256xf32> {spmd.symbols = ["b", ""]},
                   %w: tensor<256x64xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>})
    -> (tensor<?x64xf32> {spmd.sharding = #spmd.sharding<@m, [{?}, {}]>}) attributes {spmd.bounds = {b = [1, 4096]}} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%b) : tensor<?x64xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x256xf32>, tensor<256x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
