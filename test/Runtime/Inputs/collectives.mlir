// Every kind of collective, some in a loop, on 2 x 2 devices.
spmd.mesh @m = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x16xf32> {spmd.sharding = #spmd.sharding<@m, [{"a"}, {}]>},
                %w: tensor<16x24xf32> {spmd.sharding = #spmd.sharding<@m, [{"b"}, {}]>},
                %v: tensor<24x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"b"}]>})
    -> (tensor<8x8xf32> {spmd.sharding = #spmd.sharding<@m, [{"b"}, {"a"}]>}, tensor<8x24xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e0 = tensor.empty() : tensor<8x24xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x24xf32>) outs(%f0 : tensor<8x24xf32>) -> tensor<8x24xf32>
  %s = spmd.with_sharding_constraint %h <@m, [{"a"}, {"b"}]> : tensor<8x24xf32>
  %t = math.tanh %s : tensor<8x24xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %t) -> tensor<8x24xf32> {
    %p = spmd.with_sharding_constraint %acc <@m, [{"b"}, {"a"}]> : tensor<8x24xf32>
    %q = arith.addf %p, %p : tensor<8x24xf32>
    %back = spmd.with_sharding_constraint %q <@m, [{"a"}, {"b"}]> : tensor<8x24xf32>
    scf.yield %back : tensor<8x24xf32>
  }
  %u = spmd.with_sharding_constraint %r <@m, [{"a", "b"}, {}]> : tensor<8x24xf32>
  %g = math.exp %u : tensor<8x24xf32>
  %e1 = tensor.empty() : tensor<8x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%g, %v : tensor<8x24xf32>, tensor<24x8xf32>) outs(%f1 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y, %g : tensor<8x8xf32>, tensor<8x24xf32>
}
