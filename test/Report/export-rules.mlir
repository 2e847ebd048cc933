// The rules of all ops as JSON: value classes, arguments, and ops with the factors of each dim. Names of results are positions.
// RUN: shard-opt %s --spmd-export-rules=output=- -o /dev/null | FileCheck %s
// RUN: grep -v spmd.mesh %s | not shard-opt --spmd-export-rules -o /dev/null 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: error: no function is on a mesh, expected one spmd.mesh

spmd.mesh @pod = <["x"=2]>

// CHECK:      {"functions":[{"name":"main","hash":"{{[0-9a-f]+}}","classes":{{\[\[8,4\],\[4,6\],\[8,6\]}}
// CHECK-SAME: "arguments":[{"name":"x","class":0,"weight":false},{"name":"w","class":1,"weight":true}]
// CHECK-SAME: "results":[{"name":"result0","class":3}]
// CHECK-SAME: {"name":"linalg.matmul","value":"op#3","contraction":true,"factors":[{"size":8,"kind":"parallel","windows":false},{"size":6,"kind":"parallel","windows":false},{"size":4,"kind":"reduction","windows":false}],
// CHECK-SAME: "operands":[{"class":0,"dims":{{\[\[0\],\[2\]\]}}},{"class":1,"dims":{{\[\[2\],\[1\]\]}}},{"class":-1,"dims":{{\[\[0\],\[1\]\]}},"init":true}],"results":[{"class":2,"dims":{{\[\[0\],\[1\]\]}}}]}
func.func @main(%x: tensor<8x4xf32> {spmd.name = "x"}, %w: tensor<4x6xf32> {spmd.weight = "w"}) -> tensor<8x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%init : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
