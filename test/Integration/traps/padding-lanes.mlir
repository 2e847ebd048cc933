// Where axes do not divide a dim the last shards end in padding. Whatever it
// holds, it must not reach a result, trap, or be used as a place to read.
// RUN: shard-run %s --random-inputs=1 --verify=exact | FileCheck %s
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest | FileCheck %s
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones | FileCheck %s
// RUN: shard-run %s --random-inputs=4 --verify=exact --compile-option=--fill-padding=zero | FileCheck %s
// CHECK: 18 functions, {{[0-9]+}} results, all equal bit by bit

spmd.mesh @m = <["x"=4, "y"=2]>
#i = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#ij = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Reductions, each with its own neutral element.
func.func @sum(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, 50]},
               %init: tensor<6xi32> {spmd.range = [-50, 50]}) -> tensor<6xi32> {
  %0 = linalg.reduce { arith.addi } ins(%a : tensor<5x6xi32>) outs(%init : tensor<6xi32>) dimensions = [0]
  return %0 : tensor<6xi32>
}
func.func @float_max_of_negatives(%a: tensor<5x6xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, -1]}) -> tensor<6xf32> {
  %f = arith.sitofp %a : tensor<5x6xi8> to tensor<5x6xf32>
  %init = arith.constant dense<0xFF800000> : tensor<6xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%f : tensor<5x6xf32>) outs(%init : tensor<6xf32>) dimensions = [0]
  return %0 : tensor<6xf32>
}
func.func @several_combiners(%a: tensor<7x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>, spmd.range = [1, 5]})
    -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %zero = arith.constant dense<0> : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<3xi32>
  %ones = arith.constant dense<-1> : tensor<3xi32>
  %r:4 = linalg.generic {indexing_maps = [#ij, #column, #column, #column, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<7x3xi32>) outs(%zero, %one, %ones, %ones : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  ^bb0(%x: i32, %s: i32, %p: i32, %m: i32, %n: i32):
    %0 = arith.addi %s, %x : i32
    %1 = arith.muli %p, %x : i32
    %2 = arith.minui %m, %x : i32
    %3 = arith.andi %n, %x : i32
    linalg.yield %0, %1, %2, %3 : i32, i32, i32, i32
  } -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// Zero is not neutral before the body has seen it.
func.func @sum_of_products_of_sums(%a: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]},
                                   %b: tensor<5xi32> {spmd.range = [-9, 9]}) -> tensor<6xi32> {
  %zero = arith.constant dense<0> : tensor<6xi32>
  %three = arith.constant 3 : i32
  %r = linalg.generic {indexing_maps = [#ij, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<6x5xi32>, tensor<5xi32>) outs(%zero : tensor<6xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %0 = arith.addi %x, %three : i32
    %1 = arith.subi %y, %three : i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<6xi32>
  return %r : tensor<6xi32>
}

// A contraction: infinities stand in the lanes that count, so a product with
// padding, or of padding with them, would be NaN.
func.func @matmul(%a: tensor<3x7xi8> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-9, 9]},
                  %b: tensor<7x5xi8> {spmd.range = [1, 9]}) -> tensor<3x5xf32> {
  %fa = arith.sitofp %a : tensor<3x7xi8> to tensor<3x7xf32>
  %fb = arith.sitofp %b : tensor<7x5xi8> to tensor<7x5xf32>
  %limit = arith.constant dense<7.0> : tensor<7x5xf32>
  %inf = arith.constant dense<0x7F800000> : tensor<7x5xf32>
  %big = arith.cmpf ogt, %fb, %limit : tensor<7x5xf32>
  %c = arith.select %big, %inf, %fb : tensor<7x5xi1>, tensor<7x5xf32>
  %zero = arith.constant dense<0.0> : tensor<3x5xf32>
  %0 = linalg.matmul ins(%fa, %c : tensor<3x7xf32>, tensor<7x5xf32>) outs(%zero : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
func.func @quantized_matmul(%a: tensor<3x7xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 9]},
                            %b: tensor<7x5xi8> {spmd.range = [-9, 9]}, %za: i32 {spmd.range = [-3, 3]}, %zb: i32 {spmd.range = [-3, 3]}) -> tensor<3x5xi32> {
  %zero = arith.constant dense<0> : tensor<3x5xi32>
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<3x7xi8>, tensor<7x5xi8>, i32, i32) outs(%zero : tensor<3x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}
func.func @input_channels(%a: tensor<1x4x4x5xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}, {"x"}]>, spmd.range = [-9, 9]},
                          %w: tensor<2x2x5x3xi32> {spmd.range = [-9, 9]}) -> tensor<1x3x3x3xi32> {
  %zero = arith.constant dense<0> : tensor<1x3x3x3xi32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %w : tensor<1x4x4x5xi32>, tensor<2x2x5x3xi32>) outs(%zero : tensor<1x3x3x3xi32>) -> tensor<1x3x3x3xi32>
  return %0 : tensor<1x3x3x3xi32>
}

