// Where tensors of an op disagree, and where an op computes whole although its operands are cut, with bytes and axes.
// RUN: shard-opt %s --spmd-propagate --spmd-insert-reshards --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s
// RUN: shard-opt %s --spmd-propagate=conflicts=basic --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=BASIC

// CHECK-DAG: remark: [Missed] conflict | Category:spmd | Function=conflict | Axes=x, Bytes=16, Reason="no other choice costs less in reshards", Remark="the tensors of arith.addf disagree: operand #0 [{"x"}] gives way", Suggestion="shard them alike, or give one a priority; --spmd-explain names the annotations"
// BASIC-DAG: remark: [Missed] conflict | {{.*}}Function=conflict | {{.*}}Reason="conflicts=basic decides nothing", Remark="the tensors of arith.addf disagree: operand #0 [{"x"}], operand #1 [{"y"}] gives way"
spmd.mesh @m = <["x"=2, "y"=4]>
func.func @conflict(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>},
                    %b: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>}) -> tensor<16xf32> {
  %0 = arith.addf %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-DAG: remark: [Missed] replicated | Category:spmd | Function=whole | Axes=x, Bytes=64, Reason="it keeps the dims whole that its operands are cut along", Remark="linalg.softmax computes whole tensors on every device", Suggestion="cut other dims of its operands"
func.func @whole(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.softmax dimension(0) ins(%a : tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
