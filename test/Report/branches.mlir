// Functions of several blocks: a value that a branch passes on is not a result of the function.
// RUN: shard-opt %s --spmd-report -o /dev/null 2>&1 | FileCheck %s
// RUN: not shard-compile %s -o %t 2>&1 | FileCheck %s --check-prefix=COMPILE
// CHECK:   collectives, 192 B
// CHECK-NEXT: {{ +}}all_gather {{.*}}
// COMPILE: error: function 'loop' has unstructured control flow, expected one block (lift it first, for instance with --lift-cf-to-scf)
spmd.mesh @mesh_x_4 = <["x"=4]>
func.func @loop(%x: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@mesh_x_4, [{"x"}, {}]>}, %n: index) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<8x6xf32>)
^head(%i: index, %a: tensor<8x6xf32>):
  %p = arith.cmpi slt, %i, %n : index
  cf.cond_br %p, ^body, ^exit
^body:
  %s = math.sin %a : tensor<8x6xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %s : index, tensor<8x6xf32>)
^exit:
  return %a : tensor<8x6xf32>
}
