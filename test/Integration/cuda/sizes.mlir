// Sizes that only the run knows, on emulated devices (and on processors): each way in which kernels share work, and contractions of the library.
// REQUIRES: shard-compile, shard-run, emulated-cuda
// RUN: shard-compile %s --target=cuda --with-reference --fill-padding=lowest -o %t
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 shard-run %t --size=b=8 --size=n=3 --random-inputs=1 --verify --repeat=3 --report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: %on-emulated-cuda env SK_EMU_RACES=1 shard-run %t --size=b=37 --size=n=3 --random-inputs=1 --verify | FileCheck %s
// RUN: %on-emulated-cuda shard-run %t --size=b=1 --size=n=3 --random-inputs=1 --verify | FileCheck %s
// RUN: %on-emulated-cuda shard-run %t --size=b=0 --size=n=3 --random-inputs=1 --verify | FileCheck %s
// RUN: %on-emulated-cuda env SK_EMU_LAZY=2 SK_EMU_DEVICES=4 shard-run %t --size=b=130 --size=n=3 --backend=nccl --devices-per-process=auto --random-inputs=1 --verify | FileCheck %s
// RUN: shard-compile %s --with-reference --fill-padding=lowest -o %t.cpu
// RUN: shard-run %t.cpu --size=b=0 --size=n=3 --random-inputs=1 --verify | FileCheck %s
// RUN: shard-run %t.cpu --size=b=37 --size=n=3 --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 9 functions, 10 results, all equal
// REPORT: "graphs": {
// REPORT-NEXT: "recorded": {{[1-9]}}
// RUN: shard-compile %s --target=cuda --emit=memref | FileCheck %s --check-prefix=KERNELS
// KERNELS-DAG: gpu.func @rows_
// KERNELS-DAG: gpu.func @reduction_
// KERNELS-DAG: gpu.func @transpose_
// KERNELS-DAG: gpu.func @scatter_
// KERNELS-DAG: spmd_rt.contract
// KERNELS-DAG: spmd_rt.attention
spmd.mesh @m = <["x"=2, "y"=2]>

