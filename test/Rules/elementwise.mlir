// Every elementwise op of arith and math: sharded like its operands, no data moves.
// RUN: shard-run %s --random-inputs=1 --verify
// RUN: shard-opt %s --spmd-default-pipeline | FileCheck %s --implicit-check-not=spmd.all --implicit-check-not=spmd.reshard

spmd.mesh @m = <["x"=2, "y"=3]>

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-99, 99]}, %b: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [1, 9]}) -> (tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi1>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi1>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>) {
  %0 = arith.addi %a, %b : tensor<6x4xi32>
  %1 = arith.subi %a, %b : tensor<6x4xi32>
  %2 = arith.muli %a, %b : tensor<6x4xi32>
  %3 = arith.andi %a, %b : tensor<6x4xi32>
  %4 = arith.ori %a, %b : tensor<6x4xi32>
  %5 = arith.xori %a, %b : tensor<6x4xi32>
  %6 = arith.maxsi %a, %b : tensor<6x4xi32>
  %7 = arith.maxui %a, %b : tensor<6x4xi32>
  %8 = arith.minsi %a, %b : tensor<6x4xi32>
  %9 = arith.minui %a, %b : tensor<6x4xi32>
  %10 = arith.divsi %a, %b : tensor<6x4xi32>
  %11 = arith.divui %a, %b : tensor<6x4xi32>
  %12 = arith.ceildivsi %a, %b : tensor<6x4xi32>
  %13 = arith.ceildivui %a, %b : tensor<6x4xi32>
  %14 = arith.floordivsi %a, %b : tensor<6x4xi32>
  %15 = arith.remsi %a, %b : tensor<6x4xi32>
  %16 = arith.remui %a, %b : tensor<6x4xi32>
  %17 = arith.shli %a, %b : tensor<6x4xi32>
  %18 = arith.shrsi %a, %b : tensor<6x4xi32>
  %19 = arith.shrui %a, %b : tensor<6x4xi32>
  %c = arith.cmpi slt, %a, %b : tensor<6x4xi32>
  %s = arith.select %c, %b, %a : tensor<6x4xi1>, tensor<6x4xi32>
  %hi:2 = arith.mulsi_extended %a, %b : tensor<6x4xi32>
  %hu:2 = arith.mului_extended %a, %b : tensor<6x4xi32>
  %su, %carry = arith.addui_extended %a, %b : tensor<6x4xi32>, tensor<6x4xi1>
  %l = math.ctlz %a : tensor<6x4xi32>
  %p = math.ctpop %a : tensor<6x4xi32>
  %t = math.cttz %a : tensor<6x4xi32>
  %ab = math.absi %a : tensor<6x4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %c, %s, %hi#1, %hu#1, %su, %carry, %l, %p, %t, %ab : tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi1>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi1>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xi32>
}

// CHECK-LABEL: func.func @floats
func.func @floats(%an: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-12, 12]}, %bn: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [4, 16]}, %i: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-2, 3]}) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %quarter = arith.constant dense<0.25> : tensor<6x4xf32>
  %af = arith.sitofp %an : tensor<6x4xi32> to tensor<6x4xf32>
  %a = arith.mulf %af, %quarter : tensor<6x4xf32>
  %bf = arith.sitofp %bn : tensor<6x4xi32> to tensor<6x4xf32>
  %b = arith.mulf %bf, %quarter : tensor<6x4xf32>
  %0 = arith.addf %a, %b : tensor<6x4xf32>
  %1 = arith.subf %a, %b : tensor<6x4xf32>
  %2 = arith.mulf %a, %b : tensor<6x4xf32>
  %3 = arith.divf %a, %b : tensor<6x4xf32>
  %4 = arith.maximumf %a, %b : tensor<6x4xf32>
  %5 = arith.minimumf %a, %b : tensor<6x4xf32>
  %6 = arith.maxnumf %a, %b : tensor<6x4xf32>
  %7 = arith.minnumf %a, %b : tensor<6x4xf32>
  %8 = arith.remf %a, %b : tensor<6x4xf32>
  %n = arith.negf %a : tensor<6x4xf32>
  %c = arith.cmpf olt, %a, %b : tensor<6x4xf32>
  %at = math.atan2 %a, %b : tensor<6x4xf32>
  %cs = math.copysign %a, %b : tensor<6x4xf32>
  %fm = math.fma %a, %b, %a : tensor<6x4xf32>
  %pw = math.powf %b, %a : tensor<6x4xf32>
  %lo = arith.constant dense<-1.0> : tensor<6x4xf32>
  %fp = math.fpowi %b, %i : tensor<6x4xf32>, tensor<6x4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %n, %c, %at, %cs, %fm, %pw, %fp : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// CHECK-LABEL: func.func @functions
