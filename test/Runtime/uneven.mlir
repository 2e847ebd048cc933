// Shards of different sizes: inputs and weights are read without their padding,
// each rank its own elements alone, and results are put together without it.
// REQUIRES: shard-compile, shard-run
// RUN: rm -rf %t && mkdir -p %t && shard-compile %s -o %t/bundle --fill-padding=lowest
// RUN: %python %S/Inputs/tensors.py %t/w.safetensors w=F32:6x7
// RUN: %python %S/Inputs/tensors.py %t/x.npy x='<f4':5x6
// RUN: shard-run %t/bundle --weights %t/w.safetensors --input x=%t/x.npy --output-dir=%t/out --report=%t/run.json
// RUN: %python -c "import sys; a, b = (open(f, 'rb').read()[-120:] for f in sys.argv[1:]); assert a == b" %t/x.npy %t/out/x.npy
// RUN: %python -c "import sys; a, b = (open(f, 'rb').read()[-168:] for f in sys.argv[1:]); assert a == b" %t/w.safetensors %t/out/w.npy
// RUN: %python -c "import json; needed = json.load(open(r'%t/run.json'))['run']['functions'][0]['load']['bytes_needed']; assert needed == [72, 72, 72, 72, 48, 48, 24, 0], needed"
// RUN: FileCheck %s --check-prefix=MANIFEST < %t/bundle/manifest.json
// MANIFEST: "uneven": [
// MANIFEST: "loop": 0,
// MANIFEST: "size": 5,

spmd.mesh @m = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%x: tensor<5x6xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"x"}, {}]>},
                %w: tensor<6x7xf32> {spmd.weight = "w", spmd.sharding = #spmd.sharding<@m, [{}, {"x", "y"}]>})
    -> (tensor<5x6xf32> {spmd.name = "x", spmd.sharding = #spmd.sharding<@m, [{"y"}, {"x"}]>},
        tensor<6x7xf32> {spmd.name = "w", spmd.sharding = #spmd.sharding<@m, [{"x"}, {"y"}]>}) {
  return %x, %w : tensor<5x6xf32>, tensor<6x7xf32>
}
