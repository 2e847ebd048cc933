// Collectives and contractions in every element type. Integers wrap, so that
// they are equal whatever the order; floats are compared within their rounding.
// RUN: shard-run %s --random-inputs=1 --verify

spmd.mesh @m = <["x"=2, "y"=2]>

func.func @i8(%a: tensor<4x8xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
    %b: tensor<8x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
    %c: tensor<4x6xi8> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 10]})
    -> (tensor<4x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xi8>, tensor<6x4xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0> : tensor<4x6xi8>
  %zero1 = arith.constant dense<0> : tensor<4xi8>
  %e = tensor.empty() : tensor<6x4xi8>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi8>, tensor<8x6xi8>) outs(%zero : tensor<4x6xi8>) -> tensor<4x6xi8>
  %q = arith.subi %p, %c : tensor<4x6xi8>
  %s = linalg.reduce { arith.addi } ins(%q : tensor<4x6xi8>) outs(%zero1 : tensor<4xi8>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xi8>) outs(%e : tensor<6x4xi8>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xi8>, tensor<4xi8>, tensor<6x4xi8>
}

func.func @i16(%a: tensor<4x8xi16> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
    %b: tensor<8x6xi16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
    %c: tensor<4x6xi16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 10]})
    -> (tensor<4x6xi16> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xi16>, tensor<6x4xi16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0> : tensor<4x6xi16>
  %zero1 = arith.constant dense<0> : tensor<4xi16>
  %e = tensor.empty() : tensor<6x4xi16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi16>, tensor<8x6xi16>) outs(%zero : tensor<4x6xi16>) -> tensor<4x6xi16>
  %q = arith.subi %p, %c : tensor<4x6xi16>
  %s = linalg.reduce { arith.addi } ins(%q : tensor<4x6xi16>) outs(%zero1 : tensor<4xi16>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xi16>) outs(%e : tensor<6x4xi16>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xi16>, tensor<4xi16>, tensor<6x4xi16>
}

func.func @i32(%a: tensor<4x8xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
    %b: tensor<8x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
    %c: tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 10]})
    -> (tensor<4x6xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xi32>, tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0> : tensor<4x6xi32>
  %zero1 = arith.constant dense<0> : tensor<4xi32>
  %e = tensor.empty() : tensor<6x4xi32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi32>, tensor<8x6xi32>) outs(%zero : tensor<4x6xi32>) -> tensor<4x6xi32>
  %q = arith.subi %p, %c : tensor<4x6xi32>
  %s = linalg.reduce { arith.addi } ins(%q : tensor<4x6xi32>) outs(%zero1 : tensor<4xi32>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xi32>) outs(%e : tensor<6x4xi32>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xi32>, tensor<4xi32>, tensor<6x4xi32>
}

func.func @i64(%a: tensor<4x8xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
    %b: tensor<8x6xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]},
    %c: tensor<4x6xi64> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>, spmd.range = [-9, 10]})
    -> (tensor<4x6xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xi64>, tensor<6x4xi64> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0> : tensor<4x6xi64>
  %zero1 = arith.constant dense<0> : tensor<4xi64>
  %e = tensor.empty() : tensor<6x4xi64>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xi64>, tensor<8x6xi64>) outs(%zero : tensor<4x6xi64>) -> tensor<4x6xi64>
  %q = arith.subi %p, %c : tensor<4x6xi64>
  %s = linalg.reduce { arith.addi } ins(%q : tensor<4x6xi64>) outs(%zero1 : tensor<4xi64>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xi64>) outs(%e : tensor<6x4xi64>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xi64>, tensor<4xi64>, tensor<6x4xi64>
}

func.func @f16(%a: tensor<4x8xf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
    %b: tensor<8x6xf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %c: tensor<4x6xf16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<4x6xf16> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xf16>, tensor<6x4xf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x6xf16>
  %zero1 = arith.constant dense<0.0> : tensor<4xf16>
  %e = tensor.empty() : tensor<6x4xf16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%zero : tensor<4x6xf16>) -> tensor<4x6xf16>
  %q = arith.subf %p, %c : tensor<4x6xf16>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x6xf16>) outs(%zero1 : tensor<4xf16>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xf16>) outs(%e : tensor<6x4xf16>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xf16>, tensor<4xf16>, tensor<6x4xf16>
}

func.func @bf16(%a: tensor<4x8xbf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
    %b: tensor<8x6xbf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %c: tensor<4x6xbf16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<4x6xbf16> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xbf16>, tensor<6x4xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x6xbf16>
  %zero1 = arith.constant dense<0.0> : tensor<4xbf16>
  %e = tensor.empty() : tensor<6x4xbf16>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%zero : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %q = arith.subf %p, %c : tensor<4x6xbf16>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x6xbf16>) outs(%zero1 : tensor<4xbf16>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xbf16>) outs(%e : tensor<6x4xbf16>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xbf16>, tensor<4xbf16>, tensor<6x4xbf16>
}

