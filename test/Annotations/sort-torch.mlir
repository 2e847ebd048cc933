// A long dim of PyTorch sorted by a network in a loop, with a sharding on the argument: gathered once, before the loop.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify
// RUN: shard-opt %s --inline --spmd-default-pipeline=plan=propagation | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK: spmd.all_gather
// CHECK: scf.for
// CHECK-NOT: spmd.all_gather
// CHECK-NOT: spmd.all_reduce
// CHECK: return

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
module {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func @main(%arg0: tensor<4x150xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<4x5xf32> {spmd.name = "result0"}, tensor<4x5xi64> {spmd.name = "result1"}) {
    %0 = tensor.empty() : tensor<4x150xi64>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<4x150xi64>) {
    ^bb0(%out: i64):
      %3 = linalg.index 1 : index
      %4 = arith.index_cast %3 : index to i64
      linalg.yield %4 : i64
    } -> tensor<4x150xi64>
    %2:2 = call @shardkit_sort_1(%arg0, %1) : (tensor<4x150xf32>, tensor<4x150xi64>) -> (tensor<4x150xf32>, tensor<4x150xi64>)
    %extracted_slice = tensor.extract_slice %2#0[0, 0] [4, 5] [1, 1] : tensor<4x150xf32> to tensor<4x5xf32>
    %extracted_slice_0 = tensor.extract_slice %2#1[0, 0] [4, 5] [1, 1] : tensor<4x150xi64> to tensor<4x5xi64>
    return %extracted_slice, %extracted_slice_0 : tensor<4x5xf32>, tensor<4x5xi64>
  }
  func.func private @shardkit_sort_1(%arg0: tensor<4x150xf32>, %arg1: tensor<4x150xi64>) -> (tensor<4x150xf32>, tensor<4x150xi64>) {
    %0 = spmd.with_sharding_constraint %arg0 <@mesh, [{?}, {}]> : tensor<4x150xf32>
    %1 = spmd.with_sharding_constraint %arg1 <@mesh, [{?}, {}]> : tensor<4x150xi64>
    %cst = arith.constant dense<[1, 3, 1, 7, 2, 1, 15, 4, 2, 1, 31, 8, 4, 2, 1, 63, 16, 8, 4, 2, 1, 127, 32, 16, 8, 4, 2, 1, 255, 64, 32, 16, 8, 4, 2, 1]> : tensor<36xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c36 = arith.constant 36 : index
    %c150 = arith.constant 150 : index
    %2 = tensor.empty() : tensor<4x150xi32>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%2 : tensor<4x150xi32>) {
    ^bb0(%out: i32):
      %8 = linalg.index 1 : index
      %9 = arith.index_cast %8 : index to i32
      linalg.yield %9 : i32
    } -> tensor<4x150xi32>
    %4 = spmd.with_sharding_constraint %3 <@mesh, [{?}, {}]> : tensor<4x150xi32>
    %5:3 = scf.for %arg2 = %c0 to %c36 step %c1 iter_args(%arg3 = %0, %arg4 = %1, %arg5 = %4) -> (tensor<4x150xf32>, tensor<4x150xi64>, tensor<4x150xi32>) {
      %extracted_slice = tensor.extract_slice %cst[%arg2] [1] [1] : tensor<36xi32> to tensor<i32>
      %8 = tensor.empty() : tensor<4x150xf32>
      %9 = tensor.empty() : tensor<4x150xi64>
      %10 = tensor.empty() : tensor<4x150xi32>
      %11:3 = linalg.generic {indexing_maps = [#map, #map, #map, #map1, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3, %arg4, %arg5, %extracted_slice : tensor<4x150xf32>, tensor<4x150xi64>, tensor<4x150xi32>, tensor<i32>) outs(%8, %9, %10 : tensor<4x150xf32>, tensor<4x150xi64>, tensor<4x150xi32>) {
      ^bb0(%in: f32, %in_0: i64, %in_1: i32, %in_2: i32, %out: f32, %out_3: i64, %out_4: i32):
        %12 = linalg.index 0 : index
        %13 = linalg.index 1 : index
        %14 = arith.index_cast %in_2 : i32 to index
        %15 = arith.xori %13, %14 : index
        %16 = arith.cmpi ult, %15, %c150 : index
        %17 = arith.select %16, %15, %13 : index
        %extracted = tensor.extract %arg3[%12, %17] : tensor<4x150xf32>
        %extracted_5 = tensor.extract %arg4[%12, %17] : tensor<4x150xi64>
        %extracted_6 = tensor.extract %arg5[%12, %17] : tensor<4x150xi32>
        %18 = arith.cmpi ult, %13, %15 : index
        %19 = arith.cmpi ult, %in_1, %extracted_6 : i32
        %20 = arith.cmpf ord, %extracted, %extracted : f32
        %21 = arith.cmpf uno, %in, %in : f32
        %22 = arith.andi %20, %21 : i1
        %23 = arith.cmpf olt, %extracted, %in : f32
        %24 = arith.ori %23, %22 : i1
        %25 = arith.cmpf oeq, %extracted, %in : f32
        %26 = arith.cmpf uno, %extracted, %extracted : f32
        %27 = arith.andi %26, %21 : i1
        %28 = arith.ori %25, %27 : i1
        %29 = arith.select %28, %19, %24 : i1
        %30 = arith.xori %18, %29 : i1
        %31 = arith.select %30, %extracted, %in : f32
        %32 = arith.select %30, %extracted_5, %in_0 : i64
        %33 = arith.select %30, %extracted_6, %in_1 : i32
        linalg.yield %31, %32, %33 : f32, i64, i32
      } -> (tensor<4x150xf32>, tensor<4x150xi64>, tensor<4x150xi32>)
      scf.yield %11#0, %11#1, %11#2 : tensor<4x150xf32>, tensor<4x150xi64>, tensor<4x150xi32>
    }
    %6 = spmd.with_sharding_constraint %5#0 <@mesh, [{?}, {}]> : tensor<4x150xf32>
    %7 = spmd.with_sharding_constraint %5#1 <@mesh, [{?}, {}]> : tensor<4x150xi64>
    return %6, %7 : tensor<4x150xf32>, tensor<4x150xi64>
  }
}

