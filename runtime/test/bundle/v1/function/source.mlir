spmd.mesh @pod = <["data"=2, "model"=2], device_ids = [0, 2, 1, 3]>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @twice(%w: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %0 = arith.addf %w, %w : tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}
func.func private @stack(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}
func.func @main(%x: tensor<5x6xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %w: tensor<6x8xf32> {spmd.weight = "w", spmd.load = @twice, spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>},
                %v: tensor<6x8xf32> {spmd.weight = "v", spmd.load = @twice, spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>},
                %s: tensor<6x3xf32> {spmd.load = @stack, spmd.weight = ["s.a", "s.b"], spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %p: tensor<6x8xf32> {spmd.weight = "p", spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>},
                %g: tensor<6x8xf32> {spmd.weight = "g", spmd.segments = #spmd.segments<0, [2, 4]>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>},
                %n: tensor<6x8xi32> {spmd.weight = "n", spmd.range = [-3, 5], spmd.sharding = #spmd.sharding<@pod, [{"data"}, {"model"}]>})
    -> (tensor<5x8xf32> {spmd.name = "y"}, tensor<6x8xf32> {spmd.name = "p_new", spmd.tied = 4}, tensor<6x8xi32> {spmd.name = "n_moved", spmd.sharding = #spmd.sharding<@pod, [{"model"}, {"data"}]>},
        tensor<6x3xf32> {spmd.name = "s_moved", spmd.sharding = #spmd.sharding<@pod, [{}, {"data"}]>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x8xf32>) -> tensor<5x8xf32>
  %h = linalg.matmul ins(%x, %w : tensor<5x6xf32>, tensor<6x8xf32>) outs(%z : tensor<5x8xf32>) -> tensor<5x8xf32>
  %y = linalg.matmul ins(%x, %v : tensor<5x6xf32>, tensor<6x8xf32>) outs(%h : tensor<5x8xf32>) -> tensor<5x8xf32>
  %q = arith.addf %p, %g : tensor<6x8xf32>
  return %y, %q, %n, %s : tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x8xi32>, tensor<6x3xf32>
}
