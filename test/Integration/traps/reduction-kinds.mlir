// Every kind of reduction over a cut dim, from an init that is no neutral
// element: over all of the mesh, over one axis, and from a captured value.
// RUN: shard-run %s --random-inputs=1 --verify=exact

spmd.mesh @m = <["x"=2, "y"=3]>

func.func @sum(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-50, 50]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-50, 50]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.addi } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @prod(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [1, 4]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [1, 4]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.muli } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.muli } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @and(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-8, 8]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-8, 8]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.andi } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.andi } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @or(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [0, 8]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [0, 8]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.ori } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.ori } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @xor(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, 100]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, 100]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.xori } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.xori } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @max(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, -10]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, -10]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.maxsi } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.maxsi } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @min(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [10, 100]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [10, 100]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.minsi } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.minsi } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @umax(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, 100]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, 100]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.maxui } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.maxui } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @umin(%a: tensor<4x12xi32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, 100]},
    %b: tensor<12x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, 100]},
    %init: tensor<4xi32> {spmd.range = [1, 6]})
    -> (tensor<4xi32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi32>) {
  %r = linalg.reduce { arith.minui } ins(%a : tensor<4x12xi32>) outs(%init : tensor<4xi32>) dimensions = [1]
  %s = linalg.reduce { arith.minui } ins(%b : tensor<12x4xi32>) outs(%r : tensor<4xi32>) dimensions = [0]
  return %r, %s : tensor<4xi32>, tensor<4xi32>
}

func.func @fmax(%a: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf32>)
    -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf32>) {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<4x12xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %s = linalg.reduce { arith.maximumf } ins(%b : tensor<12x4xf32>) outs(%r : tensor<4xf32>) dimensions = [0]
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

func.func @fmin(%a: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf32>)
    -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf32>) {
  %r = linalg.reduce { arith.minimumf } ins(%a : tensor<4x12xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %s = linalg.reduce { arith.minimumf } ins(%b : tensor<12x4xf32>) outs(%r : tensor<4xf32>) dimensions = [0]
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

func.func @maxnum(%a: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf32>)
    -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf32>) {
  %r = linalg.reduce { arith.maxnumf } ins(%a : tensor<4x12xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %s = linalg.reduce { arith.maxnumf } ins(%b : tensor<12x4xf32>) outs(%r : tensor<4xf32>) dimensions = [0]
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

func.func @minnum(%a: tensor<4x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf32>)
    -> (tensor<4xf32> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf32>) {
  %r = linalg.reduce { arith.minnumf } ins(%a : tensor<4x12xf32>) outs(%init : tensor<4xf32>) dimensions = [1]
  %s = linalg.reduce { arith.minnumf } ins(%b : tensor<12x4xf32>) outs(%r : tensor<4xf32>) dimensions = [0]
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

func.func @fmax_f16(%a: tensor<4x12xf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf16>)
    -> (tensor<4xf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf16>) {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<4x12xf16>) outs(%init : tensor<4xf16>) dimensions = [1]
  %s = linalg.reduce { arith.maximumf } ins(%b : tensor<12x4xf16>) outs(%r : tensor<4xf16>) dimensions = [0]
  return %r, %s : tensor<4xf16>, tensor<4xf16>
}

func.func @fmin_bf16(%a: tensor<4x12xbf16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xbf16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xbf16>)
    -> (tensor<4xbf16> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xbf16>) {
  %r = linalg.reduce { arith.minimumf } ins(%a : tensor<4x12xbf16>) outs(%init : tensor<4xbf16>) dimensions = [1]
  %s = linalg.reduce { arith.minimumf } ins(%b : tensor<12x4xbf16>) outs(%r : tensor<4xbf16>) dimensions = [0]
  return %r, %s : tensor<4xbf16>, tensor<4xbf16>
}

func.func @fmax_f64(%a: tensor<4x12xf64> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xf64> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xf64>)
    -> (tensor<4xf64> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xf64>) {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<4x12xf64>) outs(%init : tensor<4xf64>) dimensions = [1]
  %s = linalg.reduce { arith.maximumf } ins(%b : tensor<12x4xf64>) outs(%r : tensor<4xf64>) dimensions = [0]
  return %r, %s : tensor<4xf64>, tensor<4xf64>
}

func.func @and_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.andi } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.andi } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @or_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.ori } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.ori } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @xor_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.xori } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.xori } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @maxsi_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.maxsi } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.maxsi } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @minsi_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.minsi } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.minsi } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @maxui_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.maxui } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.maxui } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @addi_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.addi } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.addi } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @muli_i1(%a: tensor<4x12xi1> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>},
    %b: tensor<12x4xi1> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
    %init: tensor<4xi1>)
    -> (tensor<4xi1> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi1>) {
  %r = linalg.reduce { arith.muli } ins(%a : tensor<4x12xi1>) outs(%init : tensor<4xi1>) dimensions = [1]
  %s = linalg.reduce { arith.muli } ins(%b : tensor<12x4xi1>) outs(%r : tensor<4xi1>) dimensions = [0]
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}

func.func @max_i8(%a: tensor<4x12xi8> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, 100]},
    %b: tensor<12x4xi8> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, 100]},
    %init: tensor<4xi8> {spmd.range = [1, 6]})
    -> (tensor<4xi8> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi8>) {
  %r = linalg.reduce { arith.maxsi } ins(%a : tensor<4x12xi8>) outs(%init : tensor<4xi8>) dimensions = [1]
  %s = linalg.reduce { arith.maxsi } ins(%b : tensor<12x4xi8>) outs(%r : tensor<4xi8>) dimensions = [0]
  return %r, %s : tensor<4xi8>, tensor<4xi8>
}

func.func @umin_i64(%a: tensor<4x12xi64> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [-100, 100]},
    %b: tensor<12x4xi64> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-100, 100]},
    %init: tensor<4xi64> {spmd.range = [1, 6]})
    -> (tensor<4xi64> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi64>) {
  %r = linalg.reduce { arith.minui } ins(%a : tensor<4x12xi64>) outs(%init : tensor<4xi64>) dimensions = [1]
  %s = linalg.reduce { arith.minui } ins(%b : tensor<12x4xi64>) outs(%r : tensor<4xi64>) dimensions = [0]
  return %r, %s : tensor<4xi64>, tensor<4xi64>
}

func.func @prod_i16(%a: tensor<4x12xi16> {spmd.sharding = #spmd.sharding<@m, [{}, {"y", "x"}]>, spmd.range = [1, 6]},
    %b: tensor<12x4xi16> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [1, 6]},
    %init: tensor<4xi16> {spmd.range = [1, 6]})
    -> (tensor<4xi16> {spmd.sharding = #spmd.sharding<@m, [{"x"}]>}, tensor<4xi16>) {
  %r = linalg.reduce { arith.muli } ins(%a : tensor<4x12xi16>) outs(%init : tensor<4xi16>) dimensions = [1]
  %s = linalg.reduce { arith.muli } ins(%b : tensor<12x4xi16>) outs(%r : tensor<4xi16>) dimensions = [0]
  return %r, %s : tensor<4xi16>, tensor<4xi16>
}
