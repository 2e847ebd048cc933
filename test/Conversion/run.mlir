// Each kind of collective in programs of other compilers: lowered by upstream's passes, run by mpirun on two processes,
// through calls with the sample implementation and through dialect mpi, with the bits of ShardKit's own run.
// REQUIRES: mpi
// RUN: rm -rf %t && mkdir %t && env SK_RECORD=%t/suite shard-run %s --random-inputs=3 --verify=exact
// RUN: %shardkit_src/scripts/embed-suite %t/suite calls 2 --expect=7 --jobs=1 | FileCheck %s -DKIND=calls
// RUN: %shardkit_src/scripts/embed-suite %t/suite mpi 2 --expect=7 --jobs=1 | FileCheck %s -DKIND=mpi
// CHECK: [[KIND]], 7 functions on 2 processes, verified: 7 functions of 1 runs, all equal to their references
// CHECK: [[KIND]], 7 functions on 2 processes, compared: {{.*}} all equal bit by bit
// CHECK: 7 functions went, 0 did not

spmd.mesh @pod = <["x"=2]>

// all_reduce
func.func @sum(%a: tensor<3x8xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>, spmd.range = [-9, 9]},
               %b: tensor<8x5xi32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>, spmd.range = [-9, 9]})
    -> (tensor<3x5xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<3x5xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<3x8xi32>, tensor<8x5xi32>) outs(%zero : tensor<3x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// reduce_scatter: the maximum of f16.
func.func @scatter(%a: tensor<8x6xf16> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>, spmd.range = [-9, 9]})
    -> (tensor<6xf16> {spmd.sharding = #spmd.sharding<@pod, [{"x"}]>}) {
  %least = arith.constant dense<0xFC00> : tensor<6xf16>
  %0 = linalg.reduce ins(%a : tensor<8x6xf16>) outs(%least : tensor<6xf16>) dimensions = [0]
    (%x: f16, %y: f16) {
      %max = arith.maximumf %x, %y : f16
      linalg.yield %max : f16
    }
  return %0 : tensor<6xf16>
}

// all_to_all
func.func @transpose(%a: tensor<4x6xi8> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>})
    -> (tensor<4x6xi8> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>}) {
  %0 = arith.addi %a, %a : tensor<4x6xi8>
  return %0 : tensor<4x6xi8>
}

// A gather of uneven shards: 3 and 2 rows.
func.func @uneven(%a: tensor<5x3xi64> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>})
    -> (tensor<5x3xi64> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %0 = arith.muli %a, %a : tensor<5x3xi64>
  return %0 : tensor<5x3xi64>
}

// Rows that alternate become blocks: an exchange.
func.func @strided(%a: tensor<8x2xf32> {spmd.sharding = #spmd.sharding<@pod, [{2, "x", 2}, {}]>, spmd.range = [-9, 9]})
    -> (tensor<8x2xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>}) {
  %0 = arith.negf %a : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// Complex numbers: a sum, then a gather of uneven shards, as real and imaginary components.
func.func @complex(%a: tensor<2x5x3xcomplex<f32>> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}, {}]>, spmd.range = [-9, 9]},
                   %b: tensor<5x3xcomplex<f32>> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>, spmd.range = [-9, 9]})
    -> (tensor<5x3xcomplex<f32>> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}, tensor<5x3xcomplex<f32>> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %empty = tensor.empty() : tensor<5x3xcomplex<f32>>
  %init = linalg.fill ins(%zero : complex<f32>) outs(%empty : tensor<5x3xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
  %0 = linalg.reduce ins(%a : tensor<2x5x3xcomplex<f32>>) outs(%init : tensor<5x3xcomplex<f32>>) dimensions = [0]
    (%x: complex<f32>, %y: complex<f32>) {
      %sum = complex.add %x, %y : complex<f32>
      linalg.yield %sum : complex<f32>
    }
  %1 = linalg.map ins(%b : tensor<5x3xcomplex<f32>>) outs(%empty : tensor<5x3xcomplex<f32>>)
    (%x: complex<f32>, %y: complex<f32>) {
      %neg = complex.neg %x : complex<f32>
      linalg.yield %neg : complex<f32>
    }
  return %0, %1 : tensor<5x3xcomplex<f32>>, tensor<5x3xcomplex<f32>>
}

// Windows of three elements.
func.func @halo(%a: tensor<1x8x1xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}, {}]>, spmd.range = [-9, 9]},
                %k: tensor<3x1x1xi32> {spmd.range = [-9, 9]})
    -> (tensor<1x6x1xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<1x6x1xi32>
  %0 = linalg.conv_1d_nwc_wcf ins(%a, %k : tensor<1x8x1xi32>, tensor<3x1x1xi32>) outs(%zero : tensor<1x6x1xi32>) -> tensor<1x6x1xi32>
  return %0 : tensor<1x6x1xi32>
}
