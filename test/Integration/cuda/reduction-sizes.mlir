// Fusion leaves an output in a reduction that carries the size of a loop, which an operand without a use had: it has an element per term.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: %on-emulated-cuda shard-run %s --target=cuda --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// CHECK: verify: 3 functions, 3 results, all equal bit by bit

#ij = affine_map<(d0, d1) -> (d0, d1)>
#ji = affine_map<(d0, d1) -> (d1, d0)>
#i = affine_map<(d0, d1) -> (d0)>
#j = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

func.func @constant() -> tensor<f32> {
  %v = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<9xf32>
  %unused = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]> : tensor<13xf32>
  %e = tensor.empty() : tensor<13x9xf32>
  %squares = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<9xf32>) outs(%e : tensor<13x9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<13x9xf32>
  %least = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%least : f32) outs(%r : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#ji, #j, #none], iterator_types = ["reduction", "reduction"]} ins(%squares, %unused : tensor<13x9xf32>, tensor<13xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// Many terms, which threads would share; one of the loops is parallel.
func.func @rows(%x: tensor<600xi32> {spmd.range = [-9, 9]}, %unused: tensor<7x600xi32> {spmd.range = [0, 2]}) -> tensor<7xi32> {
  %e = tensor.empty() : tensor<7x600xi32>
  %wide = linalg.generic {indexing_maps = [#j, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<600xi32>) outs(%e : tensor<7x600xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.muli %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<7x600xi32>
  %zero = arith.constant dense<3> : tensor<7xi32>
  %sum = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%wide, %unused : tensor<7x600xi32>, tensor<7x600xi32>) outs(%zero : tensor<7xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %m = arith.addi %o, %a : i32
    linalg.yield %m : i32
  } -> tensor<7xi32>
  return %sum : tensor<7xi32>
}

// No operand is used.
func.func @count(%unused: tensor<5x11xi32> {spmd.range = [0, 2]}) -> tensor<11xi32> {
  %zero = arith.constant dense<0> : tensor<11xi32>
  %one = arith.constant 1 : i32
  %sum = linalg.generic {indexing_maps = [#ji, #i], iterator_types = ["parallel", "reduction"]} ins(%unused : tensor<5x11xi32>) outs(%zero : tensor<11xi32>) {
  ^bb0(%a: i32, %o: i32):
    %m = arith.addi %o, %one : i32
    linalg.yield %m : i32
  } -> tensor<11xi32>
  return %sum : tensor<11xi32>
}
