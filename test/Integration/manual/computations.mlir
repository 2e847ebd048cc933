// Manual computations against functions that say the same in global view.
// RUN: shard-run %s --random-inputs=3 --verify=exact

spmd.mesh @pod = <["data"=2, "model"=4]>

// Free axes go in and out: the product inside is cut over "model".
func.func @maximum(%x: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {?}]>, spmd.range = [-50, 50]},
                   %w: tensor<16x32xi32> {spmd.sharding = #spmd.sharding<@pod, [{?}, {"model"}]>, spmd.range = [-50, 50]}) -> tensor<8x32xi32>
    attributes {spmd.reference = @maximum_whole} {
  %0 = spmd.manual_computation (%x, %w) in [<@pod, [{"data"}, {?}]>, <@pod, [{?}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"] (%a: tensor<4x16xi32>, %b: tensor<16x32xi32>) {
    %c = arith.constant 0 : i32
    %e = tensor.empty() : tensor<4x32xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<4x32xi32>) -> tensor<4x32xi32>
    %1 = linalg.matmul ins(%a, %b : tensor<4x16xi32>, tensor<16x32xi32>) outs(%f : tensor<4x32xi32>) -> tensor<4x32xi32>
    %2 = spmd.all_reduce %1 max <@pod, {"data"}> : tensor<4x32xi32>
    %3 = arith.subi %1, %2 : tensor<4x32xi32>
    spmd.return %3 : tensor<4x32xi32>
  } : (tensor<8x16xi32>, tensor<16x32xi32>) -> tensor<8x32xi32>
  return %0 : tensor<8x32xi32>
}
func.func private @maximum_whole(%x: tensor<8x16xi32>, %w: tensor<16x32xi32>) -> tensor<8x32xi32> {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x32xi32>
  %f = linalg.fill ins(%c : i32) outs(%e : tensor<8x32xi32>) -> tensor<8x32xi32>
  %1 = linalg.matmul ins(%x, %w : tensor<8x16xi32>, tensor<16x32xi32>) outs(%f : tensor<8x32xi32>) -> tensor<8x32xi32>
  %u = tensor.extract_slice %1[0, 0] [4, 32] [1, 1] : tensor<8x32xi32> to tensor<4x32xi32>
  %l = tensor.extract_slice %1[4, 0] [4, 32] [1, 1] : tensor<8x32xi32> to tensor<4x32xi32>
  %m = arith.maxsi %u, %l : tensor<4x32xi32>
  %n = tensor.concat dim(0) %m, %m : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<8x32xi32>
  %3 = arith.subi %1, %n : tensor<8x32xi32>
  return %3 : tensor<8x32xi32>
}

// Every device of "model" adds its number; a gather and a reduce-scatter; both axes manual.
func.func @coordinates(%x: tensor<8x16xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>, spmd.range = [-50, 50]}) -> (tensor<8x16xi32>, tensor<16xi32>)
    attributes {spmd.reference = @coordinates_whole} {
  %0:2 = spmd.manual_computation (%x) in [<@pod, [{"data"}, {"model"}]>] out [<@pod, [{"data"}, {"model"}]>, <@pod, [{"model"}]>] axes ["data", "model"] (%a: tensor<4x4xi32>) {
    %i = spmd.device_coordinate @pod "model" : index
    %n = arith.index_cast %i : index to i32
    %e = tensor.empty() : tensor<4x4xi32>
    %f = linalg.fill ins(%n : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
    %1 = arith.addi %a, %f : tensor<4x4xi32>
    %2 = spmd.all_gather %1 <@pod, [{}, {"model"}]> : tensor<4x4xi32> -> tensor<4x16xi32>
    %z = arith.constant dense<0> : tensor<16xi32>
    %3 = linalg.reduce ins(%2 : tensor<4x16xi32>) outs(%z : tensor<16xi32>) dimensions = [0] (%p: i32, %q: i32) {
      %s = arith.addi %p, %q : i32
      linalg.yield %s : i32
    }
    %4 = spmd.all_reduce %3 sum <@pod, {"data"}> : tensor<16xi32>
    // Each of the four holds the same sum: scattered, it counts four times.
    %5 = spmd.reduce_scatter %4 sum <@pod, [{"model"}]> : tensor<16xi32> -> tensor<4xi32>
    spmd.return %1, %5 : tensor<4x4xi32>, tensor<4xi32>
  } : (tensor<8x16xi32>) -> (tensor<8x16xi32>, tensor<16xi32>)
  return %0#0, %0#1 : tensor<8x16xi32>, tensor<16xi32>
}
func.func private @coordinates_whole(%x: tensor<8x16xi32>) -> (tensor<8x16xi32>, tensor<16xi32>) {
  %e = tensor.empty() : tensor<8x16xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xi32>) outs(%e : tensor<8x16xi32>) {
  ^bb0(%p: i32, %o: i32):
    %j = linalg.index 1 : index
    %four = arith.constant 4 : index
    %k = arith.divui %j, %four : index
    %n = arith.index_cast %k : index to i32
    %s = arith.addi %p, %n : i32
    linalg.yield %s : i32
  } -> tensor<8x16xi32>
  %z = arith.constant dense<0> : tensor<16xi32>
  %1 = linalg.reduce ins(%0 : tensor<8x16xi32>) outs(%z : tensor<16xi32>) dimensions = [0] (%p: i32, %q: i32) {
    %s = arith.addi %p, %q : i32
    linalg.yield %s : i32
  }
  %four = arith.constant dense<4> : tensor<16xi32>
  %2 = arith.muli %1, %four : tensor<16xi32>
  return %0, %2 : tensor<8x16xi32>, tensor<16xi32>
}

