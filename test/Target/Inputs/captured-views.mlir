// Functions of elements, whose regions read views of the arguments: they are no values that a layer computes again.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
func.func @f49(%arg0: tensor<128xi32> {spmd.range = [-3, 4]}, %arg1: tensor<2x64xi32> {spmd.range = [-3, 4]}) -> tensor<2x2x2x4xi32> {
  %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [1, 128] : tensor<128xi32> into tensor<1x128xi32>
  %0 = tensor.empty() : tensor<2x16xi32>
  %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<2x16xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %c0_6 = arith.constant 0 : index
    %extracted = tensor.extract %expanded[%c0_6, %i] : tensor<1x128xi32>
    linalg.yield %extracted : i32
  } -> tensor<2x16xi32>
  %extracted_slice = tensor.extract_slice %1[0, 0] [2, 16] [1, 1] : tensor<2x16xi32> to tensor<2x16xi32>
  %collapsed = tensor.collapse_shape %arg1 [[0, 1]] : tensor<2x64xi32> into tensor<128xi32>
  %expanded_0 = tensor.expand_shape %collapsed [[0, 1]] output_shape [1, 128] : tensor<128xi32> into tensor<1x128xi32>
  %2 = tensor.empty() : tensor<2x8xi32>
  %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%2 : tensor<2x8xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %c0_6 = arith.constant 0 : index
    %extracted = tensor.extract %expanded_0[%c0_6, %i] : tensor<1x128xi32>
    linalg.yield %extracted : i32
  } -> tensor<2x8xi32>
  %collapsed_1 = tensor.collapse_shape %arg1 [[0, 1]] : tensor<2x64xi32> into tensor<128xi32>
  %expanded_2 = tensor.expand_shape %collapsed_1 [[0, 1]] output_shape [1, 128] : tensor<128xi32> into tensor<1x128xi32>
  %4 = tensor.empty() : tensor<2x8xi32>
  %5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%4 : tensor<2x8xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 1 : index
    %c0_6 = arith.constant 0 : index
    %extracted = tensor.extract %expanded_2[%c0_6, %i] : tensor<1x128xi32>
    linalg.yield %extracted : i32
  } -> tensor<2x8xi32>
  %expanded_3 = tensor.expand_shape %extracted_slice [[0], [1, 2, 3]] output_shape [2, 2, 2, 4] : tensor<2x16xi32> into tensor<2x2x2x4xi32>
  %expanded_4 = tensor.expand_shape %3 [[0], [1, 2]] output_shape [2, 2, 4] : tensor<2x8xi32> into tensor<2x2x4xi32>
  %expanded_5 = tensor.expand_shape %5 [[0], [1, 2]] output_shape [2, 2, 4] : tensor<2x8xi32> into tensor<2x2x4xi32>
  %6 = tensor.empty() : tensor<2x2x2x4xi32>
  %7 = linalg.generic {indexing_maps = [#map1, #map2, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_3, %expanded_4, %expanded_5 : tensor<2x2x2x4xi32>, tensor<2x2x4xi32>, tensor<2x2x4xi32>) outs(%6 : tensor<2x2x2x4xi32>) {
  ^bb0(%in: i32, %in_6: i32, %in_7: i32, %out: i32):
    %s = arith.addi %in_6, %in_7 : i32
    %t = arith.subi %in, %s : i32
    linalg.yield %t : i32
  } -> tensor<2x2x2x4xi32>
  return %7 : tensor<2x2x2x4xi32>
}
