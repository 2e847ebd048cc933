// An op computes full tensors if every sharding of it costs more in reshards: the vector is cheaper to gather than what is
// computed from it.
// RUN: shard-opt %s --spmd-insert-reshards --remarks-filter=spmd 2>&1 | FileCheck %s

// CHECK: remark: [Missed] replicated | Category:spmd | Function=cheaper | Axes=x, Bytes=32768, Reason="no sharding of it costs less in reshards", Remark="linalg.broadcast computes full tensors on every device", Suggestion="shard other dims of its operands"
// CHECK: remark: [Passed] reshard | {{.*}} | Axes=x, Bytes=32, Reason="the layouts differ"{{.*}}Suggestion="constrain one to the sharding of the other by spmd.with_sharding_constraint"
// CHECK: spmd.reshard %arg0 <@m, [{}]>
module attributes {spmd.phase = "propagated"} {
  spmd.mesh @m = <["x"=2]>
  func.func @cheaper(%a: tensor<8xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<8x1024xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
    %e = tensor.empty() : tensor<8x1024xf32>
    %0 = linalg.broadcast ins(%a : tensor<8xf32>) outs(%e : tensor<8x1024xf32>) dimensions = [1] {spmd.shardings = [#spmd.sharding<@m, [{}, {}]>]}
    return %0 : tensor<8x1024xf32>
  }
}
