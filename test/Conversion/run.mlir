// Each kind of collective in programs of other compilers: to dialect shard and back, and lowered by upstream's passes, run
// by mpirun on two processes, through calls with the sample implementation and through dialect mpi, with the bits of
// ShardKit's own run.
// REQUIRES: mpi
// RUN: shard-compile %s --emit=local | FileCheck %s --check-prefix=LOCAL
// RUN: rm -rf %t && mkdir %t && env SK_RECORD=%t/suite shard-run %s --random-inputs=3 --verify=exact
// RUN: %shardkit_src/scripts/embed-suite %t/suite shard,calls,mpi --expect=10 --jobs=1 | FileCheck %s
// CHECK: shard: 1 runs, 11 functions, 12 results, 12 equal bit by bit
// CHECK-NEXT: 0 functions refused
// CHECK-NEXT: calls: 1 runs, 10 functions, 11 results, 11 equal bit by bit
// CHECK-NEXT: 1 functions refused: 1 with tensor.gather, which upstream does not lower
// CHECK-NEXT: mpi: 1 runs, 10 functions, 11 results, 11 equal bit by bit
// CHECK-NEXT: 1 functions refused: 1 with tensor.gather, which upstream does not lower

// LOCAL: module attributes {spmd.phase = "final"}
// LOCAL: spmd.all_reduce {{.*}} sum <@pod, {"x"}> {id = 0 : i64} : tensor<3x5xi32>
spmd.mesh @pod = <["x"=2]>

// all_reduce
func.func @sum(%a: tensor<3x8xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>, spmd.range = [-9, 9]},
               %b: tensor<8x5xi32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>, spmd.range = [-9, 9]})
    -> (tensor<3x5xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %zero = arith.constant dense<0> : tensor<3x5xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<3x8xi32>, tensor<8x5xi32>) outs(%zero : tensor<3x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// Sums of 16 bits wrap; Open MPI would saturate them.
func.func @wraps(%a: tensor<2x45xi16> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>, spmd.range = [-32768, 32767]})
    -> (tensor<45xi16> {spmd.sharding = #spmd.sharding<@pod, [{}]>}) {
  %zero = arith.constant dense<0> : tensor<45xi16>
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<2x45xi16>) outs(%zero : tensor<45xi16>) dimensions = [0]
  return %0 : tensor<45xi16>
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

// Upstream lowers a pack by the transforms of examples/embed/decompose.mlir.
func.func @pack(%a: tensor<12x7xi32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>}) -> tensor<12x2x4xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<12x2x4xi32>
  %0 = linalg.pack %a padding_value(%zero : i32) inner_dims_pos = [1] inner_tiles = [4] into %empty : tensor<12x7xi32> -> tensor<12x2x4xi32>
  return %0 : tensor<12x2x4xi32>
}

func.func @rows(%a: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@pod, [{}, {"x"}]>}) -> tensor<3x1x4xi32> {
  %rows = arith.constant dense<[[1], [7], [2]]> : tensor<3x1xindex>
  %0 = tensor.gather %a[%rows] gather_dims([0]) : (tensor<12x4xi32>, tensor<3x1xindex>) -> tensor<3x1x4xi32>
  return %0 : tensor<3x1x4xi32>
}

// A bitcast of tensor, which upstream does not lower, becomes one of arith.
func.func @bits(%a: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@pod, [{"x"}, {}]>})
    -> (tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) {
  %0 = tensor.bitcast %a : tensor<6x4xi32> to tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
