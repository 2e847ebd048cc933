// Large constants are arguments that the runtime loads from the bundle: of all types, in loops, callees
// and manual computations, uneven, and of two functions once. The numbers are those of a program that contains them.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: rm -rf %t && mkdir %t && shard-compile %s -o %t/outlined --max-constant-bytes=8 --with-reference --opt-level=1
// RUN: shard-run %t/outlined --random-inputs=1 --verify=exact --output-dir %t/a | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--max-constant-bytes=-1 --compile-option=--opt-level=1 --output-dir %t/b | FileCheck %s
// RUN: diff -r %t/a %t/b
// RUN: %on-emulated-cuda shard-run %s --target=cuda --compile-option=--max-constant-bytes=8 --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 5 functions, 16 results, all equal bit by bit

// One tensor for the constant that two functions have.
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file=%t/outlined/manifest.json
// MANIFEST: "constants": {
// MANIFEST-NEXT: "file": "constants.safetensors"
// MANIFEST-LABEL: "name": "calls"
// MANIFEST: "name": "[[$SHARED:constant:[0-9a-f]+]]"
// MANIFEST-NEXT: "kind": "constant"
// MANIFEST-LABEL: "name": "loops"
// MANIFEST: "name": "[[$SHARED]]"

// A damaged bundle, and elements that are nowhere.
// RUN: cp -r %t/outlined %t/damaged && truncate -s -1 %t/damaged/constants.safetensors
// RUN: not shard-run %t/damaged --random-inputs=1 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: error: {{.*}}: file of constants 'constants.safetensors': the file has {{[0-9]+}} bytes, expected
// RUN: sed '/^{-#/,$d' %s > %t/none.mlir && not shard-compile %t/none.mlir -o %t/none --max-constant-bytes=8 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.mlir:[[#]]:[[#]]: error: constant of type 'tensor<3x5xi1>' is the resource 'flags', of which the file has no elements, expected them in its dialect_resources

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @types(%x: tensor<3x5xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>})
    -> (tensor<3x5xf32>, tensor<3x5xf64>, tensor<3x5xf16>, tensor<3x5xbf16>, tensor<3x5xi64>, tensor<3x5xi32>, tensor<3x5xi16>, tensor<3x5xi8>,
        tensor<3x5xi1>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f64>>, tensor<0x3xf32>) {
  %f32 = arith.constant dense<[[1.5, 2.0, 3.0, 4.0, 5.0], [6.0, -7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.25]]> : tensor<3x5xf32>
  %f64 = arith.constant dense<[[1.5, 2.0, 3.0, 4.0, 5.0], [6.0, -7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.25]]> : tensor<3x5xf64>
  %f16 = arith.constant dense<[[1.5, 2.0, 3.0, 4.0, 5.0], [6.0, -7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.25]]> : tensor<3x5xf16>
  %bf16 = arith.constant dense<[[1.5, 2.0, 3.0, 4.0, 5.0], [6.0, -7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.25]]> : tensor<3x5xbf16>
  %i64 = arith.constant dense<[[1, 2, 3, 4, 5], [6, -7, 8, 9, 10], [11, 12, 13, 14, 1500000000000]]> : tensor<3x5xi64>
  %i32 = arith.constant dense<[[1, 2, 3, 4, 5], [6, -7, 8, 9, 10], [11, 12, 13, 14, 150000]]> : tensor<3x5xi32>
  %i16 = arith.constant dense<[[1, 2, 3, 4, 5], [6, -7, 8, 9, 10], [11, 12, 13, 14, 1500]]> : tensor<3x5xi16>
  %i8 = arith.constant dense<[[1, 2, 3, 4, 5], [6, -7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi8>
  %i1 = arith.constant dense<[[true, false, true, true, false], [false, false, true, false, true], [true, true, false, false, true]]> : tensor<3x5xi1>
  %flags = arith.constant dense_resource<flags> : tensor<3x5xi1>
  %c64 = arith.constant dense<[(1.0, 2.0), (3.0, -4.0), (5.0, 6.5)]> : tensor<3xcomplex<f32>>
  %c128 = arith.constant dense<[(1.0, 2.0), (3.0, -4.0), (5.0, 6.5)]> : tensor<3xcomplex<f64>>
  %empty = arith.constant dense<> : tensor<0x3xf32>
  %0 = arith.mulf %x, %f32 : tensor<3x5xf32>
  %1 = arith.andi %i1, %flags : tensor<3x5xi1>
  return %0, %f64, %f16, %bf16, %i64, %i32, %i16, %i8, %1, %c64, %c128, %empty : tensor<3x5xf32>, tensor<3x5xf64>, tensor<3x5xf16>, tensor<3x5xbf16>,
      tensor<3x5xi64>, tensor<3x5xi32>, tensor<3x5xi16>, tensor<3x5xi8>, tensor<3x5xi1>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f64>>, tensor<0x3xf32>
}

func.func private @callee(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0], [21.0, 22.0, 23.0, 24.0]]> : tensor<6x4xf32>
  %0 = arith.addf %x, %c : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
func.func @calls(%x: tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x4xf32> {
  %same = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0], [21.0, 22.0, 23.0, 24.0]]> : tensor<6x4xf32>
  %0 = func.call @callee(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = arith.subf %0, %same : tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// A loop that reads its rows of a constant, of the elements of the constant above.
func.func @loops(%x: tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %0 = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %x) -> tensor<4xf32> {
    %table = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0], [17.0, 18.0, 19.0, 20.0], [21.0, 22.0, 23.0, 24.0]]> : tensor<6x4xf32>
    %row = tensor.extract_slice %table[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %next = arith.addf %sum, %row : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// A function and its reference have constants of their own.
func.func @doubled(%x: tensor<2x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<2x2xi32> attributes {spmd.reference = @sum} {
  %c = arith.constant dense<[[2, 4], [6, 8]]> : tensor<2x2xi32>
  %0 = arith.addi %x, %c : tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}
func.func private @sum(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = arith.addi %c, %c : tensor<2x2xi32>
  %1 = arith.addi %x, %0 : tensor<2x2xi32>
  return %1 : tensor<2x2xi32>
}

// In local view a constant is full on every device; the free axis may shard it.
func.func @local(%x: tensor<4x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<4x4xi32> attributes {spmd.reference = @global} {
  %0 = spmd.manual_computation (%x) in [<@m, [{"x"}, {?}]>] out [<@m, [{"x"}, {?}]>] axes ["x"] (%a: tensor<2x4xi32>) {
    %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
    %1 = arith.muli %a, %c : tensor<2x4xi32>
    spmd.return %1 : tensor<2x4xi32>
  } : (tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}
func.func private @global(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<4x4xi32>
  %0 = arith.muli %x, %c : tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

{-#
  dialect_resources: {
    builtin: {
      flags: "0x01000000010100000100000101010100000001"
    }
  }
#-}
