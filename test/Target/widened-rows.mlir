// Weights of few bits whose inputs follow each other in memory: the runtime decodes them in registers. How a number is
// stored is found from what the program computes for each byte.
// REQUIRES: shard-compile, shard-run
// RUN: shard-compile %s --emit=tensor -o - | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s --check-prefix=VERIFY
// VERIFY: verify: 7 functions, 7 results, all equal

spmd.mesh @m = <["x"=2]>

// Two numbers of four bits in a byte, the first one in the high half: a table of the sixteen.
// CHECK-LABEL: func.func @program_0
// CHECK: spmd_rt.contract_widened "table" {{.*}} roles ["scale"]({{.*}} overwrite table [-2.000000e+00, -1.000000e+00, 0.000000e+00, 1.000000e+00, {{.*}}] shifts [4, 0, 0, -4, 0, 0]
func.func @halves(%x: tensor<1x256xf32> {spmd.name = "x_halves"},
                %w: tensor<64x4x32xi8> {spmd.weight = "w_halves", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}]>},
                %s: tensor<64x4xf32> {spmd.weight = "s_halves"}) -> (tensor<1x64xf32> {spmd.name = "y_halves"}) {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant 15 : i32
  %two = arith.constant 2 : i32
  %c_shift = arith.constant dense<[4, 0]> : tensor<2xi32>
  %e = tensor.empty() : tensor<64x4x2x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, g, h, i) -> (n, g, i)>, affine_map<(n, g, h, i) -> (h)>, affine_map<(n, g, h, i) -> (n, g)>, affine_map<(n, g, h, i) -> (n, g, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %c_shift, %s : tensor<64x4x32xi8>, tensor<2xi32>, tensor<64x4xf32>) outs(%e : tensor<64x4x2x32xf32>) {
  ^bb0(%a0: i8, %a1: i32, %a2: f32, %out: f32):
    %b = arith.extui %a0 : i8 to i32
    %moved = arith.shrui %b, %a1 : i32
    %q = arith.andi %moved, %mask : i32
    %c = arith.subi %q, %two : i32
    %f = arith.sitofp %c : i32 to f32
    %wf = arith.mulf %f, %a2 : f32
    linalg.yield %wf : f32
  } -> tensor<64x4x2x32xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2, 3]] : tensor<64x4x2x32xf32> into tensor<64x256xf32>
  %empty = tensor.empty() : tensor<1x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<1x256xf32>, tensor<64x256xf32>) outs(%start : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// With a minimum of each group, by three rows.
// CHECK-LABEL: func.func @program_1
// CHECK: spmd_rt.contract_widened "table" {{.*}} roles ["scale", "offset"]
func.func @minima(%x: tensor<3x160xf32> {spmd.name = "x_minima"},
                %w: tensor<64x2x40xi8> {spmd.weight = "w_minima", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}]>},
                %s: tensor<64x2x2xf32> {spmd.weight = "s_minima"},
                %o: tensor<64x2x2xf32> {spmd.weight = "o_minima"}) -> (tensor<3x64xf32> {spmd.name = "y_minima"}) {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant 15 : i32
  %c_shift = arith.constant dense<[0, 4]> : tensor<2xi32>
  %e = tensor.empty() : tensor<64x2x2x40xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, g, h, i) -> (n, g, i)>, affine_map<(n, g, h, i) -> (h)>, affine_map<(n, g, h, i) -> (n, g, h)>, affine_map<(n, g, h, i) -> (n, g, h)>, affine_map<(n, g, h, i) -> (n, g, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %c_shift, %s, %o : tensor<64x2x40xi8>, tensor<2xi32>, tensor<64x2x2xf32>, tensor<64x2x2xf32>) outs(%e : tensor<64x2x2x40xf32>) {
  ^bb0(%a0: i8, %a1: i32, %a2: f32, %a3: f32, %out: f32):
    %b = arith.extui %a0 : i8 to i32
    %moved = arith.shrui %b, %a1 : i32
    %q = arith.andi %moved, %mask : i32
    %f = arith.sitofp %q : i32 to f32
    %p = arith.mulf %a2, %f : f32
    %wf = arith.subf %p, %a3 : f32
    linalg.yield %wf : f32
  } -> tensor<64x2x2x40xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2, 3]] : tensor<64x2x2x40xf32> into tensor<64x160xf32>
  %empty = tensor.empty() : tensor<3x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x64xf32>) -> tensor<3x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<3x160xf32>, tensor<64x160xf32>) outs(%start : tensor<3x64xf32>) -> tensor<3x64xf32>
  return %y : tensor<3x64xf32>
}

