// Partial sums stay partial through products with complete factors where that is cheaper, and through loops that add
// them up; each is completed once.
// RUN: shard-opt %s --spmd-default-pipeline=plan=propagation | FileCheck %s
// RUN: shard-opt %s --spmd-default-pipeline="defer-reductions=false plan=propagation" | FileCheck %s --check-prefix=OFF
// RUN: shard-run %s --random-inputs=3 --verify=exact
// RUN: shard-run %s --random-inputs=3 --verify=exact --compile-option=--defer-reductions=false

spmd.mesh @m = <["x"=2, "y"=2]>

// The two gradients of a tied weight, one of them transposed, are added and then reduced, once.
// CHECK-LABEL: func.func @tied
// CHECK-NOT: = spmd.
// CHECK: arith.addi %{{.*}} : tensor<6x10xi32>
// CHECK-NEXT: spmd.all_reduce %{{.*}} sum <@m, {"x"}>
// CHECK-NOT: = spmd.
// CHECK: return
// OFF-LABEL: func.func @tied
// OFF-COUNT-2: spmd.all_reduce
// OFF: return
func.func @tied(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}, %dh: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                %h: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}, %dl: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}) -> (tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant dense<0> : tensor<6x10xi32>
  %zt = arith.constant dense<0> : tensor<10x6xi32>
  %g1 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dh : tensor<8x6xi32>, tensor<8x10xi32>) outs(%z : tensor<6x10xi32>) {
  ^bb0(%s: i32, %t: i32, %o: i32):
    %m = arith.muli %s, %t : i32
    %n = arith.addi %o, %m : i32
    linalg.yield %n : i32
  } -> tensor<6x10xi32>
  %g2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %dl : tensor<8x10xi32>, tensor<8x6xi32>) outs(%zt : tensor<10x6xi32>) {
  ^bb0(%s: i32, %t: i32, %o: i32):
    %m = arith.muli %s, %t : i32
    %n = arith.addi %o, %m : i32
    linalg.yield %n : i32
  } -> tensor<10x6xi32>
  %e = tensor.empty() : tensor<6x10xi32>
  %t2 = linalg.transpose ins(%g2 : tensor<10x6xi32>) outs(%e : tensor<6x10xi32>) permutation = [1, 0]
  %g = arith.addi %g1, %t2 : tensor<6x10xi32>
  return %g : tensor<6x10xi32>
}

