// Dims whose size is not known inside a function, cut as the user cuts what they come from: products, sums, sizes as numbers.
// RUN: shard-run %s --random-inputs=1 --verify=exact
spmd.mesh @m = <["x"=2, "y"=3]>
func.func @f(%a: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range=[-9,9]}, %w: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range=[-9,9]}) -> (tensor<8x6xi32>, tensor<12xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %b = tensor.cast %a : tensor<8x12xi32> to tensor<?x12xi32>
  %d = tensor.dim %b, %c0 : tensor<?x12xi32>
  %t = arith.addi %b, %b : tensor<?x12xi32>
  %e = tensor.empty(%d) : tensor<?x6xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x6xi32>) -> tensor<?x6xi32>
  %y = linalg.matmul ins(%t, %w : tensor<?x12xi32>, tensor<12x6xi32>) outs(%f : tensor<?x6xi32>) -> tensor<?x6xi32>
  %zs = arith.constant dense<0> : tensor<12xi32>
  %r = linalg.reduce { arith.addi } ins(%t : tensor<?x12xi32>) outs(%zs : tensor<12xi32>) dimensions = [0]
  %i = arith.index_cast %d : index to i32
  %s = tensor.splat %i : tensor<12xi32>
  %q = arith.addi %r, %s : tensor<12xi32>
  %k = tensor.cast %y : tensor<?x6xi32> to tensor<8x6xi32>
  return %k, %q : tensor<8x6xi32>, tensor<12xi32>
}
