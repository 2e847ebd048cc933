// tensor.gather and tensor.scatter, compared with loops that upstream lowers.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact
// RUN: shard-run %s --random-inputs=2 --verify=exact --compile-option=--fill-padding=lowest
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--fill-padding=ones

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @bytes = <["x"=2, "y"=3]> {alpha = [1.0e-9, 1.0e-9], beta = [1.0e-9, 1.0e-9]}
#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>

// Rows by token, the addressed dim cut.
// CHECK-LABEL: func.func public @rows
// CHECK-NOT: tensor.gather
// CHECK: tensor.extract %{{.*}} : tensor<20x4xf32>
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}} : tensor<6x4xf32>
// CHECK: return
func.func public @rows(%ids: tensor<6x1xi32> {spmd.range = [0, 40]},
                %table: tensor<40x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6x4xf32>
    attributes {spmd.reference = @rows_reference} {
  %r = tensor.gather %table[%ids] gather_dims([0]) : (tensor<40x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
func.func private @rows_reference(%ids: tensor<6x1xi32>, %table: tensor<40x4xf32>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<6x4xf32>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<6x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %id = tensor.extract %ids[%i, %c0] : tensor<6x1xi32>
    %row = arith.index_cast %id : i32 to index
    %v = tensor.extract %table[%row, %j] : tensor<40x4xf32>
    linalg.yield %v : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// What goes along is cut: the gather stays.
// CHECK-LABEL: func.func public @columns
// CHECK-NOT: spmd.all
// CHECK: tensor.gather %{{.*}}[%{{.*}}] gather_dims([0]) : (tensor<40x2xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>
// CHECK-NOT: spmd.all
// CHECK: return
func.func public @columns(%ids: tensor<6x1xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 40]},
                %table: tensor<40x4xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<6x4xf32>
    attributes {spmd.reference = @rows_reference} {
  %r = tensor.gather %table[%ids] gather_dims([0]) : (tensor<40x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// Two coordinates, both dims cut, one of
// them unevenly; the addressed dims stay as dims of size 1. The batch is padded.
func.func public @pairs(%at: tensor<5x2xindex> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 7]},
                 %table: tensor<8x6x7xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>, spmd.range = [-99, 99]}) -> tensor<5x1x6x1xi32>
    attributes {spmd.reference = @pairs_reference} {
  %r = tensor.gather %table[%at] gather_dims([0, 2]) : (tensor<8x6x7xi32>, tensor<5x2xindex>) -> tensor<5x1x6x1xi32>
  return %r : tensor<5x1x6x1xi32>
}
func.func private @pairs_reference(%at: tensor<5x2xindex>, %table: tensor<8x6x7xi32>) -> tensor<5x1x6x1xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<5x1x6x1xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<5x1x6x1xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %a = tensor.extract %at[%i, %c0] : tensor<5x2xindex>
    %b = tensor.extract %at[%i, %c1] : tensor<5x2xindex>
    %v = tensor.extract %table[%a, %k, %b] : tensor<8x6x7xi32>
    linalg.yield %v : i32
  } -> tensor<5x1x6x1xi32>
  return %r : tensor<5x1x6x1xi32>
}

// A shard writes the rows that it owns: nothing moves but indices and updates.
// CHECK-LABEL: func.func public @write_rows
// CHECK-NOT: spmd.all
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<20x2xf32>)
// CHECK: arith.select
// CHECK-NOT: spmd.all
// CHECK: return
func.func public @write_rows(%rows: tensor<1x6xf32>, %to: tensor<40x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>},
                      %ids: tensor<1x1xi32> {spmd.range = [0, 40]}) -> (tensor<40x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>})
    attributes {spmd.reference = @write_rows_reference} {
  %p = spmd.with_sharding_constraint %rows <@m, [{}, {"y"}]> : tensor<1x6xf32>
  %r = tensor.scatter %p into %to[%ids] scatter_dims([0]) unique : (tensor<1x6xf32>, tensor<40x6xf32>, tensor<1x1xi32>) -> tensor<40x6xf32>
  return %r : tensor<40x6xf32>
}
func.func private @write_rows_reference(%rows: tensor<1x6xf32>, %to: tensor<40x6xf32>, %ids: tensor<1x1xi32>) -> tensor<40x6xf32> {
  %c0 = arith.constant 0 : index
  %id = tensor.extract %ids[%c0, %c0] : tensor<1x1xi32>
  %i = arith.index_cast %id : i32 to index
  %r = tensor.insert_slice %rows into %to[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<40x6xf32>
  return %r : tensor<40x6xf32>
}

// Places that differ by construction, in a dim cut unevenly and by two axes.
func.func public @write_many(%rows: tensor<5x1x6xi32> {spmd.range = [-99, 99]}, %to: tensor<29x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [-99, 99]},
                      %start: tensor<i64> {spmd.range = [0, 4]}) -> tensor<29x6xi32>
    attributes {spmd.reference = @write_many_reference} {
  %e = tensor.empty() : tensor<5x1xi64>
  %at = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #ij], iterator_types = ["parallel", "parallel"]} ins(%start : tensor<i64>) outs(%e : tensor<5x1xi64>) {
  ^bb0(%s: i64, %o: i64):
    %i = linalg.index 0 : index
    %c6 = arith.constant 6 : index
    %k = arith.muli %i, %c6 : index
    %l = arith.index_cast %k : index to i64
    %m = arith.addi %l, %s : i64
    linalg.yield %m : i64
  } -> tensor<5x1xi64>
  %r = tensor.scatter %rows into %to[%at] scatter_dims([0]) unique : (tensor<5x1x6xi32>, tensor<29x6xi32>, tensor<5x1xi64>) -> tensor<29x6xi32>
  return %r : tensor<29x6xi32>
}
func.func private @write_many_reference(%rows: tensor<5x1x6xi32>, %to: tensor<29x6xi32>, %start: tensor<i64>) -> tensor<29x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %s = tensor.extract %start[] : tensor<i64>
  %first = arith.index_cast %s : i64 to index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %to) -> tensor<29x6xi32> {
    %k = arith.muli %i, %c6 : index
    %at = arith.addi %k, %first : index
    %row = tensor.extract_slice %rows[%i, 0, 0] [1, 1, 6] [1, 1, 1] : tensor<5x1x6xi32> to tensor<1x6xi32>
    %next = tensor.insert_slice %row into %acc[%at, 0] [1, 6] [1, 1] : tensor<1x6xi32> into tensor<29x6xi32>
    scf.yield %next : tensor<29x6xi32>
  }
  return %r : tensor<29x6xi32>
}