// Division: of whole tensors and inside a body.
func.func @divisions(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, 50]},
                     %b: tensor<5x6xi32> {spmd.range = [1, 9]}) -> (tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>) {
  %0 = arith.divsi %a, %b : tensor<5x6xi32>
  %1 = arith.remui %0, %b : tensor<5x6xi32>
  %2 = arith.floordivsi %a, %b : tensor<5x6xi32>
  return %0, %1, %2 : tensor<5x6xi32>, tensor<5x6xi32>, tensor<5x6xi32>
}
func.func @division_in_a_body(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-50, 50]},
                              %b: tensor<5x6xi32> {spmd.range = [1, 9]}) -> (tensor<5x6xi32>, tensor<6xi32>) {
  %e = tensor.empty() : tensor<5x6xi32>
  %zero = arith.constant dense<0> : tensor<6xi32>
  %0 = linalg.div ins(%a, %b : tensor<5x6xi32>, tensor<5x6xi32>) outs(%e : tensor<5x6xi32>) -> tensor<5x6xi32>
  %1 = linalg.generic {indexing_maps = [#ij, #ij, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a, %b : tensor<5x6xi32>, tensor<5x6xi32>) outs(%zero : tensor<6xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %q = arith.remsi %x, %y : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<6xi32>
  return %0, %1 : tensor<5x6xi32>, tensor<6xi32>
}

func.func @division_in_a_map(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-50, 50]},
                             %b: tensor<5x6xi32> {spmd.range = [1, 9]}) -> tensor<5x6xi32> {
  %e = tensor.empty() : tensor<5x6xi32>
  %0 = linalg.map ins(%a, %b : tensor<5x6xi32>, tensor<5x6xi32>) outs(%e : tensor<5x6xi32>)
    (%x: i32, %y: i32, %o: i32) {
      %q = arith.remsi %x, %y : i32
      linalg.yield %q : i32
    }
  return %0 : tensor<5x6xi32>
}

// Bodies that read indices, and other tensors at places computed from them or
// from what padding holds.
func.func @index(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-50, 50]}) -> (tensor<5xi32>, tensor<i32>) {
  %e = tensor.empty() : tensor<5xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %r = arith.addi %x, %c : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %1 = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]} ins(%a : tensor<5xi32>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %p = arith.muli %x, %c : i32
    %r = arith.addi %o, %p : i32
    linalg.yield %r : i32
  } -> tensor<i32>
  return %0, %1 : tensor<5xi32>, tensor<i32>
}
func.func @lookup(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 3]}, %table: tensor<3xi32> {spmd.range = [-50, 50]}) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%x: i32, %o: i32):
    %i = arith.index_cast %x : i32 to index
    %r = tensor.extract %table[%i] : tensor<3xi32>
    linalg.yield %r : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @reversed_by_generate(%a: tensor<5xi32> {spmd.range = [-50, 50]}) -> (tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %0 = tensor.generate {
  ^bb0(%i: index):
    %last = arith.constant 4 : index
    %j = arith.subi %last, %i : index
    %r = tensor.extract %a[%j] : tensor<5xi32>
    tensor.yield %r : i32
  } : tensor<5xi32>
  return %0 : tensor<5xi32>
}
func.func @captured_alike(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-50, 50]}, %t: tensor<5xi32> {spmd.range = [-50, 50]}) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]} ins(%a : tensor<5xi32>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i32, %o: i32):
    %i = linalg.index 0 : index
    %y = tensor.extract %t[%i] : tensor<5xi32>
    %p = arith.muli %x, %y : i32
    %r = arith.addi %o, %p : i32
    linalg.yield %r : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}

