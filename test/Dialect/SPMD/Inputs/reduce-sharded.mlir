spmd.mesh @pod = <["x"=4, "y"=2, "z"=3], device_ids=[23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]>
spmd.mesh @other = <["u"=24]>
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @second(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @main(%a: tensor<8x12xf32> {spmd.sharding = #spmd.sharding<@pod, [{"x", ?}, {"z", ?}p1], replicated = {"y"}>}, %b: tensor<12x8xf32>, %n: index) -> (tensor<12xf32> {spmd.sharding = #spmd.sharding<@pod, [{"y", ?}]>}, tensor<8x12xf32>, tensor<12x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = math.tanh %a : tensor<8x12xf32>
  %1 = arith.addf %0, %a : tensor<8x12xf32>
  %2 = spmd.with_sharding_constraint %1 <@pod, [{"x", "y", ?}, {?}]> : tensor<8x12xf32>
  %e = tensor.empty() : tensor<12x8xf32>
  %3 = linalg.transpose ins(%2 : tensor<8x12xf32>) outs(%e : tensor<12x8xf32>) permutation = [1, 0]
  %4 = math.exp %3 : tensor<12x8xf32>
  %5 = arith.mulf %4, %b : tensor<12x8xf32>
  %6 = spmd.with_sharding_constraint %5 <@pod, [{"y"}, {"x":(1)2, ?}]> : tensor<12x8xf32>
  %7 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %6) -> tensor<12x8xf32> {
    %x = math.sin %v : tensor<12x8xf32>
    scf.yield %x : tensor<12x8xf32>
  }
  %z = arith.constant dense<0.0> : tensor<12xf32>
  %8 = linalg.reduce { arith.addf } ins(%7 : tensor<12x8xf32>) outs(%z : tensor<12xf32>) dimensions = [1]
  %9 = math.sqrt %8 : tensor<12xf32>
  return %9, %0, %7 : tensor<12xf32>, tensor<8x12xf32>, tensor<12x8xf32>
}