// Scaled gradients are added before they are reduced.
// CHECK-LABEL: func.func @scaled
// CHECK-NOT: = spmd.
// CHECK: arith.subi
// CHECK-NEXT: spmd.all_reduce
// CHECK-NOT: = spmd.
// CHECK: return
func.func @scaled(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                  %v: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}, %c: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> tensor<8x10xi32> {
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %three = arith.constant dense<3> : tensor<8x10xi32>
  %p = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
  %q = linalg.matmul ins(%x, %v : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
  %p3 = arith.muli %p, %three : tensor<8x10xi32>
  %qc = arith.muli %c, %q : tensor<8x10xi32>
  %r = arith.subi %p3, %qc : tensor<8x10xi32>
  return %r : tensor<8x10xi32>
}

// A product that makes the sum smaller comes first, and so does a sum over a dim. One that makes it larger does not.
// CHECK-LABEL: func.func @smaller
// CHECK: linalg.matmul
// CHECK: linalg.matmul
// CHECK-NEXT: spmd.all_reduce %{{.*}} : tensor<8x2xi32>
// CHECK: return
// CHECK-LABEL: func.func @larger
// CHECK: linalg.matmul
// CHECK-NEXT: spmd.all_reduce %{{.*}} : tensor<8x10xi32>
// CHECK: linalg.matmul
// CHECK: return
func.func @smaller(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                   %v: tensor<10x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> tensor<8x2xi32> {
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %one = arith.constant dense<1> : tensor<8x2xi32>
  %p = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
  %q = linalg.matmul ins(%p, %v : tensor<8x10xi32>, tensor<10x2xi32>) outs(%one : tensor<8x2xi32>) -> tensor<8x2xi32>
  return %q : tensor<8x2xi32>
}
func.func @larger(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                  %v: tensor<10x20xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> tensor<8x20xi32> {
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %one = arith.constant dense<1> : tensor<8x20xi32>
  %p = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
  %q = linalg.matmul ins(%p, %v : tensor<8x10xi32>, tensor<10x20xi32>) outs(%one : tensor<8x20xi32>) -> tensor<8x20xi32>
  return %q : tensor<8x20xi32>
}

// A sum over a loop is reduced after it, also from an init that is not zero, and where the product adds to it.
// CHECK-LABEL: func.func @accumulated
// CHECK: arith.select
// CHECK-NOT: = spmd.all_reduce
// CHECK: scf.for
// CHECK-NOT: = spmd.
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: spmd.{{start|all_reduce}}
// CHECK: return
// OFF-LABEL: func.func @accumulated
// OFF: scf.for
// OFF: spmd.all_reduce
// OFF: scf.yield
func.func @accumulated(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                       %b: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> (tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %r:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %z, %c = %b, %d = %b) -> (tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>) {
    %k = arith.index_cast %i : index to i32
    %s = tensor.splat %k : tensor<8x6xi32>
    %y = arith.addi %x, %s : tensor<8x6xi32>
    %p = linalg.matmul ins(%y, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
    %q = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
    %1 = arith.addi %a, %p : tensor<8x10xi32>
    %2 = arith.subi %c, %q : tensor<8x10xi32>
    %3 = linalg.matmul ins(%y, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%d : tensor<8x10xi32>) -> tensor<8x10xi32>
    scf.yield %1, %2, %3 : tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>
}

// Not if the loop reads the sum; complete summands are added unchanged.
// CHECK-LABEL: func.func @not_accumulated
// CHECK: scf.for
// CHECK: spmd.{{start|all_reduce}}
// CHECK: scf.yield
// CHECK-NOT: spmd.
// CHECK: return
func.func @not_accumulated(%x: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                           %b: tensor<8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> (tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant dense<0> : tensor<8x10xi32>
  %r:4 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %z, %c = %b, %d = %b, %e = %z) -> (tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>) {
    %p = linalg.matmul ins(%x, %w : tensor<8x6xi32>, tensor<6x10xi32>) outs(%z : tensor<8x10xi32>) -> tensor<8x10xi32>
    %1 = arith.addi %a, %p : tensor<8x10xi32>
    %2 = arith.maxsi %1, %c : tensor<8x10xi32>
    %3 = arith.addi %e, %b : tensor<8x10xi32>
    %4 = arith.addi %d, %b : tensor<8x10xi32>
    scf.yield %1, %2, %3, %4 : tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>, tensor<8x10xi32>
}

// The gradients of the layers of a loop are transposed and stacked: slices of partial sums are written, and the stack is
// reduced once. The init, of which a slice stays, counts once.
// CHECK-LABEL: func.func @stacked
// CHECK-NOT: = spmd.all_reduce
// CHECK: scf.for
// CHECK-NOT: = spmd.
// CHECK: tensor.insert_slice
// CHECK-NOT: = spmd.
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK: spmd.all_reduce %{{.*}} sum <@m, {"x"}> {{.*}} : tensor<4x10x6xi32>
// CHECK-NOT: = spmd.
// CHECK: return
// OFF-LABEL: func.func @stacked
// OFF: scf.for
// OFF: spmd.all_reduce
// OFF: scf.yield
func.func @stacked(%x: tensor<3x8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-3, 3]}, %dh: tensor<3x8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-3, 3]},
                   %b: tensor<4x10x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>, spmd.range = [-3, 3]}) -> (tensor<4x10x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0> : tensor<6x10xi32>
  %two = arith.constant dense<2> : tensor<10x6xi32>
  %e = tensor.empty() : tensor<10x6xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %b) -> tensor<4x10x6xi32> {
    %j = arith.subi %c3, %i : index
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<3x8x6xi32> to tensor<8x6xi32>
    %di = tensor.extract_slice %dh[%i, 0, 0] [1, 8, 10] [1, 1, 1] : tensor<3x8x10xi32> to tensor<8x10xi32>
    %g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %di : tensor<8x6xi32>, tensor<8x10xi32>) outs(%z : tensor<6x10xi32>) {
    ^bb0(%p: i32, %t: i32, %o: i32):
      %m = arith.muli %p, %t : i32
      %n = arith.addi %o, %m : i32
      linalg.yield %n : i32
    } -> tensor<6x10xi32>
    %t = linalg.transpose ins(%g : tensor<6x10xi32>) outs(%e : tensor<10x6xi32>) permutation = [1, 0]
    %v = arith.muli %t, %two : tensor<10x6xi32>
    %n = tensor.insert_slice %v into %s[%j, 0, 0] [1, 10, 6] [1, 1, 1] : tensor<10x6xi32> into tensor<4x10x6xi32>
    scf.yield %n : tensor<4x10x6xi32>
  }
  return %r : tensor<4x10x6xi32>
}

