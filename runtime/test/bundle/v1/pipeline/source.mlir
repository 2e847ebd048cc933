
spmd.mesh @s0 = <["a"=2]>
spmd.mesh @s1 = <["b"=3], device_ids = [4, 2, 3]>
spmd.mesh @s2 = <["c"=1], device_ids = [5]>
#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#nk = affine_map<(d0, d1, d2) -> (d1, d2)>
#km = affine_map<(d0, d1, d2) -> (d2, d0)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @main(%x: tensor<64x6xi32> {spmd.name = "x", spmd.range = [-3, 5], spmd.microbatch = #spmd.microbatch<dim = 0>},
                %w0: tensor<6x10xi32> {spmd.weight = "w0", spmd.range = [-7, 9], spmd.axis_resources = #spmd.axis_resources<[none, "a"]>},
                %w1: tensor<10x6xi32> {spmd.weight = "w1", spmd.range = [-5, 8], spmd.axis_resources = #spmd.axis_resources<["b"]>})
    -> (tensor<6x10xi32> {spmd.name = "g0"}, tensor<10x6xi32> {spmd.name = "g1"}, tensor<64x6xi32> {spmd.name = "e"},
        tensor<64x6xi32> {spmd.name = "ge"}) {
  %zero = arith.constant 0 : i32
  %eh = tensor.empty() : tensor<64x10xi32>
  %zh = linalg.fill ins(%zero : i32) outs(%eh : tensor<64x10xi32>) -> tensor<64x10xi32>
  %h = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w0 : tensor<64x6xi32>, tensor<6x10xi32>) outs(%zh : tensor<64x10xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %v = arith.muli %p, %q : i32
      %r = arith.addi %o, %v : i32
      linalg.yield %r : i32
  } -> tensor<64x10xi32>
  %s = arith.muli %x, %x : tensor<64x6xi32>
  spmd.stage_boundary %h, %s : tensor<64x10xi32>, tensor<64x6xi32>
  %ey = tensor.empty() : tensor<64x6xi32>
  %zy = linalg.fill ins(%zero : i32) outs(%ey : tensor<64x6xi32>) -> tensor<64x6xi32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %w1 : tensor<64x10xi32>, tensor<10x6xi32>) outs(%zy : tensor<64x6xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %v = arith.muli %p, %q : i32
      %r = arith.addi %o, %v : i32
      linalg.yield %r : i32
  } -> tensor<64x6xi32>
  spmd.stage_boundary %y, %s : tensor<64x6xi32>, tensor<64x6xi32>
  %e = arith.subi %y, %s : tensor<64x6xi32>
  %ge = arith.muli %e, %s : tensor<64x6xi32>
  %eg1 = tensor.empty() : tensor<10x6xi32>
  %zg1 = linalg.fill ins(%zero : i32) outs(%eg1 : tensor<10x6xi32>) -> tensor<10x6xi32>
  %g1 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %ge : tensor<64x10xi32>, tensor<64x6xi32>) outs(%zg1 : tensor<10x6xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %v = arith.muli %p, %q : i32
      %r = arith.addi %o, %v : i32
      linalg.yield %r : i32
  } -> tensor<10x6xi32>
  %eback = tensor.empty() : tensor<64x10xi32>
  %zback = linalg.fill ins(%zero : i32) outs(%eback : tensor<64x10xi32>) -> tensor<64x10xi32>
  %back = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ge, %w1 : tensor<64x6xi32>, tensor<10x6xi32>) outs(%zback : tensor<64x10xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %v = arith.muli %p, %q : i32
      %r = arith.addi %o, %v : i32
      linalg.yield %r : i32
  } -> tensor<64x10xi32>
  %gh = arith.muli %back, %h : tensor<64x10xi32>
  %eg0 = tensor.empty() : tensor<6x10xi32>
  %zg0 = linalg.fill ins(%zero : i32) outs(%eg0 : tensor<6x10xi32>) -> tensor<6x10xi32>
  %g0 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %gh : tensor<64x6xi32>, tensor<64x10xi32>) outs(%zg0 : tensor<6x10xi32>) {
    ^bb0(%p: i32, %q: i32, %o: i32):
      %v = arith.muli %p, %q : i32
      %r = arith.addi %o, %v : i32
      linalg.yield %r : i32
  } -> tensor<6x10xi32>
  return %g0, %g1, %e, %ge : tensor<6x10xi32>, tensor<10x6xi32>, tensor<64x6xi32>, tensor<64x6xi32>
}