func.func @f32(%a: tensor<4x8xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
    %b: tensor<8x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %c: tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<4x6xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xf32>, tensor<6x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %zero1 = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = arith.subf %p, %c : tensor<4x6xf32>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x6xf32>) outs(%zero1 : tensor<4xf32>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xf32>, tensor<4xf32>, tensor<6x4xf32>
}

func.func @f64(%a: tensor<4x8xf64> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
    %b: tensor<8x6xf64> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %c: tensor<4x6xf64> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<4x6xf64> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xf64>, tensor<6x4xf64> {spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  %zero = arith.constant dense<0.0> : tensor<4x6xf64>
  %zero1 = arith.constant dense<0.0> : tensor<4xf64>
  %e = tensor.empty() : tensor<6x4xf64>
  %p = linalg.matmul ins(%a, %b : tensor<4x8xf64>, tensor<8x6xf64>) outs(%zero : tensor<4x6xf64>) -> tensor<4x6xf64>
  %q = arith.subf %p, %c : tensor<4x6xf64>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x6xf64>) outs(%zero1 : tensor<4xf64>) dimensions = [1]
  %t = linalg.transpose ins(%q : tensor<4x6xf64>) outs(%e : tensor<6x4xf64>) permutation = [1, 0]
  return %q, %s, %t : tensor<4x6xf64>, tensor<4xf64>, tensor<6x4xf64>
}

// Booleans: or of and, xor.
func.func @i1(%a: tensor<4x8xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>},
    %b: tensor<8x6xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
    %c: tensor<4x6xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {}]>})
    -> (tensor<4x6xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<4xi1>) {
  %false = arith.constant dense<false> : tensor<4x6xi1>
  %true1 = arith.constant dense<true> : tensor<4xi1>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xi1>, tensor<8x6xi1>) outs(%false : tensor<4x6xi1>) {
  ^bb0(%x: i1, %y: i1, %acc: i1):
    %0 = arith.andi %x, %y : i1
    %1 = arith.ori %acc, %0 : i1
    linalg.yield %1 : i1
  } -> tensor<4x6xi1>
  %q = arith.xori %p, %c : tensor<4x6xi1>
  %s = linalg.reduce { arith.andi } ins(%q : tensor<4x6xi1>) outs(%true1 : tensor<4xi1>) dimensions = [1]
  return %q, %s : tensor<4x6xi1>, tensor<4xi1>
}

// From one type to another on the way.
func.func @mixed(%a: tensor<4x8xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>, spmd.range = [-9, 10]},
    %b: tensor<8x6xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>, spmd.range = [-9, 10]}) -> (tensor<4x6xi32>, tensor<4x6xi1>) {
  %zero = arith.constant dense<0> : tensor<4x6xi32>
  %three = arith.constant dense<3> : tensor<4x6xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x8xi8>, tensor<8x6xi8>) outs(%zero : tensor<4x6xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xx = arith.extsi %x : i8 to i32
    %yy = arith.extsi %y : i8 to i32
    %0 = arith.muli %xx, %yy : i32
    %1 = arith.addi %acc, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<4x6xi32>
  %c = arith.cmpi sgt, %p, %three : tensor<4x6xi32>
  %s = arith.select %c, %p, %three : tensor<4x6xi1>, tensor<4x6xi32>
  return %s, %c : tensor<4x6xi32>, tensor<4x6xi1>
}

// Gathers of several types that travel together, of uneven dims.
func.func @together(%a: tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@odd, [{"x"}, {}]>},
                    %b: tensor<5x7xi8> {spmd.sharding = #spmd.sharding<@odd, [{}, {"x"}]>},
                    %c: tensor<4x2xf64> {spmd.sharding = #spmd.sharding<@odd, [{"x"}, {}]>},
                    %d: tensor<8xf16> {spmd.sharding = #spmd.sharding<@odd, [{"x"}]>})
    -> (tensor<7x3xf32> {spmd.sharding = #spmd.sharding<@odd, [{}, {}]>}, tensor<5x7xi8> {spmd.sharding = #spmd.sharding<@odd, [{}, {}]>},
        tensor<4x2xf64> {spmd.sharding = #spmd.sharding<@odd, [{}, {}]>}, tensor<8xf16> {spmd.sharding = #spmd.sharding<@odd, [{}]>}) {
  return %a, %b, %c, %d : tensor<7x3xf32>, tensor<5x7xi8>, tensor<4x2xf64>, tensor<8xf16>
}
spmd.mesh @odd = <["x"=3, "y"=2], device_ids=[4, 0, 5, 2, 1, 3]>
