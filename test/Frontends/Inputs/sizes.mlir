// Two layers of a batch that only the run knows.
spmd.mesh @m = <["x"=2, "y"=2]>
func.func @main(%x: tensor<?x16xf32> {spmd.name = "x", spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w1: tensor<16x32xf32> {spmd.weight = "w1", spmd.sharding = #spmd.sharding<@m, [{}, {"y"}]>},
                %w2: tensor<32x12xf32> {spmd.weight = "w2"}) -> (tensor<?x12xf32> {spmd.name = "y"}) attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e1 = tensor.empty(%b) : tensor<?x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<?x16xf32>, tensor<16x32xf32>) outs(%z1 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %g = math.tanh %h : tensor<?x32xf32>
  %e2 = tensor.empty(%b) : tensor<?x12xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x12xf32>) -> tensor<?x12xf32>
  %y = linalg.matmul ins(%g, %w2 : tensor<?x32xf32>, tensor<32x12xf32>) outs(%z2 : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// Without collectives: on a device a graph for each size.
func.func @alone(%x: tensor<?x16xf32> {spmd.name = "x", spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>}) -> tensor<?x16xf32> attributes {spmd.bounds = {b = [0, 64]}} {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%b) : tensor<?x16xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %s : tensor<?x16xf32>
}
