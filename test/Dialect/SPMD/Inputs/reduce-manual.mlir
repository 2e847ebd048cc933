spmd.mesh @pod = <["x"=2]>
func.func @main(%a: tensor<8x12xi32>) -> tensor<12xi32> attributes {spmd.reference = @whole} {
  %0 = spmd.manual_computation (%a) in [<@pod, [{"x"}, {}]>] out [<@pod, [{}, {}]>] axes ["x"] (%b: tensor<4x12xi32>) {
    %1 = spmd.all_gather %b <@pod, [{"x"}, {}]> : tensor<4x12xi32> -> tensor<8x12xi32>
    spmd.return %1 : tensor<8x12xi32>
  } : (tensor<8x12xi32>) -> tensor<8x12xi32>
  %c = spmd.with_sharding_constraint %0 <@pod, [{"x"}, {}]> : tensor<8x12xi32>
  %e = tensor.empty() : tensor<12x8xi32>
  %t = linalg.transpose ins(%c : tensor<8x12xi32>) outs(%e : tensor<12x8xi32>) permutation = [1, 0]
  %u = math.absi %t : tensor<12x8xi32>
  %z = arith.constant dense<0> : tensor<12xi32>
  %s = linalg.reduce { arith.addi } ins(%u : tensor<12x8xi32>) outs(%z : tensor<12xi32>) dimensions = [1]
  return %s : tensor<12xi32>
}
func.func private @whole(%a: tensor<8x12xi32>) -> tensor<12xi32> {
  %e = tensor.empty() : tensor<12x8xi32>
  %t = linalg.transpose ins(%a : tensor<8x12xi32>) outs(%e : tensor<12x8xi32>) permutation = [1, 0]
  %u = math.absi %t : tensor<12x8xi32>
  %z = arith.constant dense<0> : tensor<12xi32>
  %s = linalg.reduce { arith.addi } ins(%u : tensor<12x8xi32>) outs(%z : tensor<12xi32>) dimensions = [1]
  return %s : tensor<12xi32>
}
