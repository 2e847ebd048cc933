// RUN: shard-opt %s --spmd-combine-collectives | FileCheck %s
// RUN: shard-opt %s --spmd-combine-collectives=max-bytes=64 | FileCheck %s --check-prefix=BYTES

module attributes {spmd.phase = "partitioned"} {
spmd.mesh @m = <["x"=2, "y"=2]>
spmd.mesh @tight = <["x"=2, "y"=2]> {memory = 1}

// Equal kind, group, reduction and element type, with a common point: before the first user, in program order.
// CHECK-LABEL: func.func @together
// CHECK-NEXT: arith.negf
// CHECK-NEXT: [[S:%.*]]:2 = spmd.start {
// CHECK-NEXT: [[A:%.*]] = spmd.all_reduce %arg0 sum
// CHECK-NEXT: [[B:%.*]] = spmd.all_reduce %arg1 sum
// CHECK-NEXT: spmd.return [[A]], [[B]] : tensor<8xf32>, tensor<4x4xf32>
// CHECK-NEXT: } : tensor<8xf32>, tensor<4x4xf32>
// CHECK-NEXT: [[D:%.*]]:2 = spmd.done [[S]]#0, [[S]]#1
// CHECK-NEXT: arith.addf [[D]]#0
// CHECK-NEXT: return %{{.*}}, [[D]]#1
func.func @together(%a: tensor<8xf32>, %b: tensor<4x4xf32>, %c: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x4xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %n = arith.negf %c : tensor<8xf32>
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<4x4xf32>
  %2 = arith.addf %0, %n : tensor<8xf32>
  return %2, %1 : tensor<8xf32>, tensor<4x4xf32>
}

// Gathers and scatters too, also where their dims differ.
// CHECK-LABEL: func.func @gathers
// CHECK: spmd.start {
// CHECK-NEXT: spmd.all_gather %arg0
// CHECK-NEXT: spmd.all_gather %arg1
// CHECK: spmd.start {
// CHECK-NEXT: spmd.reduce_scatter
// CHECK-NEXT: spmd.reduce_scatter
func.func @gathers(%a: tensor<8xf32>, %b: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<2x4xf32>) {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<16xf32>
  %1 = spmd.all_gather %b <@m, [{}, {"x"}]> : tensor<4x4xf32> -> tensor<4x8xf32>
  %2 = spmd.reduce_scatter %a sum <@m, [{"x"}]> : tensor<8xf32> -> tensor<4xf32>
  %3 = spmd.reduce_scatter %b sum <@m, [{"x"}, {}]> : tensor<4x4xf32> -> tensor<2x4xf32>
  return %0, %1, %2, %3 : tensor<16xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<2x4xf32>
}

// Elements that are only moved may have several types, those that are reduced may not.
// CHECK-LABEL: func.func @types
// CHECK: spmd.start {
// CHECK-NEXT: spmd.all_gather %arg0
// CHECK-NEXT: spmd.all_gather %arg1
// CHECK-NOT: spmd.start
// CHECK: return
func.func @types(%a: tensor<8xf32>, %b: tensor<4x4xi8>) -> (tensor<16xf32>, tensor<4x8xi8>, tensor<8xf32>, tensor<4x4xi8>) {
  %0 = spmd.all_gather %a <@m, [{"x"}]> : tensor<8xf32> -> tensor<16xf32>
  %1 = spmd.all_gather %b <@m, [{}, {"x"}]> : tensor<4x4xi8> -> tensor<4x8xi8>
  %2 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %3 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<4x4xi8>
  return %0, %1, %2, %3 : tensor<16xf32>, tensor<4x8xi8>, tensor<8xf32>, tensor<4x4xi8>
}

// Not where one waits for another, directly or through other ops.
// CHECK-LABEL: func.func @dependent
// CHECK-NOT: spmd.start
// CHECK: return
func.func @dependent(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8xf32>
  %2 = arith.negf %1 : tensor<8xf32>
  %3 = spmd.all_reduce %2 sum <@m, {"x"}> : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// One that reads another is not drawn in front of it by a third.
// CHECK-LABEL: func.func @chain
// CHECK: [[S:%.*]]:2 = spmd.start {
// CHECK-NEXT: spmd.all_reduce %arg0
// CHECK-NEXT: spmd.all_reduce %arg1
// CHECK: [[D:%.*]]:2 = spmd.done
// CHECK-NEXT: arith.negf [[D]]#1
// CHECK-NEXT: spmd.all_reduce [[D]]#0
func.func @chain(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
  %2 = arith.negf %1 : tensor<8xf32>
  %3 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8xf32>
  return %3, %2 : tensor<8xf32>, tensor<8xf32>
}

// Not where group, reduction or element type differ.
// CHECK-LABEL: func.func @different
// CHECK-NOT: spmd.start
// CHECK: return
func.func @different(%a: tensor<8xf32>, %b: tensor<8xf64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = spmd.all_reduce %a sum <@m, {"y"}> : tensor<8xf32>
  %2 = spmd.all_reduce %a max <@m, {"x"}> : tensor<8xf32>
  %3 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf64>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>
}

// Nor without a common point: a product that reads one precedes the operand of the other.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: spmd.start
// CHECK: return
func.func @apart(%a: tensor<8xf32>, %b: tensor<16xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = arith.constant dense<0.0> : tensor<8xf32>
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = linalg.matvec ins(%w, %0 : tensor<8x8xf32>, tensor<8xf32>) outs(%z : tensor<8xf32>) -> tensor<8xf32>
  %2 = tensor.extract_slice %b[8] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %3 = spmd.all_reduce %2 sum <@m, {"x"}> : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// Never into or out of a branch or a loop.
// CHECK-LABEL: func.func @branch
// CHECK-NOT: spmd.start
// CHECK: scf.if
// CHECK: [[S:%.*]]:2 = spmd.start {
// CHECK-NEXT: spmd.all_reduce %arg1
// CHECK-NEXT: spmd.all_reduce %arg2
// CHECK: scf.yield
// CHECK-NOT: spmd.start
// CHECK: return
func.func @branch(%c: i1, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
  %1 = scf.if %c -> tensor<8xf32> {
    %2 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<8xf32>
    %3 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<8xf32>
    %4 = arith.addf %2, %3 : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  } else {
    scf.yield %b : tensor<8xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// What makes an operand element by element goes ahead with it, constants and captured values
// too; not what waits for a collective itself.
// CHECK-LABEL: func.func @scaled
// CHECK: linalg.generic
// CHECK: linalg.reduce
// CHECK: spmd.start {
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.return
// CHECK: spmd.done
// CHECK-NOT: spmd.start
// CHECK: return
func.func @scaled(%a: tensor<8xf32>, %b: tensor<4xf32>, %p: tensor<8xf32>, %q: tensor<4xf32>, %w: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.negf %a : tensor<8xf32>
  %1 = spmd.all_reduce %0 sum <@m, {"x"}> : tensor<8xf32>
  %2 = arith.subf %p, %1 : tensor<8xf32>
  %c = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf32>
  %n = arith.negf %q : tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x = tensor.extract %n[%c] : tensor<4xf32>
      %y = arith.mulf %in, %x : f32
      linalg.yield %y : f32
  } -> tensor<4xf32>
  %4 = spmd.all_reduce %3 sum <@m, {"x"}> : tensor<4xf32>
  %r = linalg.reduce ins(%w : tensor<8x4xf32>) outs(%q : tensor<4xf32>) dimensions = [0]
    (%i: f32, %o: f32) { %s = arith.addf %i, %o : f32
                         linalg.yield %s : f32 }
  %5 = spmd.all_reduce %r sum <@m, {"x"}> : tensor<4xf32>
  %t = arith.negf %4 : tensor<4xf32>
  %6 = spmd.all_reduce %t sum <@m, {"x"}> : tensor<4xf32>
  return %2, %4, %5, %6 : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// With the option, no collective of more bytes.
// CHECK-LABEL: func.func @large
// CHECK: spmd.start
// CHECK: return
// BYTES-LABEL: func.func @together
// BYTES: spmd.start
// BYTES-LABEL: func.func @gathers
// BYTES: spmd.all_gather
// BYTES-NEXT: spmd.all_gather
// BYTES-LABEL: func.func @large
// BYTES-NOT: spmd.start
// BYTES: return
func.func @large(%a: tensor<65536xf32>, %b: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<65536xf32>
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<65536xf32>
  return %0, %1 : tensor<65536xf32>, tensor<65536xf32>
}

// Readers that do little work wait: a transpose, a reshape and an update of the first, while the product that the second
// sums is computed. They keep their order, also where one reads both.
// CHECK-LABEL: func.func @waiting
// CHECK: linalg.matmul
// CHECK-NEXT: [[S:%.*]]:2 = spmd.start {
// CHECK-NEXT: spmd.all_reduce
// CHECK-NEXT: spmd.all_reduce
// CHECK: [[D:%.*]]:2 = spmd.done
// CHECK-NEXT: [[T:%.*]] = linalg.transpose ins([[D]]#0
// CHECK-NEXT: [[C:%.*]] = tensor.collapse_shape [[T]]
// CHECK-NEXT: arith.subf %{{.*}}, [[C]]
// CHECK-NEXT: arith.addf [[D]]#0, [[D]]#1
// CHECK-NEXT: return
func.func @waiting(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %w: tensor<16xf32>) -> (tensor<16xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<4x4xf32>
  %t = linalg.transpose ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %n = arith.subf %w, %c : tensor<16xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = spmd.all_reduce %p sum <@m, {"x"}> : tensor<4x4xf32>
  %s = arith.addf %0, %1 : tensor<4x4xf32>
  return %n, %s : tensor<16xf32>, tensor<4x4xf32>
}

// A product does not wait, nor does one sum for another that it is part of, directly or through readers that may wait.
// CHECK-LABEL: func.func @impatient
// CHECK-NOT: spmd.start
// CHECK: return
func.func @impatient(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<4x4xf32>
  %p = linalg.matmul ins(%0, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = spmd.all_reduce %p sum <@m, {"x"}> : tensor<4x4xf32>
  %r = linalg.reduce { arith.addf } ins(%1 : tensor<4x4xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
  %n = arith.negf %r : tensor<4xf32>
  %2 = spmd.all_reduce %n sum <@m, {"x"}> : tensor<4xf32>
  return %p, %2 : tensor<4x4xf32>, tensor<4xf32>
}

// A bucket is full when its latency is 1/32 of its transfer time and it has a third of what is read at one point: of five
// sums of 4 ms each, two travel together, then two, and the last alone.
// CHECK-LABEL: func.func @buckets
// CHECK: spmd.start {
// CHECK-COUNT-2: spmd.all_reduce
// CHECK: spmd.return
// CHECK: spmd.start {
// CHECK-COUNT-2: spmd.all_reduce
// CHECK: spmd.return
// CHECK-NOT: spmd.start
// CHECK: return
func.func @buckets(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>, %d: tensor<1024x1024xf32>, %e: tensor<1024x1024xf32>)
    -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %0 = spmd.all_reduce %a sum <@m, {"x"}> : tensor<1024x1024xf32>
  %1 = spmd.all_reduce %b sum <@m, {"x"}> : tensor<1024x1024xf32>
  %2 = spmd.all_reduce %c sum <@m, {"x"}> : tensor<1024x1024xf32>
  %3 = spmd.all_reduce %d sum <@m, {"x"}> : tensor<1024x1024xf32>
  %4 = spmd.all_reduce %e sum <@m, {"x"}> : tensor<1024x1024xf32>
  return %0, %1, %2, %3, %4 : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// The peak stays within the memory of the mesh: each sum is made smaller at once, as written.
// CHECK-LABEL: func.func @exceeding
// CHECK-NOT: spmd.start
// CHECK: return
func.func @exceeding(%a: tensor<8192xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %x = tensor.extract_slice %a[0] [4096] [1] : tensor<8192xf32> to tensor<4096xf32>
  %0 = spmd.all_reduce %x sum <@tight, {"x"}> : tensor<4096xf32>
  %r = linalg.reduce { arith.addf } ins(%0 : tensor<4096xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %y = tensor.extract_slice %a[4096] [4096] [1] : tensor<8192xf32> to tensor<4096xf32>
  %1 = spmd.all_reduce %y sum <@tight, {"x"}> : tensor<4096xf32>
  %s = linalg.reduce { arith.addf } ins(%1 : tensor<4096xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %r, %s : tensor<f32>, tensor<f32>
}
}
