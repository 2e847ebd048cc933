// A local reshape is an alias: no copy, no buffer of its own, also of a cut value.
// REQUIRES: shard-compile
// RUN: shard-compile %s -o %t.bundle
// RUN: %python -c "import json, sys; f = {f['name']: f for f in json.load(open(sys.argv[1] + '/manifest.json'))['functions']}; sys.exit(f['plain']['arena_bytes'] != f['reshaped']['arena_bytes'] or f['reshaped']['collectives'] != [])" %t.bundle

spmd.mesh @m = <["x"=2]>

func.func @plain(%x: tensor<64x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<64x12xf32> {
  %e = math.exp %x : tensor<64x12xf32>
  %t = tensor.empty() : tensor<12x64xf32>
  %u = linalg.transpose ins(%e : tensor<64x12xf32>) outs(%t : tensor<12x64xf32>) permutation = [1, 0]
  %v = tensor.empty() : tensor<64x12xf32>
  %w = linalg.transpose ins(%u : tensor<12x64xf32>) outs(%v : tensor<64x12xf32>) permutation = [1, 0]
  return %w : tensor<64x12xf32>
}

func.func @reshaped(%x: tensor<64x12xf32> {spmd.sharding = #spmd.sharding<@m, [{}, {"x"}]>}) -> tensor<64x12xf32> {
  %e = math.exp %x : tensor<64x12xf32>
  %t = tensor.empty() : tensor<12x64xf32>
  %u = linalg.transpose ins(%e : tensor<64x12xf32>) outs(%t : tensor<12x64xf32>) permutation = [1, 0]
  %s = arith.constant dense<[48, 16]> : tensor<2xindex>
  %r = tensor.reshape %u(%s) : (tensor<12x64xf32>, tensor<2xindex>) -> tensor<48x16xf32>
  %c = tensor.collapse_shape %r [[0, 1]] : tensor<48x16xf32> into tensor<768xf32>
  %b = tensor.expand_shape %c [[0, 1]] output_shape [12, 64] : tensor<768xf32> into tensor<12x64xf32>
  %v = tensor.empty() : tensor<64x12xf32>
  %w = linalg.transpose ins(%b : tensor<12x64xf32>) outs(%v : tensor<64x12xf32>) permutation = [1, 0]
  return %w : tensor<64x12xf32>
}