// One tensor is read at places that it holds itself.
func.func public @of_itself(%a: tensor<12x1xindex> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 12]}) -> tensor<12x1xindex>
    attributes {spmd.reference = @of_itself_reference} {
  %r = tensor.gather %a[%a] gather_dims([0]) : (tensor<12x1xindex>, tensor<12x1xindex>) -> tensor<12x1xindex>
  return %r : tensor<12x1xindex>
}
func.func private @of_itself_reference(%a: tensor<12x1xindex>) -> tensor<12x1xindex> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<12x1xindex>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<12x1xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %row = tensor.extract %a[%i, %c0] : tensor<12x1xindex>
    %v = tensor.extract %a[%row, %c0] : tensor<12x1xindex>
    linalg.yield %v : index
  } -> tensor<12x1xindex>
  return %r : tensor<12x1xindex>
}

// One row of one element: the loop runs once and must not write to the argument.
func.func public @write_one(%row: tensor<1xi32>, %to: tensor<12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<12xi32>
    attributes {spmd.reference = @write_one_reference} {
  %at = arith.constant dense<7> : tensor<1x1xi64>
  %r = tensor.scatter %row into %to[%at] scatter_dims([0]) unique : (tensor<1xi32>, tensor<12xi32>, tensor<1x1xi64>) -> tensor<12xi32>
  return %r : tensor<12xi32>
}
func.func private @write_one_reference(%row: tensor<1xi32>, %to: tensor<12xi32>) -> tensor<12xi32> {
  %r = tensor.insert_slice %row into %to[7] [1] [1] : tensor<1xi32> into tensor<12xi32>
  return %r : tensor<12xi32>
}

// The label's logit, picked and written by coordinates of which one counts the batch:
// where bytes count, indices are gathered and not the logits.
// CHECK-LABEL: func.func public @label
// CHECK-NOT: spmd.all_gather %arg
// CHECK: spmd.all_gather %{{.*}} : tensor<4x2xi32> -> tensor<12x2xi32>
// CHECK-NOT: spmd.all_gather
// CHECK: spmd.all_reduce %{{.*}} sum <@bytes, {"x", "y"}>
// CHECK-NOT: spmd.all
// CHECK: return
func.func public @label(%logits: tensor<12x64xf32> {spmd.sharding = #spmd.sharding<@bytes, [{"y"}, {"x"}]>}, %labels: tensor<12xi32> {spmd.range = [0, 64], spmd.sharding = #spmd.sharding<@bytes, [{"y"}]>}) -> (tensor<12xf32>, tensor<12x64xf32>) attributes {spmd.reference = @label_reference} {
  %e = tensor.empty() : tensor<12x2xi32>
  %at = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%labels : tensor<12xi32>) outs(%e : tensor<12x2xi32>) {
  ^bb0(%l: i32, %o: i32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %is = arith.cmpi eq, %k, %c0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.select %is, %n, %l : i32
    linalg.yield %s : i32
  } -> tensor<12x2xi32>
  %p = tensor.gather %logits[%at] gather_dims([0, 1]) : (tensor<12x64xf32>, tensor<12x2xi32>) -> tensor<12xf32>
  %m = arith.constant dense<-1.0> : tensor<12xf32>
  %q = arith.addf %p, %m : tensor<12xf32>
  %r = tensor.scatter %q into %logits[%at] scatter_dims([0, 1]) unique : (tensor<12xf32>, tensor<12x64xf32>, tensor<12x2xi32>) -> tensor<12x64xf32>
  return %p, %r : tensor<12xf32>, tensor<12x64xf32>
}
func.func private @label_reference(%logits: tensor<12x64xf32>, %labels: tensor<12xi32>) -> (tensor<12xf32>, tensor<12x64xf32>) {
  %e = tensor.empty() : tensor<12xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%labels : tensor<12xi32>) outs(%e : tensor<12xf32>) {
  ^bb0(%l: i32, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %l : i32 to index
    %v = tensor.extract %logits[%i, %k] : tensor<12x64xf32>
    linalg.yield %v : f32
  } -> tensor<12xf32>
  %f = tensor.empty() : tensor<12x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%labels, %logits : tensor<12xi32>, tensor<12x64xf32>) outs(%f : tensor<12x64xf32>) {
  ^bb0(%l: i32, %x: f32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %l : i32 to index
    %c1 = arith.constant -1.0 : f32
    %is = arith.cmpi eq, %j, %k : index
    %y = arith.addf %x, %c1 : f32
    %s = arith.select %is, %y, %x : f32
    linalg.yield %s : f32
  } -> tensor<12x64xf32>
  return %p, %r : tensor<12xf32>, tensor<12x64xf32>
}
