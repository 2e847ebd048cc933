// What a user can get wrong at run time: one line on stderr and exit 1 each.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t && shard-compile %s -o %t/bundle
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors w=F32:4x6
// RUN: %python %S/Inputs/tensors.py %t/x.npy x='<f4':2x4

// The good run first, so that the others fail for their own reason.
// RUN: shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x.npy | FileCheck %s --check-prefix=GOOD
// GOOD: load: {{.*}} owned per device

// RUN: not shard-run %t/bundle --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=NO-WEIGHTS
// NO-WEIGHTS: error: weight 'w' (f32 4x6) is not given, use --weights or --random-inputs=SEED

// RUN: %python %S/Inputs/tensors.py %t/other.safetensors weight=F32:4x6 w.bias=F32:6
// RUN: not shard-run %t/bundle --weights %t/other.safetensors --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: missing weight 'w' (f32 4x6), {{.*}}other.safetensors holds 2 tensors

// RUN: %python %S/Inputs/tensors.py %t/shape.safetensors w=F32:6x4
// RUN: not shard-run %t/bundle --weights %t/shape.safetensors --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: weight 'w': stored with shape 6x4, expected 4x6 ({{.*}}shape.safetensors, bytes

// RUN: %python %S/Inputs/tensors.py %t/dtype.safetensors w=I32:4x6
// RUN: not shard-run %t/bundle --weights %t/dtype.safetensors --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: error: weight 'w': stored as I32, expected f32 (

// RUN: %python %S/Inputs/tensors.py %t/cut.safetensors w=F32:4x6 cut=5
// RUN: not shard-run %t/bundle --weights %t/cut.safetensors --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: {{.*}}cut.safetensors: tensor 'w': bytes 0 to 96 lie beyond the end of the data at 91 (truncated file?)

// RUN: not shard-run %t/bundle --weights %t --input x=%t/x.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}: tensor

// RUN: %python %S/Inputs/tensors.py %t/x-shape.npy x='<f4':4x2
// RUN: not shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x-shape.npy 2>&1 | FileCheck %s --check-prefix=X-SHAPE
// X-SHAPE: error: input 'x': stored with shape 4x2, expected 2x4 ({{.*}}x-shape.npy, bytes

// RUN: %python %S/Inputs/tensors.py %t/x-dtype.npy x='<i4':2x4
// RUN: not shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x-dtype.npy 2>&1 | FileCheck %s --check-prefix=X-DTYPE
// X-DTYPE: error: input 'x': stored as <i4, expected f32 (

// RUN: %python %S/Inputs/tensors.py %t/x-cut.npy x='<f4':2x4 cut=1
// RUN: not shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x-cut.npy 2>&1 | FileCheck %s --check-prefix=X-CUT
// X-CUT: error: input 'x': {{.*}}x-cut.npy: truncated, {{[0-9]+}} bytes, expected

// RUN: not shard-run %t/bundle --weights %t/w.safetensors --input z=%t/x.npy 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --input names 'z', which is not an argument; arguments: 'w', 'x'

// RUN: not shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x.npy --verify 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: error: function 'f': the bundle has no reference to verify against, compile with --with-reference

// RUN: not shard-run %t/w.safetensors 2>&1 | FileCheck %s --check-prefix=NOT-IR
// NOT-IR: error:

// RUN: not shard-run %t 2>&1 | FileCheck %s --check-prefix=NOT-BUNDLE
// NOT-BUNDLE: error: {{.*}}/manifest.json: cannot be read: No such file or directory; expected a bundle directory

spmd.mesh @pod = <["x"=2]>

func.func @f(%x: tensor<2x4xf32> {spmd.name = "x"},
             %w: tensor<4x6xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>})
    -> (tensor<2x6xf32> {spmd.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6xf32>) -> tensor<2x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x6xf32>) outs(%init : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
