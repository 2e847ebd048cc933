// Scatters in parallel over updates, on emulated devices: the bits of the unsharded program,
// where every place looks at every update.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=1 --verify=exact | FileCheck %s
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 SK_EMU_INIT=1 shard-run %s --target=cuda --random-inputs=2 --verify=exact | FileCheck %s
// CHECK: verify: 11 functions, 12 results, all equal bit by bit
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS

spmd.mesh @m = <["x"=3]>
#row = affine_map<(d0, d1, d2) -> (d2)>
#update = affine_map<(d0, d1, d2) -> (d2, d1)>
#table = affine_map<(d0, d1, d2) -> (d0, d1)>

// Gradients of rows: sums of f32, in the order of updates. Few places for many updates, and some
// updates for none: chains. Links, and then one thread for each of 50 x 37 elements.
// KERNELS-LABEL: gpu.func @scatter_
// KERNELS-SAME: memref<300x37xf32> {llvm.align = 16 : i64, llvm.noalias}
// KERNELS: scf.while
// KERNELS-LABEL: sk_fn_rows
// KERNELS: memref.alloc() : memref<2x50xi32>
// KERNELS: gpu.launch_func @kernels::@linalg_{{.*}} %{{.*}} : memref<2x50xi32>)
// KERNELS-NEXT: memref.subview
// KERNELS: gpu.launch_func @kernels::@reduction_
// KERNELS: gpu.launch_func @kernels::@scatter_{{[0-9]+}} blocks in (%c8,
func.func @rows(%table: tensor<300x37xf32>, %at: tensor<50xi32> {spmd.range = [-3, 12]}, %new: tensor<50x37xf32>) -> tensor<300x37xf32> {
  %zero = arith.constant -0.0 : f32
  %0 = linalg.generic {indexing_maps = [#row, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%at, %new : tensor<50xi32>, tensor<50x37xf32>) outs(%table : tensor<300x37xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %zero : f32
    %sum = arith.addf %old, %given : f32
    linalg.yield %sum : f32
  } -> tensor<300x37xf32>
  return %0 : tensor<300x37xf32>
}

// Into zeros, with what makes the updates and what is made of the result; the rows of the table are cut.
func.func @gradient(%w: tensor<300x37xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %at: tensor<50xi32> {spmd.range = [0, 300]}, %new: tensor<50x37xf32>) -> tensor<300x37xf32> {
  %start = arith.constant 0.0 : f32
  %zero = arith.constant -0.0 : f32
  %rate = arith.constant dense<0.125> : tensor<300x37xf32>
  %e = tensor.empty() : tensor<300x37xf32>
  %zeros = linalg.fill ins(%start : f32) outs(%e : tensor<300x37xf32>) -> tensor<300x37xf32>
  %half = arith.mulf %new, %new : tensor<50x37xf32>
  %0 = linalg.generic {indexing_maps = [#row, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%at, %half : tensor<50xi32>, tensor<50x37xf32>) outs(%zeros : tensor<300x37xf32>) {
  ^bb0(%a: i32, %u: f32, %old: f32):
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %zero : f32
    %sum = arith.addf %old, %given : f32
    linalg.yield %sum : f32
  } -> tensor<300x37xf32>
  %1 = arith.mulf %0, %rate : tensor<300x37xf32>
  %2 = arith.subf %w, %1 : tensor<300x37xf32>
  return %2 : tensor<300x37xf32>
}

// An update is a window from its place on, which overlaps others; two indices; what is no sum.
func.func @largest(%table: tensor<80x70xi32>, %r: tensor<36xi64> {spmd.range = [0, 9]}, %c: tensor<36xi64> {spmd.range = [-1, 8]}, %new: tensor<36x2xi32> {spmd.range = [-99, 99]}) -> tensor<80x70xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2)>, affine_map<(d0, d1, d2, d3) -> (d2)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %c, %new : tensor<36xi64>, tensor<36xi64>, tensor<36x2xi32>) outs(%table : tensor<80x70xi32>) {
  ^bb0(%a: i64, %b: i64, %u: i32, %old: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 3 : index
    %first = arith.index_cast %a : i64 to index
    %p = arith.addi %first, %k : index
    %q = arith.index_cast %b : i64 to index
    %same = arith.cmpi eq, %p, %i : index
    %too = arith.cmpi eq, %j, %q : index
    %here = arith.andi %same, %too : i1
    %given = arith.select %here, %u, %old : i32
    %larger = arith.maxsi %given, %old : i32
    linalg.yield %larger : i32
  } -> tensor<80x70xi32>
  return %0 : tensor<80x70xi32>
}

