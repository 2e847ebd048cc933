// The public function of a nested module gets its name; equal meshes and helpers become one, others of a name are renamed.
// RUN: split-file %s %t
// RUN: shard-opt %t/modules.mlir --spmd-merge-modules | FileCheck %t/modules.mlir
// RUN: shard-opt %t/modules.mlir --spmd-merge-modules --spmd-default-pipeline -o /dev/null
// RUN: shard-opt %t/errors.mlir --split-input-file --spmd-merge-modules --verify-diagnostics

//--- modules.mlir
// CHECK: spmd.mesh @mesh = <["x"=2]>
// CHECK: func.func private @twice
// CHECK-NOT: module
// CHECK: func.func @prefill(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>, spmd.weight = "w"})
// CHECK: call @twice
// CHECK: call @[[HELPER:scale_[0-9]+]](
// CHECK: func.func private @[[HELPER]]
// CHECK: arith.addf
// CHECK: spmd.mesh @[[MESH:mesh_[0-9]+]] = <["x"=4]>
// CHECK-NOT: @twice(%
// CHECK: func.func @scale(%arg0: tensor<8xf32> {spmd.sharding = #spmd.sharding<@[[MESH]], [{"x"}]>, spmd.weight = "w"})
// CHECK-SAME: spmd.calls = 8
// CHECK: call @twice
// CHECK: call @[[OTHER:scale_[0-9]+]](
// CHECK: func.func private @[[OTHER]]
// CHECK: arith.subf
module @prefill {
  spmd.mesh @mesh = <["x"=2]>
  func.func private @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.addf %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func @main(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = call @twice(%w) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @scale(%0) : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @scale(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.addf %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
module @scale attributes {spmd.calls = 8 : i64} {
  spmd.mesh @mesh = <["x"=4]>
  func.func private @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.addf %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func @main(%w: tensor<8xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = call @twice(%w) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @scale(%0) : (tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func private @scale(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = arith.subf %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

//--- errors.mlir
// expected-error@below {{module without a name, expected the name that its public function takes}}
module {
  func.func @main() {
    return
  }
}
module @other {
}

// -----

// expected-error@below {{module @f has no public function, expected one}}
module @f {
  func.func private @main() {
    return
  }
}
module @g {
}

// -----

module @f {
  func.func @a() {
    return
  }
  // expected-error@below {{module @f has two public functions, @a and @b, expected one}}
  func.func @b() {
    return
  }
}
module @g {
}

// -----

// expected-error@below {{module @f is in a later phase, expected modules before --spmd-propagate}}
module @f attributes {spmd.phase = "propagated"} {
  func.func @main() {
    return
  }
}
module @g {
}
