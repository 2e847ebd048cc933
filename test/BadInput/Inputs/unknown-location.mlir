spmd.mesh @m = <["x"=2]> loc(unknown)
func.func @main(%a: tensor<5xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>} loc(unknown)) -> tensor<5xf32> {
  return %a : tensor<5xf32> loc(unknown)
} loc(unknown)