// Rows of known length, of a warp and of a block.
func.func @rows(%x: tensor<?x333xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<?x333xf32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x333xf32>
  %e = tensor.empty(%d) : tensor<?x333xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x333xf32>) outs(%e : tensor<?x333xf32>) -> tensor<?x333xf32>
  return %s : tensor<?x333xf32>
}
func.func @long_rows(%x: tensor<3x?x5000xf32> {spmd.symbols = ["", "b", ""], spmd.sharding = #spmd.sharding<@m, [{}, {"y"}, {}]>}) -> tensor<3x?x5000xf32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<3x?x5000xf32>
  %e = tensor.empty(%d) : tensor<3x?x5000xf32>
  %s = linalg.softmax dimension(2) ins(%x : tensor<3x?x5000xf32>) outs(%e : tensor<3x?x5000xf32>) -> tensor<3x?x5000xf32>
  return %s : tensor<3x?x5000xf32>
}

// Rows of unknown length.
func.func @keys(%x: tensor<4x?xf32> {spmd.symbols = ["", "b"], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<4x?xf32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<4x?xf32>
  %e = tensor.empty(%d) : tensor<4x?xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %s : tensor<4x?xf32>
}

// Sums over rows of unknown number, and over all.
func.func @columns(%x: tensor<?x70xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> (tensor<70xi32>, tensor<i32>) attributes {spmd.bounds = {b = [0, 4096]}} {
  %z = arith.constant dense<3> : tensor<70xi32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<?x70xi32>) outs(%z : tensor<70xi32>) dimensions = [0]
  %y = arith.constant dense<5> : tensor<i32>
  %t = linalg.reduce { arith.maxsi } ins(%x : tensor<?x70xi32>) outs(%y : tensor<i32>) dimensions = [0, 1]
  return %s, %t : tensor<70xi32>, tensor<i32>
}

// By squares.
func.func @transpose(%x: tensor<?x70xi32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) -> tensor<70x?xi32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x70xi32>
  %e = tensor.empty(%d) : tensor<70x?xi32>
  %t = linalg.transpose ins(%x : tensor<?x70xi32>) outs(%e : tensor<70x?xi32>) permutation = [1, 0]
  return %t : tensor<70x?xi32>
}

// By the library.
func.func @product(%x: tensor<?x24xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %w: tensor<24x48xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) -> tensor<?x48xf32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%d) : tensor<?x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x24xf32>, tensor<24x48xf32>) outs(%f : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// The first of the largest elements of each row, and of each column.
func.func @largest(%x: tensor<?x70xi32> {spmd.range = [-9, 9], spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<?xi32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %c0 = arith.constant 0 : index
  %least = arith.constant -2147483648 : i32
  %zero = arith.constant 0 : i32
  %d = tensor.dim %x, %c0 : tensor<?x70xi32>
  %e = tensor.empty(%d) : tensor<?xi32>
  %f = linalg.fill ins(%least : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %g = linalg.fill ins(%zero : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x70xi32>) outs(%f, %g : tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%v: i32, %best: i32, %at: i32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %more = arith.cmpi sgt, %v, %best : i32
    %b = arith.select %more, %v, %best : i32
    %a = arith.select %more, %k, %at : i32
    linalg.yield %b, %a : i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>)
  return %r#1 : tensor<?xi32>
}

// Rows that are added up at places which data give: the gradient of an embedding.
func.func @embed(%at: tensor<?xi32> {spmd.range = [0, 99], spmd.symbols = ["b"], spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %rows: tensor<?x64xf32> {spmd.symbols = ["b", ""]}) -> tensor<100x64xf32> attributes {spmd.bounds = {b = [0, 4096]}} {
  %zero = arith.constant dense<0.0> : tensor<100x64xf32>
  %none = arith.constant -0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(p, v, r) -> (r)>, affine_map<(p, v, r) -> (r, v)>, affine_map<(p, v, r) -> (p, v)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%at, %rows : tensor<?xi32>, tensor<?x64xf32>) outs(%zero : tensor<100x64xf32>) {
  ^bb0(%i: i32, %row: f32, %sum: f32):
    %p = linalg.index 0 : index
    %k = arith.index_cast %i : i32 to index
    %here = arith.cmpi eq, %p, %k : index
    %part = arith.select %here, %row, %none : f32
    %next = arith.addf %sum, %part : f32
    linalg.yield %next : f32
  } -> tensor<100x64xf32>
  return %r : tensor<100x64xf32>
}

// Attention of unknown batch and length: one call, heads after a reshape.
func.func @attend(%q: tensor<?x?x32xf32> {spmd.symbols = ["n", "b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {"y"}]>}, %k: tensor<?x?x32xf32> {spmd.symbols = ["n", "b", ""]}, %v: tensor<?x?x32xf32> {spmd.symbols = ["n", "b", ""]}) -> tensor<?x?x32xf32> attributes {spmd.bounds = {n = [1, 64], b = [0, 4096]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %n = tensor.dim %q, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x32xf32>
  %qs = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%n, %s, 4, 8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %ks = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%n, %s, 4, 8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %vs = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%n, %s, 4, 8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %e = tensor.empty(%n, %s, %s) : tensor<?x4x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, i, h, d)>, affine_map<(b, h, i, j, d) -> (b, j, h, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>] ins(%qs, %ks : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>) outs(%f : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %scaled = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%scores : tensor<?x4x?x?xf32>) outs(%e : tensor<?x4x?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<?x4x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%scaled : tensor<?x4x?x?xf32>) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %e2 = tensor.empty(%n, %s) : tensor<?x?x4x8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, j)>, affine_map<(b, h, i, j, d) -> (b, j, h, d)>, affine_map<(b, h, i, j, d) -> (b, i, h, d)>] ins(%p, %vs : tensor<?x4x?x?xf32>, tensor<?x?x4x8xf32>) outs(%f2 : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  %out = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<?x?x4x8xf32> into tensor<?x?x32xf32>
  return %out : tensor<?x?x32xf32>
}
