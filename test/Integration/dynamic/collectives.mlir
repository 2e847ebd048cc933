// Values whose sizes are forgotten for a while, in layouts that make them move before they are known again.
// REQUIRES: shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--opt-level=1
// RUN: shard-compile %s -o %t && FileCheck %s < %t/manifest.json
// CHECK-DAG: "all_gather"
// CHECK-DAG: "all_reduce"
// CHECK-DAG: "all_to_all"
// CHECK-DAG: "reduce_scatter"

spmd.mesh @m = <["x"=2, "y"=3]>

func.func @gathered(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> (tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %0 = tensor.cast %a : tensor<6x12xi32> to tensor<?x12xi32>
  %1 = arith.muli %0, %0 : tensor<?x12xi32>
  %2 = spmd.with_sharding_constraint %1 <@m, [{}, {"x"}]> : tensor<?x12xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{}, {}]> : tensor<?x12xi32>
  %4 = tensor.cast %3 : tensor<?x12xi32> to tensor<6x12xi32>
  return %4 : tensor<6x12xi32>
}

// The dim behind and the dim in front of one that moves.
func.func @minor(%a: tensor<12x5x6x7xi16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}, {}]>}) -> tensor<12x5x6x7xi16> {
  %0 = tensor.cast %a : tensor<12x5x6x7xi16> to tensor<12x?x6x?xi16>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {}, {}, {}]> : tensor<12x?x6x?xi16>
  %2 = spmd.with_sharding_constraint %1 <@m, [{"y"}, {}, {"x"}, {}]> : tensor<12x?x6x?xi16>
  %3 = spmd.with_sharding_constraint %2 <@m, [{}, {}, {"y"}, {}]> : tensor<12x?x6x?xi16>
  %4 = tensor.cast %3 : tensor<12x?x6x?xi16> to tensor<12x5x6x7xi16>
  return %4 : tensor<12x5x6x7xi16>
}

// The dims themselves: gathered, cut, cut otherwise, with gaps.
func.func @itself(%a: tensor<12x24xi32>) -> tensor<12x24xi32> {
  %0 = tensor.cast %a : tensor<12x24xi32> to tensor<?x?xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{"x"}, {"y"}]> : tensor<?x?xi32>
  %2 = arith.muli %1, %1 : tensor<?x?xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{"y"}, {2, "x"}]> : tensor<?x?xi32>
  %4 = arith.addi %3, %3 : tensor<?x?xi32>
  %5 = spmd.with_sharding_constraint %4 <@m, [{}, {"y", "x"}]> : tensor<?x?xi32>
  %6 = arith.addi %5, %5 : tensor<?x?xi32>
  %7 = spmd.with_sharding_constraint %6 <@m, [{}, {"x", "y"}]> : tensor<?x?xi32>
  %8 = arith.addi %7, %7 : tensor<?x?xi32>
  %9 = spmd.with_sharding_constraint %8 <@m, [{}, {}]> : tensor<?x?xi32>
  %10 = tensor.cast %9 : tensor<?x?xi32> to tensor<12x24xi32>
  return %10 : tensor<12x24xi32>
}

// Sums over a cut dim, completed and scattered.
func.func @sums(%a: tensor<5x96xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}, %w: tensor<96x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %0 = tensor.cast %a : tensor<5x96xi32> to tensor<?x96xi32>
  %d = tensor.dim %0, %c0 : tensor<?x96xi32>
  %e = tensor.empty(%d) : tensor<?x6xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x6xi32>) -> tensor<?x6xi32>
  %y = linalg.matmul ins(%0, %w : tensor<?x96xi32>, tensor<96x6xi32>) outs(%f : tensor<?x6xi32>) -> tensor<?x6xi32>
  %y1 = spmd.with_sharding_constraint %y <@m, [{}, {}]> : tensor<?x6xi32>
  %r1 = tensor.cast %y1 : tensor<?x6xi32> to tensor<5x6xi32>
  %1 = arith.muli %0, %0 : tensor<?x96xi32>
  %v = linalg.matmul ins(%1, %w : tensor<?x96xi32>, tensor<96x6xi32>) outs(%f : tensor<?x6xi32>) -> tensor<?x6xi32>
  %v1 = spmd.with_sharding_constraint %v <@m, [{}, {"x"}]> : tensor<?x6xi32>
  %r2 = tensor.cast %v1 : tensor<?x6xi32> to tensor<5x6xi32>
  return %r1, %r2 : tensor<5x6xi32>, tensor<5x6xi32>
}

// Sizes that are really known at run time only: a part of the rows, as many as an argument says.
func.func @counted(%a: tensor<6x8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}, %w: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, %n: tensor<i32> {spmd.range = [0, 7]}) -> (tensor<6x8x12xi32>, tensor<6x8x6xi32>) {
  %zero = arith.constant 0 : i32
  %i = tensor.extract %n[] : tensor<i32>
  %k = arith.index_cast %i : i32 to index
  %m = affine.min affine_map<()[s0] -> (s0, 6)>()[%k]
  %s = tensor.extract_slice %a[0, 0, 0] [%m, 8, 12] [1, 1, 1] : tensor<6x8x12xi32> to tensor<?x8x12xi32>
  %0 = arith.muli %s, %s : tensor<?x8x12xi32>
  %1 = spmd.with_sharding_constraint %0 <@m, [{}, {"x"}, {}]> : tensor<?x8x12xi32>
  %2 = arith.addi %1, %1 : tensor<?x8x12xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{}, {}, {"x"}]> : tensor<?x8x12xi32>
  %4 = arith.addi %3, %3 : tensor<?x8x12xi32>
  %5 = spmd.with_sharding_constraint %4 <@m, [{}, {}, {"y"}]> : tensor<?x8x12xi32>
  %e = tensor.empty(%m) : tensor<?x8x6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<?x8x6xi32>) -> tensor<?x8x6xi32>
  %y = linalg.contract indexing_maps = [affine_map<(b, s, f, k) -> (b, s, k)>, affine_map<(b, s, f, k) -> (k, f)>, affine_map<(b, s, f, k) -> (b, s, f)>] ins(%5, %w : tensor<?x8x12xi32>, tensor<12x6xi32>) outs(%f : tensor<?x8x6xi32>) -> tensor<?x8x6xi32>
  %z = arith.constant dense<0> : tensor<6x8x6xi32>
  %q = arith.constant dense<0> : tensor<6x8x12xi32>
  %r = tensor.insert_slice %5 into %q[0, 0, 0] [%m, 8, 12] [1, 1, 1] : tensor<?x8x12xi32> into tensor<6x8x12xi32>
  %t = tensor.insert_slice %y into %z[0, 0, 0] [%m, 8, 6] [1, 1, 1] : tensor<?x8x6xi32> into tensor<6x8x6xi32>
  return %r, %t : tensor<6x8x12xi32>, tensor<6x8x6xi32>
}