// Not where the stack is sharded by the axis of the sums: a stack of partial sums would be larger.
// CHECK-LABEL: func.func @scattered
// CHECK: scf.for
// CHECK: spmd.reduce_scatter
// CHECK: scf.yield
func.func @scattered(%x: tensor<3x8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-3, 3]}, %dh: tensor<3x8x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>, spmd.range = [-3, 3]})
    -> (tensor<3x6x10xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {}]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0> : tensor<6x10xi32>
  %zs = arith.constant dense<0> : tensor<3x6x10xi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zs) -> tensor<3x6x10xi32> {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 8, 6] [1, 1, 1] : tensor<3x8x6xi32> to tensor<8x6xi32>
    %di = tensor.extract_slice %dh[%i, 0, 0] [1, 8, 10] [1, 1, 1] : tensor<3x8x10xi32> to tensor<8x10xi32>
    %g = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %di : tensor<8x6xi32>, tensor<8x10xi32>) outs(%z : tensor<6x10xi32>) {
    ^bb0(%p: i32, %t: i32, %o: i32):
      %m = arith.muli %p, %t : i32
      %n = arith.addi %o, %m : i32
      linalg.yield %n : i32
    } -> tensor<6x10xi32>
    %n = tensor.insert_slice %g into %s[%i, 0, 0] [1, 6, 10] [1, 1, 1] : tensor<6x10xi32> into tensor<3x6x10xi32>
    scf.yield %n : tensor<3x6x10xi32>
  }
  return %r : tensor<3x6x10xi32>
}

// Two linear ops before an addition: both sums are reduced once, after it.
// CHECK-LABEL: func.func @later
// CHECK: arith.addi %
// CHECK-NEXT: spmd.all_reduce
// CHECK-NOT: spmd.all_reduce
// CHECK: return
func.func @later(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}, %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}) -> (tensor<2x3xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %z = arith.constant dense<0> : tensor<6xi32>
  %three = arith.constant dense<3> : tensor<2x3xi32>
  %s = linalg.reduce { arith.addi } ins(%a : tensor<8x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  %t = linalg.reduce { arith.addi } ins(%b : tensor<8x6xi32>) outs(%z : tensor<6xi32>) dimensions = [0]
  %s2 = tensor.expand_shape %s [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>
  %t2 = tensor.expand_shape %t [[0, 1]] output_shape [2, 3] : tensor<6xi32> into tensor<2x3xi32>
  %s3 = arith.muli %s2, %three : tensor<2x3xi32>
  %r = arith.addi %s3, %t2 : tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// Both readers of a partial product sum most of it up: two small sums are reduced, not the product.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: tensor<128x32x64xi32> {{.*}}spmd.
// CHECK: spmd.all_reduce {{.*}} : tensor<128x32xi32>
// CHECK: spmd.all_reduce {{.*}} : tensor<32x64xi32>
// CHECK-NOT: = spmd.
// CHECK: return
func.func @read_twice(%x: tensor<128x32x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x64xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]},
                      %c: tensor<128x32xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>, spmd.range = [-3, 3]}) -> (tensor<128x32xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<32x64xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zy = arith.constant dense<0> : tensor<128x32x64xi32>
  %zr = arith.constant dense<0> : tensor<128x32xi32>
  %zs = arith.constant dense<0> : tensor<32x64xi32>
  %y = linalg.contract indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>, affine_map<(i, j, n, k) -> (i, j, n)>] ins(%x, %w : tensor<128x32x6xi32>, tensor<6x64xi32>) outs(%zy : tensor<128x32x64xi32>) -> tensor<128x32x64xi32>
  %r = linalg.reduce { arith.addi } ins(%y : tensor<128x32x64xi32>) outs(%zr : tensor<128x32xi32>) dimensions = [2]
  %s = linalg.contract indexing_maps = [affine_map<(i, j, n) -> (i, j, n)>, affine_map<(i, j, n) -> (i, j)>, affine_map<(i, j, n) -> (j, n)>] ins(%y, %c : tensor<128x32x64xi32>, tensor<128x32xi32>) outs(%zs : tensor<32x64xi32>) -> tensor<32x64xi32>
  return %r, %s : tensor<128x32xi32>, tensor<32x64xi32>
}

// One of the readers needs the product itself: it is completed once, for both.
// CHECK-LABEL: func.func @read_whole
// CHECK: spmd.all_reduce {{.*}} : tensor<128x32x64xi32>
// CHECK-NOT: = spmd.
// CHECK: return
func.func @read_whole(%x: tensor<128x32x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {"x"}]>, spmd.range = [-3, 3]}, %w: tensor<6x64xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [-3, 3]}) -> (tensor<128x32xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<128x32x64xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}, {}]>}) {
  %zy = arith.constant dense<0> : tensor<128x32x64xi32>
  %zr = arith.constant dense<0> : tensor<128x32xi32>
  %y = linalg.contract indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>, affine_map<(i, j, n, k) -> (i, j, n)>] ins(%x, %w : tensor<128x32x6xi32>, tensor<6x64xi32>) outs(%zy : tensor<128x32x64xi32>) -> tensor<128x32x64xi32>
  %r = linalg.reduce { arith.addi } ins(%y : tensor<128x32x64xi32>) outs(%zr : tensor<128x32xi32>) dimensions = [2]
  %q = arith.muli %y, %y : tensor<128x32x64xi32>
  return %r, %q : tensor<128x32xi32>, tensor<128x32x64xi32>
}
