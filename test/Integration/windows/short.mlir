// Slices of few elements of a cut dim: the elements move, not the tensor.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=5 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=5 --verify=exact --auto-shard | FileCheck %s
// RUN: shard-opt %s --spmd-report=plan=propagation -o /dev/null 2>&1 | FileCheck %s --check-prefix=BYTES
// CHECK: verify: 7 functions, 10 results, all equal bit by bit

spmd.mesh @m = <["s"=4]>

// BYTES-LABEL: function @last
// BYTES: all_reduce sum {s} 1 x 64 B
// BYTES-NOT: #1
func.func @last(%x: tensor<2x64x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"s"}, {}]>}) -> tensor<2x8xi32> {
  %0 = tensor.extract_slice %x[0, 63, 0] [2, 1, 8] [1, 1, 1] : tensor<2x64x8xi32> to tensor<2x8xi32>
  return %0 : tensor<2x8xi32>
}

// Kept as a dim of size 1, and between others: offsets of the cut ones are local.
// BYTES-LABEL: function @between
// BYTES: all_reduce
// BYTES-NOT: all_gather
func.func @between(%x: tensor<12x24x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"s"}, {}, {}]>}) -> tensor<1x12x8xi32> {
  %0 = tensor.extract_slice %x[7, 12, 0] [1, 12, 8] [1, 1, 1] : tensor<12x24x8xi32> to tensor<1x12x8xi32>
  return %0 : tensor<1x12x8xi32>
}

// A border of three, across two shards; and a roll by three.
// BYTES-LABEL: function @border
// BYTES: all_reduce sum {s} 2 x 12 B
func.func @border(%x: tensor<64xi32> {spmd.sharding = #spmd.sharding<@m, [{"s"}]>}) -> (tensor<3xi32>, tensor<64xi32> {spmd.sharding = #spmd.sharding<@m, [{"s"}]>}) {
  %0 = tensor.extract_slice %x[14] [3] [1] : tensor<64xi32> to tensor<3xi32>
  %1 = tensor.extract_slice %x[61] [3] [1] : tensor<64xi32> to tensor<3xi32>
  %2 = tensor.extract_slice %x[0] [61] [1] : tensor<64xi32> to tensor<61xi32>
  %3 = tensor.concat dim(0) %1, %2 : (tensor<3xi32>, tensor<61xi32>) -> tensor<64xi32>
  return %0, %3 : tensor<3xi32>, tensor<64xi32>
}

// With strides, of an uneven dim, of a dim cut in parts of an axis.
func.func @strides(%x: tensor<100x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"s"}, {}]>}) -> tensor<5x6xi32> {
  %0 = tensor.extract_slice %x[3, 0] [5, 6] [9, 1] : tensor<100x6xi32> to tensor<5x6xi32>
  return %0 : tensor<5x6xi32>
}

func.func @uneven(%x: tensor<37x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"s"}, {}]>}) -> tensor<3xi32> {
  %0 = tensor.extract_slice %x[36, 0] [1, 3] [1, 1] : tensor<37x3xi32> to tensor<3xi32>
  return %0 : tensor<3xi32>
}

func.func @parts(%x: tensor<32x3xi32> {spmd.sharding = #spmd.sharding<@m, [{4, "s":(2)2}, {}]>}) -> tensor<3xi32> {
  %0 = tensor.extract_slice %x[21, 0] [1, 3] [1, 1] : tensor<32x3xi32> to tensor<3xi32>
  return %0 : tensor<3xi32>
}

// Other elements, of a dim cut by two axes in another order, beside one that stays cut.
spmd.mesh @n = <["a"=2, "b"=3]>
#cut = #spmd.sharding<@n, [{"b"}, {"a"}]>
func.func @elements(%x: tensor<18x6xi1> {spmd.sharding = #cut}, %y: tensor<18x6xbf16> {spmd.sharding = #cut}, %z: tensor<18x6xf64> {spmd.sharding = #cut})
    -> (tensor<6xi1>, tensor<1x6xbf16>, tensor<6xf64>) {
  %0 = tensor.extract_slice %x[13, 0] [1, 6] [1, 1] : tensor<18x6xi1> to tensor<6xi1>
  %1 = tensor.extract_slice %y[5, 0] [1, 6] [1, 1] : tensor<18x6xbf16> to tensor<1x6xbf16>
  %2 = tensor.extract_slice %z[17, 0] [1, 6] [1, 1] : tensor<18x6xf64> to tensor<6xf64>
  return %0, %1, %2 : tensor<6xi1>, tensor<1x6xbf16>, tensor<6xf64>
}
