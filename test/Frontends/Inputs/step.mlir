// A step of a state that is sharded unevenly: w' = w - m', m' = m / 2 + x^T z; and what an evaluation has of it.

spmd.mesh @m = <["x"=2, "y"=2]>
func.func @step(%w: tensor<5x7xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
                %m: tensor<5x7xf32> {spmd.name = "m", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
                %x: tensor<6x5xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %z: tensor<6x7xf32> {spmd.name = "z"})
    -> (tensor<6x7xf32> {spmd.name = "y"}, tensor<5x7xf32> {spmd.name = "w", spmd.tied = 0 : i64}, tensor<5x7xf32> {spmd.name = "m", spmd.tied = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x7xf32>) -> tensor<6x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x5xf32>, tensor<5x7xf32>) outs(%f : tensor<6x7xf32>) -> tensor<6x7xf32>
  %s = tensor.empty() : tensor<5x7xf32>
  %halved = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<5x7xf32>) outs(%s : tensor<5x7xf32>) {
    ^bb0(%a: f32, %b: f32):
      %h = arith.mulf %a, %half : f32
      linalg.yield %h : f32
  } -> tensor<5x7xf32>
  %xt = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%x : tensor<6x5xf32>) outs(%xt : tensor<5x6xf32>) permutation = [1, 0]
  %next = linalg.matmul ins(%t, %z : tensor<5x6xf32>, tensor<6x7xf32>) outs(%halved : tensor<5x7xf32>) -> tensor<5x7xf32>
  %moved = linalg.sub ins(%w, %next : tensor<5x7xf32>, tensor<5x7xf32>) outs(%s : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %y, %moved, %next : tensor<6x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>
}
