// A slice that is beyond what it is taken of, by sizes that only folding makes known: one error at the op.
// REQUIRES: shard-compile
// RUN: split-file %s %t
// RUN: not shard-compile %t/extract.mlir -o %t/bundle 2>&1 | FileCheck %s --check-prefix=EXTRACT
// RUN: not shard-compile %t/insert.mlir -o %t/bundle 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: not shard-compile %t/extract.mlir --target=cuda -o %t/bundle 2>&1 | FileCheck %s --check-prefix=EXTRACT
// RUN: not ls %t/bundle

//--- extract.mlir
// EXTRACT: extract.mlir:7:8: error: the slice goes from -1 to 18 in dim 0, expected indices from 0 to 19 of 'tensor<20x3xf32>'
// EXTRACT-NOT: error
func.func @main(%a: tensor<20x3xf32>) -> tensor<20x3xf32> {
  %c19 = arith.constant 19 : index
  %c20 = arith.constant 20 : index
  %o = arith.subi %c19, %c20 : index
  %s = tensor.extract_slice %a[%o, 0] [20, 3] [1, 1] : tensor<20x3xf32> to tensor<20x3xf32>
  return %s : tensor<20x3xf32>
}
//--- insert.mlir
// INSERT: error: the slice goes from 1 to 9 in dim 1, expected indices from 0 to 7 of 'tensor<3x8xf32>'
// INSERT-NOT: error
func.func @main(%a: tensor<3x5xf32>, %b: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.addi %c1, %c1 : index
  %s = tensor.insert_slice %a into %b[0, %c1] [3, 5] [1, %c2] : tensor<3x5xf32> into tensor<3x8xf32>
  return %s : tensor<3x8xf32>
}