// In a loop, with another one inside, over the halves in turn.
func.func @nested(%x: tensor<8x12xi32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>, spmd.range = [-50, 50]}) -> tensor<8x12xi32>
    attributes {spmd.reference = @nested_whole} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<8x12xi32> {
    %1 = spmd.manual_computation (%v) in [<@pod, [{?}, {"data"}]>] out [<@pod, [{?}, {"data"}]>] axes ["data"] (%a: tensor<8x6xi32>) {
      %2 = spmd.collective_permute %a of tensor<8x12xi32> <@pod, [{}, {"data"}]> to <@pod, [{}, {"data"}]> : tensor<8x6xi32> -> tensor<8x6xi32>
      %3 = spmd.manual_computation (%2) in [<@pod, [{"model"}, {?}]>] out [<@pod, [{"model"}, {?}]>] axes ["model"] (%b: tensor<2x6xi32>) {
        %4 = spmd.all_to_all %b <@pod, [{"model"}, {}]> to <@pod, [{}, {"model":(1)2}]> : tensor<2x6xi32> -> tensor<8x3xi32>
        %5 = spmd.all_gather %4 <@pod, [{}, {"model":(1)2}]> : tensor<8x3xi32> -> tensor<8x6xi32>
        %6 = arith.addi %5, %5 : tensor<8x6xi32>
        %7 = spmd.all_slice %6 <@pod, [{"model"}, {}]> : tensor<8x6xi32> -> tensor<2x6xi32>
        %8 = arith.addi %7, %b : tensor<2x6xi32>
        spmd.return %8 : tensor<2x6xi32>
      } : (tensor<8x6xi32>) -> tensor<8x6xi32>
      spmd.return %3 : tensor<8x6xi32>
    } : (tensor<8x12xi32>) -> tensor<8x12xi32>
    scf.yield %1 : tensor<8x12xi32>
  }
  return %0 : tensor<8x12xi32>
}
func.func private @nested_whole(%x: tensor<8x12xi32>) -> tensor<8x12xi32> {
  %n = arith.constant dense<27> : tensor<8x12xi32>
  %0 = arith.muli %x, %n : tensor<8x12xi32>
  return %0 : tensor<8x12xi32>
}

// A lookup in a table that a free axis cuts.
func.func @lookup(%ids: tensor<6xi32> {spmd.sharding = #spmd.sharding<@pod, [{"data"}]>, spmd.range = [0, 40]}, %table: tensor<40x4xf32> {spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) -> tensor<6x4xf32> attributes {spmd.reference = @lookup_reference} {
  %0 = spmd.manual_computation (%ids, %table) in [<@pod, [{"data"}]>, <@pod, [{?}, {?}]>] out [<@pod, [{"data"}, {?}]>] axes ["data"] (%i: tensor<3xi32>, %t: tensor<40x4xf32>) {
    %e = tensor.empty() : tensor<3x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3xi32>) outs(%e : tensor<3x4xf32>) {
    ^bb0(%id: i32, %o: f32):
      %row = arith.index_cast %id : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %t[%row, %j] : tensor<40x4xf32>
      linalg.yield %v : f32
    } -> tensor<3x4xf32>
    spmd.return %r : tensor<3x4xf32>
  } : (tensor<6xi32>, tensor<40x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
func.func private @lookup_reference(%ids: tensor<6xi32>, %t: tensor<40x4xf32>) -> tensor<6x4xf32> {
    %e = tensor.empty() : tensor<6x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<6xi32>) outs(%e : tensor<6x4xf32>) {
    ^bb0(%id: i32, %o: f32):
      %row = arith.index_cast %id : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %t[%row, %j] : tensor<40x4xf32>
      linalg.yield %v : f32
    } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
