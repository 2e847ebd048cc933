// No dim is a multiple of its devices. Each device has all of the arguments and of the result.
spmd.mesh @pod = <["x"=2, "y"=3]>
#whole = #spmd.sharding<@pod, [{}, {}]>
func.func @main(%x: tensor<7x10xf32> {spmd.sharding = #whole}, %w: tensor<5x10xf32> {spmd.sharding = #whole})
    -> (tensor<7x1xf32> {spmd.sharding = #whole}) {
  %0 = spmd.with_sharding_constraint %x <@pod, [{"x"}, {"y"}]> : tensor<7x10xf32>
  %1 = "toy.smooth"(%0) <{width = 3 : i64, padding = 1 : i64}> : (tensor<7x10xf32>) -> tensor<7x10xf32>
  %2 = "toy.fill"() <{shape = array<i64: 7, 10>, value = 0.5 : f32}> : () -> tensor<7x10xf32>
  %3 = arith.addf %1, %2 : tensor<7x10xf32>
  %4 = "toy.linear"(%3, %w) : (tensor<7x10xf32>, tensor<5x10xf32>) -> tensor<7x5xf32>
  %5 = "toy.row_max"(%4) : (tensor<7x5xf32>) -> tensor<7x1xf32>
  return %5 : tensor<7x1xf32>
}
