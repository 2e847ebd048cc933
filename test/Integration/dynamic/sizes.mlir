// Sizes that only the run knows, in arguments and results: one bundle, called at several sizes, also such as the devices
// do not divide. What is padded is filled: nothing reads it.
// REQUIRES: shard-run
// RUN: shard-compile %s --with-reference --fill-padding=lowest -o %t
// RUN: shard-run %t --size=b=8 --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %t --size=b=5 --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %t --size=b=1 --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=EQUAL
// RUN: shard-run %t --size=b=0 --random-inputs=1 --verify=exact | FileCheck %s --check-prefix=EQUAL
// EQUAL: verify: 9 functions, 17 results, all equal bit by bit
// RUN: not shard-run %t --size=b=65 --random-inputs=1 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: error: function 'sum': size 'b' is 65, expected one from 0 to 64
// RUN: not shard-run %t --random-inputs=1 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: function 'sum': size 'b' is not known, expected an argument with a dim of it, or --size=NAME=SIZE
// RUN: not shard-run %t --size=c=4 --size=b=4 --random-inputs=1 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: --size names 'c', which is not a size that only the run knows; sizes: 'b'

spmd.mesh @m = <["x"=2, "y"=3]>

// A sum over padded shards is masked.
func.func @sum(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<6xi32> attributes {spmd.bounds = {b = [0, 64]}} {
  %z = arith.constant dense<0> : tensor<6xi32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<?x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  return %s : tensor<6xi32>
}

// Between layouts of 6, 2 and 3 shards and one: chunks of a dim that is padded to a multiple of 6.
func.func @moves(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<?x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}) attributes {spmd.bounds = {b = [0, 64]}} {
  %a = arith.addi %x, %x : tensor<?x6xi32>
  %1 = spmd.with_sharding_constraint %a <@m, [{"y", "x"}, {}]> : tensor<?x6xi32>
  %2 = arith.muli %1, %1 : tensor<?x6xi32>
  %3 = spmd.with_sharding_constraint %2 <@m, [{}, {"y"}]> : tensor<?x6xi32>
  %4 = arith.addi %3, %3 : tensor<?x6xi32>
  %5 = spmd.with_sharding_constraint %4 <@m, [{"x"}, {}]> : tensor<?x6xi32>
  %6 = arith.muli %5, %5 : tensor<?x6xi32>
  return %6, %6 : tensor<?x6xi32>, tensor<?x6xi32>
}

// An argument of twice the size; results of half of it and of the rest, in rows that a shard has or not.
func.func @derived(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                   %y: tensor<6x?xi32> {spmd.range = [-9, 9], spmd.symbols = ["", "2 * b"], spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>})
    -> (tensor<?x6xi32>, tensor<?x6xi32>, tensor<6x?xi32>, tensor<?xi32>) attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %x, %c0 : tensor<?x6xi32>
  %half = arith.divsi %b, %c2 : index
  %both = arith.muli %half, %c2 : index
  %rest = arith.subi %b, %both : index
  %0 = tensor.extract_slice %x[0, 0] [%half, 6] [2, 1] : tensor<?x6xi32> to tensor<?x6xi32>
  %1 = arith.muli %0, %0 : tensor<?x6xi32>
  %2 = tensor.extract_slice %x[%both, 0] [%rest, 6] [1, 1] : tensor<?x6xi32> to tensor<?x6xi32>
  %3 = arith.addi %2, %2 : tensor<?x6xi32>
  %4 = arith.muli %y, %y : tensor<6x?xi32>
  %empty = tensor.empty(%rest) : tensor<?xi32>
  %zero = arith.constant 0 : i32
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<?xi32>) -> tensor<?xi32>
  %5 = linalg.reduce { arith.addi } ins(%3 : tensor<?x6xi32>) outs(%init : tensor<?xi32>) dimensions = [1]
  return %1, %3, %4, %5 : tensor<?x6xi32>, tensor<?x6xi32>, tensor<6x?xi32>, tensor<?xi32>
}

