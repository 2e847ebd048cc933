// One value that four results need in another sharding.
spmd.mesh @m = <["a"=2, "b"=2]>
func.func @main(%p: tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{"a"}, {}]>}) -> (tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"a"}]>}, tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"a"}]>}, tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"a"}]>}, tensor<1024x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"a"}]>}) {
  %x = math.sin %p  : tensor<1024x1024xf32>
  %k0 = arith.constant dense<0.5> : tensor<1024x1024xf32>
  %k1 = arith.constant dense<1.5> : tensor<1024x1024xf32>
  %k2 = arith.constant dense<2.5> : tensor<1024x1024xf32>
  %k3 = arith.constant dense<3.5> : tensor<1024x1024xf32>
  %s0 = arith.mulf %x, %k0 : tensor<1024x1024xf32>
  %s1 = arith.mulf %x, %k1 : tensor<1024x1024xf32>
  %s2 = arith.mulf %x, %k2 : tensor<1024x1024xf32>
  %s3 = arith.mulf %x, %k3 : tensor<1024x1024xf32>
  return %s0, %s1, %s2, %s3 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
