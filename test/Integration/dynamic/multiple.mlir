// A size that has to be a multiple of the shards: why is a remark, and a call at another size one error.
// REQUIRES: shard-run
// RUN: shard-compile %s --with-reference -o %t 2>&1
// RUN: shard-run %t --size=b=8 --random-inputs=1 --verify | FileCheck %s
// CHECK: verify: 1 function, 1 result, all equal
// The same sizes as manifests of version 4 have them.
// RUN: rm -rf %t.v4 && cp -r %t %t.v4
// RUN: %python %S/../../BadInput/Inputs/edit_manifest.py %t.v4 "m['version'] = 4; [d.update(size=[[1, 0]] if d['size'] == 'b' else [[d['size']]]) for f in m['functions'] for v in f['arguments'] + f['results'] for d in v.get('dims', [])]"
// RUN: shard-run %t.v4 --size=b=8 --random-inputs=1 --verify | FileCheck %s
// RUN: not shard-run %t --size=b=6 --random-inputs=1 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// MULTIPLE: error: function 'strided': size 'b' is 6, expected a multiple of 4, the devices that dims of it are sharded over
// RUN: shard-opt %s --spmd-default-pipeline --remarks-filter=spmd -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: Function=strided | Reason="a sharding by sub-axes or with strides has no padding", Remark="size "b" has to be a multiple of its shards"

spmd.mesh @m = <["x"=2, "y"=2]>
func.func @strided(%x: tensor<?x6xf32> {spmd.symbols = ["b", ""], spmd.sharding = #spmd.sharding<@m, [{2, "x"}, {}]>}) -> tensor<?x6xf32> attributes {spmd.bounds = {b = [0, 64]}} {
  %a = math.tanh %x : tensor<?x6xf32>
  return %a : tensor<?x6xf32>
}