// A contraction over the dim, and one with it twice.
func.func @gram(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {}]>}) -> (tensor<6x6xi32>, tensor<?x?xi32>) attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %c = arith.constant 0 : i32
  %z = arith.constant dense<0> : tensor<6x6xi32>
  %g = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] ins(%x, %x : tensor<?x6xi32>, tensor<?x6xi32>) outs(%z : tensor<6x6xi32>) -> tensor<6x6xi32>
  %b = tensor.dim %x, %c0 : tensor<?x6xi32>
  %e = tensor.empty(%b, %b) : tensor<?x?xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %h = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%x, %x : tensor<?x6xi32>, tensor<?x6xi32>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %g, %h : tensor<6x6xi32>, tensor<?x?xi32>
}

// A layout with strides has equal shards: 2 * b is a multiple of them.
func.func @strides(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{}, {2, "y"}]>}) -> tensor<?x6xi32> attributes {spmd.bounds = {b = [0, 64]}} {
  %a = arith.addi %x, %x : tensor<?x6xi32>
  return %a : tensor<?x6xi32>
}

// The difference of a value and itself, which upstream folds to a constant without a size.
func.func @itself(%x: tensor<?x6xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x6xi32>, tensor<?x6xi1>) attributes {spmd.bounds = {b = [0, 64]}} {
  %same = arith.maxsi %x, %x : tensor<?x6xi32>
  %difference = arith.subi %x, %same : tensor<?x6xi32>
  %equal = arith.cmpi eq, %x, %same : tensor<?x6xi32>
  return %difference, %equal : tensor<?x6xi32>, tensor<?x6xi1>
}

// A loop keeps the size of what it carries, a product of sizes.
func.func @carried(%x: tensor<?x?x4xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", "b", ""], spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) -> tensor<?x4xi32> attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x4xi32> into tensor<?x4xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%carried = %rows) -> tensor<?x4xi32> {
    %next = arith.addi %carried, %rows : tensor<?x4xi32>
    scf.yield %next : tensor<?x4xi32>
  }
  return %r : tensor<?x4xi32>
}

// Masks of two layouts, whose limits are computed between ops that are equal.
func.func @masks(%x: tensor<?x5xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, %y: tensor<?x3x4xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", "", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>}) -> (tensor<?x3x4xi32>, tensor<?x5xi32>) attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %b = tensor.dim %y, %c0 : tensor<?x3x4xi32>
  %e = tensor.empty(%b) : tensor<?x3x4xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<?x3x4xi32>) -> tensor<?x3x4xi32>
  %o = arith.ori %y, %f : tensor<?x3x4xi32>
  %g = linalg.fill ins(%one : i32) outs(%e : tensor<?x3x4xi32>) -> tensor<?x3x4xi32>
  %p = arith.ori %o, %g : tensor<?x3x4xi32>
  %q = spmd.with_sharding_constraint %x <@m, [{"x", "y"}, {}]> : tensor<?x5xi32>
  return %p, %q : tensor<?x3x4xi32>, tensor<?x5xi32>
}

// What a loop carries is read after its next value is computed, and has as many trips as the dim is long.
func.func @trips(%x: tensor<?x5xi32> {spmd.range = [-3, 3], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>}, %w: tensor<?x5xi32> {spmd.range = [-3, 3], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> (tensor<?x5xi32>, tensor<?x5xi32>) attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %b = tensor.dim %x, %c0 : tensor<?x5xi32>
  %e = tensor.empty(%b) : tensor<?x5xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<?x5xi32>) -> tensor<?x5xi32>
  %r:2 = scf.for %i = %c0 to %b step %c1 iter_args(%c = %f, %p = %f) -> (tensor<?x5xi32>, tensor<?x5xi32>) {
    %next = linalg.add ins(%c, %x : tensor<?x5xi32>, tensor<?x5xi32>) outs(%e : tensor<?x5xi32>) -> tensor<?x5xi32>
    %old = linalg.mul ins(%c, %w : tensor<?x5xi32>, tensor<?x5xi32>) outs(%e : tensor<?x5xi32>) -> tensor<?x5xi32>
    %sum = linalg.add ins(%p, %old : tensor<?x5xi32>, tensor<?x5xi32>) outs(%e : tensor<?x5xi32>) -> tensor<?x5xi32>
    scf.yield %next, %sum : tensor<?x5xi32>, tensor<?x5xi32>
  }
  return %r#0, %r#1 : tensor<?x5xi32>, tensor<?x5xi32>
}
