// The peak of the bytes that a device holds, and what is held there.
// RUN: shard-opt %s --spmd-report="format=json" -o /dev/null 2>&1 | %python %S/Inputs/check_memory.py %s
// RUN: shard-opt %s --spmd-report=top=2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=TEXT

// The peak of each function: the op, and the live values with their bytes.
spmd.mesh @m = <["x"=2]>

// Operands and result of one op are there together; the product is written into the fill.
// memory: in_place 640 math.tanh %arg0 (a)=256, %arg1 (b)=256, %2=64, %3=64
// TEXT: memory of @in_place
// TEXT-NEXT: peak 640 B at math.tanh {{.*}}memory.mlir
// TEXT-NEXT: arguments 512 B
// TEXT-NEXT: 256 B %arg0 (a) tensor<4x16xf32> <@m, [{"x"}, {}]>
// TEXT-NEXT: 256 B %arg1 (b) tensor<16x4xf32> <@m, [{}, {}]>
// TEXT-NOT: %2
// TEXT: memory of @
func.func @in_place(%a: tensor<8x16xf32> {spmd.name = "a", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}, %b: tensor<16x4xf32> {spmd.name = "b", spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) -> tensor<8x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = math.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// The output is read again later: not in place. The peak is the negation: %a, the fill, the sum, its result.
// memory: read_later 128 arith.addf %arg0=32, %1=32, %2=32, %3=32
func.func @read_later(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %0 = linalg.add ins(%a, %f : tensor<16xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) -> tensor<16xf32>
  %1 = arith.addf %0, %f : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// An argument is never written; views are no buffers; a dead value is held at its op only.
// memory: argument 96 linalg.exp %arg0=32, %0=32, %1=32
func.func @argument(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> tensor<4x4xf32> {
  %dead = math.sin %a : tensor<16xf32>
  %0 = linalg.exp ins(%dead : tensor<16xf32>) outs(%a : tensor<16xf32>) -> tensor<16xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// What a loop carries is one buffer from its init to its result; the body holds a value more.
// memory: loop 96 math.sin %arg0=32, %1=32, %2=32
func.func @loop(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %n: index) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = math.tanh %a : tensor<16xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %init) -> tensor<16xf32> {
    %1 = math.sin %v : tensor<16xf32>
    %2 = linalg.add ins(%1, %a : tensor<16xf32>, tensor<16xf32>) outs(%v : tensor<16xf32>) -> tensor<16xf32>
    scf.yield %2 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

// The larger branch counts, not both. The constant is part of the program, of which each device takes its half.
// memory: branch 192 arith.addf %cst=64, %arg0=32, %2=32, %3=32, %4=32
func.func @branch(%a: tensor<16xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, %k: i1) -> tensor<16xf32> {
  %cst = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<16xf32>
  %r = scf.if %k -> tensor<16xf32> {
    %1 = math.sin %a : tensor<16xf32>
    %2 = math.cos %a : tensor<16xf32>
    %3 = arith.addf %1, %2 : tensor<16xf32>
    scf.yield %3 : tensor<16xf32>
  } else {
    %1 = math.sin %a : tensor<16xf32>
    scf.yield %1 : tensor<16xf32>
  }
  %s = arith.addf %r, %cst : tensor<16xf32>
  return %s : tensor<16xf32>
}
