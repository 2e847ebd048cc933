// Free axes at the border of a manual computation.
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--fill-padding=lowest
spmd.mesh @m = <["x"=2, "y"=3]>

// The result is open and its user wants it cut by the manual axis: it is cut behind the computation, not in it.
func.func @open_result(%a: tensor<4x6xi32> {spmd.range = [-9, 9]}) -> (tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>})
    attributes {spmd.reference = @open_result_whole} {
  %0 = spmd.manual_computation (%a) in [<@m, [{"x"}, {?}]>] out [<@m, [{?}, {?}]>] axes ["x"] (%b: tensor<2x6xi32>) {
    %1 = spmd.all_gather %b <@m, [{"x"}, {}]> : tensor<2x6xi32> -> tensor<4x6xi32>
    spmd.return %1 : tensor<4x6xi32>
  } : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}
func.func private @open_result_whole(%a: tensor<4x6xi32>) -> tensor<4x6xi32> {
  return %a : tensor<4x6xi32>
}

// The operand is open on a dim that comes cut by the manual axis.
func.func @open_operand(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]}) -> tensor<4x6xi32>
    attributes {spmd.reference = @open_operand_whole} {
  %0 = spmd.manual_computation (%a) in [<@m, [{?}, {?}]>] out [<@m, [{?}, {?}]>] axes ["x"] (%b: tensor<4x6xi32>) {
    %1 = spmd.all_reduce %b max <@m, {"x"}> : tensor<4x6xi32>
    spmd.return %1 : tensor<4x6xi32>
  } : (tensor<4x6xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}
func.func private @open_operand_whole(%a: tensor<4x6xi32>) -> tensor<4x6xi32> {
  return %a : tensor<4x6xi32>
}

// A free axis leaves a rest on a dim without manual axes: 4 rows in 3 parts.
func.func @uneven(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 9]}) -> (tensor<4x6xi32>, tensor<6xi32>)
    attributes {spmd.reference = @uneven_whole} {
  %0 = spmd.manual_computation (%a) in [<@m, [{?}, {"x"}]>] out [<@m, [{?}, {"x"}]>] axes ["x"] (%b: tensor<4x3xi32>) {
    %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<4x3xi32>
    spmd.return %1 : tensor<4x3xi32>
  } : (tensor<4x6xi32>) -> tensor<4x6xi32>
  %z = arith.constant dense<0> : tensor<6xi32>
  %r = linalg.reduce { arith.addi } ins(%0 : tensor<4x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  return %0, %r : tensor<4x6xi32>, tensor<6xi32>
}
func.func private @uneven_whole(%a: tensor<4x6xi32>) -> (tensor<4x6xi32>, tensor<6xi32>) {
  %l = tensor.extract_slice %a[0, 0] [4, 3] [1, 1] : tensor<4x6xi32> to tensor<4x3xi32>
  %u = tensor.extract_slice %a[0, 3] [4, 3] [1, 1] : tensor<4x6xi32> to tensor<4x3xi32>
  %s = arith.addi %l, %u : tensor<4x3xi32>
  %0 = tensor.concat dim(1) %s, %s : (tensor<4x3xi32>, tensor<4x3xi32>) -> tensor<4x6xi32>
  %z = arith.constant dense<0> : tensor<6xi32>
  %r = linalg.reduce { arith.addi } ins(%0 : tensor<4x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  return %0, %r : tensor<4x6xi32>, tensor<6xi32>
}

// A shared output with padding: its slices are written as they are, whatever is in the padding.
func.func @shared(%a: tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 9]}) -> (tensor<2x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %e = tensor.empty() : tensor<2x4xi32>
  %0 = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<2x4xi32>) {
    %s = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<2x4xi32> to tensor<4xi32>
    %t = arith.addi %s, %s : tensor<4xi32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<2x4xi32>
    }
  }
  return %0 : tensor<2x4xi32>
}