// Places of each batch; the last update stays.
func.func @of_each(%table: tensor<3x80x11xf64>, %at: tensor<3x35xi32> {spmd.range = [0, 20]}, %new: tensor<3x35x11xf64>) -> tensor<3x80x11xf64> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%at, %new : tensor<3x35xi32>, tensor<3x35x11xf64>) outs(%table : tensor<3x80x11xf64>) {
  ^bb0(%a: i32, %u: f64, %old: f64):
    %i = linalg.index 1 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %p, %i : index
    %given = arith.select %here, %u, %old : f64
    linalg.yield %given : f64
  } -> tensor<3x80x11xf64>
  return %0 : tensor<3x80x11xf64>
}

// As the one before, the dim of places cut: what is compared is a sum.
func.func @of_each_cut(%table: tensor<3x180x11xf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}, %at: tensor<3x75xi32> {spmd.range = [0, 180]}, %new: tensor<3x75x11xf16>) -> tensor<3x180x11xf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%at, %new : tensor<3x75xi32>, tensor<3x75x11xf16>) outs(%table : tensor<3x180x11xf16>) {
  ^bb0(%a: i32, %u: f16, %old: f16):
    %i = linalg.index 1 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %p, %i : index
    %given = arith.select %here, %u, %old : f16
    linalg.yield %given : f16
  } -> tensor<3x180x11xf16>
  return %0 : tensor<3x180x11xf16>
}

// Not all of what is compared is an address: every other update counts, and those of a mask. A
// product of what is no number, too.
func.func @some(%table: tensor<70x20xf32>, %at: tensor<64xi32> {spmd.range = [0, 9]}, %mask: tensor<64xi1>, %new: tensor<64x20xi32> {spmd.range = [0, 40]}) -> tensor<70x20xf32> {
  %one = arith.constant 1.0 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %0 = linalg.generic {indexing_maps = [#row, #row, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%at, %mask, %new : tensor<64xi32>, tensor<64xi1>, tensor<64x20xi32>) outs(%table : tensor<70x20xf32>) {
  ^bb0(%a: i32, %m: i1, %u: i32, %old: f32):
    %none = arith.constant 0 : i32
    %two = arith.constant 2 : index
    %i = linalg.index 0 : index
    %r = linalg.index 2 : index
    %odd = arith.remui %r, %two : index
    %zero = arith.constant 0 : index
    %even = arith.cmpi ne, %odd, %zero : index
    %p = arith.index_cast %a : i32 to index
    %same = arith.cmpi eq, %i, %p : index
    %counts = arith.andi %same, %m : i1
    %here = arith.andi %even, %counts : i1
    %f = arith.sitofp %u : i32 to f32
    %n = arith.cmpi eq, %u, %none : i32
    %g = arith.select %n, %nan, %f : f32
    %given = arith.select %here, %g, %one : f32
    %product = arith.mulf %old, %given : f32
    linalg.yield %product : f32
  } -> tensor<70x20xf32>
  return %0 : tensor<70x20xf32>
}

// A histogram: places of one dim, no dim along.
// KERNELS-LABEL: sk_fn_counts
// KERNELS: gpu.launch_func @kernels::@scatter_
func.func @counts(%at: tensor<1000xi32> {spmd.range = [-50, 500]}) -> tensor<1500xi32> {
  %zeros = arith.constant dense<0> : tensor<1500xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%at : tensor<1000xi32>) outs(%zeros : tensor<1500xi32>) {
  ^bb0(%a: i32, %old: i32):
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %one, %none : i32
    %sum = arith.addi %old, %given : i32
    linalg.yield %sum : i32
  } -> tensor<1500xi32>
  return %0 : tensor<1500xi32>
}

// Few places for many updates: every place looks at every update, by several threads.
// KERNELS-LABEL: sk_fn_few
// KERNELS-NOT: @scatter_
// KERNELS-LABEL: sk_fn_again
func.func @few(%at: tensor<30000xi32> {spmd.range = [-1, 6]}, %new: tensor<30000xi32> {spmd.range = [-99, 99]}) -> tensor<6xi32> {
  %zeros = arith.constant dense<7> : tensor<6xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%at, %new : tensor<30000xi32>, tensor<30000xi32>) outs(%zeros : tensor<6xi32>) {
  ^bb0(%a: i32, %u: i32, %old: i32):
    %none = arith.constant 0 : i32
    %i = linalg.index 0 : index
    %p = arith.index_cast %a : i32 to index
    %here = arith.cmpi eq, %i, %p : index
    %given = arith.select %here, %u, %none : i32
    %sum = arith.addi %old, %given : i32
    linalg.yield %sum : i32
  } -> tensor<6xi32>
  return %0 : tensor<6xi32>
}