func.func @functions(%an: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-12, 12]}, %bn: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [4, 16]}) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %quarter = arith.constant dense<0.25> : tensor<6x4xf32>
  %af = arith.sitofp %an : tensor<6x4xi32> to tensor<6x4xf32>
  %a = arith.mulf %af, %quarter : tensor<6x4xf32>
  %bf = arith.sitofp %bn : tensor<6x4xi32> to tensor<6x4xf32>
  %b = arith.mulf %bf, %quarter : tensor<6x4xf32>
  %four = arith.constant dense<4.0> : tensor<6x4xf32>
  %absf = math.absf %a : tensor<6x4xf32>
  %atan = math.atan %a : tensor<6x4xf32>
  %cbrt = math.cbrt %a : tensor<6x4xf32>
  %ceil = math.ceil %a : tensor<6x4xf32>
  %cos = math.cos %a : tensor<6x4xf32>
  %cosh = math.cosh %a : tensor<6x4xf32>
  %asinh = math.asinh %a : tensor<6x4xf32>
  %erf = math.erf %a : tensor<6x4xf32>
  %erfc = math.erfc %a : tensor<6x4xf32>
  %exp = math.exp %a : tensor<6x4xf32>
  %exp2 = math.exp2 %a : tensor<6x4xf32>
  %expm1 = math.expm1 %a : tensor<6x4xf32>
  %floor = math.floor %a : tensor<6x4xf32>
  %round = math.round %a : tensor<6x4xf32>
  %roundeven = math.roundeven %a : tensor<6x4xf32>
  %sin = math.sin %a : tensor<6x4xf32>
  %sinh = math.sinh %a : tensor<6x4xf32>
  %tan = math.tan %a : tensor<6x4xf32>
  %tanh = math.tanh %a : tensor<6x4xf32>
  %trunc = math.trunc %a : tensor<6x4xf32>
  %log = math.log %b : tensor<6x4xf32>
  %log10 = math.log10 %b : tensor<6x4xf32>
  %log1p = math.log1p %b : tensor<6x4xf32>
  %log2 = math.log2 %b : tensor<6x4xf32>
  %rsqrt = math.rsqrt %b : tensor<6x4xf32>
  %sqrt = math.sqrt %b : tensor<6x4xf32>
  %acosh = math.acosh %b : tensor<6x4xf32>
  %u = arith.divf %a, %b : tensor<6x4xf32>
  %v = arith.divf %a, %four : tensor<6x4xf32>
  %acos = math.acos %v : tensor<6x4xf32>
  %asin = math.asin %v : tensor<6x4xf32>
  %atanh = math.atanh %v : tensor<6x4xf32>
  %isnan = math.isnan %u : tensor<6x4xf32>
  %si, %co = math.sincos %a : tensor<6x4xf32>
  return %absf, %atan, %cbrt, %ceil, %cos, %cosh, %asinh, %erf, %erfc, %exp, %exp2, %expm1, %floor, %round, %roundeven, %sin, %sinh, %tan, %tanh, %trunc, %log, %log10, %log1p, %log2, %rsqrt, %sqrt, %acosh, %acos, %asin, %atanh, %isnan, %si, %co : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>
}

// CHECK-LABEL: func.func @conversions
func.func @conversions(%fn: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-36, 36]}, %i: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-99, 99]}) -> (tensor<6x4xf64>, tensor<6x4xf16>, tensor<6x4xi64>, tensor<6x4xi64>, tensor<6x4xi8>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi32>, tensor<6x4xi32>) {
  %quarter = arith.constant dense<0.25> : tensor<6x4xf32>
  %ff = arith.sitofp %fn : tensor<6x4xi32> to tensor<6x4xf32>
  %f = arith.mulf %ff, %quarter : tensor<6x4xf32>
  %d = arith.extf %f : tensor<6x4xf32> to tensor<6x4xf64>
  %g = math.absf %f : tensor<6x4xf32>
  %j = math.absi %i : tensor<6x4xi32>
  %0 = arith.extf %f : tensor<6x4xf32> to tensor<6x4xf64>
  %1 = arith.truncf %d : tensor<6x4xf64> to tensor<6x4xf16>
  %2 = arith.extsi %i : tensor<6x4xi32> to tensor<6x4xi64>
  %3 = arith.extui %i : tensor<6x4xi32> to tensor<6x4xi64>
  %4 = arith.trunci %i : tensor<6x4xi32> to tensor<6x4xi8>
  %5 = arith.fptosi %f : tensor<6x4xf32> to tensor<6x4xi32>
  %6 = arith.fptoui %g : tensor<6x4xf32> to tensor<6x4xi32>
  %7 = arith.sitofp %i : tensor<6x4xi32> to tensor<6x4xf32>
  %8 = arith.uitofp %j : tensor<6x4xi32> to tensor<6x4xf32>
  %9 = arith.bitcast %f : tensor<6x4xf32> to tensor<6x4xi32>
  %x = arith.index_cast %i : tensor<6x4xi32> to tensor<6x4xindex>
  %y = arith.muli %x, %x : tensor<6x4xindex>
  %z = arith.index_castui %y : tensor<6x4xindex> to tensor<6x4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %z : tensor<6x4xf64>, tensor<6x4xf16>, tensor<6x4xi64>, tensor<6x4xi64>, tensor<6x4xi8>, tensor<6x4xi32>, tensor<6x4xi32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi32>, tensor<6x4xi32>
}

// The condition is one number for all.
// CHECK-LABEL: func.func @scalar_condition
func.func @scalar_condition(%a: tensor<6x4xi32> {spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>, spmd.range = [-99, 99]}, %b: tensor<6x4xi32> {spmd.range = [-99, 99]}) -> tensor<6x4xi32> {
  %c = arith.constant true
  %r = arith.select %c, %a, %b : tensor<6x4xi32>
  %s = arith.addi %r, %b : tensor<6x4xi32>
  return %s : tensor<6x4xi32>
}
