// Tensors read or created element by element, reshaped and reinterpreted: the
// results are those of one device, exactly.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>
spmd.mesh @s = <["x"=4, "y"=2]>

// Every element of a generated tensor depends on its index.
func.func @generate() -> (tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %c100 = arith.constant 100 : index
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = arith.muli %i, %c100 : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    tensor.yield %c : i32
  } : tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}

// The same on a sub-axis and with a stride.
func.func @generate_stride() -> (tensor<4x16xi32> {spmd.sharding = #spmd.sharding<@s, [{"x":(2)2}, {2, "y", "x":(1)2}]>}) {
  %c100 = arith.constant 100 : index
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = arith.muli %i, %c100 : index
    %b = arith.addi %a, %j : index
    %c = arith.index_cast %b : index to i32
    tensor.yield %c : i32
  } : tensor<4x16xi32>
  return %r : tensor<4x16xi32>
}

// One captured tensor is read at the index of the element and stays sharded, the other in
// reverse and is gathered; the index is also read as a number.
func.func @generate_captures(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]},
                             %b: tensor<12x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 1000]}) -> tensor<6x12xi32> {
  %c11 = arith.constant 11 : index
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %0 = tensor.extract %a[%i, %j] : tensor<6x12xi32>
    %k = arith.subi %c11, %j : index
    %1 = tensor.extract %b[%k, %i] : tensor<12x6xi32>
    %2 = arith.index_cast %j : index to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.subi %0, %3 : i32
    tensor.yield %4 : i32
  } : tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}

// The same index reads a dim of another size, which stays unsharded.
func.func @generate_longer(%a: tensor<8xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]}) -> (tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) {
  %r = tensor.generate {
  ^bb0(%i: index):
    %0 = tensor.extract %a[%i] : tensor<8xi32>
    tensor.yield %0 : i32
  } : tensor<6xi32>
  return %r : tensor<6xi32>
}

// A padding value that depends on its index and on another tensor.
func.func @pad_by_index(%a: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]},
                        %b: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>, spmd.range = [0, 1000]}) -> tensor<6x9xi32> {
  %r = tensor.pad %a low[0, 1] high[0, 3] {
  ^bb0(%i: index, %j: index):
    %0 = tensor.extract %b[%i] : tensor<6xi32>
    %1 = arith.muli %i, %j : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.addi %0, %2 : i32
    tensor.yield %3 : i32
  } : tensor<6x5xi32> to tensor<6x9xi32>
  return %r : tensor<6x9xi32>
}

// The padded dim is captured too: unsharded.
func.func @pad_reads_padded(%a: tensor<6x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]},
                            %b: tensor<6x9xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x9xi32> {
  %r = tensor.pad %a low[0, 1] high[0, 3] {
  ^bb0(%i: index, %j: index):
    %0 = tensor.extract %b[%i, %j] : tensor<6x9xi32>
    tensor.yield %0 : i32
  } : tensor<6x5xi32> to tensor<6x9xi32>
  return %r : tensor<6x9xi32>
}

// One element of a sharded tensor.
func.func @extract(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> (tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %0 = tensor.extract %a[%c5, %c7] : tensor<6x12xi32>
  %r = tensor.splat %0 : tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}

// One element is replaced.
func.func @insert(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x12xi32> {
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %v = arith.constant -17 : i32
  %r = tensor.insert %v into %a[%c5, %c7] : tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}

// Elements one by one, then sharded.
func.func @from_elements(%a: tensor<6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}]>, spmd.range = [0, 1000]}) -> tensor<6xi32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = arith.constant 9 : i32
  %0 = tensor.extract %a[%c0] : tensor<6xi32>
  %1 = tensor.extract %a[%c4] : tensor<6xi32>
  %t = tensor.from_elements %0, %1, %v, %0, %v, %1 : tensor<6xi32>
  %r = arith.subi %t, %a : tensor<6xi32>
  return %r : tensor<6xi32>
}

// The size of a sharded dim is the global one, and tensor.dim moves no data.
func.func @dim(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x12xi32> {
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c1 : tensor<6x12xi32>
  %k = tensor.rank %a : tensor<6x12xi32>
  %s = arith.addi %d, %k : index
  %i = arith.index_cast %s : index to i32
  %t = tensor.splat %i : tensor<6x12xi32>
  %r = arith.muli %a, %t : tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}

// Reshapes by an operand: dims joined, split, and both at once.
func.func @reshape_join(%a: tensor<6x4x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}, {}]>, spmd.range = [0, 1000]}) -> tensor<24x5xi32> {
  %shape = arith.constant dense<[24, 5]> : tensor<2xindex>
  %r = tensor.reshape %a(%shape) : (tensor<6x4x5xi32>, tensor<2xindex>) -> tensor<24x5xi32>
  return %r : tensor<24x5xi32>
}

func.func @reshape_split(%a: tensor<24x5xi32> {spmd.sharding = #spmd.sharding<@m, [{"y", "x"}, {}]>, spmd.range = [0, 1000]}) -> (tensor<3x8x1x5xi32>) {
  %shape = arith.constant dense<[3, 8, 1, 5]> : tensor<4xi32>
  %r = tensor.reshape %a(%shape) : (tensor<24x5xi32>, tensor<4xi32>) -> tensor<3x8x1x5xi32>
  return %r : tensor<3x8x1x5xi32>
}

// 2x12 is [a][b c], 8x3 is [a b][c].
func.func @reshape_both(%a: tensor<2x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>, spmd.range = [0, 1000]}) -> (tensor<8x3xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %shape = arith.constant dense<[8, 3]> : tensor<2xindex>
  %r = tensor.reshape %a(%shape) : (tensor<2x12xi32>, tensor<2xindex>) -> tensor<8x3xi32>
  return %r : tensor<8x3xi32>
}

// 4x6 and 3x8 have no boundary in common.
func.func @reshape_none(%a: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> (tensor<3x8xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>}) {
  %shape = arith.constant dense<[3, 8]> : tensor<2xindex>
  %r = tensor.reshape %a(%shape) : (tensor<4x6xi32>, tensor<2xindex>) -> tensor<3x8xi32>
  return %r : tensor<3x8xi32>
}

func.func @bitcast(%a: tensor<6x12xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>, spmd.range = [0, 1000]}) -> tensor<6x12xi32> {
  %0 = arith.sitofp %a : tensor<6x12xi32> to tensor<6x12xf32>
  %r = arith.bitcast %0 : tensor<6x12xf32> to tensor<6x12xi32>
  return %r : tensor<6x12xi32>
}
