// A result that is tied to an argument may take its memory: what computes it reads each
// element before it is overwritten, or else has it computed elsewhere first.
// RUN: rm -rf %t && mkdir %t
// RUN: shard-run %s --function=momentum --random-inputs=1 --donate --verify | FileCheck %s
// RUN: shard-run %s --function=reversed --random-inputs=2 --donate --verify=exact | FileCheck %s
// RUN: shard-run %s --function=read_later --random-inputs=3 --donate --verify=exact | FileCheck %s
// RUN: shard-run %s --function=exchanged --random-inputs=4 --donate --verify=exact | FileCheck %s
// RUN: shard-run %s --function=rows --random-inputs=5 --donate --verify | FileCheck %s
// RUN: shard-run %s --function=in_between --random-inputs=6 --verify=exact | FileCheck %s
// RUN: shard-run %s --function=in_between --random-inputs=6 --donate --verify=exact | FileCheck %s
// CHECK: all equal

// Steps go on from each other.
// RUN: shard-run %s --function=count --random-inputs=1 --range=n=5:6 --donate --repeat=3 --output-dir=%t/out
// RUN: %python -c "n = open(r'%t/out/result0.npy', 'rb').read()[-12:]; assert n == bytes([8, 0, 0, 0] * 3), n"

// What is written in place has no copy.
// RUN: shard-compile %s --emit=memref -o %t/bundle | FileCheck %s --check-prefix=MEMREF
// MEMREF-LABEL: sk_fn_momentum
// MEMREF-COUNT-1: memref.alloc()
// MEMREF-NOT: memref.alloc
// MEMREF-NOT: memref.copy
// MEMREF: sk_fn_reversed
// MEMREF: memref.alloc
// MEMREF: memref.copy

// RUN: not shard-run %s --function=count --random-inputs=1 --donate --verify --repeat=2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: --donate with --verify and --repeat=2, expected one step

spmd.mesh @m = <["x"=2]>

func.func @momentum(%w: tensor<64x34xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.weight = "w"}, %m: tensor<64x34xf32>,
                    %x: tensor<16x64xf32>, %dy: tensor<16x34xf32>) -> (tensor<64x34xf32> {spmd.tied = 0 : i64}, tensor<64x34xf32> {spmd.tied = 1 : i64}) {
  %zero = arith.constant 0.0 : f32
  %decay = arith.constant 0.9 : f32
  %rate = arith.constant 0.01 : f32
  %e = tensor.empty() : tensor<64x34xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x34xf32>) -> tensor<64x34xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : tensor<16x64xf32>, tensor<16x34xf32>) outs(%f : tensor<64x34xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x34xf32>
  %m1 = linalg.map ins(%m, %g : tensor<64x34xf32>, tensor<64x34xf32>) outs(%e : tensor<64x34xf32>) (%p: f32, %q: f32, %o: f32) {
    %1 = arith.mulf %p, %decay : f32
    %2 = arith.addf %q, %1 : f32
    linalg.yield %2 : f32
  }
  %w1 = linalg.map ins(%w, %m1 : tensor<64x34xf32>, tensor<64x34xf32>) outs(%e : tensor<64x34xf32>) (%p: f32, %q: f32, %o: f32) {
    %1 = arith.mulf %q, %rate : f32
    %2 = arith.subf %p, %1 : f32
    linalg.yield %2 : f32
  }
  return %w1, %m1 : tensor<64x34xf32>, tensor<64x34xf32>
}

// An element is read after another has been written.
func.func @reversed(%a: tensor<40xi32> {spmd.range = [-50, 50]}) -> (tensor<40xi32> {spmd.tied = 0 : i64}) {
  %e = tensor.empty() : tensor<40xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<40xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %c = arith.constant 39 : index
    %j = arith.subi %c, %i : index
    %v = tensor.extract %a[%j] : tensor<40xi32>
    linalg.yield %v : i32
  } -> tensor<40xi32>
  return %0 : tensor<40xi32>
}