// A loop that padding would never end.
func.func @loop_in_a_body(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [1, 9]}) -> tensor<5xi32> {
  %e = tensor.empty() : tensor<5xi32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%a : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n:2 = scf.while (%v = %x, %k = %c0) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %v, %c0 : i32
      scf.condition(%more) %v, %k : i32, i32
    } do {
    ^bb0(%v: i32, %k: i32):
      %next = arith.subi %v, %c1 : i32
      %count = arith.addi %k, %next : i32
      scf.yield %next, %count : i32, i32
    }
    linalg.yield %n#1 : i32
  } -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// Layout changes: to whole, to another dim, to other axes; through views.
func.func @reshards(%a: tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-50, 50]})
    -> (tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
        tensor<5x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}, tensor<35xi32>, tensor<7x5xi32>, tensor<5x7x1xi32>) {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<5x7xi32> into tensor<35xi32>
  %e = tensor.empty() : tensor<7x5xi32>
  %1 = linalg.transpose ins(%a : tensor<5x7xi32>) outs(%e : tensor<7x5xi32>) permutation = [1, 0]
  %2 = tensor.expand_shape %a [[0], [1, 2]] output_shape [5, 7, 1] : tensor<5x7xi32> into tensor<5x7x1xi32>
  return %a, %a, %a, %0, %1, %2 : tensor<5x7xi32>, tensor<5x7xi32>, tensor<5x7xi32>, tensor<35xi32>, tensor<7x5xi32>, tensor<5x7x1xi32>
}

// Sums completed late, of values with padded rows that become part of another dim.
func.func @partial_sums_joined(%a: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}, %b: tensor<6x3xi32> {spmd.range = [-9, 9]},
                               %c: tensor<5x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-9, 9]}) -> (tensor<15xi32>, tensor<5x3x1xi32>) {
  %zero = arith.constant dense<0> : tensor<5x3xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<5x6xi32>, tensor<6x3xi32>) outs(%zero : tensor<5x3xi32>) -> tensor<5x3xi32>
  %1 = linalg.matmul ins(%c, %b : tensor<5x6xi32>, tensor<6x3xi32>) outs(%zero : tensor<5x3xi32>) -> tensor<5x3xi32>
  %2 = tensor.collapse_shape %0 [[0, 1]] : tensor<5x3xi32> into tensor<15xi32>
  %3 = tensor.collapse_shape %1 [[0, 1]] : tensor<5x3xi32> into tensor<15xi32>
  %4 = arith.addi %2, %3 : tensor<15xi32>
  %5 = linalg.matmul ins(%a, %b : tensor<5x6xi32>, tensor<6x3xi32>) outs(%zero : tensor<5x3xi32>) -> tensor<5x3xi32>
  %6 = linalg.matmul ins(%c, %b : tensor<5x6xi32>, tensor<6x3xi32>) outs(%zero : tensor<5x3xi32>) -> tensor<5x3xi32>
  %7 = tensor.expand_shape %5 [[0], [1, 2]] output_shape [5, 3, 1] : tensor<5x3xi32> into tensor<5x3x1xi32>
  %8 = tensor.expand_shape %6 [[0], [1, 2]] output_shape [5, 3, 1] : tensor<5x3xi32> into tensor<5x3x1xi32>
  %9 = arith.subi %7, %8 : tensor<5x3x1xi32>
  return %4, %9 : tensor<15xi32>, tensor<5x3x1xi32>
}

// Carried by a loop, and as a constant.
func.func @loop(%a: tensor<5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [-50, 50]}) -> (tensor<5xi32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> tensor<5xi32> {
    %n = arith.muli %v, %two : tensor<5xi32>
    scf.yield %n : tensor<5xi32>
  }
  %s = linalg.reduce { arith.addi } ins(%r : tensor<5xi32>) outs(%zero : tensor<i32>) dimensions = [0]
  return %r, %s : tensor<5xi32>, tensor<i32>
}
