// Slices that drop or add dims of size 1 behind others that stay, at places that turn out to be constant. MLIR 22 canonicalizes them
// to other ones, for the program without shardings too: what is read and written is asserted.
// REQUIRES: shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--inline=false
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s
spmd.mesh @m = <["x"=2]>

// CHECK-LABEL: func.func @read
// CHECK: tensor.extract_slice {{.*}}[1, 0, 2, 3] [1, 8, 1, 1] [1, 1, 1, 1] : tensor<2x8x9x12xi32> to tensor<1x8x1x1xi32>
func.func @read(%a: tensor<2x8x9x12xi32> {spmd.range = [-99, 99]}) -> tensor<1x8x1xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %r = tensor.extract_slice %a[%c1, %c0, 2, %c3] [1, 8, 1, 1] [1, 1, 1, 1] : tensor<2x8x9x12xi32> to tensor<1x8x1xi32>
  %found = tensor.extract %r[%c0, %c5, %c0] : tensor<1x8x1xi32>
  %expected = tensor.extract %a[%c1, %c5, %c2, %c3] : tensor<2x8x9x12xi32>
  %same = arith.cmpi eq, %found, %expected : i32
  cf.assert %same, "another part was read"
  return %r : tensor<1x8x1xi32>
}

// CHECK-LABEL: func.func @write
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2], [3]] output_shape [1, 2, 1, 2] : tensor<1x2x2xi32> into tensor<1x2x1x2xi32>
func.func @write(%a: tensor<1x2x2xi32> {spmd.range = [-99, 99]}, %b: tensor<1x2x1x2xi32> {spmd.range = [-99, 99]}) -> tensor<1x2x1x2xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %cast = tensor.cast %a : tensor<1x2x2xi32> to tensor<1x?x?xi32>
  %into = tensor.cast %b : tensor<1x2x1x2xi32> to tensor<1x?x1x?xi32>
  %r = tensor.insert_slice %cast into %into[0, 0, 0, 0] [1, %c2, 1, %c2] [1, 1, 1, 1] : tensor<1x?x?xi32> into tensor<1x?x1x?xi32>
  %known = tensor.cast %r : tensor<1x?x1x?xi32> to tensor<1x2x1x2xi32>
  %found = tensor.extract %known[%c0, %c1, %c0, %c0] : tensor<1x2x1x2xi32>
  %expected = tensor.extract %a[%c0, %c1, %c0] : tensor<1x2x2xi32>
  %same = arith.cmpi eq, %found, %expected : i32
  cf.assert %same, "another part was written"
  return %known : tensor<1x2x1x2xi32>
}

// CHECK-LABEL: func.func @at_once
func.func @at_once(%a: tensor<3x2xi32> {spmd.range = [-99, 99]}, %b: tensor<3x2x4xi32> {spmd.range = [-99, 99], spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) -> tensor<3x2x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.forall (%i) in (3) shared_outs(%o = %b) -> tensor<3x2x4xi32> {
    %row = tensor.extract_slice %a[%i, %c0] [1, 2] [1, 1] : tensor<3x2xi32> to tensor<1x2xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, %c0, %c3] [1, 2, 1] [1, 1, 1] : tensor<1x2xi32> into tensor<3x2x4xi32>
    }
  }
  %found = tensor.extract %r[%c2, %c1, %c3] : tensor<3x2x4xi32>
  %expected = tensor.extract %a[%c2, %c1] : tensor<3x2xi32>
  %same = arith.cmpi eq, %found, %expected : i32
  cf.assert %same, "another part was written"
  return %r : tensor<3x2x4xi32>
}