// Signed bytes, of which only the sign is written out.
// CHECK-LABEL: func.func @program_2
// CHECK: spmd_rt.contract_widened "i8" {{.*}} roles ["scale"]
func.func @bytes(%x: tensor<1x192xf32> {spmd.name = "x_bytes"},
                %w: tensor<64x4x48xi8> {spmd.weight = "w_bytes", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}]>},
                %s: tensor<64x4xf32> {spmd.weight = "s_bytes"}) -> (tensor<1x64xf32> {spmd.name = "y_bytes"}) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 128 : i32
  %all = arith.constant 256 : i32
  %e = tensor.empty() : tensor<64x4x48xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<64x4x48xi8>, tensor<64x4xf32>) outs(%e : tensor<64x4x48xf32>) {
  ^bb0(%a0: i8, %a1: f32, %out: f32):
    %b = arith.extui %a0 : i8 to i32
    %is = arith.cmpi sge, %b, %half : i32
    %less = arith.subi %b, %all : i32
    %q = arith.select %is, %less, %b : i32
    %f = arith.sitofp %q : i32 to f32
    %wf = arith.mulf %f, %a1 : f32
    linalg.yield %wf : f32
  } -> tensor<64x4x48xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<64x4x48xf32> into tensor<64x192xf32>
  %empty = tensor.empty() : tensor<1x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<1x192xf32>, tensor<64x192xf32>) outs(%start : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// Floats of eight bits with one scale for all, by four rows.
// CHECK-LABEL: func.func @program_3
// CHECK: spmd_rt.contract_widened "e4m3" {{.*}} roles ["scale"]
func.func @floats(%x: tensor<4x200xf32> {spmd.name = "x_floats"},
                %w: tensor<64x200xi8> {spmd.weight = "w_floats", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}]>},
                %s: tensor<f32> {spmd.weight = "s_floats"}) -> (tensor<4x64xf32> {spmd.name = "y_floats"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x200xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, i) -> (n, i)>, affine_map<(n, i) -> ()>, affine_map<(n, i) -> (n, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<64x200xi8>, tensor<f32>) outs(%e : tensor<64x200xf32>) {
  ^bb0(%a0: i8, %a1: f32, %out: f32):
    %b = arith.bitcast %a0 : i8 to f8E4M3FN
    %f = arith.extf %b : f8E4M3FN to f32
    %wf = arith.mulf %f, %a1 : f32
    linalg.yield %wf : f32
  } -> tensor<64x200xf32>
  %flat = tensor.collapse_shape %wide [[0], [1]] : tensor<64x200xf32> into tensor<64x200xf32>
  %empty = tensor.empty() : tensor<4x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x64xf32>) -> tensor<4x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<4x200xf32>, tensor<64x200xf32>) outs(%start : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// Six bits in two bytes.
// CHECK-LABEL: func.func @program_4
// CHECK: spmd_rt.contract_widened "i6" {{.*}} roles ["high", "scale"]{{.*}} shifts [0, 0, 0, 4, 0, 0] high_shifts [0, 0, 0, 2, 0, 0]
func.func @six(%x: tensor<1x256xf32> {spmd.name = "x_six"},
                %w: tensor<64x8x16xi8> {spmd.weight = "w_six", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}]>},
                %v: tensor<64x8x16xi8> {spmd.weight = "v_six"},
                %s: tensor<64x8x2xf32> {spmd.weight = "s_six"}) -> (tensor<1x64xf32> {spmd.name = "y_six"}) {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant 15 : i32
  %four = arith.constant 4 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %half = arith.constant 32 : i32
  %e = tensor.empty() : tensor<64x8x2x16xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, g, h, i) -> (n, g, i)>, affine_map<(n, g, h, i) -> (n, g, i)>, affine_map<(n, g, h, i) -> (n, g, h)>, affine_map<(n, g, h, i) -> (n, g, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %v, %s : tensor<64x8x16xi8>, tensor<64x8x16xi8>, tensor<64x8x2xf32>) outs(%e : tensor<64x8x2x16xf32>) {
  ^bb0(%a0: i8, %a1: i8, %a2: f32, %out: f32):
    %h = linalg.index 2 : index
    %hi = arith.index_cast %h : index to i32
    %by = arith.muli %hi, %four : i32
    %by2 = arith.muli %hi, %two : i32
    %b = arith.extui %a0 : i8 to i32
    %moved = arith.shrui %b, %by : i32
    %low = arith.andi %moved, %mask : i32
    %d = arith.extui %a1 : i8 to i32
    %moved2 = arith.shrui %d, %by2 : i32
    %high = arith.andi %moved2, %three : i32
    %above = arith.shli %high, %four : i32
    %q = arith.ori %low, %above : i32
    %c = arith.subi %q, %half : i32
    %f = arith.sitofp %c : i32 to f32
    %wf = arith.mulf %f, %a2 : f32
    linalg.yield %wf : f32
  } -> tensor<64x8x2x16xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2, 3]] : tensor<64x8x2x16xf32> into tensor<64x256xf32>
  %empty = tensor.empty() : tensor<1x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<1x256xf32>, tensor<64x256xf32>) outs(%start : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// Five bits are no format of the runtime.
// CHECK-LABEL: func.func @program_5
// CHECK-NOT: contract_widened
func.func @five(%x: tensor<1x192xf32> {spmd.name = "x_five"},
                %w: tensor<64x4x48xi8> {spmd.weight = "w_five", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}]>},
                %s: tensor<64x4xf32> {spmd.weight = "s_five"}) -> (tensor<1x64xf32> {spmd.name = "y_five"}) {
  %zero = arith.constant 0.0 : f32
  %mask = arith.constant 31 : i32
  %e = tensor.empty() : tensor<64x4x48xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<64x4x48xi8>, tensor<64x4xf32>) outs(%e : tensor<64x4x48xf32>) {
  ^bb0(%a0: i8, %a1: f32, %out: f32):
    %b = arith.extui %a0 : i8 to i32
    %q = arith.andi %b, %mask : i32
    %f = arith.sitofp %q : i32 to f32
    %wf = arith.mulf %f, %a1 : f32
    linalg.yield %wf : f32
  } -> tensor<64x4x48xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<64x4x48xf32> into tensor<64x192xf32>
  %empty = tensor.empty() : tensor<1x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64xf32>) -> tensor<1x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<1x192xf32>, tensor<64x192xf32>) outs(%start : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// Scales and minima that are products with six bits of the bytes of a block: the runtime reads these too.
// CHECK-LABEL: func.func @program_6
// CHECK: spmd_rt.contract_widened "table" {{.*}} roles ["scale", "offset", "inner"]({{.*}} : tensor<32x2xf32>, tensor<32x2xf32>, tensor<32x2x3x2x2xi8>) {{.*}} inner_cases [0, 0, 1, 0, 0, 0, 0] inner_scale [0, 0, 63, 0, 0, 0, 0, 2, 0, 15, 0, 2, 48, 0] inner_offset [1, 0, 63, 0, 0, 0, 0, 1, 2, 48, 2, 4, 15, 0]
func.func @inner(%x: tensor<2x512xf32> {spmd.name = "x_inner"},
                %w: tensor<64x2x2x2x32xi8> {spmd.weight = "w_inner", spmd.sharding = #spmd.sharding<@m, [{"x"}, {?}, {?}, {?}, {?}]>},
                %t: tensor<64x2x3x2x2xi8> {spmd.weight = "t_inner"},
                %s: tensor<64x2xf32> {spmd.weight = "s_inner"},
                %o: tensor<64x2xf32> {spmd.weight = "o_inner"}) -> (tensor<2x64xf32> {spmd.name = "y_inner"}) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %mask = arith.constant 15 : i32
  %m_first = arith.constant dense<[63, 0]> : tensor<2xi32>
  %m_upper = arith.constant dense<[0, 48]> : tensor<2xi32>
  %m_last = arith.constant dense<[0, 15]> : tensor<2xi32>
  %c_shift = arith.constant dense<[0, 4]> : tensor<2xi32>
  %low = tensor.extract_slice %t[0, 0, 0, 0, 0] [64, 2, 1, 2, 2] [1, 1, 1, 1, 1] : tensor<64x2x3x2x2xi8> to tensor<64x2x2x2xi8>
  %middle = tensor.extract_slice %t[0, 0, 1, 0, 0] [64, 2, 1, 2, 2] [1, 1, 1, 1, 1] : tensor<64x2x3x2x2xi8> to tensor<64x2x2x2xi8>
  %last = tensor.extract_slice %t[0, 0, 2, 0, 0] [64, 2, 1, 2, 2] [1, 1, 1, 1, 1] : tensor<64x2x3x2x2xi8> to tensor<64x2x2x2xi8>
  %e_scales = tensor.empty() : tensor<64x2x2x2x2xf32>
  %scales = linalg.generic {indexing_maps = [affine_map<(n, b, u, g, h) -> (n, b)>, affine_map<(n, b, u, g, h) -> (n, b, g, h)>, affine_map<(n, b, u, g, h) -> (n, b, g, h)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (n, b, u, g, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %low, %last, %m_first, %m_upper, %m_last : tensor<64x2xf32>, tensor<64x2x2x2xi8>, tensor<64x2x2x2xi8>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) outs(%e_scales : tensor<64x2x2x2x2xf32>) {
  ^bb0(%a0: f32, %a1: i8, %a2: i8, %a3: i32, %a4: i32, %a5: i32, %out: f32):
    %b1 = arith.extui %a1 : i8 to i32
    %b2 = arith.extui %a2 : i8 to i32
    %p0 = arith.andi %b1, %a3 : i32
    %moved = arith.shrui %b1, %two : i32
    %p1 = arith.andi %moved, %a4 : i32
    %moved2 = arith.shrui %b2, %none : i32
    %p2 = arith.andi %moved2, %a5 : i32
    %o1 = arith.ori %p0, %p1 : i32
    %o2 = arith.ori %o1, %p2 : i32
    %f = arith.sitofp %o2 : i32 to f32
    %r = arith.mulf %a0, %f : f32
    linalg.yield %r : f32
  } -> tensor<64x2x2x2x2xf32>
  %minima = linalg.generic {indexing_maps = [affine_map<(n, b, u, g, h) -> (n, b)>, affine_map<(n, b, u, g, h) -> (n, b, g, h)>, affine_map<(n, b, u, g, h) -> (n, b, g, h)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (u)>, affine_map<(n, b, u, g, h) -> (n, b, u, g, h)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%o, %middle, %last, %m_first, %m_upper, %m_last : tensor<64x2xf32>, tensor<64x2x2x2xi8>, tensor<64x2x2x2xi8>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) outs(%e_scales : tensor<64x2x2x2x2xf32>) {
  ^bb0(%a0: f32, %a1: i8, %a2: i8, %a3: i32, %a4: i32, %a5: i32, %out: f32):
    %b1 = arith.extui %a1 : i8 to i32
    %b2 = arith.extui %a2 : i8 to i32
    %p0 = arith.andi %b1, %a3 : i32
    %moved = arith.shrui %b1, %two : i32
    %p1 = arith.andi %moved, %a4 : i32
    %moved2 = arith.shrui %b2, %four : i32
    %p2 = arith.andi %moved2, %a5 : i32
    %o1 = arith.ori %p0, %p1 : i32
    %o2 = arith.ori %o1, %p2 : i32
    %f = arith.sitofp %o2 : i32 to f32
    %r = arith.mulf %a0, %f : f32
    linalg.yield %r : f32
  } -> tensor<64x2x2x2x2xf32>
  %e = tensor.empty() : tensor<64x2x2x2x2x32xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(n, b, u, g, h, i) -> (n, b, u, g, i)>, affine_map<(n, b, u, g, h, i) -> (h)>, affine_map<(n, b, u, g, h, i) -> (n, b, u, g, h)>, affine_map<(n, b, u, g, h, i) -> (n, b, u, g, h)>, affine_map<(n, b, u, g, h, i) -> (n, b, u, g, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %c_shift, %scales, %minima : tensor<64x2x2x2x32xi8>, tensor<2xi32>, tensor<64x2x2x2x2xf32>, tensor<64x2x2x2x2xf32>) outs(%e : tensor<64x2x2x2x2x32xf32>) {
  ^bb0(%a0: i8, %a1: i32, %a2: f32, %a3: f32, %out: f32):
    %b = arith.extui %a0 : i8 to i32
    %moved = arith.shrui %b, %a1 : i32
    %q = arith.andi %moved, %mask : i32
    %f = arith.sitofp %q : i32 to f32
    %p = arith.mulf %a2, %f : f32
    %wf = arith.subf %p, %a3 : f32
    linalg.yield %wf : f32
  } -> tensor<64x2x2x2x2x32xf32>
  %flat = tensor.collapse_shape %wide [[0], [1, 2, 3, 4, 5]] : tensor<64x2x2x2x2x32xf32> into tensor<64x512xf32>
  %empty = tensor.empty() : tensor<2x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %flat : tensor<2x512xf32>, tensor<64x512xf32>) outs(%start : tensor<2x64xf32>) -> tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}
