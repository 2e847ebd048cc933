// A local reshape is an alias: no copy and no buffer, also of a sharded value.
// REQUIRES: shard-compile
// RUN: shard-compile %s -o %t.bundle
// RUN: %python -c "import json, sys; f = {f['name']: f for f in json.load(open(sys.argv[1] + '/manifest.json'))['functions']}; one, four = f['one'], f['four']; sys.exit(one['arena_bytes'] != four['arena_bytes'] or one['arena_bytes'] != 1536 or four['collectives'] != [])" %t.bundle

spmd.mesh @m = <["x"=2]>

func.func @one(%x: tensor<64x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<16x4x12xf32> {
  %e = math.exp %x : tensor<64x12xf32>
  %b = tensor.expand_shape %e [[0, 1], [2]] output_shape [4, 16, 12] : tensor<64x12xf32> into tensor<4x16x12xf32>
  %v = tensor.empty() : tensor<16x4x12xf32>
  %w = linalg.transpose ins(%b : tensor<4x16x12xf32>) outs(%v : tensor<16x4x12xf32>) permutation = [1, 0, 2]
  return %w : tensor<16x4x12xf32>
}

func.func @four(%x: tensor<64x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<16x4x12xf32> {
  %e = math.exp %x : tensor<64x12xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<64x12xf32> into tensor<768xf32>
  %s = arith.constant dense<[32, 24]> : tensor<2xindex>
  %r = tensor.reshape %c(%s) : (tensor<768xf32>, tensor<2xindex>) -> tensor<32x24xf32>
  %d = tensor.collapse_shape %r [[0, 1]] : tensor<32x24xf32> into tensor<768xf32>
  %b = tensor.expand_shape %d [[0, 1, 2]] output_shape [4, 16, 12] : tensor<768xf32> into tensor<4x16x12xf32>
  %v = tensor.empty() : tensor<16x4x12xf32>
  %w = linalg.transpose ins(%b : tensor<4x16x12xf32>) outs(%v : tensor<16x4x12xf32>) permutation = [1, 0, 2]
  return %w : tensor<16x4x12xf32>
}
