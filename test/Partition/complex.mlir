// Complex numbers: partial values have a neutral element, broadcast scalars become
// fills, and where padding would have to be neutral for a sum they are gathered.
// RUN: split-file %s %t
// RUN: shard-opt %t/partial.mlir --spmd-partition | FileCheck %s --check-prefix=PARTIAL
// RUN: shard-opt %t/whole.mlir --spmd-default-pipeline=plan=propagation | FileCheck %s

//--- partial.mlir
spmd.mesh @m = <["x"=2, "y"=2]>
// PARTIAL-LABEL: func.func @partial
// PARTIAL: %[[ZERO:.*]] = complex.constant [-0.000000e+00 : f32, -0.000000e+00 : f32]
// PARTIAL: %[[OTHERWISE:.*]] = tensor.splat %[[ZERO]] : tensor<4x6xcomplex<f32>>
// PARTIAL: %[[PART:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OTHERWISE]]
// PARTIAL: spmd.all_reduce %[[PART]] sum <@m, {"y"}>
// PARTIAL: %[[ONE:.*]] = complex.constant [1.000000e+00 : f32, -0.000000e+00 : f32]
// PARTIAL: spmd.all_reduce %{{.*}} prod <@m, {"x"}>
func.func @partial(%w: tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> (tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %a = spmd.reshard %w <@m, [{"x"}, {}], unreduced = {"y"}> : tensor<8x6xcomplex<f32>>
  %b = spmd.reshard %a <@m, [{}, {}]> : tensor<8x6xcomplex<f32>>
  %c = spmd.reshard %b <@m, [{}, {}], unreduced(prod) = {"x"}> : tensor<8x6xcomplex<f32>>
  %d = spmd.reshard %c <@m, [{}, {}]> : tensor<8x6xcomplex<f32>>
  return %d : tensor<8x6xcomplex<f32>>
}

//--- whole.mlir
spmd.mesh @m = <["x"=2, "y"=3]>
// CHECK-LABEL: func.func @spread
// CHECK: %[[I:.*]] = complex.constant [0.000000e+00 : f32, 1.000000e+00 : f32]
// CHECK: linalg.fill ins(%[[I]] : complex<f32>) outs(%{{.*}} : tensor<4x2xcomplex<f32>>)
func.func @spread(%x: tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<8x6xcomplex<f32>> {
  %i = arith.constant dense<(0.0, 1.0)> : tensor<complex<f32>>
  %e = tensor.empty() : tensor<8x6xcomplex<f32>>
  %b = linalg.broadcast ins(%i : tensor<complex<f32>>) outs(%e : tensor<8x6xcomplex<f32>>) dimensions = [0, 1]
  %r = linalg.mul ins(%x, %b : tensor<8x6xcomplex<f32>>, tensor<8x6xcomplex<f32>>) outs(%e : tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  return %r : tensor<8x6xcomplex<f32>>
}

// Zero is neutral: nothing is masked.
// CHECK-LABEL: func.func @sums
// CHECK-NOT: arith.select
// CHECK-DAG: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}}tensor<2xcomplex<f32>>
// CHECK-DAG: spmd.all_gather %{{.*}} <@m, [{}, {"y"}]>
func.func @sums(%x: tensor<8x6xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}, %y: tensor<8x7xcomplex<f32>> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<6xcomplex<f32>>, tensor<8xcomplex<f32>>) {
  %zero = arith.constant dense<(0.0, 0.0)> : tensor<6xcomplex<f32>>
  %a = linalg.reduce {complex.add} ins(%x : tensor<8x6xcomplex<f32>>) outs(%zero : tensor<6xcomplex<f32>>) dimensions = [0]
  %none = arith.constant dense<(0.0, 0.0)> : tensor<8xcomplex<f32>>
  %b = linalg.reduce {complex.add} ins(%y : tensor<8x7xcomplex<f32>>) outs(%none : tensor<8xcomplex<f32>>) dimensions = [1]
  return %a, %b : tensor<6xcomplex<f32>>, tensor<8xcomplex<f32>>
}
