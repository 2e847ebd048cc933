module attributes {spmd.phase = "final"} {
  spmd.mesh @pod = <["data"=2, "model"=2], device_ids=[0, 2, 1, 3]>
  func.func @twice_shard_5f6c5d9c(%arg0: tensor<6x8xf32> {spmd.global_type = tensor<6x8xf32>, spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) -> (tensor<3x8xf32> {spmd.global_type = tensor<6x8xf32>, spmd.sharding = #spmd.sharding<@pod, [{"model"}, {}]>}) {
    %0 = spmd.device_coordinate @pod "model" : index
    %c3 = arith.constant 3 : index
    %1 = arith.muli %0, %c3 : index
    %extracted_slice = tensor.extract_slice %arg0[%1, 0] [3, 8] [1, 1] : tensor<6x8xf32> to tensor<3x8xf32>
    %2 = arith.addf %extracted_slice, %extracted_slice : tensor<3x8xf32>
    return %2 : tensor<3x8xf32>
  }
  func.func @twice_shard_00535899(%arg0: tensor<6x8xf32> {spmd.global_type = tensor<6x8xf32>, spmd.sharding = #spmd.sharding<@pod, [{}, {}]>}) -> (tensor<6x4xf32> {spmd.global_type = tensor<6x8xf32>, spmd.sharding = #spmd.sharding<@pod, [{}, {"model"}]>}) {
    %0 = spmd.device_coordinate @pod "model" : index
    %c4 = arith.constant 4 : index
    %1 = arith.muli %0, %c4 : index
    %extracted_slice = tensor.extract_slice %arg0[0, %1] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
    %2 = arith.addf %extracted_slice, %extracted_slice : tensor<6x4xf32>
    return %2 : tensor<6x4xf32>
  }
  func.func @stack_shard_a10cef73(%arg0: tensor<2x3xf32>, %arg1: tensor<4x3xf32>) -> (tensor<3x3xf32> {spmd.global_type = tensor<6x3xf32>, spmd.sharding = #spmd.sharding<@pod, [{"data"}, {}]>}) {
    %concat = tensor.concat dim(0) %arg0, %arg1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
    %0 = spmd.device_coordinate @pod "data" : index
    %c3 = arith.constant 3 : index
    %1 = arith.muli %0, %c3 : index
    %extracted_slice = tensor.extract_slice %concat[%1, 0] [3, 3] [1, 1] : tensor<6x3xf32> to tensor<3x3xf32>
    return %extracted_slice : tensor<3x3xf32>
  }
}

