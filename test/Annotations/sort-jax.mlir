// A long dim of JAX sorted by a network in a loop, with a sharding on the argument: gathered once, before the loop.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify
// RUN: shard-opt %s --inline --spmd-default-pipeline=plan=propagation | FileCheck %s
// CHECK-LABEL: func.func public @main
// CHECK: spmd.all_gather
// CHECK: scf.for
// CHECK-NOT: spmd.all_gather
// CHECK-NOT: spmd.all_reduce
// CHECK: return

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
module @jit__lambda {
  spmd.mesh @mesh = <["data"=2, "model"=2]>
  func.func public @main(%arg0: tensor<4x150xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@mesh, [{}, {"model"}]>}, %arg1: tensor<4x150xi32> {spmd.name = "y"}) -> (tensor<4x150xf32> {spmd.name = "result.0"}, tensor<4x150xi32> {spmd.name = "result.1"}) {
    %c2147483647_i32 = arith.constant 2147483647 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0x7FC00000> : tensor<f32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<f32>
    %c150 = arith.constant 150 : index
    %c35 = arith.constant 35 : index
    %c1 = arith.constant 1 : index
    %c36 = arith.constant 36 : index
    %c0 = arith.constant 0 : index
    %cst_1 = arith.constant dense<[1, 3, 1, 7, 2, 1, 15, 4, 2, 1, 31, 8, 4, 2, 1, 63, 16, 8, 4, 2, 1, 127, 32, 16, 8, 4, 2, 1, 255, 64, 32, 16, 8, 4, 2, 1]> : tensor<36xi32>
    %0 = tensor.empty() : tensor<4x150xi32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<4x150xi32>) {
    ^bb0(%out: i32):
      %8 = linalg.index 1 : index
      %9 = arith.index_cast %8 : index to i32
      linalg.yield %9 : i32
    } -> tensor<4x150xi32>
    %2 = spmd.with_sharding_constraint %arg0 <@mesh, [{?}, {}]> : tensor<4x150xf32>
    %3 = spmd.with_sharding_constraint %arg1 <@mesh, [{?}, {}]> : tensor<4x150xi32>
    %4 = spmd.with_sharding_constraint %1 <@mesh, [{?}, {}]> : tensor<4x150xi32>
    %5:3 = scf.for %arg2 = %c0 to %c36 step %c1 iter_args(%arg3 = %2, %arg4 = %3, %arg5 = %4) -> (tensor<4x150xf32>, tensor<4x150xi32>, tensor<4x150xi32>) {
      %8 = arith.index_cast %arg2 : index to i32
      %9 = arith.index_cast %8 : i32 to index
      %10 = arith.maxsi %9, %c0 : index
      %11 = arith.minsi %10, %c35 : index
      %extracted_slice = tensor.extract_slice %cst_1[%11] [1] [1] : tensor<36xi32> to tensor<1xi32>
      %collapsed = tensor.collapse_shape %extracted_slice [] : tensor<1xi32> into tensor<i32>
      %12 = spmd.with_sharding_constraint %arg3 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %13 = spmd.with_sharding_constraint %arg4 <@mesh, [{?}, {}]> : tensor<4x150xi32>
      %14 = spmd.with_sharding_constraint %arg5 <@mesh, [{?}, {}]> : tensor<4x150xi32>
      %15 = tensor.empty() : tensor<4x150xf32>
      %16 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<i32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i32, %out: f32):
        %61 = linalg.index 0 : index
        %62 = linalg.index 1 : index
        %63 = arith.index_cast %in : i32 to index
        %64 = arith.xori %62, %63 : index
        %65 = arith.cmpi ult, %64, %c150 : index
        %66 = arith.select %65, %64, %62 : index
        %extracted = tensor.extract %12[%61, %66] : tensor<4x150xf32>
        linalg.yield %extracted : f32
      } -> tensor<4x150xf32>
      %17 = spmd.with_sharding_constraint %16 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %18 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<i32>) outs(%0 : tensor<4x150xi32>) {
      ^bb0(%in: i32, %out: i32):
        %61 = linalg.index 0 : index
        %62 = linalg.index 1 : index
        %63 = arith.index_cast %in : i32 to index
        %64 = arith.xori %62, %63 : index
        %65 = arith.cmpi ult, %64, %c150 : index
        %66 = arith.select %65, %64, %62 : index
        %extracted = tensor.extract %13[%61, %66] : tensor<4x150xi32>
        linalg.yield %extracted : i32
      } -> tensor<4x150xi32>
      %19 = spmd.with_sharding_constraint %18 <@mesh, [{?}, {}]> : tensor<4x150xi32>
      %20 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<i32>) outs(%0 : tensor<4x150xi32>) {
      ^bb0(%in: i32, %out: i32):
        %61 = linalg.index 0 : index
        %62 = linalg.index 1 : index
        %63 = arith.index_cast %in : i32 to index
        %64 = arith.xori %62, %63 : index
        %65 = arith.cmpi ult, %64, %c150 : index
        %66 = arith.select %65, %64, %62 : index
        %extracted = tensor.extract %14[%61, %66] : tensor<4x150xi32>
        linalg.yield %extracted : i32
      } -> tensor<4x150xi32>
      %21 = spmd.with_sharding_constraint %20 <@mesh, [{?}, {}]> : tensor<4x150xi32>
      %22 = tensor.empty() : tensor<4x150xi1>
      %23 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<i32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: i32, %out: i1):
        %61 = linalg.index 1 : index
        %62 = arith.index_cast %in : i32 to index
        %63 = arith.xori %61, %62 : index
        %64 = arith.cmpi ult, %61, %63 : index
        linalg.yield %64 : i1
      } -> tensor<4x150xi1>
      %24 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%14, %21 : tensor<4x150xi32>, tensor<4x150xi32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: i32, %in_2: i32, %out: i1):
        %61 = arith.cmpi slt, %in, %in_2 : i32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %25 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<4x150xf32>
      %26 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %26 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf oeq, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %28 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %29 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %28, %12 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %12 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf une, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %31 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<4x150xf32>
      %32 = spmd.with_sharding_constraint %31 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %33 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %32, %29 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %34 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %35 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %34 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf oeq, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %36 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %37 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%35, %36, %17 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %38 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %17 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf une, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %39 = spmd.with_sharding_constraint %31 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %40 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %39, %37 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %40 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.bitcast %in : f32 to i32
        %62 = arith.cmpi slt, %61, %c0_i32 : i32
        %63 = arith.subi %c2147483647_i32, %61 : i32
        %64 = arith.select %62, %63, %61 : i32
        %65 = arith.bitcast %in_2 : f32 to i32
        %66 = arith.cmpi slt, %65, %c0_i32 : i32
        %67 = arith.subi %c2147483647_i32, %65 : i32
        %68 = arith.select %66, %67, %65 : i32
        %69 = arith.cmpi slt, %64, %68 : i32
        linalg.yield %69 : i1
      } -> tensor<4x150xi1>
      %42 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %43 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %42 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf oeq, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %44 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %45 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%43, %44, %17 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %46 = spmd.with_sharding_constraint %31 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %47 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %46, %45 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %48 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %48 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.cmpf oeq, %in, %in_2 : f32
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %50 = spmd.with_sharding_constraint %25 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %51 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%49, %50, %12 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %52 = spmd.with_sharding_constraint %31 <@mesh, [{?}, {}]> : tensor<4x150xf32>
      %53 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %52, %51 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%47, %53 : tensor<4x150xf32>, tensor<4x150xf32>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: f32, %in_2: f32, %out: i1):
        %61 = arith.bitcast %in : f32 to i32
        %62 = arith.cmpi slt, %61, %c0_i32 : i32
        %63 = arith.subi %c2147483647_i32, %61 : i32
        %64 = arith.select %62, %63, %61 : i32
        %65 = arith.bitcast %in_2 : f32 to i32
        %66 = arith.cmpi slt, %65, %c0_i32 : i32
        %67 = arith.subi %c2147483647_i32, %65 : i32
        %68 = arith.select %66, %67, %65 : i32
        %69 = arith.cmpi slt, %64, %68 : i32
        linalg.yield %69 : i1
      } -> tensor<4x150xi1>
      %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%41, %54 : tensor<4x150xi1>, tensor<4x150xi1>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: i1, %in_2: i1, %out: i1):
        %61 = arith.xori %in, %in_2 : i1
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %56 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%55, %41, %24 : tensor<4x150xi1>, tensor<4x150xi1>, tensor<4x150xi1>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: i1, %in_2: i1, %in_3: i1, %out: i1):
        %61 = arith.select %in, %in_2, %in_3 : i1
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %57 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%23, %56 : tensor<4x150xi1>, tensor<4x150xi1>) outs(%22 : tensor<4x150xi1>) {
      ^bb0(%in: i1, %in_2: i1, %out: i1):
        %61 = arith.xori %in, %in_2 : i1
        linalg.yield %61 : i1
      } -> tensor<4x150xi1>
      %58 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%57, %17, %12 : tensor<4x150xi1>, tensor<4x150xf32>, tensor<4x150xf32>) outs(%15 : tensor<4x150xf32>) {
      ^bb0(%in: i1, %in_2: f32, %in_3: f32, %out: f32):
        %61 = arith.select %in, %in_2, %in_3 : f32
        linalg.yield %61 : f32
      } -> tensor<4x150xf32>
      %59 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%57, %19, %13 : tensor<4x150xi1>, tensor<4x150xi32>, tensor<4x150xi32>) outs(%0 : tensor<4x150xi32>) {
      ^bb0(%in: i1, %in_2: i32, %in_3: i32, %out: i32):
        %61 = arith.select %in, %in_2, %in_3 : i32
        linalg.yield %61 : i32
      } -> tensor<4x150xi32>
      %60 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%57, %21, %14 : tensor<4x150xi1>, tensor<4x150xi32>, tensor<4x150xi32>) outs(%0 : tensor<4x150xi32>) {
      ^bb0(%in: i1, %in_2: i32, %in_3: i32, %out: i32):
        %61 = arith.select %in, %in_2, %in_3 : i32
        linalg.yield %61 : i32
      } -> tensor<4x150xi32>
      scf.yield %58, %59, %60 : tensor<4x150xf32>, tensor<4x150xi32>, tensor<4x150xi32>
    }
    %6 = spmd.with_sharding_constraint %5#0 <@mesh, [{?}, {}]> : tensor<4x150xf32>
    %7 = spmd.with_sharding_constraint %5#1 <@mesh, [{?}, {}]> : tensor<4x150xi32>
    return %6, %7 : tensor<4x150xf32>, tensor<4x150xi32>
  }
}

