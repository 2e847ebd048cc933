// Parts along a dim in the middle, beside dims that are cut evenly, unevenly, or not: random stored
// tensors are cut as the loader would, the reference takes them whole.
// REQUIRES: shard-compile, shard-run
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1 | FileCheck %s
// RUN: shard-run %s --random-inputs=1 --verify=exact --compile-option=--opt-level=1 --compile-option=--merge-contractions=false | FileCheck %s
// CHECK: verify: 5 functions, 13 results, all equal bit by bit

#xm = affine_map<(s, a, n, b) -> (s, a, b)>
#wm = affine_map<(s, a, n, b) -> (a, n, b)>
#ym = affine_map<(s, a, n, b) -> (s, n)>
spmd.mesh @m = <["x"=2, "y"=2, "z"=2]>
func.func @middle(%x: tensor<3x4x6xi32> {spmd.range = [-9, 9]}, %w: tensor<4x48x6xi32> {spmd.weight = "w", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 24, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"y"}, {"z"}, {"x"}]>})
    -> (tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>) {
  %zero = arith.constant dense<0> : tensor<3x48xi32>
  %p = linalg.contract indexing_maps = [#xm, #wm, #ym] ins(%x, %w : tensor<3x4x6xi32>, tensor<4x48x6xi32>) outs(%zero : tensor<3x48xi32>) -> tensor<3x48xi32>
  %0 = tensor.extract_slice %p[0, 0] [3, 16] [1, 1] : tensor<3x48xi32> to tensor<3x16xi32>
  %1 = tensor.extract_slice %p[0, 16] [3, 24] [1, 1] : tensor<3x48xi32> to tensor<3x24xi32>
  %2 = tensor.extract_slice %p[0, 40] [3, 8] [1, 1] : tensor<3x48xi32> to tensor<3x8xi32>
  return %0, %1, %2 : tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>
}
func.func @uneven(%x: tensor<3x5x6xi32> {spmd.range = [-9, 9]}, %w: tensor<5x48x6xi32> {spmd.weight = "w2", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 24, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"y"}, {"z"}, {"x"}]>})
    -> (tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>) {
  %zero = arith.constant dense<0> : tensor<3x48xi32>
  %p = linalg.contract indexing_maps = [#xm, #wm, #ym] ins(%x, %w : tensor<3x5x6xi32>, tensor<5x48x6xi32>) outs(%zero : tensor<3x48xi32>) -> tensor<3x48xi32>
  %0 = tensor.extract_slice %p[0, 0] [3, 16] [1, 1] : tensor<3x48xi32> to tensor<3x16xi32>
  %1 = tensor.extract_slice %p[0, 16] [3, 24] [1, 1] : tensor<3x48xi32> to tensor<3x24xi32>
  %2 = tensor.extract_slice %p[0, 40] [3, 8] [1, 1] : tensor<3x48xi32> to tensor<3x8xi32>
  return %0, %1, %2 : tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>
}
func.func @uneven_minor(%x: tensor<3x4x5xi32> {spmd.range = [-9, 9]}, %w: tensor<4x48x5xi32> {spmd.weight = "w3", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 24, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{}, {}, {"x"}]>})
    -> (tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>) {
  %zero = arith.constant dense<0> : tensor<3x48xi32>
  %p = linalg.contract indexing_maps = [#xm, #wm, #ym] ins(%x, %w : tensor<3x4x5xi32>, tensor<4x48x5xi32>) outs(%zero : tensor<3x48xi32>) -> tensor<3x48xi32>
  %0 = tensor.extract_slice %p[0, 0] [3, 16] [1, 1] : tensor<3x48xi32> to tensor<3x16xi32>
  %1 = tensor.extract_slice %p[0, 16] [3, 24] [1, 1] : tensor<3x48xi32> to tensor<3x24xi32>
  %2 = tensor.extract_slice %p[0, 40] [3, 8] [1, 1] : tensor<3x48xi32> to tensor<3x8xi32>
  return %0, %1, %2 : tensor<3x16xi32>, tensor<3x24xi32>, tensor<3x8xi32>
}
func.func @joined(%x: tensor<3x4x6xi32> {spmd.range = [-9, 9]}, %w: tensor<4x24x6xi32> {spmd.weight = "w4", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 8], unit = 4>, spmd.sharding = #spmd.sharding<@m, [{"x", "y"}, {"z"}, {}]>})
    -> (tensor<3x16xi32>, tensor<3x8xi32>) {
  %zero = arith.constant dense<0> : tensor<3x24xi32>
  %p = linalg.contract indexing_maps = [#xm, #wm, #ym] ins(%x, %w : tensor<3x4x6xi32>, tensor<4x24x6xi32>) outs(%zero : tensor<3x24xi32>) -> tensor<3x24xi32>
  %0 = tensor.extract_slice %p[0, 0] [3, 16] [1, 1] : tensor<3x24xi32> to tensor<3x16xi32>
  %2 = tensor.extract_slice %p[0, 16] [3, 8] [1, 1] : tensor<3x24xi32> to tensor<3x8xi32>
  return %0, %2 : tensor<3x16xi32>, tensor<3x8xi32>
}
func.func @one_axis(%x: tensor<3x4x6xi32> {spmd.range = [-9, 9]}, %w: tensor<4x24x6xi32> {spmd.weight = "w5", spmd.range = [-9, 9], spmd.segments = #spmd.segments<1, [16, 8], unit = 8>, spmd.sharding = #spmd.sharding<@m, [{"x"}, {}, {}]>})
    -> (tensor<3x16xi32>, tensor<3x8xi32>) {
  %zero = arith.constant dense<0> : tensor<3x24xi32>
  %p = linalg.contract indexing_maps = [#xm, #wm, #ym] ins(%x, %w : tensor<3x4x6xi32>, tensor<4x24x6xi32>) outs(%zero : tensor<3x24xi32>) -> tensor<3x24xi32>
  %0 = tensor.extract_slice %p[0, 0] [3, 16] [1, 1] : tensor<3x24xi32> to tensor<3x16xi32>
  %2 = tensor.extract_slice %p[0, 16] [3, 8] [1, 1] : tensor<3x24xi32> to tensor<3x8xi32>
  return %0, %2 : tensor<3x16xi32>, tensor<3x8xi32>
}
