// Rounding, at ties, of what is no number and of what has no end; named so, since libm's sine may differ between processors.
func.func @main(%x: tensor<37xf32>, %y: tensor<37xbf16>) -> (tensor<37xbf16>, tensor<37xbf16> {spmd.name = "sine"}, tensor<37xbf16>, tensor<8xbf16>) {
  %0 = arith.truncf %x : tensor<37xf32> to tensor<37xbf16>
  %1 = math.sin %y : tensor<37xbf16>
  %2 = arith.mulf %y, %0 : tensor<37xbf16>
  %3 = arith.maximumf %2, %y : tensor<37xbf16>
  %c = arith.constant dense<[1.00390625, 1.01171875, -1.00390625, 3.40282347E+38, 0x7F800000, 0xFF800000, 0x7FC00001, 1.0E-40]> : tensor<8xf32>
  %zero = arith.constant 0 : index
  %e = tensor.extract %x[%zero] : tensor<37xf32>
  %f = arith.subf %e, %e : f32
  %s = tensor.splat %f : tensor<8xf32>
  %d = arith.addf %c, %s : tensor<8xf32>
  %4 = arith.truncf %d : tensor<8xf32> to tensor<8xbf16>
  return %0, %1, %3, %4 : tensor<37xbf16>, tensor<37xbf16>, tensor<37xbf16>, tensor<8xbf16>
}
