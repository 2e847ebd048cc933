// Powers whose exponent of base 2 exceeds an integer, of bases of both signs, and hyperbolic functions of NaN, in f64: the
// device library of GPUs does not leave these to libclc. The numbers depend on an argument, which is 0, and the last
// shard is padded.
// RUN: shard-run %s --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 1 function, 3 results, all equal

spmd.mesh @m = <["x"=3]>
func.func @powers(%zero: tensor<20xi64> {spmd.range = [0, 1], spmd.sharding = #spmd.sharding<@m, [{"x"}]>}) -> (tensor<20xf64>, tensor<20xf64>, tensor<20xf64>) {
  %bases = arith.constant dense<[0x188C83E7AD4E6EFE, 0x988C83E7AD4E6EFE, 0xE771F48EAF234AD4, 0xC008000000000000, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0xC00C000000000000, 0x4202A05F20000000, 0xC01C000000000000, 0xC01C000000000000, 0xBFF0000000000000, 0xBFF0000000000000, 0x0000000000000000, 0x8000000000000000, 0x8000000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x3FF0000000000000, 0xC000000000000000]> : tensor<20xf64>
  %exponents = arith.constant dense<[0x4202A05F20000000, 0x412E848200000000, 0x412E848200000000, 0x4008000000000000, 0x4340000000000000, 0x7E37E43C8800759C, 0x412E848000000000, 0xC0F86A0000000000, 0x4150000040000000, 0x4150000020000000, 0x7E37E43C8800759C, 0x433FFFFFFFFFFFFF, 0xC202A05F20000000, 0xC12E848200000000, 0x412E848200000000, 0xC202A05F20000000, 0x4150000040000000, 0x0000000000000000, 0x7FF8000000000000, 0xFE37E43C8800759C]> : tensor<20xf64>
  %b = tensor.bitcast %bases : tensor<20xf64> to tensor<20xi64>
  %e = tensor.bitcast %exponents : tensor<20xf64> to tensor<20xi64>
  %bz = arith.addi %b, %zero : tensor<20xi64>
  %ez = arith.addi %e, %zero : tensor<20xi64>
  %x = tensor.bitcast %bz : tensor<20xi64> to tensor<20xf64>
  %y = tensor.bitcast %ez : tensor<20xi64> to tensor<20xf64>
  %p = math.powf %x, %y : tensor<20xf64>
  %c = math.cosh %y : tensor<20xf64>
  %s = math.sinh %y : tensor<20xf64>
  return %p, %c, %s : tensor<20xf64>, tensor<20xf64>, tensor<20xf64>
}
