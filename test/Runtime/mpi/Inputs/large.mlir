// Sums that the members of a group share the work of (64 KiB and more), alone and started early, of several types.
spmd.mesh @m = <["a"=2, "b"=2]>
func.func @sums(%x: tensor<96x64xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"a"}]>},
                %w: tensor<64x300xf32> {spmd.sharding = #spmd.sharding<@m, [{"a"}, {}]>},
                %v: tensor<64x300xf32> {spmd.sharding = #spmd.sharding<@m, [{"b"}, {}]>})
    -> (tensor<96x300xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}, tensor<96x300xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {}]>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x300xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x300xf32>) -> tensor<96x300xf32>
  %y = linalg.matmul ins(%x, %w : tensor<96x64xf32>, tensor<64x300xf32>) outs(%f : tensor<96x300xf32>) -> tensor<96x300xf32>
  %s = math.sin %y : tensor<96x300xf32>
  %z = linalg.matmul ins(%x, %v : tensor<96x64xf32>, tensor<64x300xf32>) outs(%f : tensor<96x300xf32>) -> tensor<96x300xf32>
  %t = math.cos %z : tensor<96x300xf32>
  return %s, %t : tensor<96x300xf32>, tensor<96x300xf32>
}
func.func @kinds(%x: tensor<8x40000xf16> {spmd.sharding = #spmd.sharding<@m, [{"a", "b"}, {}]>},
                 %i: tensor<8x70000xi8> {spmd.sharding = #spmd.sharding<@m, [{"b"}, {}]>, spmd.range = [-7, 7]})
    -> (tensor<40000xf16> {spmd.sharding = #spmd.sharding<@m, [{}]>}, tensor<70000xi8> {spmd.sharding = #spmd.sharding<@m, [{}]>}) {
  %zero = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<40000xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<40000xf16>) -> tensor<40000xf16>
  %y = linalg.reduce ins(%x : tensor<8x40000xf16>) outs(%f : tensor<40000xf16>) dimensions = [0] (%p: f16, %q: f16) {
    %0 = arith.maximumf %p, %q : f16
    linalg.yield %0 : f16
  }
  %low = arith.constant -128 : i8
  %ei = tensor.empty() : tensor<70000xi8>
  %fi = linalg.fill ins(%low : i8) outs(%ei : tensor<70000xi8>) -> tensor<70000xi8>
  %z = linalg.reduce ins(%i : tensor<8x70000xi8>) outs(%fi : tensor<70000xi8>) dimensions = [0] (%p: i8, %q: i8) {
    %0 = arith.maxsi %p, %q : i8
    linalg.yield %0 : i8
  }
  return %y, %z : tensor<40000xf16>, tensor<70000xi8>
}
