// Remarks for conflicts at an op, and for an op that computes full tensors from sharded operands, with bytes and axes.
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-propagate=conflicts=basic --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=BASIC

// CHECK-DAG: remark: [Missed] conflict | Category:spmd | Function=conflict | Axes=x, Bytes=16, Reason="no other choice costs less in reshards", Remark="the operands and results of arith.addf conflict: operand #0 [{"x"}] is resharded", Suggestion="shard them equally, or give one a priority; --spmd-explain names the annotations"
// BASIC-DAG: remark: [Missed] conflict | {{.*}}Function=conflict | {{.*}}Reason="conflicts=basic resolves no conflict", Remark="the operands and results of arith.addf conflict: operand #0 [{"x"}], operand #1 [{"y"}] is resharded"
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @conflict(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-DAG: remark: [Missed] replicated | Category:spmd | Function=whole | Axes=x, Bytes=64, Reason="its rule replicates the dims that its operands are sharded along", Remark="linalg.softmax computes full tensors on every device", Suggestion="shard other dims of its operands"
func.func @whole(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.softmax dimension(0) ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
