// Sharded dims of dynamic size: local types keep `?`, tensor.dim yields global sizes, tensor.empty takes local ones.
// RUN: shard-opt %s --split-input-file --spmd-propagate=plan=propagation --spmd-insert-reshards --spmd-partition | FileCheck %s -enable-var-scope

spmd.mesh @m = <["x"=2, "y"=3]>

// A batch of any size: elementwise ops, a product, a sum over the batch. The size comes from an equally sharded dim: no check.
// CHECK-LABEL: func.func @batch(%arg0: tensor<?x16xf32> {spmd.global_type = tensor<?x16xf32>, {{.*}}[{"x"}, {}]
// CHECK-SAME: -> (tensor<?x2xf32> {spmd.global_type = tensor<?x6xf32>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, tensor<16xf32>
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK-NOT: cf.assert
// CHECK: tensor.empty(%[[D]]) : tensor<?x2xf32>
// CHECK: linalg.matmul {{.*}} -> tensor<?x2xf32>
// CHECK: %[[R:.*]] = linalg.reduce {{.*}}tensor<?x16xf32>
// CHECK: spmd.all_reduce %[[R]] sum <@m, {"x"}> : tensor<16xf32>
func.func @batch(%a: tensor<?x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<16x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) -> (tensor<?x6xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?x16xf32>
  %t = math.tanh %a : tensor<?x16xf32>
  %e = tensor.empty(%d) : tensor<?x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x6xf32>) -> tensor<?x6xf32>
  %y = linalg.matmul ins(%t, %w : tensor<?x16xf32>, tensor<16x6xf32>) outs(%f : tensor<?x6xf32>) -> tensor<?x6xf32>
  %zs = arith.constant dense<0.0> : tensor<16xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<?x16xf32>) outs(%zs : tensor<16xf32>) dimensions = [0]
  return %y, %r : tensor<?x6xf32>, tensor<16xf32>
}

// The value of the size is the global one: both axes shard the dim.
// CHECK-LABEL: func.func @mean
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK: %[[N:.*]] = arith.constant 6 : index
// CHECK: %[[S:.*]] = arith.muli %[[D]], %[[N]] : index
// CHECK: arith.index_cast %[[S]] : index to i32
func.func @mean(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}]>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %i = arith.index_cast %d : index to i32
  %n = arith.sitofp %i : i32 to f32
  %z = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<?xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %k = tensor.splat %n : tensor<f32>
  %m = arith.divf %s, %k : tensor<f32>
  return %m : tensor<f32>
}

// -----

// The size is not known to be even: a check, and half of it.
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @made
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[R:.*]] = arith.remui %[[N]], %{{.*}} : index
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[R]]
// CHECK: cf.assert %[[EVEN]], "size of dim 1 of tensor<4x?xf32> is not a multiple of 2, as its sharding {\22x\22} requires"
// CHECK: %[[L:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK: tensor.splat %{{.*}}[%[[L]]] : tensor<4x?xf32>
func.func @made(%n: index, %v: f32, %b: tensor<4x?xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<4x?xf32> {
  %s = tensor.splat %v[%n] : tensor<4x?xf32>
  %0 = arith.addf %s, %b : tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// A size of a dim that is sharded by another axis proves nothing.
// CHECK-LABEL: func.func @other_axis
// CHECK: cf.assert
// CHECK: tensor.empty(%{{.*}}) : tensor<?xf32>
func.func @other_axis(%a: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}, %b: tensor<?xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %0 = linalg.exp ins(%b : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %a, %0 : tensor<?xf32>, tensor<?xf32>
}

// Loops carry it, branches give it; other static dims are sharded as usual.
// CHECK-LABEL: func.func @regions
// CHECK: scf.for {{.*}} -> (tensor<?x4xf32>)
// CHECK: scf.if {{.*}} -> (tensor<?x4xf32>)
// CHECK: %[[TWELVE:.*]] = arith.constant 12 : index
// CHECK: return %{{.*}}, %[[TWELVE]] : tensor<?x4xf32>, index
func.func @regions(%a: tensor<?x12xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %n: index, %k: i1) -> (tensor<?x12xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<?x12xf32> {
    %s = math.sin %v : tensor<?x12xf32>
    scf.yield %s : tensor<?x12xf32>
  }
  %1 = scf.if %k -> tensor<?x12xf32> {
    %s = math.cos %0 : tensor<?x12xf32>
    scf.yield %s : tensor<?x12xf32>
  } else {
    scf.yield %a : tensor<?x12xf32>
  }
  %d = tensor.dim %1, %c1 : tensor<?x12xf32>
  return %1, %d : tensor<?x12xf32>, index
}

// A cast to and from a static size.
// CHECK-LABEL: func.func @cast
// CHECK: tensor.cast %arg0 : tensor<4xf32> to tensor<?xf32>
// CHECK: tensor.cast %{{.*}} : tensor<?xf32> to tensor<4xf32>
// CHECK-NOT: spmd.all
// CHECK: return
func.func @cast(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %0 = tensor.cast %a : tensor<8xf32> to tensor<?xf32>
  %1 = math.sin %0 : tensor<?xf32>
  %2 = tensor.cast %1 : tensor<?xf32> to tensor<8xf32>
  return %2 : tensor<8xf32>
}
