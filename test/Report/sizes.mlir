// Sizes that only the run knows: bytes and seconds at the hint, memory at the bound and as a formula.
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: shard-opt %s --spmd-report -o - 2>/dev/null | FileCheck %s --check-prefix=MODULE

// CHECK: all_gather 1 x 256 B
// CHECK: peak of @f 10 KiB
// CHECK: function @f, with b = 3
// CHECK: arg0 tensor<?x16xf32> tensor<2x16xf32>
// CHECK: result0 tensor<?x16xf32> tensor<3x16xf32>
// CHECK: memory of @f
// CHECK-NEXT: peak 10 KiB at tensor.extract_slice
// The gathered value has padding, the result has none.
// CHECK-NEXT: with b = 64, of 64 * b + 192 * ceil(b / 2) bytes
// JSON: "formula": "64 * b + 192 * ceil(b / 2)"
// JSON: "sizes": {
// JSON-NEXT: "f": {
// JSON-NEXT: "b": 64
// JSON: "sizes": {
// JSON-NEXT: "f": {
// JSON-NEXT: "b": 3
// The program stays as it is.
// MODULE: func.func @f(%{{.*}}: tensor<?x16xf32>
spmd.mesh @m = <["x"=2]>
func.func @f(%x: tensor<?x16xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    -> (tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) attributes {spmd.bounds = {b = [1, 64]}, spmd.hints = {b = 3}} {
  %y = math.tanh %x : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