// The argument is read once more when the result is there: through a view.
func.func @read_later(%a: tensor<8x6xi32> {spmd.range = [-50, 50]}) -> (tensor<8x6xi32> {spmd.tied = 0 : i64}, tensor<48xi32>) {
  %e = tensor.empty() : tensor<8x6xi32>
  %view = tensor.collapse_shape %a [[0, 1]] : tensor<8x6xi32> into tensor<48xi32>
  %two = arith.constant 2 : i32
  %0 = linalg.map ins(%a : tensor<8x6xi32>) outs(%e : tensor<8x6xi32>) (%p: i32, %o: i32) {
    %1 = arith.muli %p, %two : i32
    linalg.yield %1 : i32
  }
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<8x6xi32> into tensor<48xi32>
  %f = tensor.empty() : tensor<48xi32>
  %2 = linalg.map ins(%view, %flat : tensor<48xi32>, tensor<48xi32>) outs(%f : tensor<48xi32>) (%p: i32, %q: i32, %o: i32) {
    %1 = arith.subi %p, %q : i32
    linalg.yield %1 : i32
  }
  return %0, %2 : tensor<8x6xi32>, tensor<48xi32>
}

// Each takes the place of the other.
func.func @exchanged(%a: tensor<12x5xi32> {spmd.range = [-50, 50]}, %b: tensor<12x5xi32> {spmd.range = [-50, 50]}) -> (tensor<12x5xi32> {spmd.tied = 0 : i64}, tensor<12x5xi32> {spmd.tied = 1 : i64}) {
  %e = tensor.empty() : tensor<12x5xi32>
  %one = arith.constant 1 : i32
  %0 = linalg.map ins(%b : tensor<12x5xi32>) outs(%e : tensor<12x5xi32>) (%p: i32, %o: i32) {
    %1 = arith.addi %p, %one : i32
    linalg.yield %1 : i32
  }
  return %0, %a : tensor<12x5xi32>, tensor<12x5xi32>
}

// Rows that see themselves whole, in loops; the second result reads what the first overwrites.
func.func @rows(%a: tensor<24x33xf32>, %b: tensor<24x33xf32>) -> (tensor<24x33xf32> {spmd.tied = 0 : i64}, tensor<24x33xf32> {spmd.tied = 1 : i64}) {
  %e = tensor.empty() : tensor<24x33xf32>
  %s = linalg.softmax dimension(1) ins(%a : tensor<24x33xf32>) outs(%e : tensor<24x33xf32>) -> tensor<24x33xf32>
  %0 = linalg.map ins(%s, %a : tensor<24x33xf32>, tensor<24x33xf32>) outs(%e : tensor<24x33xf32>) (%p: f32, %q: f32, %o: f32) {
    %1 = arith.addf %p, %q : f32
    linalg.yield %1 : f32
  }
  %2 = linalg.map ins(%0, %a, %b : tensor<24x33xf32>, tensor<24x33xf32>, tensor<24x33xf32>) outs(%e : tensor<24x33xf32>) (%p: f32, %q: f32, %r: f32, %o: f32) {
    %1 = arith.mulf %q, %r : f32
    %3 = arith.addf %p, %1 : f32
    linalg.yield %3 : f32
  }
  return %0, %2 : tensor<24x33xf32>, tensor<24x33xf32>
}

func.func @count(%n: tensor<3xi32> {spmd.name = "n"}) -> (tensor<3xi32> {spmd.tied = 0 : i64}) {
  %e = tensor.empty() : tensor<3xi32>
  %one = arith.constant 1 : i32
  %0 = linalg.map ins(%n : tensor<3xi32>) outs(%e : tensor<3xi32>) (%p: i32, %o: i32) {
    %1 = arith.addi %p, %one : i32
    linalg.yield %1 : i32
  }
  return %0 : tensor<3xi32>
}

// A result is computed where the first one will be, is a result itself, and one is copied in between.
func.func @in_between(%a: tensor<9xi32> {spmd.range = [-50, 50]}, %b: tensor<9xi32> {spmd.range = [-50, 50]}) -> (tensor<9xi32>, tensor<9xi32>, tensor<9xi32> {spmd.tied = 0 : i64}) {
  %e = tensor.empty() : tensor<9xi32>
  %c = arith.constant 3 : index
  %seven = arith.constant 700 : i32
  %0 = linalg.map ins(%a, %b : tensor<9xi32>, tensor<9xi32>) outs(%e : tensor<9xi32>) (%p: i32, %q: i32, %o: i32) {
    %1 = arith.addi %p, %q : i32
    linalg.yield %1 : i32
  }
  %x = tensor.extract %b[%c] : tensor<9xi32>
  %y = arith.addi %x, %seven : i32
  %i = tensor.insert %y into %0[%c] : tensor<9xi32>
  return %i, %0, %b : tensor<9xi32>, tensor<9xi32>, tensor<9xi32>
}
