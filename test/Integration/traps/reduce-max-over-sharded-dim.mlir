// The partial results of a maximum combine by maximum, those of a minimum by
// minimum: a sum would pass where all but one shard hold the neutral element.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=4, "y"=2]>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @max(%a: tensor<6x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<6xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<6x16xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.maximumf %acc, %x : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// All elements are negative, so that a sum or a zero neutral shows.
func.func @max_negative(%a: tensor<6x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) -> tensor<6xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %two = arith.constant dense<-2.0> : tensor<6x16xf32>
  %e = tensor.empty() : tensor<6xf32>
  %b = arith.addf %a, %two : tensor<6x16xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.reduce ins(%b : tensor<6x16xf32>) outs(%f : tensor<6xf32>) dimensions = [1]
      (%x: f32, %acc: f32) {
    %s = arith.maximumf %x, %acc : f32
    linalg.yield %s : f32
  }
  return %r : tensor<6xf32>
}

// The init is a bound of the maximum, not its neutral element.
func.func @min_from_argument(%a: tensor<6x16xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
                             %init: tensor<6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<6xf32> {
  %r = linalg.reduce { arith.minimumf } ins(%a : tensor<6x16xf32>) outs(%init : tensor<6xf32>) dimensions = [1]
  return %r : tensor<6xf32>
}

// Softmax over a sharded dim: a maximum, then a sum, of one value.
func.func @softmax_row(%a: tensor<6x16xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-50, 50]})
    -> (tensor<6xi32>, tensor<6xi32>) {
  %low = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6xi32>
  %e2 = tensor.empty() : tensor<6x16xi32>
  %f = linalg.fill ins(%low : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<6xi32>) -> tensor<6xi32>
  %max = linalg.reduce { arith.maxsi } ins(%a : tensor<6x16xi32>) outs(%f : tensor<6xi32>) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a, %max : tensor<6x16xi32>, tensor<6xi32>) outs(%e2 : tensor<6x16xi32>) {
  ^bb0(%x: i32, %m: i32, %o: i32):
    %s = arith.subi %m, %x : i32
    linalg.yield %s : i32
  } -> tensor<6x16xi32>
  %sum = linalg.reduce { arith.addi } ins(%d : tensor<6x16xi32>) outs(%z : tensor<6xi32>) dimensions = [1]
  return %max, %sum : tensor<6xi32>, tensor<6xi32>
}
