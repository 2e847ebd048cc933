// Copies that readers in a loop, behind it and the return have made anew; cuts that are unlike on both axes.
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @main(%w: tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}, %a: tensor<24x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}) -> (tensor<24x8xf32>, tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<24x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x8xf32>) -> tensor<24x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<24x8xf32>, tensor<8x8xf32>) outs(%f : tensor<24x8xf32>) -> tensor<24x8xf32>
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %0) -> tensor<24x8xf32> {
    %1 = linalg.matmul {spmd.reshard_per_use = array<i64: 1>} ins(%h, %w : tensor<24x8xf32>, tensor<8x8xf32>) outs(%f : tensor<24x8xf32>) -> tensor<24x8xf32>
    %t = math.tanh %1 : tensor<24x8xf32>
    scf.yield %t : tensor<24x8xf32>
  }
  %2 = linalg.matmul {spmd.reshard_per_use = array<i64: 1>} ins(%l, %w : tensor<24x8xf32>, tensor<8x8xf32>) outs(%f : tensor<24x8xf32>) -> tensor<24x8xf32>
  return {spmd.reshard_per_use = array<i64: 1>} %2, %w : tensor<24x8xf32>, tensor<8x8xf32>
}