// In a loop of the host; the sum that was there is kept, and another made of it.
// KERNELS: scf.for
// KERNELS: gpu.launch_func @kernels::@scatter_
func.func @again(%table: tensor<300x37xf32>, %at: tensor<4x50xi32> {spmd.range = [-3, 90]}, %new: tensor<50x37xf32>) -> (tensor<300x37xf32>, tensor<300x37xf32>) {
  %zero = arith.constant -0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = scf.for %n = %c0 to %c4 step %c1 iter_args(%t = %table) -> tensor<300x37xf32> {
    %places = tensor.extract_slice %at[%n, 0] [1, 50] [1, 1] : tensor<4x50xi32> to tensor<50xi32>
    %0 = linalg.generic {indexing_maps = [#row, #update, #table], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%places, %new : tensor<50xi32>, tensor<50x37xf32>) outs(%t : tensor<300x37xf32>) {
    ^bb0(%a: i32, %u: f32, %old: f32):
      %i = linalg.index 0 : index
      %p = arith.index_cast %a : i32 to index
      %here = arith.cmpi eq, %i, %p : index
      %given = arith.select %here, %u, %zero : f32
      %sum = arith.addf %old, %given : f32
      linalg.yield %sum : f32
    } -> tensor<300x37xf32>
    scf.yield %0 : tensor<300x37xf32>
  }
  %twice = arith.addf %s, %table : tensor<300x37xf32>
  return %s, %twice : tensor<300x37xf32>, tensor<300x37xf32>
}

// Ops that address rows become the same.
// KERNELS-LABEL: sk_fn_of_tosa
// KERNELS: gpu.launch_func @kernels::@scatter_
func.func @of_tosa(%t: tensor<3x100x37xf32>, %at: tensor<3x50xi32> {spmd.range = [0, 100]}, %new: tensor<3x50x37xf32>) -> tensor<3x100x37xf32> {
  %r = tosa.scatter %t, %at, %new : (tensor<3x100x37xf32>, tensor<3x50xi32>, tensor<3x50x37xf32>) -> tensor<3x100x37xf32>
  return %r : tensor<3x100x37xf32>
}
// KERNELS-LABEL: sk_fn_of_tensor
// KERNELS: gpu.launch_func @kernels::@scatter_
func.func public @of_tensor(%t: tensor<60x40x90xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}, %first: tensor<1xi32> {spmd.range = [0, 17]}, %new: tensor<3x2x1x40x1xf32>) -> tensor<60x40x90xf32>
    attributes {spmd.reference = @of_tensor_reference} {
  %e = tensor.empty() : tensor<3x2x2xi32>
  %c0 = arith.constant 0 : index
  %start = tensor.extract %first[%c0] : tensor<1xi32>
  %at = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<3x2x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %two = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %n = arith.muli %i, %two : index
    %m = arith.addi %n, %j : index
    %p = arith.muli %m, %c7 : index
    %q = arith.addi %p, %k : index
    %r = arith.index_cast %q : index to i32
    %s = arith.addi %r, %start : i32
    linalg.yield %s : i32
  } -> tensor<3x2x2xi32>
  %r = tensor.scatter %new into %t[%at] scatter_dims([0, 2]) unique : (tensor<3x2x1x40x1xf32>, tensor<60x40x90xf32>, tensor<3x2x2xi32>) -> tensor<60x40x90xf32>
  return %r : tensor<60x40x90xf32>
}
func.func private @of_tensor_reference(%t: tensor<60x40x90xf32>, %first: tensor<1xi32>, %new: tensor<3x2x1x40x1xf32>) -> tensor<60x40x90xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %start = tensor.extract %first[%c0] : tensor<1xi32>
  %s = arith.index_cast %start : i32 to index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %t) -> tensor<60x40x90xf32> {
    %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<60x40x90xf32> {
      %n = arith.muli %i, %c2 : index
      %m = arith.addi %n, %j : index
      %p = arith.muli %m, %c7 : index
      %x = arith.addi %p, %s : index
      %y = arith.addi %x, %c1 : index
      %row = tensor.extract_slice %new[%i, %j, 0, 0, 0] [1, 1, 1, 40, 1] [1, 1, 1, 1, 1] : tensor<3x2x1x40x1xf32> to tensor<1x40x1xf32>
      %u = tensor.insert_slice %row into %b[%x, 0, %y] [1, 40, 1] [1, 1, 1] : tensor<1x40x1xf32> into tensor<60x40x90xf32>
      scf.yield %u : tensor<60x40x90xf32>
    }
    scf.yield %q : tensor<60x40x90xf32>
  }
  return %r : tensor<60x40x90xf32>
}
