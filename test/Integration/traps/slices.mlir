// Slices, pads and concatenations: cut along other dims they are local, along
// their own dim they are made whole.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @extract_other_dim(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x2xi32> {
  %r = tensor.extract_slice %a[0, 3] [8, 2] [1, 2] : tensor<8x6xi32> to tensor<8x2xi32>
  return %r : tensor<8x2xi32>
}

func.func @extract_own_dim(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<4x6xi32> {
  %r = tensor.extract_slice %a[1, 0] [4, 6] [2, 1] : tensor<8x6xi32> to tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @extract_row(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6xi32> {
  %r = tensor.extract_slice %a[5, 0] [1, 6] [1, 1] : tensor<8x6xi32> to tensor<6xi32>
  return %r : tensor<6xi32>
}

// The dims of size one that stays is not the one that goes.
func.func @extract_one_of_ones(%a: tensor<1x8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<1x4xi32> {
  %r = tensor.extract_slice %a[0, 5, 0] [1, 1, 4] [1, 1, 1] : tensor<1x8x4xi32> to tensor<1x4xi32>
  return %r : tensor<1x4xi32>
}

func.func @insert_other_dim(%a: tensor<8x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 1000]},
                            %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x6xi32> {
  %r = tensor.insert_slice %a into %b[0, 1] [8, 2] [1, 3] : tensor<8x2xi32> into tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

func.func @insert_own_dim(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 1000]},
                          %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<8x6xi32> {
  %r = tensor.insert_slice %a into %b[3, 0] [4, 6] [1, 1] : tensor<4x6xi32> into tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

func.func @insert_row(%a: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 1000]},
                      %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x6xi32> {
  %r = tensor.insert_slice %a into %b[3, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

func.func @pad_other_dim(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x10xi32> {
  %c7 = arith.constant 7 : i32
  %r = tensor.pad %a low[0, 1] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c7 : i32
  } : tensor<8x6xi32> to tensor<8x10xi32>
  return %r : tensor<8x10xi32>
}

func.func @pad_own_dim(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<12x6xi32> {
  %c7 = arith.constant 7 : i32
  %r = tensor.pad %a low[3, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c7 : i32
  } : tensor<8x6xi32> to tensor<12x6xi32>
  return %r : tensor<12x6xi32>
}

// Padding must not enter a sum.
func.func @padded_maximum(%a: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [-100, -10]}) -> tensor<8xi32> {
  %low = arith.constant -1000 : i32
  %init = arith.constant dense<-2000> : tensor<8xi32>
  %p = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %low : i32
  } : tensor<8x6xi32> to tensor<8x8xi32>
  %r = linalg.reduce { arith.maxsi } ins(%p : tensor<8x8xi32>) outs(%init : tensor<8xi32>) dimensions = [1]
  return %r : tensor<8xi32>
}

func.func @concat_other_dim(%a: tensor<8x2xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]},
                            %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [0, 1000]}) -> tensor<8x6xi32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<8x2xi32>, tensor<8x4xi32>) -> tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

func.func @concat_own_dim(%a: tensor<8x2xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [0, 1000]},
                          %b: tensor<8x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]})
    -> (tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>}) {
  %r = tensor.concat dim(1) %a, %b : (tensor<8x2xi32>, tensor<8x4xi32>) -> tensor<8x6xi32>
  return %r : tensor<8x6xi32>
}

// Rotary embedding's halves: split, negate one, join the other way round.
func.func @rotate_half(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<4x8xi32> {
  %zero = arith.constant dense<0> : tensor<4x4xi32>
  %l = tensor.extract_slice %a[0, 0] [4, 4] [1, 1] : tensor<4x8xi32> to tensor<4x4xi32>
  %h = tensor.extract_slice %a[0, 4] [4, 4] [1, 1] : tensor<4x8xi32> to tensor<4x4xi32>
  %n = arith.subi %zero, %h : tensor<4x4xi32>
  %r = tensor.concat dim(1) %n, %l : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}
